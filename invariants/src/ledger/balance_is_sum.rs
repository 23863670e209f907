//! What an owner is told that he has is what he has: the sum of his records, without those that the pool reserves, with the
//! change that it makes available.
//!
//! Reads: for each owner what the ledger answers, and the same summed up from the records.

use std::fmt::Debug;

use interleaf::Violation;

/// The invariant's name.
pub const NAME: &str = "ledger.balance_is_sum";

/// Checks what was answered to one owner about one kind of value.
///
/// # Errors
/// By how much the answer is wrong.
pub fn check<O: Debug>(
    owner: &O,
    what: &str,
    records: impl IntoIterator<Item = u64>,
    answered: u64,
) -> Result<(), Violation> {
    let sum: u128 = records.into_iter().map(u128::from).sum();
    if sum == u128::from(answered) {
        return Ok(());
    }
    Err(Violation::new(NAME, "an owner is told a wrong sum")
        .expected(format_args!("{what} {sum} of {owner:?}"))
        .actual(answered)
        .event(format_args!("{} of difference", sum.abs_diff(u128::from(answered)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_sum_and_rejects_anything_else() {
        assert_eq!(check(&"A", "balance", [2, 3], 5), Ok(()));
        assert_eq!(check(&"A", "stake", [], 0), Ok(()));
        let violation = check(&"A", "balance", [2, 3], 4).unwrap_err();
        assert_eq!((&*violation.invariant, &*violation.actual), (NAME, "4"));
        assert_eq!(violation.expected, "balance 5 of \"A\"");
        assert!(check(&"A", "balance", [u64::MAX, 1], 0).is_err(), "no wrapping around");
    }
}
