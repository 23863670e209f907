//! Value is conserved: unspent records and burnt fees add up to what was issued.
//!
//! Reads: the unspent records, the burnt fees, the issued value.

use interleaf::Violation;

use super::view::LedgerView;

/// The invariant's name.
pub const NAME: &str = "ledger.conservation";

/// Checks one state.
///
/// # Errors
/// How much value was created or lost.
pub fn check<L: LedgerView + ?Sized>(ledger: &L) -> Result<(), Violation> {
    let unspent: u128 = ledger.unspent().map(|(_, amount)| u128::from(amount)).sum();
    let (fees, issued) = (ledger.fees_burnt(), ledger.issued());
    let total = unspent + fees;
    if total == issued {
        return Ok(());
    }
    let predicate = if total > issued { "value created" } else { "value lost" };
    Err(Violation::new(NAME, predicate)
        .expected(format_args!("{issued} issued"))
        .actual(format_args!("{unspent} unspent + {fees} burnt = {total}"))
        .event(format_args!("{} of difference", total.abs_diff(issued))))
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn accepts_a_ledger_that_adds_up() {
        assert_eq!(check(&Sample::good()), Ok(()));
    }

    #[test]
    fn rejects_created_and_lost_value() {
        // CVE-2018-17144: a record worth 5 counted twice.
        let mut ledger = Sample::good();
        ledger.unspent.push((12, 5));
        let violation = check(&ledger).unwrap_err();
        assert_eq!((&*violation.invariant, &*violation.predicate), (NAME, "value created"));
        assert_eq!(violation.actual, "14 unspent + 1 burnt = 15");
        let mut ledger = Sample::good();
        ledger.fees_burnt = 0;
        assert_eq!(check(&ledger).unwrap_err().predicate, "value lost");
    }
}
