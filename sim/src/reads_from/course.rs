//! One run of the search: repeats the schedule of an item and goes on by default.

use std::collections::BTreeMap;

use crate::exhaustive::guide::{Guide, Verdict, operation};
use crate::monitor::OpKind;
use crate::runtime::rt::{Rt, bits};

use super::execution::unknown;
use super::item::{Item, Origin, Round};

/// Rounds after which a loop that finds the same again and again counts as one that does not give up by itself.
const PATIENCE: u32 = 64;
/// Most steps of a thread that goes on alone.
const MAX_ALONE: usize = 4_096;

/// What the program does depends on more than what it reads.
pub(crate) const NOT_AGAIN: &str = "a run cannot be repeated: the program is not deterministic";

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) item: Item,
    at: usize,
    /// Threads, by number, whose loops never end, with how many of their events count.
    hopeless: BTreeMap<u32, u32>,
    /// A loop of which it must be known whether it ends, before the run can be made.
    pub(crate) question: Option<Round>,
    /// The run is only to learn whether the loop of this thread ends.
    asks_for: Option<u64>,
    /// What it learned, if the thread has not failed.
    pub(crate) answer: Option<bool>,
    /// Why no class can be told of the run.
    pub(crate) error: Option<String>,
    /// The run ended since threads wait in loops for what others may have written later.
    pub(crate) is_blocked: bool,
}

impl Course {
    pub(crate) fn new(item: Item) -> Self {
        Self { item, ..Self::default() }
    }

    /// A run of the schedule of `item` and then of one thread alone, to see whether its loop ends.
    pub(crate) fn asking(item: Item, thread: u64) -> Self {
        Self { item, asks_for: Some(thread), ..Self::default() }
    }

    /// How many of a thread's events count: those of rounds that would be made for ever do not.
    pub(crate) fn end_of(&self, thread: u32) -> u32 {
        self.hopeless.get(&thread).copied().unwrap_or(u32::MAX)
    }

    /// The slot that goes on; `None` if the run is over.
    pub(crate) fn next_thread(&mut self, guide: &mut Guide, r: &mut Rt) -> Option<usize> {
        guide.look_for_spins(r);
        self.meets_loop(guide, r);
        let slot = match (self.item.schedule.get(self.at), self.asks_for) {
            _ if self.question.is_some() => None,
            (Some(step), _) => {
                self.at += 1;
                let key = self.item.threads[step.thread as usize];
                let slot = bits(r.enabled).find(|&t| guide.key(r, t) == key);
                if slot.is_none() {
                    self.error = Some(String::from(NOT_AGAIN));
                }
                slot
            }
            (None, Some(key)) => self.alone(guide, r, key),
            (None, None) => self.by_default(guide, r),
        };
        guide.start(r, slot?, false, 0, 0);
        slot
    }

    fn by_default(&mut self, guide: &mut Guide, r: &mut Rt) -> Option<usize> {
        let kept = self.kept_mutexes(guide, r);
        if let Some(&(slot, _)) = kept.iter().find(|(slot, _)| r.enabled >> slot & 1 == 1) {
            return Some(slot);
        }
        let (mut able, mut tries) = (Vec::new(), Vec::new());
        let hopeful: Vec<_> = bits(r.enabled).filter(|&t| !self.hopeless.contains_key(&r.number[t])).collect();
        for slot in hopeful {
            let kind = r.pending[slot].kind;
            // One that is kept and free is taken above, so nobody else can be about to lock it.
            if kind == OpKind::TryLock && kept.iter().any(|k| k.1 == operation(r, slot)) {
                tries.push(slot);
            } else {
                able.push((kind.gives_way(), guide.key(r, slot), slot));
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

    /// A thread has found the same in two rounds of a loop. If that goes on for ever when nothing changes, it goes on no
    /// more. This must not depend on what has happened to change in this run, so it is not tried here.
    fn meets_loop(&mut self, guide: &Guide, r: &Rt) {
        let Some(number) = guide.record.events.last().map(|e| e.thread).filter(|_| self.asks_for.is_none()) else {
            return;
        };
        let yields = |&t: &usize| r.number[t] == number && r.pending[t].kind == OpKind::Yield;
        let Some(slot) = bits(r.enabled).find(yields) else { return };
        let round = Round { thread: guide.key(r, slot), index: guide.record.threads[number as usize].events };
        if guide.repeated_rounds(r, slot) == 1 && !self.hopeless.contains_key(&number) {
            match self.item.loops.iter().find(|known| known.0 == round) {
                Some((_, true)) => {}
                Some((_, false)) => drop(self.hopeless.insert(number, round.index)),
                None => self.question = Some(round),
            }
        }
    }

    /// The slot of the thread that goes on alone, until its loop has ended, or has gone round too often.
    fn alone(&mut self, guide: &Guide, r: &Rt, key: u64) -> Option<usize> {
        let slot = bits(r.enabled).find(|&t| guide.key(r, t) == key);
        let rounds = slot.filter(|&t| r.pending[t].kind == OpKind::Yield).map(|t| guide.repeated_rounds(r, t));
        let is_long = guide.record.len() > self.item.schedule.len() + MAX_ALONE;
        match (slot, rounds) {
            (None, _) | (_, Some(0)) => self.answer = Some(true),
            (_, Some(PATIENCE..)) => self.answer = Some(false),
            _ if is_long => self.answer = Some(true),
            _ => return slot,
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
