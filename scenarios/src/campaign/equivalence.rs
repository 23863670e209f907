//! Schedulers against sequential execution, under the simulator and on real threads (item N8).

mod name;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use interleaf::trace::choices::ChoiceLog;
use interleaf::{Explorer, Failure, Replay, Report, Strategy, Token, Violation};
use interleaf_engine::planted::Planted;
use interleaf_engine::schedule::{BlockOutcome, Difference, Executor, Graph, Policy, sequential};

pub use name::{NoTokenName, TokenName};

use super::Exit;
use super::subject::Counted;
use crate::blocks::PreparedBlock;
use crate::blocks::bitcoin::{self, BlockFileError};
use crate::blocks::spec::Spec;
use crate::checkers::block_result::NAME;

/// Steps after which a run is cut: far more than a largest block needs.
const MAX_STEPS: u32 = 1 << 24;

/// Most workers of a simulated executor: each is a thread of the run.
pub const WORKERS_MAX: usize = 64;

/// Where a block comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Mainnet block 702,861.
    Mainnet,
    /// A raw block file.
    File(PathBuf),
    /// A generated block.
    Generated {
        /// What it is like.
        spec: Spec,
        /// The seed from which it is made.
        seed: u64,
    },
}

/// A block that is ready to be executed, and what sequential execution makes of it.
pub struct Subject {
    source: Source,
    prepared: PreparedBlock,
    graph: Graph,
    expected: BlockOutcome,
}

/// One combination that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The policy.
    pub policy: Policy,
    /// Number of workers.
    pub workers: usize,
    /// The bug that is switched on.
    pub planted: Option<Planted>,
}

/// How often each case is run.
#[derive(Clone)]
pub struct Effort {
    /// Seeds of the simulated runs.
    pub seeds: Range<u64>,
    /// Their strategy.
    pub strategy: Strategy,
    /// Runs on real threads.
    pub real_runs: u64,
    /// Number of OS threads that share the seeds.
    pub jobs: usize,
}

/// What one case showed.
pub struct CaseReport {
    /// The case.
    pub case: Case,
    /// The simulated runs.
    pub simulated: Report,
    /// Runs made on real threads.
    pub real_runs: u64,
    /// The first difference on real threads.
    pub real_difference: Option<Violation>,
    /// Transactions, over all runs, that had a predecessor in the block. None where nothing runs concurrently.
    pub conflicts: u64,
    /// Whether it was cut before all its runs were made.
    pub cut: bool,
}

impl Case {
    /// Whether transactions may run at the same time: only then equal outcomes show anything.
    #[must_use]
    pub fn is_concurrent(&self) -> bool {
        self.policy != Policy::Sequential && self.workers > 1
    }
}

impl Subject {
    /// Reads or generates the block and executes it sequentially.
    ///
    /// # Errors
    /// If a block file cannot be read.
    pub fn load(source: Source) -> Result<Self, BlockFileError> {
        let prepared = match &source {
            Source::Mainnet => bitcoin::mainnet_702861().prepared,
            Source::File(path) => bitcoin::load(path)?.prepared,
            Source::Generated { spec, seed } => spec.generate(*seed),
        };
        let graph = Graph::new(&prepared.block);
        let expected = sequential::execute(&prepared.block, &prepared.base, &prepared.rules);
        Ok(Self { source, prepared, graph, expected })
    }

    /// What the block is, for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.prepared.name
    }

    /// Number of transactions.
    #[must_use]
    pub fn txs(&self) -> usize {
        self.graph.len()
    }

    /// Transactions that depend on another one of the block: what each run should meet as conflicts.
    #[must_use]
    pub fn dependent(&self) -> usize {
        self.graph.dependent_count()
    }

    /// Transactions that fail under sequential execution.
    #[must_use]
    pub fn failing(&self) -> usize {
        self.expected.receipts.iter().filter(|r| !r.is_ok()).count()
    }

    /// The name that replay tokens carry.
    #[must_use]
    pub fn token_name(&self, case: &Case) -> String {
        TokenName { source: self.source.clone(), case: *case }.to_string()
    }

    /// Executes the block and compares; the number of conflicts met.
    fn run(&self, case: &Case) -> Result<u64, Violation> {
        let PreparedBlock { block, base, rules, .. } = &self.prepared;
        let executor = Executor::new(case.policy, case.workers).with_rules(*rules).with_planted(case.planted);
        let execution = executor.execute(block, &self.graph, base);
        match self.expected.first_difference(&execution.outcome) {
            None if case.is_concurrent() => Ok(execution.counters.conflicts_met),
            None => Ok(0),
            Some(difference) => Err(violation(case, &difference)),
        }
    }

    /// Runs one case as often as `effort` says, until `stop` is set. `done` counts simulated runs.
    pub fn compare(&self, case: Case, effort: &Effort, stop: &AtomicBool, done: &AtomicU64) -> CaseReport {
        let (mut simulated, mut conflicts) = self.simulate(case, effort, effort.seeds.clone(), stop, done);
        if let Some(failed) = simulated.first_failure().map(|f| f.seed) {
            // How far the workers got beyond the failure depends on their number: count up to it, exactly.
            let exact = effort.seeds.start..failed + 1;
            let (counted, met) = self.simulate(case, effort, exact, stop, &AtomicU64::new(0));
            if counted.first_failure().is_some_and(|f| f.seed == failed) {
                (simulated, conflicts) = (counted, met);
            }
        }
        let mut report = CaseReport { case, simulated, real_runs: 0, real_difference: None, conflicts, cut: false };
        while report.real_runs < effort.real_runs && report.real_difference.is_none() && !stop.load(Ordering::Relaxed) {
            report.real_runs += 1;
            match self.run(&case) {
                Ok(met) => report.conflicts += met,
                Err(violation) => report.real_difference = Some(violation),
            }
        }
        report.cut = stop.load(Ordering::Relaxed);
        report
    }

    /// The simulated runs of a case up to the first failure, and the conflicts that they met.
    fn simulate(
        &self,
        case: Case,
        effort: &Effort,
        seeds: Range<u64>,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> (Report, u64) {
        let conflicts = AtomicU64::new(0);
        let counted = Counted::new(seeds.clone(), matches!(effort.strategy, Strategy::Dfs { .. }));
        let explorer = Explorer::new()
            .name(&self.token_name(&case))
            .seeds(seeds)
            .strategy(effort.strategy.clone())
            .max_steps(MAX_STEPS)
            .workers(effort.jobs)
            .count_distinct(true)
            .stop_when(stop)
            .progress(done);
        let report = explorer.run(|| match self.run(&case) {
            Ok(met) if counted.is_new() => {
                conflicts.fetch_add(met, Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(violation) => violation.raise(),
        });
        (report, conflicts.into_inner())
    }

    /// Runs a stored run of a case once more.
    #[must_use]
    pub fn replay(&self, case: &Case, token: &Token) -> Replay {
        interleaf::replay(token, || self.run_or_raise(case))
    }

    /// Follows a labelled choice log of a case, also through a program that has changed since.
    #[must_use]
    pub fn replay_choices(&self, case: &Case, log: &ChoiceLog) -> Replay {
        interleaf::replay_choices(&self.token_name(case), log, None, || self.run_or_raise(case))
    }

    fn run_or_raise(&self, case: &Case) {
        if let Err(violation) = self.run(case) {
            violation.raise();
        }
    }
}

impl CaseReport {
    /// The exit code that the case calls for, gates aside.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let simulated = self.simulated.failures.iter().map(|f: &Failure| Exit::of(&f.kind));
        Exit::decisive(simulated.chain(self.real_difference.as_ref().map(|_| Exit::Violated)))
    }
}

fn violation(case: &Case, difference: &Difference) -> Violation {
    let (predicate, place, expected, actual) = match difference {
        Difference::Receipt { index, expected, actual } => {
            let shown = |r: &Option<_>| {
                r.map_or_else(|| "none".to_owned(), |r: interleaf_engine::schedule::Receipt| r.to_string())
            };
            ("receipt", format!("transaction {index}"), shown(expected), shown(actual))
        }
        Difference::Created { position, expected, actual } => {
            ("created records", format!("record {position}"), format!("{expected:?}"), format!("{actual:?}"))
        }
        Difference::Consumed { position, expected, actual } => {
            ("consumed records", format!("record {position}"), format!("{expected:?}"), format!("{actual:?}"))
        }
        Difference::Totals { expected, actual } => {
            ("fees and issued value", "sums".to_owned(), format!("{expected:?}"), format!("{actual:?}"))
        }
    };
    Violation::new(NAME, &format!("{predicate} differs from sequential execution"))
        .expected(expected)
        .actual(actual)
        .event(format_args!("{place}, policy {}, {} workers", case.policy, case.workers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(policy: &str, workers: usize, planted: Option<Planted>) -> Case {
        Case { policy: policy.parse().unwrap(), workers, planted }
    }

    fn generated(spec: &str) -> Source {
        Source::Generated { spec: spec.parse().unwrap(), seed: 7 }
    }

    fn compare(source: Source, case: Case) -> CaseReport {
        let effort = Effort { seeds: 0..200, strategy: Strategy::Portfolio, real_runs: 2, jobs: 1 };
        let subject = Subject::load(source).unwrap();
        subject.compare(case, &effort, &AtomicBool::new(false), &AtomicU64::new(0))
    }

    // N8, O4.
    #[test]
    fn a_correct_scheduler_is_equivalent() {
        let report = compare(generated("conflicts:12:40%"), case("ready-queue", 3, None));
        assert_eq!(report.exit(), Exit::Passed);
        assert_eq!((report.simulated.executions, report.real_runs), (200, 2));
        let dependent = Subject::load(generated("conflicts:12:40%")).unwrap().dependent() as u64;
        assert_eq!(report.conflicts, 202 * dependent);
        assert!(dependent > 0 && report.simulated.distinct > 10);
    }

    // N8: a scheduler that starts successors too early is told apart, and the difference replays.
    #[test]
    fn a_broken_scheduler_differs_and_replays() {
        let bad = case("ready-queue:per-tx", 2, Some(Planted::ReadyBeforePublish));
        let report = compare(generated("random:8:60%"), bad);
        assert_eq!(report.exit(), Exit::Violated);
        let failure = report.simulated.first_failure().unwrap();
        assert!(failure.signature().starts_with(NAME), "{}", failure.signature());
        let token: Token = failure.token.parse().unwrap();
        let name: TokenName = token.name.parse().unwrap();
        let Replay::Failed(again) = Subject::load(name.source).unwrap().replay(&name.case, &token) else {
            panic!("it must fail again")
        };
        assert_eq!(again.trace, failure.trace);
    }
}
