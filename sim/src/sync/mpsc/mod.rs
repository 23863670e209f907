//! `std::sync::mpsc` under control: channels without bound, with a bound, and without buffer.
//!
//! A channel made inside a run belongs to that run; one made outside is std's.
#![forbid(unsafe_code)]

mod receiver;
mod sender;

use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::runtime::entry;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};

/// A channel without bound. Made inside a run it belongs to that run.
#[track_caller]
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    match entry::channel(None) {
        Some(core) => (Sender::simulated(Arc::clone(&core)), Receiver::simulated(core)),
        None => {
            let (sender, receiver) = std::sync::mpsc::channel();
            (Sender::real(sender), Receiver::real(receiver))
        }
    }
}

/// A channel with room for `bound` messages: a send waits while there is none. With a bound of 0 each send waits for
/// the receive that takes its message. Made inside a run it belongs to that run.
#[track_caller]
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    match entry::channel(Some(bound)) {
        Some(core) => (SyncSender::simulated(Arc::clone(&core)), Receiver::simulated(core)),
        None => {
            let (sender, receiver) = std::sync::mpsc::sync_channel(bound);
            (SyncSender::real(sender), Receiver::real(receiver))
        }
    }
}
