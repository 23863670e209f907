//! The search: a depth-first walk over items.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::explore::explorer::{Explorer, Report};
use crate::explore::worker::Worker;
use crate::runtime::execution::Detail;
use crate::strategy::{Active, Plan};

use super::candidates::Run;
use super::guide::{Guide, Verdict};
use super::item::Item;
use super::record::Record;

/// Steps after which an exhaustive run is cut: the order of events takes memory that grows with their square.
const MAX_STEPS: u32 = 20_000;

/// Runs `f` once for every trace.
pub(crate) fn search<F: Fn() + Sync>(explorer: &Explorer<'_>, deadline: Option<Instant>, f: &F) -> Report {
    let mut explorer = explorer.clone();
    explorer.settings.every_operation = true;
    explorer.settings.whole_deadlocks = true;
    explorer.settings.max_steps = explorer.settings.max_steps.min(MAX_STEPS);
    let mut worker = Worker::new(&explorer, deadline, f);
    let limit = explorer.seeds.end - explorer.seeds.start;
    let mut guide = Guide::new(Item::default());
    let mut stack: Vec<Run> = Vec::new();
    let mut pool: Vec<Record> = Vec::new();
    let mut next = Some(Item::default());
    let seed = explorer.seeds.start;
    while let Some(item) = next {
        if worker.report.executions >= limit || worker.is_stopped() || worker.is_late() {
            break;
        }
        guide.record = pool.pop().unwrap_or_default();
        guide.begin(item);
        let outcome = worker.run_plan(seed, Plan::Asked(Active::Guided(guide)), Detail::Order);
        let Active::Guided(back) = worker.machine.take_active() else {
            unreachable!("the run gives its strategy back")
        };
        guide = back;
        guide.end();
        match guide.verdict {
            Verdict::Canonical | Verdict::Livelock => {
                worker.count(&outcome);
                if let Some(counter) = explorer.progress {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                if let Some(kind) = outcome.failure {
                    // Without the guide a livelock goes on: it is repeated up to where it was recognised.
                    if guide.verdict == Verdict::Livelock {
                        worker.machine.cut_after(outcome.steps.max(1));
                    }
                    let failure = worker.confirm(seed, *kind, outcome.steps);
                    worker.machine.cut_after(explorer.settings.max_steps);
                    worker.report.failures.push(failure);
                    if worker.report.failures.len() >= explorer.max_failures {
                        break;
                    }
                }
                stack.push(Run::of(&mut guide));
            }
            Verdict::Empty => {
                worker.report.exhaustive.redundant += 1;
                stack.push(Run::of(&mut guide));
            }
            Verdict::Tried => {
                worker.report.exhaustive.probes += 1;
                stack.push(Run::of(&mut guide));
            }
            Verdict::Infeasible | Verdict::Redundant => {
                worker.report.exhaustive.probes += 1;
                pool.push(std::mem::take(&mut guide.record));
            }
        }
        worker.report.exhaustive.depth = worker.report.exhaustive.depth.max(stack.len() as u64);
        next = loop {
            let Some(run) = stack.last_mut() else { break None };
            match run.next_item() {
                Some(item) => break Some(item),
                None => pool.extend(stack.pop().map(|run| run.record)),
            }
        };
        if next.is_none() {
            worker.report.complete = true;
        }
    }
    worker.report.abandoned = worker.machine.rt().abandoned;
    worker.report.finish(explorer.max_failures);
    worker.report
}
