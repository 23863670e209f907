//! What the ledger asks of its database.

use interleaf::sync::Arc;
use thiserror::Error;

use super::block::Block;
use super::confirmed_cache::Referral;
use super::difference::BlockDiff;
use super::kind::NodeInfo;
use super::record::{Record, Spent, Status};
use super::tx::{Address, OutPoint, TxId};

/// The store failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("store: {operation}: {reason}")]
pub struct StoreError {
    /// What was attempted.
    pub operation: &'static str,
    /// What the database said.
    pub reason: String,
}

/// Everything in a store, for checkers and tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreDump {
    /// Unspent records.
    pub unspent: Vec<(OutPoint, Record)>,
    /// Consumed outpoints.
    pub spent: Vec<(OutPoint, Spent)>,
    /// Blocks by ascending height.
    pub blocks: Vec<Arc<Block>>,
}

/// The database below the volatile cache: everything older than the blocks that can still be rolled back.
///
/// Each call is one serialised operation (item U9). The ledger calls it while it holds the cache manager's lock, and
/// writes only under the exclusive one, so a look-up in the volatile cache followed by a look-up here is one look-up in
/// one state (decision O12). An implementation's own lock is the innermost of the hierarchy.
pub trait Store: Send + Sync {
    /// What the store knows of each of `keys`, in their order.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn statuses(&self, keys: &[OutPoint]) -> Result<Vec<Status>, StoreError>;

    /// The unspent records of `owner` by ascending outpoint (the owner index of item U33).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn owned_by(&self, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError>;

    /// The height of the block that holds the transaction `id` (item U34).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError>;

    /// At most `limit` transaction ids, newest timestamp first (item U36).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError>;

    /// Who brought whom in, as far as the blocks in the store say (item U37).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn referrals(&self) -> Result<Vec<(Address, Referral)>, StoreError>;

    /// The node infos in the store: owner, record, info (item U38).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn nodes(&self) -> Result<Vec<(Address, OutPoint, NodeInfo)>, StoreError>;

    /// Writes the differences of consecutive blocks, oldest first, as one batch: all or nothing (item U31).
    ///
    /// # Errors
    /// If the database cannot be written; then nothing was.
    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError>;

    /// Everything. Not for production: a real database is larger than memory.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn dump(&self) -> Result<StoreDump, StoreError>;
}
