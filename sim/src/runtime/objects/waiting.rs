//! Operations in two halves: the thread does the first, others see it wait, and one of them releases it.
//!
//! Who is released goes on to its next announcement before the next choice is made, as a thread whose `join` has become
//! possible does: nothing that another thread could observe happens on the way, so it is no choice when that is.

use std::panic::Location;
use std::time::Duration;

use crate::monitor::OpKind;

use super::super::point::go_on;
use super::super::rt::{MAX_THREADS, Pending, Rt, bits};
use super::super::{clock, record, teardown, threads};

/// Suspends the running thread until [`release`] or the clock lets it go on. `waits` says whether nobody has released
/// it, for a thread that unwinds (`quiet`) and is resumed for other reasons. Such a thread does not wait for a timeout.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread; the object at `at` outlives the call.
pub(crate) unsafe fn suspend(
    r: *mut Rt,
    at: usize,
    kind: OpKind,
    timeout: Option<Duration>,
    quiet: bool,
    location: &'static Location<'static>,
    waits: impl Fn() -> bool,
) {
    // SAFETY: as the caller; no reference into `*r` is held across a switch.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        if quiet {
            while waits() && timeout.is_none() {
                block_quietly(r, at, kind, location);
            }
            return;
        }
        (*r).pending[me] = Pending { at, location, kind };
        (*r).enabled &= !(1 << me);
        if let Some(timeout) = timeout {
            clock::start(r, timeout);
        }
        go_on(r);
    }
}

/// One turn of the wait of a thread that unwinds: it must look again afterwards.
///
/// # Safety
/// As [`suspend`].
#[cold]
pub(crate) unsafe fn block_quietly(r: *mut Rt, at: usize, kind: OpKind, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        if (*r).cancel {
            teardown::wait_for_progress(r);
        } else {
            (*r).enabled &= !(1 << ((*r).cur & (MAX_THREADS - 1)));
            threads::block_while_unwinding(r, at, kind, location);
        }
    }
}

/// Lets the suspended threads in `who` go on.
///
/// # Safety
/// `r` is this OS thread's runtime; the threads in `who` are suspended in [`suspend`].
pub(crate) unsafe fn release(r: *mut Rt, who: u64) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        clock::stop(r, who);
        if (*r).track {
            bits(who).for_each(|t| record::woken(r, t));
        }
        (*r).enabled |= who;
        (*r).eager |= who;
    }
}

/// Enables the threads in `who`, whose announced operation has become possible; they do not wait for the clock any more.
///
/// # Safety
/// `r` is this OS thread's runtime.
#[inline(always)]
pub(crate) unsafe fn enable(r: *mut Rt, who: u64) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        if (*r).sleepers & who != 0 {
            clock::stop(r, who);
        }
        (*r).enabled |= who;
    }
}
