//! `std::sync::Once` under control.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::runtime::objects::once::{Begin, OnceCore};
use crate::runtime::objects::per_run::PerRun;

/// Runs an initialisation once, with the interface of [`std::sync::Once`], poisoning included.
///
/// Each run has its own state, also of a static: at its start nothing has been initialised, whatever happened in
/// earlier runs, in others that go on at the same time, or outside.
pub struct Once {
    state: PerRun<OnceCore>,
    real: std::sync::Once,
}

/// What an initialiser is told by [`Once::call_once_force`].
pub struct OnceState {
    /// In a cell, so that threads cannot share it, as they cannot share std's.
    poisoned: Cell<bool>,
}

impl OnceState {
    const fn new(poisoned: bool) -> Self {
        Self { poisoned: Cell::new(poisoned) }
    }

    /// Whether an earlier initialiser panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.get()
    }
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("Once instance has previously been poisoned")
}

impl Once {
    /// A new one, not initialised.
    #[track_caller]
    #[must_use]
    #[allow(clippy::new_without_default, reason = "std's has no `Default` either")]
    pub const fn new() -> Self {
        Self { state: PerRun::new(), real: std::sync::Once::new() }
    }

    /// What it is in the present run; `None` outside simulations.
    pub(crate) fn core(&self) -> Option<&OnceCore> {
        self.state.state(OnceCore::new)
    }

    /// Calls `f` if nobody has called an initialiser yet; waits for the end of one that runs. An initialiser that calls
    /// this on its own `Once` waits for itself: in a run that is reported as a deadlock.
    ///
    /// # Panics
    /// If an earlier initialiser panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let Some(core) = self.core() else { return self.real.call_once(f) };
        match core.begin(false, Location::caller()) {
            Begin::Done => {}
            Begin::Poisoned => poisoned(),
            Begin::Run(initialising) => {
                f();
                initialising.complete(|| ());
            }
        }
    }

    /// As [`Once::call_once`], but calls `f` also if earlier initialisers panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        let Some(core) = self.core() else {
            return self.real.call_once_force(|state| f(&OnceState::new(state.is_poisoned())));
        };
        if let Begin::Run(initialising) = core.begin(true, Location::caller()) {
            f(&OnceState::new(initialising.poisoned));
            initialising.complete(|| ());
        }
    }

    /// Whether an initialiser has ended without a panic.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        match self.core() {
            Some(core) => core.is_complete(Location::caller()),
            None => self.real.is_completed(),
        }
    }

    /// Waits until an initialiser has ended.
    ///
    /// # Panics
    /// If it panicked.
    #[track_caller]
    pub fn wait(&self) {
        match self.core() {
            Some(core) if core.wait(false, Location::caller()) => {}
            Some(_) => poisoned(),
            None => self.real.wait(),
        }
    }

    /// Waits until an initialiser has ended without a panic.
    #[track_caller]
    pub fn wait_force(&self) {
        match self.core() {
            Some(core) => {
                core.wait(true, Location::caller());
            }
            None => self.real.wait_force(),
        }
    }
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}
