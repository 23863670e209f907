//! Which faults of a disk are armed, and when they fire.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// When an armed fault fires. Operations are counted from 1, each kind for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// It is not armed.
    #[default]
    Never,
    /// At each operation.
    Always,
    /// At one of so many operations on average, drawn from the disk's stream. 0 is never.
    OneIn(u32),
    /// At the operations with these numbers.
    At(Vec<u64>),
}

impl When {
    /// At this operation only, counted from 1.
    #[must_use]
    pub fn at(operation: u64) -> Self {
        Self::At(vec![operation])
    }

    pub(super) fn is_armed(&self) -> bool {
        match self {
            Self::Never | Self::OneIn(0) => false,
            Self::Always | Self::OneIn(_) => true,
            Self::At(numbers) => !numbers.is_empty(),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never | Self::OneIn(0) => f.write_str("never"),
            Self::Always => f.write_str("always"),
            Self::OneIn(n) => write!(f, "one in {n}"),
            Self::At(numbers) => write!(f, "at {numbers:?}"),
        }
    }
}

/// The faults of a disk. By default none is armed and nothing takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Reads that fail.
    pub read_errors: When,
    /// Writes that fail. The first sectors may have been written, or none: how many is drawn from the disk's stream.
    pub write_errors: When,
    /// Syncs that fail. What was not synced before is durable or not, nobody knows, and no later sync promises anything
    /// for it unless it is written again.
    pub sync_errors: When,
    /// Syncs that say they have succeeded and have done nothing. A disk that breaks its contract: for tests that must
    /// fail.
    pub lying_syncs: When,
    /// Power is lost right after a write, `set_len` or sync (counted together), whose caller never hears of its success.
    pub power_losses: When,
    /// What the lengths of all files may come to, in bytes.
    pub capacity: Option<u64>,
    /// How long a read takes: virtual time inside a run; outside it is only added up.
    pub read_latency: RangeInclusive<Duration>,
    /// How long a write or `set_len` takes.
    pub write_latency: RangeInclusive<Duration>,
    /// How long a sync takes.
    pub sync_latency: RangeInclusive<Duration>,
}

impl Default for Plan {
    fn default() -> Self {
        let at_once = Duration::ZERO..=Duration::ZERO;
        Self {
            read_errors: When::Never,
            write_errors: When::Never,
            sync_errors: When::Never,
            lying_syncs: When::Never,
            power_losses: When::Never,
            capacity: None,
            read_latency: at_once.clone(),
            write_latency: at_once.clone(),
            sync_latency: at_once,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read errors {}, write errors {}, ", self.read_errors, self.write_errors)?;
        write!(f, "sync errors {}, lying syncs {}, ", self.sync_errors, self.lying_syncs)?;
        write!(f, "power losses {}, ", self.power_losses)?;
        match self.capacity {
            Some(bytes) => write!(f, "capacity {bytes} bytes, ")?,
            None => f.write_str("capacity unlimited, ")?,
        }
        write!(f, "latency of a read {:?}, ", self.read_latency)?;
        write!(f, "of a write {:?}, of a sync {:?}", self.write_latency, self.sync_latency)
    }
}
