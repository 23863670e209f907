//! `std::sync::LazyLock` under control.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::runtime::entry;
use crate::runtime::objects::once::Slot;
use crate::runtime::objects::per_run::{Initialiser, PerRun};

/// A value that is made at its first use, with the interface of [`std::sync::LazyLock`], poisoning included.
///
/// Each run has its own value, also of a static: it is made anew by the first use in the run. That takes an initialiser
/// that can be called again, a function pointer, which is what the type of a static says: `LazyLock<T>` is
/// `LazyLock<T, fn() -> T>`. A closure that captures something can be called once only, so a `LazyLock` with such an
/// initialiser must be made inside the run; a second run that uses it is refused by a panic.
///
/// A value that is made inside a run and belongs to a static is never dropped, as those of statics are not.
pub struct LazyLock<T, F = fn() -> T> {
    state: PerRun<Slot<T>>,
    init: Initialiser<F>,
    /// Outside simulations. std's own cannot share its initialiser.
    real: std::sync::OnceLock<T>,
    once: std::sync::Once,
    /// The initialiser panicked outside simulations. `once` knows that too, but tells only initialisers.
    broken: AtomicBool,
}

/// Sets the flag unless it is forgotten.
struct Breaks<'a>(&'a AtomicBool);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` will make.
    #[track_caller]
    pub const fn new(f: F) -> Self {
        Self {
            state: PerRun::new(),
            init: Initialiser::new(f),
            real: std::sync::OnceLock::new(),
            once: std::sync::Once::new(),
            broken: AtomicBool::new(false),
        }
    }

    /// The value, made if this is its first use. Waits for another thread that makes it. If the initialiser uses the value
    /// it waits for itself: in a run that is reported as a deadlock.
    ///
    /// # Panics
    /// If the initialiser panics or has panicked; if it is a closure that another run, or code outside runs, has called.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        let Some(slot) = this.slot() else { return this.force_real() };
        match slot.get_or_init(false, Location::caller(), || this.make()) {
            Some(value) => value,
            None => poisoned(),
        }
    }

    /// The value, made if this is its first use, for changes.
    ///
    /// # Panics
    /// As [`LazyLock::force`].
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        Self::force(this);
        match Self::get_mut(this) {
            Some(value) => value,
            None => unreachable!("a value that has just been made"),
        }
    }

    fn make(&self) -> T {
        match self.init.take() {
            Some(f) => f(),
            None => panic!(
                "interleaf: a LazyLock whose initialiser is a closure can be initialised once only: make it inside the \
                 closure under test, or give it a function pointer"
            ),
        }
    }

    #[track_caller]
    fn force_real(&self) -> &T {
        self.once.call_once_force(|state| {
            if state.is_poisoned() {
                poisoned();
            }
            let breaks = Breaks(&self.broken);
            let value = self.make();
            std::mem::forget(breaks);
            // Nobody else writes it.
            let _ = self.real.set(value);
        });
        match self.real.get() {
            Some(value) => value,
            None => unreachable!("a value that has just been made"),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// What it is in the present run; `None` outside simulations.
    pub(crate) fn slot(&self) -> Option<&Slot<T>> {
        self.state.state(Slot::new)
    }

    /// The value, if it has been made. Does not wait.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        match this.slot() {
            Some(slot) => slot.get(Location::caller()),
            None => this.real.get(),
        }
    }

    /// The value, if it has been made, for changes.
    ///
    /// # Panics
    /// If the initialiser has panicked.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if entry::simulated() {
            let slot = this.state.state_mut()?;
            if slot.is_poisoned() {
                poisoned();
            }
            return slot.get_mut();
        }
        if *this.broken.get_mut() {
            poisoned();
        }
        this.real.get_mut()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
