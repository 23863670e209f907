//! Programs from a seed.

use super::program::{Body, Change, Op};

/// What the threads of a program work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Atomics,
    Mutexes,
    ReadWrite,
    /// Likewise, with readers that look for waiting writers.
    Looking,
    Condvars,
    Channels,
    Parking,
    Threads,
    /// Likewise, and look whether others have ended.
    Ends,
    Yields,
    Mixed,
    Time,
    Faults,
    /// Updates whose result nobody sees.
    Updates,
}

/// Splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A program of the class: the body of the first thread.
pub(crate) fn program(class: Class, seed: u64) -> Body {
    let mut random = Random::new(seed.wrapping_mul(0x1_0000_01B3) ^ class as u64);
    let random = &mut random;
    let mut main = Body { sends: true, receives: true, ..Body::default() };
    let threads = 2 + random.below(3);
    let most = match class {
        Class::Yields => [0, 0, 3, 2, 1],
        Class::Atomics | Class::Updates | Class::Mixed | Class::Channels | Class::Time => [0, 0, 4, 3, 2],
        _ => [0, 0, 5, 4, 3],
    }[threads];
    let nested = matches!(class, Class::Threads | Class::Ends | Class::Mixed);
    let receiver = random.below(threads + 1);
    for t in 0..threads {
        let mut body = Body {
            sends: !random.one_in(4),
            receives: t == receiver,
            forgets: random.one_in(6),
            detaches: random.one_in(4),
            ..Body::default()
        };
        let n = 1 + random.below(most);
        body.ops = ops(random, class, n, nested && threads < 4);
        main.ops.push(Op::Spawn(body));
        if nested && random.one_in(3) {
            let op = match random.below(3) {
                0 => Op::Join(random.below(3)),
                1 if class == Class::Ends => Op::Finished(random.below(3)),
                _ => op(random, Class::Atomics),
            };
            main.ops.push(op);
        }
    }
    let own = match class {
        Class::Channels => 1 + random.below(3),
        Class::Threads | Class::Ends | Class::Mixed | Class::Parking => random.below(3),
        Class::Yields => 0,
        _ => random.below(2),
    };
    main.ops.extend(ops(random, class, own, false));
    main
}

fn ops(random: &mut Random, class: Class, n: usize, nested: bool) -> Vec<Op> {
    let mut all = Vec::new();
    for _ in 0..n {
        if nested && random.one_in(4) {
            let m = 1 + random.below(2);
            let inner = ops(random, class, m, false);
            let (sends, receives) = (random.one_in(2), random.one_in(2));
            all.push(Op::Spawn(Body { ops: inner, sends, receives, detaches: false, forgets: random.one_in(8) }));
            if random.one_in(2) {
                all.push(Op::Join(0));
            }
            continue;
        }
        let op = op(random, class);
        if random.one_in(5) && op.has_result() {
            let value = random.below(3) as i64;
            let inner = vec![self::op(random, class)];
            all.extend([op, Op::If(value, inner)]);
        } else {
            all.push(op);
        }
    }
    all
}

impl Op {
    fn has_result(&self) -> bool {
        matches!(
            self,
            Self::Load(_)
                | Self::Add(..)
                | Self::Swap(..)
                | Self::Cas(..)
                | Self::TryLock(_)
                | Self::TryRead(_)
                | Self::TryWrite(_)
                | Self::TryRecv
                | Self::Await(..)
        )
    }
}

fn op(random: &mut Random, class: Class) -> Op {
    // Every class has some memory to see the order by.
    let memory = match class {
        Class::Atomics => true,
        Class::Faults | Class::Updates => random.one_in(3),
        _ => random.one_in(4),
    };
    if memory {
        return atomic(random);
    }
    match class {
        Class::Atomics => atomic(random),
        Class::Mutexes => mutex(random),
        Class::ReadWrite | Class::Looking => read_write(random, class == Class::Looking),
        Class::Condvars => condvar(random),
        Class::Channels => channel(random),
        Class::Parking => match random.below(5) {
            0 | 1 => Op::Park,
            2 | 3 => Op::Unpark(random.below(4)),
            _ => atomic(random),
        },
        Class::Threads | Class::Ends => match random.below(3) {
            0 => Op::Join(random.below(2)),
            1 if class == Class::Ends => Op::Finished(random.below(2)),
            _ => atomic(random),
        },
        Class::Yields => match random.below(4) {
            0 => Op::Yield,
            1 | 2 => Op::Await(random.below(2), 1 + random.below(2) as i64, 1 + random.below(4) as u32),
            _ => Op::Store(random.below(2), 1 + random.below(2) as i64),
        },
        Class::Mixed => match random.below(5) {
            0 => mutex(random),
            1 => condvar(random),
            2 => channel(random),
            3 => Op::Unpark(random.below(4)),
            _ if random.one_in(3) => Op::Park,
            _ => Op::Yield,
        },
        Class::Time => match random.below(5) {
            0 | 1 => Op::Sleep(1 + random.below(3) as u64),
            2 => Op::Now,
            3 => Op::WaitTimeout(random.below(2), 1 + random.below(3) as u64),
            _ => condvar(random),
        },
        Class::Updates => {
            let all =
                [Change::Add, Change::Add, Change::Sub, Change::And, Change::Or, Change::Xor, Change::Max, Change::Min];
            Op::Update(all[random.below(all.len())], random.below(2), random.below(6) as i64 - 2)
        }
        Class::Faults => match random.below(4) {
            0 => Op::Park,
            1 => Op::Unpark(random.below(4)),
            2 => condvar(random),
            _ => Op::WeakCas(random.below(2), random.below(2) as i64, 1 + random.below(2) as i64),
        },
    }
}

fn atomic(random: &mut Random) -> Op {
    let x = random.below(3);
    let value = 1 + random.below(2) as i64;
    match random.below(7) {
        0 | 1 => Op::Load(x),
        2 | 3 => Op::Store(x, value),
        4 => Op::Add(x, value),
        5 => Op::Swap(x, value),
        _ => Op::Cas(x, random.below(2) as i64, value),
    }
}

fn mutex(random: &mut Random) -> Op {
    let m = random.below(2);
    match random.below(6) {
        0..=2 => Op::Lock(m),
        3 => Op::TryLock(m),
        _ => Op::Unlock,
    }
}

fn read_write(random: &mut Random, looks: bool) -> Op {
    let l = random.below(2);
    match random.below(8) {
        0 | 1 => Op::Read(l),
        2 => Op::Write(l),
        3 if looks => Op::TryRead(l),
        5 if looks => Op::ReadAnyway(l),
        4 => Op::TryWrite(l),
        _ => Op::Release,
    }
}

fn condvar(random: &mut Random) -> Op {
    let m = random.below(2);
    match random.below(8) {
        0 | 1 => Op::Lock(m),
        2 => Op::Unlock,
        3 | 4 => Op::Wait(m),
        5 | 6 => Op::NotifyOne(m),
        _ => Op::NotifyAll(m),
    }
}

fn channel(random: &mut Random) -> Op {
    match random.below(9) {
        0..=2 => Op::Send(1 + random.below(2) as i64),
        3 | 4 => Op::Recv,
        5 => Op::TryRecv,
        6 => Op::CloneSender,
        7 => Op::DropSender,
        _ if random.one_in(3) => Op::DropReceiver,
        _ => Op::Recv,
    }
}
