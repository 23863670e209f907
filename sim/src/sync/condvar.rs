//! `std::sync::Condvar` under control: `notify_one` wakes any waiter.
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use crate::runtime::entry;
use crate::runtime::objects::condvar::CondvarCore;
use crate::runtime::objects::guarded::Writing;

use super::MutexGuard;
use crate::time::Instant;

/// Whether a wait with a timeout ended by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// The time was up before a notification came.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

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
        let (guard, _) = self.wait_until(guard, None, Location::caller());
        guard.inner.lock().checked(guard)
    }

    /// As [`Condvar::wait`], but not longer than `timeout`; inside a run that is virtual time.
    ///
    /// # Errors
    /// As [`Condvar::wait`].
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, timed_out) = self.wait_until(guard, Some(timeout), Location::caller());
        guard.inner.lock().checked((guard, WaitTimeoutResult(timed_out)))
    }

    /// As [`Condvar::wait_timeout`], in milliseconds, and the other way round: the flag is false if the time was up.
    ///
    /// # Errors
    /// As [`Condvar::wait`].
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    #[deprecated(note = "replaced by `Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let (guard, timed_out) = self.wait_until(guard, Some(Duration::from_millis(u64::from(ms))), Location::caller());
        guard.inner.lock().checked((guard, !timed_out))
    }

    /// Waits while `condition` holds, but not longer than `timeout` in all.
    ///
    /// # Errors
    /// As [`Condvar::wait`].
    ///
    /// # Panics
    /// As [`Condvar::wait`].
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = Instant::now();
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(rest) = timeout.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, rest)?.0;
        }
    }

    fn wait_until<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Option<Duration>,
        location: &'static Location<'static>,
    ) -> (MutexGuard<'a, T>, bool) {
        let (lock, real, _) = guard.inner.into_parts();
        let (inner, timed_out) = match (real, timeout) {
            (Some(real), None) => {
                let real = self.real.wait(real).unwrap_or_else(PoisonError::into_inner);
                (Writing::from_parts(lock, Some(real), location), false)
            }
            (Some(real), Some(timeout)) => {
                let (real, result) = self.real.wait_timeout(real, timeout).unwrap_or_else(PoisonError::into_inner);
                (Writing::from_parts(lock, Some(real), location), result.timed_out())
            }
            (None, timeout) => entry::wait(&self.core, lock, timeout, location),
        };
        (MutexGuard { inner }, timed_out)
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

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

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
