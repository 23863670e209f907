//! What a scenario is: a story with a claim.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use interleaf::monitor::Monitor;
use interleaf::{Faults, Strategy};
use interleaf_engine::planted::Planted;

/// What a scenario's runs add up to, besides their verdict. Counted outside the simulation: it influences no run.
#[derive(Debug, Default)]
pub struct Tally {
    conflicts: AtomicU64,
}

impl Tally {
    /// Adds conflicts met in one run: rejected transactions, waits for a predecessor, lost races. A scenario that
    /// meets none in a whole campaign shows nothing, and its gate fails.
    pub fn conflicts(&self, met: u64) {
        self.conflicts.fetch_add(met, Ordering::Relaxed);
    }

    /// Conflicts met so far.
    #[must_use]
    pub fn conflicts_met(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }
}

/// What one run of a scenario gets.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The bug that is switched on, if any.
    pub planted: Option<Planted>,
    /// Where the run counts what it met.
    pub tally: &'a Tally,
}

/// The outcome that a scenario must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Every run passes.
    Holds,
    /// Some run breaks one of these invariants, or ends in one of these kinds of failure (`deadlock`, `panic`, …): the
    /// beginnings of the signatures that its failures may have.
    Breaks(&'static [&'static str]),
}

impl Expected {
    /// Whether a failure with this signature is what the scenario is there for.
    #[must_use]
    pub fn is_shown_by(self, signature: &str) -> bool {
        match self {
            Self::Holds => false,
            Self::Breaks(any) => any.iter().any(|beginning| signature.starts_with(beginning)),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Breaks(any) => write!(f, "breaks {}", any.join(" or ")),
        }
    }
}

/// A story that the engine must survive (or, in `negative`, must not).
#[derive(Clone, Copy)]
pub struct Scenario {
    /// `group.file_name`: the file's name is the claim.
    pub name: &'static str,
    /// The claim as a sentence.
    pub claim: &'static str,
    /// Names of the invariants that are checked.
    pub invariants: &'static [&'static str],
    /// The outcome that it must have.
    pub expected: Expected,
    /// Bugs that this scenario can find, with the most runs that finding each may take (portfolio, seeds from 0).
    pub finds: &'static [(Planted, u64)],
    /// Its part of a campaign's runs, relative to the other scenarios'. Zero: not in the default campaign.
    pub weight: u32,
    /// Steps after which a run is cut.
    pub max_steps: u32,
    /// Faults that its runs may contain.
    pub faults: Faults,
    /// The strategy, if not the campaign's.
    pub strategy: Option<fn() -> Strategy>,
    /// A run draws from its seed what is done, so the interleavings of one seed are not those of another.
    pub draws: bool,
    /// The number of its distinguishable interleavings, if a campaign is to run all of them, once each, instead of seeds.
    /// Another number is a failed gate: the story, or the exploration, has changed. Not for stories that draw.
    pub exhaustive: Option<u64>,
    /// Checkers that watch every operation.
    pub monitor: Option<fn() -> Box<dyn Monitor>>,
    /// One run. Raises violations; may panic.
    pub world: fn(&Setup<'_>),
}
