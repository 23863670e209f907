//! The crate `arc_swap` under control: lock-free snapshots that are replaced as a whole.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use crate::monitor::OpKind;
use crate::runtime::objects::atomic::before;
use crate::runtime::objects::header::Header;

/// An `Arc` that is read and replaced atomically, with the interface of `arc_swap::ArcSwap`.
pub struct ArcSwap<T> {
    header: Header,
    real: ::arc_swap::ArcSwap<T>,
}

/// A loaded snapshot. Dereferences to the `Arc`.
pub struct Guard<T: Deref>(T);

impl<T> ArcSwap<T> {
    /// A cell that holds `value`.
    #[track_caller]
    #[must_use]
    pub fn new(value: Arc<T>) -> Self {
        Self { header: Header::new(), real: ::arc_swap::ArcSwap::new(value) }
    }

    /// A cell that holds `value` in a new `Arc`.
    #[track_caller]
    #[must_use]
    pub fn from_pointee(value: T) -> Self {
        Self::new(Arc::new(value))
    }

    /// The present snapshot.
    #[track_caller]
    #[must_use]
    pub fn load(&self) -> Guard<Arc<T>> {
        Guard(self.load_full())
    }

    /// The present snapshot, as an `Arc` of one's own.
    #[track_caller]
    #[must_use]
    pub fn load_full(&self) -> Arc<T> {
        let location = Location::caller();
        let sim = before(&self.header, OpKind::Load, location);
        let value = self.real.load_full();
        if let Some(sim) = sim {
            sim.after(&self.header, OpKind::Load, true, location);
        }
        value
    }

    /// Replaces the snapshot.
    #[track_caller]
    pub fn store(&self, value: Arc<T>) {
        let location = Location::caller();
        let sim = before(&self.header, OpKind::Store, location);
        let old = self.real.swap(value);
        if let Some(sim) = sim {
            sim.after(&self.header, OpKind::Store, true, location);
        }
        // The old value's destructor may be an operation itself; the cell is consistent by now.
        drop(old);
    }

    /// Replaces the snapshot and returns the previous one.
    #[track_caller]
    #[must_use = "the previous snapshot is returned; use `store` to drop it"]
    pub fn swap(&self, value: Arc<T>) -> Arc<T> {
        let location = Location::caller();
        let sim = before(&self.header, OpKind::Rmw, location);
        let old = self.real.swap(value);
        if let Some(sim) = sim {
            sim.after(&self.header, OpKind::Rmw, true, location);
        }
        old
    }

    /// Read, copy, update: replaces the snapshot by `f` of it, as often as it takes, and returns the previous one.
    #[track_caller]
    pub fn rcu<R: Into<Arc<T>>, F: FnMut(&Arc<T>) -> R>(&self, mut f: F) -> Arc<T> {
        let location = Location::caller();
        loop {
            let current = self.load_full();
            let new: Arc<T> = f(&current).into();
            let sim = before(&self.header, OpKind::Cas, location);
            let previous = self.real.compare_and_swap(&current, new);
            let swapped = Arc::ptr_eq(&previous, &current);
            if let Some(sim) = sim {
                sim.after_exchange(&self.header, swapped, location);
            }
            if swapped {
                return current;
            }
        }
    }

    /// The last snapshot, once nobody else can reach the cell.
    #[must_use]
    pub fn into_inner(self) -> Arc<T> {
        self.real.into_inner()
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Deref> Guard<T> {
    /// The `Arc` itself.
    pub fn into_inner(this: Self) -> T {
        this.0
    }
}

impl<T: Deref> Deref for Guard<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for ArcSwap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArcSwap").finish_non_exhaustive()
    }
}

impl<T: Deref + fmt::Debug> fmt::Debug for Guard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Default> Default for ArcSwap<T> {
    #[track_caller]
    fn default() -> Self {
        Self::from_pointee(T::default())
    }
}
