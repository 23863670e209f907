//! Plain shared data whose data races are found.
//!
//! [`RaceCell`] stands for what is an `UnsafeCell`, or a field written through a raw pointer, in the code under test:
//! data that is not atomic and is kept apart by something else. Inside a simulated run two accesses of which one writes
//! and which are not ordered by happens-before fail the run, whatever the memory model, and whether or not the schedule
//! brought them close to each other. Orderings count: a relaxed flag orders nothing.
//!
//! ```
//! use interleaf::cell::RaceCell;
//! use interleaf::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed}};
//! use interleaf::{Explorer, thread};
//!
//! let report = Explorer::new().run(|| {
//!     let shared = Arc::new((RaceCell::new(0), AtomicBool::new(false)));
//!     let writer = Arc::clone(&shared);
//!     thread::spawn(move || {
//!         writer.0.set(1);
//!         writer.1.store(true, Relaxed); // Release would do
//!     });
//!     if shared.1.load(Relaxed) {
//!         shared.0.get();
//!     }
//! });
//! assert!(report.first_failure().unwrap().kind.headline().contains("data_race"));
//! ```
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::Location;

use crate::runtime::objects::cell::CellCore;
use crate::runtime::objects::header::Header;

/// A plain value shared by threads, whose accesses are checked for data races inside a run.
///
/// An access is no scheduling point: that two accesses race does not depend on which comes first. Outside a run a lock
/// keeps them apart.
pub struct RaceCell<T> {
    core: CellCore<T>,
}

impl<T> RaceCell<T> {
    /// A new cell. Making it is no access.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self { core: CellCore::new(value) }
    }

    /// Reads the value.
    ///
    /// # Panics
    /// If the read races: that ends the run with a violation of `memory.data_race`. So do all accesses below.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.core.get(Location::caller())
    }

    /// Writes the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.core.replace(value, Location::caller()));
    }

    /// Writes the value and returns the previous one.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.core.replace(value, Location::caller())
    }

    /// A read through a pointer, which is valid while `f` runs.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.core.with(false, Location::caller(), |pointer| f(pointer))
    }

    /// A write through a pointer, which is valid while `f` runs.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.core.with(true, Location::caller(), f)
    }

    /// The value, without an access, as nobody else can have it.
    pub fn get_mut(&mut self) -> &mut T {
        self.core.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.core.into_inner()
    }

    pub(crate) fn header(&self) -> &Header {
        self.core.header()
    }

    pub(crate) fn claim(&self, run: crate::runtime::entry::Run) {
        self.core.claim(run.0);
    }
}

impl<T: Default> Default for RaceCell<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RaceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for RaceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaceCell").finish_non_exhaustive()
    }
}
