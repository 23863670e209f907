//! A store whose reads are counted and whose batches are timed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use interleaf_engine::ledger::{Store, StoreCall, StoreError, StoreLayer};

use super::meter::Latencies;

/// What a [`WatchedStore`] has seen.
#[derive(Debug, Default)]
pub struct Watch {
    calls: AtomicU64,
    keys: AtomicU64,
    commits: Mutex<(Option<Instant>, Latencies)>,
}

/// Look-ups in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Calls.
    pub calls: u64,
    /// What they asked for: records, addresses, transactions, lists.
    pub keys: u64,
}

impl Watch {
    /// The look-ups so far.
    #[must_use]
    pub fn reads(&self) -> Reads {
        Reads { calls: self.calls.load(Ordering::Relaxed), keys: self.keys.load(Ordering::Relaxed) }
    }

    /// How long each batch took.
    #[must_use]
    pub fn commits(&self) -> Latencies {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

/// A store that does what the one below it does and is watched.
#[derive(Debug)]
pub struct WatchedStore<S> {
    below: S,
    watch: Arc<Watch>,
}

impl<S: Store> WatchedStore<S> {
    /// Watches `below`.
    pub fn new(below: S, watch: Arc<Watch>) -> Self {
        Self { below, watch }
    }
}

impl<S: Store> StoreLayer for WatchedStore<S> {
    type Below = S;

    fn below(&self) -> &S {
        &self.below
    }

    fn before(&self, call: StoreCall) -> Result<(), StoreError> {
        if call.is_look_up() {
            let keys = if let StoreCall::Statuses(keys) = call { keys as u64 } else { 1 };
            self.watch.calls.fetch_add(1, Ordering::Relaxed);
            self.watch.keys.fetch_add(keys, Ordering::Relaxed);
        }
        if let StoreCall::Commit(_) = call {
            self.watch.commits.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(Instant::now());
        }
        Ok(())
    }

    fn after_commit(&self) -> Result<(), StoreError> {
        let mut commits = self.watch.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(start) = commits.0.take() {
            commits.1.push(start.elapsed());
        }
        Ok(())
    }
}
