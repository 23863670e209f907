//! What a disk has done, and which armed faults have fired.

use std::time::Duration;

use super::plan::Plan;

/// The kinds of fault that a disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// [`Plan::read_errors`].
    ReadError,
    /// [`Plan::write_errors`].
    WriteError,
    /// [`Plan::sync_errors`].
    SyncError,
    /// [`Plan::lying_syncs`]; fires where there was something to sync.
    LyingSync,
    /// [`Plan::power_losses`].
    PowerLoss,
    /// [`Plan::capacity`]; fires where it did not suffice.
    DiskFull,
    /// The latencies of a [`Plan`]; fires at each operation that takes time.
    Latency,
    /// [`Disk::crash`](super::Disk::crash), armed by calling it; fires where it took something away.
    Crash,
}

impl FaultKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 8] = [
        Self::ReadError,
        Self::WriteError,
        Self::SyncError,
        Self::LyingSync,
        Self::PowerLoss,
        Self::DiskFull,
        Self::Latency,
        Self::Crash,
    ];

    /// The name in reports, and of the fault's stream of chance behind the disk's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadError => "read-error",
            Self::WriteError => "write-error",
            Self::SyncError => "sync-error",
            Self::LyingSync => "lying-sync",
            Self::PowerLoss => "power-loss",
            Self::DiskFull => "disk-full",
            Self::Latency => "latency",
            Self::Crash => "crash",
        }
    }
}

/// What a disk has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes, failed ones included.
    pub writes: u64,
    /// Changes of a length, failed ones included.
    pub set_lens: u64,
    /// Syncs, failed ones included.
    pub syncs: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// What all operations together have taken, in virtual time.
    pub latency: Duration,
    armed: [bool; FaultKind::ALL.len()],
    fired: [u64; FaultKind::ALL.len()],
}

impl Counters {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut counters = Self::default();
        let slow = |range: &std::ops::RangeInclusive<Duration>| *range.end() > Duration::ZERO;
        let mut arm = |kind: FaultKind, armed| counters.armed[kind as usize] = armed;
        arm(FaultKind::ReadError, plan.read_errors.is_armed());
        arm(FaultKind::WriteError, plan.write_errors.is_armed());
        arm(FaultKind::SyncError, plan.sync_errors.is_armed());
        arm(FaultKind::LyingSync, plan.lying_syncs.is_armed());
        arm(FaultKind::PowerLoss, plan.power_losses.is_armed());
        arm(FaultKind::DiskFull, plan.capacity.is_some());
        let latencies = [&plan.read_latency, &plan.write_latency, &plan.sync_latency];
        arm(FaultKind::Latency, latencies.into_iter().any(slow));
        counters
    }

    pub(super) fn arm(&mut self, kind: FaultKind) {
        self.armed[kind as usize] = true;
    }

    pub(super) fn fire(&mut self, kind: FaultKind) {
        self.fired[kind as usize] += 1;
    }

    /// Whether the fault was armed.
    #[must_use]
    pub fn armed(&self, kind: FaultKind) -> bool {
        self.armed[kind as usize]
    }

    /// How often it has fired.
    #[must_use]
    pub fn fired(&self, kind: FaultKind) -> u64 {
        self.fired[kind as usize]
    }

    /// The faults that were armed for nothing.
    pub fn never_fired(&self) -> impl Iterator<Item = FaultKind> + '_ {
        FaultKind::ALL.into_iter().filter(|&kind| self.armed(kind) && self.fired(kind) == 0)
    }
}
