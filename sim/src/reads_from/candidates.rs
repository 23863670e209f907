//! The reads-from classes that are found from a run.
//!
//! Of each class the parent is the run from which it is found, and it follows from the class alone: see the module
//! above. So for each event of a run that could read something else it is asked which classes would be that, and whether
//! this run is their parent. Nothing of it needs a run.

use std::collections::BTreeMap;

use super::course::Course;
use super::execution::{Cut, Event, Execution, Id, Op, join};
use super::item::{Item, Origin, Round, Source, Spot, Stamp, Step};
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
    /// What is known of loops: see [`Item::loops`].
    loops: Vec<(Round, bool)>,
}

/// A write that is to come first, and what it reads itself.
#[derive(Clone, Copy)]
struct Writer {
    id: Id,
    source: Source<Id>,
}

/// An item that repeats what a thread needs for two equal rounds of a loop, so that it could go round once more and find
/// the same again; `None` if it could not.
pub(crate) fn asking(execution: &Execution, round: Round) -> Option<Item> {
    let thread = execution.threads.binary_search(&round.thread).ok()?;
    let own: Vec<&Event> = execution.by_thread[thread].iter().map(|&id| execution.event(id)).collect();
    let last = own.last()?;
    let mut cut = execution.before(Spot { index: last.spot.index + 1, ..last.spot });
    cut[thread] = last.spot.index + 1;
    let round = own.iter().rev().take_while(|e| e.op != Op::Yield).filter(|e| e.op.reads());
    let round: Vec<_> = round.map(|e| (e.place, e.source)).collect();
    let order = order(execution, &cut, &[], &round)?;
    let step = |&id: &Id| {
        let event = execution.event(id);
        Step { thread: event.spot.thread, source: execution.name(event.source) }
    };
    Some(Item { threads: execution.threads.clone(), schedule: order.iter().map(step).collect(), ..Item::default() })
}

impl Candidates {
    /// `None` if the run was not what its item says: what the program does depends on something else than its reads.
    pub(crate) fn of(execution: Execution, course: &Course) -> Option<Self> {
        let item = &course.item;
        let name = |thread: u16| execution.threads.binary_search(&item.threads[thread as usize]).ok().map(|t| t as u16);
        let mut stamps = Vec::with_capacity(item.stamps.len() + execution.executed);
        for stamp in &item.stamps {
            stamps.push(Stamp { thread: name(stamp.thread)?, ..*stamp });
        }
        for (step, event) in item.schedule.iter().zip(&execution.events) {
            let source = match step.source {
                Source::Event(spot) => Source::Event(Spot { thread: name(spot.thread)?, ..spot }),
                other => other,
            };
            if execution.name(event.source) != source || name(step.thread) != Some(event.spot.thread) {
                return None;
            }
        }
        let fixed = stamps.len();
        let made = execution.events[..execution.executed].iter().skip(item.schedule.len());
        stamps.extend(made.map(|event| Stamp { thread: event.spot.thread, origin: Origin::Default }));
        let cut = vec![0; execution.threads.len()];
        let loops = item.loops.clone();
        Some(Self { execution, stamps, fixed, at: 0, cut, promised: Vec::new(), found: Vec::new(), loops })
    }

    /// The next class that is found from this run.
    pub(crate) fn next_item(&mut self) -> Option<Item> {
        while self.found.is_empty() && self.at < self.stamps.len() {
            let Stamp { thread, origin } = self.stamps[self.at];
            let spot = Spot { thread, index: self.cut[thread as usize] };
            let Some(id) = self.execution.at(spot) else {
                // A failure has cut the run before all of its item was repeated.
                self.at = self.stamps.len();
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
            let writes = self.execution.would_write(&event, source);
            if writes && self.is_replaced(source, &event, &self.cut) {
                continue;
            }
            let changes = [Change { event: id, source, writes }];
            if let Some(order) = order(&self.execution, &cut, &changes, &[]) {
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
        let executed = all.filter(|&&s| self.execution.is_executed(s) && self.execution.event(s).writes);
        executed
            .map(|&s| Source::Event(s))
            .chain([Source::Initial])
            .filter(|&s| self.execution.would_write(writer, s))
            .collect()
    }

    /// Whether the mutex of an acquisition is kept for another thread, once the events of `cut` have been.
    fn is_promised(&self, event: &Event, cut: &Cut) -> bool {
        let is_next = |spot: Spot| cut[spot.thread as usize] == spot.index;
        let kept = |&(spot, place): &(Spot, u32)| place == event.place && is_next(spot) && spot != event.spot;
        event.op.acquires() && self.promised.iter().any(kept)
    }

    /// Whether this run is the one that begins with the events of `cut`, goes on with `event`, and then by default.
    fn is_parent(&self, cut: &Cut, event: Id) -> bool {
        order(&self.execution, cut, &[], &[])
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
            if let Some(order) = order(&self.execution, &cut, &[moved], &[]) {
                let origin = Origin::Promised { index: event.spot.index };
                self.add(origin, &order, id, &[moved]);
            }
            return;
        }
        cut[event.spot.thread as usize] += 1;
        // Nothing else reads what is moved, so whether the event writes as well makes no difference to the order.
        let read = Change { event: id, source: Source::Event(writer.id), writes: event.op.may_write() };
        let changes = [moved, read];
        if let Some(order) = order(&self.execution, &cut, &changes, &[]) {
            self.add(Origin::Chosen, &order, id, &changes);
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
        let is_kept = |round: &Round| {
            let of_thread = |id: &&Id| self.execution.threads[spot_of(**id).thread as usize] == round.thread;
            let is_changed = |c: &Change| of_thread(&&c.event) && spot_of(c.event).index < round.index;
            order.iter().filter(of_thread).count() as u32 >= round.index && !changes.iter().any(is_changed)
        };
        let loops = self.loops.iter().copied().filter(|(round, _)| is_kept(round)).collect();
        self.found.push(Item { threads: self.execution.threads.clone(), stamps, schedule, loops });
    }

    fn has(&self, cut: &Cut, id: Id) -> bool {
        let spot = self.execution.event(id).spot;
        spot.index < cut[spot.thread as usize]
    }
}
