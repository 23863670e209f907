//! Undoing a block restores the state below it, exactly (item U32).
//!
//! Reads: the state before a block was added, the state after it was rolled back.

use interleaf::Violation;

use crate::difference::Difference;

/// The invariant's name.
pub const NAME: &str = "ledger.undo_is_inverse";

/// A state that can say where it differs from another one.
///
/// Implement it for *confirmed* state. The pool may change across a block and its roll-back: what conflicted with the
/// block is gone, and what the block brought waits now.
pub trait UndoableState {
    /// The first part in which `after` differs from this state.
    fn first_difference(&self, after: &Self) -> Option<Difference>;
}

/// Compares the state `before` a block with the state `after` its roll-back.
///
/// # Errors
/// The first part that differs.
pub fn check<S: UndoableState + ?Sized>(before: &S, after: &S) -> Result<(), Violation> {
    let Some(difference) = before.first_difference(after) else { return Ok(()) };
    Err(Violation::new(NAME, &format!("{} differ after block and roll-back", difference.part))
        .expected(difference.expected)
        .actual(difference.actual))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::difference::{in_entries, in_value};

    struct State {
        tip: u64,
        records: BTreeMap<u32, u64>,
    }

    impl UndoableState for State {
        fn first_difference(&self, after: &Self) -> Option<Difference> {
            in_value("tips", &self.tip, &after.tip)
                .or_else(|| in_entries("unspent records", &self.records, &after.records))
        }
    }

    fn state(tip: u64, records: &[(u32, u64)]) -> State {
        State { tip, records: records.iter().copied().collect() }
    }

    #[test]
    fn accepts_the_same_state() {
        assert_eq!(check(&state(3, &[(1, 6)]), &state(3, &[(1, 6)])), Ok(()));
    }

    #[test]
    fn rejects_a_record_that_did_not_come_back_and_one_that_stayed() {
        let before = state(3, &[(1, 6)]);
        let violation = check(&before, &state(3, &[])).unwrap_err();
        assert_eq!(violation.invariant, NAME);
        assert_eq!(violation.predicate, "unspent records differ after block and roll-back");
        assert_eq!((&*violation.expected, &*violation.actual), ("1 = 6", "no 1"));
        assert!(check(&before, &state(3, &[(1, 6), (11, 5)])).is_err());
        assert_eq!(check(&before, &state(4, &[])).unwrap_err().predicate, "tips differ after block and roll-back");
    }
}
