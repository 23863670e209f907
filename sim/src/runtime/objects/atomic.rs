//! The scheduling point of atomics and snapshot cells, and their values where somebody looks or the memory model is
//! weak.
//!
//! Their values are real atomics. Under sequential consistency the only thing that matters is when an operation happens;
//! under a weak model the real atomic holds the last store of the modification order, and what is read is a choice.

use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::exhaustive::shape::Shape;
use crate::memory::MemoryModel;
use crate::memory::state::{Access, Attempt};
use crate::monitor::OpKind;

use super::super::point::{choose, point};
use super::super::record::{self, Values};
use super::super::rt::{MAX_THREADS, Rt, current};
use super::super::{threads, weak};
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

/// An operation on an atomic, for those who look.
pub(crate) struct Operation<'a> {
    pub(crate) header: &'a Header,
    pub(crate) kind: OpKind,
    pub(crate) order: Ordering,
    pub(crate) access: Access,
    /// What a compare-and-swap wants to find, also if it fails without reason; what an update is given.
    pub(crate) expected: u64,
    /// The type of the values.
    pub(crate) shape: Shape,
    pub(crate) location: &'static Location<'static>,
}

/// What it did.
pub(crate) struct Done {
    /// The value that it found.
    pub(crate) found: u64,
    /// Whether it wrote.
    pub(crate) wrote: bool,
    /// The value that the atomic ends with, in the modification order.
    pub(crate) last: u64,
}

impl Simulated {
    /// Whether somebody looks at the operation: then it goes through [`Self::perform`].
    #[inline(always)]
    pub(crate) fn is_watched(self) -> bool {
        // SAFETY: as in `before`; the value cannot leave the operation that made it.
        unsafe { (*self.0).track }
    }

    /// Notes an operation of an object other than an atomic after it has taken effect.
    #[inline(always)]
    pub(crate) fn after(self, header: &Header, kind: OpKind, success: bool, location: &'static Location<'static>) {
        // SAFETY: as in `is_watched`.
        unsafe {
            if (*self.0).track {
                record::executed(self.0, header, kind, success, location);
            }
        }
    }

    /// Notes a compare-and-swap of something that is no number. What it found agrees with how it ended in no way that it
    /// could for an atomic, so that others can tell: see `Access::is_opaque`.
    #[inline(always)]
    pub(crate) fn after_exchange(self, header: &Header, swapped: bool, location: &'static Location<'static>) {
        let values = Values { found: swapped.into(), ..Values::default() };
        // SAFETY: as in `is_watched`.
        unsafe {
            if (*self.0).track {
                record::executed_with(self.0, header, OpKind::Cas, swapped, values, location);
            }
        }
    }

    /// Does the operation on an atomic whose value is `present`, and notes it. `change` is what a read-modify-write makes
    /// of the value that it finds.
    #[inline(never)]
    pub(crate) fn perform(self, op: &Operation<'_>, present: u64, change: &mut dyn FnMut(u64) -> u64) -> Done {
        let r = self.0;
        // SAFETY: as in `is_watched`; no reference into `*r` is held where somebody is asked.
        unsafe {
            let done = if (*r).settings.memory_model == MemoryModel::Sc || (*r).cancel {
                let done = strongly(op.access, present, change);
                order(r, op, done.wrote);
                done
            } else {
                weakly(r, op, present, change)
            };
            let spurious = op.kind == OpKind::Cas && matches!(op.access, Access::Load);
            let values =
                Values { found: done.found, value: done.last, expected: op.expected, shape: op.shape, spurious };
            let success = done.wrote || op.kind != OpKind::Cas;
            weak::executed_on_atomic(r, op.header, op.kind, success, values, op.location);
            done
        }
    }

    /// Whether an armed spurious failure of a weak compare-and-swap fires here, if it `would` succeed.
    #[inline(always)]
    pub(crate) fn weak_failure(self, would: bool) -> bool {
        // SAFETY: as in `is_watched`.
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

/// The operation on the only value that there is.
fn strongly(access: Access, present: u64, change: &mut dyn FnMut(u64) -> u64) -> Done {
    let new = match access {
        Access::Load => None,
        Access::Store { value } => Some(value),
        Access::Rmw => Some(change(present)),
        Access::Cas { expected, new, .. } => (present == expected).then_some(new),
    };
    Done { found: present, wrote: new.is_some(), last: new.unwrap_or(present) }
}

/// Notes what a sequentially consistent operation orders, if plain cells are checked.
unsafe fn order(r: *mut Rt, op: &Operation<'_>, wrote: bool) {
    // SAFETY: as the caller; the borrow ends here.
    let r = unsafe { &mut *r };
    if r.memory.is_some() && !r.cancel {
        let (object, thread) = (op.header.index(r), r.number[r.cur & (MAX_THREADS - 1)]);
        let order = match op.access {
            Access::Cas { failure, .. } if !wrote => failure,
            _ => op.order,
        };
        let reads = !matches!(op.access, Access::Store { .. });
        if let Some(memory) = &mut r.memory {
            memory.ordered(thread, object, order, reads, wrote);
        }
    }
}

/// The operation with one of its consistent outcomes.
unsafe fn weakly(r: *mut Rt, op: &Operation<'_>, present: u64, change: &mut dyn FnMut(u64) -> u64) -> Done {
    // SAFETY: as the caller; the borrows of the memory end before the strategy is asked.
    unsafe {
        let thread = (*r).number[(*r).cur & (MAX_THREADS - 1)];
        let object = op.header.index(&mut *r);
        let (attempt, options) = {
            let Some(memory) = &mut (*r).memory else { return strongly(op.access, present, change) };
            let loc = memory.locate(object, present, op.header.created);
            let attempt = Attempt { thread, loc, order: op.order, access: op.access, place: op.location };
            // A thread that unwinds makes no choices.
            let options = if threads::is_unwinding(r) { 1 } else { memory.options(&attempt) };
            memory.decide(&attempt, options, change);
            memory.is_choosing = true;
            (attempt, options)
        };
        let back = choose(r, options);
        let Some(memory) = &mut (*r).memory else { return strongly(op.access, present, change) };
        memory.is_choosing = false;
        let event = memory.commit(&attempt, back, change);
        let wrote = memory.graph.event(event).kind.writes();
        let done = Done { found: memory.found(event), wrote, last: memory.graph.last_value(attempt.loc) };
        weak::explained(&mut *r, event);
        done
    }
}

/// A memory fence of the running thread. False outside simulations.
pub(crate) fn fence(order: Ordering, location: &'static Location<'static>) -> bool {
    let r = current();
    if r.is_null() {
        return false;
    }
    // SAFETY: as in `before`.
    unsafe {
        if (*r).track {
            watched_fence(r, order, location);
        }
    }
    true
}

/// Under sequential consistency a fence orders nothing that is not ordered already, so it is no scheduling point.
#[cold]
unsafe fn watched_fence(r: *mut Rt, order: Ordering, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        if (*r).settings.memory_model != MemoryModel::Sc && !threads::quiet(r) {
            point(r, (*r).cur, OpKind::Fence, location);
        }
        let thread = (*r).number[(*r).cur & (MAX_THREADS - 1)];
        if let Some(memory) = &mut (*r).memory {
            memory.fence(thread, order, location);
            weak::fenced(r, location);
        }
    }
}
