//! The sending halves.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};

use crate::runtime::objects::channel::ChannelCore;

/// The sending half of a channel without bound; may be cloned.
pub struct Sender<T>(Kind<T, std::sync::mpsc::Sender<T>>);

/// The sending half of a channel with a bound; may be cloned.
pub struct SyncSender<T>(Kind<T, std::sync::mpsc::SyncSender<T>>);

enum Kind<T, R> {
    Real(R),
    Simulated(One<T>),
}

/// One of the senders of a simulated channel.
struct One<T>(Arc<ChannelCore<T>>);

impl<T> Clone for One<T> {
    fn clone(&self) -> Self {
        self.0.add_sender();
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for One<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.0.drop_sender(Location::caller());
    }
}

impl<T, R: Clone> Clone for Kind<T, R> {
    fn clone(&self) -> Self {
        match self {
            Self::Real(sender) => Self::Real(sender.clone()),
            Self::Simulated(one) => Self::Simulated(one.clone()),
        }
    }
}

impl<T> Sender<T> {
    pub(super) fn simulated(core: Arc<ChannelCore<T>>) -> Self {
        Self(Kind::Simulated(One(core)))
    }

    pub(super) fn real(sender: std::sync::mpsc::Sender<T>) -> Self {
        Self(Kind::Real(sender))
    }

    /// Sends a message; never waits.
    ///
    /// # Errors
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Kind::Real(sender) => sender.send(value),
            Kind::Simulated(one) => one.0.push_one(value, Location::caller()).map_err(SendError),
        }
    }
}

impl<T> SyncSender<T> {
    pub(super) fn simulated(core: Arc<ChannelCore<T>>) -> Self {
        Self(Kind::Simulated(One(core)))
    }

    pub(super) fn real(sender: std::sync::mpsc::SyncSender<T>) -> Self {
        Self(Kind::Real(sender))
    }

    /// Sends a message; waits while the buffer is full, or, without buffer, until the message is received.
    ///
    /// # Errors
    /// The message, if the receiver is gone or goes while it is waited for.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Kind::Real(sender) => sender.send(value),
            Kind::Simulated(one) => one.0.push_one(value, Location::caller()).map_err(SendError),
        }
    }

    /// Sends a message if there is room, or, without buffer, if the receiver waits.
    ///
    /// # Errors
    /// The message: `Full` if it would have to wait, `Disconnected` if the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Kind::Real(sender) => sender.try_send(value),
            Kind::Simulated(one) => one.0.try_push(value, Location::caller()),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}
