//! The model of an unbounded channel.
//!
//! A receive is announced and enabled once there is a message or no sender is left; a send never waits.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::monitor::OpKind;

use super::super::point::point;
use super::super::rt::{MAX_THREADS, Rt};
use super::super::{record, teardown, threads};
use super::header::Header;

pub(crate) struct ChannelCore<T> {
    pub(crate) header: Header,
    /// The number of senders, as an object of its own: only who drops the last one disturbs the receiver.
    ends: Header,
    /// Uncontended: only one controlled thread runs at a time. A real lock keeps this file free of aliasing worries.
    queue: Mutex<VecDeque<T>>,
    /// Atomic, since the two ends may be cloned and dropped on any OS thread.
    senders: AtomicU32,
    receiver: AtomicBool,
    /// Threads that have announced a receive. There is one receiver, so at most one bit.
    waiting: Cell<u64>,
    /// The run that made the channel.
    epoch: u64,
}

// SAFETY: the cells are used only by the run that made the channel, on its one OS thread (`check` refuses others).
unsafe impl<T: Send> Sync for ChannelCore<T> {}
// SAFETY: as for Sync.
unsafe impl<T: Send> Send for ChannelCore<T> {}

impl<T> ChannelCore<T> {
    #[track_caller]
    pub(crate) fn new(r: *mut Rt) -> Self {
        Self {
            header: Header::new(),
            ends: Header::new(),
            queue: Mutex::new(VecDeque::new()),
            senders: AtomicU32::new(1),
            receiver: AtomicBool::new(true),
            waiting: Cell::new(0),
            // SAFETY: `r` is this OS thread's runtime.
            epoch: unsafe { (*r).epoch },
        }
    }

    fn check(&self, r: *mut Rt) {
        // SAFETY: non-null means this OS thread's runtime.
        let here = !r.is_null() && unsafe { (*r).epoch } == self.epoch;
        assert!(here, "interleaf: the channel made at {} is used outside the run that made it", self.header.created);
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message, or gives it back if there is no receiver.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread.
    pub(crate) unsafe fn send(&self, r: *mut Rt, value: T, location: &'static Location<'static>) -> Result<(), T> {
        self.check(r);
        // SAFETY: as the caller.
        unsafe {
            if !threads::quiet(r) {
                point(r, self.header.address(), OpKind::Send, location);
            }
            let open = self.receiver.load(Relaxed);
            let result = if open {
                self.queue().push_back(value);
                (*r).enabled |= self.waiting.get();
                Ok(())
            } else {
                Err(value)
            };
            if (*r).track {
                record::executed(r, &self.header, OpKind::Send, open, location);
            }
            result
        }
    }

    /// Waits for a message; `None` if there is none and no sender is left.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn recv(&self, r: *mut Rt, location: &'static Location<'static>) -> Option<T> {
        self.check(r);
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            if threads::quiet(r) {
                while self.is_waiting() {
                    if (*r).cancel {
                        teardown::wait_for_progress(r);
                    } else {
                        self.waiting.set(bit);
                        (*r).enabled &= !bit;
                        threads::block_while_unwinding(r, self.header.address(), OpKind::Recv, location);
                    }
                }
                self.waiting.set(0);
                return self.queue().pop_front();
            }
            if self.is_waiting() {
                (*r).enabled &= !bit;
            }
            self.waiting.set(bit);
            point(r, self.header.address(), OpKind::Recv, location);
            self.waiting.set(0);
            let value = self.queue().pop_front();
            if (*r).track {
                record::executed(r, &self.header, OpKind::Recv, value.is_some(), location);
            }
            value
        }
    }

    /// Takes a message if there is one. The flag says whether a sender is left.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn try_recv(&self, r: *mut Rt, location: &'static Location<'static>) -> (Option<T>, bool) {
        self.check(r);
        // SAFETY: as the caller.
        unsafe {
            if !threads::quiet(r) {
                point(r, self.header.address(), OpKind::Recv, location);
            }
            let value = self.queue().pop_front();
            if (*r).track {
                record::executed(r, &self.header, OpKind::Recv, value.is_some(), location);
            }
            (value, self.senders.load(Relaxed) > 0)
        }
    }

    fn is_waiting(&self) -> bool {
        self.queue().is_empty() && self.senders.load(Relaxed) > 0
    }

    /// Whoever clones a sender has one, so nobody else's is the last before or after: it commutes with everything.
    pub(crate) fn add_sender(&self) {
        self.senders.fetch_add(1, Relaxed);
    }

    /// A sender is dropped: a scheduling point, since which one is the last depends on the order of the drops. The last
    /// one wakes the receiver, in a step of its own.
    pub(crate) fn remove_sender(&self, r: *mut Rt, location: &'static Location<'static>) {
        // SAFETY: null or this OS thread's runtime, compared with the channel's run first.
        unsafe {
            if r.is_null() || (*r).epoch != self.epoch {
                self.senders.fetch_sub(1, Relaxed);
                return;
            }
            if !threads::quiet_in_drop(r) {
                point(r, self.ends.address(), OpKind::Send, location);
            }
            let last = self.senders.load(Relaxed) == 1;
            if (*r).track {
                record::executed(r, &self.ends, OpKind::Send, true, location);
            }
            if last && !threads::quiet_in_drop(r) {
                point(r, self.header.address(), OpKind::Send, location);
            }
            self.senders.fetch_sub(1, Relaxed);
            if last {
                (*r).enabled |= self.waiting.get();
                if (*r).track {
                    record::executed(r, &self.header, OpKind::Send, true, location);
                }
            }
        }
    }

    /// The receiver is dropped: sends fail from now on, and what was queued is dropped.
    pub(crate) fn remove_receiver(&self, r: *mut Rt, location: &'static Location<'static>) {
        // SAFETY: null or this OS thread's runtime, compared with the channel's run first.
        unsafe {
            let mine = !r.is_null() && (*r).epoch == self.epoch;
            if mine && !threads::quiet_in_drop(r) {
                point(r, self.header.address(), OpKind::Recv, location);
            }
            self.receiver.store(false, Relaxed);
            if mine && (*r).track {
                record::executed(r, &self.header, OpKind::Recv, true, location);
            }
        }
        let rest = std::mem::take(&mut *self.queue());
        drop(rest);
    }
}
