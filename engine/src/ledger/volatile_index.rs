//! What the blocks in memory make of each record and each transaction, in one look-up (items U34, U35).

use super::difference::BlockDiff;
use super::key_map::KeyMap;
use super::record::{Record, Spent, Status};
use super::tx::{OutPoint, TxId};

/// The blocks in memory taken together. A record is created once and consumed once, so two places are enough.
#[derive(Debug, Default)]
pub(super) struct VolatileIndex {
    records: KeyMap<OutPoint, Entry>,
    /// The height of each transaction.
    transactions: KeyMap<TxId, u64>,
}

/// What happened to a record in the blocks in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    created: Option<(u64, Record)>,
    spent: Option<Spent>,
}

impl VolatileIndex {
    /// Adds the newest block.
    pub(super) fn push(&mut self, diff: &BlockDiff) {
        let height = diff.meta.height;
        for (key, record) in &diff.created {
            self.records.entry(*key).or_default().created = Some((height, *record));
        }
        for (key, consumed) in &diff.spent {
            self.records.entry(*key).or_default().spent = Some(Spent { by: consumed.by, height });
        }
        self.transactions.extend(diff.block.txs.iter().map(|tx| (tx.id, height)));
    }

    /// Takes a block out: the newest, which was rolled back, or the oldest, which is in the store.
    pub(super) fn remove(&mut self, diff: &BlockDiff) {
        let height = diff.meta.height;
        for key in diff.created.keys() {
            self.clear(key, |entry| entry.created = entry.created.filter(|(at, _)| *at != height));
        }
        for key in diff.spent.keys() {
            self.clear(key, |entry| entry.spent = entry.spent.filter(|spent| spent.height != height));
        }
        for tx in &diff.block.txs {
            if self.transactions.get(&tx.id) == Some(&height) {
                self.transactions.remove(&tx.id);
            }
        }
    }

    fn clear(&mut self, key: &OutPoint, clear: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.records.get_mut(key) {
            clear(entry);
            if *entry == Entry::default() {
                self.records.remove(key);
            }
        }
    }

    /// What the blocks in memory make of `key`; `None` if they do not touch it.
    pub(super) fn status(&self, key: &OutPoint) -> Option<Status> {
        let entry = self.records.get(key)?;
        let created = || entry.created.map(|(_, record)| Status::Unspent(record));
        entry.spent.map(Status::Spent).or_else(created)
    }

    /// The height of the block in memory that holds a transaction.
    pub(super) fn transaction_height(&self, id: &TxId) -> Option<u64> {
        self.transactions.get(id).copied()
    }

    /// How many records and transactions it knows.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        (self.records.len(), self.transactions.len())
    }
}
