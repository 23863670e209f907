//! Every schedule of small random programs, made by a machine that knows nothing of traces, against what is said of
//! the traces.

use std::collections::BTreeMap;

use super::*;
use crate::choice::finalise;
use crate::exhaustive::record::reads_only;
use crate::exhaustive::shape::Shape;

const MUTEX: u32 = Object::Sync(2).raw();
const RWLOCK: u32 = Object::Sync(3).raw();
const CHANNEL: u32 = Object::Sync(4).raw();
const CONDVAR: u32 = Object::Sync(5).raw();
const ENOUGH: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
enum Op {
    Atomic(OpKind, u32, u64, u64),
    Lock,
    TryLock,
    Unlock,
    Read,
    ReadUnlock,
    Write,
    WriteUnlock,
    Send,
    Recv,
    Park,
    Unpark(usize),
    Wait,
    NotifyAll,
    Yield,
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = finalise(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15));
        (self.0 >> 33) as usize % n
    }
}

/// A few threads with two to five operations each.
fn program(draw: &mut Draw) -> Vec<Vec<Op>> {
    let n = 2 + draw.below(2);
    let most = if n == 2 { 5 } else { 3 };
    let theme = draw.below(4);
    (0..n)
        .map(|_| {
            let mut ops = Vec::new();
            let length = 2 + draw.below(most - 1);
            while ops.len() < length {
                match (draw.below(4), theme) {
                    (0, 0) => ops.extend([Op::Lock, Op::Unlock]),
                    (1, 0) => ops.extend([Op::TryLock, Op::Unlock]),
                    (2, 0) => ops.extend([Op::Lock, Op::Atomic(OpKind::Rmw, 0, 1, 0), Op::Unlock]),
                    (0, 1) => ops.extend([Op::Read, Op::ReadUnlock]),
                    (1, 1) => ops.extend([Op::Write, Op::WriteUnlock]),
                    (0, 2) => ops.push(Op::Send),
                    (1, 2) => ops.push(Op::Recv),
                    (2, 2) => ops.push([Op::Park, Op::Unpark(draw.below(n))][draw.below(2)]),
                    (0, 3) => ops.extend([Op::Lock, Op::Wait, Op::Unlock]),
                    (1, 3) => ops.extend([Op::Lock, Op::NotifyAll, Op::Unlock]),
                    (2, 3) => ops.push(Op::NotifyAll),
                    _ => {
                        let kind =
                            [OpKind::Load, OpKind::Store, OpKind::Rmw, OpKind::Cas, OpKind::Yield][draw.below(5)];
                        let (object, a, b) = (draw.below(2) as u32, draw.below(3) as u64, draw.below(3) as u64);
                        ops.push(if kind == OpKind::Yield { Op::Yield } else { Op::Atomic(kind, object, a, b) });
                    }
                }
            }
            ops
        })
        .collect()
}

/// What a thread is about to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Op,
    /// Waits for a notification.
    Asleep,
    /// Was notified and wants the mutex.
    Relock,
}

#[derive(Clone)]
struct Machine {
    at: Vec<usize>,
    next: Vec<Next>,
    cells: [u64; 2],
    owner: Option<usize>,
    readers: usize,
    writer: bool,
    queued: u32,
    tokens: Vec<bool>,
}

impl Machine {
    fn new(n: usize) -> Self {
        let (at, next, tokens) = (vec![0; n], vec![Next::Op; n], vec![false; n]);
        Self { at, next, cells: [0; 2], owner: None, readers: 0, writer: false, queued: 0, tokens }
    }

    /// A release of what was not taken is no operation.
    fn settle(&mut self, program: &[Vec<Op>], t: usize) {
        while let Some(Op::Unlock) = program[t].get(self.at[t])
            && self.owner != Some(t)
        {
            self.at[t] += 1;
        }
    }

    fn announced(&self, program: &[Vec<Op>], t: usize) -> Option<(OpKind, u32)> {
        let token = |t: usize| Object::Token(t as u32).raw();
        Some(match (self.next[t], program[t].get(self.at[t])?) {
            (Next::Asleep, _) => (OpKind::Wait, CONDVAR),
            (Next::Relock, _) | (_, Op::Lock) => (OpKind::Lock, MUTEX),
            (_, Op::Atomic(kind, object, ..)) => (*kind, Object::Sync(*object).raw()),
            (_, Op::TryLock) => (OpKind::TryLock, MUTEX),
            (_, Op::Unlock) => (OpKind::Unlock, MUTEX),
            (_, Op::Read) => (OpKind::Read, RWLOCK),
            (_, Op::ReadUnlock) => (OpKind::ReadUnlock, RWLOCK),
            (_, Op::Write) => (OpKind::Write, RWLOCK),
            (_, Op::WriteUnlock) => (OpKind::WriteUnlock, RWLOCK),
            (_, Op::Send) => (OpKind::Send, CHANNEL),
            (_, Op::Recv) => (OpKind::Recv, CHANNEL),
            (_, Op::Park) => (OpKind::Park, token(t)),
            (_, Op::Unpark(of)) => (OpKind::Unpark, token(*of)),
            (_, Op::Wait) => (OpKind::Wait, CONDVAR),
            (_, Op::NotifyAll) => (OpKind::NotifyAll, CONDVAR),
            (_, Op::Yield) => (OpKind::Yield, 0),
        })
    }

    fn enabled(&self, program: &[Vec<Op>], t: usize) -> bool {
        match self.announced(program, t) {
            None => false,
            Some((OpKind::Wait, _)) => self.next[t] != Next::Asleep,
            Some((OpKind::Lock, _)) => self.owner.is_none(),
            Some((OpKind::Read, _)) => !self.writer,
            Some((OpKind::Write, _)) => !self.writer && self.readers == 0,
            Some((OpKind::Recv, _)) => self.queued > 0,
            Some((OpKind::Park, _)) => self.tokens[t],
            _ => true,
        }
    }

    /// Makes the next operation of a thread. Returns its accesses and whom it wakes.
    fn step(&mut self, program: &[Vec<Op>], t: usize) -> (OpKind, Vec<Access>, Vec<usize>) {
        let (kind, object) = self.announced(program, t).unwrap();
        let op = program[t][self.at[t]];
        let (mut found, mut value, mut expected, mut success, mut woken) = (0, 0, 0, true, Vec::new());
        let mut more = None;
        self.at[t] += 1;
        match op {
            _ if self.next[t] == Next::Relock => {
                self.next[t] = Next::Op;
                self.owner = Some(t);
            }
            Op::Atomic(_, cell, a, b) => {
                found = self.cells[cell as usize];
                expected = a;
                success = kind != OpKind::Cas || found == a;
                value = match kind {
                    OpKind::Store => a,
                    OpKind::Rmw => found + 1,
                    OpKind::Cas if success => b,
                    _ => found,
                };
                self.cells[cell as usize] = value;
            }
            Op::Lock => self.owner = Some(t),
            Op::TryLock => {
                success = self.owner.is_none();
                self.owner = self.owner.or(Some(t));
            }
            Op::Unlock => self.owner = None,
            Op::Read => self.readers += 1,
            Op::ReadUnlock => self.readers -= 1,
            Op::Write => self.writer = true,
            Op::WriteUnlock => self.writer = false,
            Op::Send | Op::Recv => {
                self.queued = if kind == OpKind::Send { self.queued + 1 } else { self.queued - 1 };
                value = if self.queued > 0 { model::RECEIVER_GOES_ON } else { model::RECEIVER_WAITS };
                expected = if kind == OpKind::Send { model::NEVER_WAITS } else { 0 };
            }
            Op::Park => self.tokens[t] = false,
            Op::Unpark(of) => self.tokens[of] = true,
            Op::Wait => {
                self.at[t] -= 1;
                self.next[t] = Next::Asleep;
                self.owner = None;
                more = Some((OpKind::Unlock, MUTEX));
            }
            Op::NotifyAll => {
                woken = (0..self.next.len()).filter(|&w| self.next[w] == Next::Asleep).collect();
                woken.iter().for_each(|&w| self.next[w] = Next::Relock);
            }
            Op::Yield => {}
        }
        self.settle(program, t);
        let access = |kind, object, success| Access {
            object,
            kind,
            success,
            reads: reads_only(kind, success),
            found,
            value,
            expected,
            shape: Shape::default(),
        };
        let mut accesses = Vec::new();
        if kind != OpKind::Yield {
            accesses.push(access(kind, object, success));
        }
        accesses.extend(more.map(|(kind, object)| access(kind, object, true)));
        (kind, accesses, woken)
    }
}

/// The order of all conflicting events and who woke whom: the trace of a schedule.
type Identity = Vec<((usize, u32), (usize, u32))>;

#[derive(Default)]
struct Seen {
    schedules: u128,
    preemptions: u32,
    delays: u32,
    /// The first schedule.
    order: Vec<usize>,
}

struct Search<'a> {
    program: &'a [Vec<Op>],
    traces: BTreeMap<Identity, Seen>,
    schedules: usize,
}

struct Path {
    machine: Machine,
    events: Vec<(usize, u32, Vec<Access>)>,
    pairs: Identity,
    preemptions: u32,
    delays: u32,
}

impl Search<'_> {
    fn from(&mut self, path: &Path) {
        let n = self.program.len();
        let able: Vec<usize> = (0..n).filter(|&t| path.machine.enabled(self.program, t)).collect();
        if able.is_empty() {
            self.schedules += 1;
            let mut pairs = path.pairs.clone();
            pairs.sort_unstable();
            let seen = self.traces.entry(pairs).or_insert_with(|| Seen {
                preemptions: u32::MAX,
                delays: u32::MAX,
                order: path.events.iter().map(|e| e.0).collect(),
                ..Seen::default()
            });
            seen.schedules += 1;
            seen.preemptions = seen.preemptions.min(path.preemptions);
            seen.delays = seen.delays.min(path.delays);
        }
        let last = path.events.last().map(|e| e.0);
        let counts = |t: usize| {
            able.contains(&t) && path.machine.announced(self.program, t).is_some_and(|a| a.0 != OpKind::Yield)
        };
        for &t in &able {
            let mut machine = path.machine.clone();
            let (_, accesses, woken) = machine.step(self.program, t);
            let index = path.events.iter().filter(|e| e.0 == t).count() as u32;
            let mut pairs = path.pairs.clone();
            for (u, i, theirs) in &path.events {
                let clash = |a: &Access| theirs.iter().any(|b| a.object == b.object && !(a.reads && b.reads));
                if *u != t && accesses.iter().any(clash) {
                    pairs.push(((*u, *i), (t, index)));
                }
            }
            for &w in &woken {
                pairs.push(((t, index), (w, u32::MAX)));
            }
            let mut events = path.events.clone();
            events.push((t, index, accesses));
            let preemptions = path.preemptions + u32::from(last.is_some_and(|l| l != t && counts(l)));
            let start = last.unwrap_or(0);
            let passed = (0..n).map(|i| (start + i) % n).take_while(|&u| u != t).filter(|&u| counts(u)).count();
            self.from(&Path { machine, events, pairs, preemptions, delays: path.delays + passed as u32 });
        }
    }
}

/// The record and the waiting operations of a schedule.
fn record(program: &[Vec<Op>], order: &[usize]) -> (Record, Vec<Waiting>) {
    let mut record = Record::default();
    record.clear();
    record.thread_started(0, None);
    let mut machine = Machine::new(program.len());
    for t in 0..program.len() {
        record.thread_started(t as u32 + 1, Some((0, t as u32)));
        machine.settle(program, t);
    }
    for &t in order {
        let kind = machine.announced(program, t).unwrap().0;
        record.begin(t as u32 + 1, kind, false, 0, 0);
        let (_, accesses, woken) = machine.step(program, t);
        woken.iter().for_each(|&w| record.enabled_by_present(w as u32 + 1));
        accesses.into_iter().for_each(|a| record.access(a));
    }
    let waiting = |t| {
        machine.announced(program, t).map(|(kind, object)| Waiting { thread: t as u32 + 1, kind, object, along: None })
    };
    (record, (0..program.len()).filter_map(waiting).collect())
}

#[test]
fn what_is_said_of_a_trace_holds_over_all_of_its_schedules() {
    let mut draw = Draw(1);
    let (mut traces, mut deadlocked, mut preempted) = (0, 0, 0);
    for _ in 0..120 {
        let program = program(&mut draw);
        let mut machine = Machine::new(program.len());
        (0..program.len()).for_each(|t| machine.settle(&program, t));
        let mut search = Search { program: &program, traces: BTreeMap::new(), schedules: 0 };
        search.from(&Path { machine, events: Vec::new(), pairs: Vec::new(), preemptions: 0, delays: 0 });
        for seen in search.traces.values() {
            let (record, waiting) = record(&program, &seen.order);
            let orders = Orders::new(&record, &waiting).unwrap();
            let told = || format!("{program:?} {:?}", seen.order);
            assert_eq!(orders.schedules(ENOUGH), Some(seen.schedules), "{}", told());
            assert_eq!(orders.preemptions(u32::MAX, ENOUGH), Ok(Some(seen.preemptions)), "{}", told());
            assert_eq!(orders.delays(u32::MAX, ENOUGH), Ok(Some(seen.delays)), "{}", told());
            assert!(orders.preemptions_made() >= seen.preemptions);
            if seen.preemptions > 0 {
                assert_eq!(orders.preemptions(seen.preemptions - 1, ENOUGH), Ok(None), "{}", told());
            }
            // The beginnings of a run are sets of events that contain what comes before.
            let mut beginning = vec![0; record.words];
            for x in 0..record.len() {
                set(&mut beginning, x);
                let gaps = orders.gaps(&beginning, &[], u32::MAX, ENOUGH).unwrap().unwrap();
                assert!(gaps <= seen.preemptions, "{gaps} gaps, {} preemptions: {}", seen.preemptions, told());
            }
            traces += 1;
            deadlocked += usize::from(!waiting.is_empty());
            preempted += usize::from(seen.preemptions > 1);
        }
    }
    assert!(traces > 600 && deadlocked > 80 && preempted > 80, "{traces} {deadlocked} {preempted}");
}

#[test]
fn walks_are_given_up_at_the_limit() {
    let mut record = Record::default();
    record.clear();
    record.thread_started(0, None);
    for t in 1..=8 {
        record.thread_started(t, Some((0, t - 1)));
        (0..40).for_each(|_| record.begin(t, OpKind::Load, false, 0, 0));
    }
    let orders = Orders::new(&record, &[]).unwrap();
    assert_eq!(orders.schedules(1_000), None, "41^8 configurations");
    assert_eq!(orders.preemptions(0, 100_000), Ok(Some(0)));
    assert_eq!(orders.preemptions(0, 10), Err(TooMany));
    let ladder = |n: u32| {
        let mut record = Record::default();
        record.clear();
        record.thread_started(0, None);
        record.thread_started(1, Some((0, 0)));
        (0..2 * n).for_each(|k| record.begin(k % 2, OpKind::Load, false, 0, 0));
        record
    };
    let binomial = |n: u128| (1..=n).fold(1u128, |b, k| b * (n + k) / k);
    assert_eq!(Orders::new(&ladder(20), &[]).unwrap().schedules(ENOUGH), Some(binomial(20)));
    assert_eq!(Orders::new(&ladder(100), &[]).unwrap().schedules(ENOUGH), None, "more than 2^128");
}

#[test]
fn as_many_threads_as_fit_are_counted() {
    let mut record = Record::default();
    record.clear();
    record.thread_started(0, None);
    for t in 1..=12 {
        record.thread_started(t, Some((0, t - 1)));
        record.begin(t, OpKind::Store, false, 0, 0);
    }
    let factorial: u128 = (1..=12).product();
    assert_eq!(Orders::new(&record, &[]).unwrap().schedules(ENOUGH), Some(factorial));
    for t in 13..=300 {
        record.thread_started(t, Some((0, t - 1)));
        record.begin(t, OpKind::Store, false, 0, 0);
    }
    assert!(Orders::new(&record, &[]).is_none());
}
