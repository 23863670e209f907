//! Exhaustive exploration against all interleavings.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Plain};

use interleaf::strategy::{Point, Scheduler};
use interleaf::{Explorer, FailureKind, Faults, MemoryModel, Report, Strategy, Time};

use super::program::Body;
use super::run::{Outcomes, run};

/// How a program is run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) faults: Faults,
    pub(crate) time: Time,
}

/// What an exploration found.
#[derive(Debug)]
pub(crate) struct Explored {
    pub(crate) runs: u64,
    pub(crate) traces: u64,
    pub(crate) outcomes: BTreeSet<String>,
    pub(crate) redundant: u64,
    queues: bool,
    ends: bool,
    pub(crate) complete: bool,
}

/// All schedules, depth first, without any rule of the engine's: a thread that yields may go on.
#[derive(Default)]
struct Everything {
    /// Options left, and the one taken.
    path: Vec<(u64, u8)>,
    depth: usize,
}

impl Everything {
    fn decide(&mut self, options: u64) -> usize {
        if options & (options - 1) == 0 {
            return options.trailing_zeros() as usize;
        }
        if self.depth == self.path.len() {
            self.path.push((options & (options - 1), options.trailing_zeros() as u8));
        }
        self.depth += 1;
        self.path[self.depth - 1].1.into()
    }

    fn advance(&mut self) -> bool {
        self.depth = 0;
        while let Some((left, taken)) = self.path.last_mut() {
            if *left != 0 {
                *taken = left.trailing_zeros() as u8;
                *left &= *left - 1;
                return true;
            }
            self.path.pop();
        }
        false
    }
}

struct Shared {
    search: Arc<Plain<Everything>>,
    done: Arc<AtomicBool>,
    /// It steered a run, and was not only made to be named.
    asked: bool,
}

impl Scheduler for Shared {
    fn next_thread(&mut self, point: &Point<'_>) -> usize {
        self.asked = true;
        self.search.lock().expect("not poisoned").decide(point.enabled)
    }

    fn choose(&mut self, options: u64) -> usize {
        self.search.lock().expect("not poisoned").decide(options)
    }

    fn sees_forced(&self) -> bool {
        true
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.asked
            && let Ok(mut search) = self.search.lock()
            && !search.advance()
        {
            self.done.store(true, Relaxed);
        }
    }
}

/// A strategy that takes all schedules in turn, and a flag that is set once it has.
pub(crate) fn every_schedule() -> (Strategy, Arc<AtomicBool>) {
    let search = Arc::new(Plain::new(Everything::default()));
    let done = Arc::new(AtomicBool::new(false));
    let make = {
        let (search, done) = (Arc::clone(&search), Arc::clone(&done));
        move |_| -> Box<dyn Scheduler> {
            Box::new(Shared { search: Arc::clone(&search), done: Arc::clone(&done), asked: false })
        }
    };
    (Strategy::Custom(Arc::new(make)), done)
}

/// What is not as in other explorations.
#[derive(Clone, Copy, Default)]
struct Relation {
    /// Readers may find themselves behind writers.
    queues: bool,
    /// Ends of threads are steps of their own.
    ends: bool,
    /// Likewise that a writer begins to wait.
    writers: bool,
}

fn explorer<'a>(conditions: Conditions, limit: u64, relation: Relation) -> Explorer<'a> {
    Explorer::new()
        .seeds(0..limit)
        .every_operation(true)
        .whole_deadlocks(true)
        .readers_queue(relation.queues)
        .steps_apart(relation.ends, relation.writers)
        .count_distinct(true)
        .check_determinism(false)
        .max_failures(usize::MAX)
        .faults(conditions.faults)
        .time(conditions.time)
}

fn explored(report: &Report, outcomes: &Outcomes, complete: bool) -> Explored {
    let mut outcomes = outcomes.lock().expect("not poisoned").clone();
    for failure in &report.failures {
        let mut notes: Vec<_> = failure.trace.events.iter().filter_map(|e| e.note.as_deref()).collect();
        // Each note begins with the place of its thread; the order within a thread stays.
        notes.sort_by_key(|note| note.split(' ').next());
        let waits = match &failure.kind {
            FailureKind::Deadlock { threads, .. } => {
                let mut all: Vec<_> =
                    threads.iter().map(|t| format!("{} {:?} {}", t.thread, t.wants, t.location)).collect();
                all.sort();
                all.join(", ")
            }
            FailureKind::StepLimit { .. } => String::from("goes on for ever"),
            other => format!("FAILED {other:?}"),
        };
        outcomes.insert(format!("{waits} {notes:?}"));
    }
    Explored {
        runs: report.executions,
        traces: report.distinct,
        outcomes,
        redundant: report.exhaustive.redundant,
        queues: report.exhaustive.queues,
        ends: report.exhaustive.ends,
        complete,
    }
}

/// All interleavings; `None` if there are more than `limit`.
fn brute_force(program: &Body, conditions: Conditions, limit: u64, relation: Relation) -> Option<Explored> {
    let outcomes = Outcomes::default();
    let (strategy, done) = every_schedule();
    let report =
        explorer(conditions, limit, relation).strategy(strategy).stop_when(&done).run(|| run(program, &outcomes));
    done.load(Relaxed).then(|| explored(&report, &outcomes, true))
}

pub(crate) fn exhaust(program: &Body, conditions: Conditions, limit: u64) -> Explored {
    let outcomes = Outcomes::default();
    let report = explorer(conditions, limit, Relation::default())
        .strategy(Strategy::Exhaustive { preemptions: None })
        .run(|| run(program, &outcomes));
    explored(&report, &outcomes, report.complete)
}

/// What is different under RC11, if all accesses are SeqCst; an empty text if nothing is, `None` if there are too many
/// interleavings.
pub(crate) fn difference_under_rc11(program: &Body, limit: u64) -> Option<String> {
    let sc = exhaust(program, Conditions::default(), limit);
    if !sc.complete {
        return None;
    }
    let outcomes = Outcomes::default();
    let report = explorer(Conditions::default(), limit * 4, Relation::default())
        .memory_model(MemoryModel::Rc11)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .run(|| run(program, &outcomes));
    let graphs = explored(&report, &outcomes, report.complete);
    let mut wrong = String::new();
    if !graphs.complete || graphs.runs != sc.runs || graphs.traces != graphs.runs {
        let Explored { runs, traces, complete, .. } = graphs;
        wrong += &format!("{runs} runs for {traces} graphs, {} traces, complete: {complete}; ", sc.runs);
    }
    if graphs.outcomes != sc.outcomes {
        let missed: Vec<_> = sc.outcomes.difference(&graphs.outcomes).collect();
        let made: Vec<_> = graphs.outcomes.difference(&sc.outcomes).collect();
        wrong += &format!("outcomes missed: {missed:?}, made: {made:?}");
    }
    Some(wrong)
}

/// What is different; an empty text if nothing is, `None` if there are too many interleavings.
pub(crate) fn difference(program: &Body, conditions: Conditions, limit: u64) -> Option<String> {
    let all = brute_force(program, conditions, limit, Relation { queues: true, ..Relation::default() })?;
    let once = exhaust(program, conditions, all.traces * 4 + 100);
    // Traces are those of the relation that it chose; outcomes are those that there are.
    let relation = Relation { queues: once.queues, ends: once.ends, writers: once.queues };
    let same = brute_force(program, conditions, limit * 4, relation)?;
    let traces = same.traces;
    let mut wrong = String::new();
    let mut note = |text: String| wrong.push_str(&text);
    if !once.complete {
        note("not complete; ".into());
    }
    if once.runs != once.traces {
        note(format!("{} runs for {} traces; ", once.runs, once.traces));
    }
    if once.traces != traces {
        note(format!("{} traces instead of {traces} (of {} interleavings); ", once.traces, all.runs));
    }
    if once.redundant > 0 && !program.has_rwlock() {
        note(format!("{} redundant runs; ", once.redundant));
    }
    // A thread without any operation has ended at once, unless its end is a step.
    let known = if once.ends { &same.outcomes } else { &all.outcomes };
    let missed: Vec<_> = all.outcomes.union(&same.outcomes).filter(|o| !once.outcomes.contains(*o)).collect();
    let made: Vec<_> = once.outcomes.difference(known).collect();
    if !missed.is_empty() || !made.is_empty() {
        note(format!("outcomes missed: {missed:?}, outcomes not among all: {made:?}"));
    }
    if let Some(failed) = all.outcomes.iter().chain(&once.outcomes).find(|o| o.starts_with("FAILED")) {
        note(format!("{failed}; "));
    }
    Some(wrong)
}
