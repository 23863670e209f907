//! `std::sync` under control: the same paths, signatures and semantics.
//!
//! Inside a simulated run every operation is a scheduling point of the run; outside the types behave as std's. `Arc`
//! and `Weak` are std's own: counting references is not observable in the model.

pub mod atomic;
mod condvar;
pub mod mpsc;
mod mutex;
mod rwlock;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
