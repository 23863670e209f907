//! The execution graph of one run: events, reads-from, modification orders; what may be added to it.
//!
//! Events are added in an order that respects program order and reads-from, so a new event has nothing after it but by
//! modification order and from-read. That makes every axiom of RC11 a question about the new event alone:
//!
//! * *coherence*: it may not read from, or be put before, a store that is overwritten by something (or read, or an
//!   older one read) that happens before it: there is a least place in the modification order, the floor;
//! * *atomicity*: a read-modify-write sits right behind the store that it reads, and nothing gets between;
//! * *no thin air*: the order of addition itself is a witness;
//! * *SC*: see [`super::psc`].
//!
//! Synchronises-with is kept as clocks: a store carries what an acquiring reader gets (its release sequence's message),
//! a thread carries what its next acquire fence gets and what its last release fence gives. That is C++20's rule: a
//! release sequence goes on through read-modify-writes only.

use std::panic::Location;
use std::sync::atomic::Ordering;

use super::bits::Bits;
use super::clock::Clock;
use super::psc::{Edges, Psc};

/// Index of an event in the order of addition.
pub(crate) type Id = u32;

/// The thread of the stores that give locations their first values; they happen before everything.
pub(crate) const INIT: u32 = u32::MAX;

/// The location of a fence.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Load,
    Store,
    /// A read-modify-write that wrote.
    Rmw,
    Fence,
}

impl Kind {
    pub(crate) const fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Rmw)
    }

    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Rmw)
    }
}

pub(crate) const fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

pub(crate) const fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) thread: u32,
    /// Place among the operations of the thread, those without an event included.
    pub(crate) position: u32,
    /// Place among the events of the thread.
    pub(crate) index: u32,
    pub(crate) kind: Kind,
    pub(crate) loc: u32,
    pub(crate) order: Ordering,
    /// The store that it reads.
    pub(crate) rf: Option<Id>,
    /// Who reads it.
    pub(crate) readers: Vec<Id>,
    /// The value that it writes, or read if it writes none.
    pub(crate) value: u64,
    pub(crate) place: &'static Location<'static>,
    /// Everything that happens before it, and itself.
    pub(crate) hb: Clock,
    /// What an acquire operation that reads it gets.
    pub(crate) message: Clock,
    /// SC fences that happen before it, as nodes of [`Psc`].
    pub(crate) fences_before: Bits,
    /// SC events that are sources of edges into it.
    pub(crate) into: Bits,
    /// SC fences that happen before something that is before it by reads-from, modification order and from-read.
    pub(crate) eco_into: Bits,
    /// Itself if it is SC, and `fences_before`, of all events of the thread up to here.
    pub(crate) sum: Bits,
    /// Number among the SC events.
    pub(crate) node: Option<u32>,
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// Everything that happens before its next event.
    pub(crate) hb: Clock,
    /// What its next acquire fence gets.
    pub(crate) acquirable: Clock,
    /// What its last release fence gives.
    pub(crate) released: Clock,
    pub(crate) events: Vec<Id>,
}

/// An event that may be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub(crate) thread: u32,
    pub(crate) kind: Kind,
    pub(crate) loc: u32,
    pub(crate) order: Ordering,
    /// Place in the modification order of the store that is read, or behind which it is put.
    pub(crate) at: usize,
}

/// The graph.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    pub(crate) events: Vec<Event>,
    /// Modification order of each location.
    pub(crate) mo: Vec<Vec<Id>>,
    pub(crate) views: Vec<View>,
    pub(crate) psc: Psc,
}

impl Graph {
    pub(crate) fn event(&self, id: Id) -> &Event {
        &self.events[id as usize]
    }

    pub(crate) fn view(&mut self, thread: u32) -> &mut View {
        let at = thread as usize;
        if self.views.len() <= at {
            self.views.resize_with(at + 1, View::default);
        }
        &mut self.views[at]
    }

    /// A new location with its first value.
    pub(crate) fn location(&mut self, value: u64, place: &'static Location<'static>) -> u32 {
        let loc = self.mo.len() as u32;
        let id = self.events.len() as Id;
        self.events.push(Event {
            thread: INIT,
            position: 0,
            index: loc,
            kind: Kind::Store,
            loc,
            order: Ordering::Relaxed,
            rf: None,
            readers: Vec::new(),
            value,
            place,
            hb: Clock::new(),
            message: Clock::new(),
            fences_before: Bits::new(),
            into: Bits::new(),
            eco_into: Bits::new(),
            sum: Bits::new(),
            node: None,
        });
        self.mo.push(vec![id]);
        loc
    }

    /// Whether an event happens before whatever `clock` belongs to.
    pub(crate) fn known(&self, clock: &Clock, id: Id) -> bool {
        let e = self.event(id);
        e.thread == INIT || clock.includes(e.thread, e.position)
    }

    /// The least place in the modification order of `loc` that coherence leaves to the next event of `thread`.
    pub(crate) fn floor(&self, thread: u32, loc: u32) -> usize {
        let none = Clock::new();
        let hb = self.views.get(thread as usize).map_or(&none, |v| &v.hb);
        let mo = &self.mo[loc as usize];
        let known = |&store: &Id| self.known(hb, store) || self.event(store).readers.iter().any(|&r| self.known(hb, r));
        mo.iter().rposition(known).unwrap_or(0)
    }

    /// The read-modify-write that reads `store`, if there is one.
    pub(crate) fn successor(&self, store: Id) -> Option<Id> {
        self.event(store).readers.iter().copied().find(|&r| self.event(r).kind == Kind::Rmw)
    }

    /// The place of a store in its modification order.
    pub(crate) fn place_of(&self, store: Id) -> usize {
        let mo = &self.mo[self.event(store).loc as usize];
        // Every store is in the order of its location; new ones mostly at the end.
        mo.iter().rposition(|&s| s == store).unwrap_or(0)
    }

    /// Whether the graph with the draft is RC11-consistent.
    pub(crate) fn admits(&self, draft: &Draft) -> bool {
        if draft.kind == Kind::Fence {
            return true;
        }
        let store = self.mo[draft.loc as usize][draft.at];
        if draft.at < self.floor(draft.thread, draft.loc) || draft.kind.writes() && self.successor(store).is_some() {
            return false;
        }
        self.psc.is_idle(draft.order) || self.psc.admits(&Edges::of(self, draft, &self.hb_of(draft)))
    }

    /// What happens before the draft, itself left out.
    fn hb_of(&self, draft: &Draft) -> Clock {
        let mut hb = self.views.get(draft.thread as usize).map_or_else(Clock::new, |v| v.hb.clone());
        if draft.kind.reads() && acquires(draft.order) {
            hb.join(&self.event(self.mo[draft.loc as usize][draft.at]).message);
        }
        hb
    }

    /// Adds the draft, which must be admissible. `position` is its place among the operations of its thread.
    pub(crate) fn add(&mut self, draft: &Draft, position: u32, value: u64, place: &'static Location<'static>) -> Id {
        let id = self.events.len() as Id;
        let thread = draft.thread;
        self.view(thread);
        let mut hb = self.hb_of(draft);
        let source = (draft.kind != Kind::Fence).then(|| self.mo[draft.loc as usize][draft.at]);
        let rf = source.filter(|_| draft.kind.reads());
        let got = rf.map(|s| self.event(s).message.clone());
        let view = &mut self.views[thread as usize];
        if let Some(message) = &got {
            view.acquirable.join(message);
        }
        if draft.kind == Kind::Fence && acquires(draft.order) {
            hb.join(&view.acquirable);
        }
        let edges = (!self.psc.is_idle(draft.order)).then(|| Edges::of(self, draft, &hb));
        let view = &mut self.views[thread as usize];
        hb.raise(thread, position + 1);
        view.hb = hb.clone();
        if draft.kind == Kind::Fence && releases(draft.order) {
            view.released = hb.clone();
        }
        let mut message = Clock::new();
        if draft.kind.writes() {
            message = if releases(draft.order) { hb.clone() } else { view.released.clone() };
            if let Some(got) = &got {
                message.join(got);
            }
        }
        let index = view.events.len() as u32;
        let before = view.events.last().copied();
        view.events.push(id);
        let sum = before.map_or_else(Bits::new, |b| self.event(b).sum.clone());
        let (kind, loc, order) = (draft.kind, draft.loc, draft.order);
        let mut event = Event {
            thread,
            position,
            index,
            kind,
            loc,
            order,
            rf,
            readers: Vec::new(),
            value,
            place,
            hb,
            message,
            fences_before: Bits::new(),
            into: Bits::new(),
            eco_into: Bits::new(),
            sum,
            node: None,
        };
        if let Some(edges) = edges {
            super::psc::enter(self, &mut event, edges);
        }
        self.events.push(event);
        if let Some(rf) = rf {
            self.events[rf as usize].readers.push(id);
        }
        if kind.writes() {
            self.mo[loc as usize].insert(draft.at + 1, id);
        }
        id
    }

    /// The value that the modification order of `loc` ends with.
    pub(crate) fn last_value(&self, loc: u32) -> u64 {
        self.mo[loc as usize].last().map_or(0, |&s| self.event(s).value)
    }
}
