//! The alternatives of a new event, as in TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022).
//!
//! A read has one alternative for each other store that it may read, a store one for each other place in the
//! modification order (*forward*). A write may moreover be read by a read that is in the graph already and does not come
//! before it (*backward revisit*). That takes back everything that was added after the read and that the write does not
//! need, and is done only if all of it, and the read itself, had been added in the one canonical way (*maximally*):
//! then the graph without it is reached from exactly one graph, so nothing is explored twice.
//!
//! *Mutexes.* An acquisition is a read-modify-write that reads a release, and a thread that finds the mutex taken is not
//! enabled, so there are no runs that block for want of a better order. A new acquisition that could come before one in
//! the graph *displaces* it: the older one cannot read its release yet, which does not exist. It becomes a *hole* that
//! keeps its place in the order of addition and is filled as soon as the mutex is free. For the question whether it was
//! added maximally, a displaced acquisition reads the one that displaced it. A thread that is still blocked when nobody
//! can go on has never added its acquisition; what that could have displaced is asked then.

use std::sync::atomic::Ordering;

use super::clock::Clock;
use super::graph::{Graph, INIT, Id, Kind};
use super::guide::{Guide, Mark, Want};
use super::item::{Item, Planned, Source};

/// An event that is about to be added, with one of its outcomes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub(crate) thread: u32,
    pub(crate) kind: Kind,
    pub(crate) order: Ordering,
    pub(crate) loc: u32,
    /// Place in the modification order of what it reads, or is put behind.
    pub(crate) at: usize,
    /// What it writes.
    pub(crate) value: u64,
    pub(crate) is_lock: bool,
    /// Place among the operations of its thread.
    pub(crate) position: u32,
    /// Its place in the order of addition, if only its write is new: its read was revisited.
    pub(crate) stamp: Option<u64>,
}

/// What a read does when the new event revisits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Reads(Kind, Ordering),
    Waits,
}

/// The new event, where events are meant.
pub(super) const NEW: Id = Id::MAX;

impl Guide {
    /// Puts aside the graph in which the new event has another outcome.
    pub(crate) fn forward(&mut self, graph: &Graph, new: &New) {
        let kept = vec![true; graph.events.len()];
        let item = self.item_of(graph, &kept, None, new, graph.mo[new.loc as usize][new.at]);
        self.found.push(item);
    }

    /// Puts aside the graphs in which reads of the graph read the new event.
    pub(crate) fn backward(&mut self, graph: &Graph, new: &New) {
        let source = graph.mo[new.loc as usize][new.at];
        let mut prefix = self.prefixes[new.thread as usize].clone();
        if new.kind.reads() {
            prefix.join(&self.marks.get(source as usize).map_or_else(Clock::new, |m| m.prefix.clone()));
        }
        let stores = graph.mo[new.loc as usize].clone();
        let readers: Vec<Id> = stores.iter().flat_map(|&s| graph.event(s).readers.clone()).collect();
        for read in readers {
            let r = graph.event(read);
            if prefix.includes(r.thread, r.position) {
                continue;
            }
            let Some(again) = self.again(read, new) else { continue };
            let since = self.marks[read as usize].stamp;
            let mut kept: Vec<bool> = (0..graph.events.len())
                .map(|i| {
                    let e = &graph.events[i];
                    e.thread == INIT
                        || prefix.includes(e.thread, e.position)
                        || self.marks[i].stamp < since
                        || i == read as usize && again != Again::Waits
                })
                .collect();
            let reopened = self.reopened(graph, &mut kept, read);
            if !self.all_maximal(graph, &kept, read, &reopened, &prefix) {
                continue;
            }
            if new.kind == Kind::Rmw {
                self.revisit(graph, &kept, read, again, new, source);
            } else {
                for &place in stores.iter().filter(|&&s| kept[s as usize] && s != read) {
                    self.revisit(graph, &kept, read, again, new, place);
                }
            }
        }
    }

    /// The displaced acquisitions that stay, while the release that they read goes: they wait again.
    fn reopened(&self, graph: &Graph, kept: &mut [bool], read: Id) -> Vec<Id> {
        let waits = |id: Id, kept: &[bool]| {
            kept[id as usize]
                && id != read
                && self.marks[id as usize].displaced_by.is_some()
                && graph.event(id).rf.is_some_and(|source| !kept[source as usize])
        };
        let list: Vec<Id> = (0..graph.events.len() as Id).filter(|&id| waits(id, kept)).collect();
        list.iter().for_each(|&id| kept[id as usize] = false);
        list
    }

    fn revisit(&mut self, graph: &Graph, kept: &[bool], read: Id, again: Again, new: &New, behind: Id) {
        if self.is_consistent(graph, kept, (read, again), new, behind) {
            let item = self.item_of(graph, kept, Some((read, again)), new, behind);
            self.found.push(item);
        }
    }

    /// What a read does when it finds what the new event writes.
    fn again(&self, read: Id, new: &New) -> Option<Again> {
        match self.marks[read as usize].want {
            Want::Lock => new.is_lock.then_some(Again::Waits),
            Want::Load => Some(Again::Reads(Kind::Load, Ordering::Relaxed)),
            Want::Rmw => Some(Again::Reads(Kind::Rmw, Ordering::Relaxed)),
            Want::Cas { expected, success, .. } if expected == new.value => Some(Again::Reads(Kind::Rmw, success)),
            Want::Cas { failure, .. } => Some(Again::Reads(Kind::Load, failure)),
            Want::Nothing | Want::Store | Want::Unlock | Want::Fence => None,
        }
    }

    /// Whether the read and all that would be taken back were added maximally.
    fn all_maximal(&self, graph: &Graph, kept: &[bool], read: Id, reopened: &[Id], prefix: &Clock) -> bool {
        let since = self.marks[read as usize].stamp;
        let gone = |id: Id| (!kept[id as usize] || id == read) && !reopened.contains(&id);
        let stays = |id: Id| self.marks[id as usize].displaced_by.is_some_and(|by| !gone(by));
        if !reopened.iter().all(|&id| stays(id)) {
            return false;
        }
        let events = (0..graph.events.len() as Id).filter(|&id| gone(id));
        // A hole stays if it is older than the read; it then needs the acquisition that it waits for.
        let hole_goes = |stamp: u64| stamp > since;
        let holes_stay =
            self.holes.iter().filter(|h| !hole_goes(h.stamp)).all(|h| h.displaced_by.is_some_and(|d| !gone(d)));
        holes_stay
            && events.into_iter().all(|id| self.is_maximal(graph, id, prefix))
            && self.holes.iter().filter(|h| hole_goes(h.stamp)).all(|h| match h.displaced_by {
                Some(by) => self.is_last(graph, by, h.stamp, None, prefix),
                None => false,
            })
    }

    /// Whether the write of an event was there at `stamp`, or is needed by the new event.
    fn was_written(&self, graph: &Graph, id: Id, stamp: u64, prefix: &Clock) -> bool {
        let e = graph.event(id);
        e.thread == INIT || self.marks[id as usize].write_stamp <= stamp || prefix.includes(e.thread, e.position)
    }

    /// Whether a store was there at `stamp`, and no later one of its location, `except` left out.
    fn is_last(&self, graph: &Graph, store: Id, stamp: u64, except: Option<Id>, prefix: &Clock) -> bool {
        let mo = &graph.mo[graph.event(store).loc as usize];
        let counts = |&later: &Id| Some(later) != except && self.was_written(graph, later, stamp, prefix);
        self.was_written(graph, store, stamp, prefix) && !mo[graph.place_of(store) + 1..].iter().any(counts)
    }

    fn is_maximal(&self, graph: &Graph, id: Id, prefix: &Clock) -> bool {
        let e = graph.event(id);
        let &Mark { stamp, write_stamp, displaced_by, .. } = &self.marks[id as usize];
        if e.kind.writes() {
            // Nobody who was there reads it; an acquisition that was displaced was waiting for it.
            let reads = |&r: &Id| {
                let (mark, r) = (&self.marks[r as usize], graph.event(r));
                mark.displaced_by.is_none() && (mark.stamp <= write_stamp || prefix.includes(r.thread, r.position))
            };
            if e.readers.iter().any(reads) || !self.is_last(graph, id, write_stamp, None, prefix) {
                return false;
            }
        }
        let Some(source) = e.rf else { return true };
        self.is_last(graph, source, stamp, Some(id), prefix)
            // Displaced by an acquisition that stays, whose release goes: without that, it would be waiting.
            || !self.was_written(graph, source, stamp, prefix)
                && displaced_by.is_some_and(|by| self.is_last(graph, by, stamp, Some(id), prefix))
    }

    /// The modification order of a location in the revisited graph.
    pub(super) fn order(
        &self,
        graph: &Graph,
        loc: usize,
        kept: &[bool],
        again: Option<(Id, Again)>,
        new: &New,
        behind: Id,
    ) -> Vec<Id> {
        let mut order = Vec::new();
        for &store in &graph.mo[loc] {
            let is_read = again.is_some_and(|(read, _)| read == store);
            if kept[store as usize] && !is_read {
                order.push(store);
            }
            if loc == new.loc as usize && store == behind && new.kind.writes() {
                order.push(NEW);
                if let Some((read, Again::Reads(Kind::Rmw, _))) = again {
                    order.push(read);
                }
            }
        }
        order
    }

    /// The revisited graph as a work item.
    fn item_of(&self, graph: &Graph, kept: &[bool], again: Option<(Id, Again)>, new: &New, behind: Id) -> Item {
        // What the list holds is an event, or a hole.
        let mut list: Vec<(u64, Option<Id>)> = (0..graph.events.len() as Id)
            .filter(|&id| kept[id as usize] && graph.event(id).thread != INIT)
            .map(|id| (self.marks[id as usize].stamp, Some(id)))
            .collect();
        let since = again.map_or(u64::MAX, |(read, _)| self.marks[read as usize].stamp);
        list.extend(self.holes.iter().filter(|h| h.stamp < since).map(|h| (h.stamp, None)));
        if let Some((read, Again::Waits)) = again {
            list.push((since, Some(read)));
        }
        let reopened = |id: Id| {
            let mark = &self.marks[id as usize];
            !kept[id as usize] && mark.displaced_by.is_some() && mark.stamp < since
        };
        let ids = 0..graph.events.len() as Id;
        list.extend(ids.filter(|&id| reopened(id)).map(|id| (self.marks[id as usize].stamp, Some(id))));
        list.push((new.stamp.unwrap_or(u64::MAX), Some(NEW)));
        list.sort_unstable();
        let mut numbers = vec![u32::MAX; graph.events.len()];
        let mut last = 0;
        for (i, (_, id)) in (0u32..).zip(&list) {
            match *id {
                Some(NEW) => last = i,
                Some(id) => numbers[id as usize] = i,
                None => {}
            }
        }
        let number = |id: Id| if id == NEW { last } else { numbers[id as usize] };
        let source = |store: Id| match store {
            NEW => Source::Event(last),
            _ if graph.event(store).thread == INIT => Source::Initial,
            _ => Source::Event(number(store)),
        };
        let next = graph.views.get(new.thread as usize).map_or(0, |v| v.events.len() as u32);
        let read = if new.kind.reads() { source(graph.mo[new.loc as usize][new.at]) } else { Source::None };
        let plain = |thread, index, source| Planned {
            thread,
            index,
            source,
            displaced_by: None,
            is_hole: false,
            is_fresh: false,
        };
        let hole =
            |thread, index, by| Planned { displaced_by: by, is_hole: true, ..plain(thread, index, Source::None) };
        let events: Vec<Planned> = list
            .iter()
            .map(|&(stamp, id)| {
                let Some(id) = id else {
                    let of = self.holes.iter().find(|h| h.stamp == stamp).expect("the list was made of the holes");
                    return hole(of.thread, of.index, of.displaced_by.map(number));
                };
                if id == NEW {
                    return plain(new.thread, next, read);
                }
                let e = graph.event(id);
                let by = self.marks[id as usize].displaced_by.map(number);
                match again {
                    Some((read, Again::Waits)) if read == id => hole(e.thread, e.index, Some(last)),
                    _ if reopened(id) => hole(e.thread, e.index, by),
                    Some((read, Again::Reads(kind, _))) if read == id => {
                        Planned { is_fresh: kind == Kind::Rmw, ..plain(e.thread, e.index, source(NEW)) }
                    }
                    _ => Planned { displaced_by: by, ..plain(e.thread, e.index, e.rf.map_or(Source::None, source)) },
                }
            })
            .collect();
        let orders = (0..graph.mo.len())
            .map(|loc| self.order(graph, loc, kept, again, new, behind))
            .map(|order| {
                order.into_iter().filter(|&id| id == NEW || graph.event(id).thread != INIT).map(number).collect()
            })
            .collect();
        Item { threads: self.paths.clone(), events, orders }
    }
}
