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
//! * `volatile_cache` with `volatile_index`, `confirmed_cache`, `tx_current` with `utxo_pool`, `clean_up` and `pool_budget`
//! * [`store`], [`memory_store`], [`redb_store`]: the database
//! * [`store_layer`]: a store around another
//! * [`journal`]: the write-ahead log of what is not in the database yet
//! * `snapshot`, [`block_current`], [`block_pool`]: what is read without a lock
//!
//! What is done with it:
//! * `add_tx`: check, decide and reserve in one step
//! * `validation`: the rules of a block
//! * [`recovery`]: opening what an earlier run has left
//! * [`fork_choice`], [`receive`]: which branch is the chain, and blocks from others
//! * `queries`: atomic check functions and look-ups
//! * [`state`]: everything at one moment, for checkers
//! * [`naive`]: what the answers must be
//! * [`memory_use`]: how much memory the caches take

pub mod block;
pub mod block_current;
pub mod block_meta;
pub mod block_pool;
pub mod config;
pub mod confirmed_cache;
pub mod difference;
pub mod error;
pub mod fork_choice;
pub mod genesis;
pub mod journal;
pub mod kind;
pub mod lock_order;
pub mod memory_store;
pub mod memory_use;
pub mod naive;
pub mod record;
pub mod recovery;
pub mod redb_store;
pub mod state;
pub mod store;
pub mod store_layer;
pub mod tx;
pub mod tx_current;
pub mod utxo_pool;

mod add_tx;
mod cache_manager;
mod chain;
mod clean_up;
mod pool_budget;
mod queries;
pub mod receive;
mod redb_tables;
mod snapshot;
mod validation;
mod volatile_cache;
mod volatile_index;

use interleaf::sync::Arc;

pub use self::block::{Block, BlockId};
pub use self::block_current::CurrentBlock;
pub use self::block_meta::{BlockMeta, BlockMetas};
pub use self::block_pool::Branches;
pub use self::config::LedgerConfig;
pub use self::confirmed_cache::{Nodes, Referral};
pub use self::difference::{BlockDiff, Consumed};
pub use self::error::{BlockError, TxError};
pub use self::genesis::{Genesis, LedgerId};
pub use self::journal::{Journal, JournalError};
pub use self::kind::{Kind, KindError, NodeInfo};
pub use self::lock_order::LOCK_LEVELS;
pub use self::memory_store::MemoryStore;
pub use self::memory_use::MemoryUse;
pub use self::naive::NaiveLedger;
pub use self::receive::Received;
pub use self::record::{Record, Spent, Status};
pub use self::recovery::{OpenError, Recovered};
pub use self::redb_store::RedbStore;
pub use self::state::{ConfirmedState, LedgerState, PoolState};
pub use self::store::{Store, StoreDump, StoreError};
pub use self::store_layer::{StoreCall, StoreLayer};
pub use self::tx::{Address, Amount, OutPoint, Output, Tx, TxId};

use self::block_current::BlockCurrent;
use self::block_meta::BlockMetaFullCache;
use self::block_pool::BlockPool;
use self::cache_manager::CacheManager;
use self::chain::Chain;
use self::confirmed_cache::ConfirmedCache;

/// A UTXO ledger. Every method may be called from any number of threads.
///
/// ```
/// use interleaf_engine::ledger::{Address, Block, Genesis, Ledger, LedgerConfig, Output, Tx};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let [alice, bob] = [1, 2].map(Address::numbered);
/// let genesis = Genesis::of(&[(alice, 5)]);
/// let coin = genesis.tx().outpoint(0);
/// // Makes `ledger.redb` and the journal, or recovers what an earlier run has left.
/// let (ledger, _recovered) = Ledger::open_folder(LedgerConfig::default(), genesis, folder)?;
/// let payment = Tx::new(1, alice, vec![coin], vec![Output::coin(0, bob, 3), Output::coin(1, alice, 2)]);
/// ledger.add_tx(payment.clone())?;
/// assert_eq!(ledger.get_balance_available_with_pool(alice)?, 2);
/// let below = ledger.current_block().meta.id;
/// ledger.add_block(Block::new(below, 1, vec![payment]))?; // on disk when it returns
/// assert_eq!(ledger.get_balance_available_with_pool(bob)?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Ledger<S = MemoryStore> {
    config: LedgerConfig,
    id: LedgerId,
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
    /// A ledger over an empty `store`, into which the genesis block is written. Without a journal: what is not in the store
    /// yet is lost when the process ends. [`open`](Self::open) is the durable way.
    ///
    /// # Errors
    /// If the store cannot be written, or is not empty.
    ///
    /// # Panics
    /// If the amounts of `genesis` add up beyond [`Amount`], or it names a base record twice.
    pub fn with_store(config: LedgerConfig, genesis: Genesis, store: S) -> Result<Self, StoreError> {
        let id = genesis.id();
        let (diff, issued) = genesis.into_diff();
        store.found(id, &diff)?;
        Self::over(config, (id, issued), store)
    }

    /// The ledger over what `store` holds.
    fn over(config: LedgerConfig, (id, issued): (LedgerId, Amount), store: S) -> Result<Self, StoreError> {
        let metas = store.metas()?;
        let newest = metas.last().cloned().ok_or_else(|| StoreError::of("open", "the store has no genesis"))?;
        let block = store.block(newest.height)?;
        let block = block.ok_or_else(|| StoreError::of("open", format_args!("block {} is missing", newest.height)))?;
        let committed = Arc::new(BlockDiff::settled(block, newest));
        let confirmed = ConfirmedCache::load(&store)?;
        let metas = BlockMetaFullCache::new(metas);
        Ok(Self {
            config,
            id,
            issued,
            chain: Chain::new(),
            current: BlockCurrent::new(CurrentBlock::new(&committed, metas.load())),
            metas,
            branches: BlockPool::new(),
            caches: CacheManager::new(store, committed, confirmed),
        })
    }

    /// Which ledger it is.
    #[must_use]
    pub fn id(&self) -> LedgerId {
        self.id
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
