//! The newest blocks as differences in memory (items U6, U29–U32, U34–U36).

use std::collections::VecDeque;

use interleaf::sync::Arc;

use super::difference::BlockDiff;
use super::record::{Record, Status};
use super::tx::{Address, OutPoint, TxId};

/// The differences of the blocks above the store, oldest in front. [`CacheManager`](super::cache_manager) holds it
/// behind its lock.
#[derive(Debug)]
pub(super) struct VolatileCache {
    /// The newest block that is in the store.
    committed: Arc<BlockDiff>,
    diffs: VecDeque<Arc<BlockDiff>>,
}

impl VolatileCache {
    pub(super) fn new(committed: Arc<BlockDiff>) -> Self {
        Self { committed, diffs: VecDeque::new() }
    }

    /// The newest block.
    pub(super) fn tip(&self) -> &Arc<BlockDiff> {
        self.diffs.back().unwrap_or(&self.committed)
    }

    /// The newest block that is in the store: roll-back ends here.
    pub(super) fn committed(&self) -> &Arc<BlockDiff> {
        &self.committed
    }

    pub(super) fn len(&self) -> usize {
        self.diffs.len()
    }

    /// Adds a block on top: O(1) beyond building its difference (item U30).
    pub(super) fn push_back(&mut self, diff: Arc<BlockDiff>) {
        self.diffs.push_back(diff);
    }

    /// Takes the newest block off: O(1), the store is not touched (item U32).
    pub(super) fn pop_back(&mut self) -> Option<Arc<BlockDiff>> {
        self.diffs.pop_back()
    }

    /// How many of the oldest blocks are due for a batch write: a multiple of `every`, such that at least `window`
    /// blocks stay (decision O10).
    pub(super) fn due_for_commit(&self, window: usize, every: usize) -> usize {
        let every = every.max(1);
        self.diffs.len().saturating_sub(window) / every * every
    }

    /// Forgets the `count` oldest blocks: they are in the store now.
    pub(super) fn forget_oldest(&mut self, count: usize) {
        if let Some(newest) = self.diffs.drain(..count).next_back() {
            self.committed = newest;
        }
    }

    /// What the blocks in memory make of `key`; `None` sends the look-up to the store. O(number of blocks) (item U35).
    pub(super) fn status(&self, key: &OutPoint) -> Option<Status> {
        self.diffs.iter().rev().find_map(|diff| diff.status(key))
    }

    /// Turns the unspent records that the store has for `owner` into those of the tip (item U33).
    pub(super) fn filter_owned(&self, owner: Address, stored: &mut Vec<(OutPoint, Record)>) {
        for diff in &self.diffs {
            // Also what it creates: during a flush a block is here and in the store (decision O12).
            stored.retain(|(key, _)| !diff.spent.contains_key(key) && !diff.created.contains_key(key));
            let own = diff.created.iter().filter(|(key, r)| r.owner == owner && !diff.spent.contains_key(*key));
            stored.extend(own.map(|(key, record)| (*key, *record)));
        }
    }

    /// The height of the block in memory that holds the transaction `id` (item U34).
    pub(super) fn transaction_height(&self, id: TxId) -> Option<u64> {
        let mut newest_first = self.diffs.iter().rev();
        newest_first.find(|diff| diff.block.txs.iter().any(|tx| tx.id == id)).map(|diff| diff.meta.height)
    }

    /// The transactions of the blocks in memory, newest block first (item U36).
    pub(super) fn transactions_newest_first(&self) -> impl Iterator<Item = TxId> {
        self.diffs.iter().rev().flat_map(|diff| diff.block.txs.iter().rev().map(|tx| tx.id))
    }

    /// All differences, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<BlockDiff>> {
        self.diffs.iter()
    }
}
