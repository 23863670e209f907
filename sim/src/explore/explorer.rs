//! The public way to run many executions.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::exhaustive::estimate::Estimate;
use crate::exhaustive::frontier::Frontier;
use crate::exhaustive::watch::Watch;
use crate::fault::Faults;
use crate::memory::MemoryModel;
use crate::monitor::Monitor;
use crate::reads_from::Equivalence;
use crate::runtime::rt::{Apart, Settings};
use crate::strategy::Strategy;
use crate::time::Time;

use super::coverage::{Coverage, Tally};
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
    /// The seeds were given.
    pub(crate) limited: bool,
    pub(crate) strategy: Strategy,
    pub(crate) settings: Settings,
    pub(crate) workers: usize,
    pub(crate) max_failures: usize,
    pub(crate) distinct: bool,
    pub(crate) schedules: bool,
    pub(crate) determinism: bool,
    pub(crate) monitor: Option<std::sync::Arc<MonitorFactory<'a>>>,
    pub(crate) stop: Option<&'a AtomicBool>,
    pub(crate) budget: Option<Duration>,
    pub(crate) progress: Option<&'a AtomicU64>,
    pub(crate) watch: Option<&'a Watch>,
    pub(crate) resume: Option<std::sync::Arc<Frontier>>,
    pub(crate) estimate: u32,
    pub(crate) equivalence: Equivalence,
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
            limited: false,
            strategy: Strategy::Portfolio,
            settings: Settings {
                max_steps: MAX_STEPS,
                every_operation: false,
                spurious_wakeups: 0,
                weak_cas_failures: 0,
                time_when_idle: false,
                whole_deadlocks: false,
                queues: true,
                steps_apart: Apart::default(),
                memory_model: MemoryModel::Sc,
            },
            workers: 1,
            max_failures: 1,
            distinct: false,
            schedules: false,
            determinism: true,
            monitor: None,
            stop: None,
            budget: None,
            progress: None,
            watch: None,
            resume: None,
            estimate: 0,
            equivalence: Equivalence::Traces,
        }
    }

    /// The name that replay tokens carry.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// One execution per seed. For [`Strategy::Dfs`] and [`Strategy::Exhaustive`] the *number* of seeds is the most
    /// executions, and the first seed is that of all of them; tests ([`crate::check`], `#[interleaf::test]`) explore
    /// exhaustively to the end if no number was given, and fail if one was given that is too low. Seeds are below 2^63; greater ones are left out.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        // Workers count in blocks past the end; the cap keeps them from running over.
        self.seeds = seeds.start.min(1 << 63)..seeds.end.min(1 << 63);
        self.limited = true;
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

    /// Whether a reader of a `RwLock` that holds something may find itself behind a writer that waits, as it does with
    /// std's locks. On by default. An exhaustive exploration decides by itself: see [`Exhaustive::queues`].
    pub fn readers_queue(mut self, on: bool) -> Self {
        self.settings.queues = on;
        self
    }

    /// Makes the end of a thread, and that a thread begins to wait for a `RwLock` to write, steps of their own. They are
    /// part of the step before otherwise, which loses no behaviour. An exhaustive exploration decides by itself.
    #[doc(hidden)]
    pub fn steps_apart(mut self, ends: bool, queues: bool) -> Self {
        self.settings.steps_apart = Apart { ends, queues };
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

    /// What atomics mean: sequential consistency (the default), or RC11, in which orderings and fences matter.
    pub fn memory_model(mut self, model: MemoryModel) -> Self {
        self.settings.memory_model = model;
        self
    }

    /// Which runs [`Strategy::Exhaustive`] takes for the same: those of a trace (the default), or those of a reads-from
    /// class. Other strategies do not look at it.
    ///
    /// With [`Equivalence::ReadsFrom`] programs may use atomics, fences and mutexes, and start and join
    /// threads; a program that does anything else fails with a message that names it. [`Explorer::estimate`] and
    /// [`Explorer::count_schedules`] have no effect, and what is left cannot be saved.
    pub fn equivalence(mut self, equivalence: Equivalence) -> Self {
        self.equivalence = equivalence;
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

    /// Exhaustive exploration: counts the schedules of every trace, and the preemptions that each needs, instead of
    /// those of a sample. Takes more time than the runs if threads have much to do that nobody else sees.
    pub fn count_schedules(mut self, on: bool) -> Self {
        self.schedules = on;
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

    /// Shows how far an exhaustive exploration has come.
    pub fn watch(mut self, watch: &'a Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Goes on with an exhaustive exploration that was stopped. Its runs are not made again, and not counted again.
    pub fn resume(mut self, frontier: Frontier) -> Self {
        self.resume = Some(std::sync::Arc::new(frontier));
        self
    }

    /// Estimates the number of traces before an exhaustive exploration, from this many samples: see [`Estimate`]. A
    /// sample costs as many runs as the search is deep.
    pub fn estimate(mut self, samples: u32) -> Self {
        self.estimate = samples;
        self
    }

    /// Runs `f` once per seed (or, with [`Strategy::Dfs`], once per schedule).
    ///
    /// Which seeds fail, and how, does not depend on the number of workers.
    ///
    /// # Panics
    /// If called inside a simulated run, or if a stack cannot be mapped; if bounds on preemptions or delays, an
    /// equivalence and a memory model are combined in a way that there is no search for.
    pub fn run<F: Fn() + Sync>(&self, f: F) -> Report {
        let deadline = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        if let Strategy::Dfs { preemptions } = self.strategy {
            return search(self, preemptions, deadline, &f);
        }
        if let Strategy::Exhaustive { .. } | Strategy::Iterative { .. } | Strategy::Delays { .. } = self.strategy {
            if self.equivalence == Equivalence::ReadsFrom {
                assert!(
                    matches!(self.strategy, Strategy::Exhaustive { preemptions: None })
                        && self.settings.memory_model == MemoryModel::Sc
                        && self.resume.is_none(),
                    "interleaf: reads-from classes are explored by the strategy `exhaustive` under the memory model sc \
                     from the beginning, not by `{}` under {}{}",
                    self.strategy,
                    self.settings.memory_model,
                    if self.resume.is_some() { " from a saved exploration" } else { "" }
                );
                return crate::reads_from::search::search(self, deadline, &f);
            }
            if self.settings.memory_model == MemoryModel::Sc {
                return crate::exhaustive::search::search(self, deadline, &f);
            }
            assert!(
                matches!(self.strategy, Strategy::Exhaustive { preemptions: None }),
                "interleaf: the strategy `{}` counts preemptions or delays, which the memory model {} does not have",
                self.strategy,
                self.settings.memory_model
            );
            return crate::memory::search::search(self, deadline, &f);
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exhaustive {
    /// Runs that were given up at their end, because no trace was left for them.
    pub redundant: u64,
    /// Runs that turned out to be impossible or to belong to another run's traces, mostly at once. They are not counted
    /// among the executions.
    pub probes: u64,
    /// Greatest depth of the search.
    pub depth: u64,
    /// Readers that hold something queue behind writers that wait. That can only add deadlocks, and only if locks are
    /// taken in an order that has a cycle through a read lock; once a run shows that (or a `try_read`, or a wait with a
    /// read lock in hand), the exploration begins anew with queues, which are a step, a choice and an object more.
    pub queues: bool,
    /// Some thread asks whether another has ended (`is_finished`), so the ends of threads are steps.
    pub ends: bool,
    /// The estimated number of traces, if it was asked for.
    pub estimate: Estimate,
    /// Runs of traces beyond the bound on preemptions or delays: they had to be made to find others, and are neither
    /// executions nor failures.
    pub beyond: u64,
    /// Bounds in turn: runs of traces that an earlier round had found.
    pub again: u64,
    /// Failures that cut their run, so that traces that go on otherwise may have been missed: deadlocks do not.
    pub cut: u64,
    /// Traces that were taken as within the bound, since they have too many schedules to tell.
    pub unjudged: u64,
    /// Traces whose runs did not deadlock, failed ones included.
    pub traces: u64,
    /// Traces whose runs deadlocked.
    pub deadlocked: u64,
    /// Schedules that all these stand for: the number of runs that a search without any reduction would make. `None`
    /// if they are more than 2^128 or too many to be counted.
    pub schedules: Option<u128>,
    /// `schedules` was counted trace by trace. Otherwise it is an estimate from a sample that is the same each time:
    /// each of the first 64 traces, each second one up to 128, each fourth one up to 256, and so on.
    pub schedules_are_exact: bool,
    /// Most preemptions that a trace needs, among those that were looked at (all of them with a bound on preemptions or
    /// [`Explorer::count_schedules`], otherwise that sample).
    pub preemptions: u32,
}

impl Default for Exhaustive {
    /// What no exploration did.
    fn default() -> Self {
        Self::NONE
    }
}

impl Exhaustive {
    pub(crate) const NONE: Self = Self {
        redundant: 0,
        probes: 0,
        depth: 0,
        queues: false,
        ends: false,
        estimate: Estimate { traces: 0.0, error: 0.0, samples: 0 },
        beyond: 0,
        again: 0,
        cut: 0,
        unjudged: 0,
        traces: 0,
        deadlocked: 0,
        schedules: Some(0),
        schedules_are_exact: true,
        preemptions: 0,
    };

    fn merge(&mut self, other: &Self) {
        self.redundant += other.redundant;
        self.probes += other.probes;
        self.depth = self.depth.max(other.depth);
        self.queues |= other.queues;
        self.ends |= other.ends;
        if self.estimate.samples == 0 {
            self.estimate = other.estimate;
        }
        self.beyond += other.beyond;
        self.again += other.again;
        self.cut += other.cut;
        self.unjudged += other.unjudged;
        self.traces += other.traces;
        self.deadlocked += other.deadlocked;
        self.schedules = self.schedules.zip(other.schedules).and_then(|(a, b)| a.checked_add(b));
        self.schedules_are_exact &= other.schedules_are_exact;
        self.preemptions = self.preemptions.max(other.preemptions);
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
    /// Depth-first search: every schedule was run. Exhaustive exploration: every trace was, or everything that was
    /// left at the beginning of this part.
    pub complete: bool,
    /// Exhaustive search under RC11: runs that ended because a thread waits in a loop (one with `yield_now` or
    /// `spin_loop`) for a store that it did not read in this run. Counted among `executions`.
    pub blocked: u64,
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
    /// What an exhaustive exploration has left to do, if it was stopped.
    pub frontier: Option<Frontier>,
    /// What each strategy that took part has seen, and how likely its next run shows something new; by name. Empty unless
    /// distinct interleavings were counted, and for a search through all schedules, which is no sample.
    pub coverage: Vec<Coverage>,
    pub(crate) set: Distinct,
    tallies: BTreeMap<String, Tally>,
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
            blocked: 0,
            compared: 0,
            repeated: 0,
            fired: [0; 2],
            abandoned: 0,
            exhaustive: Exhaustive::NONE,
            frontier: None,
            coverage: Vec::new(),
            set: Distinct::new(),
            tallies: BTreeMap::new(),
        }
    }

    /// Adds the result of another exploration of the same program. Complete if one of the two is.
    pub fn merge(&mut self, other: Self) {
        self.complete |= other.complete;
        self.executions += other.executions;
        self.steps += other.steps;
        self.failures.extend(other.failures);
        self.blocked += other.blocked;
        self.compared += other.compared;
        self.repeated += other.repeated;
        self.fired[0] += other.fired[0];
        self.fired[1] += other.fired[1];
        self.abandoned += other.abandoned;
        self.exhaustive.merge(&other.exhaustive);
        self.set.merge(&other.set);
        for (strategy, tally) in other.tallies {
            self.tallies.entry(strategy).or_insert_with(Tally::new).merge(tally);
        }
        self.sum_up();
    }

    /// Takes what a worker has seen under each strategy.
    pub(super) fn cover(&mut self, strategies: &[Strategy], tallies: Vec<Tally>) {
        let named = strategies.iter().map(ToString::to_string).zip(tallies);
        self.tallies.extend(named.filter(|(_, tally)| tally.runs() > 0));
    }

    fn sum_up(&mut self) {
        self.distinct = self.set.count();
        self.distinct_is_exact = self.set.is_exact();
        self.coverage = self.tallies.iter().map(|(strategy, tally)| Coverage::of(strategy, tally)).collect();
    }

    pub(crate) fn finish(&mut self, max_failures: usize) {
        self.failures.sort_by_key(|f| f.seed);
        self.failures.truncate(max_failures);
        self.sum_up();
    }

    /// The first failed run.
    #[must_use]
    pub fn first_failure(&self) -> Option<&Failure> {
        self.failures.first()
    }
}
