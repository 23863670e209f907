//! `std::sync::RwLock` under control. Readers queue behind a waiting writer, as std's do.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, TryLockError, TryLockResult};

use crate::monitor::OpKind;
use crate::runtime::entry;
use crate::runtime::objects::guarded::{Guarded, Reading, Writing};

type Real = std::sync::RwLock<()>;

/// A readers-writer lock with the interface of [`std::sync::RwLock`], poisoning included.
pub struct RwLock<T: ?Sized> {
    inner: Guarded<T, Real>,
}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// Shared access to the value of an [`RwLock`]; dropping it releases the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    inner: Reading<'a, T, Real>,
}

/// Exclusive access to the value of an [`RwLock`]; dropping it releases the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    inner: Writing<'a, T, Real>,
}

impl<T> RwLock<T> {
    /// A new, unlocked lock.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { inner: Guarded::new(value, Real::new(())) }
    }

    /// The value, once nobody else can reach it.
    ///
    /// # Errors
    /// The value in a [`PoisonError`](super::PoisonError) if a writer panicked.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for shared access.
    ///
    /// # Errors
    /// The guard in a [`PoisonError`](super::PoisonError) if a writer panicked.
    #[track_caller]
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.inner.checked(RwLockReadGuard { inner: self.inner.read(Location::caller()) })
    }

    /// Waits for exclusive access.
    ///
    /// # Errors
    /// The guard in a [`PoisonError`](super::PoisonError) if a writer panicked.
    #[track_caller]
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let inner = self.inner.write(OpKind::Write, OpKind::WriteUnlock, Location::caller());
        self.inner.checked(RwLockWriteGuard { inner })
    }

    /// Takes shared access if that is possible now.
    ///
    /// # Errors
    /// `WouldBlock` if it is not; the guard in `Poisoned` if a writer panicked.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.inner.try_read(Location::caller()) {
            Some(inner) => Ok(self.inner.checked(RwLockReadGuard { inner })?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Takes exclusive access if that is possible now.
    ///
    /// # Errors
    /// `WouldBlock` if it is not; the guard in `Poisoned` if a writer panicked.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.inner.try_write(OpKind::TryWrite, OpKind::WriteUnlock, Location::caller()) {
            Some(inner) => Ok(self.inner.checked(RwLockWriteGuard { inner })?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a writer panicked.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Takes back what a panicking writer did to [`RwLock::is_poisoned`].
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// The value, without locking, as nobody else can have it.
    ///
    /// # Errors
    /// The value in a [`PoisonError`](super::PoisonError) if a writer panicked.
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

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looking at the value would be an operation of the program under test.
        f.debug_struct("RwLock").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
