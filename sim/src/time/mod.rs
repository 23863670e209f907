//! `std::time` under control: inside a run, [`Instant`] is virtual.
#![forbid(unsafe_code)]

mod instant;

pub use std::time::Duration;

pub use instant::Instant;

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
