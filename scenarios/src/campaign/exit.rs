//! Exit codes: one per kind of outcome, so that a CI job can branch without reading text.

use std::process::ExitCode;

use interleaf::FailureKind;

/// What a command's exit code says.
///
/// 101 is what a panic of the tool itself gives, so it is not used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Exit {
    /// All seeds passed and all gates held.
    Passed = 0,
    /// An invariant or an equivalence was violated.
    Violated = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// Did not settle: deadlock.
    NotSettled = 3,
    /// Nothing ran.
    NothingRan = 4,
    /// The same seed gave another run.
    Nondeterministic = 5,
    /// The engine panicked.
    Panicked = 6,
    /// A gate: nothing was violated, but too little was shown.
    Gate = 7,
    /// Inconclusive only: limits reached, or interrupted.
    Inconclusive = 8,
    /// A replay diverged from the stored run.
    Diverged = 9,
}

/// The first of these that happened decides.
const PRECEDENCE: [Exit; 10] = [
    Exit::Nondeterministic,
    Exit::Violated,
    Exit::Panicked,
    Exit::NotSettled,
    Exit::Diverged,
    Exit::Gate,
    Exit::Inconclusive,
    Exit::NothingRan,
    Exit::BadInput,
    Exit::Passed,
];

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The exit with this number.
    #[must_use]
    pub fn of_code(code: u8) -> Option<Self> {
        PRECEDENCE.into_iter().find(|exit| exit.code() == code)
    }

    /// What a failed run means. A run that was cut by the step limit is inconclusive: a livelock cannot be told from a
    /// run that is merely long.
    #[must_use]
    pub const fn of(kind: &FailureKind) -> Self {
        match kind {
            FailureKind::Panic { .. } => Self::Panicked,
            FailureKind::Deadlock { .. } => Self::NotSettled,
            FailureKind::StepLimit { .. } => Self::Inconclusive,
            FailureKind::Nondeterminism { .. } => Self::Nondeterministic,
            FailureKind::Diverged { .. } => Self::Diverged,
            _ => Self::Violated,
        }
    }

    /// The one that decides when several happened: 5, 1, 6, 3, 9, 7, 8, 4, 2, then 0.
    #[must_use]
    pub fn decisive(all: impl IntoIterator<Item = Self>) -> Self {
        let rank = |exit: &Self| PRECEDENCE.iter().position(|p| p == exit);
        all.into_iter().min_by_key(rank).unwrap_or(Self::Passed)
    }

    /// In a few words, for summaries.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Passed => "all runs passed and all gates held",
            Self::Violated => "an invariant or an equivalence was violated",
            Self::BadInput => "bad usage or bad input",
            Self::NotSettled => "did not settle",
            Self::NothingRan => "nothing ran",
            Self::Nondeterministic => "the same seed gave another run",
            Self::Panicked => "the engine panicked",
            Self::Gate => "a gate failed: too little was shown",
            Self::Inconclusive => "inconclusive",
            Self::Diverged => "the replay diverged",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_precedence() {
        let decisive = |list: &[Exit]| Exit::decisive(list.iter().copied()).code();
        assert_eq!(decisive(&[]), 0);
        assert_eq!(decisive(&[Exit::Passed, Exit::Inconclusive]), 8);
        assert_eq!(decisive(&[Exit::Inconclusive, Exit::Gate]), 7);
        assert_eq!(decisive(&[Exit::Gate, Exit::NotSettled]), 3);
        assert_eq!(decisive(&[Exit::NotSettled, Exit::Panicked]), 6);
        assert_eq!(decisive(&[Exit::Panicked, Exit::Violated]), 1);
        assert_eq!(decisive(&[Exit::Violated, Exit::Nondeterministic]), 5);
    }
}
