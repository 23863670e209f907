//! What one OS thread of an exploration does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::choice::stream_seed;
use crate::runtime::execution::{Detail, Machine, Outcome};
use crate::strategy::bytes::Bytes;
use crate::strategy::dfs::Dfs;
use crate::strategy::replay::Raw;
use crate::strategy::{Active, Plan, Strategy};
use crate::trace::Trace;

use super::coverage::Tally;
use super::explorer::{Explorer, Report};
use super::failure::{Failure, FailureKind, STRATEGY_PANIC};
use super::token::Token;

/// Seeds that a worker takes at a time.
const BLOCK: u64 = 64;

/// Runs made beforehand to learn how long the program is. Their seeds are fixed, so that what a seed means does not
/// depend on which seeds were run before, or by how many workers.
const PROFILE_RUNS: u64 = 8;

/// As many for strategies that need to know how many operations each thread has: a thread that returns early in a few
/// runs must not be taken for a short one.
const COUNTING_RUNS: u64 = 20;

/// What the profile says of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    /// Most steps of a run: PCT spreads its change points over them.
    length: u32,
    /// Locks are tried: every release is a scheduling point.
    every_operation: bool,
}

pub(crate) struct Worker<'a, 'b, F> {
    explorer: &'a Explorer<'b>,
    f: &'a F,
    pub(crate) machine: Machine,
    pub(crate) report: Report,
    /// Classes seen, by [`Strategy::parts`].
    tallies: Vec<Tally>,
    profile: Profile,
    deadline: Option<Instant>,
}

impl<'a, 'b, F: Fn() + Sync> Worker<'a, 'b, F> {
    pub(crate) fn new(explorer: &'a Explorer<'b>, deadline: Option<Instant>, f: &'a F) -> Self {
        let machine = Machine::new(explorer.settings);
        let report = Report::empty();
        let profile = Profile { length: 2, every_operation: false };
        let tallies = explorer.strategy.parts().iter().map(|_| Tally::new()).collect();
        let mut worker = Self { explorer, f, machine, report, tallies, profile, deadline };
        use Strategy::{Pct, Portfolio, Pos, Random, Surw, Urw};
        if matches!(explorer.strategy, Random | Pct { .. } | Pos | Urw | Surw | Portfolio) {
            worker.profile = worker.measure();
            worker.machine.every_operation(worker.profile.every_operation);
        }
        worker
    }

    fn measure(&mut self) -> Profile {
        let mut profile = Profile { length: 2, every_operation: false };
        let strategy = &self.explorer.strategy;
        let counts = matches!(strategy, Strategy::Urw | Strategy::Surw | Strategy::Portfolio);
        let objects = matches!(strategy, Strategy::Surw);
        self.machine.forget_profile(objects);
        for i in 0..if counts { COUNTING_RUNS } else { PROFILE_RUNS } {
            if i == PROFILE_RUNS && profile.every_operation {
                // What was counted without the releases is void.
                self.machine.every_operation(true);
                self.machine.forget_profile(objects);
            }
            let plan = if counts { Plan::Learn } else { Plan::Random };
            let outcome = self.machine.run(self.f, stream_seed(i, "profile"), plan, Detail::Choices, None);
            self.machine.learn_profile();
            // These two are the same whether or not operations are counted, so PCT is the same alone and in the portfolio.
            if i < PROFILE_RUNS {
                profile.length = profile.length.max(outcome.steps);
                profile.every_operation |= outcome.observed_late;
            }
        }
        profile
    }

    /// Takes blocks of seeds until there are none, or enough has failed.
    pub(super) fn run(mut self, next: &AtomicU64, found: &AtomicU64, total: &Mutex<Report>) {
        let seeds = &self.explorer.seeds;
        while found.load(Ordering::Relaxed) < self.explorer.max_failures as u64 {
            let first = next.fetch_add(BLOCK, Ordering::Relaxed);
            if first >= seeds.end || self.is_late() {
                break;
            }
            // A block is run to its end unless the whole exploration is stopped. Blocks are taken in order, so all seeds
            // below a failing one are run, and the least failing seeds are found whatever the number of workers.
            for seed in first..seeds.end.min(first.saturating_add(BLOCK)) {
                if self.is_stopped() {
                    break;
                }
                if self.one(seed) {
                    found.fetch_add(1, Ordering::Relaxed);
                }
            }
            if let Some(counter) = self.explorer.progress {
                counter.fetch_add(seeds.end.min(first + BLOCK) - first, Ordering::Relaxed);
            }
        }
        self.report.abandoned = self.machine.rt().abandoned;
        self.report.cover(self.explorer.strategy.parts(), self.tallies);
        total.lock().unwrap_or_else(PoisonError::into_inner).merge(self.report);
    }

    /// The flag is set.
    pub(crate) fn is_stopped(&self) -> bool {
        self.explorer.stop.is_some_and(|s| s.load(Ordering::Relaxed))
    }

    /// The flag is set or the budget is spent. Looks at the clock, which costs as much as a small execution.
    pub(crate) fn is_late(&self) -> bool {
        self.is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Runs one seed. True if it failed.
    fn one(&mut self, seed: u64) -> bool {
        let detail = if self.explorer.distinct { Detail::Order } else { Detail::Choices };
        let outcome = self.execute(seed, detail);
        self.count(&outcome);
        if self.explorer.distinct {
            self.tallies[self.explorer.strategy.part(seed)].add(outcome.interleaving);
        }
        if let Some(kind) = outcome.failure {
            let failure = self.confirm(seed, *kind, outcome.steps);
            self.report.failures.push(failure);
            return true;
        }
        let offset = seed - self.explorer.seeds.start;
        if self.explorer.determinism && (offset == 0 || offset.is_power_of_two()) {
            return self.compare(seed);
        }
        false
    }

    /// The search is so many runs deep.
    pub(crate) fn is_at_depth(&mut self, depth: usize) {
        let report = &mut self.report.exhaustive;
        report.depth = report.depth.max(depth as u64);
        if let Some(watch) = self.explorer.watch {
            watch.set_depth(depth as u64);
        }
    }

    pub(crate) fn count(&mut self, outcome: &Outcome) {
        self.report.executions += 1;
        self.report.steps += u64::from(outcome.steps);
        self.report.fired[0] += u64::from(outcome.fired[0]);
        self.report.fired[1] += u64::from(outcome.fired[1]);
        if self.explorer.distinct {
            self.report.set.add(outcome.interleaving);
        }
    }

    /// Runs a seed, once more if a `try_` operation came to light too late.
    // Inlined down to the switch, as are the functions it calls: plans and outcomes passed through memory are written in
    // small parts and read in large ones, and each such read waits for the store buffer.
    #[inline(always)]
    fn execute(&mut self, seed: u64, detail: Detail) -> Outcome {
        self.machine.every_operation(self.profile.every_operation);
        let outcome = self.run_plan(seed, self.plan(seed), detail);
        if outcome.observed_late { self.repeat(seed, detail) } else { outcome }
    }

    #[cold]
    #[inline(never)]
    fn repeat(&mut self, seed: u64, detail: Detail) -> Outcome {
        self.report.repeated += 1;
        self.machine.every_operation(true);
        self.run_plan(seed, self.plan(seed), detail)
    }

    #[inline(always)]
    pub(crate) fn run_plan(&mut self, seed: u64, plan: Plan, detail: Detail) -> Outcome {
        let monitor = self.explorer.monitor.as_ref().map(|make| make());
        self.machine.run(self.f, seed, plan, detail, monitor)
    }

    /// The strategy of a seed.
    #[inline(always)]
    fn plan(&self, seed: u64) -> Plan {
        let pct = |depth| Plan::Pct { depth, length: self.profile.length };
        match &self.explorer.strategy {
            Strategy::Random => Plan::Random,
            Strategy::Pct { depth } => pct(*depth),
            Strategy::Pos => Plan::Pos,
            Strategy::Urw => Plan::Urw,
            Strategy::Surw => Plan::Surw,
            Strategy::Portfolio => match Strategy::member(seed) {
                0 => pct(2),
                1 => Plan::Pos,
                _ => Plan::Urw,
            },
            Strategy::Bytes(input) => Plan::Asked(Active::Asked(Box::new(Bytes::new(input.clone())))),
            Strategy::Custom(make) => Plan::Asked(Active::Asked(make(seed))),
            Strategy::Dfs { .. }
            | Strategy::Exhaustive { .. }
            | Strategy::Iterative { .. }
            | Strategy::Delays { .. } => Plan::Random,
        }
    }

    /// Its name, for reports.
    fn strategy_name(&self, seed: u64) -> String {
        let strategy = &self.explorer.strategy;
        strategy.parts()[strategy.part(seed)].to_string()
    }

    /// Runs the failed run again with everything on. If it does not fail in the same way, the program is not under
    /// control, and that is the failure.
    pub(crate) fn confirm(&mut self, seed: u64, kind: FailureKind, steps: u32) -> Failure {
        let log = self.machine.choices().to_vec();
        let again = self.run_plan(seed, Plan::Asked(Active::Raw(Raw::new(log))), Detail::Full);
        let trace = self.machine.trace();
        let kind = match again.failure.map(|f| *f) {
            // The log repeats the run without the strategy, so its panic cannot come again.
            _ if matches!(&kind, FailureKind::Panic { thread, .. } if thread == STRATEGY_PANIC) => kind,
            Some(again) if std::mem::discriminant(&again) == std::mem::discriminant(&kind) => again,
            other => FailureKind::Nondeterminism {
                event: trace.events.len(),
                first: format!("{} after {steps} steps", kind.headline()),
                second: match other {
                    Some(other) => other.headline(),
                    None => format!("no failure, {} steps", again.steps),
                },
            },
        };
        self.failure(seed, kind, trace)
    }

    /// The token of the last run.
    pub(crate) fn token(&self, seed: u64, trace: &Trace) -> String {
        Token::of(&self.explorer.name, seed, self.machine.settings_of_last_run(), trace).to_string()
    }

    fn failure(&self, seed: u64, mut kind: FailureKind, trace: Trace) -> Failure {
        let token = self.token(seed, &trace);
        let backtrace = kind.take_backtrace();
        let strategy = self.strategy_name(seed);
        Failure {
            kind,
            seed,
            strategy,
            found_after: self.report.executions - 1,
            token,
            trace,
            backtrace,
            reversal: None,
        }
    }

    /// Runs a seed twice more with everything on and compares event by event.
    fn compare(&mut self, seed: u64) -> bool {
        self.report.compared += 1;
        let first_outcome = self.execute(seed, Detail::Full);
        let first = self.machine.trace();
        let second_outcome = self.execute(seed, Detail::Full);
        let second = self.machine.trace();
        // The seed has passed once before.
        let failed = first_outcome.failure.is_some() || second_outcome.failure.is_some();
        let event = match first.first_difference(&second) {
            Some(event) => event,
            None if first_outcome.steps != second_outcome.steps || failed => first.events.len(),
            None => return false,
        };
        let end = |outcome: &Outcome| match &outcome.failure {
            Some(kind) => kind.headline(),
            None => "the end of the run".into(),
        };
        let show = |t: &Trace, outcome: &Outcome| match t.events.get(event) {
            Some(e) => format!(
                "{} {} {} at {}",
                t.thread_label(e.thread),
                crate::trace::verb(e.kind),
                e.object.map_or_else(String::new, |o| t.object_label(o)),
                e.location
            ),
            None => end(outcome),
        };
        let kind = FailureKind::Nondeterminism {
            event,
            first: show(&first, &first_outcome),
            second: show(&second, &second_outcome),
        };
        let failure = self.failure(seed, kind, second);
        self.report.failures.push(failure);
        true
    }
}

/// Depth-first search over all schedules.
pub(super) fn search<F: Fn() + Sync>(
    explorer: &Explorer<'_>,
    preemptions: Option<u32>,
    deadline: Option<Instant>,
    f: &F,
) -> Report {
    let mut worker = Worker::new(explorer, deadline, f);
    let seed = explorer.seeds.start;
    let limit = explorer.seeds.end.saturating_sub(seed);
    let detail = if explorer.distinct { Detail::Order } else { Detail::Choices };
    let mut dfs = Box::new(Dfs::new(preemptions));
    let mut every_operation = false;
    while worker.report.executions < limit
        && !worker.is_stopped()
        && !(worker.report.executions.is_multiple_of(BLOCK) && worker.is_late())
    {
        let outcome = worker.run_plan(seed, Plan::Asked(Active::Dfs(dfs)), detail);
        let Active::Dfs(back) = worker.machine.take_active() else { unreachable!("the run gives its strategy back") };
        dfs = back;
        if outcome.observed_late && !every_operation {
            every_operation = true;
            worker.machine.every_operation(true);
            worker.report = Report::empty();
            worker.report.repeated = 1;
            dfs = Box::new(Dfs::new(preemptions));
            continue;
        }
        worker.count(&outcome);
        if let Some(counter) = explorer.progress {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(kind) = outcome.failure {
            let failure = worker.confirm(seed, *kind, outcome.steps);
            worker.report.failures.push(failure);
            if worker.report.failures.len() >= explorer.max_failures {
                break;
            }
        }
        if !dfs.advance() {
            worker.report.complete = true;
            break;
        }
    }
    worker.report.abandoned = worker.machine.rt().abandoned;
    worker.report.finish(explorer.max_failures);
    worker.report
}
