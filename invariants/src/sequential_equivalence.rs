//! A parallel execution of a block gives what the sequential one gives: order, receipts with errors, fees, state (item
//! N8). Everything observable is compared, because equal states can hide unequal receipts.
//!
//! Reads: two results of the same block on the same state.

use std::fmt::Debug;

use interleaf::Violation;

use crate::difference::{Difference, in_entries, in_sequence, in_value};

/// The invariant's name.
pub const NAME: &str = "scheduler.sequential_equivalence";

/// Everything that can be observed of the execution of a block.
pub trait BlockResult {
    /// Names a transaction.
    type TxId: PartialEq + Debug;
    /// What a transaction leaves besides state: success or error, fee, events.
    type Receipt: PartialEq + Debug;
    /// Names a record.
    type Key: Ord + Debug;
    /// What a record holds.
    type Value: PartialEq + Debug;

    /// The transactions in the order in which the result lists them.
    fn order(&self) -> &[Self::TxId];

    /// One receipt per transaction, in that order.
    fn receipts(&self) -> &[Self::Receipt];

    /// The sum of the fees.
    fn fees(&self) -> u64;

    /// The records after the block, by ascending key.
    fn state(&self) -> impl Iterator<Item = (&Self::Key, &Self::Value)>;
}

/// Compares the result of `policy` with the sequential one.
///
/// # Errors
/// The first difference.
pub fn check<R: BlockResult>(sequential: &R, policy: &str, parallel: &R) -> Result<(), Violation> {
    let Some(difference) = first_difference(sequential, parallel) else { return Ok(()) };
    Err(Violation::new(NAME, &format!("{} differs from sequential execution", difference.part))
        .expected(difference.expected)
        .actual(difference.actual)
        .event(format_args!("policy {policy}")))
}

/// The first difference between two results, in the order of the trait's methods.
#[must_use]
pub fn first_difference<R: BlockResult>(expected: &R, actual: &R) -> Option<Difference> {
    in_sequence("transaction order", expected.order(), actual.order())
        .or_else(|| in_sequence("receipt", expected.receipts(), actual.receipts()))
        .or_else(|| in_value("sum of fees", &expected.fees(), &actual.fees()))
        .or_else(|| in_entries("state", expected.state(), actual.state()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Clone)]
    struct Outcome {
        order: Vec<u32>,
        receipts: Vec<Result<u64, &'static str>>,
        fees: u64,
        state: BTreeMap<u32, u64>,
    }

    impl BlockResult for Outcome {
        type TxId = u32;
        type Receipt = Result<u64, &'static str>;
        type Key = u32;
        type Value = u64;

        fn order(&self) -> &[u32] {
            &self.order
        }

        fn receipts(&self) -> &[Self::Receipt] {
            &self.receipts
        }

        fn fees(&self) -> u64 {
            self.fees
        }

        fn state(&self) -> impl Iterator<Item = (&u32, &u64)> {
            self.state.iter()
        }
    }

    /// Three transactions of which the third spends what the second has spent.
    fn sequential() -> Outcome {
        let receipts = vec![Ok(1), Ok(0), Err("spent by 2")];
        Outcome { order: vec![1, 2, 3], receipts, fees: 1, state: BTreeMap::from([(10, 4), (20, 5)]) }
    }

    fn rejected(change: impl FnOnce(&mut Outcome)) -> Violation {
        let mut parallel = sequential();
        change(&mut parallel);
        check(&sequential(), "wave", &parallel).unwrap_err()
    }

    #[test]
    fn accepts_an_equal_result() {
        assert_eq!(check(&sequential(), "wave", &sequential()), Ok(()));
    }

    #[test]
    fn rejects_each_observable_difference() {
        let predicate = |change: fn(&mut Outcome)| rejected(change).predicate;
        assert_eq!(predicate(|r| r.order.swap(0, 1)), "transaction order differs from sequential execution");
        // N8: state and fees are equal, the wrong transaction failed.
        assert_eq!(predicate(|r| r.receipts.swap(1, 2)), "receipt differs from sequential execution");
        assert_eq!(predicate(|r| r.receipts[2] = Err("spent by 1")), "receipt differs from sequential execution");
        assert_eq!(predicate(|r| r.fees = 2), "sum of fees differs from sequential execution");
        assert_eq!(predicate(|r| r.state.retain(|key, _| *key != 10)), "state differs from sequential execution");
    }

    #[test]
    fn says_which_policy_and_what() {
        let violation = rejected(|r| r.receipts.swap(1, 2));
        assert_eq!(violation.invariant, NAME);
        assert_eq!(violation.expected, "Ok(0) at place 1");
        assert_eq!(violation.actual, "Err(\"spent by 2\") at place 1");
        assert_eq!(violation.events, ["policy wave"]);
    }
}
