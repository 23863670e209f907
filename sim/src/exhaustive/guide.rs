//! The scheduler of an exhaustive run: repeats an item, judges it, and goes on as a run does by default.

use crate::monitor::OpKind;
use crate::reads_from::course::Course;
use crate::runtime::ask;
use crate::runtime::rt::{MAX_THREADS, Rt, bits};

use super::class::Class;
use super::item::Item;
use super::record::{Access, Object, Record, bit, meets, merge, set};

/// What became of the item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The run is the one that stands for the item.
    Canonical,
    /// A step of the item could not be made.
    Infeasible,
    /// Another item stands for these traces.
    Redundant,
    /// The item was repeated, but every thread that could go on would have left its part of the traces.
    Empty,
    /// The item was repeated and gone on with, but it turned out that another one stands for these traces.
    Tried,
    /// All threads wait in loops for something that nobody will change.
    Livelock,
}

/// Members of a group and whom they displace, in the present run.
pub(crate) struct Displaced {
    pub(crate) key: u64,
    pub(crate) index: u32,
    pub(crate) class: Class,
    /// As in [`super::item::Group`].
    pub(crate) along: Vec<(u32, bool)>,
    pub(crate) waits: bool,
    pub(crate) from: u32,
    /// Index into the item's groups.
    pub(crate) spec: u16,
    /// The members, as bits.
    pub(crate) members: Vec<u64>,
}

/// An operation that a thread waited to do when the run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) thread: u32,
    pub(crate) kind: OpKind,
    pub(crate) object: u32,
    /// What is accessed along with it, and whether that is only read.
    pub(crate) along: Option<(u32, bool)>,
}

/// What a thread has read since it last gave way to others.
#[derive(Clone, Default)]
struct Spin {
    /// Object and the write that was read.
    reads: Vec<(u32, u32)>,
    before: Vec<(u32, u32)>,
    impure: bool,
    /// How many rounds in a row, up to the last yield, found what the one before had found.
    rounds: u32,
    /// Left alone it goes on for ever.
    hopeless: bool,
}

/// Rounds after which a loop that nobody disturbs counts as one that does not give up by itself.
const PATIENCE: u32 = 64;

pub(crate) struct Guide {
    pub(crate) record: Record,
    pub(crate) item: Item,
    pub(crate) verdict: Verdict,
    pub(crate) waiting: Vec<Waiting>,
    /// In a run that was cut by a failure: what the threads were about to do.
    pub(crate) unmade: Vec<Waiting>,
    pub(crate) groups: Vec<Displaced>,
    /// The next event comes after all others, since it waited until nobody else could run.
    pub(crate) idle: bool,
    at: usize,
    choice: usize,
    /// Choices of the present step that the item still fixes.
    fixed: usize,
    spins: Vec<Spin>,
    judged: usize,
    /// The first event that shows that another item stands for these traces; where it is part of a run, so are they.
    pub(crate) cut: usize,
    /// The search is one for reads-from classes, which steers the run instead of the item.
    pub(crate) course: Option<Box<Course>>,
}

impl Guide {
    pub(crate) fn new(item: Item) -> Box<Self> {
        let mut guide = Box::new(Self {
            record: Record::default(),
            item: Item::default(),
            verdict: Verdict::Canonical,
            waiting: Vec::new(),
            unmade: Vec::new(),
            groups: Vec::new(),
            idle: false,
            at: 0,
            choice: 0,
            fixed: 0,
            spins: Vec::new(),
            judged: 0,
            cut: usize::MAX,
            course: None,
        });
        guide.begin(item);
        guide
    }

    /// Prepares for the next run.
    pub(crate) fn begin(&mut self, item: Item) {
        self.record.clear();
        self.verdict = Verdict::Canonical;
        self.waiting.clear();
        self.unmade.clear();
        self.groups.clear();
        self.idle = false;
        self.at = 0;
        self.choice = 0;
        self.fixed = 0;
        self.spins.clear();
        self.judged = item.moved as usize;
        self.cut = usize::MAX;
        self.course = None;
        self.item = item;
    }

    /// Number of events that the item fixed.
    pub(crate) fn base(&self) -> usize {
        self.item.steps.len()
    }

    pub(crate) fn key(&self, r: &Rt, slot: usize) -> u64 {
        self.record.threads[r.number[slot] as usize].key
    }

    /// How many rounds of waiting the thread in `slot` has made in vain, if nothing has changed since: it would make
    /// the same one again.
    pub(crate) fn rounds(&self, r: &Rt, slot: usize) -> u32 {
        let Some(spin) = self.spins.get(r.number[slot] as usize) else { return 0 };
        let round = if r.pending[slot].kind == OpKind::Yield { &spin.reads } else { &spin.before };
        let unchanged = round.iter().all(|&(object, write)| self.record.last_write(object) == write);
        if unchanged { spin.rounds } else { 0 }
    }

    /// Likewise, of a thread that is about to yield, whatever has changed since its last round ended.
    pub(crate) fn repeated_rounds(&self, r: &Rt, slot: usize) -> u32 {
        self.spins.get(r.number[slot] as usize).map_or(0, |spin| spin.rounds)
    }

    /// Whether the thread in `slot` only waits for others.
    fn stutters(&self, r: &Rt, slot: usize) -> bool {
        r.pending[slot].kind == OpKind::Yield && self.rounds(r, slot) > 0
    }

    /// A thread that was made to go round once more, of those in `able`: it goes on until it gives up.
    fn goes_round(&mut self, r: &mut Rt, able: u64) -> Option<usize> {
        let mut round = bits(able).filter(|&t| self.rounds(r, t) > 1 && !self.is_hopeless(r, t) && self.allowed(r, t));
        let slot = round.next()?;
        if self.rounds(r, slot) <= PATIENCE {
            return Some(slot);
        }
        if bits(able).any(|t| !self.stutters(r, t)) {
            // Nobody had to wait for it: the same but for rounds in vain is reached without them.
            self.verdict = Verdict::Infeasible;
            return None;
        }
        let number = r.number[slot];
        self.spins[number as usize].hopeless = true;
        self.record.events.iter_mut().rev().take_while(|e| e.thread == number).for_each(|e| e.forced = true);
        None
    }

    fn is_hopeless(&self, r: &Rt, slot: usize) -> bool {
        self.spins.get(r.number[slot] as usize).is_some_and(|s| s.hopeless)
    }

    /// The slot that goes on; `None` if the run is over, for the reason in `verdict`.
    pub(crate) fn next_thread(&mut self, r: &mut Rt) -> Option<usize> {
        // Objects are numbered when they are first looked at. Runs that begin in the same way must look in the same way.
        bits(r.alive).for_each(|t| _ = ask::operand(r, t));
        if let Some(mut course) = self.course.take() {
            let next = course.next_thread(self, r);
            self.course = Some(course);
            return next;
        }
        self.look_for_spins(r);
        self.judge(r);
        if self.verdict != Verdict::Canonical {
            return None;
        }
        if let Some(&step) = self.item.steps.get(self.at) {
            let key = self.item.threads[step.thread as usize];
            let Some(slot) = bits(r.enabled).find(|&t| self.key(r, t) == key) else {
                self.verdict = Verdict::Infeasible;
                return None;
            };
            self.at += 1;
            self.fixed = step.choices as usize;
            self.start(r, slot, step.forced, step.choices.into(), step.group);
            return Some(slot);
        }
        self.fixed = 0;
        self.by_default(r)
    }

    fn by_default(&mut self, r: &mut Rt) -> Option<usize> {
        if let Some(slot) = self.goes_round(r, r.enabled) {
            self.start(r, slot, false, 0, 0);
            return Some(slot);
        }
        if self.verdict != Verdict::Canonical {
            return None;
        }
        let able = bits(r.enabled).filter(|&t| !self.stutters(r, t)).fold(0u64, |m, t| m | 1 << t);
        if able == 0 {
            // Only waiting loops are left. One of them goes round alone, in case it gives up by itself.
            let hopeful = bits(r.enabled).filter(|&t| !self.is_hopeless(r, t));
            let Some(slot) = hopeful.min_by_key(|&t| self.key(r, t)) else {
                self.verdict = Verdict::Livelock;
                return None;
            };
            self.start(r, slot, false, 0, 0);
            return Some(slot);
        }
        let allowed = if self.groups.is_empty() {
            able
        } else {
            bits(able).filter(|&t| self.allowed(r, t)).fold(0u64, |m, t| m | 1 << t)
        };
        if allowed == 0 {
            self.verdict = Verdict::Empty;
            return None;
        }
        let last = self.record.events.last().map(|e| e.thread);
        let displaced = |t: usize| {
            let log = &self.record.threads[r.number[t] as usize];
            self.groups.iter().any(|g| g.key == log.key && g.index == log.events)
        };
        let slot = bits(allowed)
            .filter(|&t| displaced(t))
            .min_by_key(|&t| self.key(r, t))
            .or_else(|| {
                let stays = |t: &usize| Some(r.number[*t]) == last && !r.pending[*t].kind.gives_way();
                bits(allowed).find(stays)
            })
            .or_else(|| bits(allowed).min_by_key(|&t| (r.pending[t].kind.gives_way(), self.key(r, t))))?;
        self.start(r, slot, false, 0, 0);
        Some(slot)
    }

    pub(crate) fn start(&mut self, r: &mut Rt, slot: usize, forced: bool, choices: u32, group: u16) {
        let number = r.number[slot];
        let kind = r.pending[slot].kind;
        if std::mem::take(&mut self.idle) {
            self.record.after_all(number);
        }
        self.record.begin(number, kind, forced, choices, r.objects);
        let event = self.record.len() - 1;
        if let Some(spec) = group.checked_sub(1) {
            let g = &self.item.groups[spec as usize];
            let key = self.item.threads[g.thread as usize];
            let open = |t: &super::record::ThreadLog| t.key == key && t.events == g.index;
            if self.record.threads.iter().any(open) {
                let words = self.record.words;
                let at = match self.groups.iter().position(|d| d.spec == spec) {
                    Some(at) => at,
                    None => {
                        let members = vec![0; words];
                        let (index, class, waits, along, from) = (g.index, g.class, g.waits, g.along.clone(), g.from);
                        self.groups.push(Displaced { key, index, class, along, waits, from, spec, members });
                        self.groups.len() - 1
                    }
                };
                let members = &mut self.groups[at].members;
                members.resize(words, 0);
                set(members, event);
            }
        }
    }

    /// Whether the thread in `slot` may go on without bringing another event before one that is displaced already.
    fn allowed(&self, r: &mut Rt, slot: usize) -> bool {
        let mine = accesses(r, slot, Class::of_kind(r.pending[slot].kind));
        self.groups.iter().all(|g| {
            let Some(p) = self.open(r, g).filter(|&p| p != slot) else { return true };
            let theirs = accesses(r, p, g.class);
            let clash =
                |&(a, class)| theirs.iter().flatten().any(|&(b, other)| a == b && !Class::commutes(class, other));
            let past = |&(object, class): &(u32, Class)| self.record.past_of_next(r.number[slot], object, class);
            let mut mine = mine.iter().flatten();
            !mine.clone().any(clash) || mine.any(|access| meets(&past(access), &g.members))
        })
    }

    /// The slot of the thread whose event is displaced by a group, if it has not made up for it yet.
    fn open(&self, r: &Rt, g: &Displaced) -> Option<usize> {
        bits(r.alive).find(|&t| {
            let log = &self.record.threads[r.number[t] as usize];
            let other = g.waits && r.pending[t].kind != OpKind::Wait;
            log.key == g.key && log.events == g.index && !other
        })
    }

    /// Looks at the events of the item that have been made: is this run the one that stands for them?
    fn judge(&mut self, r: &mut Rt) {
        let base = self.base();
        while self.judged < self.record.len() && self.verdict == Verdict::Canonical {
            let x = self.judged;
            self.judged += 1;
            let own = self.item.steps.get(x).map_or(0, |s| s.group);
            for g in &self.groups {
                if g.spec + 1 == own {
                    continue;
                }
                let Some(p) = self.open(r, g) else { continue };
                let theirs = accesses(r, p, g.class);
                let with = |a: &Access| theirs.iter().flatten().any(|&(b, c)| a.object == b && !a.class().commutes(c));
                let clash = self.record.accesses_of(x).iter().any(with);
                if clash && x < base && !meets(self.record.past(x), &g.members) && !bit(&g.members, x) {
                    self.verdict = Verdict::Redundant;
                }
            }
            self.judge_made_up(x);
            if x + 1 == base {
                self.judge_heads();
            }
        }
    }

    /// The run is over, whatever became of its threads.
    pub(crate) fn end(&mut self) {
        while self.judged < self.record.len() {
            self.judged += 1;
            self.judge_made_up(self.judged - 1);
        }
        if matches!(self.verdict, Verdict::Canonical | Verdict::Livelock) && self.cut < self.record.len() {
            self.verdict = Verdict::Tried;
        }
    }

    fn judge_made_up(&mut self, event: usize) {
        if !self.made_up_well(event) {
            self.cut = self.cut.min(event);
            if event < self.base() && self.verdict == Verdict::Canonical {
                self.verdict = Verdict::Redundant;
            }
        }
    }

    /// Looks at an event that makes up for displaced ones: its heads must be before it, and nobody else that was in the
    /// way of what was displaced. What comes along with an operation may be another thing in another place, so this
    /// cannot be told before.
    fn made_up_well(&self, event: usize) -> bool {
        let made = self.record.events[event];
        let key = self.record.threads[made.thread as usize].key;
        let past = self.record.past(event);
        self.groups.iter().filter(|g| g.key == key && g.index == made.index).all(|g| {
            let heads_before = g.members.iter().zip(past).all(|(m, p)| m & !p == 0);
            let in_the_way = |y: usize| {
                let clashes = |a: &Access| g.along.iter().any(|&(o, reads)| a.object == o && !(a.reads && reads));
                bit(past, y)
                    && !bit(&g.members, y)
                    && !meets(self.record.past(y), &g.members)
                    && self.record.accesses_of(y).iter().any(clashes)
            };
            heads_before && !(g.from as usize..event).any(in_the_way)
        })
    }

    /// The newest group: its members conflict with the displaced event, none comes after another, and all that was
    /// moved comes before one of them.
    fn judge_heads(&mut self) {
        let (base, heads, moved) = (self.base(), self.item.heads as usize, self.item.moved as usize);
        if heads >= base {
            return;
        }
        let mut needed = vec![0; self.record.words];
        for x in heads..base {
            merge(&mut needed, self.record.past(x));
            if !self.item.conflicts[x - heads].is_in(self.record.accesses_of(x)) {
                self.verdict = Verdict::Redundant;
            }
        }
        let comparable = (heads..base).any(|x| bit(&needed, x));
        let unneeded = (moved..heads).any(|x| !bit(&needed, x));
        if comparable || unneeded {
            self.verdict = Verdict::Redundant;
        }
    }

    /// A choice of a thread, by its place among the possible ones: slots are given in the order of starting.
    pub(crate) fn choose_thread(&mut self, r: &Rt, options: u64) -> usize {
        let mut slots: Vec<usize> = bits(options).collect();
        slots.sort_by_key(|&slot| self.key(r, slot));
        slots[self.choose((1 << slots.len()) - 1)]
    }

    /// A choice of a value.
    pub(crate) fn choose(&mut self, options: u64) -> usize {
        let mut value = options.trailing_zeros() as usize;
        if self.fixed > 0 {
            self.fixed -= 1;
            match self.item.choices.get(self.choice) {
                Some(&fixed) if options >> fixed & 1 == 1 => value = fixed.into(),
                _ => self.verdict = Verdict::Infeasible,
            }
            self.choice += 1;
        }
        if !self.record.events.is_empty() {
            self.record.chose(options, value);
        }
        value
    }

    /// The run is over; nobody has been unwound yet.
    pub(crate) fn stop(&mut self, r: &mut Rt) {
        self.judge(r);
        if self.verdict == Verdict::Canonical && self.at < self.item.steps.len() {
            self.verdict = Verdict::Infeasible;
        }
        self.waiting = announced(r);
        // Whoever is left waits for good.
        let events = self.record.len();
        self.record.waited.extend(bits(r.alive).map(|t| (r.number[t], events)));
    }

    /// A failure cuts the run; nobody has been unwound yet.
    pub(crate) fn cut(&mut self, r: &mut Rt) {
        if self.waiting.is_empty() && self.unmade.is_empty() {
            self.unmade = announced(r);
        }
    }

    /// The thread that has just run announces a yield: has it only read what it had read the round before?
    pub(crate) fn look_for_spins(&mut self, r: &Rt) {
        let Some(last) = self.record.events.last() else { return };
        let (number, event) = (last.thread, self.record.len() - 1);
        let kind = last.kind;
        let n = number as usize;
        let polls = matches!(kind, OpKind::Load | OpKind::Cas | OpKind::TryLock | OpKind::TryRead);
        if polls || self.spins.len() > n {
            if self.spins.len() <= n {
                self.spins.resize_with(n + 1, Spin::default);
            }
            let spin = &mut self.spins[n];
            if kind != OpKind::Yield {
                let fails = self.record.main_access(event).is_some_and(|a| !a.success);
                for a in self.record.accesses_of(event) {
                    if fails && !a.is_main() {
                        // Looking for writers, or whether a fault fires: neither leaves anything behind.
                        continue;
                    }
                    spin.impure |= !a.reads;
                    spin.reads.push((a.object, self.record.last_write(a.object)));
                }
            }
            let Some(slot) = bits(r.alive).find(|&t| r.number[t] == number) else { return };
            if kind == OpKind::Yield {
                // The round that begins is compared with the one before.
                spin.before = std::mem::take(&mut spin.reads);
                if spin.impure {
                    spin.before.clear();
                    spin.impure = false;
                }
            }
            if r.pending[slot].kind == OpKind::Yield {
                if !spin.impure && !spin.reads.is_empty() && spin.reads == spin.before {
                    spin.rounds += 1;
                } else {
                    spin.rounds = 0;
                    spin.hopeless = false;
                }
            }
        }
    }
}

/// All announced operations on objects.
fn announced(r: &mut Rt) -> Vec<Waiting> {
    let mut all = Vec::new();
    for slot in bits(r.alive) {
        if let Some(object) = operation(r, slot) {
            let along = along(r, slot);
            all.push(Waiting { thread: r.number[slot], kind: r.pending[slot].kind, object, along });
        }
    }
    all
}

/// What an announced operation will access, as far as that is certain, if its own object is one of `class` for it.
fn accesses(r: &mut Rt, slot: usize, class: Class) -> [Option<(u32, Class)>; 2] {
    let along = along(r, slot).map(|(object, reads)| (object, Class::reading(reads)));
    [operation(r, slot).map(|object| (object, class)), along]
}

/// What an announced operation accesses besides its object, and whether it only reads that.
fn along(r: &mut Rt, slot: usize) -> Option<(u32, bool)> {
    let kind = r.pending[slot].kind;
    let settings = r.settings;
    let number = ask::operand(r, slot);
    match kind {
        OpKind::Read if settings.queues => Some((Object::Queue(number?).raw(), r.held[slot] == 0)),
        OpKind::TryRead if settings.queues => Some((Object::Queue(number?).raw(), false)),
        OpKind::Choose | OpKind::Wait if settings.spurious_wakeups > 0 => Some((Object::Faults.raw(), false)),
        OpKind::Cas if settings.weak_cas_failures > 0 => Some((Object::Faults.raw(), false)),
        _ => None,
    }
}

/// The object of an announced operation.
pub(crate) fn operation(r: &mut Rt, slot: usize) -> Option<u32> {
    let pending = r.pending[slot];
    match pending.kind {
        OpKind::Park | OpKind::Unpark if pending.at < MAX_THREADS => Some(Object::Token(r.number[pending.at]).raw()),
        OpKind::Sleep => Some(Object::Clock.raw()),
        OpKind::IsFinished | OpKind::End => Some(Object::End(r.number[pending.at]).raw()),
        OpKind::Queue => Some(Object::Queue(ask::operand(r, slot)?).raw()),
        OpKind::Load if pending.at < MAX_THREADS => Some(Object::Clock.raw()),
        _ => {
            let number = ask::operand(r, slot)?;
            Some(Object::Sync(number).raw())
        }
    }
}
