//! What the ledger asks of its database.

use std::fmt;

use interleaf::sync::Arc;
use thiserror::Error;

use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::Referral;
use super::difference::BlockDiff;
use super::genesis::LedgerId;
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

impl StoreError {
    /// A failure of `operation`.
    pub fn of(operation: &'static str, reason: impl fmt::Display) -> Self {
        Self { operation, reason: reason.to_string() }
    }
}

/// What of `batch` is not in a store whose newest block is `newest`.
///
/// # Errors
/// If it does not stand on that block.
pub(super) fn fitting<'a>(newest: &BlockMeta, batch: &'a [Arc<BlockDiff>]) -> Result<&'a [Arc<BlockDiff>], StoreError> {
    let known = batch.iter().take_while(|diff| diff.meta.height <= newest.height).count();
    let rest = &batch[known..];
    let stands = match (known.checked_sub(1).map(|last| &batch[last]), rest.first()) {
        (Some(last), _) if last.meta.height == newest.height => last.meta.id == newest.id,
        (_, Some(first)) => first.meta.height == newest.height + 1 && first.meta.parent == newest.id,
        (_, None) => true,
    };
    if stands {
        return Ok(rest);
    }
    let first = batch.first().map(|diff| diff.meta.height);
    Err(StoreError::of("commit", format_args!("a batch from height {first:?} does not stand on {newest:?}")))
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
    /// What the owner index lists.
    pub owners: Vec<(Address, OutPoint)>,
    /// What the index of transactions lists, with heights.
    pub transactions: Vec<(TxId, u64)>,
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

    /// Whose store it is; `None` if it is empty.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn ledger(&self) -> Result<Option<LedgerId>, StoreError>;

    /// Makes an empty store that of a ledger, with its genesis block, in one step.
    ///
    /// # Errors
    /// If the database cannot be written, or the store is not empty; then nothing was.
    fn found(&self, ledger: LedgerId, genesis: &BlockDiff) -> Result<(), StoreError>;

    /// Meta data of all blocks in the store, genesis first.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn metas(&self) -> Result<Vec<BlockMeta>, StoreError>;

    /// The block at `height`.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn block(&self, height: u64) -> Result<Option<Arc<Block>>, StoreError>;

    /// Writes the differences of consecutive blocks, oldest first, as one batch: all or nothing (item U31). What the store
    /// holds already, because an earlier attempt succeeded after all, is left out.
    ///
    /// # Errors
    /// If the database cannot be written, or the blocks do not stand on the newest one of the store.
    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError>;

    /// Everything. Not for production: a real database is larger than memory.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn dump(&self) -> Result<StoreDump, StoreError>;
}
