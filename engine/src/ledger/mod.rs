//! The ledger: transactions over outpoints, caches, pool, chain.
//!
//! What it is made of:
//! * [`tx`]: transactions, outpoints, addresses, ids
//! * [`block`], [`block_meta`]: blocks, their ids, what is kept of every block
//! * [`record`], [`kind`]: what an outpoint holds, what it is good for and what became of it
//! * [`genesis`]: the state a ledger starts from
//! * [`difference`]: what one block changes
//!
//! Where state lives, from outside to inside ([`lock_order`]):
//! * `chain`: adding, rolling back, switching forks
//! * `cache_manager`: the shared/exclusive lock over the caches
//! * `volatile_cache`, `confirmed_cache`, `tx_current` with `utxo_pool` and `clean_up`
//! * [`store`], [`memory_store`]: the database
//! * `snapshot`, [`block_current`], [`block_pool`]: what is read without a lock
//!
//! What is done with it:
//! * `add_tx`: check, decide and reserve in one step
//! * `validation`: the rules of a block
//! * `queries`: atomic check functions and look-ups
//! * [`state`]: everything at one moment, for checkers

pub mod block;
pub mod block_current;
pub mod block_meta;
pub mod block_pool;
pub mod config;
pub mod confirmed_cache;
pub mod difference;
pub mod error;
pub mod genesis;
pub mod kind;
pub mod lock_order;
pub mod memory_store;
pub mod record;
pub mod state;
pub mod store;
pub mod tx;
pub mod tx_current;
pub mod utxo_pool;

mod add_tx;
mod cache_manager;
mod chain;
mod clean_up;
mod queries;
mod snapshot;
mod validation;
mod volatile_cache;

use interleaf::sync::Arc;

pub use self::block::{Block, BlockId};
pub use self::block_current::CurrentBlock;
pub use self::block_meta::{BlockMeta, BlockMetas};
pub use self::block_pool::Branches;
pub use self::config::LedgerConfig;
pub use self::confirmed_cache::{Nodes, Referral};
pub use self::difference::{BlockDiff, Consumed};
pub use self::error::{BlockError, TxError};
pub use self::genesis::Genesis;
pub use self::kind::{Kind, KindError, NodeInfo};
pub use self::lock_order::LOCK_LEVELS;
pub use self::memory_store::MemoryStore;
pub use self::record::{Record, Spent, Status};
pub use self::state::{ConfirmedState, LedgerState, PoolState};
pub use self::store::{Store, StoreDump, StoreError};
pub use self::tx::{Address, Amount, OutPoint, Output, Tx, TxId};

use self::block_current::BlockCurrent;
use self::block_meta::BlockMetaFullCache;
use self::block_pool::BlockPool;
use self::cache_manager::CacheManager;
use self::chain::Chain;
use self::confirmed_cache::ConfirmedCache;

/// A UTXO ledger. Every method may be called from any number of threads.
#[derive(Debug)]
pub struct Ledger<S = MemoryStore> {
    config: LedgerConfig,
    /// The value in the genesis block: what unspent records and burnt fees always add up to.
    issued: Amount,
    chain: Chain,
    caches: CacheManager<S>,
    current: BlockCurrent,
    metas: BlockMetaFullCache,
    branches: BlockPool,
}

impl Ledger<MemoryStore> {
    /// A ledger in memory that starts from `genesis`.
    ///
    /// # Panics
    /// If the amounts of `genesis` add up beyond [`Amount`], or it names a base record twice.
    #[must_use]
    pub fn new(config: LedgerConfig, genesis: Genesis) -> Self {
        Self::with_store(config, genesis, MemoryStore::new()).expect("a store in memory does not fail")
    }
}

impl<S: Store> Ledger<S> {
    /// A ledger over an empty `store`, into which the genesis block is written.
    ///
    /// # Errors
    /// If the store cannot be written.
    ///
    /// # Panics
    /// If the amounts of `genesis` add up beyond [`Amount`], or it names a base record twice.
    pub fn with_store(config: LedgerConfig, genesis: Genesis, store: S) -> Result<Self, StoreError> {
        let (diff, issued) = genesis.into_diff();
        let genesis = [Arc::new(diff)];
        store.commit(&genesis)?;
        let [genesis] = genesis;
        let confirmed = ConfirmedCache::load(&store)?;
        let metas = BlockMetaFullCache::new(genesis.meta.clone());
        Ok(Self {
            config,
            issued,
            chain: Chain::new(),
            current: BlockCurrent::new(CurrentBlock::new(&genesis, metas.load())),
            metas,
            branches: BlockPool::new(),
            caches: CacheManager::new(store, genesis, confirmed),
        })
    }

    /// The options it was opened with.
    #[must_use]
    pub fn config(&self) -> &LedgerConfig {
        &self.config
    }

    /// The value in the genesis block: what unspent records and burnt fees always add up to.
    #[must_use]
    pub fn issued(&self) -> Amount {
        self.issued
    }
}
