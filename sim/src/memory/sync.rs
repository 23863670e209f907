//! Synchronisation by everything that is no atomic, and what atomics order where there is no graph.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::monitor::OpKind;

use super::MemoryModel;
use super::clock::Clock;
use super::graph::{acquires, releases};
use super::guide::Want;
use super::race::{Access as CellAccess, Race};
use super::state::{Access, Attempt, Memory};

/// What one object that is no location carries.
#[derive(Default)]
pub(super) struct Carrier {
    /// By every release, and by those that exclude readers.
    all: Clock,
    exclusive: Clock,
    messages: VecDeque<Clock>,
}

impl Memory {
    /// An operation of `thread` that gives what it knows to others.
    fn release(&mut self, thread: u32) -> Clock {
        let position = self.tick(thread);
        let view = self.graph.view(thread);
        view.hb.raise(thread, position + 1);
        view.hb.clone()
    }

    fn acquire(&mut self, thread: u32, clock: &Clock) {
        self.graph.view(thread).hb.join(clock);
    }

    /// A thread has started: `ordinal` is its place among the children of its parent.
    pub(crate) fn started(&mut self, child: u32, parent: Option<(u32, u32)>) {
        let mut position = 0;
        if let Some((parent, _)) = parent {
            let clock = self.release(parent);
            position = self.positions[parent as usize] - 1;
            self.acquire(child, &clock);
        }
        if let Some(guide) = &mut self.guide {
            guide.started(child, parent, position);
        }
    }

    pub(crate) fn joined(&mut self, thread: u32, child: u32) {
        let clock = self.release(child);
        self.acquire(thread, &clock);
        if let Some(guide) = &mut self.guide {
            guide.joined(thread, child, self.positions[child as usize] - 1);
        }
    }

    /// The exhaustive search does not know what to make of an operation.
    fn unsupported(&mut self, kind: OpKind) {
        if let Some(guide) = &mut self.guide {
            let what = crate::trace::verb(kind);
            guide.fail(format!(
                "exhaustive search under rc11 knows atomics, fences, mutexes, spawn and join; the program does `{what}`"
            ));
        }
    }

    /// An operation on a `park` token, that of thread `of`.
    pub(crate) fn on_token(&mut self, thread: u32, of: u32, kind: OpKind) {
        self.unsupported(kind);
        match kind {
            OpKind::Unpark => {
                let clock = self.release(thread);
                self.tokens.entry(of).or_default().join(&clock);
            }
            OpKind::Park => {
                let clock = self.tokens.get(&of).cloned().unwrap_or_default();
                self.acquire(thread, &clock);
            }
            _ => {}
        }
    }

    /// An operation on an object that is no atomic.
    pub(crate) fn executed(
        &mut self,
        thread: u32,
        object: u32,
        kind: OpKind,
        success: bool,
        place: &'static Location<'static>,
    ) {
        match kind {
            OpKind::Lock | OpKind::TryLock | OpKind::Unlock if self.model == MemoryModel::Sc => {
                self.carry(thread, object, kind, success);
            }
            OpKind::Lock | OpKind::Unlock => self.mutex(thread, object, kind, success, place),
            OpKind::TryLock => {
                self.unsupported(kind);
                self.mutex(thread, object, kind, success, place);
            }
            OpKind::Wait | OpKind::NotifyOne | OpKind::NotifyAll => self.unsupported(kind),
            _ => {
                self.unsupported(kind);
                self.carry(thread, object, kind, success);
            }
        }
    }

    /// A mutex: 0 is free.
    fn mutex(&mut self, thread: u32, object: u32, kind: OpKind, success: bool, place: &'static Location<'static>) {
        let at = object as usize;
        let present = match self.locations.get(at) {
            Some(&known) if known != 0 => self.graph.last_value(known - 1),
            _ => 0,
        };
        let loc = self.locate(object, present, place);
        let (access, order) = match kind {
            OpKind::Unlock => (Access::Store { value: 0 }, Ordering::Release),
            _ if success => (Access::Rmw, Ordering::Acquire),
            _ => (Access::Load, Ordering::Relaxed),
        };
        if kind == OpKind::Lock {
            self.displace(thread, loc, place);
        }
        let what = if kind == OpKind::Unlock { Want::Unlock } else { Want::Lock };
        let attempt = Attempt { thread, loc, order, access, place };
        self.commit_as(&attempt, 0, &mut |_| 1, what);
    }

    fn carry(&mut self, thread: u32, object: u32, kind: OpKind, success: bool) {
        use OpKind::{Read, ReadUnlock, Recv, Send, TryLock, TryRead, TryWrite, Write, WriteUnlock};
        let mut carrier = self.carriers.remove(&object).unwrap_or_default();
        match kind {
            TryRead | TryWrite | TryLock | Recv | Send if !success => {}
            Read | TryRead => self.acquire(thread, &carrier.exclusive),
            Write | TryWrite => self.acquire(thread, &carrier.all),
            ReadUnlock => carrier.all.join(&self.release(thread)),
            WriteUnlock => {
                carrier.exclusive = self.release(thread);
                carrier.all.join(&carrier.exclusive);
            }
            Send => carrier.messages.push_back(self.release(thread)),
            Recv => {
                if let Some(message) = carrier.messages.pop_front() {
                    self.acquire(thread, &message);
                }
            }
            // Everything else orders all operations on its object.
            _ => {
                self.acquire(thread, &carrier.all);
                carrier.all = self.release(thread);
            }
        }
        self.carriers.insert(object, carrier);
    }

    /// An operation on an atomic where there is no graph: it read the last store if `reads`, and was the last if `writes`.
    /// Only the order that it makes is noted.
    pub(crate) fn ordered(&mut self, thread: u32, object: u32, order: Ordering, reads: bool, writes: bool) {
        let position = self.tick(thread);
        let got = if reads { self.messages.get(&object).cloned().unwrap_or_default() } else { Clock::new() };
        let view = self.graph.view(thread);
        view.hb.raise(thread, position + 1);
        view.acquirable.join(&got);
        if acquires(order) {
            view.hb.join(&got);
        }
        if writes {
            let mut message = if releases(order) { view.hb.clone() } else { view.released.clone() };
            message.join(&got);
            self.messages.insert(object, message);
        }
    }

    /// An access of a plain cell.
    ///
    /// # Errors
    /// An earlier one that it races with.
    pub(crate) fn access_cell(
        &mut self,
        thread: u32,
        object: u32,
        writes: bool,
        place: &'static Location<'static>,
    ) -> Result<(), Race> {
        let position = self.positions.get(thread as usize).copied().unwrap_or(0);
        let hb = &self.graph.view(thread).hb;
        let access = CellAccess { thread, position, place };
        let cell = self.cells.entry(object).or_default();
        if writes { cell.write(access, hb) } else { cell.read(access, hb) }
    }
}
