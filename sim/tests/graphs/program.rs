//! Small programs on atomics, fences and mutexes, drawn at random, and their run on the façade.

use interleaf::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleaf::sync::atomic::{AtomicU32, Ordering, fence};
use interleaf::sync::{Arc, Mutex, MutexGuard};
use interleaf::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Load(usize, Ordering),
    Store(usize, u32, Ordering),
    Add(usize, Ordering),
    Cas(usize, u32, u32, Ordering, Ordering),
    Fence(Ordering),
    Lock(usize),
    Unlock(usize),
    /// The next operation is left out unless the value read last was this.
    If(u32),
    /// Starts the thread of that number; those that nobody starts are there from the beginning.
    Start(usize),
    Join(usize),
    Yield,
}

/// What each thread does.
pub(super) type Program = Vec<Vec<Op>>;

pub(super) const MUTEXES: usize = 2;
pub(super) const CELLS: usize = 3;

/// A source of chance that is the same everywhere.
pub(super) struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Draws a program with atomics; with mutexes, too, if `locks`.
pub(super) fn draw(seed: u64, locks: bool) -> Program {
    let mut dice = Dice(seed.wrapping_mul(0x1234_5678_9ABC_DEF1));
    if !locks && dice.below(4) == 0 {
        // Many threads on one cell: long chains of read-modify-writes.
        return (0..4 + dice.below(2)).map(|_| vec![operation(&mut dice, 1)]).collect();
    }
    let threads = 2 + dice.below(2);
    let cells = 1 + dice.below(2);
    let longest = if threads == 2 { 4 } else { 3 };
    let mut program = Program::new();
    for _ in 0..threads {
        let mut ops: Vec<Op> = (0..1 + dice.below(longest)).map(|_| operation(&mut dice, cells)).collect();
        if locks && dice.below(3) > 0 {
            enclose(&mut dice, &mut ops);
        }
        program.push(ops);
    }
    program
}

fn operation(dice: &mut Dice, cells: usize) -> Op {
    let cell = dice.below(cells);
    let value = 1 + dice.below(2) as u32;
    match dice.below(12) {
        0..=3 => Op::Load(cell, dice.pick(&[Relaxed, Acquire, SeqCst])),
        4..=6 => Op::Store(cell, value, dice.pick(&[Relaxed, Release, SeqCst])),
        7 => Op::Add(cell, dice.pick(&[Relaxed, Acquire, Release, AcqRel, SeqCst])),
        8 | 9 => {
            let (success, failure) =
                (dice.pick(&[Relaxed, Acquire, Release, AcqRel, SeqCst]), dice.pick(&[Relaxed, Acquire, SeqCst]));
            Op::Cas(cell, dice.below(2) as u32, value, success, failure)
        }
        10 => Op::Fence(dice.pick(&[Acquire, Release, AcqRel, SeqCst, SeqCst])),
        _ => Op::If(dice.below(2) as u32),
    }
}

/// Puts a mutex, or two, one inside or after the other, around parts of a thread.
fn enclose(dice: &mut Dice, ops: &mut Vec<Op>) {
    ops.truncate(2);
    let m = dice.below(MUTEXES);
    let end = dice.below(ops.len() + 1);
    // A condition must not decide on taking or releasing a mutex.
    ops.retain(|op| !matches!(op, Op::If(_)));
    let end = end.min(ops.len());
    let start = dice.below(end + 1);
    match dice.below(3) {
        0 => {
            ops.insert(end, Op::Unlock(m));
            ops.insert(start, Op::Lock(m));
        }
        1 => {
            let other = 1 - m;
            ops.insert(end, Op::Unlock(m));
            ops.insert(end, Op::Unlock(other));
            ops.insert(start, Op::Lock(other));
            ops.insert(start, Op::Lock(m));
        }
        _ => {
            ops.insert(end, Op::Unlock(m));
            ops.insert(start, Op::Lock(m));
            let again = dice.below(MUTEXES);
            ops.push(Op::Lock(again));
            ops.push(Op::Unlock(again));
        }
    }
}

/// Draws a program whose threads take mutexes one to three times each, with an atomic access here and there.
pub(super) fn draw_rounds(seed: u64) -> Program {
    let mut dice = Dice(seed.wrapping_mul(0xB529_7A4D_1CE4_E5B9) ^ 7);
    let threads = 2 + dice.below(3);
    let mutexes = 1 + dice.below(MUTEXES);
    let most = [4, 3, 2][threads - 2];
    let mut accesses = dice.below(6);
    let mut program = Program::new();
    for _ in 0..threads {
        let mut ops = Vec::new();
        for _ in 0..1 + dice.below(most) {
            let m = dice.below(mutexes);
            if accesses > 0 && dice.below(3) == 0 {
                accesses -= 1;
                ops.push(access(&mut dice));
                ops.push(Op::If(dice.below(2) as u32));
            }
            ops.push(Op::Lock(m));
            if accesses > 0 && dice.below(2) == 0 {
                accesses -= 1;
                ops.push(access(&mut dice));
            }
            if mutexes > 1 && dice.below(4) == 0 {
                ops.extend([Op::Lock(1 - m), Op::Unlock(1 - m)]);
            }
            ops.push(Op::Unlock(m));
            if accesses > 0 && dice.below(3) == 0 {
                accesses -= 1;
                ops.push(access(&mut dice));
            }
            // Twice would be taken for a loop that waits, if it reads the same both times.
            if dice.below(4) == 0 && !ops.contains(&Op::Yield) {
                ops.push(Op::Yield);
            }
        }
        program.push(ops);
    }
    if dice.below(2) == 0 {
        relate(&mut dice, &mut program);
    }
    program
}

fn access(dice: &mut Dice) -> Op {
    let cell = dice.below(2);
    match dice.below(5) {
        0 | 1 => Op::Load(cell, SeqCst),
        2 | 3 => Op::Store(cell, 1 + dice.below(2) as u32, SeqCst),
        _ => Op::Add(cell, SeqCst),
    }
}

/// Lets threads start and join others: each but the first may have a starter of a lower number.
pub(super) fn relate(dice: &mut Dice, program: &mut Program) {
    for child in 1..program.len() {
        if dice.below(4) == 0 {
            continue;
        }
        let starter = &mut program[dice.below(child)];
        let places = |ops: &[Op], from: usize| -> Vec<usize> {
            // Never what a condition leaves out.
            (from..=ops.len()).filter(|&at| at == 0 || !matches!(ops[at - 1], Op::If(_))).collect()
        };
        let start = dice.pick(&places(starter, 0));
        starter.insert(start, Op::Start(child));
        if dice.below(3) > 0 {
            let join = dice.pick(&places(starter, start + 1));
            starter.insert(join, Op::Join(child));
        }
    }
}

/// The threads that others start.
pub(super) fn is_started(program: &Program, thread: usize) -> bool {
    program.iter().flatten().any(|op| *op == Op::Start(thread))
}

struct Shared {
    program: Program,
    cells: [AtomicU32; CELLS],
    mutexes: [Mutex<()>; MUTEXES],
}

/// Runs the program once on the façade. The first thread of a program in which it starts others is the main thread.
pub(super) fn run(program: &Program) {
    let shared = Arc::new(Shared {
        program: program.clone(),
        cells: [const { AtomicU32::new(0) }; CELLS],
        mutexes: [const { Mutex::new(()) }; MUTEXES],
    });
    let is_main = program.first().is_some_and(|ops| ops.iter().any(|op| matches!(op, Op::Start(_))));
    let first = usize::from(is_main);
    let roots = (first..program.len()).filter(|&t| !is_started(program, t));
    let threads: Vec<_> = roots.map(|t| start(&shared, t)).collect();
    if is_main {
        perform(&shared, 0);
    }
    threads.into_iter().for_each(|t| t.join().unwrap());
}

fn start(shared: &Arc<Shared>, thread: usize) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || perform(&shared, thread))
}

fn perform(shared: &Arc<Shared>, number: usize) {
    let Shared { program, cells, mutexes } = &**shared;
    let mut guards: Vec<(usize, MutexGuard<'_, ()>)> = Vec::new();
    let mut children = Vec::new();
    let mut last = 0;
    let mut at = 0;
    while let Some(op) = program[number].get(at) {
        at += 1;
        match *op {
            Op::Load(x, order) => last = cells[x].load(order),
            Op::Store(x, value, order) => cells[x].store(value, order),
            Op::Add(x, order) => last = cells[x].fetch_add(1, order),
            Op::Cas(x, expected, new, success, failure) => {
                last = cells[x].compare_exchange(expected, new, success, failure).unwrap_or_else(|found| found);
            }
            Op::Fence(order) => fence(order),
            Op::Lock(m) => guards.push((m, mutexes[m].lock().unwrap())),
            Op::Unlock(m) => guards.retain(|(held, _)| *held != m),
            Op::If(value) => at += usize::from(last != value),
            Op::Yield => thread::yield_now(),
            Op::Start(child) => children.push((child, start(shared, child))),
            Op::Join(child) => {
                let at = children.iter().position(|(c, _)| *c == child).expect("it was started");
                children.remove(at).1.join().unwrap();
            }
        }
    }
    guards.into_iter().for_each(|(_, guard)| std::mem::forget(guard));
    children.into_iter().for_each(|(_, child)| child.join().unwrap());
}
