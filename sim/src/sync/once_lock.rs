//! `std::sync::OnceLock` under control.
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::runtime::objects::once::Slot;
use crate::runtime::objects::per_run::PerRun;

/// A cell that is written once, with the interface of [`std::sync::OnceLock`].
///
/// Each run has its own value, also of a static: at its start the cell is empty, whatever was written in earlier runs, in
/// others that go on at the same time, or outside. Only a cell that was made with its value ([`From`], [`Clone`]) has it
/// everywhere; looking at such a cell is no operation of the run.
///
/// A value that is written inside a run to a cell that outlives the run is never dropped, as those of statics are not.
pub struct OnceLock<T> {
    state: PerRun<Slot<T>>,
    real: std::sync::OnceLock<T>,
    /// Made with its value, which is in `real`.
    made_full: bool,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { state: PerRun::new(), real: std::sync::OnceLock::new(), made_full: false }
    }

    /// What the cell is in the present run; `None` if std's is in charge.
    pub(crate) fn slot(&self) -> Option<&Slot<T>> {
        if self.made_full { None } else { self.state.state(Slot::new) }
    }

    /// The value, if there is one. Does not wait.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match self.slot() {
            Some(slot) => slot.get(Location::caller()),
            None => self.real.get(),
        }
    }

    /// The value, if there is one, for changes.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.made_full || !crate::runtime::entry::simulated() {
            return self.real.get_mut();
        }
        self.state.state_mut().and_then(Slot::get_mut)
    }

    /// Writes the value, if there is none.
    ///
    /// # Errors
    /// The argument, if there is one. Waits for an initialiser that runs.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        match self.slot() {
            Some(slot) => slot.set(value, Location::caller()),
            None => self.real.set(value),
        }
    }

    /// The value; `f` makes it if there is none. Waits for an initialiser that runs. If `f` panics, the cell stays
    /// empty. If `f` initialises the same cell, it waits for itself: in a run that is reported as a deadlock.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        let Some(slot) = self.slot() else { return self.real.get_or_init(f) };
        match slot.get_or_init(true, Location::caller(), f) {
            Some(value) => value,
            None => unreachable!("a cell that has just been initialised"),
        }
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let Some(slot) = self.slot() else { return self.real.wait() };
        match slot.wait(Location::caller()) {
            Some(value) => value,
            None => unreachable!("a cell whose value was waited for"),
        }
    }

    /// The value, once nobody else can reach the cell.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value and leaves the cell empty.
    pub fn take(&mut self) -> Option<T> {
        if self.made_full || !crate::runtime::entry::simulated() {
            self.made_full = false;
            return self.real.take();
        }
        self.state.take().and_then(Slot::into_inner)
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self { state: PerRun::new(), real: std::sync::OnceLock::from(value), made_full: true }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => Self::from(value.clone()),
            None => Self::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
