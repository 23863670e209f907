//! The scheduling point of atomics and snapshot cells. Their values are real atomics; the model is sequentially
//! consistent, so the only thing that matters is when an operation happens.

use std::panic::Location;

use crate::monitor::OpKind;

use super::super::point::point;
use super::super::record::{self, Values};
use super::super::rt::{Rt, current};
use super::super::threads;
use super::header::Header;

/// What an atomic operation does after its scheduling point, if it runs in a simulation.
#[derive(Clone, Copy)]
pub(crate) struct Simulated(*mut Rt);

/// The scheduling point before an operation of the given kind. `None` outside simulations.
#[inline(always)]
pub(crate) fn before(header: &Header, kind: OpKind, location: &'static Location<'static>) -> Option<Simulated> {
    let r = current();
    if r.is_null() {
        return None;
    }
    // SAFETY: `r` is this OS thread's runtime, and only controlled threads see it non-null.
    unsafe {
        if !threads::quiet(r) {
            point(r, header.address(), kind, location);
        }
    }
    Some(Simulated(r))
}

impl Simulated {
    /// Notes the operation after it has taken effect.
    #[inline(always)]
    pub(crate) fn after(self, header: &Header, kind: OpKind, success: bool, location: &'static Location<'static>) {
        // SAFETY: as in `before`; the value cannot leave the operation that made it.
        unsafe {
            if (*self.0).track {
                record::executed(self.0, header, kind, success, location);
            }
        }
    }

    /// As [`Self::after`], with the values.
    #[inline(always)]
    pub(crate) fn after_with(
        self,
        header: &Header,
        kind: OpKind,
        success: bool,
        values: impl FnOnce() -> Values,
        location: &'static Location<'static>,
    ) {
        // SAFETY: as in `after`.
        unsafe {
            if (*self.0).track {
                record::executed_with(self.0, header, kind, success, values(), location);
            }
        }
    }

    /// Whether an armed spurious failure of a weak compare-and-swap fires here, if it `would` succeed.
    #[inline(always)]
    pub(crate) fn weak_failure(self, would: bool) -> bool {
        // SAFETY: as in `after`.
        unsafe {
            let (r, armed) = (self.0, (*self.0).settings.weak_cas_failures);
            if armed == 0 || threads::quiet(r) || !record::fault(r, if would { (*r).weak_left } else { 0 }, armed) {
                return false;
            }
            (*self.0).weak_left -= 1;
            (*self.0).fired[1] += 1;
            true
        }
    }
}
