//! The façade with the feature `simulation` off: std itself.

/// `std::sync`.
pub mod sync {
    pub use std::sync::{
        Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock, OnceState,
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, Weak,
    };

    /// `std::sync::atomic`, and updates whose result nobody sees.
    pub mod atomic {
        pub use crate::update::{Update, UpdateBool};
        pub use std::sync::atomic::*;
    }

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

/// Plain shared data. Nothing is checked here; a lock keeps accesses apart.
pub mod cell {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// A plain value shared by threads.
    #[derive(Debug, Default)]
    pub struct RaceCell<T>(Mutex<T>);

    impl<T> RaceCell<T> {
        /// A new cell.
        pub const fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }

        fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Reads the value.
        pub fn get(&self) -> T
        where
            T: Copy,
        {
            *self.lock()
        }

        /// Writes the value.
        pub fn set(&self, value: T) {
            drop(self.replace(value));
        }

        /// Writes the value and returns the previous one.
        pub fn replace(&self, value: T) -> T {
            std::mem::replace(&mut *self.lock(), value)
        }

        /// A read through a pointer, which is valid while `f` runs.
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(&raw const *self.lock())
        }

        /// A write through a pointer, which is valid while `f` runs.
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(&raw mut *self.lock())
        }

        /// The value, as nobody else can have it.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }

        /// The value.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T> From<T> for RaceCell<T> {
        fn from(value: T) -> Self {
            Self::new(value)
        }
    }
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
