//! The pool of waiting transactions and its reservations (items U8, U21–U27).

use std::collections::{BTreeMap, BTreeSet};

use interleaf::sync::Arc;

use super::error::TxError;
use super::pool_budget::Worth;
use super::record::{Record, Status};
use super::state::PoolState;
use super::tx::{Address, Amount, OutPoint, Tx, TxId};
use super::utxo_pool::UtxoPool;
use crate::digest_map::DigestMap;
use crate::planted::Planted;

/// A waiting transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolEntry {
    /// The transaction.
    pub tx: Arc<Tx>,
    /// What its inputs bring beyond its outputs.
    pub fee: Amount,
    /// The height of the tip when it was admitted: its age counts from there (decision O16).
    pub since_height: u64,
    /// Its place in the order of the pool; parents stand before the transactions that use their change.
    pub(super) place: i64,
}

/// The waiting transactions in order, the reservations per address, and the keys that any of them reserves.
///
/// The reservations are a function of the waiting transactions: [`apply_reserve_add`](Self::apply_reserve_add) and
/// [`undo_reserve`](Self::undo_reserve) are the only code that changes them.
#[derive(Debug, Default)]
pub(super) struct TxCurrent {
    pub(super) entries: BTreeMap<TxId, PoolEntry>,
    pub(super) order: BTreeMap<i64, TxId>,
    /// The reservation pools of all addresses (item U25; [`UtxoPool`] is one of them), by address and record: an address with
    /// one transaction costs no more than the transaction. Own change, and which transaction consumes each record.
    available: BTreeMap<(Address, OutPoint), Record>,
    spent_keys: DigestMap<(Address, OutPoint), TxId>,
    /// Which transaction reserves each key (item U23).
    global_spent_keys: DigestMap<OutPoint, TxId>,
    next_place: i64,
    /// Bytes of all entries, and the entries by what they pay for theirs.
    pub(super) bytes: usize,
    pub(super) by_worth: BTreeSet<Worth>,
    /// The entries by the height at which they were admitted.
    by_age: BTreeSet<(u64, TxId)>,
}

impl TxCurrent {
    /// The three steps of the double-spend check for one record (item U13), given what the confirmed ledger knows of
    /// it. `input` is the input's number for the error.
    pub(super) fn check_double_spend_with_pool(
        &self,
        sender: Address,
        input: usize,
        key: &OutPoint,
        confirmed: &Status,
        planted: Option<Planted>,
    ) -> Result<Record, TxError> {
        let record = self.existing(sender, input, key, confirmed)?;
        self.check_own_reservation(sender, input, key)?;
        self.check_other_reservations(input, key, planted)?;
        Ok(record)
    }

    /// Step 1: the record is unspent in the confirmed ledger, or change of the same address in the pool. The
    /// unconfirmed output of somebody else does not count (decision O14).
    fn existing(&self, sender: Address, input: usize, key: &OutPoint, confirmed: &Status) -> Result<Record, TxError> {
        if let Status::Unspent(record) = confirmed {
            return Ok(*record);
        }
        if let Some(change) = self.change(sender, key) {
            return Ok(change);
        }
        match confirmed {
            Status::Spent(spent) => Err(TxError::SpentInput { input, key: *key, by: spent.by, height: spent.height }),
            _ => Err(TxError::UnknownInput { input, key: *key, sender }),
        }
    }

    /// Step 2 and check 2: nothing of the same address has reserved the record (item U22).
    fn check_own_reservation(&self, sender: Address, input: usize, key: &OutPoint) -> Result<(), TxError> {
        match self.spent_keys.get(&(sender, *key)) {
            Some(by) => Err(TxError::ReservedInput { input, key: *key, by: *by }),
            None => Ok(()),
        }
    }

    /// Step 3 and check 3: nothing of another address has reserved the record (item U23).
    fn check_other_reservations(&self, input: usize, key: &OutPoint, planted: Option<Planted>) -> Result<(), TxError> {
        match self.global_spent_keys.get(key) {
            Some(by) if !Planted::NoCrossAddressCheck.is_active(planted) => {
                Err(TxError::ReservedElsewhere { input, key: *key, by: *by })
            }
            _ => Ok(()),
        }
    }

    /// The four checks of `isConflict_` (items U21–U24).
    fn is_conflict(&self, tx: &Tx, planted: Option<Planted>) -> Result<(), TxError> {
        if !Planted::DuplicateInput.is_active(planted) {
            tx.check_inputs_differ()?;
        }
        for (input, key) in tx.inputs.iter().enumerate() {
            self.check_own_reservation(tx.sender, input, key)?;
            self.check_other_reservations(input, key, planted)?;
        }
        tx.check_outputs_differ()
    }

    /// Everything the pool asks of a transaction, given what the confirmed ledger knows of its inputs. Returns the fee.
    pub(super) fn check(&self, tx: &Tx, confirmed: &[Status], planted: Option<Planted>) -> Result<Amount, TxError> {
        if tx.inputs.is_empty() {
            return Err(TxError::NoInputs);
        }
        if self.entries.contains_key(&tx.id) {
            return Err(TxError::AlreadyInPool);
        }
        self.is_conflict(tx, planted)?;
        tx.check_output_kinds()?;
        let mut inputs: Amount = 0;
        for (input, (key, status)) in tx.inputs.iter().zip(confirmed).enumerate() {
            let record = self.existing(tx.sender, input, key, status)?;
            tx.check_input_kind(input, key, &record)?;
            inputs = inputs.checked_add(record.amount).ok_or(TxError::AmountOverflow)?;
        }
        tx.fee(inputs)
    }

    /// Puts a checked transaction at the end of the pool and reserves what it uses.
    pub(super) fn push(&mut self, tx: Arc<Tx>, fee: Amount, since_height: u64) {
        let place = self.next_place;
        self.next_place += 1;
        self.insert(PoolEntry { tx, fee, since_height, place });
    }

    pub(super) fn insert(&mut self, entry: PoolEntry) {
        self.apply_reserve_add(&entry.tx);
        self.list(entry);
    }

    /// Enters a transaction into the lists; its reservations are another matter.
    fn list(&mut self, entry: PoolEntry) {
        self.count_in(&entry);
        self.order.insert(entry.place, entry.tx.id);
        self.by_age.insert((entry.since_height, entry.tx.id));
        self.entries.insert(entry.tx.id, entry);
    }

    /// Takes a transaction out of the lists.
    pub(super) fn unlist(&mut self, id: TxId) -> Option<PoolEntry> {
        let entry = self.entries.remove(&id)?;
        self.order.remove(&entry.place);
        self.by_age.remove(&(entry.since_height, id));
        self.count_out(&entry);
        Some(entry)
    }

    /// The transaction that was admitted at the least height, if that is below `min_height` (decision O16).
    pub(super) fn too_old(&self, min_height: u64) -> Option<TxId> {
        self.by_age.first().filter(|(since, _)| *since < min_height).map(|(_, id)| *id)
    }

    /// Reserves the inputs for the address and globally, then makes the change available (item U26).
    fn apply_reserve_add(&mut self, tx: &Tx) {
        self.reserve_globally(tx);
        self.reserve_for_address(tx);
    }

    pub(super) fn reserve_globally(&mut self, tx: &Tx) {
        self.global_spent_keys.extend(tx.inputs.iter().map(|key| (*key, tx.id)));
    }

    fn reserve_for_address(&mut self, tx: &Tx) {
        self.spent_keys.extend(tx.inputs.iter().map(|key| ((tx.sender, *key), tx.id)));
        self.available.extend(change_of(tx).map(|(key, record)| ((tx.sender, key), record)));
    }

    /// The inverse of [`apply_reserve_add`](Self::apply_reserve_add) (decision O7). What becomes of transactions that
    /// use the change is the caller's decision: they stay if the change is confirmed now, and go if it is not.
    pub(super) fn undo_reserve(&mut self, tx: &Tx) {
        for key in &tx.inputs {
            if self.global_spent_keys.get(key) == Some(&tx.id) {
                self.global_spent_keys.remove(key);
            }
        }
        for key in &tx.inputs {
            self.spent_keys.remove(&(tx.sender, *key));
        }
        for (key, _) in change_of(tx) {
            self.available.remove(&(tx.sender, key));
        }
    }

    /// The first half of the planted bug [`Planted::ChangeBeforeReservation`]: the transaction and its change are in
    /// the pool, other addresses do not know of the reservation.
    #[cfg(feature = "planted")]
    pub(super) fn push_without_global_reservation(&mut self, tx: Arc<Tx>, fee: Amount, since_height: u64) {
        let place = self.next_place;
        self.next_place += 1;
        self.reserve_for_address(&tx);
        self.list(PoolEntry { tx, fee, since_height, place });
    }

    /// The second half.
    #[cfg(feature = "planted")]
    pub(super) fn complete_global_reservation(&mut self, tx: &Tx) {
        if self.entries.contains_key(&tx.id) {
            self.reserve_globally(tx);
        }
    }

    /// The record `key` if it is change of `owner` in the pool, reserved or not.
    pub(super) fn change(&self, owner: Address, key: &OutPoint) -> Option<Record> {
        self.available.get(&(owner, *key)).copied()
    }

    /// The record `key` if it is anybody's change in the pool, reserved or not.
    pub(super) fn any_change(&self, key: &OutPoint) -> Option<Record> {
        let parent = self.entries.get(&key.tx)?;
        self.change(parent.tx.sender, key)
    }

    /// The waiting transaction that reserved `key`.
    pub(super) fn reserved_by(&self, key: &OutPoint) -> Option<TxId> {
        self.global_spent_keys.get(key).copied()
    }

    /// Change of `owner` that nothing has reserved.
    pub(super) fn unreserved_change(&self, owner: Address) -> impl Iterator<Item = (OutPoint, Record)> {
        let own = self.available.range((owner, OutPoint::default())..).take_while(move |((of, _), _)| *of == owner);
        own.filter(|(key, _)| !self.spent_keys.contains_key(key)).map(|((_, key), record)| (*key, *record))
    }

    /// The waiting transactions in order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &PoolEntry> {
        self.order.values().filter_map(|id| self.entries.get(id))
    }

    /// A copy, for checkers.
    pub(super) fn state(&self) -> PoolState {
        let mut pools: BTreeMap<Address, UtxoPool> = BTreeMap::new();
        for ((owner, key), record) in &self.available {
            pools.entry(*owner).or_default().available.insert(*key, *record);
        }
        for ((owner, key), id) in &self.spent_keys {
            pools.entry(*owner).or_default().spent_keys.insert(*key, *id);
        }
        PoolState {
            entries: self.in_order().cloned().collect(),
            pools,
            global_spent_keys: self.global_spent_keys.iter().map(|(key, id)| (*key, *id)).collect(),
        }
    }
}

/// The outputs of `tx` that return to its sender.
pub(super) fn change_of(tx: &Tx) -> impl Iterator<Item = (OutPoint, Record)> {
    let change = tx.outputs.iter().filter(|output| output.owner == tx.sender);
    change.map(|output| (tx.outpoint(output.index), Record::from(output)))
}

#[cfg(all(test, feature = "planted"))]
mod tests {
    use super::*;
    use crate::ledger::tx::Output;

    #[test]
    fn change_before_reservation_lets_another_address_in_between_its_halves() {
        // U26: the planted bug's two halves, with the other address's check before, between and after them.
        let key = OutPoint { tx: TxId([1; 32]), index: 0 };
        let confirmed = [Status::Unspent(Record::coin(Address::numbered(1), 5))];
        let spend = |sender| {
            let output = Output::coin(0, Address::numbered(sender), 5);
            Arc::new(Tx::new(0, Address::numbered(sender), vec![key], vec![output]))
        };
        let (first, other) = (spend(1), spend(2));
        let mut pool = TxCurrent::default();
        assert_eq!(pool.check(&other, &confirmed, None), Ok(0));
        pool.push_without_global_reservation(Arc::clone(&first), 0, 0);
        assert_eq!(pool.any_change(&first.outpoint(0)).map(|change| change.amount), Some(5));
        assert_eq!(pool.check(&other, &confirmed, None), Ok(0), "the hole");
        pool.complete_global_reservation(&first);
        let refused = TxError::ReservedElsewhere { input: 0, key, by: first.id };
        assert_eq!(pool.check(&other, &confirmed, None), Err(refused));
        let mut right = TxCurrent::default();
        right.push(first, 0, 0);
        assert_eq!(right.state(), pool.state());
    }
}
