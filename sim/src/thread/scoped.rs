//! Threads that borrow from the one that started them.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, panic_any, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Result;

use crate::runtime::entry::{self, Joinable};
use crate::runtime::real_thread::{RealThread, spawn_real_scoped};
use crate::runtime::threads::SCOPED_PANIC;

use super::handle::{Builder, Thread};

/// A scope in which threads may borrow: see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    started: Started,
    /// Invariant in both lifetimes, as std's.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The threads of a scope that must end before it does.
enum Started {
    Real(Mutex<Vec<Arc<RealThread>>>),
    /// Slot and number of each.
    Simulated(Mutex<Vec<(usize, u32)>>),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Started {
    /// Waits for every thread of the scope, those included that are started meanwhile. True if one of them panicked
    /// and nobody took the panic.
    fn wait(&self, location: &'static Location<'static>) -> bool {
        let mut panicked = false;
        loop {
            match self {
                Self::Real(list) => {
                    let Some(thread) = locked(list).pop() else { return panicked };
                    panicked |= thread.wait();
                }
                Self::Simulated(list) => {
                    // It stays in the list until it has ended: the wait may unwind, and then it is waited for again.
                    let Some(place) = locked(list).last().copied() else { return panicked };
                    panicked |= entry::wait_for_end(place, location);
                    locked(list).retain(|&started| started != place);
                }
            }
        }
    }
}

/// Waits for the scope's threads even if its waiting unwinds: they borrow from its caller.
struct WaitOnDrop<'a>(&'a Started, &'static Location<'static>);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        self.0.wait(self.1);
    }
}

/// Runs `f` and waits for every thread that it starts in its scope.
///
/// # Panics
/// If a thread of the scope panicked and its handle was not joined, or if `f` panics.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let location = Location::caller();
    let started = if entry::simulated() {
        Started::Simulated(Mutex::new(Vec::new()))
    } else {
        Started::Real(Mutex::new(Vec::new()))
    };
    let scope = Scope { started, scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let panicked = {
        let _whatever_happens = WaitOnDrop(&scope.started, location);
        scope.started.wait(location)
    };
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if panicked => panic_any(SCOPED_PANIC),
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread in the scope.
    ///
    /// # Panics
    /// If the system cannot start one, or if a run has 64 threads alive.
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match Builder::new().spawn_scoped(self, f) {
            Ok(handle) => handle,
            Err(error) => panic!("failed to spawn thread: {error}"),
        }
    }
}

impl Builder {
    /// Starts the thread in a scope.
    ///
    /// # Errors
    /// If the system cannot start one.
    ///
    /// # Panics
    /// If a run has 64 threads alive, or if the name contains a null byte.
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let kind = match &scope.started {
            Started::Simulated(list) => {
                let name = self.shared_name();
                match entry::spawn_scoped(f, name) {
                    Ok(joinable) => {
                        locked(list).push(joinable.place());
                        HandleKind::Simulated(joinable, OnceLock::new())
                    }
                    Err(_) => panic!("interleaf: a scope of a run is used outside the run"),
                }
            }
            Started::Real(list) => {
                let (result, thread) = spawn_real_scoped(self.real(), f)?;
                locked(list).push(Arc::clone(&thread));
                let handle = Thread::real(thread.thread());
                HandleKind::Real { result, thread, handle }
            }
        };
        Ok(ScopedJoinHandle { kind, scope: PhantomData })
    }
}

/// The right to wait for a scoped thread's end and take its result.
pub struct ScopedJoinHandle<'scope, T> {
    kind: HandleKind<T>,
    scope: PhantomData<&'scope ()>,
}

enum HandleKind<T> {
    Real { result: Arc<Mutex<Option<Result<T>>>>, thread: Arc<RealThread>, handle: Thread },
    Simulated(Joinable<T>, OnceLock<Thread>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread's end.
    ///
    /// # Errors
    /// The payload of the panic by which the thread ended.
    ///
    /// # Panics
    /// If a simulated thread is joined outside its run.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.kind {
            HandleKind::Simulated(joinable, _) => joinable.join(Location::caller()),
            HandleKind::Real { result, thread, .. } => {
                thread.wait();
                thread.taken();
                let value = locked(&result).take();
                value.unwrap_or_else(|| Err(Box::new("the thread left no result")))
            }
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.kind {
            HandleKind::Real { handle, .. } => handle,
            HandleKind::Simulated(joinable, thread) => thread.get_or_init(|| Thread::simulated(joinable.identity())),
        }
    }

    /// Whether the thread has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.kind {
            HandleKind::Real { thread, .. } => thread.is_finished(),
            HandleKind::Simulated(joinable, _) => joinable.is_finished(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
