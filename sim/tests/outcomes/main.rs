//! Exhaustive search over small programs reaches all outcomes of a sequential model, and no other.
//!
//! For each kind of object there is a model of a few lines that knows nothing of the runtime: a state, and what an
//! operation does to it in one step, or in two if others can see it wait. Programs are drawn from a fixed generator. The
//! model's outcomes are found by trying every order of steps; the façade's by [`Strategy::Dfs`]. An outcome is what each
//! thread's operations returned, up to the one at which it is stuck.

mod barrier;
mod cell;
mod channel;
mod once;
mod park;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use interleaf::{Explorer, FailureKind, Strategy, thread};

/// What each thread's operations returned.
type Outcome = Vec<Vec<String>>;

/// What an operation does to a model's state.
enum Step {
    /// It cannot happen now.
    Blocked,
    /// It is over and returned this.
    Done(String),
    /// Its first half has happened; the thread waits for the second.
    Waits,
}

/// A model, and the object that it is the model of.
trait Subject: Clone + Ord {
    type Op: Copy + Debug;
    type Handle: Send + 'static;

    /// One step of a thread's operation; `waits` if its first half has happened.
    fn step(&mut self, thread: usize, op: Self::Op, waits: bool) -> Step;

    /// What may happen to a thread's operation instead: a time-out.
    fn alternative(&mut self, _thread: usize, _op: Self::Op, _waits: bool) -> Step {
        Step::Blocked
    }

    /// The real object: a handle for each thread.
    fn handles(&self, threads: usize) -> Vec<Self::Handle>;

    /// Does the operation.
    fn perform(handle: &mut Self::Handle, op: Self::Op) -> String;
}

/// Where a model's search is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State<S> {
    subject: S,
    waits: Vec<bool>,
    outcome: Outcome,
}

fn model<S: Subject>(subject: &S, program: &[Vec<S::Op>]) -> BTreeSet<Outcome> {
    let threads = program.len();
    let first = State { subject: subject.clone(), waits: vec![false; threads], outcome: vec![Vec::new(); threads] };
    let (mut seen, mut outcomes) = (BTreeSet::from([first.clone()]), BTreeSet::new());
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        let mut stuck = true;
        for (thread, ops) in program.iter().enumerate() {
            let Some(&op) = ops.get(state.outcome[thread].len()) else { continue };
            for step in [S::step, S::alternative] {
                let mut next = state.clone();
                match step(&mut next.subject, thread, op, state.waits[thread]) {
                    Step::Blocked => continue,
                    Step::Waits => next.waits[thread] = true,
                    Step::Done(result) => {
                        next.waits[thread] = false;
                        next.outcome[thread].push(result);
                    }
                }
                stuck = false;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if stuck {
            outcomes.insert(state.outcome);
        }
    }
    outcomes
}

fn facade<S: Subject + Sync>(subject: &S, program: &[Vec<S::Op>], strategy: Strategy) -> BTreeSet<Outcome>
where
    S::Op: Send + Sync + 'static,
{
    let outcomes = Mutex::new(BTreeSet::new());
    let present: Mutex<Option<Arc<Mutex<Outcome>>>> = Mutex::new(None);
    // A run that is stuck ends in the middle, so each run files the one before it.
    let file = |new| {
        if let Some(before) = std::mem::replace(&mut *present.lock().unwrap(), new) {
            outcomes.lock().unwrap().insert(before.lock().unwrap().clone());
        }
    };
    let exhaustive = matches!(strategy, Strategy::Dfs { .. });
    let explorer = Explorer::new().strategy(strategy).seeds(0..if exhaustive { 100_000 } else { 30 });
    let report = explorer.max_failures(usize::MAX).check_determinism(false).run(|| {
        let outcome = Arc::new(Mutex::new(vec![Vec::new(); program.len()]));
        file(Some(Arc::clone(&outcome)));
        let spawn = |(number, mut handle): (usize, S::Handle)| {
            let (outcome, ops) = (Arc::clone(&outcome), program[number].clone());
            thread::spawn(move || {
                for op in ops {
                    let result = S::perform(&mut handle, op);
                    outcome.lock().unwrap()[number].push(result);
                }
                handle
            })
        };
        let threads: Vec<_> = subject.handles(program.len()).into_iter().enumerate().map(spawn).collect();
        let handles: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        drop(handles);
    });
    file(None);
    assert!(report.complete || !exhaustive, "{program:?} is too large");
    for failure in &report.failures {
        assert!(matches!(failure.kind, FailureKind::Deadlock { .. }), "{program:?}: {failure}");
    }
    outcomes.into_inner().unwrap()
}

/// Compares façade and model over a program; tells how many outcomes there are.
fn compare<S: Subject + Sync + Debug>(subject: &S, program: &[Vec<S::Op>]) -> usize
where
    S::Op: Send + Sync + 'static,
{
    let expected = model(subject, program);
    let found = facade(subject, program, Strategy::Dfs { preemptions: None });
    let missed: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "{subject:?} {program:?}\nmissed {missed:?}\nwrong {wrong:?}");
    // The inlined strategies take other paths through the runtime.
    for strategy in [Strategy::Random, Strategy::Pct { depth: 2 }] {
        let some = facade(subject, program, strategy.clone());
        let wrong: Vec<_> = some.difference(&expected).collect();
        assert!(wrong.is_empty(), "{strategy}: {subject:?} {program:?}\nwrong {wrong:?}");
    }
    found.len()
}

/// A result, or the word for a panic.
fn or_panic<T: Debug>(f: impl FnOnce() -> T) -> String {
    catch_unwind(AssertUnwindSafe(f)).map_or_else(|payload| panic_word(&*payload), |value| format!("{value:?}"))
}

/// Panics of the object are told by their text. What ends a run that is over is passed on.
fn panic_word(payload: &(dyn std::any::Any + Send)) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => std::panic::resume_unwind(Box::new("the run is over")),
    }
}

/// A fixed sequence of small numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    /// Up to `most` of the options for each of `threads` threads, at least one.
    fn program<T: Copy>(&mut self, threads: usize, most: usize, options: &[T]) -> Vec<Vec<T>> {
        (0..threads).map(|_| (0..=self.below(most)).map(|_| self.of(options)).collect()).collect()
    }
}
