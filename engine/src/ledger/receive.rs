//! Blocks from others: kept, put on, or refused (items U5, U39, decision O13).

use interleaf::sync::Arc;

use super::Ledger;
use super::block::{Block, BlockId};
use super::chain::Durable;
use super::error::BlockError;
use super::fork_choice::{choose, root_of};
use super::store::Store;
#[cfg(feature = "planted")]
use crate::planted::Planted;

/// What became of a block that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The chain is another one now: it ends with the heaviest branch, which this block has completed.
    Switched {
        /// How many blocks were taken off.
        depth: usize,
        /// How many were put on.
        blocks: usize,
    },
    /// It stands on a branch that is not heavier than the chain.
    Kept,
    /// A block below it is not known.
    Orphan {
        /// The missing one.
        missing: BlockId,
        /// Its height.
        height: u64,
    },
    /// It is on the chain or on a branch already.
    Known,
    /// It breaks a rule, or stands on a block that does; it is not kept.
    Invalid(Option<BlockError>),
    /// The store has another block at its height: it can never join the chain (decision O9).
    TooOld {
        /// The height up to which the store has everything.
        committed: u64,
    },
}

impl<S: Store> Ledger<S> {
    /// Takes in a block that somebody sent: keeps it as a branch, and makes the heaviest branch the chain (see
    /// [`fork_choice`](super::fork_choice)). Choice and switch are one step under the chain's lock, and readers see the
    /// switch as one step (decision O13).
    ///
    /// # Errors
    /// What journal or store have to say; then the chain stands as it was. A block that breaks a rule is no error here.
    pub fn receive_block(&self, block: Block) -> Result<Received, BlockError> {
        if !block.has_its_id() {
            return Ok(Received::Invalid(None));
        }
        #[cfg(feature = "planted")]
        if self.config.has(Planted::ForkChoiceStale) {
            return self.receive_with_a_stale_choice(block);
        }
        let mut durable = self.chain.lock();
        if let Some(answer) = self.refuse(&mut durable, &block) {
            return Ok(answer);
        }
        let block = Arc::new(block);
        self.branches.keep(Arc::clone(&block), self.metas.load().tip().map_or(0, |tip| tip.height), &self.config);
        self.choose_and_switch(&mut durable, &block)
    }

    /// Why nothing is to be done about `block`.
    fn refuse(&self, durable: &mut Durable, block: &Block) -> Option<Received> {
        let metas = self.metas.load();
        let on_chain = metas.get(block.height).map(|meta| meta.id);
        if on_chain == Some(block.id) || self.branches.load().contains_key(&block.id) {
            return Some(Received::Known);
        }
        if durable.invalid.contains(&block.id) || durable.invalid.contains(&block.parent) {
            durable.invalid.insert(block.id);
            return Some(Received::Invalid(None));
        }
        let committed = self.committed_height();
        (block.height <= committed).then_some(Received::TooOld { committed })
    }

    fn committed_height(&self) -> u64 {
        let caches = self.caches.shared();
        caches.volatile().committed().meta.height
    }

    /// Switches to the heaviest branch until there is none that is heavier than the chain and breaks no rule. What became
    /// of `block`.
    fn choose_and_switch(&self, durable: &mut Durable, block: &Arc<Block>) -> Result<Received, BlockError> {
        let (mut answer, mut reason) = (None, None);
        while let Some(choice) = choose(&self.metas.load(), &self.branches.load()) {
            let blocks = choice.path.len();
            match self.switch_held(durable, choice.depth, choice.path) {
                Ok(_) => {
                    answer = Some(Received::Switched { depth: choice.depth, blocks });
                }
                Err(error @ BlockError::InvalidTx { block: culprit, .. }) => {
                    durable.invalid.insert(culprit);
                    let gone = durable.invalid.spread(&self.branches.load());
                    self.branches.remove(&gone);
                    reason = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if durable.invalid.contains(&block.id) {
            return Ok(Received::Invalid(reason));
        }
        Ok(answer.unwrap_or_else(|| self.place_of(block)))
    }

    /// Where a block that is not on the chain stands.
    fn place_of(&self, block: &Arc<Block>) -> Received {
        let (metas, branches) = (self.metas.load(), self.branches.load());
        let root = root_of(block, &branches);
        let Some(height) = root.height.checked_sub(1) else { return Received::Kept };
        let is_known = metas.get(height).is_some_and(|meta| meta.id == root.parent);
        if is_known { Received::Kept } else { Received::Orphan { missing: root.parent, height } }
    }

    /// The planted bug: what was chosen before the lock is done under it.
    #[cfg(feature = "planted")]
    fn receive_with_a_stale_choice(&self, block: Block) -> Result<Received, BlockError> {
        if let Some(answer) = self.refuse(&mut self.chain.lock(), &block) {
            return Ok(answer);
        }
        let block = Arc::new(block);
        self.branches.keep(Arc::clone(&block), 0, &self.config);
        let Some(choice) = choose(&self.metas.load(), &self.branches.load()) else {
            return Ok(self.place_of(&block));
        };
        let (depth, blocks) = (choice.depth, choice.path.len());
        match self.switch_held(&mut self.chain.lock(), depth, choice.path) {
            Ok(_) => Ok(Received::Switched { depth, blocks }),
            Err(error @ (BlockError::Journal(_) | BlockError::Store(_) | BlockError::Backlog { .. })) => Err(error),
            Err(error) => Ok(Received::Invalid(Some(error))),
        }
    }

    /// The block `id` at `height`, of the chain or of a branch.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn block(&self, height: u64, id: BlockId) -> Result<Option<Arc<Block>>, super::StoreError> {
        if let Some(block) = self.branches.load().get(&id) {
            return Ok(Some(Arc::clone(block)));
        }
        let caches = self.caches.shared();
        let recent = caches.volatile().iter().find(|diff| diff.meta.id == id).map(|diff| Arc::clone(&diff.block));
        let block = if recent.is_some() { recent } else { caches.store().block(height)? };
        Ok(block.filter(|block| block.id == id))
    }
}
