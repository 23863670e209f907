//! `std::sync::mpsc` under control: the unbounded channel.
#![forbid(unsafe_code)]

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, SendError, TryRecvError};

use crate::runtime::entry;
use crate::runtime::objects::channel::ChannelCore;

/// The sending half; may be cloned.
pub struct Sender<T>(SenderKind<T>);

enum SenderKind<T> {
    Real(std::sync::mpsc::Sender<T>),
    Simulated(Arc<ChannelCore<T>>),
}

/// The receiving half.
pub struct Receiver<T>(ReceiverKind<T>);

enum ReceiverKind<T> {
    Real(std::sync::mpsc::Receiver<T>),
    Simulated(Arc<ChannelCore<T>>),
}

/// An unbounded channel. Made inside a run it belongs to that run.
#[track_caller]
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    match entry::channel() {
        Some(core) => (Sender(SenderKind::Simulated(Arc::clone(&core))), Receiver(ReceiverKind::Simulated(core))),
        None => {
            let (sender, receiver) = std::sync::mpsc::channel();
            (Sender(SenderKind::Real(sender)), Receiver(ReceiverKind::Real(receiver)))
        }
    }
}

impl<T> Sender<T> {
    /// Sends a message; never waits.
    ///
    /// # Errors
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SenderKind::Real(sender) => sender.send(value),
            SenderKind::Simulated(core) => core.push(value, Location::caller()).map_err(SendError),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        match &self.0 {
            SenderKind::Real(sender) => Self(SenderKind::Real(sender.clone())),
            SenderKind::Simulated(core) => {
                core.add_sender();
                Self(SenderKind::Simulated(Arc::clone(core)))
            }
        }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let SenderKind::Simulated(core) = &self.0 {
            core.drop_sender(Location::caller());
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    ///
    /// # Errors
    /// If the channel is empty and every sender is gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            ReceiverKind::Real(receiver) => receiver.recv(),
            ReceiverKind::Simulated(core) => core.pop(Location::caller()).ok_or(RecvError),
        }
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    /// `Empty`, or `Disconnected` if every sender is gone too.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            ReceiverKind::Real(receiver) => receiver.try_recv(),
            ReceiverKind::Simulated(core) => match core.try_pop(Location::caller()) {
                (Some(value), _) => Ok(value),
                (None, true) => Err(TryRecvError::Empty),
                (None, false) => Err(TryRecvError::Disconnected),
            },
        }
    }

    /// Messages until every sender is gone.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// Messages that are there now.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let ReceiverKind::Simulated(core) = &self.0 {
            core.drop_receiver(Location::caller());
        }
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

/// Messages until every sender is gone; owns the receiver.
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
