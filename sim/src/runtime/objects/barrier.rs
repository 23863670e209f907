//! The model of barriers.
//!
//! Arriving is the operation. Who arrives last opens the barrier for the others and is the leader, as in std; the others
//! pass without a further choice.

use std::cell::Cell;
use std::panic::Location;

use crate::monitor::OpKind;

use super::super::point::point;
use super::super::rt::{MAX_THREADS, Rt, current};
use super::super::{claim, record, threads};
use super::header::Header;
use super::waiting::{release, suspend};

/// The header comes first, so that an announced operation's address is the barrier's.
#[repr(C)]
pub(crate) struct BarrierCore {
    pub(crate) header: Header,
    /// How many threads open it.
    size: usize,
    arrived: Cell<usize>,
    /// How often it has opened in this run.
    opened: Cell<u64>,
    /// Who has arrived and waits, as bits.
    waiting: Cell<u64>,
}

// SAFETY: the cells are used only by the simulation that has claimed the header, on its one OS thread.
unsafe impl Sync for BarrierCore {}
// SAFETY: as for Sync; the cells hold plain values.
unsafe impl Send for BarrierCore {}

impl BarrierCore {
    #[track_caller]
    pub(crate) const fn new(size: usize) -> Self {
        Self { header: Header::new(), size, arrived: Cell::new(0), opened: Cell::new(0), waiting: Cell::new(0) }
    }

    /// First use in this run: who waited in an earlier one is void.
    #[cold]
    pub(crate) fn claim(&self, r: *mut Rt) {
        claim::claim(r, &self.header, || Ok(()));
        self.arrived.set(0);
        self.opened.set(0);
        self.waiting.set(0);
    }

    /// Arrives and waits for the others. True for the last to arrive; `None` outside simulations.
    pub(crate) fn wait(&self, location: &'static Location<'static>) -> Option<bool> {
        let r = current();
        if r.is_null() {
            return None;
        }
        // SAFETY: `r` is this OS thread's runtime, and only controlled threads see it non-null; no reference into `*r`
        // is held across a switch.
        unsafe {
            if !self.header.known(&*r) {
                self.claim(r);
            }
            let quiet = threads::quiet(r);
            if !quiet {
                point(r, self.header.address(), OpKind::Barrier, location);
            }
            let last = self.arrived.get() + 1 >= self.size;
            let opened = self.opened.get();
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            if last {
                self.arrived.set(0);
                self.opened.set(opened + 1);
            } else {
                self.arrived.set(self.arrived.get() + 1);
                self.waiting.set(self.waiting.get() | bit);
            }
            if (*r).track {
                record::executed(r, &self.header, OpKind::Barrier, true, location);
            }
            if last {
                release(r, self.waiting.replace(0));
                return Some(true);
            }
            suspend(r, self.header.address(), OpKind::Barrier, None, quiet, location, || self.opened.get() == opened);
            if (*r).track {
                record::executed(r, &self.header, OpKind::Pass, true, location);
            }
            Some(false)
        }
    }

    /// How many threads have arrived and wait, and how many it takes.
    pub(crate) fn arrived(&self) -> (usize, usize) {
        (self.arrived.get(), self.size)
    }
}
