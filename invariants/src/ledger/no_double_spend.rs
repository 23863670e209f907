//! No record is consumed twice: by confirmed transactions, by waiting ones of one address or of several, or by one of
//! each (items U12–U14, U21–U23).
//!
//! Reads: the confirmed transactions and the waiting ones with their inputs.

use std::collections::BTreeMap;

use interleaf::Violation;

use super::view::{LedgerView, TxView};

/// The invariant's name.
pub const NAME: &str = "ledger.no_double_spend";

/// Checks one state.
///
/// # Errors
/// The first record that is consumed twice, with both transactions.
pub fn check<L: LedgerView + ?Sized>(ledger: &L) -> Result<(), Violation> {
    let mut confirmed = BTreeMap::new();
    for tx in ledger.confirmed() {
        for key in tx.inputs {
            if let Some(first) = confirmed.insert(*key, tx.id) {
                let predicate = if first == tx.id { ONE_CONFIRMED } else { TWO_CONFIRMED };
                return Err(violation::<L>(predicate, key, ("confirmed", first), ("confirmed", tx.id)));
            }
        }
    }
    let mut waiting: BTreeMap<L::Key, (L::Id, L::Owner)> = BTreeMap::new();
    for tx in ledger.waiting() {
        for key in tx.inputs {
            if let Some(first) = confirmed.get(key) {
                return Err(violation::<L>(CONFIRMED_AND_WAITING, key, ("confirmed", *first), ("waiting", tx.id)));
            }
            if let Some((first, owner)) = waiting.insert(*key, (tx.id, tx.sender)) {
                let predicate = waiting_predicate(&tx, first, owner);
                return Err(violation::<L>(predicate, key, ("waiting", first), ("waiting", tx.id)));
            }
        }
    }
    Ok(())
}

const ONE_CONFIRMED: &str = "a confirmed transaction consumes a record twice";
const TWO_CONFIRMED: &str = "two confirmed transactions consume one record";
const CONFIRMED_AND_WAITING: &str = "a waiting transaction consumes what a confirmed one consumed";
const ONE_WAITING: &str = "a waiting transaction consumes a record twice";
const ONE_ADDRESS: &str = "two waiting transactions of one address consume one record";
const TWO_ADDRESSES: &str = "waiting transactions of two addresses consume one record";

fn waiting_predicate<L: LedgerView + ?Sized>(tx: &TxView<'_, L>, first: L::Id, owner: L::Owner) -> &'static str {
    match (first == tx.id, owner == tx.sender) {
        (true, _) => ONE_WAITING,
        (false, true) => ONE_ADDRESS,
        (false, false) => TWO_ADDRESSES,
    }
}

fn violation<L: LedgerView + ?Sized>(
    predicate: &str,
    key: &L::Key,
    first: (&str, L::Id),
    second: (&str, L::Id),
) -> Violation {
    Violation::new(NAME, predicate)
        .expected(format_args!("at most one consumer of {key:?}"))
        .actual(format_args!("{} {:?} and {} {:?}", first.0, first.1, second.0, second.1))
        .event(format_args!("{} {:?} consumes {key:?}", first.0, first.1))
        .event(format_args!("{} {:?} consumes {key:?}", second.0, second.1))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, tx};
    use super::*;

    fn rejected(change: impl FnOnce(&mut Sample)) -> Violation {
        let mut ledger = Sample::good();
        change(&mut ledger);
        check(&ledger).unwrap_err()
    }

    #[test]
    fn accepts_a_ledger_in_which_every_record_has_one_consumer() {
        assert_eq!(check(&Sample::good()), Ok(()));
    }

    #[test]
    fn rejects_every_kind_of_second_consumer() {
        let cases = [
            (rejected(|l| l.confirmed.push(tx(101, 8, &[1], &[]))), TWO_CONFIRMED),
            (rejected(|l| l.confirmed.push(tx(101, 8, &[2, 2], &[]))), ONE_CONFIRMED),
            (rejected(|l| l.waiting.push(tx(203, 9, &[1], &[]))), CONFIRMED_AND_WAITING),
            (rejected(|l| l.waiting.push(tx(203, 7, &[11], &[]))), ONE_ADDRESS),
            (rejected(|l| l.waiting.push(tx(203, 9, &[11], &[]))), TWO_ADDRESSES),
            (rejected(|l| l.waiting.push(tx(203, 9, &[5, 5], &[]))), ONE_WAITING),
        ];
        for (violation, predicate) in cases {
            assert_eq!((&*violation.invariant, &*violation.predicate), (NAME, predicate));
            assert_eq!(violation.events.len(), 2);
        }
    }

    #[test]
    fn names_both_consumers() {
        let violation = rejected(|l| l.waiting.push(tx(203, 9, &[11], &[])));
        assert_eq!(violation.events, ["waiting 200 consumes 11", "waiting 203 consumes 11"]);
    }
}
