//! Parking with and without a timeout: one token a thread.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use interleaf::{thread, time::Instant};

use super::{Draw, Step, Subject, compare};

#[derive(Clone, Copy, Debug)]
enum Op {
    Park,
    ParkTimeout,
    Unpark(usize),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Model {
    tokens: Vec<bool>,
}

/// The threads, each of which puts itself there.
type Threads = Arc<Mutex<Vec<Option<thread::Thread>>>>;

impl Subject for Model {
    type Op = Op;
    type Handle = (usize, Threads);

    fn step(&mut self, thread: usize, op: Op, _waits: bool) -> Step {
        match op {
            Op::Unpark(other) => {
                self.tokens[other] = true;
                Step::Done("unparked".into())
            }
            _ if std::mem::take(&mut self.tokens[thread]) => Step::Done("token".into()),
            _ => Step::Blocked,
        }
    }

    fn alternative(&mut self, thread: usize, op: Op, _waits: bool) -> Step {
        match op {
            Op::ParkTimeout if !self.tokens[thread] => Step::Done("timeout".into()),
            _ => Step::Blocked,
        }
    }

    fn handles(&self, threads: usize) -> Vec<Self::Handle> {
        let all = Arc::new(Mutex::new(vec![None; threads]));
        (0..threads).map(|number| (number, Arc::clone(&all))).collect()
    }

    fn perform((number, threads): &mut Self::Handle, op: Op) -> String {
        threads.lock().unwrap()[*number].get_or_insert_with(thread::current);
        let start = Instant::now();
        match op {
            Op::Park => thread::park(),
            // With one moment of waking each, a time-out of one thread says nothing about those of others.
            Op::ParkTimeout => thread::park_timeout(Duration::from_secs(1 + *number as u64)),
            Op::Unpark(other) => {
                let other = loop {
                    // Every thread comes to its first operation before any operation happens.
                    if let Some(thread) = threads.lock().unwrap()[other].clone() {
                        break thread;
                    }
                };
                other.unpark();
                return "unparked".into();
            }
        }
        if start.elapsed().is_zero() { "token".into() } else { "timeout".into() }
    }
}

#[test]
fn a_park_ends_by_a_token_or_a_timeout() {
    let mut draw = Draw(2);
    let mut outcomes = 0;
    for _ in 0..80 {
        // Only the first thread parks, so that virtual time moves for it alone.
        let parks: Vec<Op> = (0..=draw.below(3)).map(|_| draw.of(&[Op::Park, Op::ParkTimeout])).collect();
        let mut program = vec![parks];
        program.extend(draw.program(2, 2, &[Op::Unpark(0)]));
        outcomes += compare(&Model { tokens: vec![false; 3] }, &program);
    }
    assert!(outcomes > 120, "the programs are trivial: {outcomes}");
}
