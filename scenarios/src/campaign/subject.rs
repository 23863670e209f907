//! What is run: a scenario, perhaps with a planted bug switched on.

use std::cell::Cell;
use std::ops::Range;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use interleaf::trace::choices::ChoiceLog;
use interleaf::{Explorer, Replay, Strategy, Token};
use interleaf_engine::planted::{Planted, UnknownPlanted};
use thiserror::Error;

use super::fixtures;
use crate::registry;
use crate::scenario::{Scenario, Setup, Tally};

/// A scenario, perhaps with a planted bug switched on.
#[derive(Clone, Copy)]
pub struct Subject {
    /// The scenario.
    pub scenario: &'static Scenario,
    /// The bug that is switched on.
    pub planted: Option<Planted>,
}

/// A name that no subject has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownSubject {
    /// No such scenario.
    #[error(
        "there is no scenario `{0}`; `interleaf list` shows all. The token of a test of your own is replayed by that test: \
         INTERLEAF_REPLAY=<token> cargo test"
    )]
    Scenario(String),
    /// No such planted bug.
    #[error(transparent)]
    Planted(#[from] UnknownPlanted),
}

impl Subject {
    /// The name that replay tokens carry: that of the scenario, and `+bug` if one is switched on, so that a replay
    /// knows the switch.
    #[must_use]
    pub fn token_name(&self) -> String {
        match self.planted {
            Some(bug) => format!("{}+{bug}", self.scenario.name),
            None => self.scenario.name.to_owned(),
        }
    }

    /// The strategy of its runs: what the user chose, else the scenario's own, else `otherwise`.
    #[must_use]
    pub fn strategy(&self, chosen: Option<&Strategy>, otherwise: &Strategy) -> Strategy {
        let own = || self.scenario.strategy.map(|make| make());
        chosen.cloned().or_else(own).unwrap_or_else(|| otherwise.clone())
    }

    /// An explorer set up as the scenario wants it.
    pub fn explorer(&self, strategy: Strategy) -> Explorer<'static> {
        let explorer = Explorer::new()
            .name(&self.token_name())
            .strategy(strategy)
            .max_steps(self.scenario.max_steps)
            .faults(self.scenario.faults)
            .count_distinct(true);
        match self.scenario.monitor {
            Some(make) => explorer.monitor(make),
            None => explorer,
        }
    }

    /// The closure that is run once per seed of `seeds`, or once per schedule if `searched` depth first. It adds the
    /// conflicts of each run that passed to `total`, once: explorers run seeds outside the range to learn how long the
    /// program is, and some seeds repeatedly to compare.
    pub fn world<'t>(&self, seeds: Range<u64>, searched: bool, total: &'t Tally) -> impl Fn() + Sync + use<'t> {
        let Self { scenario, planted } = *self;
        let counted = Counted::new(seeds, searched);
        move || {
            let tally = Tally::default();
            (scenario.world)(&Setup { planted, tally: &tally });
            if counted.is_new() {
                total.conflicts(tally.conflicts_met());
            }
        }
    }

    /// Runs a stored run once more.
    #[must_use]
    pub fn replay(&self, token: &Token) -> Replay {
        let tally = Tally::default();
        let setup = Setup { planted: self.planted, tally: &tally };
        interleaf::replay_with(token, self.scenario.monitor.map(|make| make()), || (self.scenario.world)(&setup))
    }

    /// Follows a labelled choice log, also through a program that has changed since.
    #[must_use]
    pub fn replay_choices(&self, log: &ChoiceLog) -> Replay {
        let tally = Tally::default();
        let setup = Setup { planted: self.planted, tally: &tally };
        let monitor = self.scenario.monitor.map(|make| make());
        interleaf::replay_choices(&self.token_name(), log, monitor, || (self.scenario.world)(&setup))
    }
}

/// Tells the runs that count from those that an explorer makes to learn or to compare.
pub(super) struct Counted {
    world: u64,
    seeds: Range<u64>,
    searched: bool,
}

impl Counted {
    /// Each of `seeds` counts once; or, if they are `searched` depth first under one seed, each run.
    pub(super) fn new(seeds: Range<u64>, searched: bool) -> Self {
        static WORLDS: AtomicU64 = AtomicU64::new(0);
        Self { world: WORLDS.fetch_add(1, Ordering::Relaxed), seeds, searched }
    }

    /// Whether the run that ends now counts. To be asked at most once a run. Repetitions of a seed follow each other on
    /// one OS thread, so remembering the last one is enough.
    pub(super) fn is_new(&self) -> bool {
        std::thread_local! {
            static LAST: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
        }
        let Some(seed) = interleaf::seed().filter(|seed| self.seeds.contains(seed)) else { return false };
        let this = Some((self.world, seed));
        self.searched || LAST.replace(this) != this
    }
}

impl FromStr for Subject {
    type Err = UnknownSubject;

    /// Reads the name in a replay token.
    fn from_str(name: &str) -> Result<Self, UnknownSubject> {
        let (scenario, planted) = match name.split_once('+') {
            Some((scenario, bug)) => (scenario, Some(bug.parse()?)),
            None => (name, None),
        };
        let fixture = || fixtures::all().iter().find(|f| f.name == scenario);
        let found = registry::by_name(scenario).or_else(fixture);
        let scenario = found.ok_or_else(|| UnknownSubject::Scenario(scenario.to_owned()))?;
        Ok(Self { scenario, planted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_names_are_read_back() {
        for name in ["fixture.passes", "fixture.canary+check-then-act"] {
            assert_eq!(name.parse::<Subject>().map(|s| s.token_name()), Ok(name.to_owned()));
        }
        let error = |name: &str| name.parse::<Subject>().map(|s| s.token_name()).unwrap_err().to_string();
        assert!(error("fixture.nobody").contains("no scenario `fixture.nobody`"));
        assert!(error("fixture.passes+no-bug").contains("no planted bug is called `no-bug`"));
    }

    #[test]
    fn conflicts_are_counted_once_for_each_seed() {
        let subject: Subject = "fixture.passes".parse().unwrap();
        for workers in [1, 2] {
            let tally = Tally::default();
            let explorer = subject.explorer(Strategy::Portfolio).seeds(0..300).workers(workers);
            assert!(explorer.run(subject.world(0..300, false, &tally)).failures.is_empty());
            assert_eq!(tally.conflicts_met(), 300);
        }
    }
}
