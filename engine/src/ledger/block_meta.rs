//! Meta data of every block of the chain (item U4).

use interleaf::sync::Arc;
use serde::{Deserialize, Serialize};

use super::block::BlockId;
use super::snapshot::Snapshot;
use super::tx::Amount;

/// What is known of a block without its transactions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockMeta {
    /// The block.
    pub id: BlockId,
    /// The block below.
    pub parent: BlockId,
    /// Distance from genesis.
    pub height: u64,
    /// How many transactions it holds.
    pub tx_count: usize,
    /// Fees of its transactions. Fees are burnt.
    pub fees: Amount,
    /// Fees of all blocks up to and including this one.
    pub fees_burnt: Amount,
}

/// Blocks whose meta data share one allocation.
const CHUNK_BLOCKS: usize = 64;

/// The meta data of all blocks, by height.
///
/// A copy shares all full chunks with its original, so that copy-on-write costs one chunk and one pointer per chunk,
/// not the length of the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMetas {
    chunks: Vec<Arc<Vec<BlockMeta>>>,
}

impl BlockMetas {
    /// The number of blocks; the tip's height is one less.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK_BLOCKS + last.len())
    }

    /// Whether there is no block at all, not even genesis.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The meta data of the block at `height`.
    #[must_use]
    pub fn get(&self, height: u64) -> Option<&BlockMeta> {
        let height = usize::try_from(height).ok()?;
        self.chunks.get(height / CHUNK_BLOCKS)?.get(height % CHUNK_BLOCKS)
    }

    /// The meta data of the newest block.
    #[must_use]
    pub fn tip(&self) -> Option<&BlockMeta> {
        self.chunks.last()?.last()
    }

    /// From genesis to tip.
    pub fn iter(&self) -> impl Iterator<Item = &BlockMeta> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    pub(super) fn push(&mut self, meta: BlockMeta) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK_BLOCKS => Arc::make_mut(last).push(meta),
            _ => self.chunks.push(Arc::new(vec![meta])),
        }
    }

    fn pop(&mut self) {
        if let Some(last) = self.chunks.last_mut() {
            if last.len() == 1 {
                self.chunks.pop();
            } else {
                Arc::make_mut(last).pop();
            }
        }
    }
}

/// The published meta data.
#[derive(Debug)]
pub(super) struct BlockMetaFullCache(Snapshot<BlockMetas>);

impl BlockMetaFullCache {
    /// The cache of these, genesis first.
    pub(super) fn new(all: Vec<BlockMeta>) -> Self {
        let mut metas = BlockMetas::default();
        all.into_iter().for_each(|meta| metas.push(meta));
        Self(Snapshot::new(metas, "BlockMetaFullCache", "BlockMetaFullCache snapshot"))
    }

    pub(super) fn load(&self) -> Arc<BlockMetas> {
        self.0.load()
    }

    /// Takes the `popped` newest blocks off and puts `pushed` on top, in one publication.
    pub(super) fn switch(&self, popped: usize, pushed: Vec<BlockMeta>) -> Arc<BlockMetas> {
        self.0.replace(|metas| {
            let mut next = metas.clone();
            for _ in 0..popped {
                next.pop();
            }
            for meta in pushed {
                next.push(meta);
            }
            Some(next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(height: u64) -> BlockMeta {
        BlockMeta { id: BlockId::default(), parent: BlockId::default(), height, tx_count: 0, fees: 0, fees_burnt: 0 }
    }

    #[test]
    fn chunks_read_like_one_list_and_copies_do_not_change() {
        // U4
        let mut metas = BlockMetas::default();
        assert!(metas.is_empty() && metas.tip().is_none());
        for height in 0..200 {
            metas.push(meta(height));
        }
        let copy = metas.clone();
        for _ in 0..73 {
            metas.pop();
        }
        assert_eq!((metas.len(), copy.len()), (127, 200));
        assert_eq!(metas.tip().map(|m| m.height), Some(126));
        assert_eq!(metas.get(127), None);
        assert!(copy.iter().map(|m| m.height).eq(0..200));
        assert_eq!(copy.get(130).map(|m| m.height), Some(130));
    }
}
