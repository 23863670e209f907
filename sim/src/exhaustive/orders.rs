//! The schedules that a trace stands for.
//!
//! A schedule of a trace is a linear order of its events that keeps the happens-before order. The *configurations* on
//! the way are sets of events closed under what comes before: how many events each thread has had. Everything here is
//! a walk over configurations, in which the last thread is remembered where it matters:
//!
//! * [`Orders::schedules`]: how many linear orders there are;
//! * [`Orders::preemptions`]: the fewest switches away from a thread that could have gone on;
//! * [`Orders::delays`]: the fewest departures from a round-robin scheduler (Emmi, Qadeer, Rakamarić, POPL 2011).
//!
//! Whether a thread *could* go on at a configuration is not the same as whether its next event of this trace could
//! happen there: a lock that another thread takes first in this trace may be free there, and a load can always be
//! made, whatever it would read. So for operations that may have to wait the state of the object at the configuration
//! is looked at, and all others can go on as soon as their thread has come to them.
//!
//! A thread that yields, sleeps or waits for a time to pass gives way: leaving it is no preemption and no delay, as
//! elsewhere in this crate.

use std::collections::BTreeMap;

use crate::monitor::OpKind;

use super::guide::Waiting;
use super::model::{self, Kept};
use super::record::{Access, Object, Record, bit, set};

/// How many events each thread has had, packed.
type Key = [u64; 4];

/// What a thread waited to do when the run ended.
struct Wish {
    /// Events that it comes after, by thread.
    after: Vec<u32>,
    access: Access,
}

/// A thread that has events, or waits for one.
struct Actor {
    thread: u32,
    events: Vec<u32>,
    wish: Option<Wish>,
    word: usize,
    shift: u32,
}

/// The linear orders of a record's events.
pub(crate) struct Orders<'a> {
    record: &'a Record,
    /// In the order of the tree of threads.
    actors: Vec<Actor>,
    /// The actor of each thread.
    place: Vec<usize>,
    /// For each event the number of events of each actor that come before it.
    past: Vec<u32>,
    /// Likewise, as long as it has not been made: what its thread had to wait for before it came to the operation.
    hard: Vec<u32>,
}

/// A configuration, and the actor that went last.
type State = (Key, u8);

/// A linear order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Least {
    pub(crate) sum: u32,
    /// The thread of each event.
    pub(crate) threads: Vec<u32>,
}

/// A walk was given up, since there are too many configurations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooMany;

impl<'a> Orders<'a> {
    /// `None` if there are so many threads and events that their numbers do not fit.
    pub(crate) fn new(record: &'a Record, waiting: &[Waiting]) -> Option<Self> {
        let mut threads: Vec<usize> = (0..record.threads.len())
            .filter(|&t| record.threads[t].events > 0 || waiting.iter().any(|w| w.thread as usize == t))
            .collect();
        threads.sort_by_key(|&t| record.threads[t].key);
        let mut place = vec![0; record.threads.len()];
        let mut actors = Vec::with_capacity(threads.len());
        let (mut word, mut shift) = (0, 0);
        for (a, &t) in threads.iter().enumerate() {
            place[t] = a;
            let width = u32::BITS - record.threads[t].events.leading_zeros();
            if shift + width > 64 {
                (word, shift) = (word + 1, 0);
            }
            if word == 4 || a == usize::from(u8::MAX) {
                return None;
            }
            actors.push(Actor { thread: t as u32, events: Vec::new(), wish: None, word, shift });
            shift += width;
        }
        let n = actors.len();
        let mut orders = Self { record, actors, place, past: Vec::with_capacity(n * record.len()), hard: Vec::new() };
        orders.hard.reserve(n * record.len());
        for (k, event) in record.events.iter().enumerate() {
            orders.actors[orders.place[event.thread as usize]].events.push(k as u32);
            let (mut past, mut hard) = (orders.counts(record.past(k)), orders.counts(record.hard(k)));
            orders.past.append(&mut past);
            orders.hard.append(&mut hard);
        }
        for w in waiting {
            let after = orders.counts(&record.hard_of_next(w.thread));
            let place = orders.place[w.thread as usize];
            orders.actors[place].wish = Some(Wish { after, access: model::waited_for(*w) });
        }
        Some(orders)
    }

    /// The number of events of each actor in a set that contains what comes before its members.
    fn counts(&self, row: &[u64]) -> Vec<u32> {
        let mut counts = vec![0; self.actors.len()];
        for (word, &bits) in row.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let event = self.record.events[word * 64 + bits.trailing_zeros() as usize];
                let count = &mut counts[self.place[event.thread as usize]];
                *count = (*count).max(event.index + 1);
                bits &= bits - 1;
            }
        }
        counts
    }

    fn past(&self, event: u32) -> &[u32] {
        &self.past[event as usize * self.actors.len()..][..self.actors.len()]
    }

    fn hard(&self, event: u32) -> &[u32] {
        &self.hard[event as usize * self.actors.len()..][..self.actors.len()]
    }

    fn open(&self, key: &Key, counts: &mut Vec<u32>) {
        counts.clear();
        counts.extend(self.actors.iter().map(|a| {
            let width = u32::BITS - (a.events.len() as u32).leading_zeros();
            (u128::from(key[a.word] >> a.shift) & ((1 << width) - 1)) as u32
        }));
    }

    fn step(&self, key: &Key, actor: usize) -> Key {
        let mut next = *key;
        next[self.actors[actor].word] += 1 << self.actors[actor].shift;
        next
    }

    /// The next event of an actor, if it is possible at the configuration.
    fn possible(&self, counts: &[u32], actor: usize) -> bool {
        self.actors[actor].events.get(counts[actor] as usize).is_some_and(|&e| covers(counts, self.past(e)))
    }

    /// Whether a thread could go on at the configuration, whatever would come of it.
    fn goes_on(&self, counts: &[u32], actor: usize) -> bool {
        match self.actors[actor].events.get(counts[actor] as usize) {
            None => self.actors[actor].wish.as_ref().is_some_and(|w| {
                let kind = w.access.kind;
                let asleep = kind == OpKind::Wait || kind.gives_way();
                !asleep && covers(counts, &w.after) && self.would_get(counts, w.access)
            }),
            Some(&e) => {
                !gives_way(self.record, e as usize)
                    && covers(counts, self.hard(e))
                    && (covers(counts, self.past(e)) || self.could_be_made(counts, e as usize))
            }
        }
    }

    /// Whether an event's operation could be made at a configuration that lacks some of what comes before it.
    fn could_be_made(&self, counts: &[u32], event: usize) -> bool {
        let kind = self.record.events[event].kind;
        let accesses = self.record.accesses_of(event);
        match accesses.iter().find(|a| a.kind == kind && !(Object::is_hidden(a.object) && kind != OpKind::Park)) {
            Some(access) => self.would_get(counts, *access),
            // A reader that went behind a waiting writer.
            None if kind == OpKind::Read => {
                accesses.first().is_none_or(|a| self.would_get(counts, Access { kind, object: a.object & !7, ..*a }))
            }
            None => true,
        }
    }

    fn would_get(&self, counts: &[u32], mut access: Access) -> bool {
        if !may_wait(access.kind) {
            return true;
        }
        let mut done = vec![0; self.record.words];
        for (a, &count) in self.actors.iter().zip(counts) {
            a.events[..count as usize].iter().for_each(|&e| set(&mut done, e as usize));
        }
        let kept = Kept { record: self.record, until: 0, also: &done };
        match access.kind {
            OpKind::Recv => model::can_receive(&kept, &access),
            OpKind::Read => model::foresee(&kept, &mut access) && !model::is_barred(&kept, access.object),
            _ => model::foresee(&kept, &mut access),
        }
    }

    /// The number of linear orders; `None` if there are more than 2^128 or more than `limit` configurations.
    pub(crate) fn schedules(&self, limit: usize) -> Option<u128> {
        let mut level = BTreeMap::from([([0; 4], 1u128)]);
        let (mut counts, mut seen) = (Vec::new(), 1);
        for _ in 0..self.record.len() {
            let mut next: BTreeMap<Key, u128> = BTreeMap::new();
            for (key, ways) in &level {
                self.open(key, &mut counts);
                for a in (0..self.actors.len()).filter(|&a| self.possible(&counts, a)) {
                    let sum = next.entry(self.step(key, a)).or_insert(0);
                    *sum = sum.checked_add(*ways)?;
                }
            }
            seen += next.len();
            if seen > limit {
                return None;
            }
            level = next;
        }
        level.into_values().next()
    }

    /// The preemptions of the schedule that the record was made with.
    pub(crate) fn preemptions_made(&self) -> u32 {
        let (mut counts, mut last, mut sum) = (vec![0; self.actors.len()], None, 0);
        for k in 0..self.record.len() as u32 {
            let next = |a: &usize| self.actors[*a].events.get(counts[*a] as usize) == Some(&k);
            let to = (0..self.actors.len()).find(next).unwrap_or(0);
            sum += u32::from(last.is_some_and(|last| last != to && self.goes_on(&counts, last)));
            counts[to] += 1;
            last = Some(to);
        }
        sum
    }

    /// The fewest preemptions of a linear order, if they are at most `cap`.
    pub(crate) fn preemptions(&self, cap: u32, limit: usize) -> Result<Option<u32>, TooMany> {
        Ok(self.least_preempted(cap, limit)?.map(|least| least.sum))
    }

    /// A linear order with the fewest preemptions.
    pub(crate) fn least_preempted(&self, cap: u32, limit: usize) -> Result<Option<Least>, TooMany> {
        let ends: Vec<u32> = self.actors.iter().map(|a| a.events.len() as u32).collect();
        let possible = |counts: &[u32], a: usize| self.possible(counts, a);
        self.least(&ends, cap, limit, possible, |counts, last, to| {
            u32::from(last.is_some_and(|last| last != to && self.goes_on(counts, last)))
        })
    }

    /// The fewest delays of a linear order, if they are at most `cap`: the scheduler goes on with the last thread, or
    /// else with the next one in the order of the tree of threads that can go on; each one that is passed over is a
    /// delay.
    pub(crate) fn delays(&self, cap: u32, limit: usize) -> Result<Option<u32>, TooMany> {
        let ends: Vec<u32> = self.actors.iter().map(|a| a.events.len() as u32).collect();
        let n = self.actors.len();
        let possible = |counts: &[u32], a: usize| self.possible(counts, a);
        let least = self.least(&ends, cap, limit, possible, |counts, last, to| {
            let start = last.unwrap_or(0);
            (0..n).map(|i| (start + i) % n).take_while(|&u| u != to).filter(|&u| self.goes_on(counts, u)).count() as u32
        })?;
        Ok(least.map(|least| least.sum))
    }

    /// No schedule of any trace that begins with the events `of` (which must contain what comes before them) has fewer
    /// preemptions than this; `None` if they are more than `cap`.
    ///
    /// Two consecutive events of one thread between which others come, the second of a kind that never waits: in any
    /// such schedule the thread could have gone on after the first one. The fewest such gaps over all orders of the
    /// events are a bound for every trace, since further events can only open more.
    ///
    /// The events of `displaced` come behind these, whatever they do: for each a thread, the number of events that it
    /// has had before, and what it comes after.
    pub(crate) fn gaps(
        &self,
        of: &[u64],
        displaced: &[(u32, u32, Vec<u64>)],
        cap: u32,
        limit: usize,
    ) -> Result<Option<u32>, TooMany> {
        let inside = |a: &Actor| a.events.iter().take_while(|&&e| bit(of, e as usize)).count() as u32;
        let mut ends: Vec<u32> = self.actors.iter().map(inside).collect();
        let mut late: Vec<Option<(u32, Vec<u32>)>> = vec![None; ends.len()];
        for (thread, index, after) in displaced {
            let Some(a) = self.actors.iter().position(|a| a.thread == *thread) else { continue };
            // The event before must be one of them: what the thread announces behind another may be something else.
            let first = inside(&self.actors[a]);
            if *index > 0 && first == *index && self.follows_at_once(a, *index) {
                ends[a] = first + 1;
                let needed = &mut late[a].get_or_insert_with(|| (*index, vec![0; self.actors.len()])).1;
                let row = self.counts(after);
                needed.iter_mut().zip(row).for_each(|(n, r)| *n = (*n).max(r));
            }
        }
        let possible = |counts: &[u32], a: usize| match &late[a] {
            Some((index, needed)) if *index == counts[a] => covers(counts, needed),
            _ => self.possible(counts, a),
        };
        let least = self.least(&ends, cap, limit, possible, |counts, last, to| {
            let gap = last.filter(|&last| last != to && counts[last] < ends[last]);
            u32::from(gap.is_some_and(|last| self.follows_at_once(last, counts[last])))
        })?;
        Ok(least.map(|least| least.sum))
    }

    /// Whether a thread could make an event as soon as it had made the one before, in any trace.
    fn follows_at_once(&self, actor: usize, index: u32) -> bool {
        let events = &self.actors[actor].events;
        let Some(&e) = events.get(index as usize) else { return false };
        let before = events[index as usize - 1];
        let mut after = self.past(before).to_vec();
        after[actor] = index;
        let kind = self.record.events[e as usize].kind;
        let never_waits = !may_wait(kind) || self.releases_for(before as usize, e as usize);
        never_waits && !gives_way(self.record, e as usize) && covers(&after, self.hard(e))
    }

    /// Whether an event releases the lock that the next one of its thread takes, for whatever kind of access.
    fn releases_for(&self, event: usize, next: usize) -> bool {
        let kind = self.record.events[next].kind;
        let taken = self.record.accesses_of(next).iter().find(|a| a.kind == kind && !Object::is_hidden(a.object));
        let released = self.record.accesses_of(event).iter().rfind(|a| !Object::is_hidden(a.object));
        taken.zip(released).is_some_and(|(taken, released)| {
            taken.object == released.object && matches!(released.kind, OpKind::Unlock | OpKind::WriteUnlock)
        })
    }

    /// The least sum of `cost` on the way to `ends`, if it is at most `cap`.
    fn least(
        &self,
        ends: &[u32],
        cap: u32,
        limit: usize,
        possible: impl Fn(&[u32], usize) -> bool,
        cost: impl Fn(&[u32], Option<usize>, usize) -> u32,
    ) -> Result<Option<Least>, TooMany> {
        let n = self.actors.len();
        let total: u32 = ends.iter().sum();
        let first: State = ([0; 4], u8::MAX);
        // The least sum to each state, and the state before.
        let mut best: BTreeMap<State, (u32, State)> = BTreeMap::new();
        let mut stacks = vec![vec![first]];
        let (mut counts, mut now) = (Vec::new(), 0);
        while now < stacks.len() {
            let Some((key, last)) = stacks[now].pop() else {
                now += 1;
                continue;
            };
            if best.get(&(key, last)).is_some_and(|b| (b.0 as usize) < now) {
                continue;
            }
            self.open(&key, &mut counts);
            if counts.iter().sum::<u32>() == total {
                let mut threads = Vec::with_capacity(total as usize);
                let mut state = (key, last);
                while state != first {
                    threads.push(self.actors[usize::from(state.1)].thread);
                    state = best[&state].1;
                }
                threads.reverse();
                return Ok(Some(Least { sum: now as u32, threads }));
            }
            let here = (key, last);
            let last = (last != u8::MAX).then_some(usize::from(last));
            // The last thread is pushed last and so tried first: that costs nothing and often leads to the end.
            let others = (0..n).rev().filter(|&a| Some(a) != last);
            for to in others.chain(last) {
                if counts[to] >= ends[to] || !possible(&counts, to) {
                    continue;
                }
                let sum = now + cost(&counts, last, to) as usize;
                if sum > cap as usize {
                    continue;
                }
                let state = (self.step(&key, to), to as u8);
                let known = best.entry(state).or_insert((u32::MAX, here));
                if known.0 > sum as u32 {
                    *known = (sum as u32, here);
                    if stacks.len() <= sum {
                        stacks.resize_with(sum + 1, Vec::new);
                    }
                    stacks[sum].push(state);
                }
            }
            if best.len() > limit {
                return Err(TooMany);
            }
        }
        Ok(None)
    }
}

fn covers(counts: &[u32], needed: &[u32]) -> bool {
    counts.iter().zip(needed).all(|(have, need)| have >= need)
}

/// Whether an operation of this kind may have to wait.
fn may_wait(kind: OpKind) -> bool {
    matches!(kind, OpKind::Lock | OpKind::Read | OpKind::Write | OpKind::Recv | OpKind::Park)
}

/// Whether an event's thread waited for others without being blocked.
fn gives_way(record: &Record, event: usize) -> bool {
    let timed_out = |a: &Access| a.kind == OpKind::Wait && !a.success;
    let kind = record.events[event].kind;
    kind.gives_way() || kind == OpKind::Wait && record.accesses_of(event).iter().any(timed_out)
}

#[cfg(test)]
mod tests;
