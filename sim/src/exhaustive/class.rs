//! What commutes with what.

use serde::{Deserialize, Serialize};

use crate::monitor::OpKind;

use super::record::reads_only;

/// How an access goes together with others of its object: two of one class commute, unless they write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Class {
    /// It commutes with nothing.
    #[default]
    Writes,
    /// It leaves nothing behind.
    Reads,
    /// Read-modify-writes of one kind whose result nobody sees: whatever their order, they leave the same.
    Adds,
    Ands,
    Ors,
    Xors,
    Maxima,
    Minima,
}

impl Class {
    pub(crate) const fn of_update(kind: OpKind) -> Self {
        match kind {
            OpKind::Add => Self::Adds,
            OpKind::And => Self::Ands,
            OpKind::Or => Self::Ors,
            OpKind::Xor => Self::Xors,
            OpKind::Max => Self::Maxima,
            OpKind::Min => Self::Minima,
            _ => Self::Writes,
        }
    }

    /// The class that an operation of this kind is of whatever it finds.
    pub(crate) const fn of_kind(kind: OpKind) -> Self {
        if reads_only(kind, true) && reads_only(kind, false) { Self::Reads } else { Self::of_update(kind) }
    }

    pub(crate) const fn reading(reads: bool) -> Self {
        if reads { Self::Reads } else { Self::Writes }
    }

    pub(crate) fn commutes(self, other: Self) -> bool {
        self == other && self != Self::Writes
    }

    /// The class of an event that does both.
    pub(crate) fn joined(self, other: Self) -> Self {
        if self == other { self } else { Self::Writes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_of_one_class_commute_and_writes_do_not() {
        let all = [OpKind::Load, OpKind::Add, OpKind::And, OpKind::Or, OpKind::Xor, OpKind::Max, OpKind::Min];
        for (i, &a) in all.iter().enumerate() {
            for (j, &b) in all.iter().enumerate() {
                assert_eq!(Class::of_kind(a).commutes(Class::of_kind(b)), i == j, "{a:?} {b:?}");
            }
            assert!(!Class::of_kind(a).commutes(Class::Writes));
        }
        assert_eq!(Class::of_kind(OpKind::Cas), Class::Writes, "it depends on what it finds");
        assert!(!Class::Writes.commutes(Class::Writes));
    }
}
