//! `std::sync::Condvar` under control: `notify_one` wakes any waiter.
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};

use crate::runtime::entry;
use crate::runtime::objects::condvar::CondvarCore;
use crate::runtime::objects::guarded::Writing;

use super::MutexGuard;

/// A condition variable with the interface of [`std::sync::Condvar`].
pub struct Condvar {
    core: CondvarCore,
    real: std::sync::Condvar,
}

impl Condvar {
    /// A new condition variable.
    #[track_caller]
    pub const fn new() -> Self {
        Self { core: CondvarCore::new(), real: std::sync::Condvar::new() }
    }

    /// Releases the mutex, waits for a notification, takes the mutex again.
    ///
    /// # Errors
    /// The guard in a [`PoisonError`] if a holder of the mutex panicked.
    ///
    /// # Panics
    /// If it is used with two mutexes at the same time, as std's.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let location = Location::caller();
        let (lock, real, _) = guard.inner.into_parts();
        let inner = match real {
            Some(real) => {
                let real = self.real.wait(real).unwrap_or_else(PoisonError::into_inner);
                Writing::from_parts(lock, Some(real), location)
            }
            None => entry::wait(&self.core, lock, location),
        };
        let guard = MutexGuard { inner };
        if guard.inner.lock().is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits while `condition` holds.
    ///
    /// # Errors
    /// As [`Condvar::wait`].
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Wakes one waiter, if there is one. Which one is not said.
    #[track_caller]
    pub fn notify_one(&self) {
        if !entry::notify(&self.core, false, Location::caller()) {
            self.real.notify_one();
        }
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        if !entry::notify(&self.core, true, Location::caller()) {
            self.real.notify_all();
        }
    }

    /// First use in a run.
    pub(crate) fn claim(&self, run: entry::Run) {
        self.core.claim(run.0);
    }

    pub(crate) fn header(&self) -> &crate::runtime::objects::header::Header {
        &self.core.header
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
