//! The time of day: a fixed moment plus virtual time inside a run, the system's clock outside.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::{Duration, SystemTimeError};

use crate::runtime::entry;

/// A point in the time of day, with the interface of [`std::time::SystemTime`].
///
/// Every run begins at 2020-01-01T00:00:00Z; from there it moves as [`Instant`](super::Instant) does, and never backwards. A point in time is the same thing inside and outside of runs, so the two may be mixed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// 1970-01-01T00:00:00Z.
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

/// Time from [`UNIX_EPOCH`] to the moment at which every run begins: 2020-01-01T00:00:00Z.
const START_OF_RUN: Duration = Duration::from_secs(1_577_836_800);

impl SystemTime {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(std::time::SystemTime::UNIX_EPOCH);

    /// The present moment. No scheduling point, and time does not move.
    #[must_use]
    pub fn now() -> Self {
        match entry::now() {
            Some(now) => Self(std::time::SystemTime::UNIX_EPOCH + START_OF_RUN + now),
            None => Self(std::time::SystemTime::now()),
        }
    }

    /// Time since `earlier`.
    ///
    /// # Errors
    /// If that is later; the error says by how much.
    pub fn duration_since(&self, earlier: Self) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// Time since this moment.
    ///
    /// # Errors
    /// If it is yet to come; the error says when.
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        Self::now().duration_since(*self)
    }

    /// A later moment, if it can be represented.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// An earlier moment, if it can be represented.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Add<Duration> for SystemTime {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for SystemTime {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration)
    }
}

impl SubAssign<Duration> for SystemTime {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

/// For what takes std's: the time of a file, say.
impl From<SystemTime> for std::time::SystemTime {
    fn from(time: SystemTime) -> Self {
        time.0
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(time: std::time::SystemTime) -> Self {
        Self(time)
    }
}
