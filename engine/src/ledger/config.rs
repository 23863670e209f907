//! What can be set when a ledger is opened.

use crate::planted::Planted;

/// Options of one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerConfig {
    /// How many of the newest blocks can always be rolled back, once the chain is that long (item U29, decision O10).
    pub window_blocks: usize,
    /// How many blocks one batch write to the store holds (item U31). At least 1; 0 counts as 1.
    pub commit_every_blocks: usize,
    /// How many batches may wait for a store that fails before blocks are refused (decision O11). At least 1; 0 counts as
    /// 1.
    pub waiting_batches_max: usize,
    /// How many blocks a transaction may wait in the pool before step 3 of the clean-up removes it (item U28,
    /// decision O16).
    pub pool_age_max_blocks: u64,
    /// How many bytes the pool may take (item U40).
    pub pool_bytes_max: usize,
    /// How many bytes the branches may take (item U40).
    pub branch_bytes_max: usize,
    /// A bug to switch on; without the feature `planted` it has no effect.
    pub planted: Option<Planted>,
}

impl Default for LedgerConfig {
    fn default() -> Self {
        Self {
            window_blocks: 10,
            commit_every_blocks: 10,
            waiting_batches_max: 4,
            pool_age_max_blocks: 100,
            pool_bytes_max: 100_000_000,
            branch_bytes_max: 100_000_000,
            planted: None,
        }
    }
}

impl LedgerConfig {
    /// The default with one bug switched on.
    #[must_use]
    pub fn with_planted(bug: Planted) -> Self {
        Self { planted: Some(bug), ..Self::default() }
    }

    /// The most blocks that may be in memory: the window, one batch that fills up, and those that wait.
    pub(super) fn backlog_max(&self) -> usize {
        let batches = self.waiting_batches_max.max(1).saturating_add(1);
        self.window_blocks.saturating_add(batches.saturating_mul(self.commit_every_blocks.max(1)))
    }

    /// Whether `bug` is switched on.
    #[inline]
    pub(super) fn has(&self, bug: Planted) -> bool {
        bug.is_active(self.planted)
    }
}
