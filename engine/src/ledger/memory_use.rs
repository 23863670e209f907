//! How much memory the caches take (item U40).

use std::collections::BTreeMap;

use super::Ledger;
use super::block::Block;
use super::difference::BlockDiff;
use super::store::Store;
use super::tx::{OutPoint, Output, Tx};

/// Bytes in each cache, counted from the number and the size of what it holds. An estimate: what the allocator adds is not
/// known here. A transaction that waits in the pool and one in a block are two copies and count twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The newest blocks and their differences.
    pub volatile_cache: usize,
    /// Referrals and node infos.
    pub confirmed_cache: usize,
    /// Waiting transactions and their reservations.
    pub tx_current: usize,
    /// Unconfirmed branches.
    pub block_pool: usize,
}

impl MemoryUse {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.volatile_cache + self.confirmed_cache + self.tx_current + self.block_pool
    }

    /// The greater of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            volatile_cache: self.volatile_cache.max(other.volatile_cache),
            confirmed_cache: self.confirmed_cache.max(other.confirmed_cache),
            tx_current: self.tx_current.max(other.tx_current),
            block_pool: self.block_pool.max(other.block_pool),
        }
    }
}

impl<S: Store> Ledger<S> {
    /// How much memory the caches take. Walks over all that is in memory; for reports, not for every block.
    #[must_use]
    pub fn memory_use(&self) -> MemoryUse {
        let caches = self.caches.shared();
        let volatile_cache = caches.volatile().iter().map(|diff| of_diff(diff)).sum();
        let (referrals, nodes) = caches.confirmed().snapshot();
        let confirmed_cache = of_map(&referrals) + of_map(&nodes) + nodes.values().map(of_map).sum::<usize>();
        let tx_current = caches.tx_current().bytes;
        drop(caches);
        let block_pool = self.block_pool().values().map(|block| of_block(block)).sum();
        MemoryUse { volatile_cache, confirmed_cache, tx_current, block_pool }
    }
}

fn of_diff(diff: &BlockDiff) -> usize {
    size_of::<BlockDiff>() + of_block(&diff.block) + of_map(&diff.created) + of_map(&diff.spent)
}

fn of_block(block: &Block) -> usize {
    size_of::<Block>() + block.txs.iter().map(of_tx).sum::<usize>()
}

fn of_tx(tx: &Tx) -> usize {
    size_of::<Tx>() + tx.inputs.len() * size_of::<OutPoint>() + tx.outputs.len() * size_of::<Output>()
}

/// A map in a B-tree without what its values point to.
fn of_map<K, V>(map: &BTreeMap<K, V>) -> usize {
    map.len() * padded(size_of::<(K, V)>())
}

/// Nodes of a B-tree are two thirds full on average.
const fn padded(bytes: usize) -> usize {
    bytes + bytes / 2
}
