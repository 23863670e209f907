//! `std::sync::Barrier` under control: the last to arrive is the leader.
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::runtime::entry;
use crate::runtime::objects::barrier::BarrierCore;

/// A point at which a number of threads wait for each other, with the interface of [`std::sync::Barrier`].
pub struct Barrier {
    core: BarrierCore,
    real: std::sync::Barrier,
}

/// Whether the thread was the last to arrive.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for exactly one of the threads that passed together: the one that arrived last.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for `n` threads; 0 is as good as 1.
    #[track_caller]
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self { core: BarrierCore::new(n), real: std::sync::Barrier::new(n) }
    }

    /// Waits until `n` threads have arrived. After that the barrier can be used again.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult(match self.core.wait(Location::caller()) {
            Some(leader) => leader,
            None => self.real.wait().is_leader(),
        })
    }

    /// First use in a run.
    pub(crate) fn claim(&self, run: entry::Run) {
        self.core.claim(run.0);
    }

    pub(crate) fn header(&self) -> &crate::runtime::objects::header::Header {
        &self.core.header
    }
}

impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}
