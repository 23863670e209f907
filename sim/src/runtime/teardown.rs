//! Unwinding what a failed run left behind.
//!
//! Threads that have not ended are resumed one after the other, the youngest first, and throw at the place where they
//! were suspended, so their destructors run and nothing leaks. A destructor that waits (for a lock whose holder is
//! still suspended, for a thread that it joins) hands control back, and is resumed after the others have had their
//! turn. A thread that cannot get on even so (a destructor that waits for a message, say), or whose destructor panics, is
//! abandoned with its stack; [`Report::abandoned`](crate::Report::abandoned) counts those.

use super::claim;
use super::context;
use super::rt::{RUNNER, Rt, bits};

/// How often a thread may be thrown out of an operation, or yield in a destructor, before it is taken for one that
/// goes on for ever: a loop that catches every panic, a destructor that spins.
pub(crate) const PATIENCE: u32 = 100;

/// Called by a thread that is about to be unwound. One that has caught that over and over is abandoned instead.
///
/// # Safety
/// As [`wait_for_progress`].
#[cold]
pub(crate) unsafe fn unwind_again(r: *mut Rt) {
    // SAFETY: as the caller. The runner never resumes a thread that it was told to abandon.
    unsafe {
        (*r).patience = (*r).patience.saturating_sub(1);
        if (*r).patience == 0 && (*r).cur < RUNNER {
            (*r).aborted |= 1 << (*r).cur;
            context::switch(r, RUNNER);
        }
    }
}

/// Called by a destructor that yields during tear-down: others get their turn once it seems to need them.
///
/// # Safety
/// As [`wait_for_progress`].
#[cold]
pub(crate) unsafe fn yields(r: *mut Rt) {
    // SAFETY: as the caller.
    unsafe {
        (*r).patience = (*r).patience.saturating_sub(1);
        if (*r).patience == 0 {
            wait_for_progress(r);
        }
    }
}

/// Called in a destructor during tear-down that must wait: lets the other threads be unwound first.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread of a run that is being torn down.
#[cold]
pub(crate) unsafe fn wait_for_progress(r: *mut Rt) {
    // SAFETY: as the caller. The runner resumes this thread later, or never.
    unsafe { context::switch(r, RUNNER) }
}

/// Unwinds every thread that has not ended.
///
/// # Safety
/// `r` is this OS thread's runtime, called from the runner.
#[cold]
#[inline(never)]
pub(crate) unsafe fn unwind_all(r: *mut Rt) {
    // SAFETY: as the caller; each slot in `alive` holds a suspended or an unstarted thread.
    unsafe {
        (*r).cancel = true;
        (*r).slow = u64::MAX;
        // Each round either ends a thread or lets one get past a wait; a thread can wait for each of the others.
        let mut rounds = 2 * (*r).alive.count_ones() + 2;
        while (*r).alive != 0 && rounds > 0 {
            rounds -= 1;
            let order: Vec<usize> = by_age(&*r);
            for slot in order {
                if (*r).alive >> slot & 1 == 0 {
                    continue;
                }
                (*r).patience = PATIENCE;
                context::run(r, slot);
                if (*r).aborted >> slot & 1 == 1 {
                    abandon(r, slot);
                }
            }
        }
        for slot in bits((*r).alive) {
            abandon(r, slot);
        }
    }
}

/// Gives up a thread that cannot be unwound.
unsafe fn abandon(r: *mut Rt, slot: usize) {
    // SAFETY: as `unwind_all`; the slot is not alive any more, so nobody switches to it.
    unsafe {
        (*r).alive &= !(1 << slot);
        (*r).aborted &= !(1 << slot);
        context::abandon(r, slot);
        (*r).abandoned += 1;
        claim::thread_was_abandoned();
        (*r).panic_count_leaked |= std::thread::panicking();
    }
}

/// The live slots, the youngest thread first.
fn by_age(r: &Rt) -> Vec<usize> {
    let mut order: Vec<usize> = bits(r.alive).collect();
    order.sort_unstable_by_key(|&slot| std::cmp::Reverse(r.number[slot]));
    order
}
