//! The model of channels without buffer: a message changes hands when both sides are there.
//!
//! Who comes first waits for the other side (`meet`), and everybody can see that it does: a `try_send` succeeds only if
//! the receiver waits, a `try_recv` only if a sender does. Senders are served in the order of arrival, as in std.

use std::panic::Location;
use std::sync::mpsc::{RecvTimeoutError, TrySendError};
use std::time::Duration;

use crate::monitor::OpKind;

use super::super::point::point;
use super::super::rt::{MAX_THREADS, Rt};
use super::channel::ChannelCore;
use super::waiting::{release, suspend};

impl<T> ChannelCore<T> {
    /// `send`.
    ///
    /// # Safety
    /// `r` is this OS thread's runtime, called from a controlled thread, whose `threads::quiet` is `quiet`.
    pub(super) unsafe fn offer(
        &self,
        r: *mut Rt,
        value: T,
        quiet: bool,
        location: &'static Location<'static>,
    ) -> Result<(), T> {
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            if !quiet {
                point(r, self.header.address(), OpKind::Send, location);
            }
            let value = match self.try_offer(r, value, location) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(value)) => return Err(value),
                Err(TrySendError::Full(value)) => value,
            };
            let me = (*r).cur & (MAX_THREADS - 1);
            self.messages().offers.push_back((me, value));
            self.note(r, OpKind::Meet, true, location);
            let waits = || self.is_open() && self.messages().offers.iter().any(|(slot, _)| *slot == me);
            suspend(r, self.header.address(), OpKind::Send, None, quiet, location, waits);
            let refused = {
                let offers = &mut self.messages().offers;
                let at = offers.iter().position(|(slot, _)| *slot == me);
                at.and_then(|at| offers.remove(at))
            };
            self.note(r, OpKind::Send, refused.is_none(), location);
            refused.map_or(Ok(()), |(_, value)| Err(value))
        }
    }

    /// `try_send`, after its scheduling point. A failure that only begins a wait is not noted.
    ///
    /// # Safety
    /// As [`Self::offer`].
    pub(super) unsafe fn try_offer(
        &self,
        r: *mut Rt,
        value: T,
        location: &'static Location<'static>,
    ) -> Result<(), TrySendError<T>> {
        // SAFETY: as the caller.
        unsafe {
            if !self.is_open() {
                self.note(r, OpKind::Send, false, location);
                return Err(TrySendError::Disconnected(value));
            }
            let receiver = self.receiving.replace(0);
            if receiver == 0 {
                return Err(TrySendError::Full(value));
            }
            self.messages().queue.push_back(value);
            self.note(r, OpKind::Send, true, location);
            release(r, receiver);
            Ok(())
        }
    }

    /// `recv` and `recv_timeout`.
    ///
    /// # Safety
    /// As [`Self::offer`].
    pub(super) unsafe fn meet(
        &self,
        r: *mut Rt,
        timeout: Option<Duration>,
        quiet: bool,
        location: &'static Location<'static>,
    ) -> Result<T, RecvTimeoutError> {
        // SAFETY: as the caller; no reference into `*r` is held across a switch.
        unsafe {
            if !quiet {
                point(r, self.header.address(), OpKind::Recv, location);
            }
            let offered = !self.messages().offers.is_empty();
            if offered || !self.has_senders() {
                return self.accept(r, location).ok_or(RecvTimeoutError::Disconnected);
            }
            let bit = 1u64 << ((*r).cur & (MAX_THREADS - 1));
            self.receiving.set(bit);
            self.note(r, OpKind::Meet, true, location);
            let waits = || self.receiving.get() != 0;
            suspend(r, self.header.address(), OpKind::Recv, timeout, quiet, location, waits);
            if self.receiving.replace(0) != 0 {
                // Only the clock chooses a thread that nobody has released. That it waits no more can be seen.
                self.note(r, OpKind::Meet, false, location);
                return Err(RecvTimeoutError::Timeout);
            }
            let value = self.messages().queue.pop_front();
            self.note(r, OpKind::Recv, value.is_some(), location);
            value.ok_or(RecvTimeoutError::Disconnected)
        }
    }

    /// Takes what the sender that has waited longest offers.
    ///
    /// # Safety
    /// As [`Self::offer`].
    pub(super) unsafe fn accept(&self, r: *mut Rt, location: &'static Location<'static>) -> Option<T> {
        let offer = self.messages().offers.pop_front();
        // SAFETY: as the caller.
        unsafe {
            self.note(r, OpKind::Recv, offer.is_some(), location);
            offer.map(|(slot, value)| {
                release(r, 1 << slot);
                value
            })
        }
    }
}
