//! A value behind a lock that is modelled inside a simulation and real outside.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError};

use crate::monitor::OpKind;

use super::super::rt::{Rt, current};
use super::super::threads;
use super::lock::{Access, LockCore};

/// The lock that is taken outside simulations. It guards nothing itself; the value lies beside it.
pub(crate) trait Real: Default {
    type Reading<'a>
    where
        Self: 'a;
    type Writing<'a>
    where
        Self: 'a;
    fn read(&self) -> Self::Reading<'_>;
    fn write(&self) -> Self::Writing<'_>;
    fn try_read(&self) -> Option<Self::Reading<'_>>;
    fn try_write(&self) -> Option<Self::Writing<'_>>;
}

impl Real for std::sync::Mutex<()> {
    type Reading<'a> = std::sync::MutexGuard<'a, ()>;
    type Writing<'a> = std::sync::MutexGuard<'a, ()>;
    fn read(&self) -> Self::Reading<'_> {
        self.write()
    }
    fn write(&self) -> Self::Writing<'_> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn try_read(&self) -> Option<Self::Reading<'_>> {
        self.try_write()
    }
    fn try_write(&self) -> Option<Self::Writing<'_>> {
        taken(self.try_lock())
    }
}

impl Real for std::sync::RwLock<()> {
    type Reading<'a> = std::sync::RwLockReadGuard<'a, ()>;
    type Writing<'a> = std::sync::RwLockWriteGuard<'a, ()>;
    fn read(&self) -> Self::Reading<'_> {
        Self::read(self).unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> Self::Writing<'_> {
        Self::write(self).unwrap_or_else(PoisonError::into_inner)
    }
    fn try_read(&self) -> Option<Self::Reading<'_>> {
        taken(Self::try_read(self))
    }
    fn try_write(&self) -> Option<Self::Writing<'_>> {
        taken(Self::try_write(self))
    }
}

fn taken<G>(result: Result<G, TryLockError<G>>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(p)) => Some(p.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A value, its modelled lock, its real lock, and whether a holder panicked.
pub(crate) struct Guarded<T: ?Sized, R> {
    core: LockCore,
    poisoned: AtomicBool,
    real: R,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through guards only, which exclude each other: by the model inside a simulation, by the
// real lock outside, and by the claim protocol between the two. A mutex hands the value to one thread at a time.
unsafe impl<T: ?Sized + Send> Sync for Guarded<T, std::sync::Mutex<()>> {}
// SAFETY: as above; readers on several threads share the value, so it must be `Sync` too.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<T, std::sync::RwLock<()>> {}
// SAFETY: sending the lock sends the value.
unsafe impl<T: ?Sized + Send, R: Send> Send for Guarded<T, R> {}

/// Exclusive access to the value; ends when dropped.
pub(crate) struct Writing<'a, T: ?Sized, R: Real + 'a> {
    of: &'a Guarded<T, R>,
    /// Present outside simulations.
    real: Option<R::Writing<'a>>,
    location: &'static Location<'static>,
    /// The thread was unwinding when it took the lock: then its panic says nothing about this value.
    panicking: bool,
    /// The releasing operation, for reports.
    release: OpKind,
}

/// Shared access to the value; ends when dropped.
pub(crate) struct Reading<'a, T: ?Sized, R: Real + 'a> {
    of: &'a Guarded<T, R>,
    real: Option<R::Reading<'a>>,
    location: &'static Location<'static>,
}

// SAFETY: a shared guard gives out `&T` only.
unsafe impl<T: ?Sized + Sync, R: Real> Sync for Writing<'_, T, R> {}
// SAFETY: a shared guard gives out `&T` only.
unsafe impl<T: ?Sized + Sync, R: Real> Sync for Reading<'_, T, R> {}

impl<T, R> Guarded<T, R> {
    #[track_caller]
    pub(crate) const fn new(value: T, real: R) -> Self {
        Self { core: LockCore::new(), poisoned: AtomicBool::new(false), real, value: UnsafeCell::new(value) }
    }

    pub(crate) fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poisoned.into_inner();
        judged(poisoned, self.value.into_inner())
    }
}

/// What is got from a lock, as an error if a holder panicked.
#[inline(always)]
fn judged<V>(poisoned: bool, value: V) -> LockResult<V> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

impl<T: ?Sized, R: Real> Guarded<T, R> {
    pub(crate) fn core(&self) -> &LockCore {
        &self.core
    }

    /// First use in the run of `r`.
    pub(crate) fn claim(&self, r: *mut Rt) {
        self.core.claim(r, || self.real.try_write().is_some());
    }

    pub(crate) fn get_mut(&mut self) -> LockResult<&mut T> {
        judged(*self.poisoned.get_mut(), self.value.get_mut())
    }

    /// A guard (or what comes with it), as an error if a holder panicked.
    #[inline(always)]
    pub(crate) fn checked<G>(&self, guard: G) -> LockResult<G> {
        judged(self.is_poisoned(), guard)
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    pub(crate) fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn write(
        &self,
        take: OpKind,
        release: OpKind,
        location: &'static Location<'static>,
    ) -> Writing<'_, T, R> {
        let r = current();
        let real = if r.is_null() {
            let real = self.real.write();
            self.core.check_ordinary();
            Some(real)
        } else {
            // SAFETY: `r` is this OS thread's runtime, and only controlled threads see it non-null.
            unsafe {
                self.core.acquire(r, Access::Write, take, location, || self.real.try_write().is_some());
            }
            None
        };
        Writing { of: self, real, location, panicking: threads::panicking(), release }
    }

    #[inline(always)]
    pub(crate) fn read(&self, location: &'static Location<'static>) -> Reading<'_, T, R> {
        let r = current();
        let real = if r.is_null() {
            let real = self.real.read();
            self.core.check_ordinary();
            Some(real)
        } else {
            // SAFETY: as in `write`.
            unsafe {
                self.core.acquire(r, Access::Read, OpKind::Read, location, || self.real.try_write().is_some());
            }
            None
        };
        Reading { of: self, real, location }
    }

    pub(crate) fn try_write(
        &self,
        take: OpKind,
        release: OpKind,
        location: &'static Location<'static>,
    ) -> Option<Writing<'_, T, R>> {
        let r = current();
        let real = if r.is_null() {
            let real = self.real.try_write()?;
            self.core.check_ordinary();
            Some(real)
        } else {
            let free = || self.real.try_write().is_some();
            // SAFETY: as in `write`.
            if !unsafe { self.core.try_acquire(r, Access::Write, take, location, free) } {
                return None;
            }
            None
        };
        Some(Writing { of: self, real, location, panicking: threads::panicking(), release })
    }

    pub(crate) fn try_read(&self, location: &'static Location<'static>) -> Option<Reading<'_, T, R>> {
        let r = current();
        let real = if r.is_null() {
            let real = self.real.try_read()?;
            self.core.check_ordinary();
            Some(real)
        } else {
            let free = || self.real.try_write().is_some();
            // SAFETY: as in `write`.
            if !unsafe { self.core.try_acquire(r, Access::Read, OpKind::TryRead, location, free) } {
                return None;
            }
            None
        };
        Some(Reading { of: self, real, location })
    }
}

impl<'a, T: ?Sized, R: Real> Writing<'a, T, R> {
    /// Takes the guard apart for a condition variable: the lock and the real guard. Nothing is released.
    pub(crate) fn into_parts(self) -> (&'a Guarded<T, R>, Option<R::Writing<'a>>, &'static Location<'static>) {
        let mut this = std::mem::ManuallyDrop::new(self);
        (this.of, this.real.take(), this.location)
    }

    /// Puts a guard together again: the lock is held, by the model if `real` is absent.
    pub(crate) fn from_parts(
        of: &'a Guarded<T, R>,
        real: Option<R::Writing<'a>>,
        location: &'static Location<'static>,
    ) -> Self {
        Self { of, real, location, panicking: threads::panicking(), release: OpKind::Unlock }
    }

    pub(crate) fn lock(&self) -> &'a Guarded<T, R> {
        self.of
    }
}

impl<T: ?Sized, R: Real> Deref for Writing<'_, T, R> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard excludes every other access.
        unsafe { &*self.of.value.get() }
    }
}

impl<T: ?Sized, R: Real> DerefMut for Writing<'_, T, R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard excludes every other access.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T: ?Sized, R: Real> Drop for Writing<'_, T, R> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.panicking && threads::panicking() {
            threads::poison(&self.of.poisoned);
        }
        if self.real.is_none() {
            let r = current();
            if !self.of.core.is_of(r) {
                self.of.core.release_late(Access::Write);
            } else {
                // SAFETY: the running thread took the lock for writing in this run.
                unsafe { self.of.core.release(r, Access::Write, self.release, self.location) }
            }
        }
    }
}

impl<T: ?Sized, R: Real> Deref for Reading<'_, T, R> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard excludes writers.
        unsafe { &*self.of.value.get() }
    }
}

impl<T: ?Sized, R: Real> Drop for Reading<'_, T, R> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.real.is_none() {
            let r = current();
            if !self.of.core.is_of(r) {
                self.of.core.release_late(Access::Read);
            } else {
                // SAFETY: the running thread took the lock for reading in this run.
                unsafe { self.of.core.release(r, Access::Read, OpKind::ReadUnlock, self.location) }
            }
        }
    }
}
