//! The lock hierarchy of the ledger (item U10).
//!
//! Locks are taken from outside to inside only, and never two of one level at once:
//!
//! ```text
//! Chain → CacheManager → { VolatileCache, ConfirmedCache, TxCurrent } → { Store, BlockCurrent, BlockMetaFullCache, BlockPool } → { Admission, Peers }
//! ```
//!
//! Proofs of admission and the list of a node's peers come last: nobody asks the ledger while he holds one of them, and
//! nothing is sent while a lock of the ledger is held (bitcoin/bitcoin #4493).
//!
//! The store's own lock is below the caches because a look-up or a batch write may come from a holder of the volatile
//! cache. The mutexes of the three lock-free snapshots serialise writers only and are held for one replacement.

/// The levels of the hierarchy, outermost first, by the names under which the locks are known to the simulator.
pub const LOCK_LEVELS: &[&[&str]] = &[
    &["Chain"],
    &["CacheManager"],
    &["VolatileCache", "ConfirmedCache", "TxCurrent"],
    &["Store", "BlockCurrent", "BlockMetaFullCache", "BlockPool"],
    &["Admission", "Peers"],
];

/// What a thread says that meets a poisoned lock: the state behind it may be half changed, so it must not go on.
pub(super) const POISONED: &str = "a thread panicked while it changed the ledger";
