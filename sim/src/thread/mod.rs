//! `std::thread` under control: the same paths, signatures and semantics.
//!
//! Inside a run, threads are coroutines on the run's OS thread. Starting, ending and joining a thread are causality,
//! not scheduling points. std's `thread_local!` is shared by all threads of a run: see the limits in the crate's
//! documentation.
#![forbid(unsafe_code)]

mod handle;
mod scoped;

pub use std::thread::Result;

pub use handle::{Builder, JoinHandle, Thread, ThreadId, current, spawn};
pub use scoped::{Scope, ScopedJoinHandle, scope};

use std::panic::Location;
use std::time::Duration;

use crate::runtime::{entry, threads};

/// Lets other threads run: a scheduling point. Under PCT the thread falls below all others.
#[track_caller]
pub fn yield_now() {
    if !entry::yield_now(Location::caller()) {
        std::thread::yield_now();
    }
}

/// Suspends the thread; inside a run in virtual time.
#[track_caller]
pub fn sleep(duration: Duration) {
    if !entry::sleep(duration, Location::caller()) {
        std::thread::sleep(duration);
    }
}

/// Waits for the thread's token and takes it. May wake without one (an armed fault inside a run).
#[track_caller]
pub fn park() {
    if !entry::park(Location::caller()) {
        std::thread::park();
    }
}

/// Whether the thread unwinds because of a panic.
#[must_use]
pub fn panicking() -> bool {
    threads::panicking()
}
