//! Atomic check functions, look-ups and lock-free reads (items U11, U16–U20, U33–U38).
//!
//! Every query over confirmed state and pool holds the cache manager's shared lock from its first look-up to its last,
//! so all it reads belongs to one confirmed state. Inner locks are taken one after the other, never two at once.

use interleaf::arc_swap::Guard;
use interleaf::sync::Arc;

use super::Ledger;
use super::block::Block;
use super::block_current::CurrentBlock;
use super::block_meta::BlockMetas;
use super::block_pool::Branches;
use super::cache_manager::Shared;
use super::confirmed_cache::{Nodes, Referral};
use super::kind::Kind;
use super::record::{Record, Status};
use super::store::{Store, StoreError};
use super::tx::{Address, Amount, OutPoint, Tx, TxId};
use super::tx_current::TxCurrent;
#[cfg(feature = "planted")]
use crate::planted::Planted;

/// Without a lock (item U11).
impl<S: Store> Ledger<S> {
    /// The newest block, with the metas of all blocks from the same moment (item U3).
    #[must_use]
    pub fn current_block(&self) -> Arc<CurrentBlock> {
        self.current.load()
    }

    /// The same as [`current_block`](Self::current_block) for a look that is over at once: cheaper, but the snapshot must
    /// not be kept for long (item U3).
    #[must_use]
    pub fn peek_current_block(&self) -> Guard<Arc<CurrentBlock>> {
        self.current.peek()
    }

    /// The metas of all blocks (item U4).
    #[must_use]
    pub fn block_metas(&self) -> Arc<BlockMetas> {
        self.metas.load()
    }

    /// The unconfirmed branches (items U5, U39).
    #[must_use]
    pub fn block_pool(&self) -> Arc<Branches> {
        self.branches.load()
    }

    /// Keeps a block that is not on the chain as a branch, unchecked; `false` if it is kept already or on the chain
    /// after all. Takes the branches' own lock only.
    pub fn offer_branch(&self, block: Block) -> bool {
        self.branches.offer(block, &self.metas)
    }
}

/// Over confirmed state and pool, at one moment.
impl<S: Store> Ledger<S> {
    /// Whether `key` is not consumed: unspent in the confirmed ledger, or change in the pool (item U16). Reservations
    /// are not asked; [`check_double_spend_with_pool`](Self::check_double_spend_with_pool) does.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn is_not_spent_key_with_pool(&self, key: OutPoint) -> Result<bool, StoreError> {
        let caches = self.caches.shared();
        match caches.statuses(&[key])?.0[0] {
            Status::Unspent(_) => Ok(true),
            // A consumed record is not change in the pool: its transaction is confirmed.
            Status::Spent(_) => Ok(false),
            Status::Unknown => Ok(caches.tx_current().any_change(&key).is_some()),
        }
    }

    /// The record `key` if it can be spent now: confirmed or change in the pool, and reserved by nobody (item U17).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get_utxo_with_pool(&self, key: OutPoint) -> Result<Option<Record>, StoreError> {
        let caches = self.caches.shared();
        let status = caches.statuses(&[key])?.0[0];
        if matches!(status, Status::Spent(_)) {
            return Ok(None);
        }
        let pool = caches.tx_current();
        if pool.reserved_by(&key).is_some() {
            return Ok(None);
        }
        match status {
            Status::Unspent(record) => Ok(Some(record)),
            _ => Ok(pool.any_change(&key)),
        }
    }

    /// Coins of `address` that it can spend now and that add up to at least `amount`, by ascending outpoint,
    /// confirmed ones first (item U18); `None` if it has not that much.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get_input_with_pool(
        &self,
        address: Address,
        amount: Amount,
    ) -> Result<Option<Vec<(OutPoint, Record)>>, StoreError> {
        let mut inputs = self.available(address)?;
        inputs.retain(|(_, record)| record.kind == Kind::Coin);
        let mut sum: Amount = 0;
        let needed = inputs.iter().take_while(|(_, record)| {
            let needed = sum < amount;
            sum = if needed { sum.saturating_add(record.amount) } else { sum };
            needed
        });
        let count = needed.count();
        inputs.truncate(count);
        Ok((sum >= amount).then_some(inputs))
    }

    /// What `address` can spend now: its confirmed coins and its change in the pool, without what is reserved (item
    /// U19).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get_balance_available_with_pool(&self, address: Address) -> Result<Amount, StoreError> {
        #[cfg(feature = "planted")]
        if self.config.has(Planted::ReversedLockOrder) {
            let pool = self.caches.tx_current_before_manager();
            let mut records = owned(&self.caches.shared(), address)?;
            keep_available(&mut records, &pool, address);
            return Ok(sum(&records, Kind::Coin));
        }
        #[cfg(feature = "planted")]
        if self.config.has(Planted::BalanceInTwoSteps) {
            let mut records = owned(&self.caches.shared(), address)?;
            keep_available(&mut records, &self.caches.shared().tx_current(), address);
            return Ok(sum(&records, Kind::Coin));
        }
        Ok(sum(&self.available(address)?, Kind::Coin))
    }

    /// What `address` has staked: its confirmed stakes and those among its change in the pool, without what is reserved
    /// (item U20).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get_stake_with_pool(&self, address: Address) -> Result<Amount, StoreError> {
        Ok(sum(&self.available(address)?, Kind::Stake))
    }

    /// The confirmed and pending records of `address` of any kind that nothing has reserved.
    fn available(&self, address: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
        let caches = self.caches.shared();
        let mut records = owned(&caches, address)?;
        keep_available(&mut records, &caches.tx_current(), address);
        Ok(records)
    }

    /// At most `limit` waiting transactions in an order in which a block can hold them: parents before the
    /// transactions that use their change (item N6).
    #[must_use]
    pub fn pool_batch(&self, limit: usize) -> Vec<Arc<Tx>> {
        let caches = self.caches.shared();
        let pool = caches.tx_current();
        pool.in_order().take(limit).map(|entry| Arc::clone(&entry.tx)).collect()
    }
}

/// Over confirmed state only.
impl<S: Store> Ledger<S> {
    /// What the confirmed ledger knows of `key` (item U35).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn status(&self, key: OutPoint) -> Result<Status, StoreError> {
        Ok(self.caches.shared().statuses(&[key])?.0[0])
    }

    /// The height of the block that holds the transaction `id` (item U34).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError> {
        let caches = self.caches.shared();
        let recent = caches.volatile().transaction_height(id);
        if recent.is_some() { Ok(recent) } else { caches.store().transaction_height(id) }
    }

    /// At most `limit` confirmed transactions, newest timestamp first (item U36).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError> {
        let caches = self.caches.shared();
        let mut ids: Vec<TxId> = caches.volatile().newest_transactions(limit).collect();
        ids.extend(caches.store().recent_transactions(limit)?);
        ids.sort_unstable_by(|a, b| b.cmp(a));
        // During a flush a block is in memory and in the store (decision O12).
        ids.dedup();
        ids.truncate(limit);
        Ok(ids)
    }

    /// How `address` came into the ledger (item U37); `None` if nobody has brought it in.
    #[must_use]
    pub fn referral(&self, address: Address) -> Option<Referral> {
        self.caches.shared().confirmed().referral(address)
    }

    /// Where the nodes of `owner` can be reached (item U38).
    #[must_use]
    pub fn nodes(&self, owner: Address) -> Nodes {
        self.caches.shared().confirmed().nodes(owner)
    }
}

/// The confirmed records of `owner`: the store's owner index, filtered by the blocks in memory (item U33).
fn owned<S: Store>(caches: &Shared<'_, S>, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
    let mut records = caches.store().owned_by(owner)?;
    caches.volatile().filter_owned(owner, &mut records);
    Ok(records)
}

fn keep_available(records: &mut Vec<(OutPoint, Record)>, pool: &TxCurrent, owner: Address) {
    records.retain(|(key, _)| pool.reserved_by(key).is_none());
    records.sort_unstable_by_key(|(key, _)| *key);
    records.extend(pool.unreserved_change(owner));
}

fn sum(records: &[(OutPoint, Record)], kind: Kind) -> Amount {
    // Cannot saturate: nobody owns more than was issued.
    records
        .iter()
        .filter(|(_, record)| record.kind == kind)
        .fold(0, |sum, (_, record)| sum.saturating_add(record.amount))
}
