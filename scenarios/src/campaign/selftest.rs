//! Tests of the tests: each planted bug is found within its budget, the canary fails, and nothing is found where nothing
//! is planted.

use std::sync::atomic::{AtomicBool, Ordering};

use interleaf::{Failure, Replay, Strategy, Token};
use interleaf_engine::planted::Planted;

use super::rounds::part;
use super::runner::{Campaign, Entry, Outcome};
use super::{Exit, Subject, fixtures};
use crate::registry;
use crate::scenario::Scenario;

/// Runs that the canary may take to fail.
const CANARY_BUDGET: u64 = 1_000;

/// The problem of a check that was cut, or not begun.
const INTERRUPTED: &str = "interrupted";

/// What one check showed.
#[derive(Clone, Debug)]
pub struct Check {
    /// Scenario and bug.
    pub subject: String,
    /// Runs that finding it may take.
    pub budget: u64,
    /// Runs that it took.
    pub found_after: Option<u64>,
    /// The failure's signature.
    pub signature: Option<String>,
    /// Why the check failed, if it did.
    pub problem: Option<String>,
}

/// How the self-test is run.
#[derive(Clone, Copy)]
pub struct SelfTest<'a> {
    /// Number of OS threads.
    pub jobs: usize,
    /// Runs in which nothing may be found.
    pub clean_runs: u64,
    /// Set from outside to end it.
    pub interrupted: &'a AtomicBool,
}

impl SelfTest<'_> {
    /// The checks that must find something: the canary, then each scenario with each bug that it says it can find.
    #[must_use]
    pub fn subjects() -> Vec<(Subject, u64)> {
        let canary = fixtures::all().iter().filter(|f| f.name == fixtures::CANARY);
        let canary = canary.map(|scenario| (Subject { scenario, planted: None }, CANARY_BUDGET));
        let finds = |scenario: &'static Scenario| {
            scenario.finds.iter().map(move |(bug, budget)| (Subject { scenario, planted: Some(*bug) }, *budget))
        };
        canary.chain(registry::all().iter().flat_map(finds)).collect()
    }

    /// Planted bugs that no scenario says it can find.
    #[must_use]
    pub fn unclaimed() -> Vec<Planted> {
        let claimed = |bug: &Planted| registry::all().iter().any(|s| s.finds.iter().any(|(b, _)| b == bug));
        Planted::ALL.into_iter().filter(|bug| !claimed(bug)).collect()
    }

    /// Looks for the bug of `subject` with the portfolio from seed 0.
    #[must_use]
    pub fn find(&self, subject: Subject, budget: u64) -> Check {
        let mut check =
            Check { subject: subject.token_name(), budget, found_after: None, signature: None, problem: None };
        if self.interrupted.load(Ordering::Relaxed) {
            check.problem = Some(INTERRUPTED.into());
            return check;
        }
        let outcome = self
            .campaign(
                vec![Entry { subject, weight: 1, first_seed: 0, runs: budget, at_once: false, exhaustive: None }],
                true,
            )
            .run(&|_| {});
        let Some(failure) = outcome.rows.first().and_then(|row| row.report.first_failure()) else {
            check.problem = Some(match outcome.stopped {
                Some(_) => INTERRUPTED.into(),
                None => format!("not found in {budget} runs"),
            });
            return check;
        };
        check.found_after = Some(failure.seed + 1);
        check.signature = Some(failure.signature());
        check.problem = wrong_signature(subject.scenario, failure).or_else(|| does_not_replay(subject, failure));
        check
    }

    /// Runs the scenarios of the default campaign without any bug. `tick` is called with the number of runs so far.
    pub fn clean(&self, tick: &(dyn Fn(u64) + Sync)) -> Outcome {
        let scenarios = || registry::all().iter().filter(|s| s.weight > 0);
        let total: u64 = scenarios().map(|s| u64::from(s.weight)).sum();
        let entry = |scenario: &'static Scenario| {
            let weight = u64::from(scenario.weight);
            let subject = Subject { scenario, planted: None };
            Entry {
                subject,
                weight,
                first_seed: 0,
                runs: part(self.clean_runs, weight, total),
                at_once: false,
                exhaustive: None,
            }
        };
        self.campaign(scenarios().map(entry).collect(), false).run(tick)
    }

    fn campaign(&self, entries: Vec<Entry>, portfolio: bool) -> Campaign<'_> {
        Campaign {
            entries,
            strategy: portfolio.then_some(Strategy::Portfolio),
            otherwise: Strategy::Portfolio,
            memory_model: interleaf::MemoryModel::Sc,
            jobs: self.jobs,
            max_failures: 1,
            budget: None,
            gates: true,
            interrupted: self.interrupted,
        }
    }
}

impl Check {
    /// Whether it could not be carried out to its end, so that it says nothing.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.problem.as_deref() == Some(INTERRUPTED)
    }

    /// The exit code that it calls for.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.problem.as_deref() {
            None => Exit::Passed,
            Some(INTERRUPTED) => Exit::Inconclusive,
            Some(_) => Exit::Gate,
        }
    }
}

/// A bug must be found as a violation of a rule that the scenario names, or as a deadlock, not as some crash.
fn wrong_signature(scenario: &Scenario, failure: &Failure) -> Option<String> {
    let signature = failure.signature();
    let rule = signature.split('/').next().unwrap_or_default();
    let named = rule == "deadlock" || scenario.invariants.contains(&rule);
    (!named).then(|| format!("expected a violation of {} or a deadlock", scenario.invariants.join(", ")))
}

fn does_not_replay(subject: Subject, failure: &Failure) -> Option<String> {
    let token: Token = match failure.token.parse() {
        Ok(token) => token,
        Err(error) => return Some(format!("the token cannot be read: {error}")),
    };
    let bytes = |f: &Failure| interleaf::trace::jsonl::render(&f.trace);
    match subject.replay(&token) {
        Replay::Failed(again) if bytes(&again) == bytes(failure) && again.signature() == failure.signature() => None,
        Replay::Failed(_) => Some("the replay gives another trace".into()),
        Replay::Passed(_) => Some("the replay does not fail".into()),
        Replay::Diverged(_) => Some("the replay diverges".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);
    const TEST: SelfTest<'static> = SelfTest { jobs: 1, clean_runs: 100, interrupted: &NEVER };

    #[test]
    fn the_canary_is_found_and_replays() {
        let (canary, budget) = SelfTest::subjects()[0];
        let check = TEST.find(canary, budget);
        assert_eq!(check.problem, None);
        assert_eq!(check.signature.as_deref(), Some("fixture.sum/an-addition-is-lost"));
    }

    #[test]
    fn nothing_is_looked_for_after_an_interrupt() {
        static NOW: AtomicBool = AtomicBool::new(true);
        let (canary, budget) = SelfTest::subjects()[0];
        let check = SelfTest { interrupted: &NOW, ..TEST }.find(canary, budget);
        assert!(check.is_interrupted());
        assert_eq!((check.found_after, check.exit()), (None, Exit::Inconclusive));
    }

    #[test]
    fn what_is_not_found_or_found_as_a_crash_is_a_problem() {
        let problem = |name: &str| TEST.find(name.parse().unwrap(), 50).problem.unwrap_or_default();
        assert_eq!(problem("fixture.passes"), "not found in 50 runs");
        assert!(problem("fixture.panics").starts_with("expected a violation of fixture.sum"));
    }
}
