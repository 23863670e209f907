//! The current block (item U3).

use interleaf::arc_swap::Guard;
use interleaf::sync::Arc;

use super::block::Block;
use super::block_meta::{BlockMeta, BlockMetas};
use super::difference::BlockDiff;
use super::snapshot::Snapshot;

/// The newest block, with the meta data of all blocks below it from the same moment.
///
/// Current block and block metas are two snapshots; who loads both may see a publication between the two loads. Who
/// needs both from one moment takes this one (decision O13).
#[derive(Clone, Debug)]
pub struct CurrentBlock {
    /// Meta data of the block.
    pub meta: BlockMeta,
    /// The block.
    pub block: Arc<Block>,
    /// Meta data of every block up to this one.
    pub metas: Arc<BlockMetas>,
}

impl CurrentBlock {
    pub(super) fn new(tip: &BlockDiff, metas: Arc<BlockMetas>) -> Self {
        Self { meta: tip.meta.clone(), block: Arc::clone(&tip.block), metas }
    }
}

/// The published current block.
#[derive(Debug)]
pub(super) struct BlockCurrent(Snapshot<CurrentBlock>);

impl BlockCurrent {
    pub(super) fn new(current: CurrentBlock) -> Self {
        Self(Snapshot::new(current, "BlockCurrent", "BlockCurrent snapshot"))
    }

    pub(super) fn load(&self) -> Arc<CurrentBlock> {
        self.0.load()
    }

    pub(super) fn peek(&self) -> Guard<Arc<CurrentBlock>> {
        self.0.peek()
    }

    /// Publishes the block of `tip` together with `metas`, which end with it.
    pub(super) fn publish(&self, tip: &BlockDiff, metas: Arc<BlockMetas>) {
        self.0.replace(|_| Some(CurrentBlock::new(tip, metas)));
    }
}
