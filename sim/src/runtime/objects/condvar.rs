//! The model of condition variables.
//!
//! A wait releases the mutex and joins the set of waiters in one step. `notify_one` wakes *any* waiter: std promises
//! no order, so which one is a choice of the strategy. A woken thread wants the mutex like anybody else. A spurious
//! wake-up (an armed fault) skips the waiting; since taking the mutex again is a scheduling point, that covers a
//! wake-up at any later moment too. A wait with a timeout ends when it is notified or when the clock reaches its moment
//! (see [`clock`]), whichever the strategy lets come first.

use std::cell::Cell;
use std::panic::Location;
use std::time::Duration;

use crate::monitor::OpKind;

use super::super::point::{choose_thread, go_on, point};
use super::super::rt::{MAX_THREADS, Pending, Rt, bits};
use super::super::{claim, clock, deadlock, record, teardown, threads};
use super::header::Header;
use super::lock::{Access, LockCore};

pub(crate) struct CondvarCore {
    pub(crate) header: Header,
    waiters: Cell<u64>,
    /// The mutex that the present waiters released. Two mutexes with one condition variable are refused, as in std.
    mutex: Cell<*const LockCore>,
}

// SAFETY: the cells are used only by the simulation that has claimed the header, on its one OS thread.
unsafe impl Sync for CondvarCore {}
// SAFETY: as for Sync; the pointer is used only while its waiter is suspended in `wait` and borrows the mutex.
unsafe impl Send for CondvarCore {}

/// The mutex of a wait, whose guard was taken apart: let go when the wait begins, or when it is unwound before.
struct Held<'a> {
    mutex: &'a LockCore,
    r: *mut Rt,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: `wait` made this on the thread that holds the mutex, with this OS thread's runtime.
        unsafe { self.mutex.let_go(self.r, Access::Write) }
    }
}

impl CondvarCore {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self { header: Header::new(), waiters: Cell::new(0), mutex: Cell::new(std::ptr::null()) }
    }

    fn enrol(&self, r: *mut Rt) {
        // SAFETY: `r` is this OS thread's runtime; the borrow ends here.
        if !self.header.known(unsafe { &*r }) {
            self.claim(r);
        }
    }

    /// First use in this run: waiters of an earlier one are void.
    #[cold]
    pub(crate) fn claim(&self, r: *mut Rt) {
        claim::claim(r, &self.header, || Ok(()));
        self.waiters.set(0);
    }

    fn check(&self, mutex: &LockCore) {
        if self.waiters.get() != 0 && !std::ptr::eq(self.mutex.get(), mutex) {
            panic!("attempted to use a condition variable with two mutexes");
        }
    }

    /// Releases `mutex`, waits, takes it again. Returns whether the wait ended by its timeout.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread that holds `mutex`.
    pub(crate) unsafe fn wait(
        &self,
        r: *mut Rt,
        mutex: &LockCore,
        timeout: Option<Duration>,
        location: &'static Location<'static>,
    ) -> bool {
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            if threads::quiet(r) {
                self.wait_quietly(r, mutex, location, timeout.is_some());
                return timeout.is_some();
            }
            self.enrol(r);
            let held = Held { mutex, r };
            point(r, self.header.address(), OpKind::Wait, location);
            self.check(mutex);
            let spurious = record::fault(r, (*r).spurious_left, (*r).settings.spurious_wakeups);
            drop(held);
            if (*r).track {
                record::executed(r, &self.header, OpKind::Wait, true, location);
                record::executed(r, &mutex.header, OpKind::Unlock, true, location);
            }
            let me = (*r).cur & (MAX_THREADS - 1);
            let bit = 1u64 << me;
            if spurious {
                (*r).spurious_left -= 1;
                (*r).fired[0] += 1;
                (*r).pending[me] = Pending { at: mutex.header.address(), location, kind: OpKind::Lock };
                mutex.want(r, bit);
            } else {
                (*r).pending[me] = Pending { at: self.header.address(), location, kind: OpKind::Wait };
                self.mutex.set(mutex);
                self.waiters.set(self.waiters.get() | bit);
                (*r).enabled &= !bit;
                if let Some(timeout) = timeout {
                    clock::start(r, timeout);
                }
            }
            go_on(r);
            // Only the clock chooses a thread that nobody has woken.
            let timed_out = self.waiters.get() & bit != 0;
            if timed_out {
                self.time_out(r, mutex, bit, location);
            }
            mutex.take_wanted(r, location);
            timed_out
        }
    }

    /// The wait of the running thread has timed out: it wants the mutex like a thread that was woken.
    #[cold]
    unsafe fn time_out(&self, r: *mut Rt, mutex: &LockCore, bit: u64, location: &'static Location<'static>) {
        // SAFETY: as `wait`.
        unsafe {
            self.waiters.set(self.waiters.get() & !bit);
            if (*r).track {
                record::executed(r, &self.header, OpKind::Wait, false, location);
            }
            (*r).pending[(*r).cur] = Pending { at: mutex.header.address(), location, kind: OpKind::Lock };
            (*r).enabled &= !bit;
            mutex.want(r, bit);
            if mutex.holders() & !(*r).enabled != 0 {
                deadlock::check(r);
            }
            go_on(r);
        }
    }

    /// # Safety
    /// As [`Self::wait`], without the mutex.
    pub(crate) unsafe fn notify(&self, r: *mut Rt, all: bool, location: &'static Location<'static>) {
        let kind = if all { OpKind::NotifyAll } else { OpKind::NotifyOne };
        // SAFETY: as the caller.
        unsafe {
            self.enrol(r);
            if !threads::quiet(r) {
                point(r, self.header.address(), kind, location);
            }
            let waiters = if (*r).cancel { 0 } else { self.waiters.get() };
            let woken =
                if all || waiters & waiters.wrapping_sub(1) == 0 { waiters } else { 1 << choose_thread(r, waiters) };
            if (*r).track {
                record::executed(r, &self.header, kind, true, location);
            }
            if woken != 0 {
                self.wake(r, woken);
            }
        }
    }

    unsafe fn wake(&self, r: *mut Rt, woken: u64) {
        // SAFETY: the waiters' mutex is borrowed by their suspended `wait`.
        unsafe {
            self.waiters.set(self.waiters.get() & !woken);
            if (*r).track {
                bits((*r).sleepers & woken).for_each(|t| record::prevented(r, t, &self.header));
            }
            clock::stop(r, woken);
            let mutex = &*self.mutex.get();
            for t in bits(woken) {
                let location = (*r).pending[t].location;
                if (*r).track {
                    record::woken(r, t);
                }
                (*r).pending[t] = Pending { at: mutex.header.address(), location, kind: OpKind::Lock };
                mutex.want(r, 1 << t);
            }
            if mutex.holders() & !(*r).enabled != 0 {
                deadlock::check(r);
            }
        }
    }

    /// Waiting while unwinding or while the run is torn down: the mutex is let go for a moment.
    #[cold]
    unsafe fn wait_quietly(&self, r: *mut Rt, mutex: &LockCore, location: &'static Location<'static>, timed: bool) {
        // SAFETY: as `wait`.
        unsafe {
            mutex.let_go(r, Access::Write);
            if (*r).cancel {
                teardown::wait_for_progress(r);
            } else if !timed {
                self.enrol(r);
                self.check(mutex);
                let me = (*r).cur & (MAX_THREADS - 1);
                self.mutex.set(mutex);
                self.waiters.set(self.waiters.get() | 1 << me);
                (*r).enabled &= !(1 << me);
                threads::block_while_unwinding(r, self.header.address(), OpKind::Wait, location);
                if !(*r).cancel {
                    return mutex.take_wanted(r, location);
                }
            }
            let free = || true;
            mutex.acquire(r, Access::Write, OpKind::Lock, location, free);
        }
    }
}
