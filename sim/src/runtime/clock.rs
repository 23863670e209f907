//! Virtual time.
//!
//! Time stands still while threads run. It moves when a sleeper is woken: the sleeper whose moment comes first may be
//! chosen at any scheduling point, like any other thread (all others may be arbitrarily slow), and choosing it moves
//! the clock to its moment. With [`crate::Time::WhenIdle`] that happens only when nothing else can run.

use std::panic::Location;
use std::time::Duration;

use crate::exhaustive::record::Object;
use crate::monitor::OpKind;

use super::point::{give_way, point};
use super::rt::{MAX_THREADS, Rt, SLOW_TIME, bits};
use super::{ask, record, threads};

/// Virtual time ends before this many seconds.
const NEVER: u64 = 1 << 62;

/// Suspends the running thread for `duration` of virtual time.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread.
pub(crate) unsafe fn sleep(r: *mut Rt, duration: Duration, location: &'static Location<'static>) {
    // SAFETY: as the caller; no reference is held across the switch.
    unsafe {
        if threads::quiet(r) {
            return;
        }
        let me = (*r).cur & (MAX_THREADS - 1);
        start(r, duration);
        point(r, me, OpKind::Sleep, location);
        if (*r).track {
            record::executed_on_thread(r, me, OpKind::Sleep, location);
        }
    }
}

/// Lets the running thread, which cannot go on otherwise, be woken by the clock after `duration`. A moment that no
/// [`Instant`](crate::time::Instant) stands for never comes, as in std.
///
/// # Safety
/// As [`sleep`].
pub(crate) unsafe fn start(r: *mut Rt, duration: Duration) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        (*r).enabled &= !(1 << me);
        if let Some(moment) = (*r).now.checked_add(duration).filter(|moment| moment.as_secs() < NEVER) {
            (*r).wake_at[me] = moment;
            (*r).sleepers |= 1 << me;
            (*r).slow |= SLOW_TIME;
            enable_first(r);
        }
        record::touched(r, Object::Clock, OpKind::Load);
        give_way(r);
    }
}

/// The threads in `woken` do not wait for the clock any more.
///
/// # Safety
/// As [`sleep`].
pub(crate) unsafe fn stop(r: *mut Rt, woken: u64) {
    // SAFETY: as the caller; nothing switches here.
    unsafe {
        let timed = (*r).sleepers & woken;
        if timed != 0 {
            (*r).sleepers &= !timed;
            (*r).enabled &= !timed;
            record::touched(r, Object::Clock, OpKind::Store);
            if (*r).sleepers == 0 {
                (*r).slow &= !SLOW_TIME;
            }
            enable_first(r);
        }
    }
}

/// Enables the sleepers whose moment comes first (or, if time moves only when idle, has come), and no other.
unsafe fn enable_first(r: *mut Rt) {
    // SAFETY: as `sleep`; nothing switches here.
    let r = unsafe { &mut *r };
    r.enabled &= !r.sleepers;
    let first = if r.settings.time_when_idle { Some(r.now) } else { bits(r.sleepers).map(|t| r.wake_at[t]).min() };
    if let Some(first) = first {
        r.enabled |= first_sleepers(r, first);
    }
}

fn first_sleepers(r: &Rt, first: Duration) -> u64 {
    bits(r.sleepers).filter(|&t| r.wake_at[t] <= first).fold(0, |mask, t| mask | 1 << t)
}

/// Nobody can run: moves the clock to the next moment at which somebody can. False if there is none.
///
/// # Safety
/// As [`sleep`].
pub(crate) unsafe fn advance_if_idle(r: *mut Rt) -> bool {
    // SAFETY: as `sleep`.
    let r = unsafe { &mut *r };
    match bits(r.sleepers).map(|t| r.wake_at[t]).min() {
        Some(first) => {
            r.enabled |= first_sleepers(r, first);
            ask::idle(r);
            true
        }
        None => false,
    }
}

/// A thread was chosen: if it slept, its moment has come.
///
/// # Safety
/// As [`sleep`].
#[inline(always)]
pub(crate) unsafe fn chosen(r: *mut Rt, t: usize) {
    // SAFETY: as `sleep`.
    unsafe {
        if (*r).sleepers >> t & 1 == 1 {
            (*r).now = (*r).now.max((*r).wake_at[t]);
            (*r).sleepers &= !(1 << t);
            record::touched(r, Object::Clock, OpKind::Store);
            if (*r).sleepers == 0 {
                (*r).slow &= !SLOW_TIME;
            }
            enable_first(r);
        }
    }
}
