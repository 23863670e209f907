//! One run of the search: repeats the schedule of an item and goes on by default.

use std::collections::BTreeMap;

use crate::exhaustive::guide::{Guide, Verdict, operation};
use crate::monitor::OpKind;
use crate::runtime::rt::{Rt, bits};

use super::execution::unknown;
use super::item::{Item, Origin};

/// Rounds after which a loop that finds the same again and again counts as one that does not give up by itself.
const PATIENCE: u32 = 64;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) item: Item,
    at: usize,
    /// Scheduled steps that each thread has left.
    left: Vec<u32>,
    /// The rounds that the schedule makes threads go round in vain have been looked at in an earlier run.
    was_tested: bool,
    alone: Option<Alone>,
    /// Threads, by number, that would go round for ever, with how many events they had when they began to.
    hopeless: BTreeMap<u32, u32>,
    /// Events that kept a promise.
    kept: Vec<usize>,
    /// Events that are not of the schedule, in the middle of it.
    inserted: Vec<usize>,
    /// The run says nothing of the item: it must be made again.
    pub(crate) is_spoilt: bool,
    /// A step of the schedule could not be made, or is of a round too many.
    pub(crate) is_impossible: bool,
    /// Why no class can be told of the run.
    pub(crate) error: Option<String>,
    /// The run ended since threads wait in loops for what others may have written later.
    pub(crate) is_blocked: bool,
}

/// A thread whose loop has found the same twice goes on alone: does it give up by itself?
#[derive(Clone, Copy, Debug)]
struct Alone {
    number: u32,
    /// How many events it had before.
    began: u32,
    /// The schedule makes it go round once more, so what it does alone is only to learn that.
    is_test: bool,
}

impl Course {
    pub(crate) fn new(item: Item, was_tested: bool) -> Self {
        let mut left = vec![0; item.threads.len()];
        item.schedule.iter().for_each(|step| left[step.thread as usize] += 1);
        Self { item, left, was_tested, ..Self::default() }
    }

    /// How many of a thread's events count: those of rounds that would be made for ever do not.
    pub(crate) fn end_of(&self, thread: u32) -> u32 {
        self.hopeless.get(&thread).copied().unwrap_or(u32::MAX)
    }

    /// Whether an event kept a promise.
    pub(crate) fn keeps_promise(&self, event: usize) -> bool {
        self.kept.binary_search(&event).is_ok()
    }

    /// Whether an event is one of the schedule.
    pub(crate) fn is_scheduled(&self, event: usize) -> bool {
        event < self.item.schedule.len() + self.inserted.len() && self.inserted.binary_search(&event).is_err()
    }

    /// The slot that goes on; `None` if the run is over.
    pub(crate) fn next_thread(&mut self, guide: &mut Guide, r: &mut Rt) -> Option<usize> {
        guide.look_for_spins(r);
        let alone = self.goes_round(guide, r);
        if self.is_impossible || self.is_spoilt {
            guide.verdict = Verdict::Infeasible;
            return None;
        }
        let slot = match (alone, self.item.schedule.get(self.at)) {
            (Some(slot), step) => {
                if step.is_some() {
                    self.inserted.push(guide.record.len());
                }
                slot
            }
            (None, Some(step)) => {
                self.at += 1;
                self.left[step.thread as usize] -= 1;
                let key = self.item.threads[step.thread as usize];
                let slot = bits(r.enabled).find(|&t| guide.key(r, t) == key);
                self.is_impossible |= slot.is_none();
                if slot.is_none() {
                    guide.verdict = Verdict::Infeasible;
                }
                slot?
            }
            (None, None) => self.by_default(guide, r)?,
        };
        guide.start(r, slot, false, 0, 0);
        Some(slot)
    }

    fn by_default(&mut self, guide: &mut Guide, r: &mut Rt) -> Option<usize> {
        let kept = self.kept_mutexes(guide, r);
        if let Some(&(slot, _)) = kept.iter().find(|(slot, _)| r.enabled >> slot & 1 == 1) {
            self.kept.push(guide.record.len());
            return Some(slot);
        }
        let (mut able, mut tries) = (Vec::new(), Vec::new());
        let hopeful: Vec<_> = bits(r.enabled).filter(|&t| !self.hopeless.contains_key(&r.number[t])).collect();
        for slot in hopeful {
            let kind = r.pending[slot].kind;
            let mutex = if matches!(kind, OpKind::Lock | OpKind::TryLock) { operation(r, slot) } else { None };
            if mutex.is_none() || kept.iter().all(|k| k.1 != mutex) {
                able.push((kind.gives_way(), guide.key(r, slot), slot));
            } else if kind == OpKind::TryLock {
                tries.push(slot);
            }
        }
        let last = guide.record.events.last().map(|e| e.thread);
        let stays = able.iter().find(|(gives_way, _, slot)| !gives_way && Some(r.number[*slot]) == last);
        let next = stays.or_else(|| able.iter().min()).map(|&(_, _, slot)| slot);
        if next.is_none() {
            return self.tries(&tries).or_else(|| {
                self.end(guide, r);
                None
            });
        }
        next
    }

    /// Nobody can go on but those who try mutexes that are kept for others, which none of them may take. That one
    /// fails, and what it finds is what there was. Of several, each could find what the others lead to: that is more
    /// than one promise says.
    fn tries(&mut self, slots: &[usize]) -> Option<usize> {
        if slots.len() > 1 {
            self.error = Some(unknown("try_lock of mutexes that others wait for, by two threads at once"));
            return None;
        }
        slots.first().copied()
    }

    /// Mutexes that are kept for a thread, which waits for them: slot and mutex.
    fn kept_mutexes(&self, guide: &Guide, r: &mut Rt) -> Vec<(usize, Option<u32>)> {
        let mut kept = Vec::new();
        for stamp in &self.item.stamps {
            let Origin::Promised { index } = stamp.origin else { continue };
            let key = self.item.threads[stamp.thread as usize];
            let waits =
                |&t: &usize| guide.key(r, t) == key && guide.record.threads[r.number[t] as usize].events == index;
            if let Some(slot) = bits(r.alive).find(waits) {
                kept.push((slot, operation(r, slot)));
            }
        }
        kept
    }

    /// The slot of a thread that goes on alone since its loop has found the same twice, in case it gives up by itself. What
    /// it finds must still be there, so this is done at once, even in the middle of the schedule.
    fn goes_round(&mut self, guide: &Guide, r: &Rt) -> Option<usize> {
        let Some(alone) = self.alone else { return self.begins_round(guide, r) };
        let slot = bits(r.enabled).find(|&t| r.number[t] == alone.number);
        let rounds = slot.and_then(|t| match r.pending[t].kind {
            OpKind::Load => Some(1),
            OpKind::Yield => Some(guide.repeated_rounds(r, t)),
            _ => None,
        });
        match rounds {
            Some(1..=PATIENCE) => return slot,
            None | Some(0) => self.is_spoilt = alone.is_test,
            // It would go on for ever. That it goes round once more before it finds something else shows nothing new.
            Some(_) if alone.is_test => self.is_impossible = true,
            Some(_) => drop(self.hopeless.insert(alone.number, alone.began)),
        }
        self.alone = None;
        None
    }

    fn begins_round(&mut self, guide: &Guide, r: &Rt) -> Option<usize> {
        let number = guide.record.events.last()?.thread;
        let slot = bits(r.enabled).find(|&t| r.number[t] == number && r.pending[t].kind == OpKind::Yield)?;
        let key = guide.key(r, slot);
        let is_test = self.item.threads.iter().zip(&self.left).any(|(&k, &left)| k == key && left > 0);
        if guide.rounds(r, slot) == 0 || self.hopeless.contains_key(&number) || is_test && self.was_tested {
            return None;
        }
        let began = guide.record.threads[number as usize].events;
        self.alone = Some(Alone { number, began, is_test });
        Some(slot)
    }

    /// Nobody can go on but those whose loops do not end. If they have seen the last of what they wait for, they never
    /// will.
    fn end(&mut self, guide: &mut Guide, r: &Rt) {
        let mut waiting = bits(r.enabled).filter(|&t| self.hopeless.contains_key(&r.number[t])).peekable();
        if waiting.peek().is_some() {
            if waiting.all(|slot| guide.rounds(r, slot) > 0) {
                guide.verdict = Verdict::Livelock;
            } else {
                self.is_blocked = true;
            }
        }
    }
}
