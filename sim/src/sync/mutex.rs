//! `std::sync::Mutex` under control.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, TryLockError, TryLockResult};

use crate::monitor::OpKind;
use crate::runtime::entry;
use crate::runtime::objects::guarded::{Guarded, Writing};

pub(super) type Real = std::sync::Mutex<()>;

/// A mutual exclusion lock with the interface of [`std::sync::Mutex`], poisoning included.
pub struct Mutex<T: ?Sized> {
    inner: Guarded<T, Real>,
}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// Access to the value of a [`Mutex`]; dropping it releases the lock.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) inner: Writing<'a, T, Real>,
}

impl<T> Mutex<T> {
    /// A new, unlocked mutex.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { inner: Guarded::new(value, Real::new(())) }
    }

    /// The value, once nobody else can reach it.
    ///
    /// # Errors
    /// The value in a [`PoisonError`](super::PoisonError) if a holder panicked.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Errors
    /// The guard in a [`PoisonError`](super::PoisonError) if a holder panicked.
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let inner = self.inner.write(OpKind::Lock, OpKind::Unlock, Location::caller());
        self.inner.checked(MutexGuard { inner })
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// `WouldBlock` if it is not; the guard in `Poisoned` if a holder panicked.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.inner.try_write(OpKind::TryLock, OpKind::Unlock, Location::caller()) {
            Some(inner) => Ok(self.inner.checked(MutexGuard { inner })?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a holder panicked.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Takes back what a panicking holder did to [`Mutex::is_poisoned`].
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// The value, without locking, as nobody else can have it.
    ///
    /// # Errors
    /// The value in a [`PoisonError`](super::PoisonError) if a holder panicked.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// First use in a run.
    pub(crate) fn claim(&self, run: entry::Run) {
        self.inner.claim(run.0);
    }

    pub(crate) fn header(&self) -> &crate::runtime::objects::header::Header {
        &self.inner.core().header
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looking at the value would be an operation of the program under test.
        f.debug_struct("Mutex").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
