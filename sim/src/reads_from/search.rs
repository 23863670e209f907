//! The search: a depth-first walk over items, shared by any number of workers.
//!
//! As in the search of traces, a worker holds the runs on the path that it is on, and who is out of work gets the next
//! item of somebody's topmost run. Nothing else is shared, so what is explored does not depend on the number of workers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::exhaustive::candidates::Run;
use crate::exhaustive::guide::{Guide, Verdict};
use crate::exhaustive::item::Item as Nothing;
use crate::exhaustive::reversal;
use crate::explore::explorer::{Explorer, Report};
use crate::explore::failure::{FailureKind, STRATEGY_PANIC};
use crate::explore::worker::Worker;
use crate::runtime::execution::{Detail, Outcome};
use crate::strategy::{Active, Plan};

use super::candidates::{self, Candidates};
use super::course::{Course, NOT_AGAIN};
use super::execution::Execution;
use super::item::Item;

/// Steps after which a run is cut.
const MAX_STEPS: u32 = 20_000;

/// Failures for which the nearest run that passes is looked for.
const EXPLAINED: usize = 8;

/// Runs `f` once for every reads-from class.
pub(crate) fn search<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> Report {
    let mut explorer = explorer.clone();
    explorer.settings.every_operation = true;
    explorer.settings.whole_deadlocks = true;
    explorer.settings.queues = false;
    explorer.settings.max_steps = explorer.settings.max_steps.min(MAX_STEPS);
    let shared = Shared {
        queue: Mutex::new(Queue { items: vec![Item::default()], waiting: 0 }),
        arrival: Condvar::new(),
        hungry: AtomicUsize::new(0),
        executions: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        total: Mutex::new(Report::empty()),
    };
    if explorer.workers == 1 {
        Searcher::new(&explorer, &shared, deadline, f).work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..explorer.workers {
                scope.spawn(|| Searcher::new(&explorer, &shared, deadline, f).work());
            }
        });
    }
    let stopped = shared.stop.into_inner();
    let mut report = shared.total.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.complete = !stopped && report.exhaustive.cut == 0;
    report.failures.sort_by_cached_key(|f| (f.trace.preemptions(), f.trace.decisions.len(), f.token.clone()));
    report.failures.truncate(explorer.max_failures);
    report
}

/// What workers share.
struct Shared {
    queue: Mutex<Queue>,
    arrival: Condvar,
    /// Workers that wait for work.
    hungry: AtomicUsize,
    executions: AtomicU64,
    stop: AtomicBool,
    total: Mutex<Report>,
}

struct Queue {
    items: Vec<Item>,
    waiting: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One worker of a search.
struct Searcher<'a, 'b, F> {
    explorer: &'a Explorer<'b>,
    shared: &'a Shared,
    worker: Worker<'a, 'b, F>,
    guide: Option<Box<Guide>>,
    stack: Vec<Candidates>,
}

impl<'a, 'b, F: Fn() + Sync> Searcher<'a, 'b, F> {
    fn new(explorer: &'a Explorer<'b>, shared: &'a Shared, deadline: Option<Instant>, f: &'a F) -> Self {
        let worker = Worker::new(explorer, deadline, f);
        Self { explorer, shared, worker, guide: None, stack: Vec::new() }
    }

    fn work(mut self) {
        while let Some(item) = self.next() {
            self.explore(item);
            let enough = self.worker.report.failures.len() >= self.explorer.max_failures;
            if enough || self.worker.is_late() {
                self.stop();
            }
            self.share();
        }
        self.worker.report.exhaustive.schedules = None;
        self.worker.report.exhaustive.schedules_are_exact = false;
        self.worker.report.abandoned = self.worker.machine.rt().abandoned;
        lock(&self.shared.total).merge(self.worker.report);
    }

    /// Nobody goes on.
    fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _queue = lock(&self.shared.queue);
        self.shared.arrival.notify_all();
    }

    /// The next item, of one's own or of the others'.
    fn next(&mut self) -> Option<Item> {
        if self.shared.stop.load(Ordering::Relaxed) {
            return None;
        }
        while let Some(run) = self.stack.last_mut() {
            if let Some(item) = run.next_item() {
                return Some(item);
            }
            self.stack.pop();
        }
        let mut queue = lock(&self.shared.queue);
        loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(item) = queue.items.pop() {
                return Some(item);
            }
            queue.waiting += 1;
            if queue.waiting == self.explorer.workers {
                // Nobody has work and nobody can make any.
                self.shared.arrival.notify_all();
                return None;
            }
            self.shared.hungry.fetch_add(1, Ordering::Relaxed);
            queue = self.shared.arrival.wait(queue).unwrap_or_else(PoisonError::into_inner);
            self.shared.hungry.fetch_sub(1, Ordering::Relaxed);
            if queue.waiting == self.explorer.workers {
                return None;
            }
            queue.waiting -= 1;
        }
    }

    /// Gives work to those who have none: the next item of the topmost run that has one.
    fn share(&mut self) {
        if self.shared.hungry.load(Ordering::Relaxed) == 0 {
            return;
        }
        // The last run is one's own work.
        let own = self.stack.len().saturating_sub(1);
        if let Some(item) = self.stack[..own].iter_mut().find_map(Candidates::next_item) {
            lock(&self.shared.queue).items.push(item);
            self.shared.arrival.notify_one();
        }
    }

    fn explore(&mut self, item: Item) {
        let limit = self.explorer.seeds.end - self.explorer.seeds.start;
        if self.shared.executions.fetch_add(1, Ordering::Relaxed) >= limit {
            return self.stop();
        }
        let (outcome, mut guide, course) = self.run_item(item);
        let found = match course.error.clone() {
            Some(error) => Err(error),
            None => Execution::of(&guide, &course)
                .and_then(|execution| Candidates::of(execution, &course).ok_or_else(|| String::from(NOT_AGAIN))),
        };
        match found {
            Ok(candidates) => {
                self.count(outcome, &mut guide, course.is_blocked);
                self.push(candidates);
            }
            Err(error) => {
                let kind = FailureKind::of_payload(STRATEGY_PANIC, Box::new(error));
                self.worker.report.executions += 1;
                self.fail(kind, outcome.steps, None);
                self.stop();
            }
        }
        self.guide = Some(guide);
    }

    /// Runs an item. Where that depends on whether a loop ends, learns that first.
    fn run_item(&mut self, item: Item) -> (Outcome, Box<Guide>, Box<Course>) {
        let mut course = Course::new(item);
        loop {
            let (outcome, guide, made) = self.run(course);
            let Some(round) = made.question else { return (outcome, guide, made) };
            let asking = Execution::of(&guide, &made).map(|execution| candidates::asking(&execution, round));
            self.guide = Some(guide);
            self.worker.report.exhaustive.probes += 1;
            let ends = match asking {
                Ok(Some(item)) => {
                    self.worker.report.exhaustive.probes += 1;
                    let (_, guide, made) = self.run(Course::asking(item, round.thread));
                    self.guide = Some(guide);
                    made.answer != Some(false)
                }
                // What it does not know is found again in the run itself.
                _ => true,
            };
            let mut item = made.item;
            item.loops.push((round, ends));
            course = Course::new(item);
        }
    }

    fn run(&mut self, course: Course) -> (Outcome, Box<Guide>, Box<Course>) {
        let mut guide = self.guide.take().unwrap_or_else(|| Guide::new(Nothing::default()));
        guide.begin(Nothing::default());
        guide.course = Some(Box::new(course));
        let seed = self.explorer.seeds.start;
        let outcome = self.worker.run_plan(seed, Plan::Asked(Active::Guided(guide)), Detail::Order);
        let Active::Guided(mut guide) = self.worker.machine.take_active() else {
            unreachable!("the run gives its strategy back")
        };
        let course = guide.course.take().unwrap_or_default();
        (outcome, guide, course)
    }

    fn push(&mut self, run: Candidates) {
        self.stack.push(run);
        let depth = self.stack.len() as u64;
        let report = &mut self.worker.report.exhaustive;
        report.depth = report.depth.max(depth);
        if let Some(watch) = self.explorer.watch {
            watch.set_depth(depth);
        }
    }

    fn count(&mut self, outcome: Outcome, guide: &mut Guide, is_blocked: bool) {
        self.worker.count(&outcome);
        if let Some(counter) = self.explorer.progress {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let is_deadlock = matches!(outcome.failure.as_deref(), Some(FailureKind::Deadlock { .. }));
        let report = &mut self.worker.report;
        if is_deadlock {
            report.exhaustive.deadlocked += 1;
        } else if is_blocked && outcome.failure.is_none() {
            report.blocked += 1;
        } else {
            report.exhaustive.traces += 1;
        }
        if let Some(kind) = outcome.failure {
            let is_livelock = guide.verdict == Verdict::Livelock;
            // Any other failure may have cut the run: what would have come after it is not known.
            report.exhaustive.cut += u64::from(!is_livelock && !is_deadlock);
            if is_livelock {
                // Without the guide a livelock goes on: it is repeated up to where it was recognised.
                self.worker.machine.cut_after(outcome.steps.max(1));
            }
            let run = Run::of(guide);
            self.fail(*kind, outcome.steps, Some(&run));
            guide.record = run.record;
        }
    }

    fn fail(&mut self, kind: FailureKind, steps: u32, run: Option<&Run>) {
        let mut failure = self.worker.confirm(self.explorer.seeds.start, kind, steps);
        self.worker.machine.cut_after(self.explorer.settings.max_steps);
        if let Some(run) = run.filter(|_| self.worker.report.failures.len() < EXPLAINED) {
            failure.reversal = reversal::nearest(&mut self.worker, run, &failure);
            reversal::straighten(&mut self.worker, run, &mut failure);
        }
        self.worker.report.failures.push(failure);
    }
}
