//! Names for sync objects and notes in the trace.
#![forbid(unsafe_code)]

use std::panic::Location;

use crate::runtime::entry;
use crate::runtime::objects::once::OnceCore;

mod sealed {
    pub trait Nameable {
        fn set_name(&self, name: &'static str);
    }
}

/// A sync object that can be given a name: see [`name`].
pub trait Named: sealed::Nameable {}

impl<T: sealed::Nameable + ?Sized> Named for T {}

macro_rules! named {
    ($(($($generic:tt)*) $name:ty $(, $claim:ident)?;)*) => {
        $(impl<$($generic)*> sealed::Nameable for $name {
            fn set_name(&self, name: &'static str) {
                entry::name(self.header(), name, |_run| {
                    $(self.$claim(_run);)?
                });
            }
        })*
    };
}

named! {
    (T: ?Sized) crate::sync::Mutex<T>, claim;
    (T: ?Sized) crate::sync::RwLock<T>, claim;
    () crate::sync::Condvar, claim;
    () crate::sync::Barrier, claim;
    (T) crate::arc_swap::ArcSwap<T>;
    () crate::disk::Disk;
    (T) crate::cell::RaceCell<T>, claim;
    () crate::sync::atomic::AtomicBool;
    () crate::sync::atomic::AtomicU8;
    () crate::sync::atomic::AtomicU16;
    () crate::sync::atomic::AtomicU32;
    () crate::sync::atomic::AtomicU64;
    () crate::sync::atomic::AtomicUsize;
    () crate::sync::atomic::AtomicI8;
    () crate::sync::atomic::AtomicI16;
    () crate::sync::atomic::AtomicI32;
    () crate::sync::atomic::AtomicI64;
    () crate::sync::atomic::AtomicIsize;
    (T) crate::sync::atomic::AtomicPtr<T>;
}

/// Objects of which each run has its own state: what is named is that of the present run.
macro_rules! named_per_run {
    ($(($($generic:tt)*) $name:ty, $core:expr;)*) => {
        $(impl<$($generic)*> sealed::Nameable for $name {
            fn set_name(&self, name: &'static str) {
                let core: fn(&Self) -> Option<&OnceCore> = $core;
                if let Some(core) = core(self) {
                    entry::name(&core.header, name, |_run| ());
                }
            }
        })*
    };
}

named_per_run! {
    () crate::sync::Once, |once| once.core();
    (T) crate::sync::OnceLock<T>, |cell| cell.slot().map(|slot| &slot.core);
    (T, F) crate::sync::LazyLock<T, F>, |lazy| lazy.slot().map(|slot| &slot.core);
}

/// Gives a sync object the name that reports, replays and lock-order rules use. Does nothing outside a simulation.
pub fn name<T: Named + ?Sized>(object: &T, name: &'static str) {
    object.set_name(name);
}

/// Adds a line to the trace of the running thread. The text is made only in runs that are recorded in full, so a note
/// costs next to nothing in the search.
#[track_caller]
pub fn note(text: impl FnOnce() -> String) {
    entry::note(text, Location::caller());
}

/// Seed of the present run; `None` outside a simulation.
#[must_use]
pub fn seed() -> Option<u64> {
    entry::seed()
}
