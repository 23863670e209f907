//! The model of channels with a buffer, bounded or not; those without one are in [`super::rendezvous`].
//!
//! A receive is announced and enabled once there is a message or no sender is left; a send into a bounded buffer once
//! there is room or the receiver is gone. Who takes the last room disables the other senders that have announced a send.
//! A receive with a timeout is woken by the clock, too; it times out only if the buffer is empty then, as in std.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::exhaustive::model::{NEVER_WAITS, RECEIVER_GOES_ON, RECEIVER_WAITS};
use crate::monitor::OpKind;

use super::super::point::point;
use super::super::record::Values;
use super::super::rt::{MAX_THREADS, Rt, current};
use super::super::{clock, record, threads};
use super::header::Header;
use super::waiting::{block_quietly, enable, release};

pub(crate) struct ChannelCore<T> {
    pub(crate) header: Header,
    /// Uncontended: only one controlled thread runs at a time. A real lock keeps this file free of aliasing worries.
    messages: Mutex<Messages<T>>,
    /// Room for messages; `None` if there is no bound.
    capacity: Option<usize>,
    /// Atomic, since the two ends may be cloned and dropped on any OS thread.
    senders: AtomicU32,
    receiver: AtomicBool,
    /// Threads that have announced a receive (there is one receiver, so at most one bit); without buffer: that wait.
    pub(super) receiving: Cell<u64>,
    /// Threads that have announced a send into a bounded buffer.
    sending: Cell<u64>,
    /// The run that made the channel.
    epoch: u64,
}

pub(super) struct Messages<T> {
    /// Sent and not received.
    pub(super) queue: VecDeque<T>,
    /// Without buffer: what the senders that wait offer, by slot, in the order of arrival.
    pub(super) offers: VecDeque<(usize, T)>,
}

// SAFETY: the cells are used only by the run that made the channel, on its one OS thread (`check` refuses others).
unsafe impl<T: Send> Sync for ChannelCore<T> {}
// SAFETY: as for Sync.
unsafe impl<T: Send> Send for ChannelCore<T> {}

impl<T> ChannelCore<T> {
    #[track_caller]
    pub(crate) fn new(r: *mut Rt, capacity: Option<usize>) -> Self {
        Self {
            header: Header::new(),
            messages: Mutex::new(Messages { queue: VecDeque::new(), offers: VecDeque::new() }),
            capacity,
            senders: AtomicU32::new(1),
            receiver: AtomicBool::new(true),
            receiving: Cell::new(0),
            sending: Cell::new(0),
            // SAFETY: `r` is this OS thread's runtime.
            epoch: unsafe { (*r).epoch },
        }
    }

    fn check(&self, r: *mut Rt) {
        // SAFETY: non-null means this OS thread's runtime.
        let here = !r.is_null() && unsafe { (*r).epoch } == self.epoch;
        assert!(here, "interleaf: the channel made at {} is used outside the run that made it", self.header.created);
    }

    pub(super) fn messages(&self) -> std::sync::MutexGuard<'_, Messages<T>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the receiver still exists.
    pub(super) fn is_open(&self) -> bool {
        self.receiver.load(Relaxed)
    }

    pub(super) fn has_senders(&self) -> bool {
        self.senders.load(Relaxed) > 0
    }

    fn is_full(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.messages().queue.len() >= capacity)
    }

    fn is_rendezvous(&self) -> bool {
        self.capacity == Some(0)
    }

    /// Notes an operation that has taken effect.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(super) unsafe fn note(&self, r: *mut Rt, kind: OpKind, success: bool, location: &'static Location<'static>) {
        // SAFETY: as the caller.
        unsafe { self.note_as(r, kind, success, false, location) }
    }

    /// Likewise, also of an operation that may have had to wait for a message.
    unsafe fn note_as(
        &self,
        r: *mut Rt,
        kind: OpKind,
        success: bool,
        waits: bool,
        location: &'static Location<'static>,
    ) {
        // SAFETY: as `note`.
        unsafe {
            if (*r).track {
                let value = if self.is_waiting() { RECEIVER_WAITS } else { RECEIVER_GOES_ON };
                let values = Values { found: 0, value, expected: if waits { 0 } else { NEVER_WAITS } };
                record::executed_with(r, &self.header, kind, success, values, location);
            }
        }
    }

    /// Sends a message, waiting for room; gives it back if there is no receiver.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread.
    pub(crate) unsafe fn send(&self, r: *mut Rt, value: T, location: &'static Location<'static>) -> Result<(), T> {
        self.check(r);
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            let quiet = threads::quiet(r);
            if self.is_rendezvous() {
                return self.offer(r, value, quiet, location);
            }
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            if quiet {
                while self.is_full() && self.is_open() {
                    self.sending.set(self.sending.get() | bit);
                    block_quietly(r, self.header.address(), OpKind::Send, location);
                }
            } else {
                if self.capacity.is_some() {
                    self.sending.set(self.sending.get() | bit);
                    if self.is_full() && self.is_open() {
                        (*r).enabled &= !bit;
                    }
                }
                point(r, self.header.address(), OpKind::Send, location);
            }
            self.sending.set(self.sending.get() & !bit);
            self.push(r, value, location)
        }
    }

    /// Sends a message if that is possible at once.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn try_send(
        &self,
        r: *mut Rt,
        value: T,
        location: &'static Location<'static>,
    ) -> Result<(), TrySendError<T>> {
        self.check(r);
        // SAFETY: as the caller.
        unsafe {
            if !threads::quiet(r) {
                point(r, self.header.address(), OpKind::Send, location);
            }
            if self.is_rendezvous() {
                let result = self.try_offer(r, value, location);
                if let Err(TrySendError::Full(_)) = result {
                    self.note(r, OpKind::Send, false, location);
                }
                return result;
            }
            if self.is_open() && self.is_full() {
                self.note(r, OpKind::Send, false, location);
                return Err(TrySendError::Full(value));
            }
            self.push(r, value, location).map_err(TrySendError::Disconnected)
        }
    }

    /// A send that has become possible takes effect.
    unsafe fn push(&self, r: *mut Rt, value: T, location: &'static Location<'static>) -> Result<(), T> {
        // SAFETY: as `send`.
        unsafe {
            let open = self.is_open();
            let result = if open {
                self.messages().queue.push_back(value);
                if self.sending.get() != 0 && self.is_full() {
                    (*r).enabled &= !self.sending.get();
                }
                enable(r, self.receiving.get());
                Ok(())
            } else {
                Err(value)
            };
            self.note(r, OpKind::Send, open, location);
            result
        }
    }

    /// Waits for a message, not longer than `timeout`.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn recv(
        &self,
        r: *mut Rt,
        timeout: Option<Duration>,
        location: &'static Location<'static>,
    ) -> Result<T, RecvTimeoutError> {
        self.check(r);
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            let quiet = threads::quiet(r);
            if self.is_rendezvous() {
                return self.meet(r, timeout, quiet, location);
            }
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            if quiet {
                // A thread that unwinds does not wait for a timeout.
                while self.is_waiting() && timeout.is_none() {
                    self.receiving.set(bit);
                    block_quietly(r, self.header.address(), OpKind::Recv, location);
                }
            } else {
                if self.is_waiting() {
                    (*r).enabled &= !bit;
                    if let Some(timeout) = timeout {
                        clock::start(r, timeout);
                    }
                }
                self.receiving.set(bit);
                point(r, self.header.address(), OpKind::Recv, location);
            }
            self.receiving.set(0);
            match self.pop(r, timeout.is_none(), location) {
                Some(value) => Ok(value),
                None if self.has_senders() => Err(RecvTimeoutError::Timeout),
                None => Err(RecvTimeoutError::Disconnected),
            }
        }
    }

    /// Takes a message if there is one.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn try_recv(&self, r: *mut Rt, location: &'static Location<'static>) -> Result<T, TryRecvError> {
        self.check(r);
        // SAFETY: as the caller.
        unsafe {
            if !threads::quiet(r) {
                point(r, self.header.address(), OpKind::Recv, location);
            }
            let value = if self.is_rendezvous() { self.accept(r, location) } else { self.pop(r, false, location) };
            match value {
                Some(value) => Ok(value),
                None if self.has_senders() => Err(TryRecvError::Empty),
                None => Err(TryRecvError::Disconnected),
            }
        }
    }

    /// A receive takes effect: there is room again.
    unsafe fn pop(&self, r: *mut Rt, waits: bool, location: &'static Location<'static>) -> Option<T> {
        // SAFETY: as `send`.
        unsafe {
            let value = self.messages().queue.pop_front();
            if value.is_some() {
                (*r).enabled |= self.sending.get();
            }
            self.note_as(r, OpKind::Recv, value.is_some(), waits, location);
            value
        }
    }

    fn is_waiting(&self) -> bool {
        self.messages().queue.is_empty() && self.has_senders()
    }

    pub(crate) fn add_sender(&self) {
        let r = current();
        // SAFETY: null or this OS thread's runtime, compared with the channel's run first.
        unsafe {
            if !r.is_null() && (*r).epoch == self.epoch && (*r).track {
                record::touched_object(r, &self.header, OpKind::Send);
            }
        }
        self.senders.fetch_add(1, Relaxed);
    }

    /// A sender is dropped. The last one wakes the receiver; that can be observed, so it is a scheduling point.
    pub(crate) fn remove_sender(&self, r: *mut Rt, location: &'static Location<'static>) {
        let last = self.senders.load(Relaxed) == 1;
        // SAFETY: null or this OS thread's runtime, compared with the channel's run first.
        unsafe {
            if r.is_null() || (*r).epoch != self.epoch {
                self.senders.fetch_sub(1, Relaxed);
                return;
            }
            if last && !threads::quiet_in_drop(r) {
                point(r, self.header.address(), OpKind::Send, location);
            }
            self.senders.fetch_sub(1, Relaxed);
            if last {
                if self.is_rendezvous() {
                    release(r, self.receiving.replace(0));
                } else {
                    enable(r, self.receiving.get());
                }
                self.note(r, OpKind::Send, true, location);
            } else if (*r).track {
                record::touched_object(r, &self.header, OpKind::Send);
            }
        }
    }

    /// The receiver is dropped: sends fail from now on, and what was queued is dropped.
    pub(crate) fn remove_receiver(&self, r: *mut Rt, location: &'static Location<'static>) {
        // SAFETY: null or this OS thread's runtime, compared with the channel's run first.
        unsafe {
            let mine = !r.is_null() && (*r).epoch == self.epoch;
            if mine && self.has_senders() && !threads::quiet_in_drop(r) {
                point(r, self.header.address(), OpKind::Recv, location);
            }
            self.receiver.store(false, Relaxed);
            if mine {
                (*r).enabled |= self.sending.get();
                // What is offered goes back to who offers it.
                let offering = self.messages().offers.iter().fold(0, |mask, (slot, _)| mask | 1u64 << slot);
                release(r, offering);
                self.note(r, OpKind::Recv, true, location);
            }
        }
        let rest = std::mem::take(&mut self.messages().queue);
        drop(rest);
    }
}
