//! Which branch is the chain (items U5, U39, decision O13).
//!
//! The heaviest branch: the most blocks. Of several, the one whose newest block has the smallest id, so that nodes that
//! know the same blocks agree, in whatever order they came.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use interleaf::sync::Arc;

use super::block::{Block, BlockId};
use super::block_meta::BlockMetas;
use super::block_pool::Branches;

/// How heavy the branch that ends with a block is: the more, the heavier.
pub type Weight = (u64, Reverse<BlockId>);

/// The weight of the branch that ends with the block `id` at `height`.
#[must_use]
pub fn weight(height: u64, id: BlockId) -> Weight {
    (height, Reverse(id))
}

/// A branch that is heavier than the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How many blocks of the chain it replaces.
    pub depth: usize,
    /// Its blocks, oldest first.
    pub path: Vec<Arc<Block>>,
}

/// The heaviest branch of `branches`, if it is heavier than the chain of `metas`. A branch whose blocks are not all known
/// cannot be chosen. None begins below the store, since no branch has a block at or below its height (decision O9).
#[must_use]
pub fn choose(metas: &BlockMetas, branches: &Branches) -> Option<Choice> {
    let tip = metas.tip()?;
    let mut heavier: Vec<&Arc<Block>> =
        branches.values().filter(|block| weight(block.height, block.id) > weight(tip.height, tip.id)).collect();
    heavier.sort_unstable_by_key(|block| Reverse(weight(block.height, block.id)));
    heavier.into_iter().find_map(|newest| {
        let (mut path, mut block) = (Vec::new(), newest);
        loop {
            path.push(Arc::clone(block));
            let below = block.height.checked_sub(1)?;
            if metas.get(below).is_some_and(|meta| meta.id == block.parent) {
                let depth = usize::try_from(tip.height.checked_sub(below)?).ok()?;
                path.reverse();
                return Some(Choice { depth, path });
            }
            block = branches.get(&block.parent).filter(|parent| parent.height == below)?;
        }
    })
}

/// The oldest known block of the branch that ends with `block`: its parent is the one that is missing, or on the chain.
#[must_use]
pub fn root_of<'a>(block: &'a Arc<Block>, branches: &'a Branches) -> &'a Arc<Block> {
    let mut root = block;
    while let Some(parent) = branches.get(&root.parent).filter(|parent| parent.height < root.height) {
        root = parent;
    }
    root
}

/// Blocks that break a rule, and blocks above them: never tried again. It remembers the newest so many.
#[derive(Debug, Default)]
pub(super) struct Invalid {
    ids: BTreeSet<BlockId>,
    order: VecDeque<BlockId>,
}

/// How many are remembered.
const INVALID_MAX: usize = 4_096;

impl Invalid {
    pub(super) fn contains(&self, id: &BlockId) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn insert(&mut self, id: BlockId) {
        if self.ids.insert(id) {
            self.order.push_back(id);
            while self.order.len() > INVALID_MAX {
                self.order.pop_front().iter().for_each(|oldest| {
                    self.ids.remove(oldest);
                });
            }
        }
    }

    /// Adds whatever of `branches` stands on something invalid; their ids.
    pub(super) fn spread(&mut self, branches: &Branches) -> BTreeSet<BlockId> {
        let mut by_height: Vec<&Arc<Block>> = branches.values().collect();
        by_height.sort_unstable_by_key(|block| block.height);
        let mut found = BTreeSet::new();
        for block in by_height {
            if self.contains(&block.id) || self.contains(&block.parent) {
                self.insert(block.id);
                found.insert(block.id);
            }
        }
        found
    }
}
