//! The façade with the feature `simulation` off: std itself.

/// `std::sync`.
pub mod sync {
    pub use std::sync::{
        Arc, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        TryLockError, TryLockResult, WaitTimeoutResult, Weak, atomic,
    };

    /// `std::sync::mpsc`, as far as the controlled façade has it: what compiles here compiles in a simulation too.
    pub mod mpsc {
        pub use std::sync::mpsc::{IntoIter, Receiver, RecvError, SendError, Sender, TryRecvError, channel};
    }
}

/// `std::thread`.
pub mod thread {
    pub use std::thread::{
        Builder, JoinHandle, Result, Scope, ScopedJoinHandle, Thread, ThreadId, current, panicking, park, scope, sleep,
        spawn, yield_now,
    };
}

/// `std::time`.
pub mod time {
    pub use std::time::{Duration, Instant};
}

/// `std::hint`.
pub mod hint {
    pub use std::hint::spin_loop;
}

/// The crate `arc_swap`.
pub mod arc_swap {
    pub use ::arc_swap::{ArcSwap, Guard};
}

/// Gives a sync object a name inside a simulation; nothing here.
#[inline(always)]
pub fn name<T: ?Sized>(_object: &T, _name: &'static str) {}

/// Seed of the run inside a simulation; `None` here.
#[must_use]
pub fn seed() -> Option<u64> {
    None
}

/// Adds a line to the trace inside a simulation; nothing here.
#[inline(always)]
pub fn note(_text: impl FnOnce() -> String) {}
