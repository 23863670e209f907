//! What a failure hangs on: the one order of two operations without which the program passes.
//!
//! Of a failed run each pair of conflicting operations that could have come in the other order is taken, those first
//! that are passed over the fewest others; the run is repeated up to there, the two are reversed, and the rest follows
//! the failed run as far as it can. The first such run that passes is told.

use std::collections::VecDeque;
use std::fmt;

use crate::explore::failure::{Failure, FailureKind, Operation, Reversal};
use crate::explore::worker::Worker;
use crate::monitor::OpKind;
use crate::runtime::execution::Detail;
use crate::strategy::{Active, Plan, Point, Scheduler};
use crate::trace::{Decision, Trace, verb};

use super::bounds::MAX_JUDGED;
use super::candidates::Run;
use super::guide::Waiting;
use super::model::{self, Kept};
use super::orders::Orders;
use super::record::{Access, Record, bit, meets, set};

/// Pairs that are tried.
const TRIES: usize = 64;

/// The nearest run that passes, and what must be reversed for it.
pub(crate) fn nearest<F: Fn() + Sync>(
    worker: &mut Worker<'_, '_, F>,
    run: &Run,
    failure: &Failure,
) -> Option<Reversal> {
    let (record, wishes, trace) = (&run.record, run.wishes(), &failure.trace);
    let steps: Vec<&Decision> = trace.decisions.iter().filter(|d| !d.data).collect();
    let same = steps.iter().zip(&record.events).all(|(d, e)| d.thread == e.thread);
    if steps.len() != record.len() || !same || matches!(failure.kind, FailureKind::Nondeterminism { .. }) {
        return None;
    }
    for pair in pairs(record, wishes).into_iter().take(TRIES) {
        let order = pair.order(record);
        let threads: Vec<u32> = order.iter().map(|&k| thread_of(record, wishes, k)).collect();
        let follow = Follow::new(trace, &threads, pair.strict(record));
        let plan = Plan::Asked(Active::Asked(Box::new(follow)));
        let outcome = worker.run_plan(failure.seed, plan, Detail::Full);
        let passed = worker.machine.trace();
        let as_wanted = matches!(worker.machine.take_active(), Active::Asked(s) if s.is_spent());
        if as_wanted && outcome.failure.is_none() {
            return Some(Reversal {
                earlier: operation(trace, steps[pair.i]),
                later: match steps.get(pair.j) {
                    Some(step) => operation(trace, step),
                    None => waited_for(failure, wishes[pair.j - record.len()]),
                },
                token: worker.token(failure.seed, &passed),
            });
        }
    }
    None
}

/// The same failure in a schedule of its trace with the fewest preemptions, if it was found in another.
pub(crate) fn straighten<F: Fn() + Sync>(worker: &mut Worker<'_, '_, F>, run: &Run, failure: &mut Failure) {
    let made = failure.trace.preemptions() as u32;
    let Some(orders) = Orders::new(&run.record, run.wishes()).filter(|_| made > 0) else { return };
    let Ok(Some(least)) = orders.least_preempted(made - 1, MAX_JUDGED) else { return };
    let follow = Follow::new(&failure.trace, &least.threads, least.threads.len());
    let outcome = worker.run_plan(failure.seed, Plan::Asked(Active::Asked(Box::new(follow))), Detail::Full);
    let trace = worker.machine.trace();
    let fewer = (trace.preemptions() as u32) < made;
    if let Some(mut kind) = outcome.failure.map(|kind| *kind).filter(|k| fewer && k.signature() == failure.signature())
    {
        failure.backtrace = kind.take_backtrace();
        failure.kind = kind;
        failure.token = worker.token(failure.seed, &trace);
        failure.trace = trace;
    }
}

fn thread_of(record: &Record, wishes: &[Waiting], k: usize) -> u32 {
    record.events.get(k).map_or_else(|| wishes[k - record.len()].thread, |e| e.thread)
}

/// An event, and a later one (or, beyond the last, an operation that was waited for) that could have come before it.
#[derive(Debug, PartialEq, Eq)]
struct Pair {
    i: usize,
    j: usize,
    /// Events that the later one passes over.
    distance: usize,
}

/// All such pairs, the nearest first.
fn pairs(record: &Record, wishes: &[Waiting]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for j in 0..record.len() + wishes.len() {
        let (end, hard, accesses) = match wishes.get(j.wrapping_sub(record.len())) {
            Some(w) => (record.len(), record.hard_of_next(w.thread), model::waited_for(*w)),
            None => (j, record.hard(j).to_vec(), record.accesses_of(j).to_vec()),
        };
        let thread = thread_of(record, wishes, j);
        for i in (0..end).filter(|&i| record.events[i].thread != thread && !bit(&hard, i)) {
            let clash = |a: &Access| {
                record.accesses_of(i).iter().any(|b| a.object == b.object && !a.class().commutes(b.class()))
            };
            if !accesses.iter().any(clash) {
                continue;
            }
            let mut before = vec![0; record.words];
            let mut behind = vec![0; record.words];
            (0..end).for_each(|k| set(if k == i || record.before(i, k) { &mut behind } else { &mut before }, k));
            let kept = Kept { record, until: 0, also: &before };
            let possible = |a: &Access| match a.kind {
                OpKind::Recv => model::can_receive(&kept, a),
                _ => model::foresee(&kept, &mut a.clone()),
            };
            if !meets(&hard, &behind) && accesses.iter().all(possible) {
                let distance = behind.iter().map(|w| w.count_ones() as usize).sum();
                pairs.push(Pair { i, j, distance });
            }
        }
    }
    pairs.sort_by_key(|p| (p.distance, p.j, p.i));
    pairs
}

impl Pair {
    fn stays(&self, record: &Record, k: usize) -> bool {
        k != self.i && !record.before(self.i, k)
    }

    /// The events in the order that is tried.
    fn order(&self, record: &Record) -> Vec<usize> {
        let end = self.j.min(record.len());
        let (before, behind): (Vec<usize>, Vec<usize>) = (0..end).partition(|&k| self.stays(record, k));
        let rest = (end..record.len()).filter(|&k| k != self.j);
        before.into_iter().chain([self.j]).chain(behind).chain(rest).collect()
    }

    /// How many of them must be made for the two to be reversed.
    fn strict(&self, record: &Record) -> usize {
        (0..self.j.min(record.len())).filter(|&k| self.stays(record, k)).count() + 1
    }
}

fn operation(trace: &Trace, step: &Decision) -> Operation {
    Operation {
        thread: trace.thread_label(step.thread).to_owned(),
        kind: step.kind,
        object: step.object.map_or_else(String::new, |o| trace.object_label(o)),
        location: step.location.to_string(),
    }
}

/// The operation that a deadlocked thread wants.
fn waited_for(failure: &Failure, wish: Waiting) -> Operation {
    let thread = failure.trace.thread_label(wish.thread).to_owned();
    let blocked = match &failure.kind {
        FailureKind::Deadlock { threads, .. } => threads.iter().find(|b| b.thread == thread),
        _ => None,
    };
    let (object, location) = blocked.map(|b| (b.object.clone(), b.location.clone())).unwrap_or_default();
    Operation { thread, kind: wish.kind, object, location }
}

/// A thread in all runs: its name, and how many of that name were started before.
type Name = (String, usize);

fn name(names: &[String], thread: u32) -> Name {
    let name = names.get(thread as usize).cloned().unwrap_or_default();
    let before = names.iter().take(thread as usize).filter(|n| **n == name).count();
    (name, before)
}

/// Takes threads in a given order: strictly at first, then as far as they can go on.
struct Follow {
    order: VecDeque<Name>,
    strict: usize,
    off: bool,
    /// Choices of values of each thread.
    values: Vec<(Name, VecDeque<u8>)>,
    running: Option<Name>,
}

impl Follow {
    fn new(trace: &Trace, order: &[u32], strict: usize) -> Self {
        let mut values: Vec<(Name, VecDeque<u8>)> = Vec::new();
        for d in trace.decisions.iter().filter(|d| d.data) {
            let name = name(&trace.threads, d.thread);
            match values.iter_mut().find(|(n, _)| *n == name) {
                Some((_, list)) => list.push_back(d.chosen),
                None => values.push((name, VecDeque::from([d.chosen]))),
            }
        }
        let order = order.iter().map(|&t| name(&trace.threads, t)).collect();
        Self { order, strict, off: false, values, running: None }
    }
}

impl Scheduler for Follow {
    fn next_thread(&mut self, point: &Point<'_>) -> usize {
        let able = |wanted: &Name| {
            let can = point.pending.iter().filter(|p| point.enabled >> p.slot & 1 == 1);
            can.map(|p| (p.slot, name(point.names, p.thread))).find(|(_, n)| n == wanted)
        };
        let reach = if self.strict > 0 { 1 } else { self.order.len() };
        let found = self.order.iter().take(reach).enumerate().find_map(|(at, n)| able(n).map(|(slot, _)| (at, slot)));
        let slot = match found {
            Some((at, slot)) => {
                self.order.remove(at);
                slot
            }
            None => {
                self.off |= self.strict > 0;
                point.default
            }
        };
        self.strict = self.strict.saturating_sub(1);
        self.running = point.pending.iter().find(|p| p.slot == slot).map(|p| name(point.names, p.thread));
        slot
    }

    fn choose(&mut self, options: u64) -> usize {
        let mine = self.values.iter_mut().find(|(n, _)| Some(n) == self.running.as_ref());
        let value = mine.and_then(|(_, list)| list.pop_front()).map(usize::from);
        value.filter(|&v| v < 64 && options >> v & 1 == 1).unwrap_or(options.trailing_zeros() as usize)
    }

    /// Whether the two were reversed.
    fn is_spent(&self) -> bool {
        !self.off && self.strict == 0
    }

    fn wants_pending(&self) -> bool {
        true
    }

    fn sees_forced(&self) -> bool {
        true
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.thread, verb(self.kind))?;
        if !self.object.is_empty() {
            write!(f, " {}", self.object)?;
        }
        if !self.location.is_empty() {
            write!(f, " at {}", self.location)?;
        }
        Ok(())
    }
}

impl fmt::Display for Reversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "passes if {} comes before {}", self.later, self.earlier)
    }
}
