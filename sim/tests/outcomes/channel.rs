//! Channels without bound, with a bound, and without buffer.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, TrySendError};
use std::time::Duration;

use interleaf::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::{Draw, Step, Subject, compare};

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(u8),
    TrySend(u8),
    Recv,
    TryRecv,
    RecvTimeout,
    /// The end of the thread's half.
    Drop,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Model {
    bound: Option<usize>,
    queue: VecDeque<u8>,
    senders: usize,
    open: bool,
    /// Without buffer: who offers what, whose offer was taken, whether the receiver waits, and what it was given.
    offers: VecDeque<(usize, u8)>,
    taken: Vec<usize>,
    receiver_waits: bool,
    given: Option<u8>,
}

fn done(text: impl std::fmt::Debug) -> Step {
    Step::Done(format!("{text:?}"))
}

impl Model {
    fn new(bound: Option<usize>, senders: usize) -> Self {
        let queue = VecDeque::new();
        let offers = VecDeque::new();
        Self { bound, queue, senders, open: true, offers, taken: Vec::new(), receiver_waits: false, given: None }
    }

    fn full(&self) -> bool {
        self.bound.is_some_and(|bound| self.queue.len() >= bound)
    }

    /// A send or receive on a channel without buffer.
    fn meet(&mut self, thread: usize, op: Op, waits: bool) -> Step {
        match op {
            Op::Send(value) | Op::TrySend(value) => {
                if waits {
                    if let Some(at) = self.taken.iter().position(|t| *t == thread) {
                        self.taken.remove(at);
                        return done("sent");
                    }
                    if self.open {
                        return Step::Blocked;
                    }
                    self.offers.retain(|(t, _)| *t != thread);
                    return done("closed");
                }
                if !self.open {
                    return done("closed");
                }
                if self.receiver_waits && self.given.is_none() {
                    self.given = Some(value);
                    return done("sent");
                }
                if let Op::TrySend(_) = op {
                    return done("full");
                }
                self.offers.push_back((thread, value));
                Step::Waits
            }
            _ => {
                if waits {
                    let Some(value) = self.given.take() else {
                        if self.senders > 0 {
                            return Step::Blocked;
                        }
                        self.receiver_waits = false;
                        return done("gone");
                    };
                    self.receiver_waits = false;
                    return done(value);
                }
                if let Some((thread, value)) = self.offers.pop_front() {
                    self.taken.push(thread);
                    return done(value);
                }
                if self.senders == 0 {
                    return done("gone");
                }
                if let Op::TryRecv = op {
                    return done("empty");
                }
                self.receiver_waits = true;
                Step::Waits
            }
        }
    }
}

/// The half that a thread has.
enum Half {
    Unbounded(Option<Sender<u8>>),
    Bounded(Option<SyncSender<u8>>),
    Receiving(Option<Receiver<u8>>),
}

impl Subject for Model {
    type Op = Op;
    type Handle = Half;

    fn step(&mut self, thread: usize, op: Op, waits: bool) -> Step {
        match op {
            Op::Drop if thread == 0 => self.open = false,
            Op::Drop => self.senders -= 1,
            _ if self.bound == Some(0) => return self.meet(thread, op, waits),
            Op::Send(_) | Op::TrySend(_) if !self.open => return done("closed"),
            Op::Send(_) if self.full() => return Step::Blocked,
            Op::TrySend(_) if self.full() => return done("full"),
            Op::Send(value) | Op::TrySend(value) => {
                self.queue.push_back(value);
                return done("sent");
            }
            Op::Recv | Op::TryRecv | Op::RecvTimeout => {
                return match self.queue.pop_front() {
                    Some(value) => done(value),
                    None if self.senders == 0 => done("gone"),
                    None if matches!(op, Op::TryRecv) => done("empty"),
                    None => Step::Blocked,
                };
            }
        }
        done("dropped")
    }

    /// A receive may time out while it would have to wait.
    fn alternative(&mut self, _thread: usize, op: Op, waits: bool) -> Step {
        let Op::RecvTimeout = op else { return Step::Blocked };
        if self.bound == Some(0) {
            if !waits || self.given.is_some() || self.senders == 0 {
                return Step::Blocked;
            }
            self.receiver_waits = false;
        } else if !self.queue.is_empty() || self.senders == 0 {
            return Step::Blocked;
        }
        done("timeout")
    }

    fn handles(&self, threads: usize) -> Vec<Half> {
        let mut halves = Vec::new();
        match self.bound {
            None => {
                let (sender, receiver) = channel();
                halves.push(Half::Receiving(Some(receiver)));
                halves.extend((2..threads).map(|_| Half::Unbounded(Some(sender.clone()))));
                halves.push(Half::Unbounded(Some(sender)));
            }
            Some(bound) => {
                let (sender, receiver) = sync_channel(bound);
                halves.push(Half::Receiving(Some(receiver)));
                halves.extend((2..threads).map(|_| Half::Bounded(Some(sender.clone()))));
                halves.push(Half::Bounded(Some(sender)));
            }
        }
        halves
    }

    fn perform(half: &mut Half, op: Op) -> String {
        let sent = |ok: bool| if ok { "sent" } else { "closed" };
        let text = match (half, op) {
            (Half::Unbounded(sender), Op::Drop) => {
                sender.take();
                "dropped"
            }
            (Half::Bounded(sender), Op::Drop) => {
                sender.take();
                "dropped"
            }
            (Half::Receiving(receiver), Op::Drop) => {
                receiver.take();
                "dropped"
            }
            (Half::Unbounded(Some(sender)), Op::Send(value)) => sent(sender.send(value).is_ok()),
            (Half::Bounded(Some(sender)), Op::Send(value)) => sent(sender.send(value).is_ok()),
            (Half::Bounded(Some(sender)), Op::TrySend(value)) => match sender.try_send(value) {
                Ok(()) => "sent",
                Err(TrySendError::Full(back)) if back == value => "full",
                Err(TrySendError::Disconnected(back)) if back == value => "closed",
                Err(_) => "another message came back",
            },
            (Half::Receiving(Some(receiver)), op) => {
                let value = match op {
                    Op::Recv => receiver.recv().map_err(|_| "gone"),
                    Op::TryRecv => receiver.try_recv().map_err(|e| match e {
                        interleaf::sync::mpsc::TryRecvError::Empty => "empty",
                        interleaf::sync::mpsc::TryRecvError::Disconnected => "gone",
                    }),
                    _ => receiver.recv_timeout(Duration::from_secs(1)).map_err(|e| match e {
                        RecvTimeoutError::Timeout => "timeout",
                        RecvTimeoutError::Disconnected => "gone",
                    }),
                };
                return value.map_or_else(|text| format!("{text:?}"), |value| format!("{value:?}"));
            }
            (_, op) => unreachable!("{op:?}"),
        };
        format!("{text:?}")
    }
}

/// Programs of one receiver and one or two senders, each of which drops its half at the end, or earlier.
fn program(draw: &mut Draw, bounded: bool) -> Vec<Vec<Op>> {
    let senders = 1 + draw.below(2);
    let receives = [Op::Recv, Op::TryRecv, Op::RecvTimeout];
    let mut program = vec![(0..draw.below(4)).map(|_| draw.of(&receives)).collect::<Vec<_>>()];
    let mut value = 0;
    for _ in 0..senders {
        let sends = draw.below(if senders == 1 { 4 } else { 3 });
        let one = |_| {
            value += 1;
            if bounded && draw.below(2) == 0 { Op::TrySend(value) } else { Op::Send(value) }
        };
        program.push((0..sends).map(one).collect());
    }
    for ops in &mut program {
        ops.push(Op::Drop);
    }
    program
}

fn compare_all(bound: Option<usize>, start: u64, least: usize) {
    let mut draw = Draw(start);
    let mut outcomes = 0;
    for _ in 0..80 {
        let program = program(&mut draw, bound.is_some());
        outcomes += compare(&Model::new(bound, program.len() - 1), &program);
    }
    assert!(outcomes > least, "the programs are trivial: {outcomes}");
}

#[test]
fn a_channel_without_bound_is_its_model() {
    compare_all(None, 6, 300);
}

#[test]
fn a_channel_with_a_bound_is_its_model() {
    compare_all(Some(1), 7, 300);
    compare_all(Some(2), 8, 300);
}

#[test]
fn a_channel_without_buffer_is_its_model() {
    compare_all(Some(0), 9, 300);
}
