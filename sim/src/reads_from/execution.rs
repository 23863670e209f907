//! What happened in one run, up to the order of events that no read can tell apart: the events of each thread, whose
//! write each of them reads, and which threads started and joined which.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::exhaustive::guide::Guide;
use crate::exhaustive::record::{Access, Object, Record};
use crate::monitor::OpKind;
use crate::trace::verb;

use super::course::Course;
use super::item::{Source, Spot};

/// The number of an event in its execution: executed ones in the order of the run, then those waited for in vain.
pub(crate) type Id = u32;

/// No place in memory.
const NOWHERE: u32 = u32::MAX;

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Nothing that others see.
    Local,
    Yield,
    Load,
    Store,
    Rmw,
    Cas,
    Lock,
    /// It may fail.
    TryLock,
    Unlock,
}

impl Op {
    const fn of(kind: OpKind) -> Option<Self> {
        Some(match kind {
            OpKind::Load => Self::Load,
            OpKind::Store => Self::Store,
            OpKind::Rmw => Self::Rmw,
            OpKind::Cas => Self::Cas,
            OpKind::Lock => Self::Lock,
            OpKind::TryLock => Self::TryLock,
            OpKind::Unlock => Self::Unlock,
            _ => return None,
        })
    }

    pub(crate) const fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Rmw | Self::Cas | Self::Lock | Self::TryLock)
    }

    /// Whether it takes a mutex, if it succeeds.
    pub(crate) const fn acquires(self) -> bool {
        matches!(self, Self::Lock | Self::TryLock)
    }

    pub(crate) const fn may_write(self) -> bool {
        !matches!(self, Self::Local | Self::Yield | Self::Load)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) spot: Spot,
    pub(crate) op: Op,
    /// Index of the object; [`NOWHERE`] for local events.
    pub(crate) place: u32,
    pub(crate) source: Source<Id>,
    pub(crate) writes: bool,
    /// Atomics: the value afterwards.
    pub(crate) value: u64,
    /// Compare-and-swap: the value that it wants to find.
    pub(crate) expected: u64,
    /// Compare-and-swap of something that is no number: it wants to find what its thread read last.
    wanted: Option<Source<Id>>,
}

/// An event of one thread, and all that follow it there, come after the first `count` events of another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct After {
    pub(crate) index: u32,
    pub(crate) other: u16,
    pub(crate) count: u32,
}

/// How many of the first events of each thread are meant.
pub(crate) type Cut = Vec<u32>;

/// An event of a test: what it does, where, what it reads, whether it writes.
#[cfg(test)]
pub(crate) type Sketch = (Op, u32, Source<Id>, bool);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Execution {
    pub(crate) threads: Arc<[u64]>,
    /// In the order of the run; behind them those that were waited for when it ended.
    pub(crate) events: Vec<Event>,
    /// How many of them were executed.
    pub(crate) executed: usize,
    /// The events of each thread.
    pub(crate) by_thread: Vec<Vec<Id>>,
    pub(crate) ties: Vec<Vec<After>>,
    /// For each executed event: what it comes after by program order, starts, joins and reads, and itself.
    needs: Vec<Cut>,
    /// Who reads each write and writes in its turn, and who does so with what was there first, by place: at most one
    /// can.
    pub(crate) replaced_by: Vec<Option<Id>>,
    /// The values that were there from the beginning, by place.
    first_values: Vec<u64>,
    /// The events that write, or would if they read something else, by place.
    pub(crate) writers: Vec<Vec<Id>>,
}

impl Execution {
    /// # Errors
    /// What the run did that this module knows nothing of.
    pub(crate) fn of(guide: &Guide, course: &Course) -> Result<Self, String> {
        let record = &guide.record;
        let mut keys: Vec<u64> = record.threads.iter().map(|t| t.key).collect();
        keys.sort_unstable();
        let mut made = Self {
            threads: keys.into(),
            by_thread: vec![Vec::new(); record.threads.len()],
            ties: vec![Vec::new(); record.threads.len()],
            ..Self::default()
        };
        let mut places = Places::default();
        for (n, event) in record.events.iter().enumerate() {
            let access = main_access(record, n)?;
            // Rounds of a loop that would never end are not part of it.
            if event.index < course.end_of(event.thread) {
                let thread = made.thread(record.threads[event.thread as usize].key);
                let op = if event.kind == OpKind::Yield { Op::Yield } else { Op::Local };
                made.add(Spot { thread, index: event.index }, op, access, &mut places)?;
            }
        }
        if !record.choices.is_empty() {
            return Err(unknown("choice"));
        }
        for tie in &record.ties {
            let name = |number: u32| made.thread(record.threads[number as usize].key);
            let (thread, other) = (name(tie.thread), name(tie.other));
            made.ties[thread as usize].push(After { index: tie.index, other, count: tie.count });
        }
        made.executed = made.events.len();
        for waiting in &guide.waiting {
            if waiting.kind == OpKind::Lock {
                let thread = made.thread(record.threads[waiting.thread as usize].key);
                let spot = Spot { thread, index: made.by_thread[thread as usize].len() as u32 };
                let place = places.of(waiting.object, || 0);
                made.push(Event {
                    spot,
                    op: Op::Lock,
                    place,
                    source: Source::Nothing,
                    writes: true,
                    value: 0,
                    expected: 0,
                    wanted: None,
                });
            }
        }
        made.first_values = places.first_values;
        made.writers = vec![Vec::new(); made.first_values.len()];
        for (id, event) in (0..).zip(&made.events) {
            if event.op.may_write() {
                made.writers[event.place as usize].push(id);
            }
        }
        made.close();
        made.find_replacements();
        Ok(made)
    }

    /// The events of each thread, with so many places.
    #[cfg(test)]
    pub(crate) fn of_events(threads: &[Vec<Sketch>], places: usize) -> Self {
        let mut made = Self {
            threads: (0..threads.len() as u64).collect(),
            by_thread: vec![Vec::new(); threads.len()],
            ties: vec![Vec::new(); threads.len()],
            first_values: vec![0; places],
            ..Self::default()
        };
        for (thread, events) in (0..).zip(threads) {
            for (index, &(op, place, source, writes)) in (0..).zip(events) {
                let spot = Spot { thread, index };
                made.push(Event { spot, op, place, source, writes, value: 0, expected: 0, wanted: None });
            }
        }
        made.executed = made.events.len();
        made
    }

    fn add(&mut self, spot: Spot, unseen: Op, access: Option<&Access>, places: &mut Places) -> Result<(), String> {
        let local = Event {
            spot,
            op: unseen,
            place: NOWHERE,
            source: Source::Nothing,
            writes: false,
            value: 0,
            expected: 0,
            wanted: None,
        };
        let event = match access.and_then(|a| Some((a, Op::of(a.kind)?))) {
            None => local,
            Some((a, op)) => {
                let place = places.of(a.object, || a.found);
                let writes = op.may_write() && (a.success || !matches!(op, Op::Cas | Op::TryLock));
                let source = if op.reads() { places.last[place as usize] } else { Source::Nothing };
                let expected = match source {
                    Source::Event(write) => self.event(write).value,
                    Source::Initial => places.first_values[place as usize],
                    Source::Nothing => a.found,
                };
                if a.found != expected && !a.is_opaque() {
                    // No event has changed it.
                    return Err(unknown("get_mut"));
                }
                if writes {
                    places.last[place as usize] = Source::Event(self.events.len() as Id);
                }
                let wanted = if a.is_opaque() { self.last_read(spot.thread, place) } else { None };
                Event { op, place, source, writes, value: a.value, expected: a.expected, wanted, ..local }
            }
        };
        self.push(event);
        Ok(())
    }

    /// What the last load of a place by a thread read.
    fn last_read(&self, thread: u16, place: u32) -> Option<Source<Id>> {
        let own = self.by_thread[thread as usize].iter().rev().map(|&id| self.event(id));
        own.into_iter().find(|e| e.op == Op::Load && e.place == place).map(|e| e.source)
    }

    fn push(&mut self, event: Event) {
        self.by_thread[event.spot.thread as usize].push(self.events.len() as Id);
        self.events.push(event);
    }

    /// Finds what each event needs.
    fn close(&mut self) {
        for id in 0..self.executed {
            let Event { spot, source, .. } = self.events[id];
            let mut cut = self.before(spot);
            if let Source::Event(write) = source {
                join(&mut cut, &self.needs[write as usize]);
            }
            cut[spot.thread as usize] = spot.index + 1;
            self.needs.push(cut);
        }
    }

    fn find_replacements(&mut self) {
        self.replaced_by = vec![None; self.events.len() + self.places()];
        for id in 0..self.executed as Id {
            let event = *self.event(id);
            if let Some(slot) = self.slot(event.source, event.place).filter(|_| event.writes) {
                self.replaced_by[slot] = Some(id);
            }
        }
    }

    /// The number of a source among all: writes, then first values.
    pub(crate) fn slot(&self, source: Source<Id>, place: u32) -> Option<usize> {
        match source {
            Source::Nothing => None,
            Source::Initial => Some(self.events.len() + place as usize),
            Source::Event(id) => Some(id as usize),
        }
    }

    fn thread(&self, key: u64) -> u16 {
        self.threads.binary_search(&key).unwrap_or(0) as u16
    }

    /// The event at a place, if it was executed or waited for.
    pub(crate) fn at(&self, spot: Spot) -> Option<Id> {
        self.by_thread[spot.thread as usize].get(spot.index as usize).copied()
    }

    pub(crate) fn event(&self, id: Id) -> &Event {
        &self.events[id as usize]
    }

    pub(crate) fn is_executed(&self, id: Id) -> bool {
        (id as usize) < self.executed
    }

    /// What an event comes after whatever it reads: what its thread had seen before.
    pub(crate) fn before(&self, spot: Spot) -> Cut {
        let mut cut = match spot.index.checked_sub(1).and_then(|index| self.at(Spot { index, ..spot })) {
            Some(previous) => self.needs[previous as usize].clone(),
            None => vec![0; self.threads.len()],
        };
        for tie in self.ties[spot.thread as usize].iter().filter(|tie| tie.index == spot.index) {
            let last = tie.count.checked_sub(1).and_then(|index| self.at(Spot { thread: tie.other, index }));
            if let Some(last) = last {
                join(&mut cut, &self.needs[last as usize]);
            }
        }
        cut
    }

    /// What is needed to read from a source.
    pub(crate) fn needs(&self, source: Source<Id>) -> Option<&Cut> {
        match source {
            Source::Event(id) => self.needs.get(id as usize),
            _ => None,
        }
    }

    /// The value of an atomic that a source leaves.
    fn value(&self, source: Source<Id>, place: u32) -> u64 {
        match source {
            Source::Event(id) => self.event(id).value,
            _ => self.first_values[place as usize],
        }
    }

    /// Number of places.
    pub(crate) fn places(&self) -> usize {
        self.first_values.len()
    }

    /// Whether all that the next event of a thread comes after by starts and joins has been done, where `done` says how
    /// many events each thread has had.
    pub(crate) fn is_free(&self, spot: Spot, done: &[u32]) -> bool {
        let mut ties = self.ties[spot.thread as usize].iter().filter(|tie| tie.index == spot.index);
        ties.all(|tie| done[tie.other as usize] >= tie.count)
    }

    /// Whether an event would write if it read from `source`, which left what it does here.
    pub(crate) fn would_write(&self, event: &Event, source: Source<Id>) -> bool {
        match event.op {
            Op::Cas if event.wanted.is_some() => event.wanted == Some(source),
            Op::Cas => self.value(source, event.place) == event.expected,
            Op::Lock | Op::TryLock => match source {
                Source::Event(s) => self.event(s).op == Op::Unlock,
                _ => true,
            },
            op => op.may_write(),
        }
    }

    /// The name of a source in other runs.
    pub(crate) fn name(&self, source: Source<Id>) -> Source<Spot> {
        match source {
            Source::Nothing => Source::Nothing,
            Source::Initial => Source::Initial,
            Source::Event(id) => Source::Event(self.event(id).spot),
        }
    }
}

/// Objects, and who wrote to each last.
#[derive(Default)]
struct Places {
    numbers: BTreeMap<u32, u32>,
    last: Vec<Source<Id>>,
    first_values: Vec<u64>,
}

impl Places {
    fn of(&mut self, object: u32, first: impl FnOnce() -> u64) -> u32 {
        let next = self.last.len() as u32;
        let number = *self.numbers.entry(object).or_insert(next);
        if number == next {
            self.last.push(Source::Initial);
            self.first_values.push(first());
        }
        number
    }
}

/// The access of an event to an atomic or a mutex.
fn main_access(record: &Record, event: usize) -> Result<Option<&Access>, String> {
    let mut main = None;
    for access in record.accesses_of(event) {
        let is_end = Object::thread(access.object).is_some() && access.kind == OpKind::Store;
        if is_end {
            continue;
        }
        // A look at the clock finds what was there from the beginning: whoever sleeps is refused.
        let is_clock = access.object == Object::Clock.raw() && access.kind == OpKind::Load;
        if Op::of(access.kind).is_none() || Object::is_hidden(access.object) && !is_clock {
            return Err(unknown(operation(access)));
        }
        if main.replace(access).is_some() {
            return Err(unknown("two operations at once"));
        }
    }
    Ok(main)
}

/// What a user calls the operation of an access.
fn operation(access: &Access) -> &'static str {
    if access.object == Object::Faults.raw() {
        "armed faults"
    } else if access.object == Object::Clock.raw() {
        "sleep"
    } else if Object::thread(access.object).is_some() && access.kind == OpKind::Load {
        "is_finished"
    } else {
        verb(access.kind)
    }
}

pub(super) fn unknown(what: &str) -> String {
    format!(
        "reads-from equivalence knows atomics, fences, mutexes, spawn and join; the program does `{what}`: explore it \
         with the equivalence `traces`"
    )
}

pub(crate) fn join(cut: &mut [u32], other: &[u32]) {
    cut.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
}
