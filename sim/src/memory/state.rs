//! The memory of the run that goes on.
//!
//! Atomics and mutexes are locations of the graph: taking a mutex is a read-modify-write that reads its last release.
//! All other synchronisation (start and join, readers-writer locks, channels, `unpark`, …) only carries clocks. It
//! happens in the order of the run, which respects program order and reads-from, so it can never contradict the graph.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::choice::finalise;

use super::MemoryModel;
use super::clock::Clock;
use super::graph::{Draft, Graph, INIT, Id, Kind, NOWHERE, acquires, releases};
use super::guide::{Guide, Want};
use super::race::Cell;
use super::revisit::New;
use super::sync::Carrier;

/// The most stores of a location among which a load chooses, and places among which a store does: the latest.
const CANDIDATES: usize = 64;

/// What an atomic operation would do with a value that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store {
        value: u64,
    },
    /// A read-modify-write that always writes.
    Rmw,
    /// Writes `new` if it finds `expected`; otherwise it is a load with the order `failure`.
    Cas {
        expected: u64,
        new: u64,
        failure: Ordering,
    },
}

/// An operation on a location.
#[derive(Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) thread: u32,
    pub(crate) loc: u32,
    pub(crate) order: Ordering,
    pub(crate) access: Access,
    pub(crate) place: &'static Location<'static>,
}

/// See the module.
pub(crate) struct Memory {
    pub(crate) model: MemoryModel,
    pub(crate) graph: Graph,
    /// Place of the next operation of each thread.
    pub(super) positions: Vec<u32>,
    /// Location of each object, plus one.
    pub(super) locations: Vec<u32>,
    pub(super) carriers: BTreeMap<u32, Carrier>,
    /// What `park` gets, by thread.
    pub(super) tokens: BTreeMap<u32, Clock>,
    pub(super) cells: BTreeMap<u32, Cell>,
    /// What an acquiring reader of the last store of an atomic gets; used where there is no graph.
    pub(super) messages: BTreeMap<u32, Clock>,
    /// The strategy is asked for the outcome of an atomic operation.
    pub(crate) is_choosing: bool,
    /// The exhaustive search, if the run is one of its.
    pub(crate) guide: Option<Box<Guide>>,
}

impl Memory {
    pub(crate) fn new(model: MemoryModel) -> Self {
        Self {
            model,
            graph: Graph::default(),
            positions: Vec::new(),
            locations: Vec::new(),
            carriers: BTreeMap::new(),
            tokens: BTreeMap::new(),
            cells: BTreeMap::new(),
            messages: BTreeMap::new(),
            is_choosing: false,
            guide: None,
        }
    }

    /// The location of an object. `present` is its value now: if the model does not know of it, the program has changed
    /// it by `get_mut`, which needs exclusive access, and the location begins anew.
    pub(crate) fn locate(&mut self, object: u32, present: u64, created: &'static Location<'static>) -> u32 {
        let at = object as usize;
        if self.locations.len() <= at {
            self.locations.resize(at + 1, 0);
        }
        let known = self.locations[at];
        if known != 0 && self.graph.last_value(known - 1) == present {
            return known - 1;
        }
        let loc = self.graph.location(present, created);
        self.locations[at] = loc + 1;
        loc
    }

    fn draft(&self, attempt: &Attempt, at: usize) -> Draft {
        let Attempt { thread, loc, order, access, .. } = *attempt;
        let found = || self.graph.event(self.graph.mo[loc as usize][at]).value;
        let (kind, order) = match access {
            Access::Load => (Kind::Load, order),
            Access::Store { .. } => (Kind::Store, order),
            Access::Rmw => (Kind::Rmw, order),
            Access::Cas { expected, .. } if found() == expected => (Kind::Rmw, order),
            Access::Cas { failure, .. } => (Kind::Load, failure),
        };
        Draft { thread, kind, loc, order, at }
    }

    /// The consistent outcomes of an operation, as bits: bit `n` is to read the store that is `n` before the last in the
    /// modification order, or to be put behind it. Bit 0 is what sequential consistency would do.
    pub(crate) fn options(&self, attempt: &Attempt) -> u64 {
        let stores = self.graph.mo[attempt.loc as usize].len();
        let floor = self.graph.floor(attempt.thread, attempt.loc);
        let mut options = 0;
        for back in 0..(stores - floor).min(CANDIDATES) {
            if self.graph.admits(&self.draft(attempt, stores - 1 - back)) {
                options |= 1 << back;
            }
        }
        options
    }

    /// The operation takes effect with the outcome `back`. Returns the event.
    pub(crate) fn commit(&mut self, attempt: &Attempt, back: usize, change: &mut dyn FnMut(u64) -> u64) -> Id {
        let want = match attempt.access {
            Access::Load => Want::Load,
            Access::Store { .. } => Want::Store,
            Access::Rmw => Want::Rmw,
            Access::Cas { expected, failure, .. } => Want::Cas { expected, success: attempt.order, failure },
        };
        self.commit_as(attempt, back, change, want)
    }

    pub(super) fn commit_as(
        &mut self,
        attempt: &Attempt,
        back: usize,
        change: &mut dyn FnMut(u64) -> u64,
        want: Want,
    ) -> Id {
        let at = self.graph.mo[attempt.loc as usize].len() - 1 - back;
        let value = self.new_event(attempt, at, change).value;
        let draft = self.draft(attempt, at);
        let position = self.tick(attempt.thread);
        let id = self.graph.add(&draft, position, value, attempt.place);
        if let Some(guide) = &mut self.guide {
            guide.added(&self.graph, id, want);
        }
        id
    }

    /// The exhaustive search decides on the outcome of an operation, and puts its alternatives aside.
    pub(crate) fn decide(&mut self, attempt: &Attempt, options: u64, change: &mut dyn FnMut(u64) -> u64) {
        let Attempt { thread, loc, .. } = *attempt;
        let Some(mut guide) = self.guide.take() else { return };
        guide.mark_first_values(self.graph.events.len());
        let stores = self.graph.mo[loc as usize].len();
        if let Some(planned) = guide.repeated(&self.graph, thread) {
            let is_fresh = planned.is_fresh;
            let back = guide.place(&self.graph, thread, loc).map_or(CANDIDATES, |at| stores - 1 - at);
            if back < CANDIDATES && options >> back & 1 == 1 {
                guide.wanted = back;
                if is_fresh {
                    let mut new = self.new_event(attempt, stores - 1 - back, change);
                    new.stamp = guide.stamp_of_repeated(&self.graph, thread);
                    guide.backward(&self.graph, &new);
                }
            } else {
                guide.fail(String::from("an event cannot be repeated: the program is not deterministic"));
            }
        } else {
            guide.wanted = 0;
            let floor = self.graph.floor(thread, loc);
            if stores - floor > CANDIDATES {
                guide.fail(format!("a location has more than {CANDIDATES} stores that an operation could be next to"));
            }
            for at in floor..stores {
                let new = self.new_event(attempt, at, change);
                let back = stores - 1 - at;
                if back > 0 && options >> back & 1 == 1 {
                    guide.forward(&self.graph, &new);
                }
                // The places of a store are gone through for each read.
                if new.kind == Kind::Rmw || new.kind == Kind::Store && back == 0 {
                    guide.backward(&self.graph, &new);
                }
            }
        }
        self.guide = Some(guide);
    }

    fn new_event(&self, attempt: &Attempt, at: usize, change: &mut dyn FnMut(u64) -> u64) -> New {
        let Attempt { thread, loc, access, .. } = *attempt;
        let draft = self.draft(attempt, at);
        let found = self.graph.event(self.graph.mo[loc as usize][at]).value;
        let value = match (access, draft.kind) {
            (Access::Store { value }, _) => value,
            (Access::Rmw, _) => change(found),
            (Access::Cas { new, .. }, Kind::Rmw) => new,
            _ => found,
        };
        let position = self.positions.get(thread as usize).copied().unwrap_or(0);
        New { thread, kind: draft.kind, order: draft.order, loc, at, value, is_lock: false, position, stamp: None }
    }

    /// What the acquisition of a mutex, about to be added or wanted for ever, could have displaced.
    pub(super) fn displace(&mut self, thread: u32, loc: u32, place: &'static Location<'static>) {
        let attempt = Attempt { thread, loc, order: Ordering::Acquire, access: Access::Rmw, place };
        let Some(mut guide) = self.guide.take() else { return };
        guide.mark_first_values(self.graph.events.len());
        if guide.repeated(&self.graph, thread).is_none() && !guide.fills(&self.graph, thread) {
            for at in self.graph.floor(thread, loc)..self.graph.mo[loc as usize].len() {
                if self.graph.event(self.graph.mo[loc as usize][at]).value == 0 {
                    let mut new = self.new_event(&attempt, at, &mut |_| 1);
                    new.is_lock = true;
                    guide.backward(&self.graph, &new);
                }
            }
        }
        self.guide = Some(guide);
    }

    /// Nobody can go on: these threads want these mutexes, by the number of the object.
    pub(crate) fn stuck(&mut self, wanted: &[(u32, u32, &'static Location<'static>)]) {
        for &(thread, object, place) in wanted {
            if let Some(known @ 1..) = self.locations.get(object as usize).copied() {
                self.displace(thread, known - 1, place);
            }
        }
    }

    /// The value that an event read.
    pub(crate) fn found(&self, event: Id) -> u64 {
        self.graph.event(event).rf.map_or(0, |store| self.graph.event(store).value)
    }

    pub(crate) fn fence(&mut self, thread: u32, order: Ordering, place: &'static Location<'static>) {
        let position = self.tick(thread);
        if self.model == MemoryModel::Sc {
            let view = self.graph.view(thread);
            view.hb.raise(thread, position + 1);
            if acquires(order) {
                let got = view.acquirable.clone();
                view.hb.join(&got);
            }
            if releases(order) {
                view.released = view.hb.clone();
            }
            return;
        }
        let draft = Draft { thread, kind: Kind::Fence, loc: NOWHERE, order, at: 0 };
        let id = self.graph.add(&draft, position, 0, place);
        if let Some(guide) = &mut self.guide {
            guide.added(&self.graph, id, Want::Fence);
        }
    }

    /// The place of the next operation of a thread, which is taken.
    pub(super) fn tick(&mut self, thread: u32) -> u32 {
        let at = thread as usize;
        if self.positions.len() <= at {
            self.positions.resize(at + 1, 0);
        }
        self.positions[at] += 1;
        self.positions[at] - 1
    }

    /// A number that is equal for equal graphs, whatever the order in which their events were added. `names` says which
    /// thread each number stands for.
    pub(crate) fn fingerprint(&self, names: &dyn Fn(u32) -> u64) -> u64 {
        let graph = &self.graph;
        let name = |id: Id| {
            let e = graph.event(id);
            let thread = if e.thread == INIT { 1 } else { names(e.thread) };
            finalise(thread.rotate_left(7) ^ finalise(u64::from(e.index) + 1))
        };
        let mut sum = 0u64;
        for (id, e) in (0u32..).zip(&graph.events) {
            if let Some(rf) = e.rf {
                let source = if graph.event(rf).thread == INIT { 7 } else { name(rf) };
                sum = sum.wrapping_add(finalise(name(id) ^ source.rotate_left(17)));
            } else if e.thread != INIT {
                sum = sum.wrapping_add(finalise(name(id)));
            }
        }
        for mo in &graph.mo {
            for pair in mo[1..].windows(2) {
                sum = sum.wrapping_add(finalise(name(pair[0]).rotate_left(31) ^ name(pair[1])));
            }
        }
        sum
    }
}
