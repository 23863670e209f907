//! How the next thread is chosen.
//!
//! * [`Strategy`]: what a user names: `random`, `pct:3`, `portfolio`, `dfs:2`, …
//! * [`Scheduler`]: the trait behind it, for strategies of your own
//! * [`dfs`]: depth-first search with an optional bound on preemptions
//! * [`bytes`]: choices taken from a fuzzer's input
//! * [`replay`]: a recorded run once more, by number or by label
//!
//! * `pos`, `urw`, `surw`: partial order sampling and the uniform walks; `counts` and `objects` are what they learn from
//!   the profile runs
//!
//! Random walk and PCT are inlined into the scheduling point and have no type here.

pub mod bytes;
pub(crate) mod counts;
pub mod dfs;
pub mod labelled;
pub(crate) mod objects;
pub(crate) mod pos;
pub mod replay;
pub(crate) mod surw;
pub(crate) mod urw;

use std::fmt;
use std::panic::Location;
use std::str::FromStr;
use std::sync::Arc;

use crate::choice::{name_hash, seed_of};
use crate::memory::item::Item;
use crate::monitor::OpKind;

const STRATEGY: u64 = name_hash("strategy");

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
    /// Partial order sampling (Yuan, Yang and Gu, CAV 2018): each pending operation has a random priority, drawn anew
    /// when an operation that conflicts with it runs.
    Pos,
    /// Uniform random walk by remaining operations (SURW, ASPLOS 2025): a thread is chosen with a weight of the
    /// operations that it has left, so that interleavings, not decisions, are equally likely.
    Urw,
    /// Selectively uniform random walk (SURW, ASPLOS 2025): as [`Strategy::Urw`], over the operations on one shared
    /// object, which is drawn anew for each run.
    Surw,
    /// PCT 2, POS and URW in turn: of any three seeds from a multiple of three on, each strategy has one. No strategy wins
    /// everywhere, and each has bugs on which it is a hundred times worse than another.
    Portfolio,
    /// Every schedule, depth first, those without preemptions first.
    Dfs {
        /// Most preemptions in a schedule; `None` for all.
        preemptions: Option<u32>,
    },
    /// Every distinguishable interleaving (Mazurkiewicz trace) once, and no other run: see [`crate::Explorer`].
    Exhaustive {
        /// Most preemptions that the least preempted schedule of a trace needs; `None` for all traces. A report is
        /// complete if all traces within the bound were found.
        preemptions: Option<u32>,
    },
    /// As [`Strategy::Exhaustive`] with each bound from none to `preemptions` in turn, so that the first failure is one
    /// with the fewest preemptions. Each trace is counted once, in the first round that it is within.
    Iterative {
        /// The last bound. The exploration ends before it if no trace needs as many.
        preemptions: u32,
    },
    /// As [`Strategy::Exhaustive`], for the traces that have a schedule with at most so many delays (Emmi, Qadeer,
    /// Rakamarić, POPL 2011): departures from a scheduler that goes on with the running thread as long as it can and
    /// then with the next one that can, in the order in which threads are started. It costs nothing to pass over a
    /// thread that cannot go on.
    Delays {
        /// Most delays.
        delays: u32,
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
            Self::Pos => f.write_str("pos"),
            Self::Urw => f.write_str("urw"),
            Self::Surw => f.write_str("surw"),
            Self::Portfolio => f.write_str("portfolio"),
            Self::Dfs { preemptions: None } => f.write_str("dfs"),
            Self::Dfs { preemptions: Some(k) } => write!(f, "dfs:{k}"),
            Self::Exhaustive { preemptions: None } => f.write_str("exhaustive"),
            Self::Exhaustive { preemptions: Some(k) } => write!(f, "exhaustive:{k}"),
            Self::Iterative { preemptions } => write!(f, "exhaustive:0..{preemptions}"),
            Self::Delays { delays } => write!(f, "delay:{delays}"),
            Self::Bytes(bytes) => write!(f, "bytes({})", bytes.len()),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

/// A strategy name that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown strategy `{0}`: expected portfolio, random, pct:D (D from 1 to 100), pos, urw, surw, dfs, dfs:K (K preemptions), \
     exhaustive, exhaustive:K, exhaustive:0..K or delay:D"
)]
pub struct UnknownStrategy(String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let unknown = || UnknownStrategy(text.to_owned());
        if let Some(last) = text.strip_prefix("exhaustive:0..") {
            return last.parse().map(|preemptions| Self::Iterative { preemptions }).map_err(|_| unknown());
        }
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument.parse::<u32>().map_err(|_| unknown())?)),
            None => (text, None),
        };
        match (name, argument) {
            ("random", None) => Ok(Self::Random),
            ("portfolio", None) => Ok(Self::Portfolio),
            ("pos", None) => Ok(Self::Pos),
            ("urw", None) => Ok(Self::Urw),
            ("surw", None) => Ok(Self::Surw),
            ("pct", None) => Ok(Self::Pct { depth: 3 }),
            ("pct", Some(depth @ 1..=100)) => Ok(Self::Pct { depth }),
            ("dfs", preemptions) => Ok(Self::Dfs { preemptions }),
            ("exhaustive", preemptions) => Ok(Self::Exhaustive { preemptions }),
            ("delay", Some(delays)) => Ok(Self::Delays { delays }),
            _ => Err(unknown()),
        }
    }
}

impl Strategy {
    /// The members of the portfolio.
    pub(crate) const MEMBERS: [Self; 3] = [Self::Pct { depth: 2 }, Self::Pos, Self::Urw];

    /// Which of [`Self::MEMBERS`] a seed of the portfolio takes. Each group of three has one order of the six, drawn from
    /// the group, so that whoever runs every third seed still has all of them.
    #[inline]
    pub(crate) const fn member(seed: u64) -> usize {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        ORDERS[(seed_of(seed / 3, STRATEGY) % 6) as usize][(seed % 3) as usize]
    }

    /// The strategies that take part.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Portfolio => &Self::MEMBERS,
            one => std::slice::from_ref(one),
        }
    }

    /// Which of [`Self::parts`] a seed takes.
    #[inline]
    pub(crate) fn part(&self, seed: u64) -> usize {
        if matches!(self, Self::Portfolio) { Self::member(seed) } else { 0 }
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
    Guided(Box<crate::exhaustive::guide::Guide>),
}

/// How one run is to be scheduled.
pub(crate) enum Plan {
    Random,
    Pct {
        depth: u32,
        /// Expected number of steps, over which the change points are spread.
        length: u32,
    },
    Pos,
    Urw,
    Surw,
    /// A random walk from which the others learn.
    Learn,
    Asked(Active),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in [
            "random",
            "portfolio",
            "pct:3",
            "pos",
            "urw",
            "surw",
            "dfs",
            "dfs:2",
            "exhaustive",
            "exhaustive:0",
            "exhaustive:0..3",
            "delay:2",
        ] {
            assert_eq!(name.parse::<Strategy>().map(|s| s.to_string()), Ok(name.to_owned()));
        }
        for bad in [
            "",
            "pct:0",
            "pct:x",
            "pct:101",
            "urandom",
            "random:3",
            "dfs:-1",
            "pos:1",
            "urw:2",
            "surw:x",
            "exhaustive:x",
            "delay",
            "exhaustive:0..",
            "exhaustive:1..2",
        ] {
            assert!(bad.parse::<Strategy>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_members_of_the_portfolio_take_turns() {
        let mut by_place = [[0; 3]; 3];
        for group in 0..1_000 {
            let mut members: Vec<usize> = (0..3).map(|i| Strategy::member(3 * group + i)).collect();
            members.iter().enumerate().for_each(|(place, &m)| by_place[place][m] += 1);
            members.sort_unstable();
            assert_eq!(members, [0, 1, 2], "group {group}");
        }
        // Whoever runs every third seed meets all of them.
        assert!(by_place.iter().flatten().all(|n| (280..390).contains(n)), "{by_place:?}");
    }
}
