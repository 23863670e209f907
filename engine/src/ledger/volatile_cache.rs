//! The newest blocks as differences in memory (items U6, U29–U32, U34–U36).

use std::collections::VecDeque;

use interleaf::sync::Arc;

use super::difference::BlockDiff;
use super::record::{Record, Status};
use super::tx::{Address, OutPoint, TxId};
use super::volatile_index::VolatileIndex;

/// The differences of the blocks above the store, oldest in front. [`CacheManager`](super::cache_manager) holds it
/// behind its lock.
#[derive(Debug)]
pub(super) struct VolatileCache {
    /// The newest block that is in the store.
    committed: Arc<BlockDiff>,
    diffs: VecDeque<Arc<BlockDiff>>,
    /// The differences taken together.
    index: VolatileIndex,
}

impl VolatileCache {
    pub(super) fn new(committed: Arc<BlockDiff>) -> Self {
        Self { committed, diffs: VecDeque::new(), index: VolatileIndex::default() }
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

    /// Adds a block on top: O(transactions + records) (item U30).
    pub(super) fn push_back(&mut self, diff: Arc<BlockDiff>) {
        self.index.push(&diff);
        self.diffs.push_back(diff);
    }

    /// Takes the newest block off. The store is not touched, nor any other block (item U32): O(1) in both, and in memory
    /// as much as the pool, to which its transactions return, costs anyway.
    pub(super) fn pop_back(&mut self) -> Option<Arc<BlockDiff>> {
        let popped = self.diffs.pop_back()?;
        self.index.remove(&popped);
        Some(popped)
    }

    /// How many of the oldest blocks are due for a batch write: a multiple of `every`, such that at least `window`
    /// blocks stay (decision O10).
    pub(super) fn due_for_commit(&self, window: usize, every: usize) -> usize {
        let every = every.max(1);
        self.diffs.len().saturating_sub(window) / every * every
    }

    /// Forgets the `count` oldest blocks: they are in the store now.
    pub(super) fn forget_oldest(&mut self, count: usize) {
        for oldest in self.diffs.drain(..count) {
            self.index.remove(&oldest);
            self.committed = oldest;
        }
    }

    /// What the blocks in memory make of `key`; `None` sends the look-up to the store. One probe for all blocks (item U35).
    pub(super) fn status(&self, key: &OutPoint) -> Option<Status> {
        self.index.status(key)
    }

    /// Turns the unspent records that the store has for `owner` into those of the tip (item U33): a probe for each of them,
    /// then a search in each block and a probe for each of the owner's records there.
    pub(super) fn filter_owned(&self, owner: Address, stored: &mut Vec<(OutPoint, Record)>) {
        // Also what was created in memory: during a flush a block is here and in the store (decision O12).
        stored.retain(|(key, _)| self.index.status(key).is_none());
        let created = self.diffs.iter().flat_map(|diff| diff.owned_by(owner));
        stored.extend(created.filter(|(key, _)| matches!(self.index.status(key), Some(Status::Unspent(_)))));
    }

    /// The height of the block in memory that holds the transaction `id` (item U34).
    pub(super) fn transaction_height(&self, id: TxId) -> Option<u64> {
        self.index.transaction_height(&id)
    }

    /// At most `limit` transactions of each block in memory, among which are the newest of all (item U36).
    pub(super) fn newest_transactions(&self, limit: usize) -> impl Iterator<Item = TxId> {
        self.diffs.iter().flat_map(move |diff| diff.transactions_newest_first().iter().take(limit).copied())
    }

    /// All differences, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<BlockDiff>> {
        self.diffs.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::ledger::block::{Block, BlockId};
    use crate::ledger::block_meta::BlockMeta;
    use crate::ledger::difference::Consumed;
    use crate::ledger::tx::Tx;

    fn key(n: u8) -> OutPoint {
        OutPoint { tx: TxId([n; 32]), index: 0 }
    }

    fn id(salt: u64) -> TxId {
        Tx::new(salt, Address::default(), Vec::new(), Vec::new()).id
    }

    /// A block that creates and consumes these records.
    fn diff(height: u64, salt: u64, created: &[u8], spent: &[u8]) -> Arc<BlockDiff> {
        let block =
            Block::new(BlockId::default(), height, vec![Tx::new(salt, Address::default(), Vec::new(), Vec::new())]);
        let meta = BlockMeta { id: block.id, parent: block.parent, height, tx_count: 1, fees: 0, fees_burnt: 0 };
        let record = Record::coin(Address::default(), salt);
        let created = created.iter().map(|&n| (key(n), record)).collect();
        let spent = spent.iter().map(|&n| (key(n), Consumed { record, by: id(salt) })).collect::<BTreeMap<_, _>>();
        Arc::new(BlockDiff::new(Arc::new(block), meta, created, spent))
    }

    proptest! {
        #[test]
        fn the_index_says_what_the_blocks_say_one_by_one(steps in prop::collection::vec((0..5u8, 0..30u8, 0..30u8), 1..60)) {
            let mut cache = VolatileCache::new(diff(0, 0, &[], &[]));
            // Every record is created at most once and consumed at most once, as on a chain; some come from below.
            let (mut created, mut spent): (Vec<u8>, Vec<u8>) = Default::default();
            for (salt, (what, one, other)) in (1..).zip(steps) {
                match what {
                    0 => {
                        if let Some(popped) = cache.pop_back() {
                            created.retain(|&n| !popped.created.contains_key(&key(n)));
                            spent.retain(|&n| !popped.spent.contains_key(&key(n)));
                        }
                    }
                    1 => cache.forget_oldest(cache.len() / 2),
                    _ => {
                        let height = cache.tip().meta.height + 1;
                        let new = if created.contains(&one) || spent.contains(&one) { vec![] } else { vec![one] };
                        created.extend(&new);
                        let gone = if spent.contains(&other) { vec![] } else { vec![other] };
                        spent.extend(&gone);
                        cache.push_back(diff(height, salt, &new, &gone));
                    }
                }
                for n in 0..30 {
                    let one_by_one = cache.diffs.iter().rev().find_map(|diff| diff.status(&key(n)));
                    prop_assert_eq!(cache.status(&key(n)), one_by_one);
                }
                for salt in 0..=salt {
                    let found = cache.diffs.iter().find(|d| d.block.txs[0].id == id(salt)).map(|d| d.meta.height);
                    prop_assert_eq!(cache.transaction_height(id(salt)), found);
                }
                let keys: std::collections::BTreeSet<_> =
                    cache.diffs.iter().flat_map(|d| d.created.keys().chain(d.spent.keys())).collect();
                let mut owned: Vec<_> = Vec::new();
                for diff in &cache.diffs {
                    owned.retain(|(key, _)| !diff.spent.contains_key(key));
                    let own = diff.created.iter().filter(|(key, _)| !diff.spent.contains_key(*key));
                    owned.extend(own.map(|(key, record)| (*key, *record)));
                }
                owned.sort_unstable_by_key(|(key, _)| *key);
                prop_assert_eq!(cache.index.len(), (keys.len(), cache.len()), "nothing stays behind");
                let mut found = Vec::new();
                cache.filter_owned(Address::default(), &mut found);
                found.sort_unstable_by_key(|(key, _)| *key);
                prop_assert_eq!(found, owned);
                prop_assert_eq!(cache.newest_transactions(1).count(), cache.len());
            }
        }
    }
}
