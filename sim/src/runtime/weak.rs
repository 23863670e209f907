//! What is noted of operations that the memory model decides on, and of runs in which plain cells are checked.

use std::panic::Location;

use crate::memory::MemoryModel;
use crate::memory::explain::explain;
use crate::memory::graph::Id;
use crate::monitor::{OpKind, Phase};
use crate::trace::Stale;

use super::objects::header::Header;
use super::record::{ThreadTrack, Values, event, explored, mix, order, set_tracking, show};
use super::rt::{MAX_THREADS, Rt};
use super::threads;

/// Tracking begins in the middle of a run: what happened before is not looked at.
#[cold]
pub(crate) fn track_from_now(r: &mut Rt) {
    if r.track {
        return;
    }
    r.tracks.reset(false, false);
    for _ in 0..r.threads.len() {
        r.tracks.threads.push(ThreadTrack::new(0, String::new()));
    }
    for index in 0..r.objects {
        r.tracks.enrol(index, Location::caller());
    }
    set_tracking(r, true);
}

/// Hash of the order of the whole run: of the happens-before order of all operations, or of the execution graph and of
/// the order of the operations that are not in it.
pub(crate) fn interleaving(r: &Rt) -> u64 {
    let order = r.tracks.interleaving();
    match &r.memory {
        Some(memory) if memory.model != MemoryModel::Sc => {
            mix(order, memory.fingerprint(&|number| threads::path_hash(r, number)))
        }
        _ => order,
    }
}

/// The running thread's operation on an atomic has taken effect. Under a weak memory model it is in the execution graph
/// already, and the order of the run means nothing.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn executed_on_atomic(
    r: *mut Rt,
    header: &Header,
    kind: OpKind,
    success: bool,
    values: Values,
    location: &'static Location<'static>,
) {
    // SAFETY: as the caller; the borrow ends before the event is shown.
    unsafe {
        if (*r).settings.memory_model == MemoryModel::Sc {
            let r = &mut *r;
            let (index, number) = (header.index(r), r.number[r.cur & (MAX_THREADS - 1)]);
            order(r, number, index, kind, success);
            explored(r, index, kind, success, values);
        }
        event(r, header, kind, Phase::Executed, success, location);
    }
}

/// The next event to be shown is that of an operation on an atomic: explains it if it did not see the latest store.
pub(crate) fn explained(r: &mut Rt, event: Id) {
    let Some(events) = &r.tracks.events else { return };
    let at = events.len();
    let Some(memory) = &r.memory else { return };
    if let Some(why) = explain(&memory.graph, event, &|number| threads::label(r, number)) {
        r.tracks.stale.push(Stale { event: at, why });
    }
}

/// The running thread has passed a fence that means something.
///
/// # Safety
/// `r` is this OS thread's runtime.
pub(crate) unsafe fn fenced(r: *mut Rt, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe { show(r, (*r).cur & (MAX_THREADS - 1), None, OpKind::Fence, Phase::Executed, true, location) }
}
