//! Unconfirmed branches (items U5, U39).

use std::collections::BTreeMap;

use interleaf::sync::Arc;

use super::block::{Block, BlockId};
use super::block_meta::BlockMetaFullCache;
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
