//! Three verdicts: undecided never counts as a pass.

use std::fmt;

use interleaf::Violation;

/// What a checker concludes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The rule was checked and holds.
    Holds,
    /// The rule is broken.
    Violated(Violation),
    /// The rule could not be checked to the end.
    Undecided {
        /// Why not, e.g. which limit was reached.
        reason: String,
    },
}

impl Verdict {
    /// Whether the rule holds. An undecided verdict does not pass.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        matches!(self, Self::Holds)
    }

    /// The verdict over this and `other`: a violation outweighs undecided, undecided outweighs holds; of two
    /// violations, or two reasons, this one's stays.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (violated @ Self::Violated(_), _) | (_, violated @ Self::Violated(_)) => violated,
            (undecided @ Self::Undecided { .. }, _) | (_, undecided @ Self::Undecided { .. }) => undecided,
            (Self::Holds, Self::Holds) => Self::Holds,
        }
    }
}

impl From<Result<(), Violation>> for Verdict {
    fn from(checked: Result<(), Violation>) -> Self {
        checked.map_or_else(Self::Violated, |()| Self::Holds)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Violated(violation) => write!(f, "violated: {violation}"),
            Self::Undecided { reason } => write!(f, "undecided: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_stays_and_undecided_is_no_pass() {
        let undecided = || Verdict::Undecided { reason: "step limit".to_owned() };
        let violated = || Verdict::Violated(Violation::new("ledger.conservation", "value created"));
        assert!(Verdict::Holds.and(Verdict::Holds).is_pass());
        assert!(!undecided().is_pass());
        assert_eq!(Verdict::Holds.and(undecided()), undecided());
        assert_eq!(undecided().and(violated()), violated());
        assert_eq!(violated().and(undecided()), violated());
        assert_eq!(Verdict::from(Ok(())), Verdict::Holds);
    }
}
