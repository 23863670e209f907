//! The reads-from classes that are found from a run.
//!
//! Of each class the parent is the run from which it is found, and it follows from the class alone: see the module
//! above. So for each event of a run that could read something else it is asked which classes would be that, and whether
//! this run is their parent. Nothing of it needs a run.

use std::collections::BTreeMap;

use crate::exhaustive::guide::Guide;

use super::course::Course;
use super::execution::{Cut, Event, Execution, Id, Op, join};
use super::item::{Item, Origin, Source, Spot, Stamp, Step};
use super::order::{Change, changed, is_completed_by_default, order};

/// A finished run and how far its classes have been given out.
pub(crate) struct Candidates {
    execution: Execution,
    stamps: Vec<Stamp>,
    /// How many of the stamps were those of the item.
    fixed: usize,
    /// The stamp that is looked at, and the events before it.
    at: usize,
    cut: Cut,
    /// Acquisitions that are promised by earlier stamps, and their mutexes.
    promised: Vec<(Spot, u32)>,
    found: Vec<Item>,
}

/// A write that is to come first, and what it reads itself.
#[derive(Clone, Copy)]
struct Writer {
    id: Id,
    source: Source<Id>,
}

impl Candidates {
    /// `None` if the run was not what its item says: an event wrote, or did not, where that could not be foretold.
    pub(crate) fn of(execution: Execution, guide: &Guide, course: &Course) -> Option<Self> {
        let item = &course.item;
        let name = |thread: u16| execution.threads.binary_search(&item.threads[thread as usize]).ok().map(|t| t as u16);
        let mut stamps = Vec::with_capacity(item.stamps.len() + execution.executed);
        for stamp in &item.stamps {
            stamps.push(Stamp { thread: name(stamp.thread)?, ..*stamp });
        }
        let counts = |n: usize| guide.record.events[n].index < course.end_of(guide.record.events[n].thread);
        let made: Vec<usize> = (0..guide.record.len()).filter(|&n| counts(n)).collect();
        let scheduled = made.iter().zip(&execution.events).filter(|(n, _)| course.is_scheduled(**n));
        for (step, (_, event)) in item.schedule.iter().zip(scheduled) {
            let source = match step.source {
                Source::Event(spot) => Source::Event(Spot { thread: name(spot.thread)?, ..spot }),
                other => other,
            };
            if execution.name(event.source) != source || name(step.thread) != Some(event.spot.thread) {
                return None;
            }
        }
        let fixed = stamps.len();
        for (&n, event) in made.iter().zip(&execution.events).filter(|(n, _)| !course.is_scheduled(**n)) {
            let origin = if course.keeps_promise(n) { Origin::Needed } else { Origin::Default };
            stamps.push(Stamp { thread: event.spot.thread, origin });
        }
        let cut = vec![0; execution.threads.len()];
        Some(Self { execution, stamps, fixed, at: 0, cut, promised: Vec::new(), found: Vec::new() })
    }

    /// The next class that is found from this run.
    pub(crate) fn next_item(&mut self) -> Option<Item> {
        while self.found.is_empty() && self.at < self.stamps.len() {
            let Stamp { thread, origin } = self.stamps[self.at];
            let spot = Spot { thread, index: self.cut[thread as usize] };
            let Some(id) = self.execution.at(spot) else {
                debug_assert!(false, "a stamp without event");
                return None;
            };
            if origin != Origin::Needed && self.execution.is_executed(id) && self.execution.event(id).op.reads() {
                self.later_sources(id);
                if self.at >= self.fixed {
                    self.earlier_sources(id);
                }
            }
            match origin {
                Origin::Promised { .. } => self.promised.push((spot, self.execution.event(id).place)),
                _ => self.cut[thread as usize] += 1,
            }
            self.at += 1;
        }
        self.found.pop()
    }

    /// Classes in which an event that was made by default reads something else that was there before it.
    fn earlier_sources(&mut self, id: Id) {
        let event = *self.execution.event(id);
        if event.op == Op::Lock {
            // Acquisitions are a chain: who comes next has no choice.
            return;
        }
        let mut cut = self.cut.clone();
        cut[event.spot.thread as usize] += 1;
        let writers = self.execution.writers[event.place as usize].iter();
        let before = writers.filter(|&&w| self.has(&self.cut, w) && self.execution.event(w).writes);
        let sources: Vec<_> = before.map(|&w| Source::Event(w)).chain([Source::Initial]).collect();
        for source in sources.into_iter().filter(|&s| s != event.source) {
            let value = Some(self.execution.value(source, event.place));
            let writes = self.execution.writes(&event, source, value) == Some(true);
            let is_taken = self.is_promised(&event, &self.cut) || self.is_replaced(source, &event, &self.cut);
            if writes && is_taken {
                continue;
            }
            let changes = [Change { event: id, source, writes }];
            if let Some(order) = order(&self.execution, &cut, &changes) {
                self.add(Origin::Chosen, &order, id, &changes);
            }
        }
    }

    /// Classes in which an event reads from a write that comes later in this run, if this run is their parent.
    fn later_sources(&mut self, id: Id) {
        let event = *self.execution.event(id);
        let mut parents = BTreeMap::new();
        for w in self.execution.writers[event.place as usize].clone() {
            let writer = *self.execution.event(w);
            let is_before = self.has(&self.cut, w) || writer.spot.thread == event.spot.thread;
            if is_before || event.op == Op::Lock && !writer.op.acquires() {
                continue;
            }
            let before = self.execution.before(writer.spot);
            if before[event.spot.thread as usize] > event.spot.index {
                continue;
            }
            for source in self.sources_of(&writer) {
                let mut cut = self.cut.clone();
                join(&mut cut, &before);
                if let Some(needs) = self.execution.needs(source) {
                    join(&mut cut, needs);
                }
                let is_next = |spot: Spot| cut[spot.thread as usize] == spot.index;
                if !is_next(writer.spot)
                    || !is_next(event.spot)
                    || self.is_promised(&writer, &cut)
                    || writer.op == Op::Unlock && self.is_promised(&event, &cut)
                    || matches!(event.source, Source::Event(s) if !self.has(&cut, s))
                    || self.is_replaced(source, &writer, &cut)
                {
                    continue;
                }
                let is_parent = *parents.entry(cut).or_insert_with_key(|cut| self.is_parent(cut, id));
                if is_parent {
                    self.put_first(id, Writer { id: w, source }, &before);
                }
            }
        }
    }

    /// Whether another event has to be right behind the source of a writer.
    fn is_replaced(&self, source: Source<Id>, writer: &Event, cut: &Cut) -> bool {
        let slot = self.execution.slot(source, writer.place);
        slot.and_then(|slot| self.execution.replaced_by[slot]).is_some_and(|id| self.has(cut, id))
    }

    /// What a writer could read so that it writes.
    fn sources_of(&self, writer: &Event) -> Vec<Source<Id>> {
        if !writer.op.reads() {
            return vec![Source::Nothing];
        }
        let all = self.execution.writers[writer.place as usize].iter();
        let fits = |source: Source<Id>| {
            let value = Some(self.execution.value(source, writer.place));
            self.execution.writes(writer, source, value) == Some(true)
        };
        let executed = all.filter(|&&s| self.execution.is_executed(s) && self.execution.event(s).writes);
        executed.map(|&s| Source::Event(s)).chain([Source::Initial]).filter(|&s| fits(s)).collect()
    }

    /// Whether the mutex of an acquisition is kept for another thread, once the events of `cut` have been.
    fn is_promised(&self, event: &Event, cut: &Cut) -> bool {
        let is_next = |spot: Spot| cut[spot.thread as usize] == spot.index;
        let kept = |&(spot, place): &(Spot, u32)| place == event.place && is_next(spot) && spot != event.spot;
        event.op.acquires() && self.promised.iter().any(kept)
    }

    /// Whether this run is the one that begins with the events of `cut`, goes on with `event`, and then by default.
    fn is_parent(&self, cut: &Cut, event: Id) -> bool {
        order(&self.execution, cut, &[])
            .is_some_and(|order| is_completed_by_default(&self.execution, &order, event, &self.promised))
    }

    /// Adds the class in which an event reads from `writer`.
    fn put_first(&mut self, id: Id, writer: Writer, before: &Cut) {
        let event = *self.execution.event(id);
        let first = *self.execution.event(writer.id);
        let mut cut = self.cut.clone();
        join(&mut cut, before);
        if let Some(needs) = self.execution.needs(writer.source) {
            join(&mut cut, needs);
        }
        cut[first.spot.thread as usize] += 1;
        let moved = Change { event: writer.id, source: writer.source, writes: true };
        if event.op == Op::Lock {
            if let Some(order) = order(&self.execution, &cut, &[moved]) {
                let origin = Origin::Promised { index: event.spot.index };
                self.add(origin, &order, id, &[moved]);
            }
            return;
        }
        cut[event.spot.thread as usize] += 1;
        let value = match first.op {
            Op::Store => Some(first.value),
            // What another value would be changed to is not known.
            _ => (first.source == writer.source && first.writes).then_some(first.value),
        };
        let outcomes = match self.execution.writes(&event, Source::Event(writer.id), value) {
            Some(writes) => vec![writes],
            // Most orders are possible either way; the run shows which way it is.
            None => vec![true, false],
        };
        for writes in outcomes {
            let changes = [moved, Change { event: id, source: Source::Event(writer.id), writes }];
            if let Some(order) = order(&self.execution, &cut, &changes) {
                self.add(Origin::Chosen, &order, id, &changes);
                return;
            }
        }
    }

    fn add(&mut self, origin: Origin, order: &[Id], chosen: Id, changes: &[Change]) {
        let spot_of = |id: Id| self.execution.event(id).spot;
        let mut stamps = self.stamps[..self.at].to_vec();
        stamps.push(Stamp { thread: spot_of(chosen).thread, origin });
        let needed = order.iter().filter(|&&id| id != chosen && !self.has(&self.cut, id));
        stamps.extend(needed.map(|&id| Stamp { thread: spot_of(id).thread, origin: Origin::Needed }));
        let step = |&id: &Id| {
            let (source, _) = changed(&self.execution, changes, id);
            Step { thread: spot_of(id).thread, source: self.execution.name(source) }
        };
        let schedule = order.iter().map(step).collect();
        self.found.push(Item { threads: self.execution.threads.clone(), stamps, schedule });
    }

    fn has(&self, cut: &Cut, id: Id) -> bool {
        let spot = self.execution.event(id).spot;
        spot.index < cut[spot.thread as usize]
    }
}
