//! A store around another: to watch it, to count, to make it fail.

use interleaf::sync::Arc;

use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::Referral;
use super::difference::BlockDiff;
use super::genesis::LedgerId;
use super::kind::NodeInfo;
use super::record::{Record, Status};
use super::store::{Store, StoreDump, StoreError};
use super::tx::{Address, OutPoint, TxId};

/// One call of a [`Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCall {
    /// [`Store::statuses`] of so many records.
    Statuses(usize),
    /// [`Store::owned_by`]
    OwnedBy,
    /// [`Store::transaction_height`]
    TransactionHeight,
    /// [`Store::recent_transactions`]
    RecentTransactions,
    /// [`Store::referrals`], [`Store::nodes`], [`Store::ledger`], [`Store::metas`], [`Store::block`]: at opening.
    Opening,
    /// [`Store::found`]
    Found,
    /// [`Store::commit`] of so many blocks.
    Commit(usize),
    /// [`Store::dump`]: for checkers.
    Dump,
}

impl StoreCall {
    /// Whether it is a look-up, on behalf of a query, a transaction or a block.
    #[must_use]
    pub fn is_look_up(self) -> bool {
        matches!(self, Self::Statuses(_) | Self::OwnedBy | Self::TransactionHeight | Self::RecentTransactions)
    }
}

/// A store that does what the one below it does.
pub trait StoreLayer: Send + Sync {
    /// The store below.
    type Below: Store;

    /// The store below.
    fn below(&self) -> &Self::Below;

    /// Comes before each call; an error takes its place.
    ///
    /// # Errors
    /// Whatever the layer wants to fail with.
    fn before(&self, call: StoreCall) -> Result<(), StoreError>;

    /// Comes after each batch that was written; an error takes the place of its success.
    ///
    /// # Errors
    /// Whatever the layer wants to fail with.
    fn after_commit(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl<T: StoreLayer> Store for T {
    fn statuses(&self, keys: &[OutPoint]) -> Result<Vec<Status>, StoreError> {
        self.before(StoreCall::Statuses(keys.len()))?;
        self.below().statuses(keys)
    }

    fn owned_by(&self, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
        self.before(StoreCall::OwnedBy)?;
        self.below().owned_by(owner)
    }

    fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError> {
        self.before(StoreCall::TransactionHeight)?;
        self.below().transaction_height(id)
    }

    fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError> {
        self.before(StoreCall::RecentTransactions)?;
        self.below().recent_transactions(limit)
    }

    fn referrals(&self) -> Result<Vec<(Address, Referral)>, StoreError> {
        self.before(StoreCall::Opening)?;
        self.below().referrals()
    }

    fn nodes(&self) -> Result<Vec<(Address, OutPoint, NodeInfo)>, StoreError> {
        self.before(StoreCall::Opening)?;
        self.below().nodes()
    }

    fn ledger(&self) -> Result<Option<LedgerId>, StoreError> {
        self.before(StoreCall::Opening)?;
        self.below().ledger()
    }

    fn found(&self, ledger: LedgerId, genesis: &BlockDiff) -> Result<(), StoreError> {
        self.before(StoreCall::Found)?;
        self.below().found(ledger, genesis)
    }

    fn metas(&self) -> Result<Vec<BlockMeta>, StoreError> {
        self.before(StoreCall::Opening)?;
        self.below().metas()
    }

    fn block(&self, height: u64) -> Result<Option<Arc<Block>>, StoreError> {
        self.before(StoreCall::Opening)?;
        self.below().block(height)
    }

    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError> {
        self.before(StoreCall::Commit(batch.len()))?;
        self.below().commit(batch)?;
        self.after_commit()
    }

    fn dump(&self) -> Result<StoreDump, StoreError> {
        self.before(StoreCall::Dump)?;
        self.below().dump()
    }
}
