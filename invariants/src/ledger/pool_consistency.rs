//! The pool could be confirmed as it stands, and its reservations are exactly those of its transactions (items U25–U28,
//! decisions O7, O8, O14).
//!
//! Reads: the waiting transactions in order, the unspent records, the three kinds of reservation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use interleaf::Violation;

use super::view::LedgerView;

/// The invariant's name.
pub const NAME: &str = "ledger.pool_consistency";

/// Checks one state.
///
/// # Errors
/// The first input that does not exist, or the first reservation that is missing or left over.
pub fn check<L: LedgerView + ?Sized>(ledger: &L) -> Result<(), Violation> {
    inputs_exist(ledger)?;
    let used = || ledger.waiting().flat_map(|tx| tx.inputs.iter().map(move |key| (tx.sender, *key, tx.id)));
    same("global reservations", used().map(|(_, key, id)| (key, id)), ledger.reserved_globally())?;
    same("reservations of an address", used(), ledger.reserved_by_owner())?;
    let change = ledger.waiting_change().map(|(_, owner, key)| (owner, key));
    same("available change", change, ledger.available())
}

/// Every input is an unspent record, or change of an earlier waiting transaction of the same address.
fn inputs_exist<L: LedgerView + ?Sized>(ledger: &L) -> Result<(), Violation> {
    let change: BTreeMap<_, _> = ledger.waiting_change().map(|(id, owner, key)| ((owner, key), id)).collect();
    let mut earlier = BTreeSet::new();
    for tx in ledger.waiting() {
        for key in tx.inputs.iter().filter(|key| !ledger.is_unspent(key)) {
            if !change.get(&(tx.sender, *key)).is_some_and(|parent| earlier.contains(parent)) {
                return Err(Violation::new(NAME, "a waiting transaction consumes a record that does not exist")
                    .expected(format_args!("{key:?} unspent, or change of an earlier one of {:?}", tx.sender))
                    .actual("neither")
                    .event(format_args!("waiting {:?} of {:?} consumes {key:?}", tx.id, tx.sender)));
            }
        }
        earlier.insert(tx.id);
    }
    Ok(())
}

/// Compares what the waiting transactions imply with what the pool has noted.
fn same<T: Ord + Debug>(
    what: &str,
    implied: impl Iterator<Item = T>,
    noted: impl Iterator<Item = T>,
) -> Result<(), Violation> {
    let (implied, noted): (BTreeSet<T>, BTreeSet<T>) = (implied.collect(), noted.collect());
    if let Some(missing) = implied.difference(&noted).next() {
        return Err(Violation::new(NAME, &format!("{what}: missing"))
            .expected(format_args!("{missing:?}"))
            .actual("not noted")
            .event(format_args!("noted: {noted:?}")));
    }
    if let Some(left_over) = noted.difference(&implied).next() {
        return Err(Violation::new(NAME, &format!("{what}: left over"))
            .expected("no such reservation: no waiting transaction implies it")
            .actual(format_args!("{left_over:?}"))
            .event(format_args!("implied: {implied:?}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, tx};
    use super::*;

    fn rejected(change: impl FnOnce(&mut Sample)) -> String {
        let mut ledger = Sample::good();
        change(&mut ledger);
        let violation = check(&ledger).unwrap_err();
        assert_eq!(violation.invariant, NAME);
        violation.predicate
    }

    #[test]
    fn accepts_a_pool_that_could_be_confirmed() {
        assert_eq!(check(&Sample::good()), Ok(()));
    }

    #[test]
    fn rejects_inputs_that_do_not_exist() {
        let predicate = "a waiting transaction consumes a record that does not exist";
        assert_eq!(rejected(|l| l.waiting.push(tx(203, 9, &[5], &[]))), predicate);
        // Change of somebody else (O14), and change of a transaction that stands later.
        assert_eq!(rejected(|l| l.waiting[1].sender = 9), predicate);
        assert_eq!(rejected(|l| l.waiting.swap(0, 1)), predicate);
        // A roll-back that forgot the pool: record 11 is gone with its block.
        assert_eq!(rejected(|l| l.unspent.retain(|(key, _)| *key != 11)), predicate);
    }

    #[test]
    fn rejects_reservations_that_are_missing_or_left_over() {
        assert_eq!(rejected(|l| l.global.truncate(2)), "global reservations: missing");
        assert_eq!(rejected(|l| l.global.push((5, 200))), "global reservations: left over");
        assert_eq!(rejected(|l| l.by_owner.truncate(2)), "reservations of an address: missing");
        assert_eq!(rejected(|l| l.by_owner.push((9, 5, 200))), "reservations of an address: left over");
        assert_eq!(rejected(|l| l.available.clear()), "available change: missing");
        assert_eq!(rejected(|l| l.available.push((8, 22))), "available change: left over");
    }
}
