//! The two sides of the comparison, each with its default settings.

use std::time::Duration;

use interleaf::{Explorer, Strategy};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

/// Whose runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    Shuttle,
}

/// How the next thread is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Random,
    Pct,
    // Ours only.
    Pos,
    Urw,
    Surw,
    Portfolio,
}

/// A program in both instantiations.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Shuttle's PCT panics on a program without choices.
    pub(crate) has_choices: bool,
    pub(crate) ours: fn(),
    pub(crate) theirs: fn(),
}

const DEPTH: u32 = 3;
const SEED: u64 = 7;

impl Program {
    /// Runs the program `n` times.
    pub(crate) fn run(&self, side: Side, order: Order, n: u64) {
        match side {
            Side::Ours => {
                self.explore(order, n);
            }
            Side::Shuttle => shuttle(order, n as usize, self.theirs),
        }
    }

    /// Mean number of our steps in an execution.
    pub(crate) fn steps(&self, order: Order) -> f64 {
        let report = self.explore(order, 1_000);
        report.steps as f64 / report.executions as f64
    }

    fn explore(&self, order: Order, n: u64) -> interleaf::Report {
        let strategy = match order {
            Order::Random => Strategy::Random,
            Order::Pct => Strategy::Pct { depth: DEPTH },
            Order::Pos => Strategy::Pos,
            Order::Urw => Strategy::Urw,
            Order::Surw => Strategy::Surw,
            Order::Portfolio => Strategy::Portfolio,
        };
        let report = Explorer::new().seeds(0..n).strategy(strategy).run(self.ours);
        assert!(report.failures.is_empty() && report.executions == n, "{} did not run to its end", self.name);
        report
    }
}

fn shuttle(order: Order, n: usize, f: fn()) {
    let mut config = Config::new();
    config.silence_warnings = true;
    config.failure_persistence = FailurePersistence::None;
    match order {
        Order::Random => Runner::new(RandomScheduler::new_from_seed(SEED, n), config).run(f),
        Order::Pct => Runner::new(PctScheduler::new_from_seed(SEED, DEPTH as usize, n), config).run(f),
        _ => unreachable!("compared with ours only"),
    };
}

/// CPU time that the calling OS thread spends in `f`.
pub(crate) fn cpu_time(f: impl FnOnce()) -> Duration {
    let before = thread_clock();
    f();
    thread_clock().saturating_sub(before)
}

fn thread_clock() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec, which the call fills in.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(status, 0, "the thread's CPU clock cannot be read");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

impl Order {
    /// All but the random walk.
    pub(crate) const OTHERS: [Self; 5] = [Self::Pct, Self::Pos, Self::Urw, Self::Surw, Self::Portfolio];

    /// Whether Shuttle has it, too.
    pub(crate) const fn is_common(self) -> bool {
        matches!(self, Self::Random | Self::Pct)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pct => "PCT 3",
            Self::Pos => "POS",
            Self::Urw => "URW",
            Self::Surw => "SURW",
            Self::Portfolio => "portfolio",
        }
    }

    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "random" => Ok(Self::Random),
            "pct" => Ok(Self::Pct),
            "pos" => Ok(Self::Pos),
            "urw" => Ok(Self::Urw),
            "surw" => Ok(Self::Surw),
            "portfolio" => Ok(Self::Portfolio),
            _ => Err(format!("no such strategy {name}: random, pct; with --only ours also pos, urw, surw, portfolio")),
        }
    }
}

impl Side {
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "ours" => Ok(Self::Ours),
            "shuttle" => Ok(Self::Shuttle),
            _ => Err(format!("no such side {name}: ours or shuttle")),
        }
    }
}
