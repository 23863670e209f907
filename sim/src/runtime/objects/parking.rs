//! `park` and `unpark`: one token a thread.

use std::panic::Location;
use std::time::Duration;

use crate::exhaustive::record::Object;
use crate::monitor::OpKind;

use super::super::point::point;
use super::super::rt::{MAX_THREADS, Rt};
use super::super::{clock, record, teardown, threads};
use super::waiting::enable;

/// Waits for the running thread's token, not longer than `timeout`, and takes it.
///
/// # Safety
/// `r` is this OS thread's runtime, called from a controlled thread.
pub(crate) unsafe fn park(r: *mut Rt, timeout: Option<Duration>, location: &'static Location<'static>) {
    // SAFETY: as the caller; no reference into `*r` is held across a switch.
    unsafe {
        let me = (*r).cur & (MAX_THREADS - 1);
        let bit = 1u64 << me;
        if threads::quiet(r) {
            // std allows a park to return without a token; a thread that unwinds takes that liberty.
            if (*r).tokens & bit == 0 && (*r).cancel && timeout.is_none() {
                teardown::wait_for_progress(r);
            }
            (*r).tokens &= !bit;
            return;
        }
        if record::fault(r, (*r).spurious_left) {
            (*r).spurious_left -= 1;
            (*r).fired[0] += 1;
            return point(r, me, OpKind::Yield, location);
        }
        if (*r).tokens & bit == 0 {
            (*r).parked |= bit;
            (*r).enabled &= !bit;
            if let Some(timeout) = timeout {
                clock::start(r, timeout);
            }
        }
        point(r, me, OpKind::Park, location);
        (*r).tokens &= !bit;
        (*r).parked &= !bit;
        if (*r).track {
            record::executed_on_thread(r, me, OpKind::Park, location);
        }
    }
}

/// Gives a token to the thread in `slot` with number `number`, if it is still alive.
///
/// # Safety
/// As [`park`].
pub(crate) unsafe fn unpark(r: *mut Rt, slot: usize, number: u32, location: &'static Location<'static>) {
    // SAFETY: as the caller.
    unsafe {
        if !threads::quiet(r) {
            point(r, slot, OpKind::Unpark, location);
        }
        if (*r).track {
            record::touched(r, Object::End(number), OpKind::Load);
        }
        if threads::is_alive(r, slot, number) {
            let bit = 1u64 << slot;
            (*r).tokens |= bit;
            enable(r, bit & (*r).parked);
            if (*r).track {
                record::executed_on_thread(r, slot, OpKind::Unpark, location);
            }
        }
    }
}
