//! Adding blocks, rolling back, switching forks, flushing (items U2, U28–U32, decisions O8–O13).

use interleaf::sync::{Arc, Mutex, MutexGuard};

use super::Ledger;
use super::block::Block;
use super::block_meta::BlockMeta;
use super::cache_manager::Exclusive;
use super::confirmed_cache::ConfirmedCache;
use super::difference::BlockDiff;
use super::error::BlockError;
use super::fork_choice::Invalid;
use super::journal::{Change, Journal, JournalError, Window};
use super::lock_order::POISONED;
use super::store::{Store, StoreError};
use super::validation::validate;
use super::volatile_cache::VolatileCache;
use crate::planted::Planted;

/// The outermost lock: serialises everything that changes the chain.
#[derive(Debug)]
pub(super) struct Chain(Mutex<Durable>);

/// What only the holder of the chain's lock writes to.
#[derive(Debug, Default)]
pub(super) struct Durable {
    /// `None` for a ledger that is not durable.
    pub(super) journal: Option<Journal>,
    /// Why the last batch could not be written. It stays due.
    flush_error: Option<StoreError>,
    /// Blocks that were tried and break a rule.
    pub(super) invalid: Invalid,
}

impl Chain {
    pub(super) fn new() -> Self {
        let chain = Self(Mutex::new(Durable::default()));
        interleaf::name(&chain.0, "Chain");
        chain
    }

    #[track_caller]
    pub(super) fn lock(&self) -> MutexGuard<'_, Durable> {
        self.0.lock().expect(POISONED)
    }
}

/// What a change of the chain took off and put on.
pub(super) struct Switched {
    /// Newest first.
    popped: Vec<Arc<BlockDiff>>,
    /// Oldest first.
    pushed: Vec<Arc<BlockDiff>>,
    /// The newest block now.
    tip: Arc<BlockDiff>,
    /// The height up to which everything is in the store now.
    committed_height: u64,
    /// Blocks that are due for a batch now.
    due: usize,
}

impl<S: Store> Ledger<S> {
    /// Adds `block` on top of the chain and cleans the pool up (item U28). Returns its meta data. When it returns the
    /// block is on disk, if the ledger has a journal.
    ///
    /// # Errors
    /// Which rule the block breaks, with height, transaction and input; then nothing has changed. What journal or store
    /// have to say: see [`BlockError`].
    pub fn add_block(&self, block: Block) -> Result<BlockMeta, BlockError> {
        let switched = self.switch(0, vec![block])?;
        Ok(switched.pushed[0].meta.clone())
    }

    /// Takes the newest block off the chain and returns it. Its transactions return to the pool as far as the pool may
    /// hold them (decision O8); the block becomes an unconfirmed branch. The store is not touched (item U32).
    ///
    /// # Errors
    /// [`BlockError::RollBackPastCommit`] if the block is in the store already (decision O9); or what the journal says.
    pub fn roll_back(&self) -> Result<Arc<Block>, BlockError> {
        let switched = self.switch(1, Vec::new())?;
        Ok(Arc::clone(&switched.popped[0].block))
    }

    /// Takes `depth` blocks off and puts `blocks` on, as one step: neither the locked queries nor the lock-free
    /// readers see a chain in between (decision O13), nor does a crash leave one. Returns the blocks taken off, newest
    /// first.
    ///
    /// Whether the new branch is better is the caller's decision.
    ///
    /// # Errors
    /// As for [`roll_back`](Self::roll_back) and [`add_block`](Self::add_block); then the old branch stands unchanged.
    pub fn switch_fork(&self, depth: usize, blocks: Vec<Block>) -> Result<Vec<Arc<Block>>, BlockError> {
        let switched = self.switch(depth, blocks)?;
        Ok(switched.popped.iter().map(|diff| Arc::clone(&diff.block)).collect())
    }

    /// Writes the blocks that have left the window to the store, if a batch is full (item U31); how many. Blocks do so by
    /// themselves; this is for who wants to try again after a failure, or to flush in a thread of its own.
    ///
    /// Readers go on meanwhile: until the batch is written they find its blocks in memory, and from then on in both
    /// places, which makes no difference (decision O12).
    ///
    /// # Errors
    /// If the store cannot be written: the batch stays in memory and due. If the journal cannot go on: then the batch is
    /// written, and the chain takes no further change.
    pub fn flush(&self) -> Result<usize, BlockError> {
        let mut durable = self.chain.lock();
        let due = self.due(&self.caches.shared().volatile());
        self.flush_due(&mut durable, due)
    }

    /// Why the last batch could not be written to the store; `None` if it was.
    #[must_use]
    pub fn flush_error(&self) -> Option<StoreError> {
        self.chain.lock().flush_error.clone()
    }

    fn switch(&self, depth: usize, blocks: Vec<Block>) -> Result<Switched, BlockError> {
        let blocks = blocks.into_iter().map(Arc::new).collect();
        #[cfg(feature = "planted")]
        if self.config.has(Planted::RollBackDepthStale) {
            check_depth(depth, &self.caches.shared().volatile())?;
        }
        self.switch_held(&mut self.chain.lock(), depth, blocks)
    }

    /// The same for who holds the chain's lock.
    pub(super) fn switch_held(
        &self,
        durable: &mut Durable,
        depth: usize,
        blocks: Vec<Arc<Block>>,
    ) -> Result<Switched, BlockError> {
        self.check_backlog(durable)?;
        let switched = self.switch_visibly(durable, depth, blocks)?;
        // The change is made and on disk. If the store fails, that is no matter of this block.
        match self.flush_due(durable, switched.due) {
            Ok(_) | Err(BlockError::Store(_)) => Ok(switched),
            Err(error) => Err(error),
        }
    }

    /// The one path of all changes of the chain: confirmed state, journal, referrals and node infos, pool, then
    /// publication. Everything happens under the exclusive lock: whoever has seen a published tip and then asks the
    /// caches finds a state that is at least as new, and whoever has asked the caches and then loads the tip finds one
    /// that is at least as new.
    fn switch_visibly(
        &self,
        durable: &mut Durable,
        depth: usize,
        blocks: Vec<Arc<Block>>,
    ) -> Result<Switched, BlockError> {
        let caches = self.caches.exclusive();
        let switched = self.switch_confirmed(&caches, durable, depth, blocks)?;
        switch_confirmed_cache(&caches, &switched);
        self.switch_pool(&caches, &switched);
        self.publish(&switched);
        #[cfg(feature = "planted")]
        if self.config.has(Planted::CleanupInSteps) {
            drop(caches);
            self.clean_up_in_steps(&switched);
        }
        Ok(switched)
    }

    /// Changes the confirmed state, in memory and in the journal, or leaves it as it was.
    fn switch_confirmed(
        &self,
        caches: &Exclusive<'_, S>,
        durable: &mut Durable,
        depth: usize,
        blocks: Vec<Arc<Block>>,
    ) -> Result<Switched, BlockError> {
        let mut volatile = caches.volatile_mut();
        if !self.config.has(Planted::RollBackDepthStale) {
            check_depth(depth, &volatile)?;
        }
        if self.config.has(Planted::JournalBeforeCheck) {
            durable.write_ahead(depth, &blocks)?;
        }
        let popped: Vec<_> = (0..depth).filter_map(|_| volatile.pop_back()).collect();
        match self.push_and_write_ahead(&mut volatile, caches.store(), durable, depth, blocks) {
            Ok(pushed) => {
                let (tip, committed_height) = (Arc::clone(volatile.tip()), volatile.committed().meta.height);
                let due = self.due(&volatile);
                Ok(Switched { popped, pushed, tip, committed_height, due })
            }
            Err((valid, error)) => {
                (0..valid).for_each(|_| drop(volatile.pop_back()));
                popped.into_iter().rev().for_each(|diff| volatile.push_back(diff));
                Err(error)
            }
        }
    }

    /// Puts `blocks` on, then writes the change to the journal. On an error says how many blocks are on.
    fn push_and_write_ahead(
        &self,
        volatile: &mut VolatileCache,
        store: &S,
        durable: &mut Durable,
        depth: usize,
        blocks: Vec<Arc<Block>>,
    ) -> Result<Vec<Arc<BlockDiff>>, (usize, BlockError)> {
        let mut pushed = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let diff = validate(Arc::clone(block), volatile, store, self.config.planted);
            let diff = Arc::new(diff.map_err(|error| (pushed.len(), error))?);
            volatile.push_back(Arc::clone(&diff));
            pushed.push(diff);
        }
        if !self.config.has(Planted::JournalBeforeCheck) {
            durable.write_ahead(depth, &blocks).map_err(|error| (pushed.len(), error.into()))?;
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
        pool.shrink_to(self.config.pool_bytes_max);
        if self.config.has(Planted::CleanupInSteps) {
            return;
        }
        for diff in &switched.pushed {
            pool.clean_up(diff, self.min_height(diff), self.config.planted);
        }
    }

    /// What was admitted below this height is too old once the block of `diff` is on (decision O16).
    fn min_height(&self, diff: &BlockDiff) -> u64 {
        diff.meta.height.saturating_sub(self.config.pool_age_max_blocks)
    }

    /// The planted bug: everybody else may come between the steps.
    #[cfg(feature = "planted")]
    fn clean_up_in_steps(&self, switched: &Switched) {
        for diff in &switched.pushed {
            for step in 0..3 {
                self.caches.shared().tx_current_mut().clean_up_step(step, diff, self.min_height(diff));
            }
        }
    }

    /// Publishes metas, then the current block with them, then the branches: each in one step.
    fn publish(&self, switched: &Switched) {
        let pushed = switched.pushed.iter().map(|diff| diff.meta.clone()).collect();
        let metas = self.metas.switch(switched.popped.len(), pushed);
        self.current.publish(&switched.tip, metas);
        self.branches.switch(&switched.popped, &switched.pushed, switched.committed_height);
    }

    /// How many of the oldest blocks in memory are due for a batch.
    fn due(&self, volatile: &VolatileCache) -> usize {
        let window = if self.config.has(Planted::CommitTakesWindow) { 0 } else { self.config.window_blocks };
        volatile.due_for_commit(window, self.config.commit_every_blocks)
    }

    /// Writes the `due` oldest blocks in memory to the store; how many.
    fn flush_due(&self, durable: &mut Durable, due: usize) -> Result<usize, BlockError> {
        if due == 0 {
            return Ok(0);
        }
        let batch = {
            let caches = self.caches.shared();
            let volatile = caches.volatile();
            volatile.iter().take(due).map(Arc::clone).collect::<Vec<_>>()
        };
        if self.config.has(Planted::FlushForgetsFirst) {
            self.caches.exclusive().volatile_mut().forget_oldest(due);
        }
        // No lock of the caches is held: readers go on, and the chain's lock keeps the batch where it is.
        let written = self.caches.store_alone().commit(&batch);
        durable.flush_error = written.as_ref().err().cloned();
        written?;
        let window = {
            let caches = self.caches.exclusive();
            let mut volatile = caches.volatile_mut();
            if !self.config.has(Planted::FlushForgetsFirst) {
                volatile.forget_oldest(due);
            }
            let blocks = volatile.iter().map(|diff| &diff.block);
            durable.journal.is_some().then(|| Window::above(&volatile.committed().meta, blocks))
        };
        if let Some(newest) = batch.last() {
            self.branches.switch(&[], &[], newest.meta.height);
        }
        if let (Some(journal), Some(window)) = (&mut durable.journal, window) {
            journal.begin(self.id, window)?;
        }
        Ok(due)
    }

    /// While the store fails, tries it again before each change, and refuses changes once too much waits.
    fn check_backlog(&self, durable: &mut Durable) -> Result<(), BlockError> {
        if durable.flush_error.is_none() {
            return Ok(());
        }
        let (waiting, due) = {
            let caches = self.caches.shared();
            let volatile = caches.volatile();
            (volatile.len(), self.due(&volatile))
        };
        match self.flush_due(durable, due) {
            Ok(_) => Ok(()),
            Err(BlockError::Store(reason)) => {
                let most = self.config.backlog_max();
                if waiting < most { Ok(()) } else { Err(BlockError::Backlog { waiting, most, reason }) }
            }
            Err(error) => Err(error),
        }
    }
}

/// Roll-back ends at the window (decision O9).
fn check_depth(depth: usize, volatile: &VolatileCache) -> Result<(), BlockError> {
    if depth <= volatile.len() {
        return Ok(());
    }
    let (tip, committed) = (volatile.tip().meta.height, volatile.committed().meta.height);
    Err(BlockError::RollBackPastCommit { depth, tip, committed })
}

impl Durable {
    /// Writes a change to the journal, if there is one, and waits until it is on disk.
    fn write_ahead(&mut self, popped: usize, pushed: &[Arc<Block>]) -> Result<(), JournalError> {
        match &mut self.journal {
            Some(journal) => journal.append(&Change { popped: popped as u64, pushed: pushed.to_vec() }),
            None => Ok(()),
        }
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
