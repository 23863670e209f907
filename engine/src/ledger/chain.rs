//! Adding blocks, rolling back, switching forks (items U2, U28–U32, decisions O8–O10, O13).

use interleaf::sync::{Arc, Mutex};

use super::Ledger;
use super::block::Block;
use super::block_meta::BlockMeta;
use super::cache_manager::Exclusive;
use super::confirmed_cache::ConfirmedCache;
use super::difference::BlockDiff;
use super::error::BlockError;
use super::lock_order::POISONED;
use super::store::Store;
use super::validation::validate;
use super::volatile_cache::VolatileCache;
use crate::planted::Planted;

/// The outermost lock: serialises everything that changes the chain.
#[derive(Debug)]
pub(super) struct Chain(Mutex<()>);

impl Chain {
    pub(super) fn new() -> Self {
        let chain = Self(Mutex::new(()));
        interleaf::name(&chain.0, "Chain");
        chain
    }

    #[track_caller]
    pub(super) fn lock(&self) -> interleaf::sync::MutexGuard<'_, ()> {
        self.0.lock().expect(POISONED)
    }
}

/// What a change of the chain took off and put on.
struct Switched {
    /// Newest first.
    popped: Vec<Arc<BlockDiff>>,
    /// Oldest first.
    pushed: Vec<Arc<BlockDiff>>,
    /// The newest block now.
    tip: Arc<BlockDiff>,
    /// The height up to which everything is in the store now.
    committed_height: u64,
}

impl<S: Store> Ledger<S> {
    /// Adds `block` on top of the chain and cleans the pool up (item U28). Returns its meta data.
    ///
    /// # Errors
    /// Which rule the block breaks, with height, transaction and input; then nothing has changed.
    pub fn add_block(&self, block: Block) -> Result<BlockMeta, BlockError> {
        let switched = self.switch(0, vec![block])?;
        Ok(switched.pushed[0].meta.clone())
    }

    /// Takes the newest block off the chain and returns it. Its transactions return to the pool as far as the pool may
    /// hold them (decision O8); the block becomes an unconfirmed branch. The store is not touched (item U32).
    ///
    /// # Errors
    /// [`BlockError::RollBackPastCommit`] if the block is in the store already (decision O9).
    pub fn roll_back(&self) -> Result<Arc<Block>, BlockError> {
        let switched = self.switch(1, Vec::new())?;
        Ok(Arc::clone(&switched.popped[0].block))
    }

    /// Takes `depth` blocks off and puts `blocks` on, as one step: neither the locked queries nor the lock-free
    /// readers see a chain in between (decision O13). Returns the blocks taken off, newest first.
    ///
    /// Whether the new branch is better is the caller's decision.
    ///
    /// # Errors
    /// As for [`roll_back`](Self::roll_back) and [`add_block`](Self::add_block); then the old branch stands unchanged.
    pub fn switch_fork(&self, depth: usize, blocks: Vec<Block>) -> Result<Vec<Arc<Block>>, BlockError> {
        let switched = self.switch(depth, blocks)?;
        Ok(switched.popped.iter().map(|diff| Arc::clone(&diff.block)).collect())
    }

    /// The one path of all changes of the chain: confirmed state, referrals and node infos, pool, then publication. Everything happens
    /// under the exclusive lock: whoever has seen a published tip and then asks the caches finds a state that is at
    /// least as new, and whoever has asked the caches and then loads the tip finds one that is at least as new.
    fn switch(&self, depth: usize, blocks: Vec<Block>) -> Result<Switched, BlockError> {
        let _chain = self.chain.lock();
        let caches = self.caches.exclusive();
        let switched = self.switch_confirmed(&caches, depth, blocks)?;
        switch_confirmed_cache(&caches, &switched);
        self.switch_pool(&caches, &switched);
        self.publish(&switched);
        Ok(switched)
    }

    /// Changes the confirmed state, or leaves it as it was.
    fn switch_confirmed(
        &self,
        caches: &Exclusive<'_, S>,
        depth: usize,
        blocks: Vec<Block>,
    ) -> Result<Switched, BlockError> {
        let mut volatile = caches.volatile_mut();
        if depth > volatile.len() {
            let (tip, committed) = (volatile.tip().meta.height, volatile.committed().meta.height);
            return Err(BlockError::RollBackPastCommit { depth, tip, committed });
        }
        let popped: Vec<_> = (0..depth).filter_map(|_| volatile.pop_back()).collect();
        match self.push_and_commit(&mut volatile, caches.store(), blocks) {
            Ok(pushed) => {
                let (tip, committed_height) = (Arc::clone(volatile.tip()), volatile.committed().meta.height);
                Ok(Switched { popped, pushed, tip, committed_height })
            }
            Err((valid, error)) => {
                (0..valid).for_each(|_| drop(volatile.pop_back()));
                popped.into_iter().rev().for_each(|diff| volatile.push_back(diff));
                Err(error)
            }
        }
    }

    /// Puts `blocks` on, then writes what has left the window. On an error says how many blocks are on.
    fn push_and_commit(
        &self,
        volatile: &mut VolatileCache,
        store: &S,
        blocks: Vec<Block>,
    ) -> Result<Vec<Arc<BlockDiff>>, (usize, BlockError)> {
        let mut pushed = Vec::with_capacity(blocks.len());
        for block in blocks {
            let diff = validate(Arc::new(block), volatile, store, self.config.planted);
            let diff = Arc::new(diff.map_err(|error| (pushed.len(), error))?);
            volatile.push_back(Arc::clone(&diff));
            pushed.push(diff);
        }
        let due = volatile.due_for_commit(self.config.window_blocks, self.config.commit_every_blocks);
        if due > 0 {
            store.commit(volatile.oldest(due)).map_err(|error| (pushed.len(), error.into()))?;
            volatile.forget_oldest(due);
        }
        Ok(pushed)
    }

    /// One acquisition of the pool's lock for everything that returns and everything that is cleaned up, so that no
    /// `add_tx` sees the pool between two steps (decision O15).
    fn switch_pool(&self, caches: &Exclusive<'_, S>, switched: &Switched) {
        let mut pool = caches.tx_current_mut();
        if !self.config.has(Planted::RollbackForgetsPool) {
            for diff in &switched.popped {
                pool.undo_block(diff, diff.meta.height - 1, self.config.planted);
            }
        }
        for diff in &switched.pushed {
            let min_height = diff.meta.height.saturating_sub(self.config.pool_age_max_blocks);
            pool.clean_up(diff, min_height, self.config.planted);
        }
    }

    /// Publishes metas, then the current block with them, then the branches: each in one step.
    fn publish(&self, switched: &Switched) {
        let pushed = switched.pushed.iter().map(|diff| diff.meta.clone()).collect();
        let metas = self.metas.switch(switched.popped.len(), pushed);
        self.current.publish(&switched.tip, metas);
        self.branches.switch(&switched.popped, &switched.pushed, switched.committed_height);
    }
}

fn switch_confirmed_cache<S: Store>(caches: &Exclusive<'_, S>, switched: &Switched) {
    let mut concerned = switched.popped.iter().chain(&switched.pushed);
    if !concerned.any(|diff| ConfirmedCache::concerns(diff)) {
        return;
    }
    let mut confirmed = caches.confirmed_mut();
    switched.popped.iter().for_each(|diff| confirmed.undo_block(diff));
    switched.pushed.iter().for_each(|diff| confirmed.add_block(diff));
}
