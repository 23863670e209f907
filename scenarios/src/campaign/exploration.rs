//! Every distinguishable interleaving of one scenario: until all were run, enough failed, or a limit was reached.
#![allow(clippy::disallowed_methods, reason = "runs outside of simulated runs: limits and speed are in real time")]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interleaf::{Equivalence, Failure, FailureKind, Frontier, MemoryModel, Report, Strategy, Watch};

use super::runner::{Over, TICK};
use super::saved::{Bound, Estimated, Failed, Part, Saved, Totals};
use super::verdict::{Evidence, Verdict, is_expected};
use super::{Exit, Subject};
use crate::scenario::Tally;

/// Samples that are made unless a number is given end after this time: some scenarios have runs of seconds.
pub const ESTIMATE_TIME: Duration = Duration::from_secs(2);

/// Seeds that are run, and the 1st, 2nd, 4th, … of them compared, to see whether runs come again as they were.
const SAMPLED: Range<u64> = 0..16;

/// Whether a strategy goes by no seed: it is run at once, and has its own end.
pub(super) const fn is_search(strategy: &Strategy) -> bool {
    matches!(strategy, Strategy::Dfs { .. }) || is_exploration(strategy)
}

/// Whether a strategy makes one run for each distinguishable interleaving.
#[must_use]
pub const fn is_exploration(strategy: &Strategy) -> bool {
    matches!(strategy, Strategy::Exhaustive { .. } | Strategy::Iterative { .. } | Strategy::Delays { .. })
}

/// An exploration to be made.
pub struct Exploration<'a> {
    /// What is explored.
    pub subject: Subject,
    /// The seed of all runs.
    pub seed: u64,
    /// Which interleavings.
    pub bound: Bound,
    /// What atomics mean.
    pub memory_model: MemoryModel,
    /// Which runs count as the same.
    pub equivalence: Equivalence,
    /// Most interleavings of this session.
    pub most: Option<u64>,
    /// Number of OS threads. What is explored does not depend on it.
    pub jobs: usize,
    /// It ends after this many failures.
    pub max_failures: usize,
    /// It ends after this time.
    pub budget: Option<Duration>,
    /// What an earlier session left.
    pub earlier: Option<Saved>,
    /// Set from outside to end it.
    pub interrupted: &'a AtomicBool,
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Interleavings of this session.
    pub interleavings: u64,
    /// Runs on the path of the search.
    pub depth: u64,
}

/// Why an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left.
    Complete,
    /// Nothing is left, but runs that failed ended there, so that other interleavings may be missing.
    Cut,
    /// Enough failed.
    Failed,
    /// The most interleavings were run.
    Most,
    /// The budget was spent.
    Budget,
    /// The user interrupted it.
    Interrupted,
}

impl Ended {
    /// For programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::Most => "max",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
        }
    }

    /// For people.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Complete => "nothing is left",
            Self::Cut => "a run that fails ends there, so others may be missing",
            Self::Failed => "the others were not run",
            Self::Most => "--max was reached",
            Self::Budget => "the budget was spent",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What an exploration showed.
pub struct Explored {
    /// What was explored.
    pub subject: Subject,
    /// The seed of all runs.
    pub seed: u64,
    /// Which interleavings were.
    pub bound: Bound,
    /// Which runs counted as the same.
    pub equivalence: Equivalence,
    /// This session.
    pub report: Report,
    /// All sessions.
    pub totals: Totals,
    /// The part that it was, if the exploration was divided.
    pub part: Option<Part>,
    /// Why it ended.
    pub ended: Ended,
    /// What is left, with the totals, unless it is complete.
    pub left: Option<Saved>,
    /// Real time of this session.
    pub elapsed: Duration,
    /// What all sessions together showed.
    pub verdict: Verdict,
}

impl Exploration<'_> {
    /// Estimates the number of interleavings, of all sessions. `None` if there was time for no sample.
    #[must_use]
    pub fn estimate(&self, samples: u32, time: Option<Duration>) -> Option<Estimated> {
        let tally = Tally::default();
        let mut explorer = self.subject.explorer(self.bound.strategy()).count_distinct(false);
        if let Some(time) = [self.budget, time].into_iter().flatten().min() {
            explorer = explorer.budget(time);
        }
        // No interleaving besides the samples.
        let explorer = explorer.seeds(self.seed..self.seed).estimate(samples).stop_when(self.interrupted);
        Estimated::of(explorer.run(self.subject.world(self.of_seed(), true, &tally)).exhaustive.estimate)
    }

    /// Whether the same seed gives the same run, on a few seeds. An exploration relies on it and would not notice: what
    /// does not come again as it was belongs to no part of the tree.
    #[must_use]
    pub fn nondeterminism(subject: &Subject) -> Option<Box<Failure>> {
        let tally = Tally::default();
        let explorer =
            subject.explorer(Strategy::Portfolio).count_distinct(false).seeds(SAMPLED).max_failures(usize::MAX);
        let report = explorer.run(subject.world(SAMPLED, false, &tally));
        let strays = |f: &Failure| matches!(f.kind, FailureKind::Nondeterminism { .. });
        report.failures.into_iter().find(strays).map(Box::new)
    }

    /// Explores. `tick` is called from another thread, several times a second.
    pub fn run(&self, estimate: Option<Estimated>, tick: &(dyn Fn(Seen) + Sync)) -> Explored {
        let (tally, watch, done) = (Tally::default(), Watch::new(), AtomicU64::new(0));
        let most = self.most.unwrap_or(u64::MAX);
        let mut explorer = self
            .subject
            .explorer(self.bound.strategy())
            .memory_model(self.memory_model)
            .equivalence(self.equivalence)
            .count_distinct(false)
            .seeds(self.seed..self.seed.saturating_add(most))
            .workers(self.jobs)
            .max_failures(self.max_failures)
            .stop_when(self.interrupted)
            .progress(&done)
            .watch(&watch);
        if let Some(budget) = self.budget {
            explorer = explorer.budget(budget);
        }
        if let Some(earlier) = &self.earlier {
            explorer = explorer.resume(earlier.left.clone());
        }
        let start = Instant::now();
        let over = AtomicBool::new(false);
        let mut report = std::thread::scope(|scope| {
            let ticker = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    tick(Seen { interleavings: done.load(Ordering::Relaxed), depth: watch.depth() });
                    std::thread::park_timeout(TICK);
                }
            });
            let _over = Over(&over, ticker.thread().clone());
            explorer.run(self.subject.world(self.of_seed(), true, &tally))
        });
        if let Some(stray) = Self::nondeterminism(&self.subject) {
            report.failures.insert(0, *stray);
        }
        self.conclude(report, estimate, tally.conflicts_met(), start.elapsed())
    }

    fn conclude(&self, mut report: Report, estimate: Option<Estimated>, conflicts: u64, elapsed: Duration) -> Explored {
        let ended = self.ended(&report, elapsed);
        let mut totals = self.earlier.as_ref().map(|saved| saved.totals.clone()).unwrap_or_default();
        let sooner = !totals.failures.is_empty();
        totals.estimate = totals.estimate.or(estimate);
        self.add(&mut totals, &report, conflicts, elapsed);
        let part = self.earlier.as_ref().and_then(|saved| saved.part);
        let verdict = match ended {
            Ended::Complete | Ended::Cut | Ended::Failed => self.judge(&report, &totals, part.is_none() && !sooner),
            _ if totals.failures.iter().any(|f| f.exit != 0) => self.judge(&report, &totals, false),
            _ => Verdict::Inconclusive(ended.reason().into()),
        };
        let saved = |left: Frontier| Saved {
            seed: self.seed,
            bound: self.bound,
            part,
            totals: totals.clone(),
            left,
            other_code: false,
        };
        let left = report.frontier.take().map(saved);
        Explored {
            subject: self.subject,
            seed: self.seed,
            bound: self.bound,
            equivalence: self.equivalence,
            report,
            totals,
            part,
            ended,
            left,
            elapsed,
            verdict,
        }
    }

    /// Whether an exploration of this kind that does not finish says what is left.
    fn can_be_saved(&self) -> bool {
        self.memory_model == MemoryModel::Sc && self.equivalence == Equivalence::Traces
    }

    const fn of_seed(&self) -> Range<u64> {
        self.seed..self.seed + 1
    }

    fn ended(&self, report: &Report, elapsed: Duration) -> Ended {
        if report.complete {
            Ended::Complete
        } else if report.frontier.is_none() && self.can_be_saved() {
            Ended::Cut
        } else if report.failures.len() >= self.max_failures {
            Ended::Failed
        } else if self.interrupted.load(Ordering::Relaxed) {
            Ended::Interrupted
        } else if self.budget.is_some_and(|budget| elapsed >= budget) {
            Ended::Budget
        } else if self.most.is_some_and(|most| report.executions >= most) || report.frontier.is_some() {
            Ended::Most
        } else {
            Ended::Cut
        }
    }

    fn add(&self, totals: &mut Totals, report: &Report, conflicts: u64, elapsed: Duration) {
        let more = &report.exhaustive;
        if totals.sessions == 0 {
            (totals.schedules, totals.schedules_are_exact) = (Some(0), true);
        }
        totals.schedules = totals.schedules.zip(more.schedules).and_then(|(a, b)| a.checked_add(b));
        totals.schedules_are_exact &= more.schedules_are_exact;
        totals.beyond += more.beyond;
        totals.sessions += 1;
        totals.interleavings += report.executions;
        totals.steps += report.steps;
        totals.redundant += more.redundant;
        totals.probes += more.probes;
        totals.depth = totals.depth.max(more.depth);
        totals.conflicts |= conflicts > 0;
        totals.fired[0] += report.fired[0];
        totals.fired[1] += report.fired[1];
        totals.milliseconds += elapsed.as_millis() as u64;
        totals.failures.extend(report.failures.iter().map(|failure| Failed {
            signature: failure.signature(),
            token: failure.token.clone(),
            exit: self.exit_of(failure).code(),
        }));
    }

    fn exit_of(&self, failure: &Failure) -> Exit {
        let expected = is_expected(self.subject.scenario.expected, failure);
        if expected { Exit::Passed } else { Exit::of(&failure.kind) }
    }

    /// All sessions together.
    fn judge(&self, report: &Report, totals: &Totals, gates: bool) -> Verdict {
        let scenario = self.subject.scenario;
        let evidence = Evidence {
            expected: scenario.expected,
            armed: scenario.faults,
            executions: totals.interleavings,
            failures: &report.failures,
            conflicts: u64::from(totals.conflicts),
            fired: totals.fired,
            cut: None,
            gates,
            exhaustive: None,
        };
        let verdict = evidence.judge();
        let earlier = totals.failures.iter().filter_map(|f| Exit::of_code(f.exit)).filter(|exit| *exit != Exit::Passed);
        match Exit::decisive(earlier.chain([verdict.exit()])) {
            exit if exit == verdict.exit() && exit != Exit::Passed => verdict,
            Exit::Passed if totals.failures.is_empty() => verdict,
            Exit::Passed => Verdict::Breaks,
            Exit::Inconclusive => Verdict::Inconclusive("a run did not finish: see its failure".into()),
            exit => Verdict::Failed(exit),
        }
    }
}
