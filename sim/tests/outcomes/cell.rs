//! `OnceLock` and `LazyLock`: the value of whoever begins first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use interleaf::sync::atomic::{AtomicBool, Ordering::SeqCst};
use interleaf::sync::{LazyLock, Once, OnceLock};
use interleaf::{Explorer, Strategy, thread};

use super::{Draw, Step, Subject, compare, or_panic};

#[derive(Clone, Copy, Debug)]
enum Op {
    Get,
    Set,
    GetOrInit,
    GetOrInitPanics,
    Wait,
}

/// The value is the number of the thread that wrote it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cell {
    Empty,
    Running,
    Full(usize),
}

impl Subject for Cell {
    type Op = Op;
    type Handle = (usize, Arc<OnceLock<usize>>);

    fn step(&mut self, thread: usize, op: Op, waits: bool) -> Step {
        match (op, *self) {
            (Op::Get, Self::Full(value)) => Step::Done(format!("{:?}", Some(value))),
            (Op::Get, _) => Step::Done("None".into()),
            (Op::Wait | Op::GetOrInit | Op::GetOrInitPanics, Self::Full(value)) => Step::Done(value.to_string()),
            (Op::Wait, _) => Step::Blocked,
            (Op::Set, Self::Full(_)) => Step::Done(format!("Err({thread})")),
            (Op::GetOrInit, Self::Running) if waits => {
                *self = Self::Full(thread);
                Step::Done(thread.to_string())
            }
            (Op::GetOrInitPanics, Self::Running) if waits => {
                *self = Self::Empty;
                Step::Done("panics".into())
            }
            (_, Self::Running) => Step::Blocked,
            (Op::Set, Self::Empty) => {
                *self = Self::Full(thread);
                Step::Done("Ok(())".into())
            }
            (_, Self::Empty) => {
                *self = Self::Running;
                Step::Waits
            }
        }
    }

    fn handles(&self, threads: usize) -> Vec<Self::Handle> {
        let cell = Arc::new(OnceLock::new());
        (0..threads).map(|number| (number, Arc::clone(&cell))).collect()
    }

    fn perform((number, cell): &mut Self::Handle, op: Op) -> String {
        match op {
            Op::Get => format!("{:?}", cell.get()),
            Op::Set => format!("{:?}", cell.set(*number)),
            Op::GetOrInit => cell.get_or_init(|| *number).to_string(),
            Op::GetOrInitPanics => or_panic(|| *cell.get_or_init(|| panic!("panics"))),
            Op::Wait => cell.wait().to_string(),
        }
    }
}

#[test]
fn cells_hold_what_the_model_holds() {
    use Op::{Get, GetOrInit, GetOrInitPanics, Set, Wait};
    let mut draw = Draw(4);
    let mut outcomes = 0;
    for _ in 0..200 {
        let threads = 2 + draw.below(2);
        let most = if threads == 2 { 3 } else { 2 };
        outcomes += compare(&Cell::Empty, &draw.program(threads, most, &[Get, Set, GetOrInit, GetOrInitPanics, Wait]));
    }
    assert!(outcomes > 300, "the programs are trivial: {outcomes}");
}

#[derive(Clone, Copy, Debug)]
enum LazyOp {
    Force,
    Get,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Empty,
    Running,
    Made,
    Poisoned,
}

/// Whether the initialiser panics, and what has become of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Lazy(bool, State);

impl Subject for Lazy {
    type Op = LazyOp;
    type Handle = Arc<LazyLock<u8>>;

    fn step(&mut self, _thread: usize, op: LazyOp, waits: bool) -> Step {
        let done = |text: &str| Step::Done(text.to_owned());
        match (op, self.1) {
            (LazyOp::Get, State::Made) => done("Some(7)"),
            (LazyOp::Get, _) => done("None"),
            (LazyOp::Force, State::Made) => done("7"),
            (LazyOp::Force, State::Poisoned) => done("LazyLock instance has previously been poisoned"),
            (LazyOp::Force, State::Empty) => {
                self.1 = State::Running;
                Step::Waits
            }
            (LazyOp::Force, State::Running) if waits => {
                self.1 = if self.0 { State::Poisoned } else { State::Made };
                done(if self.0 { "panics" } else { "7" })
            }
            (LazyOp::Force, State::Running) => Step::Blocked,
        }
    }

    fn handles(&self, threads: usize) -> Vec<Arc<LazyLock<u8>>> {
        let make: fn() -> u8 = if self.0 { || panic!("panics") } else { || 7 };
        let lazy = Arc::new(LazyLock::new(make));
        (0..threads).map(|_| Arc::clone(&lazy)).collect()
    }

    fn perform(lazy: &mut Arc<LazyLock<u8>>, op: LazyOp) -> String {
        match op {
            LazyOp::Force => or_panic(|| ***lazy),
            LazyOp::Get => format!("{:?}", LazyLock::get(lazy)),
        }
    }
}

#[test]
fn lazy_values_are_made_as_in_the_model() {
    let mut draw = Draw(5);
    let mut outcomes = 0;
    for panics in [false, true] {
        for _ in 0..40 {
            let program = draw.program(3, 2, &[LazyOp::Force, LazyOp::Get]);
            outcomes += compare(&Lazy(panics, State::Empty), &program);
        }
    }
    assert!(outcomes > 120, "the programs are trivial: {outcomes}");
}

/// What a second thread sees of an initialiser that sets a flag, and whether it finds the object initialised after that.
fn looks_in_between<T: Send + Sync + 'static>(
    make: fn() -> T,
    initialise: fn(&T, &AtomicBool),
    is_done: fn(&T) -> bool,
) -> BTreeSet<(bool, bool)> {
    let seen = Mutex::new(BTreeSet::new());
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).run(|| {
        let both = Arc::new((make(), AtomicBool::new(false)));
        let theirs = Arc::clone(&both);
        let initialises = thread::spawn(move || initialise(&theirs.0, &theirs.1));
        let looked = (both.1.load(SeqCst), is_done(&both.0));
        seen.lock().unwrap().insert(looked);
        initialises.join().unwrap();
    });
    assert!(report.complete && report.failures.is_empty());
    seen.into_inner().unwrap()
}

#[test]
fn an_initialisation_can_be_seen_between_its_last_operation_and_its_end() {
    let all = BTreeSet::from([(false, false), (false, true), (true, false), (true, true)]);
    let once =
        looks_in_between(Once::new, |once, flag| once.call_once(|| flag.store(true, SeqCst)), Once::is_completed);
    assert_eq!(once, all);
    let cell = looks_in_between(
        OnceLock::new,
        |cell, flag| {
            cell.get_or_init(|| flag.store(true, SeqCst));
        },
        |cell| cell.get().is_some(),
    );
    assert_eq!(cell, all);
}
