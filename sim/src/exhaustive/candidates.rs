//! What a run shows of traces that other runs stand for.
//!
//! For each event `j` that the run made by default (and each operation that its thread waited for in vain at the end)
//! and each earlier event `i` of another thread that it could have come before, there is a family of items: the run
//! up to `i`, then what `j` needs of the rest, then `j` and possibly other events that also could have come before
//! `i` (the *heads*). Which earlier accesses `j` keeps before it where it has a choice, and which other events go with
//! it, are the members of the family.
//!
//! The cursor goes through all families of a run one item at a time, so that the exploration holds one cursor for each
//! level of its depth and nothing else.

use crate::monitor::OpKind;

use super::class::Class;
use super::guide::{Displaced, Guide, Waiting};
use super::item::{Conflict, Group, Item, Step};
use super::model::{self, Kept};
use super::record::{Access, Object, Record, bit, meets, merge, places, set};

/// A finished run, as far as the exploration still needs it.
pub(crate) struct Run {
    pub(crate) record: Record,
    pub(crate) item: Item,
    groups: Vec<Displaced>,
    waiting: Vec<Waiting>,
    /// In a run that was cut: what the threads were about to do.
    unmade: Vec<Waiting>,
    base: usize,
    cut: usize,
    cursor: Cursor,
    given: u64,
}

#[derive(Default)]
struct Cursor {
    stage: Stage,
    /// Which event (or, beyond the last, which waiting operation) is to come earlier.
    j: usize,
    /// Events that it could come before, still to be looked at.
    targets: Vec<u32>,
    i: usize,
    soft: Vec<u32>,
    extra: Vec<Mover>,
    ns: u64,
    nx: u64,
    // Stage `Choices`.
    choice: usize,
    option: u32,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Choices,
    NextEvent,
    NextTarget,
    Family,
    Done,
}

/// An event, or an operation waited for, that is to come earlier.
#[derive(Clone)]
struct Mover {
    thread: u32,
    /// The event; past the last one for an operation waited for.
    event: usize,
    /// Only events before this one can come before it.
    end: usize,
    hard: Vec<u64>,
    accesses: Vec<Access>,
}

impl Run {
    pub(crate) fn of(guide: &mut Guide) -> Self {
        let base = guide.base();
        let mut waiting = std::mem::take(&mut guide.waiting);
        waiting.sort_by_key(|w| guide.record.threads[w.thread as usize].key);
        Self {
            record: std::mem::take(&mut guide.record),
            item: std::mem::take(&mut guide.item),
            groups: std::mem::take(&mut guide.groups),
            waiting,
            unmade: std::mem::take(&mut guide.unmade),
            base,
            cut: guide.cut,
            cursor: Cursor::default(),
            given: 0,
        }
    }

    /// How many items it has shown.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }

    /// What threads had announced when the run ended.
    pub(crate) fn wishes(&self) -> &[Waiting] {
        if self.unmade.is_empty() { &self.waiting } else { &self.unmade }
    }

    /// The events that the groups of its item displace: thread, number of events before it, what brought before it.
    pub(crate) fn displaced(&self) -> Vec<(u32, u32, Vec<u64>)> {
        let numbers = |key| self.record.threads.iter().position(|t| t.key == key);
        let row = |g: &Displaced| {
            let mut row = g.members.clone();
            row.resize(self.record.words, 0);
            for x in (0..self.base).filter(|&x| bit(&g.members, x)) {
                merge(&mut row, self.record.past(x));
            }
            row
        };
        self.groups.iter().filter_map(|g| Some((numbers(g.key)? as u32, g.index, row(g)))).collect()
    }

    /// The next item that this run shows.
    pub(crate) fn next_item(&mut self) -> Option<Item> {
        let mut cursor = std::mem::take(&mut self.cursor);
        let item = loop {
            match cursor.stage {
                Stage::Choices => match self.next_choice(&mut cursor) {
                    Some(item) => break Some(item),
                    None => {
                        cursor.stage = Stage::NextEvent;
                        cursor.j = self.base;
                    }
                },
                Stage::NextEvent => {
                    if cursor.j >= self.record.len() + self.waiting.len() + self.record.prevented.len() {
                        cursor.stage = Stage::Done;
                        continue;
                    }
                    self.find_targets(&mut cursor);
                    cursor.stage = Stage::NextTarget;
                }
                Stage::NextTarget => match cursor.targets.pop() {
                    None => {
                        cursor.j += 1;
                        cursor.stage = Stage::NextEvent;
                    }
                    Some(i) => {
                        cursor.i = i as usize;
                        self.open_family(&mut cursor);
                        cursor.stage = Stage::Family;
                    }
                },
                Stage::Family => match self.next_member(&mut cursor) {
                    Some(item) => break Some(item),
                    None => cursor.stage = Stage::NextTarget,
                },
                Stage::Done => break None,
            }
        };
        self.cursor = cursor;
        self.given += u64::from(item.is_some());
        item
    }

    /// The item of the next other value of a choice.
    fn next_choice(&self, cursor: &mut Cursor) -> Option<Item> {
        while cursor.j < self.record.len().min(self.cut) {
            let event = self.record.events[cursor.j];
            let choices = self.record.choices_of(cursor.j);
            cursor.choice = cursor.choice.max(event.fixed_choices as usize);
            while let Some(chosen) = choices.get(cursor.choice) {
                while cursor.option < 64 {
                    let value = cursor.option;
                    cursor.option += 1;
                    if chosen.options >> value & 1 == 1 && value != u32::from(chosen.value) {
                        return Some(self.item_of_choice(cursor.j, cursor.choice, value as u8));
                    }
                }
                cursor.option = 0;
                cursor.choice += 1;
            }
            cursor.choice = 0;
            cursor.j += 1;
        }
        None
    }

    fn item_of_choice(&self, event: usize, choice: usize, value: u8) -> Item {
        let mut item = self.beginning(event);
        let mine = self.record.choices_of(event);
        item.choices.extend(mine[..choice].iter().map(|c| c.value));
        item.choices.push(value);
        let thread = item.thread(self.key(self.record.events[event].thread));
        let choices = choice as u16 + 1;
        if event < self.base {
            // A head: the other heads of its group stay.
            item.groups = self.item.groups.clone();
            item.steps = self.item.steps[..event].to_vec();
            item.threads = self.item.threads.clone();
            item.steps.push(Step { choices, ..self.item.steps[event] });
            item.steps.extend(self.item.steps[event + 1..].iter().map(|s| Step { choices: 0, ..*s }));
            for (x, step) in item.steps.iter_mut().enumerate().take(event) {
                step.choices = self.record.choices_of(x).len() as u16;
            }
            item.moved = self.item.moved;
            item.heads = self.item.heads;
            item.conflicts = self.item.conflicts.clone();
        } else {
            item.moved = event as u32;
            item.heads = event as u32 + 1;
            item.steps.push(Step { thread, choices, forced: true, group: 0 });
        }
        item
    }

    fn key(&self, thread: u32) -> u64 {
        self.record.threads[thread as usize].key
    }

    /// The run up to an event, with the groups that lie in it.
    fn beginning(&self, end: usize) -> Item {
        let mut item = Item::default();
        let mut number = vec![0u16; self.groups.len()];
        for (g, number) in self.groups.iter().zip(&mut number) {
            let inside = !(end..self.base.max(end)).any(|x| x < self.record.len() && bit(&g.members, x));
            if inside {
                let thread = item.thread(g.key);
                let filler = self.filler(g);
                let class = match filler {
                    Some(d) if d >= end => self.record.main_access(d).map_or(g.class, Access::class),
                    _ => g.class,
                };
                item.groups.push(Group {
                    thread,
                    index: g.index,
                    class,
                    along: g.along.clone(),
                    waits: g.waits,
                    from: g.from,
                });
                *number = item.groups.len() as u16;
            }
        }
        for x in 0..end {
            let event = self.record.events[x];
            let choices = self.record.choices_of(x);
            item.choices.extend(choices.iter().map(|c| c.value));
            let group = self.groups.iter().zip(&number).find(|(g, _)| bit(&g.members, x)).map_or(0, |(_, n)| *n);
            let thread = item.thread(self.key(event.thread));
            item.steps.push(Step { thread, choices: choices.len() as u16, forced: event.forced, group });
        }
        item
    }

    /// The event by which the displaced thread made up for its displacement.
    fn filler(&self, g: &Displaced) -> Option<usize> {
        let thread = self.record.threads.iter().position(|t| t.key == g.key)?;
        self.record.events.iter().position(|e| e.thread as usize == thread && e.index == g.index)
    }

    fn mover(&self, j: usize) -> Mover {
        if j < self.record.len() {
            return Mover {
                thread: self.record.events[j].thread,
                event: j,
                end: j,
                hard: self.record.hard(j).to_vec(),
                accesses: self.record.accesses_of(j).to_vec(),
            };
        }
        let Some(&w) = self.waiting.get(j - self.record.len()) else {
            let p = &self.record.prevented[j - self.record.len() - self.waiting.len()];
            let (thread, hard) = (p.thread, p.hard.clone());
            return Mover { thread, event: j, end: p.by + 1, hard, accesses: model::timeout(p.object) };
        };
        Mover {
            thread: w.thread,
            event: j,
            end: self.record.len(),
            hard: self.record.hard_of_next(w.thread),
            accesses: model::waited_for(w),
        }
    }

    fn find_targets(&self, cursor: &mut Cursor) {
        cursor.targets.clear();
        let j = self.mover(cursor.j);
        for a in &j.accesses {
            let mine = Class::of_kind(a.kind);
            for &(i, class) in self.record.log_of(a.object) {
                let at = i as usize;
                if at >= j.end || at > self.cut {
                    break;
                }
                let other = &self.record.events[at];
                let out = other.thread == j.thread || other.forced || bit(&j.hard, at) || class.commutes(mine);
                if !out && !cursor.targets.contains(&i) {
                    cursor.targets.push(i);
                }
            }
        }
    }

    fn open_family(&self, cursor: &mut Cursor) {
        let (i, j) = (cursor.i, self.mover(cursor.j));
        let end = cursor.j.min(self.record.len());
        let target = &self.record.events[i];
        let goal = self.record.accesses_of(i);
        cursor.extra.clear();
        for k in i + 1..end {
            let mine = self.record.accesses_of(k);
            if mine.is_empty() {
                continue;
            }
            let thread = self.record.events[k].thread;
            let free = !self.record.events[k].forced && thread != target.thread && thread != j.thread;
            if free && !bit(self.record.hard(k), i) && may_go_along(mine, &j.accesses, goal) {
                cursor.extra.push(self.mover(k));
            }
        }
        for w in self.record.len()..cursor.j {
            let other = self.mover(w);
            let free = other.thread != target.thread && other.thread != j.thread;
            if free && !bit(&other.hard, i) && may_go_along(&other.accesses, &j.accesses, goal) {
                cursor.extra.push(other);
            }
        }
        cursor.ns = 0;
        cursor.nx = 0;
    }

    /// Earlier accesses that the heads may keep before them, or not.
    fn find_soft(&self, cursor: &mut Cursor, heads: &[&Mover]) {
        let i = cursor.i;
        let mut soft = std::mem::take(&mut cursor.soft);
        soft.clear();
        for k in i + 1..cursor.j.min(self.record.len()) {
            let mine = self.record.accesses_of(k);
            let chosen = heads.iter().any(|h| {
                k < h.end
                    && !bit(&h.hard, k)
                    && mine.iter().any(|a| {
                        let conflicts =
                            |b: &Access| a.object == b.object && !a.class().commutes(Class::of_kind(b.kind));
                        h.accesses.iter().any(conflicts)
                    })
            });
            if chosen && !self.record.before(i, k) {
                soft.push(k as u32);
            }
        }
        cursor.soft = soft;
    }

    fn next_member(&self, cursor: &mut Cursor) -> Option<Item> {
        let j = self.mover(cursor.j);
        // Subsets of more than 63 are not reached in any time.
        let extra_end = 1u64 << cursor.extra.len().min(63);
        let extra = std::mem::take(&mut cursor.extra);
        let mut found = None;
        while cursor.nx < extra_end && found.is_none() {
            let nx = cursor.nx;
            let heads: Vec<&Mover> =
                extra.iter().enumerate().filter(|(b, _)| nx >> b & 1 == 1).map(|(_, m)| m).chain([&j]).collect();
            if cursor.ns == 0 {
                self.find_soft(cursor, &heads);
            }
            let soft_end = 1u64 << cursor.soft.len().min(63);
            found = self.item(cursor.i, &cursor.soft, cursor.ns, &heads);
            cursor.ns += 1;
            if cursor.ns == soft_end {
                cursor.ns = 0;
                cursor.nx += 1;
            }
        }
        cursor.extra = extra;
        found
    }

    /// The item in which `heads` come before event `i`, if it stands for traces that no other item stands for.
    fn item(&self, i: usize, soft: &[u32], ns: u64, heads: &[&Mover]) -> Option<Item> {
        let record = &self.record;
        let words = record.words;
        let mut needed = vec![0; words];
        for h in heads {
            merge(&mut needed, &h.hard);
        }
        for (b, &k) in soft.iter().enumerate() {
            if ns >> b & 1 == 1 {
                merge(&mut needed, record.past(k as usize));
                set(&mut needed, k as usize);
            }
        }
        if bit(&needed, i) || heads.iter().any(|h| h.event < record.len() && bit(&needed, h.event)) {
            return None;
        }
        // Each set of earlier accesses once.
        if soft.iter().enumerate().any(|(b, &k)| (ns >> b & 1 == 1) != bit(&needed, k as usize)) {
            return None;
        }
        if (i + 1..self.base).any(|x| record.events[x].forced && !bit(&needed, x)) {
            return None;
        }
        if heads.iter().enumerate().any(|(n, h)| heads[..n].iter().any(|other| other.thread == h.thread)) {
            return None;
        }
        let kept = Kept { record, until: i, also: &needed };
        let conflicts = self.predict(i, &kept, heads)?;

        let mut item = self.beginning(i);
        item.moved = i as u32;
        let end = heads.iter().map(|h| h.end).max().unwrap_or(0).min(record.len());
        for k in i + 1..end {
            if bit(&needed, k) {
                let choices = record.choices_of(k);
                item.choices.extend(choices.iter().map(|c| c.value));
                let thread = item.thread(self.key(record.events[k].thread));
                item.steps.push(Step { thread, choices: choices.len() as u16, forced: true, group: 0 });
            }
        }
        item.heads = item.steps.len() as u32;
        let target = record.events[i];
        let thread = item.thread(self.key(target.thread));
        let goal = record.accesses_of(i);
        let class = record.main_access(i).map_or(Class::Reads, Access::class);
        // What is younger has another number in another run.
        let lasting = |a: &&Access| {
            Object::thread(a.object).is_none_or(|n| record.threads[n].born <= i)
                && Object::sync(a.object).is_none_or(|n| n < target.known)
        };
        let along = goal.iter().filter(|a| !a.is_main()).filter(lasting).map(|a| (a.object, a.reads)).collect();
        item.groups.push(Group {
            thread,
            index: target.index,
            class,
            along,
            waits: target.kind == OpKind::Wait,
            from: i as u32,
        });
        let group = item.groups.len() as u16;
        for h in heads {
            let thread = item.thread(self.key(h.thread));
            item.steps.push(Step { thread, choices: 0, forced: true, group });
        }
        item.conflicts = conflicts;
        Some(item)
    }

    /// Whether the heads could be executed there and whether the run would be the one to stand for its traces, as far
    /// as that can be told beforehand. The run itself has the last word.
    fn predict(&self, i: usize, kept: &Kept<'_>, heads: &[&Mover]) -> Option<Vec<Conflict>> {
        let goal = self.record.accesses_of(i);
        let words = self.record.words;
        let mut covered = vec![0; words];
        let mut conflicts = Vec::with_capacity(heads.len());
        let mut foreseen: Vec<Vec<Access>> = Vec::with_capacity(heads.len());
        for h in heads {
            let mut past = h.hard.clone();
            let mut accesses = h.accesses.clone();
            let mut conflict = Conflict::default();
            if !accesses.iter_mut().all(|a| model::foresee(kept, a)) {
                return None;
            }
            for (place, a) in places(&accesses) {
                for &(k, class) in self.record.log_of(a.object) {
                    let k = k as usize;
                    if kept.has(k) && !class.commutes(a.class()) {
                        merge(&mut past, self.record.past(k));
                        set(&mut past, k);
                    }
                }
                let conflicts = |g: &&Access| g.object == a.object && !g.class().commutes(Class::of_kind(a.kind));
                for g in goal.iter().filter(conflicts) {
                    *(if g.reads { &mut conflict.writing } else { &mut conflict.always }) |= place;
                }
            }
            if !conflict.is_in(&accesses) {
                return None;
            }
            if !self.leaves_in_place(i, &past, &accesses, self.finds_the_same(kept, h)) {
                return None;
            }
            merge(&mut covered, &past);
            conflicts.push(conflict);
            foreseen.push(accesses);
        }
        for (n, a) in foreseen.iter().enumerate() {
            let certain = |accesses: &[Access]| !accesses.iter().any(|a| model::is_uncertain(a.kind));
            if foreseen[..n].iter().any(|b| certain(a) && certain(b) && clash(a, b)) {
                return None;
            }
        }
        let moved = (i + 1..self.record.len()).filter(|&k| bit(kept.also, k));
        for k in moved {
            if !bit(&covered, k) {
                return None;
            }
        }
        Some(conflicts)
    }

    /// Whether a head finds its object as it did in this run, so that it does the same.
    fn finds_the_same(&self, kept: &Kept<'_>, head: &Mover) -> bool {
        let Some(main) = head.accesses.iter().find(|a| a.is_main()) else { return true };
        if model::tells_nothing(main.kind) {
            return true;
        }
        let before = self.record.log_of(main.object).iter().take_while(|(k, _)| (*k as usize) < head.event);
        head.event < self.record.len()
            && before.into_iter().all(|&(k, class)| class.commutes(main.class()) || kept.has(k as usize))
    }

    /// Whether a head does not come before another displaced event, unless its displacement is what it comes after.
    /// `same` says that its accesses are certain.
    fn leaves_in_place(&self, i: usize, past: &[u64], accesses: &[Access], same: bool) -> bool {
        self.groups.iter().all(|g| {
            if (i..self.base).any(|x| bit(&g.members, x)) {
                return true;
            }
            match self.filler(g) {
                Some(d) if d == i && same && along(g, accesses) && !meets(past, &g.members) => false,
                Some(d) if d >= i => {
                    let main = self.record.main_access(d);
                    !clash(main.map_or(&[], std::slice::from_ref), accesses) || meets(past, &g.members)
                }
                _ => true,
            }
        })
    }
}

/// Whether an event may come before the target together with the one that is looked at: it shares an object with the
/// target, and where both work on the same object, both may turn out to read only.
fn may_go_along(mine: &[Access], j: &[Access], goal: &[Access]) -> bool {
    let reaches = mine.iter().any(|a| goal.iter().any(|g| g.object == a.object));
    let apart = |a: &Access, b: &Access| {
        a.object != b.object
            || a.is_incidental()
            || b.is_incidental()
            || model::may_read(a.kind) && model::may_read(b.kind)
            || Class::of_kind(a.kind).commutes(Class::of_kind(b.kind))
    };
    reaches && mine.iter().all(|a| j.iter().all(|b| apart(a, b)))
}

/// Whether accesses conflict with what came along with a displaced event.
fn along(g: &Displaced, accesses: &[Access]) -> bool {
    accesses.iter().any(|a| g.along.iter().any(|&(object, reads)| a.object == object && !(a.reads && reads)))
}

/// Whether operations conflict wherever they are done.
fn clash(a: &[Access], b: &[Access]) -> bool {
    a.iter().any(|a| {
        let conflicts = |b: &Access| a.object == b.object && !a.class().commutes(b.class());
        !a.is_incidental() && b.iter().any(|b| !b.is_incidental() && conflicts(b))
    })
}
