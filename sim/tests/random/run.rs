//! Running a program on the façade. The outcome of a run is what all threads saw and the final values.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as Plain};

use interleaf::sync::atomic::{AtomicI64, Ordering::SeqCst, Update};
use interleaf::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use interleaf::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use interleaf::thread::{self, JoinHandle, Thread};
use interleaf::time::{Duration, Instant};

use super::program::{Body, Change, Op};

const ATOMICS: usize = 3;
const LOCKS: usize = 2;

/// The outcomes of all finished runs.
pub(crate) type Outcomes = Arc<Plain<BTreeSet<String>>>;

struct World {
    atomics: Vec<AtomicI64>,
    mutexes: Vec<Mutex<()>>,
    condvars: Vec<Condvar>,
    rwlocks: Vec<RwLock<()>>,
    start: Instant,
    /// By the place of the thread: what it saw, and whether it came to its end.
    logs: Plain<Vec<(String, Vec<i64>, bool)>>,
    outcomes: Outcomes,
}

impl Drop for World {
    fn drop(&mut self) {
        let mut logs = std::mem::take(self.logs.get_mut().expect("not poisoned"));
        if logs.iter().all(|log| log.2) {
            logs.sort();
            let finals: Vec<i64> = self.atomics.iter_mut().map(|a| *a.get_mut()).collect();
            self.outcomes.lock().expect("not poisoned").insert(format!("{logs:?} {finals:?}"));
        }
    }
}

/// One run.
pub(crate) fn run(program: &Body, outcomes: &Outcomes) {
    let world = Arc::new(World {
        atomics: (0..ATOMICS).map(|_| AtomicI64::new(0)).collect(),
        mutexes: (0..LOCKS).map(|_| Mutex::new(())).collect(),
        condvars: (0..LOCKS).map(|_| Condvar::new()).collect(),
        rwlocks: (0..LOCKS).map(|_| RwLock::new(())).collect(),
        start: Instant::now(),
        logs: Plain::default(),
        outcomes: Arc::clone(outcomes),
    });
    let (mut senders, mut receiver) = (Vec::new(), None);
    if program.has_channel() {
        let (sender, first) = channel();
        senders.push(sender);
        receiver = Some(first);
    }
    start(program, &world, String::from("0"), senders, receiver, Vec::new());
}

fn start(
    body: &Body,
    world: &Arc<World>,
    place: String,
    senders: Vec<Sender<i64>>,
    receiver: Option<Receiver<i64>>,
    peers: Vec<Thread>,
) {
    let log = {
        let mut logs = world.logs.lock().expect("not poisoned");
        logs.push((place.clone(), Vec::new(), false));
        logs.len() - 1
    };
    let mut running = Running {
        world,
        place,
        log,
        last: 0,
        held: Vec::new(),
        senders,
        receiver,
        peers,
        children: Vec::new(),
        spawned: 0,
    };
    for op in &body.ops {
        running.step(op);
    }
    if body.forgets {
        running.held.drain(..).for_each(std::mem::forget);
    }
    if !body.detaches {
        running.children.drain(..).flatten().for_each(|child| child.join().expect("no panics"));
    }
    while running.held.pop().is_some() {}
    while running.senders.pop().is_some() {}
    drop(running);
    world.logs.lock().expect("not poisoned")[log].2 = true;
}

enum Held<'a> {
    Mutex(usize, MutexGuard<'a, ()>),
    Read(#[allow(dead_code, reason = "held")] RwLockReadGuard<'a, ()>),
    Write(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'a, ()>),
}

struct Running<'a> {
    world: &'a Arc<World>,
    place: String,
    log: usize,
    last: i64,
    held: Vec<Held<'a>>,
    senders: Vec<Sender<i64>>,
    receiver: Option<Receiver<i64>>,
    /// The parent and elder siblings.
    peers: Vec<Thread>,
    children: Vec<Option<JoinHandle<()>>>,
    spawned: usize,
}

impl<'a> Running<'a> {
    fn saw(&mut self, value: i64) {
        self.last = value;
        self.world.logs.lock().expect("not poisoned")[self.log].1.push(value);
        interleaf::note(|| format!("{} {value}", self.place));
    }

    fn release(&mut self, wanted: impl Fn(&Held<'a>) -> bool) {
        if let Some(at) = self.held.iter().rposition(wanted) {
            drop(self.held.remove(at));
        }
    }

    fn child(&self, n: usize) -> Option<usize> {
        (!self.children.is_empty()).then(|| n % self.children.len())
    }

    fn step(&mut self, op: &Op) {
        let world = self.world;
        match op {
            Op::Load(x) => self.saw(world.atomics[*x].load(SeqCst)),
            Op::Store(x, value) => world.atomics[*x].store(*value, SeqCst),
            Op::Add(x, value) => self.saw(world.atomics[*x].fetch_add(*value, SeqCst)),
            Op::Swap(x, value) => self.saw(world.atomics[*x].swap(*value, SeqCst)),
            Op::Cas(x, old, new) => {
                let result = world.atomics[*x].compare_exchange(*old, *new, SeqCst, SeqCst);
                self.saw(result.unwrap_or_else(|found| found));
            }
            Op::WeakCas(x, old, new) => {
                let result = world.atomics[*x].compare_exchange_weak(*old, *new, SeqCst, SeqCst);
                self.saw(if result.is_ok() { 1 } else { 0 });
            }
            Op::Update(change, x, value) => {
                let update = match change {
                    Change::Add => Update::add,
                    Change::Sub => Update::sub,
                    Change::And => Update::and,
                    Change::Or => Update::or,
                    Change::Xor => Update::xor,
                    Change::Max => Update::max,
                    Change::Min => Update::min,
                };
                update(&world.atomics[*x], *value, SeqCst);
            }
            Op::If(value, ops) => {
                if self.last == *value {
                    ops.iter().for_each(|op| self.step(op));
                }
            }
            Op::Await(x, value, tries) => {
                let mut seen = 0;
                for _ in 0..*tries {
                    seen = i64::from(world.atomics[*x].load(SeqCst) == *value);
                    if seen == 1 {
                        break;
                    }
                    thread::yield_now();
                }
                self.saw(seen);
            }
            Op::Yield => thread::yield_now(),
            Op::Spawn(body) => self.spawn(body),
            Op::Join(n) => {
                if let Some(child) = self.child(*n).and_then(|n| self.children[n].take()) {
                    child.join().expect("no panics");
                }
            }
            Op::Finished(n) => {
                let child = self.child(*n).and_then(|n| self.children[n].as_ref());
                if let Some(finished) = child.map(JoinHandle::is_finished) {
                    self.saw(finished.into());
                }
            }
            Op::Park => thread::park(),
            Op::Unpark(n) => {
                let children = self.children.iter().flatten().map(JoinHandle::thread);
                let all: Vec<&Thread> = self.peers.iter().chain(children).collect();
                if !all.is_empty() {
                    all[n % all.len()].unpark();
                }
            }
            Op::Sleep(ms) => thread::sleep(Duration::from_millis(*ms)),
            Op::Now => self.saw(world.start.elapsed().as_millis() as i64),
            other => self.locks(other),
        }
    }

    fn locks(&mut self, op: &Op) {
        let world = self.world;
        match op {
            Op::Lock(m) => self.held.push(Held::Mutex(*m, world.mutexes[*m].lock().unwrap())),
            Op::TryLock(m) => {
                let guard = world.mutexes[*m].try_lock().ok();
                self.saw(guard.is_some().into());
                self.held.extend(guard.map(|g| Held::Mutex(*m, g)));
            }
            Op::Read(_) if !self.held.is_empty() => {}
            Op::Read(l) | Op::ReadAnyway(l) => self.held.push(Held::Read(world.rwlocks[*l].read().unwrap())),
            Op::Write(l) => self.held.push(Held::Write(world.rwlocks[*l].write().unwrap())),
            Op::TryRead(l) => {
                let guard = world.rwlocks[*l].try_read().ok();
                self.saw(guard.is_some().into());
                self.held.extend(guard.map(Held::Read));
            }
            Op::TryWrite(l) => {
                let guard = world.rwlocks[*l].try_write().ok();
                self.saw(guard.is_some().into());
                self.held.extend(guard.map(Held::Write));
            }
            Op::Unlock => self.release(|held| matches!(held, Held::Mutex(..))),
            Op::Release => self.release(|held| !matches!(held, Held::Mutex(..))),
            Op::Wait(m) | Op::WaitTimeout(m, _) => {
                let of = |held: &Held<'_>| matches!(held, Held::Mutex(n, _) if n == m);
                let Some(at) = self.held.iter().rposition(of) else { return };
                let Held::Mutex(_, guard) = self.held.remove(at) else { return };
                let guard = match op {
                    Op::WaitTimeout(_, ms) => {
                        let time = Duration::from_millis(*ms);
                        let (guard, result) = world.condvars[*m].wait_timeout(guard, time).unwrap();
                        self.saw(result.timed_out().into());
                        guard
                    }
                    _ => world.condvars[*m].wait(guard).unwrap(),
                };
                self.held.insert(at, Held::Mutex(*m, guard));
            }
            Op::NotifyOne(m) => world.condvars[*m].notify_one(),
            Op::NotifyAll(m) => world.condvars[*m].notify_all(),
            other => self.messages(other),
        }
    }

    fn messages(&mut self, op: &Op) {
        match op {
            Op::Send(value) => {
                if let Some(sent) = self.senders.last().map(|s| s.send(*value).is_ok()) {
                    self.saw(sent.into());
                }
            }
            Op::CloneSender => self.senders.extend(self.senders.last().cloned()),
            Op::DropSender => drop(self.senders.pop()),
            Op::Recv => {
                if let Some(received) = self.receiver.as_ref().map(|r| r.recv().unwrap_or(-1)) {
                    self.saw(received);
                }
            }
            Op::TryRecv => {
                let received = self.receiver.as_ref().map(|r| match r.try_recv() {
                    Ok(value) => value,
                    Err(TryRecvError::Empty) => -1,
                    Err(TryRecvError::Disconnected) => -2,
                });
                if let Some(received) = received {
                    self.saw(received);
                }
            }
            Op::DropReceiver => drop(self.receiver.take()),
            other => unreachable!("{other:?}"),
        }
    }

    fn spawn(&mut self, body: &Body) {
        let place = format!("{}.{}", self.place, self.spawned);
        self.spawned += 1;
        let senders: Vec<_> = self.senders.last().filter(|_| body.sends).cloned().into_iter().collect();
        let receiver = if body.receives { self.receiver.take() } else { None };
        let children = self.children.iter().flatten().map(|c| c.thread().clone());
        let peers = [thread::current()].into_iter().chain(children).collect();
        let (body, world) = (body.clone(), Arc::clone(self.world));
        self.children.push(Some(thread::spawn(move || start(&body, &world, place, senders, receiver, peers))));
    }
}
