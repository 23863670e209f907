//! Barriers: the last to arrive leads, the others pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf::sync::Barrier;

use super::{Draw, Step, Subject, compare};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Model {
    size: usize,
    arrived: BTreeSet<usize>,
    passing: BTreeSet<usize>,
}

impl Subject for Model {
    type Op = ();
    type Handle = Arc<Barrier>;

    fn step(&mut self, thread: usize, (): (), waits: bool) -> Step {
        if waits {
            return if self.passing.remove(&thread) { Step::Done("passes".into()) } else { Step::Blocked };
        }
        if self.arrived.len() + 1 < self.size {
            self.arrived.insert(thread);
            return Step::Waits;
        }
        self.passing.append(&mut self.arrived);
        Step::Done("leads".into())
    }

    fn handles(&self, threads: usize) -> Vec<Arc<Barrier>> {
        let barrier = Arc::new(Barrier::new(self.size));
        (0..threads).map(|_| Arc::clone(&barrier)).collect()
    }

    fn perform(barrier: &mut Arc<Barrier>, (): ()) -> String {
        if barrier.wait().is_leader() { "leads".into() } else { "passes".into() }
    }
}

#[test]
fn barriers_let_through_whom_the_model_lets_through() {
    let mut draw = Draw(1);
    let mut outcomes = 0;
    for size in 0..=3 {
        for threads in 2..=3 {
            for _ in 0..6 {
                let model = Model { size, arrived: BTreeSet::new(), passing: BTreeSet::new() };
                outcomes += compare(&model, &draw.program(threads, 2, &[()]));
            }
        }
    }
    assert!(outcomes > 96, "the programs are trivial: {outcomes}");
}
