//! `Once`: an initialisation has a begin and an end, and others may look in between.

use std::sync::Arc;

use interleaf::sync::Once;

use super::{Draw, Step, Subject, compare, or_panic};

#[derive(Clone, Copy, Debug)]
enum Op {
    Call,
    CallPanics,
    Force,
    ForcePanics,
    Look,
    Wait,
    WaitForce,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Model {
    Empty,
    Poisoned,
    /// And whether it was poisoned before.
    Running(bool),
    Complete,
}

const POISONED: &str = "Once instance has previously been poisoned";

impl Subject for Model {
    type Op = Op;
    type Handle = Arc<Once>;

    fn step(&mut self, _thread: usize, op: Op, waits: bool) -> Step {
        let done = |text: &str| Step::Done(text.to_owned());
        let (force, panics) = match op {
            Op::Look => return Step::Done(format!("{:?}", *self == Self::Complete)),
            Op::Wait if *self == Self::Poisoned => return done(POISONED),
            Op::Wait | Op::WaitForce if *self == Self::Complete => return done("()"),
            Op::Wait | Op::WaitForce => return Step::Blocked,
            Op::Call => (false, false),
            Op::CallPanics => (false, true),
            Op::Force => (true, false),
            Op::ForcePanics => (true, true),
        };
        match *self {
            Self::Running(before) if waits => {
                *self = if panics { Self::Poisoned } else { Self::Complete };
                if panics { done("panics") } else { Step::Done(format!("Some({})", force && before)) }
            }
            Self::Running(_) => Step::Blocked,
            Self::Complete => done("None"),
            Self::Poisoned if !force => done(POISONED),
            Self::Empty | Self::Poisoned => {
                *self = Self::Running(*self == Self::Poisoned);
                Step::Waits
            }
        }
    }

    fn handles(&self, threads: usize) -> Vec<Arc<Once>> {
        let once = Arc::new(Once::new());
        (0..threads).map(|_| Arc::clone(&once)).collect()
    }

    fn perform(once: &mut Arc<Once>, op: Op) -> String {
        // Whether this call ran the initialiser, and what that was told.
        let mut told = None;
        match op {
            Op::Call => or_panic(|| {
                once.call_once(|| told = Some(false));
                told
            }),
            Op::CallPanics => or_panic(|| {
                once.call_once(|| panic!("panics"));
                told
            }),
            Op::Force => or_panic(|| {
                once.call_once_force(|state| told = Some(state.is_poisoned()));
                told
            }),
            Op::ForcePanics => or_panic(|| {
                once.call_once_force(|_| panic!("panics"));
                told
            }),
            Op::Look => format!("{:?}", once.is_completed()),
            Op::Wait => or_panic(|| once.wait()),
            Op::WaitForce => or_panic(|| once.wait_force()),
        }
    }
}

#[test]
fn initialisations_end_as_in_the_model() {
    use Op::{Call, CallPanics, Force, ForcePanics, Look, Wait, WaitForce};
    let mut draw = Draw(3);
    let mut outcomes = 0;
    for _ in 0..250 {
        let threads = 2 + draw.below(2);
        let most = if threads == 2 { 3 } else { 2 };
        let program = draw.program(threads, most, &[Call, CallPanics, Force, ForcePanics, Look, Wait, WaitForce]);
        outcomes += compare(&Model::Empty, &program);
    }
    assert!(outcomes > 400, "the programs are trivial: {outcomes}");
}
