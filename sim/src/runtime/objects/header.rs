//! What every sync object begins with: which run knows it, under which number, and where it was made.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::super::rt::Rt;

/// Identity of a sync object. Its number is given at the first use in each run, so it does not depend on addresses.
pub(crate) struct Header {
    /// The run in which `index` is valid and which owns the model state; 0 before the first.
    pub(crate) epoch: AtomicU64,
    index: AtomicU32,
    pub(crate) created: &'static Location<'static>,
}

impl Default for Header {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl Header {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self::made_at(Location::caller())
    }

    pub(crate) const fn made_at(created: &'static Location<'static>) -> Self {
        Self { epoch: AtomicU64::new(0), index: AtomicU32::new(0), created }
    }

    /// Whether the object was used in the present run of `r` already.
    #[inline(always)]
    pub(crate) fn known(&self, r: &Rt) -> bool {
        self.epoch.load(Ordering::Relaxed) == r.epoch
    }

    /// Number of the object in this run, in the order of first use.
    pub(crate) fn index(&self, r: &mut Rt) -> u32 {
        if !self.known(r) {
            self.enrol(r);
        }
        self.index.load(Ordering::Relaxed)
    }

    /// First use in this run.
    pub(crate) fn enrol(&self, r: &mut Rt) {
        let index = r.objects;
        r.objects += 1;
        self.index.store(index, Ordering::Relaxed);
        self.epoch.store(r.epoch, Ordering::Relaxed);
        if r.track {
            r.tracks.enrol(index, self.created);
        }
    }

    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}
