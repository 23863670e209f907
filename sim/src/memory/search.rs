//! Every RC11-consistent execution graph of a program exactly once.
//!
//! A stack of work items, each a partial graph. A run repeats one, goes on in the one canonical way to the end, and puts
//! the alternatives of each event that it has added on the stack. Items share nothing and need no table of what was
//! seen, so any number of workers may take from the stack, and memory is bounded by the length of a run: each event has
//! at most as many alternatives as there are events.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::explore::explorer::{Explorer, Report};
use crate::explore::failure::{FailureKind, STRATEGY_PANIC};
use crate::explore::worker::Worker;
use crate::runtime::execution::Detail;
use crate::strategy::{Active, Plan};

use super::item::Item;

/// How many runs are made between two looks at the clock.
const BLOCK: u64 = 64;

/// What the workers share.
struct Shared {
    pool: Mutex<Pool>,
    changed: Condvar,
    /// Runs begun, and failures found.
    begun: AtomicU64,
    failed: AtomicU64,
    /// Something was left out.
    cut: AtomicBool,
    /// A run failed before its end, so its alternatives are not known.
    partial: AtomicBool,
}

struct Pool {
    items: Vec<Item>,
    /// Workers that may still add items.
    busy: usize,
}

/// A worker that has taken an item, until it has given back what came of it.
struct Busy<'a>(&'a Shared);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.pool().busy -= 1;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item; waits while others may still add some. `None` when there will be none.
    fn take(&self) -> Option<(Item, Busy<'_>)> {
        let mut pool = self.pool();
        loop {
            if self.cut.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(item) = pool.items.pop() {
                pool.busy += 1;
                return Some((item, Busy(self)));
            }
            if pool.busy == 0 {
                return None;
            }
            pool = self.changed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nobody goes on.
    fn stop(&self) {
        self.cut.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

/// Explores all graphs of `f`, as far as the explorer's limits let it.
pub(crate) fn search<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> Report {
    let shared = Shared {
        pool: Mutex::new(Pool { items: vec![Item::default()], busy: 0 }),
        changed: Condvar::new(),
        begun: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        cut: AtomicBool::new(false),
        partial: AtomicBool::new(false),
    };
    let work = || explore(Worker::new(explorer, deadline, f), explorer, &shared);
    let mut report = if explorer.workers == 1 {
        work()
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..explorer.workers).map(|_| scope.spawn(work)).collect();
            let mut report = Report::default();
            for worker in workers {
                match worker.join() {
                    Ok(part) => report.merge(part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            report
        })
    };
    report.complete = !shared.cut.load(Ordering::Relaxed) && !shared.partial.load(Ordering::Relaxed);
    report.finish(explorer.max_failures);
    report
}

/// What one worker does.
fn explore<F: Fn() + Sync>(mut worker: Worker<'_, '_, F>, explorer: &Explorer<'_>, shared: &Shared) -> Report {
    let seed = explorer.seeds.start;
    let limit = explorer.seeds.end.saturating_sub(seed);
    let detail = if explorer.distinct { Detail::Order } else { Detail::Choices };
    // Each release of a mutex is an event of its own that others may come before.
    worker.machine.every_operation(true);
    while let Some((item, busy)) = shared.take() {
        let late = worker.is_stopped() || worker.report.executions.is_multiple_of(BLOCK) && worker.is_late();
        if late || shared.begun.fetch_add(1, Ordering::Relaxed) >= limit {
            shared.stop();
            break;
        }
        let outcome = worker.run_plan(seed, Plan::Asked(Active::Graph(Some(Box::new(item)))), detail);
        let (found, error) = worker.machine.take_items();
        shared.pool().items.extend(found);
        drop(busy);
        worker.count(&outcome);
        worker.report.blocked += u64::from(outcome.failure.is_none() && worker.machine.was_blocked());
        if let Some(counter) = explorer.progress {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let kind = match (outcome.failure, error) {
            (_, Some(error)) => FailureKind::of_payload(STRATEGY_PANIC, Box::new(error)),
            (Some(kind), None) => *kind,
            (None, None) => continue,
        };
        if !matches!(kind, FailureKind::Deadlock { .. }) {
            // A run that was cut has not shown what comes after.
            shared.partial.store(true, Ordering::Relaxed);
        }
        let failure = worker.confirm(seed, kind, outcome.steps);
        worker.report.failures.push(failure);
        if shared.failed.fetch_add(1, Ordering::Relaxed) + 1 >= explorer.max_failures as u64 {
            shared.stop();
            break;
        }
    }
    worker.report.abandoned = worker.machine.rt().abandoned;
    worker.report
}
