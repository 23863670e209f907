//! What a scenario's runs showed, and whether that is enough.

use interleaf::{Failure, FailureKind, Faults};

use super::Exit;
use super::runner::Stopped;
use crate::scenario::Expected;

/// What a scenario's runs showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every run passed and the gates held.
    Holds,
    /// It broke what it must break.
    Breaks,
    /// Runs failed that should not.
    Failed(Exit),
    /// Nothing failed, but too little was shown.
    Gate(Vec<String>),
    /// Undecided, and why. Never counts as a pass.
    Inconclusive(String),
}

impl Verdict {
    /// The exit code that it calls for.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Holds | Self::Breaks => Exit::Passed,
            Self::Failed(exit) => *exit,
            Self::Gate(_) => Exit::Gate,
            Self::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    /// In one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Breaks => "breaks, as it must",
            Self::Failed(Exit::Nondeterministic) => "NONDETERMINISTIC",
            Self::Failed(Exit::Panicked) => "PANICS",
            Self::Failed(Exit::NotSettled) => "DEADLOCKS",
            Self::Failed(_) => "VIOLATED",
            Self::Gate(_) => "GATE",
            Self::Inconclusive(_) => "undecided",
        }
    }

    /// Why, where the word does not say it.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Gate(reasons) => reasons,
            Self::Inconclusive(reason) => std::slice::from_ref(reason),
            _ => &[],
        }
    }
}

/// What there is to judge.
pub struct Evidence<'a> {
    /// The outcome that the scenario must have.
    pub expected: Expected,
    /// The faults that its runs may contain.
    pub armed: Faults,
    /// Runs made.
    pub executions: u64,
    /// The failed ones, or the first of them.
    pub failures: &'a [Failure],
    /// Conflicts met in all runs.
    pub conflicts: u64,
    /// Armed faults that fired: spurious wake-ups, weak compare-and-swap failures.
    pub fired: [u64; 2],
    /// Why not all runs were made, if so.
    pub cut: Option<Stopped>,
    /// Whether too little to show anything is a failure.
    pub gates: bool,
    /// All distinguishable interleavings were to be run: how many there must be, and whether all were.
    pub exhaustive: Option<(u64, bool)>,
}

impl Evidence<'_> {
    /// The verdict.
    #[must_use]
    pub fn judge(&self) -> Verdict {
        let unexpected = || self.failures.iter().filter(|f| !is_expected(self.expected, f));
        let undecided = |f: &&Failure| matches!(f.kind, FailureKind::StepLimit { .. });
        if unexpected().any(|f| !undecided(&f)) {
            return Verdict::Failed(Exit::decisive(unexpected().map(|f| Exit::of(&f.kind))));
        }
        if let Some(cut) = unexpected().find(undecided) {
            return Verdict::Inconclusive(format!("seed {}: {}", cut.seed, cut.kind.headline()));
        }
        if matches!(self.expected, Expected::Breaks(_)) && !self.failures.is_empty() {
            return Verdict::Breaks;
        }
        match self.cut {
            Some(Stopped::Interrupted) => return Verdict::Inconclusive("interrupted".into()),
            Some(Stopped::Budget) if self.exhaustive.is_some() && self.executions > 0 => {
                return Verdict::Inconclusive("not all interleavings: the budget was spent".into());
            }
            Some(Stopped::Budget) if self.executions == 0 => {
                return Verdict::Inconclusive("not run: the budget was spent".into());
            }
            _ => {}
        }
        let failed = self.failed_gates();
        if self.gates && !failed.is_empty() { Verdict::Gate(failed) } else { Verdict::Holds }
    }

    fn failed_gates(&self) -> Vec<String> {
        let runs = self.executions;
        let mut failed = Vec::new();
        match self.exhaustive {
            Some((expected, true)) if runs != expected => {
                failed.push(format!("expected {expected} distinguishable interleavings, found {runs}"));
            }
            Some((expected, false)) => {
                failed.push(format!("expected {expected} distinguishable interleavings, found more"))
            }
            _ => {}
        }
        if let Expected::Breaks(what) = self.expected {
            failed.push(format!("must break {}, but did not in {runs} runs", what.join(" or ")));
        } else if self.conflicts == 0 {
            failed.push(format!("no conflict met in {runs} runs"));
        }
        if self.armed.spurious_wakeups > 0 && self.fired[0] == 0 {
            failed.push(format!("spurious wake-ups were armed but never fired in {runs} runs"));
        }
        if self.armed.weak_cas_failures > 0 && self.fired[1] == 0 {
            failed.push(format!("weak compare-and-swap failures were armed but never fired in {runs} runs"));
        }
        failed
    }
}

/// Whether the scenario is there to fail in this way.
#[must_use]
pub fn is_expected(expected: Expected, failure: &Failure) -> bool {
    expected.is_shown_by(&failure.signature())
}
