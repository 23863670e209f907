//! What happened in one run, as the exploration needs it: events, their accesses, and the happens-before order.
//!
//! An *event* is one step of a thread: the operation that it had announced and everything that it does until its next
//! announcement. Two events *conflict* if they access a common object in ways that do not commute: see [`Class`]. The
//! order of all conflicting events together with program order, start and end of threads, and notifications is the trace that the
//! run belongs to; `past` holds its transitive closure, kept up to date while the run goes on.

use crate::monitor::OpKind;

use super::class::Class;
use super::shape::Shape;

/// No event.
pub(crate) const NONE: u32 = u32::MAX;

/// What an access does, as far as another access could tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    /// The object: see [`Object`].
    pub(crate) object: u32,
    pub(crate) kind: OpKind,
    pub(crate) success: bool,
    /// It commutes with other accesses that only read.
    pub(crate) reads: bool,
    /// Atomics: the value found.
    pub(crate) found: u64,
    /// Atomics: the value afterwards.
    pub(crate) value: u64,
    /// Compare-and-swap: the value that it wants to find. Updates: the operand.
    pub(crate) expected: u64,
    /// Atomics: the type of the values.
    pub(crate) shape: Shape,
}

/// What is accessed: an object of the program, or one that the runtime keeps for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    /// A sync object, by its number in the run.
    Sync(u32),
    /// Whether writers wait for a lock, and whether others read; how many senders a channel has.
    Queue(u32),
    /// The `park` token of a thread, by the thread's number.
    Token(u32),
    /// Whether a thread has ended.
    End(u32),
    /// Virtual time and who sleeps.
    Clock,
    /// How many faults may still fire.
    Faults,
}

impl Object {
    /// The sync object that it belongs to.
    pub(crate) const fn sync(raw: u32) -> Option<u32> {
        if raw & 7 <= 1 { Some(raw >> 3) } else { None }
    }

    /// The thread that it belongs to.
    pub(crate) const fn thread(raw: u32) -> Option<usize> {
        match raw & 7 {
            2 | 3 => Some((raw >> 3) as usize),
            _ => None,
        }
    }

    pub(crate) const fn raw(self) -> u32 {
        match self {
            Self::Sync(n) => n << 3,
            Self::Queue(n) => n << 3 | 1,
            Self::Token(n) => n << 3 | 2,
            Self::End(n) => n << 3 | 3,
            Self::Clock => 4,
            Self::Faults => 5,
        }
    }

    /// Whether an access to it may come along with an operation on another object.
    pub(crate) const fn is_hidden(raw: u32) -> bool {
        raw & 7 != 0
    }
}

impl Access {
    /// Which other accesses it commutes with.
    pub(crate) const fn class(&self) -> Class {
        if self.reads { Class::Reads } else { Class::of_update(self.kind) }
    }

    /// Whether the access may be missing, or be another one, where its operation is done in another place: it is one
    /// that comes along.
    pub(crate) const fn is_incidental(&self) -> bool {
        !self.is_main() && self.object != Object::Faults.raw()
    }

    /// Whether it is a compare-and-swap that compares something else than numbers.
    pub(crate) fn is_opaque(&self) -> bool {
        self.kind == OpKind::Cas && self.success == (self.found != self.expected)
    }

    /// Whether it is the access of the announced operation.
    pub(crate) const fn is_main(&self) -> bool {
        use OpKind::{End, IsFinished, Park, Queue, Sleep, Unpark};
        !Object::is_hidden(self.object) || matches!(self.kind, Park | Unpark | Sleep | Queue | IsFinished | End)
    }
}

/// The places of an event's accesses, as bits: those to objects of one sort are counted by themselves, so that an access
/// that comes along in one run only does not shift the others.
pub(crate) fn places(accesses: &[Access]) -> impl Iterator<Item = (u32, &Access)> {
    const EACH: u32 = 5;
    let mut seen = [0; 8];
    accesses.iter().map(move |access| {
        let sort = access.object & 7;
        let count: &mut u32 = &mut seen[sort as usize];
        let at = (*count).min(EACH - 1);
        *count += 1;
        (1 << (sort * EACH + at), access)
    })
}

/// Whether an operation commutes with other reads of its object.
///
/// A failed compare-and-swap and a failed `try_lock` only read. Read locks and their releases commute with each other.
/// A failed `try_write` does not count as a read: it fails because of a reader, so it must stay behind that one.
pub(crate) const fn reads_only(kind: OpKind, success: bool) -> bool {
    match kind {
        OpKind::Load | OpKind::Read | OpKind::ReadUnlock | OpKind::TryRead | OpKind::Fence => true,
        OpKind::Pass | OpKind::InitRead | OpKind::InitWait | OpKind::IsFinished | OpKind::Queue => true,
        OpKind::Cas | OpKind::TryLock | OpKind::Send | OpKind::Recv | OpKind::Init => !success,
        _ => false,
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Number of the thread in this run.
    pub(crate) thread: u32,
    /// How many events its thread had before.
    pub(crate) index: u32,
    /// The operation that was announced.
    pub(crate) kind: OpKind,
    /// Objects that had been used before. These have the same numbers in all runs that begin in the same way.
    pub(crate) known: u32,
    /// The event is forced by the item that the run began with, and may not be displaced.
    pub(crate) forced: bool,
    /// The first access.
    pub(crate) first: u32,
    /// The first choice of a value.
    pub(crate) first_choice: u32,
    /// Choices of values that the item fixed; later ones of this event have alternatives that are still to be run.
    pub(crate) fixed_choices: u32,
}

/// A choice of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) options: u64,
    pub(crate) value: u8,
}

#[derive(Default)]
struct ObjectLog {
    last_write: u32,
    /// The class of the latest accesses that all commute with each other.
    class: Class,
    /// Their events.
    latest: Vec<u32>,
    /// Those just before them, which all of them come after.
    before: Vec<u32>,
    /// All accessing events in order, with how they commute.
    all: Vec<(u32, Class)>,
}

/// A thread of the run.
#[derive(Clone)]
pub(crate) struct ThreadLog {
    /// What the thread is called in every run: see [`thread_key`].
    pub(crate) key: u64,
    /// Its last event.
    pub(crate) last: u32,
    pub(crate) events: u32,
    /// How many events the run had when it was started.
    pub(crate) born: usize,
    /// Events that its next one comes after, besides its own: of its parent, of threads it joined, a notification.
    edges: Vec<u32>,
}

/// A thread's name in all runs: its place in the tree of threads. Unique up to eight generations of 254 children;
/// beyond that up to collisions of 64 bits.
pub(crate) fn thread_key(parent: u64, ordinal: u32) -> u64 {
    if parent & 0xFF == 0 && ordinal < 254 {
        let depth_bits = if parent == 0 { 64 } else { parent.trailing_zeros() & !7 };
        return parent | u64::from(ordinal + 1) << (depth_bits - 8);
    }
    crate::choice::finalise(parent.wrapping_mul(31).wrapping_add(u64::from(ordinal)) | 0xFF) | 0xFF
}

/// A step that a thread could have made until another one took it away.
#[derive(Clone)]
pub(crate) struct Prevented {
    pub(crate) thread: u32,
    /// The event after which the thread could not any more.
    pub(crate) by: usize,
    /// What the step would have come after in any case.
    pub(crate) hard: Vec<u64>,
    /// The condition variable.
    pub(crate) object: u32,
}

/// The event number `index` of a thread, or the first one after that, comes after the first `count` events of another, by
/// start or join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tie {
    pub(crate) thread: u32,
    pub(crate) index: u32,
    pub(crate) other: u32,
    pub(crate) count: u32,
}

/// The record of one run.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) events: Vec<Event>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) choices: Vec<Chosen>,
    pub(crate) threads: Vec<ThreadLog>,
    /// Timeouts that did not come, since their thread was woken before.
    pub(crate) prevented: Vec<Prevented>,
    pub(crate) ties: Vec<Tie>,
    /// Who has joined a thread, or waited for anything when the run ended: the thread, and how many events there were.
    pub(crate) waited: Vec<(u32, usize)>,
    objects: Vec<ObjectLog>,
    used: Vec<u32>,
    /// Rows of `words` words: the events before each event.
    past: Vec<u64>,
    /// Likewise, without what came through the event's own accesses.
    hard: Vec<u64>,
    pub(crate) words: usize,
}

impl Record {
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.accesses.clear();
        self.choices.clear();
        self.threads.clear();
        self.prevented.clear();
        self.ties.clear();
        self.waited.clear();
        for raw in self.used.drain(..) {
            let log = &mut self.objects[raw as usize];
            log.last_write = NONE;
            log.class = Class::Writes;
            log.latest.clear();
            log.before.clear();
            log.all.clear();
        }
        self.past.clear();
        self.hard.clear();
        self.words = self.words.max(1);
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn past(&self, event: usize) -> &[u64] {
        &self.past[event * self.words..][..self.words]
    }

    pub(crate) fn hard(&self, event: usize) -> &[u64] {
        &self.hard[event * self.words..][..self.words]
    }

    /// Whether `a` happens before `b`.
    pub(crate) fn before(&self, a: usize, b: usize) -> bool {
        bit(self.past(b), a)
    }

    pub(crate) fn accesses_of(&self, event: usize) -> &[Access] {
        let end = self.events.get(event + 1).map_or(self.accesses.len(), |e| e.first as usize);
        &self.accesses[self.events[event].first as usize..end]
    }

    /// The access of the announced operation.
    pub(crate) fn main_access(&self, event: usize) -> Option<&Access> {
        self.accesses_of(event).iter().find(|a| a.is_main())
    }

    pub(crate) fn choices_of(&self, event: usize) -> &[Chosen] {
        let end = self.events.get(event + 1).map_or(self.choices.len(), |e| e.first_choice as usize);
        &self.choices[self.events[event].first_choice as usize..end]
    }

    /// The events that access an object, in order.
    pub(crate) fn log_of(&self, object: u32) -> &[(u32, Class)] {
        self.objects.get(object as usize).map_or(&[], |o| &o.all)
    }

    pub(crate) fn thread_started(&mut self, number: u32, parent: Option<(u32, u32)>) {
        debug_assert_eq!(number as usize, self.threads.len());
        let (key, mut edges) = match parent {
            None => (0, Vec::new()),
            Some((parent, ordinal)) => {
                let parent = &self.threads[parent as usize];
                (thread_key(parent.key, ordinal), parent.edges.clone())
            }
        };
        if let Some((parent, _)) = parent {
            edges.extend(some(self.threads[parent as usize].last));
        }
        let born = self.events.len();
        self.threads.push(ThreadLog { key, last: NONE, events: 0, born, edges });
        if let Some((parent, _)) = parent {
            self.tie(number, parent);
        }
    }

    /// The next event of `thread` comes after all that `other` has done and whatever its next event would come after.
    fn tie(&mut self, thread: u32, other: u32) {
        let (index, count) = (self.threads[thread as usize].events, self.threads[other as usize].events);
        for n in 0..self.ties.len() {
            let tie = self.ties[n];
            if (tie.thread, tie.index) == (other, count) {
                self.ties.push(Tie { thread, index, ..tie });
            }
        }
        self.ties.push(Tie { thread, index, other, count });
    }

    /// The thread's next event comes after the last one of `child` and whatever that comes after.
    pub(crate) fn joined(&mut self, thread: u32, child: u32) {
        self.waited.push((thread, self.events.len()));
        let mut edges = self.threads[child as usize].edges.clone();
        edges.extend(some(self.threads[child as usize].last));
        self.threads[thread as usize].edges.append(&mut edges);
        self.tie(thread, child);
    }

    /// The thread's next event comes after the present one.
    pub(crate) fn enabled_by_present(&mut self, thread: u32) {
        let present = self.events.len() as u32;
        if present > 0 {
            self.threads[thread as usize].edges.push(present - 1);
        }
    }

    /// The write that a read of the object would see now.
    pub(crate) fn last_write(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(NONE, |o| o.last_write)
    }

    /// The thread's next event comes after everything so far.
    pub(crate) fn after_all(&mut self, thread: u32) {
        let edges: Vec<u32> = self.threads.iter().filter_map(|t| some(t.last)).collect();
        self.threads[thread as usize].edges.extend(edges);
    }

    /// The next event of a thread begins.
    pub(crate) fn begin(&mut self, thread: u32, kind: OpKind, forced: bool, fixed_choices: u32, known: u32) {
        let event = self.events.len();
        if event >= self.words * 64 {
            self.widen();
        }
        let words = self.words;
        let start = event * words;
        let log = &mut self.threads[thread as usize];
        self.past.resize(start + words, 0);
        let last = log.last;
        for k in log.edges.drain(..).chain(some(last)) {
            let (before, row) = self.past.split_at_mut(start);
            merge(row, &before[k as usize * words..][..words]);
            set(row, k as usize);
        }
        self.hard.extend_from_slice(&self.past[start..]);
        self.events.push(Event {
            thread,
            index: log.events,
            kind,
            known,
            forced,
            first: self.accesses.len() as u32,
            first_choice: self.choices.len() as u32,
            fixed_choices,
        });
        log.events += 1;
        log.last = event as u32;
    }

    #[cold]
    fn widen(&mut self) {
        let (old, new) = (self.words, self.words * 2);
        for rows in [&mut self.past, &mut self.hard] {
            let n = rows.len() / old;
            let mut wide = vec![0; n * new];
            for i in 0..n {
                wide[i * new..i * new + old].copy_from_slice(&rows[i * old..][..old]);
            }
            *rows = wide;
        }
        self.words = new;
    }

    fn object(&mut self, raw: u32) -> &mut ObjectLog {
        let i = raw as usize;
        if i >= self.objects.len() {
            self.objects.resize_with(i + 8, || ObjectLog { last_write: NONE, ..ObjectLog::default() });
        }
        if self.objects[i].all.is_empty() {
            self.used.push(raw);
        }
        &mut self.objects[i]
    }

    /// An access of the present event. Before the first event there is only one thread, so nothing needs to be noted.
    pub(crate) fn access(&mut self, access: Access) {
        let Some(event) = self.events.len().checked_sub(1) else { return };
        self.accesses.push(access);
        let words = self.words;
        self.object(access.object);
        let log = &mut self.objects[access.object as usize];
        let class = access.class();
        if !class.commutes(log.class) {
            std::mem::swap(&mut log.before, &mut log.latest);
            log.latest.clear();
            log.class = class;
        }
        // Whatever is older comes before these.
        let (before, row) = self.past.split_at_mut(event * words);
        for &k in log.before.iter().filter(|&&k| k as usize != event) {
            merge(row, &before[k as usize * words..][..words]);
            set(row, k as usize);
        }
        if log.latest.last() != Some(&(event as u32)) {
            log.latest.push(event as u32);
        }
        if !access.reads {
            log.last_write = event as u32;
        }
        match log.all.last_mut() {
            Some((last, all)) if *last == event as u32 => *all = all.joined(class),
            _ => log.all.push((event as u32, class)),
        }
    }

    /// The present event wakes `thread`, which waited with a timeout.
    pub(crate) fn prevented(&mut self, thread: u32, object: u32) {
        let Some(by) = self.events.len().checked_sub(1) else { return };
        let hard = self.hard_of_next(thread);
        self.prevented.push(Prevented { thread, by, hard, object });
    }

    pub(crate) fn chose(&mut self, options: u64, value: usize) {
        self.choices.push(Chosen { options, value: value as u8 });
    }

    /// What an event of `thread` that accesses `object` would come after, if it were the next one.
    pub(crate) fn past_of_next(&self, thread: u32, object: u32, class: Class) -> Vec<u64> {
        let mut row = vec![0; self.words];
        let log = &self.threads[thread as usize];
        for k in log.edges.iter().copied().chain(some(log.last)) {
            merge(&mut row, self.past(k as usize));
            set(&mut row, k as usize);
        }
        for &(k, other) in self.log_of(object) {
            if !class.commutes(other) {
                merge(&mut row, self.past(k as usize));
                set(&mut row, k as usize);
            }
        }
        row
    }

    /// Likewise without the object.
    pub(crate) fn hard_of_next(&self, thread: u32) -> Vec<u64> {
        self.past_of_next(thread, u32::MAX, Class::Reads)
    }
}

fn some(event: u32) -> Option<u32> {
    (event != NONE).then_some(event)
}

/// Rows made before the record was widened are shorter; what they do not have is not set.
pub(crate) fn bit(row: &[u64], i: usize) -> bool {
    row.get(i >> 6).is_some_and(|word| word >> (i & 63) & 1 == 1)
}

pub(crate) fn set(row: &mut [u64], i: usize) {
    row[i >> 6] |= 1 << (i & 63);
}

pub(crate) fn merge(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

pub(crate) fn meets(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_keys_are_places_in_the_tree() {
        let (a, b) = (thread_key(0, 0), thread_key(0, 1));
        let deep = thread_key(thread_key(a, 0), 3);
        let mut all = vec![a, b, thread_key(a, 0), thread_key(a, 1), thread_key(b, 0), deep, thread_key(0, 300)];
        assert!(a < b && a < deep && deep < b, "parents come before their children, and those before the next one");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 7);
    }
}
