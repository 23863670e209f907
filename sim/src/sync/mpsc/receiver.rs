//! The receiving half and its iterators.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use crate::runtime::objects::channel::ChannelCore;

/// The receiving half of a channel.
pub struct Receiver<T>(Kind<T>);

enum Kind<T> {
    Real(std::sync::mpsc::Receiver<T>),
    Simulated(Arc<ChannelCore<T>>),
}

impl<T> Receiver<T> {
    pub(super) fn simulated(core: Arc<ChannelCore<T>>) -> Self {
        Self(Kind::Simulated(core))
    }

    pub(super) fn real(receiver: std::sync::mpsc::Receiver<T>) -> Self {
        Self(Kind::Real(receiver))
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// If the channel is empty and every sender is gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            Kind::Real(receiver) => receiver.recv(),
            Kind::Simulated(core) => core.pop_one(None, Location::caller()).map_err(|_| RecvError),
        }
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    /// `Empty`, or `Disconnected` if every sender is gone too.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            Kind::Real(receiver) => receiver.try_recv(),
            Kind::Simulated(core) => core.try_pop(Location::caller()),
        }
    }

    /// Waits for a message, but not longer than `timeout`; inside a run that is virtual time.
    ///
    /// # Errors
    /// `Timeout` if the channel is still empty when the time is up, `Disconnected` if it is empty and every sender is gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Kind::Real(receiver) => receiver.recv_timeout(timeout),
            Kind::Simulated(core) => core.pop_one(Some(timeout), Location::caller()),
        }
    }

    /// Messages until every sender is gone.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self }
    }

    /// Messages that are there now.
    #[must_use]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Kind::Simulated(core) = &self.0 {
            core.drop_receiver(Location::caller());
        }
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

/// Messages until every sender is gone; borrows the receiver.
#[derive(Debug)]
pub struct Iter<'a, T> {
    rx: &'a Receiver<T>,
}

/// Messages that are there now; borrows the receiver.
#[derive(Debug)]
pub struct TryIter<'a, T> {
    rx: &'a Receiver<T>,
}

/// Messages until every sender is gone; owns the receiver.
#[derive(Debug)]
pub struct IntoIter<T> {
    rx: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rx: self }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
