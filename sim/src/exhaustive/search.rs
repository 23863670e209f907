//! The search: a depth-first walk over items, shared by any number of workers.
//!
//! A worker holds the runs on the path that it is on; each knows which of its items it has given out. Who is out of
//! work gets the next item of somebody's topmost run, where most of the work lies. Nothing else is shared, so what is
//! explored, and how often, does not depend on the number of workers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::explore::explorer::{Explorer, Report};
use crate::explore::failure::FailureKind;
use crate::explore::worker::Worker;
use crate::runtime::execution::{Detail, Outcome};
use crate::runtime::rt::Apart;
use crate::strategy::{Active, Plan, Strategy};

use super::apart;
use super::bounds::Judge;
use super::candidates::Run;
use super::estimate;
use super::frontier::{Frontier, Work};
use super::guide::{Guide, Verdict};
use super::item::Item;
use super::queues;
use super::record::Record;
use super::reversal;

/// Steps after which an exhaustive run is cut: the order of events takes memory that grows with their square.
const MAX_STEPS: u32 = 20_000;

/// Failures that are shown with the fewest preemptions, and for which the nearest run that passes is looked for.
const EXPLAINED: usize = 8;

/// Runs `f` once for every trace.
pub(crate) fn search<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> Report {
    let mut explorer = explorer.clone();
    explorer.settings.every_operation = true;
    explorer.settings.whole_deadlocks = true;
    explorer.settings.max_steps = explorer.settings.max_steps.min(MAX_STEPS);
    let (queues, ends) = explorer.resume.as_ref().map_or((false, false), |frontier| (frontier.queues, frontier.ends));
    let mut apart = Apart { ends, queues };
    loop {
        explorer.settings.queues = apart.queues;
        explorer.settings.steps_apart = apart;
        let (mut report, more) = attempt(&explorer, deadline, f);
        if more == Apart::default() {
            (report.exhaustive.queues, report.exhaustive.ends) = (apart.queues, apart.ends);
            return report;
        }
        // From the beginning, whatever was done.
        if let Some(counter) = explorer.progress {
            counter.fetch_sub(report.executions, Ordering::Relaxed);
        }
        apart = Apart { ends: apart.ends | more.ends, queues: apart.queues | more.queues };
        explorer.resume = None;
    }
}

/// An exploration with or without queues of readers and steps of their own. What it showed to be needed besides.
fn attempt<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> (Report, Apart) {
    let (mut turn, mut missed, mut work) = match &explorer.resume {
        Some(frontier) => (frontier.turn, frontier.missed, frontier.work.clone()),
        None => (0, false, vec![Work { item: Item::default(), given: None }]),
    };
    let mut report = Report::empty();
    if explorer.estimate > 0 && explorer.resume.is_none() {
        let shared = Shared::new(Vec::new(), 0, 0);
        let estimate = estimate::sample(&mut Searcher::new(explorer, &shared, deadline, f), explorer.estimate);
        let more = shared.needed();
        if more != Apart::default() {
            return (report, more);
        }
        report.exhaustive.estimate = estimate;
        if let Some(watch) = explorer.watch {
            watch.set_estimate(estimate);
        }
    }
    let last = match explorer.strategy {
        Strategy::Iterative { preemptions } => preemptions,
        _ => 0,
    };
    loop {
        let (round, rest, more) = one_round(explorer, deadline, f, work, turn, report.executions);
        if more != Apart::default() {
            report.merge(round);
            return (report, more);
        }
        missed |= round.exhaustive.beyond > 0;
        report.merge(round);
        if !rest.is_empty() {
            report.frontier = Some(Frontier::new(&explorer.name, explorer.settings, (turn, missed), rest));
            break;
        }
        if turn >= last || !missed {
            report.complete = report.exhaustive.cut == 0;
            break;
        }
        turn += 1;
        missed = false;
        work = vec![Work { item: Item::default(), given: None }];
        if report.failures.len() >= explorer.max_failures {
            report.frontier = Some(Frontier::new(&explorer.name, explorer.settings, (turn, missed), work));
            break;
        }
    }
    report.failures.sort_by_cached_key(|f| (f.trace.preemptions(), f.trace.decisions.len(), f.token.clone()));
    report.failures.truncate(explorer.max_failures);
    (report, Apart::default())
}

/// Explores `work` under one bound. Returns what was found, and what is left.
fn one_round<F: Fn() + Sync>(
    explorer: &Explorer<'_>,
    deadline: Option<Instant>,
    f: &F,
    work: Vec<Work>,
    turn: u32,
    made: u64,
) -> (Report, Vec<Work>, Apart) {
    let shared = Shared::new(work, turn, made);
    if explorer.workers == 1 {
        Searcher::new(explorer, &shared, deadline, f).work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..explorer.workers {
                scope.spawn(|| Searcher::new(explorer, &shared, deadline, f).work());
            }
        });
    }
    let needed = shared.needed();
    let report = shared.total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rest = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner).work;
    (report, rest, needed)
}

/// What workers share.
struct Shared {
    queue: Mutex<Queue>,
    arrival: Condvar,
    /// Workers that wait for work.
    hungry: AtomicUsize,
    executions: AtomicU64,
    stop: AtomicBool,
    /// Readers must queue behind writers: see [`super::queues`].
    queues_matter: AtomicBool,
    /// Ends of threads must be steps: see [`super::apart`].
    ends_matter: AtomicBool,
    total: Mutex<Report>,
    /// The bound, if bounds are tried in turn.
    turn: u32,
}

impl Shared {
    fn new(work: Vec<Work>, turn: u32, made: u64) -> Self {
        Self {
            queue: Mutex::new(Queue { work, waiting: 0 }),
            arrival: Condvar::new(),
            hungry: AtomicUsize::new(0),
            executions: AtomicU64::new(made),
            stop: AtomicBool::new(false),
            queues_matter: AtomicBool::new(false),
            ends_matter: AtomicBool::new(false),
            total: Mutex::new(Report::empty()),
            turn,
        }
    }

    /// What some run has shown to be needed.
    fn needed(&self) -> Apart {
        Apart { ends: self.ends_matter.load(Ordering::Relaxed), queues: self.queues_matter.load(Ordering::Relaxed) }
    }
}

struct Queue {
    work: Vec<Work>,
    waiting: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One worker of a search.
pub(super) struct Searcher<'a, 'b, F> {
    explorer: &'a Explorer<'b>,
    shared: &'a Shared,
    worker: Worker<'a, 'b, F>,
    guide: Option<Box<Guide>>,
    pool: Vec<Record>,
    stack: Vec<Run>,
    judge: Judge,
}

impl<'a, 'b, F: Fn() + Sync> Searcher<'a, 'b, F> {
    fn new(explorer: &'a Explorer<'b>, shared: &'a Shared, deadline: Option<Instant>, f: &'a F) -> Self {
        let worker = Worker::new(explorer, deadline, f);
        let guide = Some(Guide::new(Item::default()));
        let judge = Judge::new(explorer, shared.turn);
        Self { explorer, shared, worker, guide, pool: Vec::new(), stack: Vec::new(), judge }
    }

    /// Runs an item. The guide keeps what happened until [`Self::keep`] or [`Self::forget`].
    pub(super) fn run(&mut self, item: Item) -> (Outcome, Verdict) {
        let mut guide = self.guide.take().unwrap_or_else(|| Guide::new(Item::default()));
        guide.record = self.pool.pop().unwrap_or_default();
        guide.begin(item);
        let seed = self.explorer.seeds.start;
        let outcome = self.worker.run_plan(seed, Plan::Asked(Active::Guided(guide)), Detail::Order);
        let Active::Guided(mut guide) = self.worker.machine.take_active() else {
            unreachable!("the run gives its strategy back")
        };
        guide.end();
        let apart = self.explorer.settings.steps_apart;
        if !apart.queues && queues::matter(&guide.record) {
            self.shared.queues_matter.store(true, Ordering::Relaxed);
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        if !apart.ends && apart::ends_matter(&guide.record) {
            self.shared.ends_matter.store(true, Ordering::Relaxed);
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        let verdict = guide.verdict;
        self.guide = Some(guide);
        (outcome, verdict)
    }

    /// The run that was just made, to ask it for its items.
    pub(super) fn keep(&mut self) -> Option<Run> {
        self.guide.as_mut().map(|guide| Run::of(guide))
    }

    /// The run that was just made, or one kept before, is not needed any more.
    pub(super) fn forget(&mut self, run: Option<Run>) {
        match run {
            Some(run) => self.pool.push(run.record),
            None => self.pool.extend(self.guide.as_mut().map(|guide| std::mem::take(&mut guide.record))),
        }
    }

    fn work(mut self) {
        while let Some(work) = self.next() {
            match work.given {
                None => self.explore(work.item),
                Some(given) => self.resume(work.item, given),
            }
            if self.is_over() {
                self.shared.stop.store(true, Ordering::Relaxed);
            }
            self.share();
        }
        self.judge.finish(&mut self.worker.report.exhaustive);
        self.worker.report.abandoned = self.worker.machine.rt().abandoned;
        lock(&self.shared.total).merge(self.worker.report);
    }

    /// Enough has failed, or the exploration was stopped from outside.
    pub(super) fn is_over(&self) -> bool {
        self.worker.report.failures.len() >= self.explorer.max_failures || self.worker.is_late()
    }

    /// The next item, of one's own or of the others'. When the search is stopped, everything left goes to the queue.
    fn next(&mut self) -> Option<Work> {
        if self.shared.stop.load(Ordering::Relaxed) {
            self.give_up();
            return None;
        }
        while let Some(run) = self.stack.last_mut() {
            if let Some(item) = run.next_item() {
                return Some(Work { item, given: None });
            }
            let run = self.stack.pop();
            self.forget(run);
        }
        let mut queue = lock(&self.shared.queue);
        loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                self.shared.arrival.notify_all();
                return None;
            }
            if let Some(work) = queue.work.pop() {
                return Some(work);
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
        for run in &mut self.stack[..own] {
            if let Some(item) = run.next_item() {
                lock(&self.shared.queue).work.push(Work { item, given: None });
                self.shared.arrival.notify_one();
                return;
            }
        }
    }

    fn give_up(&mut self) {
        let mut queue = lock(&self.shared.queue);
        for run in self.stack.drain(..) {
            let given = Some(run.given());
            queue.work.push(Work { item: run.item, given });
        }
        drop(queue);
        self.shared.arrival.notify_all();
    }

    fn explore(&mut self, item: Item) {
        let counted = self.shared.executions.fetch_add(1, Ordering::Relaxed);
        if counted >= self.explorer.seeds.end - self.explorer.seeds.start {
            // One too many: it is left for later.
            self.shared.stop.store(true, Ordering::Relaxed);
            lock(&self.shared.queue).work.push(Work { item, given: None });
            return;
        }
        let (outcome, verdict) = self.run(item);
        match verdict {
            Verdict::Canonical | Verdict::Livelock => {
                let Some(run) = self.keep() else { return };
                let deadlocked = matches!(outcome.failure.as_deref(), Some(FailureKind::Deadlock { .. }));
                let ruling = self.judge.rule(&run, deadlocked, &mut self.worker.report.exhaustive);
                if ruling.counts {
                    self.count(outcome, &run, verdict);
                } else {
                    self.shared.executions.fetch_sub(1, Ordering::Relaxed);
                }
                if ruling.leads_on {
                    self.push(Some(run));
                } else {
                    self.forget(Some(run));
                }
            }
            Verdict::Empty => {
                self.worker.report.exhaustive.redundant += 1;
                self.shared.executions.fetch_sub(1, Ordering::Relaxed);
                let run = self.keep();
                self.push(run);
            }
            Verdict::Tried => {
                self.worker.report.exhaustive.probes += 1;
                self.shared.executions.fetch_sub(1, Ordering::Relaxed);
                let run = self.keep();
                self.push(run);
            }
            Verdict::Infeasible | Verdict::Redundant => {
                self.worker.report.exhaustive.probes += 1;
                self.shared.executions.fetch_sub(1, Ordering::Relaxed);
                self.forget(None);
            }
        }
    }

    fn push(&mut self, run: Option<Run>) {
        self.stack.extend(run);
        let depth = self.stack.len() as u64;
        let report = &mut self.worker.report.exhaustive;
        report.depth = report.depth.max(depth);
        if let Some(watch) = self.explorer.watch {
            watch.set_depth(depth);
        }
    }

    fn count(&mut self, outcome: Outcome, run: &Run, verdict: Verdict) {
        self.worker.count(&outcome);
        if let Some(counter) = self.explorer.progress {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(kind) = outcome.failure {
            // Any other failure may have cut the run: what would have come after it is not known.
            let whole = verdict == Verdict::Livelock || matches!(*kind, FailureKind::Deadlock { .. });
            self.worker.report.exhaustive.cut += u64::from(!whole);
            // Without the guide a livelock goes on: it is repeated up to where it was recognised.
            if verdict == Verdict::Livelock {
                self.worker.machine.cut_after(outcome.steps.max(1));
            }
            let mut failure = self.worker.confirm(self.explorer.seeds.start, *kind, outcome.steps);
            self.worker.machine.cut_after(self.explorer.settings.max_steps);
            if self.worker.report.failures.len() < EXPLAINED {
                failure.reversal = reversal::nearest(&mut self.worker, run, &failure);
                reversal::straighten(&mut self.worker, run, &mut failure);
            }
            self.worker.report.failures.push(failure);
        }
    }

    /// Repeats a run whose first `given` items have been explored.
    fn resume(&mut self, item: Item, given: u64) {
        let (_, verdict) = self.run(item);
        if matches!(verdict, Verdict::Infeasible | Verdict::Redundant) {
            return self.forget(None);
        }
        let mut run = self.keep();
        if let Some(run) = &mut run {
            for _ in 0..given {
                if run.next_item().is_none() {
                    break;
                }
            }
        }
        self.push(run);
    }
}
