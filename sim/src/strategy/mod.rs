//! How the next thread is chosen.
//!
//! * [`Strategy`]: what a user names: `random`, `pct:3`, `portfolio`, `dfs:2`, …
//! * [`Scheduler`]: the trait behind it, for strategies of your own
//! * [`dfs`]: depth-first search with an optional bound on preemptions
//! * [`bytes`]: choices taken from a fuzzer's input
//! * [`replay`]: a recorded run once more, by number or by label
//!
//! Random walk and PCT are inlined into the scheduling point and have no type here.

pub mod bytes;
pub mod dfs;
pub mod labelled;
pub mod replay;

use std::fmt;
use std::panic::Location;
use std::str::FromStr;
use std::sync::Arc;

use crate::memory::item::Item;
use crate::monitor::OpKind;

/// A way to choose schedules.
#[derive(Clone)]
#[non_exhaustive]
pub enum Strategy {
    /// At each point one of the threads that can go on, uniformly.
    Random,
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities and `depth - 1` priority
    /// changes at random steps; finds a bug of that depth with probability at least 1/(n·k^(depth-1)).
    Pct {
        /// Number of ordering constraints of the bugs looked for; at least 1.
        depth: u32,
    },
    /// A different strategy for each seed, drawn from random walk, PCT 2 and PCT 3: no strategy wins everywhere, and
    /// each has bugs on which it is a hundred times worse than another.
    Portfolio,
    /// Every schedule, depth first, those without preemptions first.
    Dfs {
        /// Most preemptions in a schedule; `None` for all.
        preemptions: Option<u32>,
    },
    /// Every behaviour exactly once: one run for each execution graph (with [`MemoryModel::Rc11`](crate::MemoryModel)),
    /// none of them redundant or cut short.
    Exhaustive {
        /// Most preemptions in a schedule; `None` for no bound.
        preemptions: Option<u32>,
    },
    /// Choices from bytes: see [`bytes`].
    Bytes(Arc<[u8]>),
    /// A strategy of your own, made anew for each execution.
    Custom(Arc<dyn Fn(u64) -> Box<dyn Scheduler> + Send + Sync>),
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Pct { depth } => write!(f, "pct:{depth}"),
            Self::Portfolio => f.write_str("portfolio"),
            Self::Dfs { preemptions: None } => f.write_str("dfs"),
            Self::Dfs { preemptions: Some(k) } => write!(f, "dfs:{k}"),
            Self::Exhaustive { preemptions: None } => f.write_str("exhaustive"),
            Self::Exhaustive { preemptions: Some(k) } => write!(f, "exhaustive:{k}"),
            Self::Bytes(bytes) => write!(f, "bytes({})", bytes.len()),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

/// A strategy name that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown strategy `{0}`: expected random, portfolio, pct:D (D from 1 to 100), dfs, dfs:K, exhaustive or exhaustive:K \
     (K preemptions)"
)]
pub struct UnknownStrategy(String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let unknown = || UnknownStrategy(text.to_owned());
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument.parse::<u32>().map_err(|_| unknown())?)),
            None => (text, None),
        };
        match (name, argument) {
            ("random", None) => Ok(Self::Random),
            ("portfolio", None) => Ok(Self::Portfolio),
            ("pct", None) => Ok(Self::Pct { depth: 3 }),
            ("pct", Some(depth @ 1..=100)) => Ok(Self::Pct { depth }),
            ("dfs", preemptions) => Ok(Self::Dfs { preemptions }),
            ("exhaustive", preemptions) => Ok(Self::Exhaustive { preemptions }),
            _ => Err(unknown()),
        }
    }
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The thread's slot: its bit in [`Point::enabled`].
    pub slot: usize,
    /// Number of the thread in the order of creation.
    pub thread: u32,
    /// The operation.
    pub kind: OpKind,
    /// The object, numbered in the order of first use in this run; `None` for operations without one.
    pub object: Option<u32>,
    /// The object's name given with [`crate::name`], or empty (names are kept only in fully recorded runs).
    pub object_name: &'static str,
    /// Where in the code.
    pub location: &'static Location<'static>,
}

/// A scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The slots whose operation can run now, as bits. Never empty.
    pub enabled: u64,
    /// The slot that ran last, if it can go on and does not yield.
    pub running: Option<usize>,
    /// The slot that a run without preemptions takes: the running one, else the lowest, a yielding one last.
    pub default: usize,
    /// What the live threads are about to do, in the order of their slots, the blocked ones included. Empty unless
    /// [`Scheduler::wants_pending`].
    pub pending: &'a [Pending],
    /// Names of all threads so far, by number. Empty unless [`Scheduler::wants_pending`].
    pub names: &'a [String],
}

/// A strategy of your own: decides at each scheduling point of one run.
///
/// It is asked only where there is a choice, unless [`Scheduler::sees_forced`].
pub trait Scheduler {
    /// The slot that goes on: a bit of `point.enabled`. Any other value ends the run as diverged.
    fn next_thread(&mut self, point: &Point<'_>) -> usize;

    /// A choice of a value: the index of a bit of `options`, which has at least two.
    fn choose(&mut self, options: u64) -> usize;

    /// Whether everything that it was to do was done when the run ended. A replay with decisions left over has not
    /// repeated the recorded run.
    fn is_spent(&self) -> bool {
        true
    }

    /// Whether [`Point::pending`] and [`Point::names`] are needed.
    fn wants_pending(&self) -> bool {
        false
    }

    /// Whether to ask also where only one thread can go on.
    fn sees_forced(&self) -> bool {
        false
    }
}

/// The strategy of the run that goes on, where it is not inlined.
pub(crate) enum Active {
    None,
    Dfs(Box<dfs::Dfs>),
    Raw(replay::Raw),
    /// The run's memory decides: a graph of the exhaustive search, until the run has taken it.
    Graph(Option<Box<Item>>),
    Asked(Box<dyn Scheduler>),
}

/// How one run is to be scheduled.
pub(crate) enum Plan {
    Random,
    Pct {
        depth: u32,
        /// Expected number of steps, over which the change points are spread.
        length: u32,
    },
    Asked(Active),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["random", "portfolio", "pct:3", "dfs", "dfs:2", "exhaustive", "exhaustive:1"] {
            assert_eq!(name.parse::<Strategy>().map(|s| s.to_string()), Ok(name.to_owned()));
        }
        for bad in ["", "pct:0", "pct:x", "pct:101", "urandom", "random:3", "dfs:-1"] {
            assert!(bad.parse::<Strategy>().is_err(), "{bad}");
        }
    }
}
