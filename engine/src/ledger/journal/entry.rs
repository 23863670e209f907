//! What the journal's records say.

use interleaf::sync::Arc;
use serde::{Deserialize, Serialize};

use crate::ledger::block::{Block, BlockId};
use crate::ledger::genesis::LedgerId;

/// The version of the format: another one is refused.
pub(super) const VERSION: u32 = 1;

/// The first record of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) version: u32,
    pub(super) ledger: LedgerId,
    pub(super) window: Window,
}

/// The blocks that are in memory only when a generation begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ledger) struct Window {
    /// The newest block that is in the store.
    pub(in crate::ledger) base: BlockId,
    /// Its height.
    pub(in crate::ledger) base_height: u64,
    /// The blocks above it, oldest first.
    pub(in crate::ledger) blocks: Vec<Arc<Block>>,
}

/// One change of the chain. All of it or nothing: a fork switch is one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ledger) struct Change {
    /// How many of the newest blocks are taken off.
    pub(in crate::ledger) popped: u64,
    /// What is put on, oldest first.
    pub(in crate::ledger) pushed: Vec<Arc<Block>>,
}

impl Window {
    /// Applies a change that came later; `false` if it takes off more than there is.
    pub(super) fn apply(&mut self, change: Change) -> bool {
        let kept = usize::try_from(change.popped).ok().and_then(|popped| self.blocks.len().checked_sub(popped));
        let Some(kept) = kept else { return false };
        self.blocks.truncate(kept);
        self.blocks.extend(change.pushed);
        true
    }
}
