//! Running a program on the façade, and counting what its runs do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use interleaf::sync::atomic::{AtomicI64, fence};
use interleaf::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use interleaf::{Explorer, FailureKind, MemoryModel, Report, Strategy, thread};

use super::expression::Values;
use super::program::{Change, Instruction, Program};

/// The shared objects of one run.
struct World {
    shared: Vec<AtomicI64>,
    mutexes: Vec<Mutex<()>>,
    rwlocks: Vec<RwLock<()>>,
    condvars: Vec<Condvar>,
    /// An assertion did not hold. Not simulated: noting it is no operation of the program.
    wrong: AtomicBool,
}

/// How a thread ended.
struct Ended {
    registers: Vec<i64>,
    blocked: bool,
}

/// How a run ended.
struct Ending {
    wrong: bool,
    blocked: bool,
    /// Shared values, then each thread's registers.
    state: Vec<Vec<i64>>,
}

/// What the executions of a program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Runs in which every thread came to its end.
    pub(crate) complete: u64,
    /// Runs in which an `assume` did not hold.
    pub(crate) blocked: u64,
    /// Runs in which threads waited for ever.
    pub(crate) deadlocked: u64,
    /// Different orders of conflicting operations, over all runs.
    pub(crate) distinct: u64,
    /// Runs that deadlocked, or in which an `assert` or `final` did not hold.
    pub(crate) wrong: u64,
}

/// Runs a program under every schedule with at most `preemptions` preemptions.
///
/// # Panics
/// If there are more than `limit`, or if the runtime reports anything but deadlocks.
pub(crate) fn count(program: &Arc<Program>, preemptions: Option<u32>, limit: u64) -> Counted {
    let tally = Tally::default();
    let report = explorer(Strategy::Dfs { preemptions }, 0..limit).count_distinct(true).run(|| tally.add(program));
    assert!(report.complete, "more than {limit} schedules");
    assert!(report.distinct_is_exact, "too many traces to count them exactly");
    tally.counted(&report, deadlocks(&report))
}

/// An exhaustive exploration that counts deadlocks instead of stopping at them.
pub(crate) fn exhausting() -> Explorer<'static> {
    explorer(Strategy::Exhaustive { preemptions: None }, 0..1 << 40)
}

/// Runs a program as the explorer says.
pub(crate) fn exhaust_with(explorer: &Explorer<'_>, program: &Arc<Program>) -> Report {
    let report = explorer.run(|| {
        run(program);
    });
    deadlocks(&report);
    report
}

/// Runs a program once, in a simulation; its final state as text.
pub(crate) fn outcome(program: &Arc<Program>) -> String {
    let ending = run(program);
    format!("{} {} {:?}", ending.blocked, ending.wrong, ending.state)
}

/// Runs a program once for each trace.
///
/// # Panics
/// If there are more than `limit`, or if the runtime reports anything but deadlocks.
pub(crate) fn exhaust(program: &Arc<Program>, limit: u64) -> (Counted, Report) {
    exhaust_by(Strategy::Exhaustive { preemptions: None }, program, limit, false)
}

/// As [`exhaust`], within a bound or counting all schedules.
pub(crate) fn exhaust_by(strategy: Strategy, program: &Arc<Program>, limit: u64, schedules: bool) -> (Counted, Report) {
    let tally = Tally::default();
    let explorer = explorer(strategy, 0..limit).count_distinct(true).count_schedules(schedules);
    let report = explorer.run(|| tally.add(program));
    let counted = Counted {
        complete: tally.complete.load(Relaxed),
        blocked: tally.blocked.load(Relaxed),
        deadlocked: deadlocks(&report),
        distinct: report.distinct,
        wrong: 0,
    };
    (counted, report)
}

/// Runs a program once for each of its executions under RC11.
///
/// # Panics
/// If there are more than `limit`, if two are the same, or if the runtime reports anything but deadlocks.
pub(crate) fn count_graphs(program: &Arc<Program>, limit: u64) -> Counted {
    let tally = Tally::default();
    let report = explorer(Strategy::Exhaustive { preemptions: None }, 0..limit)
        .memory_model(MemoryModel::Rc11)
        .count_distinct(true)
        .run(|| tally.add(program));
    assert!(report.complete, "more than {limit} executions");
    assert!(!report.distinct_is_exact || report.distinct == report.executions, "some executions are the same");
    tally.counted(&report, deadlocks(&report))
}

/// Runs a program once for each of `seeds` seeds.
///
/// # Panics
/// If the runtime reports anything but deadlocks.
pub(crate) fn measure(program: &Arc<Program>, strategy: &Strategy, seeds: u64) -> Counted {
    /// Failures are kept with their traces, so they are taken in portions.
    const PORTION: u64 = 1_000;
    let tally = Tally::default();
    let mut total = None;
    let mut failed = 0;
    for first in (0..seeds).step_by(PORTION as usize) {
        let portion = first..seeds.min(first + PORTION);
        let inside = portion.clone();
        let body = || {
            // Not the runs by which PCT learns the program's length, nor the comparisons.
            if interleaf::seed().is_some_and(|seed| inside.contains(&seed)) {
                tally.add(program);
            } else {
                Tally::default().add(program);
            }
        };
        let mut report = explorer(strategy.clone(), portion).check_determinism(false).run(body);
        failed += deadlocks(&report);
        report.failures.clear();
        match &mut total {
            None => total = Some(report),
            Some(total) => total.merge(report),
        }
    }
    tally.counted(&total.expect("no seeds"), failed)
}

fn explorer(strategy: Strategy, seeds: std::ops::Range<u64>) -> Explorer<'static> {
    Explorer::new().strategy(strategy).seeds(seeds).every_operation(true).max_failures(usize::MAX)
}

/// The number of failures, which must all be deadlocks.
fn deadlocks(report: &Report) -> u64 {
    for failure in &report.failures {
        assert!(matches!(failure.kind, FailureKind::Deadlock { .. }), "{failure}");
    }
    report.failures.len() as u64
}

/// Counts runs that came to their end.
#[derive(Default)]
struct Tally {
    complete: AtomicU64,
    blocked: AtomicU64,
    wrong: AtomicU64,
}

impl Tally {
    fn add(&self, program: &Arc<Program>) {
        let ending = run(program);
        if ending.blocked {
            self.blocked.fetch_add(1, Relaxed);
        } else {
            self.complete.fetch_add(1, Relaxed);
        }
        self.wrong.fetch_add(u64::from(ending.wrong), Relaxed);
    }

    fn counted(&self, report: &Report, deadlocked: u64) -> Counted {
        let (complete, blocked) = (self.complete.load(Relaxed), self.blocked.load(Relaxed));
        assert_eq!(report.executions, complete + blocked + deadlocked, "runs got lost");
        Counted {
            complete,
            blocked,
            deadlocked,
            distinct: report.distinct,
            wrong: self.wrong.load(Relaxed) + deadlocked,
        }
    }
}

/// One run: starts all threads, joins them all. Joins are no choices, so the starting thread takes no part.
fn run(program: &Arc<Program>) -> Ending {
    let world = Arc::new(World {
        shared: program.shared.iter().map(|&value| AtomicI64::new(value)).collect(),
        mutexes: (0..program.mutexes).map(|_| Mutex::new(())).collect(),
        rwlocks: (0..program.rwlocks).map(|_| RwLock::new(())).collect(),
        condvars: (0..program.condvars).map(|_| Condvar::new()).collect(),
        wrong: AtomicBool::new(false),
    });
    let threads: Vec<_> = (0..program.threads.len())
        .map(|number| {
            let (program, world) = (Arc::clone(program), Arc::clone(&world));
            thread::spawn(move || Running::new(&program, &world, number).run())
        })
        .collect();
    let ended: Vec<Ended> = threads.into_iter().map(|t| t.join().expect("a thread panicked")).collect();
    let world = Arc::into_inner(world).expect("all threads have ended");
    let blocked = ended.iter().any(|e| e.blocked);
    let registers: Vec<_> = ended.into_iter().map(|e| e.registers).collect();
    let shared: Vec<_> = world.shared.into_iter().map(AtomicI64::into_inner).collect();
    let values = Values { shared: &shared, threads: &registers, ..Values::default() };
    let as_wanted = blocked || program.finals.iter().all(|f| f.holds(values));
    let wrong = world.wrong.into_inner() || !as_wanted;
    let state = std::iter::once(shared).chain(registers).collect();
    Ending { wrong, blocked, state }
}

/// A thread on its way through its code.
struct Running<'a> {
    code: &'a [Instruction],
    world: &'a World,
    registers: Vec<i64>,
    mutexes: Held<MutexGuard<'a, ()>>,
    readers: Held<RwLockReadGuard<'a, ()>>,
    writers: Held<RwLockWriteGuard<'a, ()>>,
}

/// Guards by the number of their lock.
struct Held<G>(Vec<(usize, G)>);

impl<G> Held<G> {
    fn put(&mut self, lock: usize, guard: G) {
        self.0.push((lock, guard));
    }

    fn take(&mut self, lock: usize) -> G {
        let at = self.0.iter().rposition(|(l, _)| *l == lock).expect("unlock of a lock that is not held");
        self.0.swap_remove(at).1
    }

    /// A thread that ends without unlocking leaves the lock locked.
    fn forget(&mut self) {
        self.0.drain(..).for_each(|(_, guard)| std::mem::forget(guard));
    }
}

impl<'a> Running<'a> {
    fn new(program: &'a Program, world: &'a World, number: usize) -> Self {
        let thread = &program.threads[number];
        let registers = vec![0; thread.registers];
        let (mutexes, readers, writers) = (Held(Vec::new()), Held(Vec::new()), Held(Vec::new()));
        Self { code: &thread.code, world, registers, mutexes, readers, writers }
    }

    fn run(mut self) -> Ended {
        let mut at = 0;
        let blocked = loop {
            let values = Values { registers: &self.registers, ..Values::default() };
            match &self.code[at] {
                Instruction::End => break false,
                Instruction::Assume(condition) if !condition.holds(values) => break true,
                Instruction::Jump(condition, target) if condition.holds(values) => {
                    at = *target;
                    continue;
                }
                instruction => self.step(instruction),
            }
            at += 1;
        };
        self.mutexes.forget();
        self.readers.forget();
        self.writers.forget();
        Ended { registers: self.registers, blocked }
    }

    fn step(&mut self, instruction: &Instruction) {
        let world = self.world;
        let values = Values { registers: &self.registers, ..Values::default() };
        match instruction {
            Instruction::Set(register, value) => self.registers[*register] = value.value(values),
            Instruction::Load(register, place, order) => {
                self.registers[*register] = world.shared[place.cell(values)].load(*order);
            }
            Instruction::Store(place, value, order) => {
                world.shared[place.cell(values)].store(value.value(values), *order);
            }
            Instruction::Rmw(register, place, change, operand, order) => {
                let (cell, operand) = (&world.shared[place.cell(values)], operand.value(values));
                self.registers[*register] = match change {
                    Change::Add => cell.fetch_add(operand, *order),
                    Change::Or => cell.fetch_or(operand, *order),
                    Change::And => cell.fetch_and(operand, *order),
                    Change::Replace => cell.swap(operand, *order),
                };
            }
            Instruction::Cas { won, seen, place, expected, new, orders } => {
                let cell = &world.shared[place.cell(values)];
                let result = cell.compare_exchange(expected.value(values), new.value(values), orders.0, orders.1);
                self.registers[*won] = i64::from(result.is_ok());
                self.registers[*seen] = result.unwrap_or_else(|found| found);
            }
            Instruction::Assert(condition) if !condition.holds(values) => world.wrong.store(true, Relaxed),
            Instruction::Fence(order) => fence(*order),
            Instruction::Assert(_) | Instruction::Assume(_) | Instruction::Jump(..) | Instruction::End => {}
            other => self.block(other),
        }
    }

    /// Operations of locks and condition variables.
    fn block(&mut self, instruction: &Instruction) {
        let world = self.world;
        match *instruction {
            Instruction::Lock(m) => self.mutexes.put(m, world.mutexes[m].lock().unwrap()),
            Instruction::Unlock(m) => drop(self.mutexes.take(m)),
            Instruction::TryLock(register, m) => {
                let guard = world.mutexes[m].try_lock().ok();
                self.registers[register] = i64::from(guard.is_some());
                if let Some(guard) = guard {
                    self.mutexes.put(m, guard);
                }
            }
            Instruction::ReadLock(l) => self.readers.put(l, world.rwlocks[l].read().unwrap()),
            Instruction::ReadUnlock(l) => drop(self.readers.take(l)),
            Instruction::WriteLock(l) => self.writers.put(l, world.rwlocks[l].write().unwrap()),
            Instruction::WriteUnlock(l) => drop(self.writers.take(l)),
            Instruction::Wait(c, m) => {
                let guard = self.mutexes.take(m);
                let guard = world.condvars[c].wait(guard).unwrap();
                self.mutexes.put(m, guard);
            }
            Instruction::Signal(c) => world.condvars[c].notify_one(),
            Instruction::Broadcast(c) => world.condvars[c].notify_all(),
            ref other => unreachable!("{other:?} is no operation of a lock"),
        }
    }
}
