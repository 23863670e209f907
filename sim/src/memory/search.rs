//! Every RC11-consistent execution graph of a program exactly once.
//!
//! A stack of work items, each a partial graph. A run repeats one, goes on in the one canonical way to the end, and puts
//! the alternatives of each event that it has added on the stack. Items share nothing and need no table of what was
//! seen, so memory is bounded by the length of a run: each event has at most as many alternatives as there are events.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::explore::explorer::{Explorer, Report};
use crate::explore::failure::{FailureKind, STRATEGY_PANIC};
use crate::explore::worker::Worker;
use crate::runtime::execution::Detail;
use crate::strategy::{Active, Plan};

use super::item::Item;

/// How many runs are made between two looks at the clock.
const BLOCK: u64 = 64;

/// Explores all graphs of `f`, as far as the explorer's limits let it.
pub(crate) fn search<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> Report {
    let mut worker = Worker::new(explorer, deadline, f);
    let seed = explorer.seeds.start;
    let limit = explorer.seeds.end.saturating_sub(seed);
    let detail = if explorer.distinct { Detail::Order } else { Detail::Choices };
    // Each release of a mutex is an event of its own that others may come before.
    worker.machine.every_operation(true);
    let mut stack = vec![Item::default()];
    let mut whole = true;
    while let Some(item) = stack.pop() {
        let executions = worker.report.executions;
        if executions >= limit || worker.is_stopped() || executions.is_multiple_of(BLOCK) && worker.is_late() {
            whole = false;
            break;
        }
        let outcome = worker.run_plan(seed, Plan::Asked(Active::Graph(Some(Box::new(item)))), detail);
        let (found, error) = worker.machine.take_items();
        stack.extend(found);
        worker.count(&outcome);
        worker.report.blocked += u64::from(outcome.failure.is_none() && worker.machine.was_blocked());
        if let Some(counter) = explorer.progress {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let kind = match (outcome.failure, error) {
            (_, Some(error)) => Some(FailureKind::of_payload(STRATEGY_PANIC, Box::new(error))),
            (failure, None) => failure.map(|kind| *kind),
        };
        if let Some(kind) = kind {
            // A run that was cut has not shown what comes after.
            whole &= matches!(kind, FailureKind::Deadlock { .. });
            let failure = worker.confirm(seed, kind, outcome.steps);
            worker.report.failures.push(failure);
            if worker.report.failures.len() >= explorer.max_failures {
                whole = false;
                break;
            }
        }
    }
    worker.report.complete = whole;
    worker.report.abandoned = worker.machine.rt().abandoned;
    worker.report.finish(explorer.max_failures);
    worker.report
}
