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
    /// Threads, by number, that go round and find the same, with how many events they had when they began to.
    rounds: BTreeMap<u32, u32>,
    /// Those of them that would go on for ever.
    hopeless: BTreeMap<u32, u32>,
    /// Events that kept a promise.
    kept: Vec<usize>,
    /// A step of the schedule could not be made.
    pub(crate) is_impossible: bool,
    /// Why no class can be told of the run.
    pub(crate) error: Option<String>,
    /// The run ended since threads wait in loops for what others may have written later.
    pub(crate) is_blocked: bool,
}

impl Course {
    pub(crate) fn new(item: Item) -> Self {
        Self { item, ..Self::default() }
    }

    /// How many of a thread's events count: those of rounds that would be made for ever do not.
    pub(crate) fn end_of(&self, thread: u32) -> u32 {
        self.hopeless.get(&thread).copied().unwrap_or(u32::MAX)
    }

    /// Whether an event kept a promise.
    pub(crate) fn keeps_promise(&self, event: usize) -> bool {
        self.kept.binary_search(&event).is_ok()
    }

    /// The slot that goes on; `None` if the run is over.
    pub(crate) fn next_thread(&mut self, guide: &mut Guide, r: &mut Rt) -> Option<usize> {
        guide.look_for_spins(r);
        let slot = match self.item.schedule.get(self.at) {
            Some(step) => {
                self.at += 1;
                let key = self.item.threads[step.thread as usize];
                let slot = bits(r.enabled).find(|&t| guide.key(r, t) == key);
                self.is_impossible |= slot.is_none();
                if slot.is_none() {
                    guide.verdict = Verdict::Infeasible;
                }
                slot?
            }
            None => self.by_default(guide, r)?,
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
        if let Some(slot) = self.goes_round(guide, r) {
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

    /// A thread whose loop has found the same twice: it goes on alone, in case it gives up by itself.
    fn goes_round(&mut self, guide: &Guide, r: &Rt) -> Option<usize> {
        for slot in bits(r.enabled).filter(|&t| r.pending[t].kind == OpKind::Yield) {
            let number = r.number[slot];
            let repeated = guide.repeated_rounds(r, slot);
            if repeated == 0 {
                self.rounds.remove(&number);
                continue;
            }
            if self.hopeless.contains_key(&number) {
                continue;
            }
            let began = *self.rounds.entry(number).or_insert(guide.record.threads[number as usize].events);
            if repeated <= PATIENCE {
                return Some(slot);
            }
            self.hopeless.insert(number, began);
        }
        None
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
