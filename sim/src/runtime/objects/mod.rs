//! The models of the sync objects: what an operation disables, what it enables, and the value behind a lock.

pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod cell;
pub(crate) mod channel;
pub(crate) mod condvar;
pub(crate) mod guarded;
pub(crate) mod header;
pub(crate) mod lock;
pub(crate) mod once;
pub(crate) mod parking;
pub(crate) mod per_run;
mod rendezvous;
pub(crate) mod waiting;
