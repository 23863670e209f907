//! The caches under one shared/exclusive lock (items U1, U6–U8, U10, U14).

use interleaf::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::confirmed_cache::ConfirmedCache;
use super::difference::BlockDiff;
use super::lock_order::POISONED;
use super::record::Status;
use super::store::{Store, StoreError};
use super::tx::OutPoint;
use super::tx_current::TxCurrent;
use super::volatile_cache::VolatileCache;

/// The caches and the store.
///
/// `outer` decides who may see and change *confirmed* state: it changes only under the exclusive lock, so whoever holds
/// the shared lock sees one confirmed state however many of the inner locks he takes one after the other. The inner
/// locks protect each cache's memory; they are reachable only through [`Shared`] and [`Exclusive`], which is how the
/// type system keeps the hierarchy.
#[derive(Debug)]
pub(super) struct CacheManager<S> {
    outer: RwLock<()>,
    volatile: RwLock<VolatileCache>,
    confirmed: RwLock<ConfirmedCache>,
    tx_current: RwLock<TxCurrent>,
    store: S,
}

impl<S: Store> CacheManager<S> {
    pub(super) fn new(store: S, committed: Arc<BlockDiff>, confirmed: ConfirmedCache) -> Self {
        let caches = Self {
            outer: RwLock::new(()),
            volatile: RwLock::new(VolatileCache::new(committed)),
            confirmed: RwLock::new(confirmed),
            tx_current: RwLock::new(TxCurrent::default()),
            store,
        };
        interleaf::name(&caches.outer, "CacheManager");
        interleaf::name(&caches.volatile, "VolatileCache");
        interleaf::name(&caches.confirmed, "ConfirmedCache");
        interleaf::name(&caches.tx_current, "TxCurrent");
        caches
    }

    /// The shared lock: confirmed state stands still.
    #[track_caller]
    pub(super) fn shared(&self) -> Shared<'_, S> {
        Shared { _outer: self.outer.read().expect(POISONED), caches: self }
    }

    /// The exclusive lock: nobody else sees anything.
    #[track_caller]
    pub(super) fn exclusive(&self) -> Exclusive<'_, S> {
        Exclusive { _outer: self.outer.write().expect(POISONED), caches: self }
    }

    /// The store without a lock of the caches: for who holds the chain's lock and thus is the only one to write.
    pub(super) fn store_alone(&self) -> &S {
        &self.store
    }

    /// For the planted bug [`ReversedLockOrder`](crate::planted::Planted::ReversedLockOrder): the pool without the
    /// cache manager's lock.
    #[cfg(feature = "planted")]
    pub(super) fn tx_current_before_manager(&self) -> RwLockReadGuard<'_, TxCurrent> {
        self.tx_current.read().expect(POISONED)
    }
}

/// The cache manager's shared lock, held.
pub(super) struct Shared<'a, S> {
    _outer: RwLockReadGuard<'a, ()>,
    caches: &'a CacheManager<S>,
}

impl<S: Store> Shared<'_, S> {
    /// What the confirmed ledger knows of each of `keys`, and the height of its tip: memory first, the rest in one
    /// call to the store.
    pub(super) fn statuses(&self, keys: &[OutPoint]) -> Result<(Vec<Status>, u64), StoreError> {
        let volatile = self.volatile();
        let tip_height = volatile.tip().meta.height;
        let mut missing = Vec::new();
        let look_up = |key: &OutPoint| {
            volatile.status(key).unwrap_or_else(|| {
                missing.push(*key);
                Status::Unknown
            })
        };
        let mut statuses: Vec<Status> = keys.iter().map(look_up).collect();
        drop(volatile);
        if !missing.is_empty() {
            for (key, status) in missing.iter().zip(self.store().statuses(&missing)?) {
                let places = keys.iter().zip(&mut statuses).filter(|(k, _)| *k == key);
                places.for_each(|(_, place)| *place = status);
            }
        }
        Ok((statuses, tip_height))
    }

    #[track_caller]
    pub(super) fn volatile(&self) -> RwLockReadGuard<'_, VolatileCache> {
        self.caches.volatile.read().expect(POISONED)
    }

    #[track_caller]
    pub(super) fn confirmed(&self) -> RwLockReadGuard<'_, ConfirmedCache> {
        self.caches.confirmed.read().expect(POISONED)
    }

    #[track_caller]
    pub(super) fn tx_current(&self) -> RwLockReadGuard<'_, TxCurrent> {
        self.caches.tx_current.read().expect(POISONED)
    }

    /// The pool, to change it: under the shared lock, because waiting transactions are not confirmed state.
    #[track_caller]
    pub(super) fn tx_current_mut(&self) -> RwLockWriteGuard<'_, TxCurrent> {
        self.caches.tx_current.write().expect(POISONED)
    }

    pub(super) fn store(&self) -> &S {
        &self.caches.store
    }
}

/// The cache manager's exclusive lock, held.
pub(super) struct Exclusive<'a, S> {
    _outer: RwLockWriteGuard<'a, ()>,
    caches: &'a CacheManager<S>,
}

impl<S: Store> Exclusive<'_, S> {
    #[track_caller]
    pub(super) fn volatile_mut(&self) -> RwLockWriteGuard<'_, VolatileCache> {
        self.caches.volatile.write().expect(POISONED)
    }

    #[track_caller]
    pub(super) fn confirmed_mut(&self) -> RwLockWriteGuard<'_, ConfirmedCache> {
        self.caches.confirmed.write().expect(POISONED)
    }

    #[track_caller]
    pub(super) fn tx_current_mut(&self) -> RwLockWriteGuard<'_, TxCurrent> {
        self.caches.tx_current.write().expect(POISONED)
    }

    pub(super) fn store(&self) -> &S {
        &self.caches.store
    }
}
