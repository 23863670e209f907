//! `std::time` under control: inside a run, [`Instant`] and [`SystemTime`] are virtual.
#![forbid(unsafe_code)]

mod instant;
mod system_time;

pub use std::time::{Duration, SystemTimeError};

pub use instant::Instant;
pub use system_time::{SystemTime, UNIX_EPOCH};

/// When virtual time may move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Time {
    /// A sleeper whose moment comes first may be woken at any scheduling point: all other threads may be arbitrarily
    /// slow. Finds code that takes a sleep for synchronisation.
    #[default]
    AnyMoment,
    /// Only when nothing else can run: threads are infinitely fast.
    WhenIdle,
}
