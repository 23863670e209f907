//! A point on the monotonic clock: the run's inside a simulation, the system's outside.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::runtime::entry;

/// The interface of [`std::time::Instant`]. Instants of a run and real ones must not be mixed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Kind);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Real(std::time::Instant),
    /// Since [`BEFORE`] the start of the run.
    Virtual(Duration),
}

/// As on a real machine there are instants before the program's start, and as many as after it.
const BEFORE: Duration = Duration::from_secs(1 << 62);

/// As with std's on most systems, seconds are a signed number of 64 bits.
fn representable(since: &Duration) -> bool {
    i64::try_from(since.as_secs()).is_ok()
}

impl Instant {
    /// The present moment. No scheduling point, and time does not move.
    #[must_use]
    pub fn now() -> Self {
        Self(match entry::now() {
            Some(now) => Kind::Virtual(BEFORE + now),
            None => Kind::Real(std::time::Instant::now()),
        })
    }

    /// Time since `earlier`; zero if that is later.
    ///
    /// # Panics
    /// If one is virtual and the other real.
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// Time since `earlier`; `None` if that is later.
    ///
    /// # Panics
    /// If one is virtual and the other real.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        match (self.0, earlier.0) {
            (Kind::Real(a), Kind::Real(b)) => a.checked_duration_since(b),
            (Kind::Virtual(a), Kind::Virtual(b)) => a.checked_sub(b),
            _ => panic!("interleaf: an instant of a simulated run is compared with a real one"),
        }
    }

    /// Time since `earlier`; zero if that is later.
    ///
    /// # Panics
    /// If one is virtual and the other real.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// Time since this instant.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// A later instant, if it can be represented.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        match self.0 {
            Kind::Real(i) => i.checked_add(duration).map(|i| Self(Kind::Real(i))),
            Kind::Virtual(d) => d.checked_add(duration).filter(representable).map(|d| Self(Kind::Virtual(d))),
        }
    }

    /// An earlier instant, if it can be represented.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        match self.0 {
            Kind::Real(i) => i.checked_sub(duration).map(|i| Self(Kind::Real(i))),
            Kind::Virtual(d) => d.checked_sub(duration).map(|d| Self(Kind::Virtual(d))),
        }
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Real(real) => real.fmt(f),
            Kind::Virtual(since) if since < BEFORE => write!(f, "Instant(start of the run - {:?})", BEFORE - since),
            Kind::Virtual(since) => write!(f, "Instant(start of the run + {:?})", since - BEFORE),
        }
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        match self.checked_add(duration) {
            Some(later) => later,
            None => panic!("overflow when adding duration to instant"),
        }
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        match self.checked_sub(duration) {
            Some(earlier) => earlier,
            None => panic!("overflow when subtracting duration from instant"),
        }
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}
