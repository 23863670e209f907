//! The public way to run many executions.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::fault::Faults;
use crate::monitor::Monitor;
use crate::runtime::rt::Settings;
use crate::strategy::Strategy;
use crate::time::Time;

use super::distinct::Distinct;
use super::failure::Failure;
use super::worker::{Worker, search};

/// Default for [`Explorer::max_steps`].
const MAX_STEPS: u32 = 200_000;

pub(crate) type MonitorFactory<'a> = dyn Fn() -> Box<dyn Monitor> + Send + Sync + 'a;

/// Runs a closure many times, each time under another schedule, and reports what failed.
///
/// ```
/// use interleaf::sync::{Arc, Mutex};
/// use interleaf::{Explorer, thread};
///
/// let report = Explorer::new().seeds(0..1_000).run(|| {
///     let total = Arc::new(Mutex::new(0));
///     let other = {
///         let total = Arc::clone(&total);
///         thread::spawn(move || *total.lock().unwrap() += 1)
///     };
///     *total.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// });
/// assert!(report.failures.is_empty());
/// ```
#[derive(Clone)]
#[must_use = "an explorer does nothing until `run`"]
pub struct Explorer<'a> {
    pub(crate) name: String,
    pub(crate) seeds: Range<u64>,
    pub(crate) strategy: Strategy,
    pub(crate) settings: Settings,
    pub(crate) workers: usize,
    pub(crate) max_failures: usize,
    pub(crate) distinct: bool,
    pub(crate) determinism: bool,
    pub(crate) monitor: Option<std::sync::Arc<MonitorFactory<'a>>>,
    pub(crate) stop: Option<&'a AtomicBool>,
    pub(crate) budget: Option<Duration>,
    pub(crate) progress: Option<&'a AtomicU64>,
}

impl Default for Explorer<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Explorer<'a> {
    /// An explorer with the defaults: a thousand seeds, the portfolio, one worker, stops at the first failure.
    pub fn new() -> Self {
        Self {
            name: String::from("closure"),
            seeds: 0..1_000,
            strategy: Strategy::Portfolio,
            settings: Settings {
                max_steps: MAX_STEPS,
                every_operation: false,
                spurious_wakeups: 0,
                weak_cas_failures: 0,
                time_when_idle: false,
                whole_deadlocks: false,
            },
            workers: 1,
            max_failures: 1,
            distinct: false,
            determinism: true,
            monitor: None,
            stop: None,
            budget: None,
            progress: None,
        }
    }

    /// The name that replay tokens carry.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// One execution per seed. For [`Strategy::Dfs`] the *number* of seeds is the most executions, and the first seed
    /// is that of all of them. Seeds are below 2^63; greater ones are left out.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        // Workers count in blocks past the end; the cap keeps them from running over.
        self.seeds = seeds.start.min(1 << 63)..seeds.end.min(1 << 63);
        self
    }

    /// How schedules are chosen.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Steps after which a run is cut as not finished. At most 2^28.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.settings.max_steps = steps.clamp(1, 1 << 28);
        self
    }

    /// Makes every release of a lock a scheduling point of its own. Without it only those of locks that somebody
    /// *tries* are, which loses no behaviour; counts of interleavings in the literature are made with it.
    pub fn every_operation(mut self, on: bool) -> Self {
        self.settings.every_operation = on;
        self
    }

    /// Reports a deadlock when nobody can run any more, and not already when some threads never can again. Exhaustive
    /// exploration always does, since what the others still do belongs to the trace.
    pub fn whole_deadlocks(mut self, on: bool) -> Self {
        self.settings.whole_deadlocks = on;
        self
    }

    /// Arms faults.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.settings.spurious_wakeups = faults.spurious_wakeups;
        self.settings.weak_cas_failures = faults.weak_cas_failures;
        self
    }

    /// When virtual time may move.
    pub fn time(mut self, time: Time) -> Self {
        self.settings.time_when_idle = time == Time::WhenIdle;
        self
    }

    /// Number of OS threads that share the seeds. The closure must then not share simulated objects between runs.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Stops after this many failures.
    pub fn max_failures(mut self, failures: usize) -> Self {
        self.max_failures = failures.max(1);
        self
    }

    /// Counts distinct interleavings (Mazurkiewicz traces). Costs some nanoseconds a step.
    pub fn count_distinct(mut self, on: bool) -> Self {
        self.distinct = on;
        self
    }

    /// Whether a sample of the seeds (the 1st, 2nd, 4th, 8th, …) is run twice and compared event by event. On by
    /// default: uncontrolled nondeterminism makes every other result worthless.
    pub fn check_determinism(mut self, on: bool) -> Self {
        self.determinism = on;
        self
    }

    /// A checker that watches every operation; made anew for each execution.
    pub fn monitor(mut self, make: impl Fn() -> Box<dyn Monitor> + Sync + Send + 'a) -> Self {
        self.monitor = Some(std::sync::Arc::new(make));
        self
    }

    /// Stops soon after the flag was set, with what was done so far.
    pub fn stop_when(mut self, flag: &'a AtomicBool) -> Self {
        self.stop = Some(flag);
        self
    }

    /// Stops after this much real time, with what was done so far. How many seeds that is depends on the machine; what
    /// a seed does, does not.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Counts finished executions into `counter` while the exploration runs.
    pub fn progress(mut self, counter: &'a AtomicU64) -> Self {
        self.progress = Some(counter);
        self
    }

    /// Runs `f` once per seed (or, with [`Strategy::Dfs`], once per schedule).
    ///
    /// Which seeds fail, and how, does not depend on the number of workers.
    ///
    /// # Panics
    /// If called inside a simulated run, or if a stack cannot be mapped.
    pub fn run<F: Fn() + Sync>(&self, f: F) -> Report {
        let deadline = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        if let Strategy::Dfs { preemptions } = self.strategy {
            return search(self, preemptions, deadline, &f);
        }
        if let Strategy::Exhaustive { .. } = self.strategy {
            return crate::exhaustive::search::search(self, deadline, &f);
        }
        let next = AtomicU64::new(self.seeds.start);
        let total = Mutex::new(Report::empty());
        let found = AtomicU64::new(0);
        if self.workers == 1 {
            Worker::new(self, deadline, &f).run(&next, &found, &total);
        } else {
            std::thread::scope(|scope| {
                for _ in 0..self.workers {
                    scope.spawn(|| Worker::new(self, deadline, &f).run(&next, &found, &total));
                }
            });
        }
        let mut report = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.finish(self.max_failures);
        report
    }
}

/// What an exhaustive exploration did besides its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exhaustive {
    /// Runs that were given up at their end, because no trace was left for them.
    pub redundant: u64,
    /// Runs that turned out to be impossible or to belong to another run's traces, mostly at once. They are not counted
    /// among the executions.
    pub probes: u64,
    /// Greatest depth of the search.
    pub depth: u64,
}

impl Exhaustive {
    const fn merge(&mut self, other: &Self) {
        self.redundant += other.redundant;
        self.probes += other.probes;
        if other.depth > self.depth {
            self.depth = other.depth;
        }
    }
}

/// What an exploration found.
#[derive(Clone)]
pub struct Report {
    /// Runs made, repetitions for confirmation not counted.
    pub executions: u64,
    /// Steps of those runs.
    pub steps: u64,
    /// Distinct interleavings, if they were counted: see [`Report::distinct_is_exact`].
    pub distinct: u64,
    /// `distinct` was counted exactly; otherwise it has a standard error of 0.8 %.
    pub distinct_is_exact: bool,
    /// The failed runs, by seed. At most as many as asked for.
    pub failures: Vec<Failure>,
    /// Depth-first search: every schedule was run.
    pub complete: bool,
    /// Sampled runs that were made twice and compared.
    pub compared: u64,
    /// Runs in which a `try_` operation made it necessary to repeat with every release a scheduling point.
    pub repeated: u64,
    /// Armed faults that fired: spurious wake-ups, weak compare-and-swap failures.
    pub fired: [u64; 2],
    /// Threads that could not be unwound after a failure and were left on their stacks.
    pub abandoned: u64,
    /// What an exhaustive exploration did besides.
    pub exhaustive: Exhaustive,
    pub(crate) set: Distinct,
}

impl Default for Report {
    /// The report of no runs, to which others can be added.
    fn default() -> Self {
        Self::empty()
    }
}

impl Report {
    pub(crate) const fn empty() -> Self {
        Self {
            executions: 0,
            steps: 0,
            distinct: 0,
            distinct_is_exact: true,
            failures: Vec::new(),
            complete: false,
            compared: 0,
            repeated: 0,
            fired: [0; 2],
            abandoned: 0,
            exhaustive: Exhaustive { redundant: 0, probes: 0, depth: 0 },
            set: Distinct::new(),
        }
    }

    /// Adds the result of another exploration of the same program. Complete if one of the two is.
    pub fn merge(&mut self, other: Self) {
        self.complete |= other.complete;
        self.executions += other.executions;
        self.steps += other.steps;
        self.failures.extend(other.failures);
        self.compared += other.compared;
        self.repeated += other.repeated;
        self.fired[0] += other.fired[0];
        self.fired[1] += other.fired[1];
        self.abandoned += other.abandoned;
        self.exhaustive.merge(&other.exhaustive);
        self.set.merge(&other.set);
        self.distinct = self.set.count();
        self.distinct_is_exact = self.set.is_exact();
    }

    pub(crate) fn finish(&mut self, max_failures: usize) {
        self.failures.sort_by_key(|f| f.seed);
        self.failures.truncate(max_failures);
        self.distinct = self.set.count();
        self.distinct_is_exact = self.set.is_exact();
    }

    /// The first failed run.
    #[must_use]
    pub fn first_failure(&self) -> Option<&Failure> {
        self.failures.first()
    }
}
