//! Unconfirmed branches (items U5, U39).

use std::collections::{BTreeMap, BTreeSet};

use interleaf::sync::Arc;

use super::block::{Block, BlockId};
use super::block_meta::BlockMetaFullCache;
use super::config::LedgerConfig;
use super::difference::BlockDiff;
use super::snapshot::Snapshot;

/// Blocks that are not on the chain, by id: offered by others, or taken off by a roll-back.
pub type Branches = BTreeMap<BlockId, Arc<Block>>;

/// The published branches.
#[derive(Debug)]
pub(super) struct BlockPool(Snapshot<Branches>);

impl BlockPool {
    pub(super) fn new() -> Self {
        Self(Snapshot::new(Branches::new(), "BlockPool", "BlockPool snapshot"))
    }

    pub(super) fn load(&self) -> Arc<Branches> {
        self.0.load()
    }

    /// Adds one block; `false` if it is there already or on the chain.
    ///
    /// `metas` is read while the writers' lock is held. A block that joins the chain is published in the metas before
    /// [`switch`](Self::switch) takes that lock, so either it is seen here or `switch` removes it.
    pub(super) fn offer(&self, block: Block, metas: &BlockMetaFullCache) -> bool {
        let mut is_new = false;
        self.0.replace(|branches| {
            let on_chain = metas.load().get(block.height).is_some_and(|meta| meta.id == block.id);
            is_new = !on_chain && !branches.contains_key(&block.id);
            is_new.then(|| {
                let mut next = branches.clone();
                next.insert(block.id, Arc::new(block));
                next
            })
        });
        is_new
    }

    /// Adds one block for who holds the chain's lock, then drops what is farthest from `tip_height` until the branches fit
    /// into the budget (item U40): of equally far ones the one with the larger id.
    pub(super) fn keep(&self, block: Arc<Block>, tip_height: u64, config: &LedgerConfig) {
        self.0.replace(|branches| {
            let mut next = branches.clone();
            next.insert(block.id, block);
            let mut bytes: usize = next.values().map(|block| block.memory_bytes()).sum();
            while bytes > config.branch_bytes_max {
                let farthest =
                    next.values().max_by_key(|block| (block.height.abs_diff(tip_height), block.id)).map(|b| b.id);
                let Some(dropped) = farthest.and_then(|id| next.remove(&id)) else { break };
                bytes -= dropped.memory_bytes();
            }
            Some(next)
        });
    }

    /// Removes these.
    pub(super) fn remove(&self, ids: &BTreeSet<BlockId>) {
        self.0.replace(|branches| {
            let rest = branches.iter().filter(|(id, _)| !ids.contains(*id));
            (!ids.is_empty()).then(|| rest.map(|(id, block)| (*id, Arc::clone(block))).collect())
        });
    }

    /// After a change of the chain: `popped` blocks are branches now, `pushed` ones are not any more, and what stands
    /// at or below `committed_height` can never join the chain again. One publication, none if nothing changes.
    pub(super) fn switch(&self, popped: &[Arc<BlockDiff>], pushed: &[Arc<BlockDiff>], committed_height: u64) {
        let leaves =
            |block: &Block| block.height <= committed_height || pushed.iter().any(|diff| diff.meta.id == block.id);
        self.0.replace(|branches| {
            if popped.is_empty() && !branches.values().any(|block| leaves(block)) {
                return None;
            }
            let all = branches.values().chain(popped.iter().map(|diff| &diff.block));
            Some(all.filter(|block| !leaves(block)).map(|block| (block.id, Arc::clone(block))).collect())
        });
    }
}
