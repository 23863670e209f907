//! Everything a ledger holds at one moment, for checkers.

use std::collections::BTreeMap;

use interleaf::sync::Arc;

use super::Ledger;
use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::{Nodes, Referral};
use super::record::{Record, Spent};
use super::store::{Store, StoreDump, StoreError};
use super::tx::{Address, Amount, OutPoint, TxId};
use super::tx_current::PoolEntry;
use super::utxo_pool::UtxoPool;

/// Confirmed state: what blocks have made of the genesis block. Undoing a block restores it exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedState {
    /// The newest block.
    pub tip: BlockMeta,
    /// All blocks, genesis first.
    pub blocks: Vec<Arc<Block>>,
    /// Unspent records.
    pub utxos: BTreeMap<OutPoint, Record>,
    /// Consumed outpoints and who consumed them.
    pub spent: BTreeMap<OutPoint, Spent>,
    /// The value issued in the genesis block.
    pub issued: Amount,
    /// How each address came into the ledger.
    pub referrals: BTreeMap<Address, Referral>,
    /// Where nodes can be reached.
    pub nodes: BTreeMap<Address, Nodes>,
}

impl ConfirmedState {
    /// The sum of the unspent records. 128 bits, so that a ledger that creates value shows how much.
    #[must_use]
    pub fn unspent_value(&self) -> u128 {
        self.utxos.values().map(|record| u128::from(record.amount)).sum()
    }
}

/// The pool: waiting transactions and their reservations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// Waiting transactions in order.
    pub entries: Vec<PoolEntry>,
    /// Reservations per address.
    pub pools: BTreeMap<Address, UtxoPool>,
    /// Keys that any waiting transaction reserves.
    pub global_spent_keys: BTreeMap<OutPoint, TxId>,
}

/// Confirmed state and pool of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerState {
    /// Confirmed state.
    pub confirmed: ConfirmedState,
    /// The pool.
    pub pool: PoolState,
}

impl<S: Store> Ledger<S> {
    /// What the store holds, with its indices. Copies the whole store; not for production.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stored(&self) -> Result<StoreDump, StoreError> {
        let _chain = self.chain.lock();
        self.caches.shared().store().dump()
    }

    /// Everything, from one moment: the chain's lock keeps blocks out, and the pool is read in one acquisition. Copies
    /// the whole ledger; not for production.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn state(&self) -> Result<LedgerState, StoreError> {
        let _chain = self.chain.lock();
        let caches = self.caches.shared();
        let stored = caches.store().dump()?;
        let mut utxos: BTreeMap<_, _> = stored.unspent.into_iter().collect();
        let mut spent: BTreeMap<_, _> = stored.spent.into_iter().collect();
        let mut blocks = stored.blocks;
        let volatile = caches.volatile();
        // What was written although the answer was lost is in both places (decision O12).
        blocks.truncate(usize::try_from(volatile.committed().meta.height).map_or(usize::MAX, |height| height + 1));
        for diff in volatile.iter() {
            blocks.push(Arc::clone(&diff.block));
            utxos.extend(&diff.created);
            for (key, consumed) in &diff.spent {
                utxos.remove(key);
                spent.insert(*key, Spent { by: consumed.by, height: diff.meta.height });
            }
        }
        let tip = volatile.tip().meta.clone();
        drop(volatile);
        let (referrals, nodes) = caches.confirmed().snapshot();
        let pool = caches.tx_current().state();
        Ok(LedgerState {
            confirmed: ConfirmedState { tip, blocks, utxos, spent, issued: self.issued, referrals, nodes },
            pool,
        })
    }
}
