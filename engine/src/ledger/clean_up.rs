//! What a confirmed block, a roll-back or an eviction does to the pool (item U28, decisions O7, O8, O15, O16).

use interleaf::sync::Arc;

use super::difference::BlockDiff;
use super::record::Status;
use super::tx::{OutPoint, Tx, TxId};
use super::tx_current::{PoolEntry, TxCurrent, change_of};
use crate::planted::Planted;

impl TxCurrent {
    /// The three steps of the clean-up after the block of `diff` is confirmed, in their order (item U28).
    pub(super) fn clean_up(&mut self, diff: &BlockDiff, min_height: u64, planted: Option<Planted>) {
        if self.entries.is_empty() {
            return;
        }
        if Planted::CleanupOrder.is_active(planted) {
            self.remove_conflicting_current_tx(diff.spent.keys());
            self.sync_current_tx(diff);
        } else {
            self.sync_current_tx(diff);
            self.remove_conflicting_current_tx(diff.spent.keys());
        }
        self.cleanup_current_tx_by_height(min_height);
    }

    /// One step of the planted bug [`Planted::CleanupInSteps`], counted from 0.
    #[cfg(feature = "planted")]
    pub(super) fn clean_up_step(&mut self, step: u8, diff: &BlockDiff, min_height: u64) {
        match step {
            0 => self.sync_current_tx(diff),
            1 => self.remove_conflicting_current_tx(diff.spent.keys()),
            _ => self.cleanup_current_tx_by_height(min_height),
        }
    }

    /// Step 1: takes out what the block confirmed. Transactions that use its change stay: the change is a confirmed
    /// record now.
    fn sync_current_tx(&mut self, diff: &BlockDiff) {
        for tx in &diff.block.txs {
            self.take(tx.id);
        }
    }

    /// Step 2: takes out what consumes a record that the block consumed, and whatever depends on it.
    fn remove_conflicting_current_tx<'a>(&mut self, spent_keys: impl Iterator<Item = &'a OutPoint>) {
        for key in spent_keys {
            if let Some(id) = self.reserved_by(key) {
                self.evict(id);
            }
        }
    }

    /// Step 3: takes out what was admitted below `min_height`, and whatever depends on it.
    fn cleanup_current_tx_by_height(&mut self, min_height: u64) {
        while let Some(id) = self.too_old(min_height) {
            self.evict(id);
        }
    }

    /// Takes out one transaction and its reservations.
    pub(super) fn take(&mut self, id: TxId) -> Option<PoolEntry> {
        let entry = self.unlist(id)?;
        self.undo_reserve(&entry.tx);
        Some(entry)
    }

    /// Takes out one transaction and all that depend on it, because its change does not exist any more (decision O7).
    /// Returns what was taken out, parents before children.
    pub(super) fn evict(&mut self, id: TxId) -> Vec<Arc<Tx>> {
        let mut evicted = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Some(entry) = self.take(id) {
                pending.extend(change_of(&entry.tx).filter_map(|(key, _)| self.reserved_by(&key)));
                evicted.push(entry.tx);
            }
        }
        evicted
    }

    /// Undoes a block in the pool after it was popped (decision O8): its transactions return in their order, in front
    /// of the others, as far as the pool may hold them; then whatever spends a record that is gone is taken out.
    ///
    /// Reads nothing but the block's own difference: what the block consumed from below is unspent again.
    pub(super) fn undo_block(&mut self, diff: &BlockDiff, tip_height: u64, planted: Option<Planted>) {
        let front = self.order.first_key_value().map_or(0, |(place, _)| *place);
        // One place for each, counted downwards from the front.
        let places = (1..=diff.block.txs.len() as i64).rev().map(|n| front - n);
        let mut returning: Vec<_> = diff.block.txs.iter().zip(places).collect();
        if Planted::ReturnInReverse.is_active(planted) {
            returning.reverse();
        }
        for (tx, place) in returning {
            self.return_tx(tx, diff, tip_height, place, planted);
        }
        for key in diff.created.keys() {
            let Some(spender) = self.reserved_by(key) else { continue };
            let sender = self.entries.get(&spender).map(|entry| entry.tx.sender);
            if sender.is_none_or(|sender| self.change(sender, key).is_none()) {
                self.evict(spender);
            }
        }
    }

    /// A transaction of a popped block comes back if it uses only confirmed records and change of its own address.
    fn return_tx(&mut self, tx: &Tx, diff: &BlockDiff, tip_height: u64, place: i64, planted: Option<Planted>) {
        let below: Vec<Status> = tx.inputs.iter().map(|key| diff.status_below(key)).collect();
        if let Ok(fee) = self.check(tx, &below, planted) {
            self.insert(PoolEntry { tx: Arc::new(tx.clone()), fee, since_height: tip_height, place });
        }
    }
}
