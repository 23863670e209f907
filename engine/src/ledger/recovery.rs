//! Opening a ledger that an earlier run has left, however it ended (decision O11).

use std::path::Path;

use interleaf::sync::Arc;
use thiserror::Error;

use super::block::BlockId;
use super::error::BlockError;
use super::genesis::{Genesis, LedgerId};
use super::journal::{Journal, JournalError, Window};
use super::redb_store::RedbStore;
use super::store::{Store, StoreError};
use super::{Ledger, LedgerConfig};

/// Why a ledger cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal failed, or is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The store belongs to a ledger with another genesis.
    #[error("the store belongs to {found:?}, not to {expected:?}")]
    OtherLedger {
        /// Whose it is.
        found: LedgerId,
        /// Whose it should be.
        expected: LedgerId,
    },
    /// There is a journal of this ledger, but its store is empty.
    #[error("the store is empty, but the journal begins above height {base_height}: the store was lost")]
    StoreLost {
        /// The height up to which the store should have everything.
        base_height: u64,
    },
    /// The blocks of the journal do not stand on those of the store.
    #[error("the journal has block {found:?} at height {height}, the store {expected:?}")]
    Mismatch {
        /// The height.
        height: u64,
        /// The block in the store, if any.
        expected: Option<BlockId>,
        /// The block that the journal has there or below it.
        found: BlockId,
    },
    /// A block of the journal breaks a rule: it was never accepted by this program.
    #[error("the journal holds a block that breaks a rule: {0}")]
    InvalidBlock(BlockError),
    /// The folder cannot be made or read.
    #[error("{path}: {reason}")]
    Folder {
        /// Which.
        path: String,
        /// Why.
        reason: String,
    },
}

/// What was found when a ledger was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Blocks in the store.
    pub stored_blocks: u64,
    /// Blocks above them, from the journal.
    pub journalled_blocks: u64,
    /// Changes of the chain in the journal's last generation.
    pub changes: u64,
    /// Bytes of a change that had not been written to its end, hence not been acknowledged.
    pub torn_bytes: u64,
}

impl Ledger<RedbStore> {
    /// The ledger in `folder`: `ledger.redb`, `journal.a` and `journal.b`, which are made if they are missing.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and if the folder cannot be made.
    ///
    /// # Panics
    /// If the amounts of `genesis` add up beyond [`Amount`](super::Amount), or it names a base record twice.
    pub fn open_folder(config: LedgerConfig, genesis: Genesis, folder: &Path) -> Result<(Self, Recovered), OpenError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| OpenError::Folder { path: folder.display().to_string(), reason: error.to_string() })?;
        let store = RedbStore::open(&folder.join("ledger.redb"))?;
        Self::open(config, genesis, store, Journal::in_folder(folder)?)
    }
}

impl<S: Store> Ledger<S> {
    /// The durable ledger over `store` and `journal`: a new one if both are empty, else the one that an earlier run has
    /// left, with every change that it acknowledged. Its pool is empty.
    ///
    /// Opening writes nothing that matters: if it is cut short, or done twice, the result is the same.
    ///
    /// # Errors
    /// If store or journal fail, are damaged, or belong to another ledger.
    ///
    /// # Panics
    /// If the amounts of `genesis` add up beyond [`Amount`](super::Amount), or it names a base record twice.
    pub fn open(
        config: LedgerConfig,
        genesis: Genesis,
        store: S,
        mut journal: Journal,
    ) -> Result<(Self, Recovered), OpenError> {
        let id = genesis.id();
        let found = journal.read(id)?;
        let (diff, issued) = genesis.into_diff();
        match (store.ledger()?, &found) {
            (None, Some(found)) => return Err(OpenError::StoreLost { base_height: found.window.base_height }),
            (None, None) => store.found(id, &diff)?,
            (Some(other), _) if other != id => return Err(OpenError::OtherLedger { found: other, expected: id }),
            (Some(_), _) => {}
        }
        let ledger = Self::over(config, (id, issued), store)?;
        let mut recovered = Recovered { stored_blocks: ledger.block_metas().len() as u64, ..Recovered::default() };
        match found {
            Some(found) => {
                (recovered.changes, recovered.torn_bytes) = (found.changes, found.torn_bytes);
                recovered.journalled_blocks = ledger.replay(found.window)?;
            }
            // The process ended between founding the store and beginning the journal.
            None => {
                let tip = ledger.current_block();
                journal.begin(id, Window::above(&tip.meta, std::iter::empty()))?;
            }
        }
        #[cfg(feature = "planted")]
        if config.has(crate::planted::Planted::AckBeforeSync) {
            journal.leave_unsynced();
        }
        ledger.chain.lock().journal = Some(journal);
        Ok((ledger, recovered))
    }

    /// Puts the blocks of the journal on, through the same checks as any block; how many.
    fn replay(&self, window: Window) -> Result<u64, OpenError> {
        let metas = self.block_metas();
        let stored = |height: u64| metas.get(height).map(|meta| meta.id);
        let mismatch = |height, found| OpenError::Mismatch { height, expected: stored(height), found };
        if stored(window.base_height) != Some(window.base) {
            return Err(mismatch(window.base_height, window.base));
        }
        let mut above = Vec::new();
        for block in window.blocks {
            match stored(block.height) {
                // A batch was written after this generation began.
                Some(id) if id == block.id => {}
                Some(_) => return Err(mismatch(block.height, block.id)),
                None => above.push(Arc::unwrap_or_clone(block)),
            }
        }
        let count = above.len() as u64;
        self.switch_fork(0, above).map_err(OpenError::InvalidBlock)?;
        Ok(count)
    }
}
