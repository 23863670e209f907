//! `std::thread` under control: the same paths, signatures and semantics.
//!
//! Inside a run, threads are coroutines on the run's OS thread. Starting, ending and joining a thread are causality,
//! not scheduling points. Each has its own values of [`thread_local!`](crate::thread_local); std's are shared by all
//! threads of a run: see the limits in the crate's documentation.
#![forbid(unsafe_code)]

mod handle;
mod local;
mod scoped;

pub use std::thread::Result;

pub use handle::{Builder, JoinHandle, Thread, ThreadId, current, spawn};
pub use local::{AccessError, LocalKey};
pub use scoped::{Scope, ScopedJoinHandle, scope};

use std::io;
use std::num::NonZero;
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

/// As [`sleep`], in milliseconds.
#[deprecated(note = "replaced by `thread::sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(u64::from(ms)));
}

/// Waits for the thread's token and takes it. May wake without one (an armed fault inside a run).
#[track_caller]
pub fn park() {
    if !entry::park(None, Location::caller()) {
        std::thread::park();
    }
}

/// As [`park`], but not longer than `timeout`; inside a run that is virtual time.
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    if !entry::park(Some(timeout), Location::caller()) {
        std::thread::park_timeout(timeout);
    }
}

/// As [`park_timeout`], in milliseconds.
#[deprecated(note = "replaced by `thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(u64::from(ms)));
}

/// How many threads make sense. Inside a run that is 2 on every machine, so that a run does not depend on where it is
/// made, and small, so that pools of that size can be searched.
///
/// # Errors
/// Outside simulations, if the system does not say.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    if entry::simulated() { Ok(SIMULATED_PARALLELISM) } else { std::thread::available_parallelism() }
}

/// What [`available_parallelism`] gives inside a run.
const SIMULATED_PARALLELISM: NonZero<usize> = NonZero::new(2).unwrap();

/// Whether the thread unwinds because of a panic.
#[must_use]
pub fn panicking() -> bool {
    threads::panicking()
}
