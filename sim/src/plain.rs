//! The façade with the feature `simulation` off: std itself.

/// `std::sync`.
pub mod sync {
    pub use std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock, OnceState,
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, Weak,
        atomic,
    };

    /// `std::sync::mpsc`, as far as the controlled façade has it: what compiles here compiles in a simulation too.
    pub mod mpsc {
        pub use std::sync::mpsc::{
            IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter,
            TryRecvError, TrySendError, channel, sync_channel,
        };
    }
}

/// `std::thread`.
pub mod thread {
    pub use std::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
        available_parallelism, current, panicking, park, park_timeout, scope, sleep, spawn, yield_now,
    };
    #[allow(deprecated, reason = "std's are deprecated too")]
    pub use std::thread::{park_timeout_ms, sleep_ms};
}

/// `std::time`.
pub mod time {
    pub use std::time::{Duration, Instant, SystemTime, SystemTimeError, UNIX_EPOCH};
}

pub use std::thread_local;

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
