//! The campaign: many runs of many scenarios, within limits.
#![allow(
    clippy::disallowed_methods,
    reason = "the campaign runs outside of simulated runs: limits and speed are in real time"
)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interleaf::{Failure, MemoryModel, Report, Strategy};

use super::exploration::{Exploration, is_search};
use super::rounds::{Rounds, Share};
use super::verdict::{Evidence, Verdict};
use super::{Exit, Subject};
use crate::scenario::Tally;

/// How often the limits are looked at and the progress is shown.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What one scenario of a campaign runs.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The scenario.
    pub subject: Subject,
    /// Its part of each round relative to the others; at least 1.
    pub weight: u64,
    /// The first seed.
    pub first_seed: u64,
    /// Most runs.
    pub runs: u64,
    /// All in the first round.
    pub at_once: bool,
    /// Not seeds, but every distinguishable interleaving once, of which there are so many.
    pub exhaustive: Option<u64>,
}

impl Entry {
    /// What is run of a scenario that has so many distinguishable interleavings, if all are to be run.
    #[must_use]
    pub const fn exhaustive(subject: Subject, weight: u64, interleavings: u64) -> Self {
        // One more would already be one too many.
        let runs = interleavings + 1;
        Self { subject, weight, first_seed: 0, runs, at_once: true, exhaustive: Some(interleavings) }
    }
}

/// Many runs of many scenarios.
pub struct Campaign<'a> {
    /// What is run.
    pub entries: Vec<Entry>,
    /// The strategy, whatever the scenarios prefer.
    pub strategy: Option<Strategy>,
    /// The strategy of scenarios that prefer none.
    pub otherwise: Strategy,
    /// What atomics mean.
    pub memory_model: MemoryModel,
    /// Number of OS threads. Results do not depend on it.
    pub jobs: usize,
    /// A scenario ends after this many failures.
    pub max_failures: usize,
    /// The campaign ends after this time.
    pub budget: Option<Duration>,
    /// Whether too little to show anything is a failure.
    pub gates: bool,
    /// Set from outside to end the campaign.
    pub interrupted: &'a AtomicBool,
}

/// Why a campaign ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The user interrupted it.
    Interrupted,
    /// Its budget was spent.
    Budget,
}

/// Consecutive seeds of one scenario.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The seeds that were to be run.
    pub seeds: Range<u64>,
    /// Runs made.
    pub executions: u64,
    /// Steps of those runs.
    pub steps: u64,
    /// Seeds that failed.
    pub failed: Vec<u64>,
}

/// What a campaign showed of one scenario.
pub struct Row {
    /// The scenario.
    pub subject: Subject,
    /// The strategy of its runs.
    pub strategy: Strategy,
    /// The first seed.
    pub first_seed: u64,
    /// Runs, steps, distinct interleavings, failures by seed.
    pub report: Report,
    /// Conflicts met in runs that passed.
    pub conflicts: u64,
    /// Real time.
    pub elapsed: Duration,
    /// What was run, in order.
    pub batches: Vec<Batch>,
    /// What it showed.
    pub verdict: Verdict,
}

/// What a campaign showed.
pub struct Outcome {
    /// One row per scenario, in the order of the entries.
    pub rows: Vec<Row>,
    /// Why it ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Real time.
    pub elapsed: Duration,
}

impl Outcome {
    /// The exit code of the campaign.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let interrupted = self.stopped == Some(Stopped::Interrupted);
        let own = interrupted.then_some(Exit::Inconclusive);
        Exit::decisive(self.rows.iter().map(|r| r.verdict.exit()).chain(own))
    }

    /// Runs of all scenarios.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.rows.iter().map(|r| r.report.executions).sum()
    }
}

/// Ends the ticker, also if a panic ends the campaign.
pub(super) struct Over<'a>(pub(super) &'a AtomicBool, pub(super) std::thread::Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

/// A row while the campaign goes on.
struct Progress {
    entry: Entry,
    strategy: Strategy,
    report: Report,
    tally: Tally,
    elapsed: Duration,
    batches: Vec<Batch>,
    next_seed: u64,
    /// Failed often enough, or searched to the end.
    settled: bool,
}

impl Campaign<'_> {
    /// Runs it. `tick` is called from another thread, several times a second, with the number of runs so far.
    pub fn run(&self, tick: &(dyn Fn(u64) + Sync)) -> Outcome {
        let (stop, over, done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
        let start = Instant::now();
        let rows = std::thread::scope(|scope| {
            let ticker = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if self.interrupted.load(Ordering::Relaxed) || self.budget.is_some_and(|b| start.elapsed() >= b) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    tick(done.load(Ordering::Relaxed));
                    std::thread::park_timeout(TICK);
                }
            });
            let _over = Over(&over, ticker.thread().clone());
            self.rounds(&stop, &done)
        });
        let stopped = stop.load(Ordering::Relaxed).then(|| match self.interrupted.load(Ordering::Relaxed) {
            true => Stopped::Interrupted,
            false => Stopped::Budget,
        });
        let rows = rows.into_iter().map(|row| self.judge(row, stopped)).collect();
        Outcome { rows, stopped, elapsed: start.elapsed() }
    }

    fn rounds(&self, stop: &AtomicBool, done: &AtomicU64) -> Vec<Progress> {
        let mut rows: Vec<Progress> = self.entries.iter().map(|entry| self.begin(*entry)).collect();
        let share = |row: &Progress| Share {
            weight: row.entry.weight.max(1),
            limit: row.entry.runs,
            at_once: row.entry.at_once || is_search(&row.strategy),
        };
        let mut rounds = Rounds::new(rows.iter().map(share).collect());
        while let Some(runs) = rounds.deal() {
            for (index, (row, runs)) in rows.iter_mut().zip(runs).enumerate() {
                if stop.load(Ordering::Relaxed) {
                    return rows;
                }
                if runs > 0 {
                    self.explore(row, runs, stop, done);
                }
                if row.settled {
                    rounds.finish(index);
                }
            }
        }
        rows
    }

    fn begin(&self, entry: Entry) -> Progress {
        Progress {
            entry,
            strategy: match entry.exhaustive {
                Some(_) => Strategy::Exhaustive { preemptions: None },
                None => entry.subject.strategy(self.strategy.as_ref(), &self.otherwise),
            },
            report: Report::default(),
            tally: Tally::default(),
            elapsed: Duration::ZERO,
            batches: Vec::new(),
            next_seed: entry.first_seed,
            settled: false,
        }
    }

    /// Runs the next seeds of one scenario.
    fn explore(&self, row: &mut Progress, runs: u64, stop: &AtomicBool, done: &AtomicU64) {
        let start = Instant::now();
        let seeds = row.next_seed..row.next_seed.saturating_add(runs);
        row.next_seed = seeds.end;
        let failed_before = row.report.failures.len();
        let wanted = self.max_failures.saturating_sub(failed_before).max(1);
        let (mut report, mut conflicts) = self.once(self.jobs, row, seeds.clone(), wanted, stop, done);
        if row.entry.exhaustive.is_some() {
            if self.jobs > 1 && !report.failures.is_empty() {
                // Which interleaving fails first depends on the number of workers: ask one.
                (report, conflicts) = self.once(1, row, seeds.clone(), wanted, stop, &AtomicU64::new(0));
            }
            report.failures.extend(Exploration::nondeterminism(&row.entry.subject).map(|stray| *stray));
        }
        row.settled = report.failures.len() >= wanted || is_search(&row.strategy);
        if let Some(last) = report.failures.last().map(|f| f.seed).filter(|_| row.settled && !is_search(&row.strategy))
        {
            // How far the workers got beyond the last failure depends on their number: count up to it, exactly.
            let exact = seeds.start..last + 1;
            let (mut counted, met) = self.once(self.jobs, row, exact, usize::MAX, stop, &AtomicU64::new(0));
            if !stop.load(Ordering::Relaxed) {
                counted.failures = std::mem::take(&mut report.failures);
                (report, conflicts) = (counted, met);
            }
        }
        row.tally.conflicts(conflicts);
        row.elapsed += start.elapsed();
        row.batches.push(Batch {
            seeds,
            executions: report.executions,
            steps: report.steps,
            failed: report.failures.iter().map(|f| f.seed).collect(),
        });
        row.report.merge(report);
    }

    fn once(
        &self,
        jobs: usize,
        row: &Progress,
        seeds: Range<u64>,
        max_failures: usize,
        stop: &AtomicBool,
        done: &AtomicU64,
    ) -> (Report, u64) {
        let tally = Tally::default();
        let subject = row.entry.subject;
        let world = subject.world(seeds.clone(), is_search(&row.strategy), &tally);
        let explorer =
            subject.explorer(row.strategy.clone()).memory_model(self.memory_model).seeds(seeds).workers(jobs);
        let report = explorer.max_failures(max_failures).stop_when(stop).progress(done).run(world);
        (report, tally.conflicts_met())
    }

    fn judge(&self, row: Progress, stopped: Option<Stopped>) -> Row {
        let report = row.report;
        let conflicts = row.tally.conflicts_met();
        let complete = (row.settled && row.entry.exhaustive.is_none())
            || report.complete
            || !report.failures.is_empty()
            || report.executions >= row.entry.runs;
        let scenario = row.entry.subject.scenario;
        let verdict = Evidence {
            expected: scenario.expected,
            armed: scenario.faults,
            executions: report.executions,
            failures: &report.failures,
            conflicts,
            fired: report.fired,
            cut: stopped.filter(|_| !complete),
            gates: self.gates,
            exhaustive: row.entry.exhaustive.map(|expected| (expected, report.complete)),
        }
        .judge();
        Row {
            subject: row.entry.subject,
            strategy: row.strategy,
            first_seed: row.entry.first_seed,
            report,
            conflicts,
            elapsed: row.elapsed,
            batches: row.batches,
            verdict,
        }
    }
}

impl Row {
    /// The failed runs that should not have.
    pub fn unexpected(&self) -> impl Iterator<Item = &Failure> {
        let expected = self.subject.scenario.expected;
        self.report.failures.iter().filter(move |f| !super::verdict::is_expected(expected, f))
    }

    /// Whether every distinguishable interleaving was to be run, once, instead of seeds.
    #[must_use]
    pub const fn is_exhaustive(&self) -> bool {
        matches!(self.strategy, Strategy::Exhaustive { preemptions: None })
    }

    /// Steps in a second of real time.
    #[must_use]
    pub fn steps_per_second(&self) -> u64 {
        (self.report.steps as f64 / self.elapsed.as_secs_f64().max(1e-9)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn row(entry: Entry, jobs: usize, max_failures: usize) -> Row {
        let campaign = Campaign {
            entries: vec![entry],
            strategy: None,
            otherwise: Strategy::Portfolio,
            memory_model: MemoryModel::Sc,
            jobs,
            max_failures,
            budget: None,
            gates: true,
            interrupted: &NEVER,
        };
        campaign.run(&|_| {}).rows.remove(0)
    }

    fn outcome(name: &str, jobs: usize, max_failures: usize) -> Row {
        let subject = name.parse().unwrap();
        let entry = Entry { subject, weight: 1, first_seed: 5, runs: 700, at_once: false, exhaustive: None };
        row(entry, jobs, max_failures)
    }

    #[test]
    fn counts_do_not_depend_on_the_number_of_workers() {
        let counts = |row: &Row| {
            let seeds: Vec<u64> = row.report.failures.iter().map(|f| f.seed).collect();
            let coverage = row.report.coverage.clone();
            (row.report.executions, row.report.steps, row.report.distinct, row.conflicts, seeds, coverage)
        };
        for (name, max_failures) in [("fixture.passes", 1), ("fixture.canary", 1), ("fixture.canary", 3)] {
            let one = outcome(name, 1, max_failures);
            assert_eq!(counts(&one), counts(&outcome(name, 3, max_failures)), "{name}");
            assert_eq!(one.report.failures.len(), if name == "fixture.passes" { 0 } else { max_failures });
        }
    }

    #[test]
    fn all_interleavings_up_to_the_first_failure_are_counted_by_one_worker() {
        let counts = |jobs| {
            let subject = "ledger.add_tx_against_add_block+check-then-act".parse().unwrap();
            let row = row(Entry::exhaustive(subject, 1, 10_000), jobs, 1);
            (row.report.executions, row.report.failures[0].token.clone(), row.conflicts)
        };
        let one = counts(1);
        (0..20).for_each(|_| assert_eq!(counts(3), one));
    }

    #[test]
    fn verdicts() {
        let verdict = |name| outcome(name, 1, 1).verdict;
        assert_eq!(verdict("fixture.passes"), Verdict::Holds);
        assert_eq!(verdict("fixture.canary"), Verdict::Failed(Exit::Violated));
        assert_eq!(verdict("fixture.deadlocks"), Verdict::Failed(Exit::NotSettled));
        assert_eq!(verdict("fixture.panics"), Verdict::Failed(Exit::Panicked));
        assert_eq!(verdict("fixture.nondeterministic"), Verdict::Failed(Exit::Nondeterministic));
        assert!(matches!(verdict("fixture.endless"), Verdict::Inconclusive(why) if why.contains("1000 steps")));
        assert_eq!(verdict("fixture.no-conflicts"), Verdict::Gate(vec!["no conflict met in 700 runs".into()]));
        assert!(matches!(verdict("fixture.tame"), Verdict::Gate(why) if why[0].contains("must break fixture.sum")));
        assert!(matches!(verdict("fixture.silent-fault"), Verdict::Gate(why) if why[0].contains("never fired")));
    }
}
