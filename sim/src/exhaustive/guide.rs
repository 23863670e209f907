//! The scheduler of an exhaustive run: repeats an item, judges it, and goes on as a run does by default.

use crate::monitor::OpKind;
use crate::runtime::ask;
use crate::runtime::rt::{MAX_THREADS, Rt, bits};

use super::item::Item;
use super::record::{Access, Object, Record, bit, meets, merge, reads_only, set};

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
    /// All threads wait in loops for something that nobody will change.
    Livelock,
}

/// Members of a group and whom they displace, in the present run.
pub(crate) struct Displaced {
    pub(crate) key: u64,
    pub(crate) index: u32,
    pub(crate) reads: bool,
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
}

/// What a thread has read since it last gave way to others.
#[derive(Clone, Default)]
struct Spin {
    /// Object and the write that was read.
    reads: Vec<(u32, u32)>,
    before: Vec<(u32, u32)>,
    impure: bool,
    /// The announced yield waits until one of `reads` is written.
    waits: bool,
}

/// Rounds of waiting loops in which nobody gets on after which a run is given up.
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
    idle_rounds: u32,
    judged: usize,
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
            idle_rounds: 0,
            judged: 0,
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
        self.idle_rounds = 0;
        self.judged = item.moved as usize;
        self.item = item;
    }

    /// Number of events that the item fixed.
    pub(crate) fn base(&self) -> usize {
        self.item.steps.len()
    }

    fn key(&self, r: &Rt, slot: usize) -> u64 {
        self.record.threads[r.number[slot] as usize].key
    }

    /// Whether the thread in `slot` can go on and does not only repeat a round of waiting.
    fn can(&self, r: &Rt, slot: usize) -> bool {
        r.enabled >> slot & 1 == 1 && !self.stutters(r, slot)
    }

    fn stutters(&self, r: &Rt, slot: usize) -> bool {
        if r.pending[slot].kind != OpKind::Yield {
            return false;
        }
        let Some(spin) = self.spins.get(r.number[slot] as usize) else { return false };
        spin.waits && spin.reads.iter().all(|&(object, write)| self.record.last_write(object) == write)
    }

    /// The slot that goes on; `None` if the run is over, for the reason in `verdict`.
    pub(crate) fn next_thread(&mut self, r: &mut Rt) -> Option<usize> {
        self.look_for_spins(r);
        self.judge(r);
        if self.verdict != Verdict::Canonical {
            return None;
        }
        if let Some(&step) = self.item.steps.get(self.at) {
            let key = self.item.threads[step.thread as usize];
            let Some(slot) = bits(r.alive).find(|&t| self.key(r, t) == key && self.can(r, t)) else {
                self.verdict = Verdict::Infeasible;
                return None;
            };
            self.at += 1;
            self.fixed = step.choices as usize;
            self.start(r, slot, step.forced, step.choices.into(), step.group);
            return Some(slot);
        }
        self.fixed = 0;
        let slot = self.by_default(r)?;
        Some(slot)
    }

    fn by_default(&mut self, r: &mut Rt) -> Option<usize> {
        let able = bits(r.enabled).filter(|&t| self.can(r, t)).fold(0u64, |m, t| m | 1 << t);
        if able == 0 {
            // Only waiting loops are left. One more round, in case they give up by themselves.
            self.idle_rounds += 1;
            if self.idle_rounds > PATIENCE {
                self.verdict = Verdict::Livelock;
                return None;
            }
            let slot = bits(r.enabled).min_by_key(|&t| self.key(r, t))?;
            self.idle = true;
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

    fn start(&mut self, r: &mut Rt, slot: usize, forced: bool, choices: u32, group: u16) {
        let number = r.number[slot];
        let kind = r.pending[slot].kind;
        if std::mem::take(&mut self.idle) {
            self.record.after_all(number);
        }
        self.record.begin(number, kind, forced, choices);
        let event = self.record.len() - 1;
        if kind == OpKind::Yield
            && let Some(spin) = self.spins.get(number as usize)
            && spin.waits
        {
            for &(object, _) in &spin.reads {
                self.record.access(plain(object, OpKind::Load));
            }
        }
        if let Some(spec) = group.checked_sub(1) {
            let g = self.item.groups[spec as usize];
            let key = self.item.threads[g.thread as usize];
            let open = |t: &super::record::ThreadLog| t.key == key && t.events == g.index;
            if self.record.threads.iter().any(open) {
                let words = self.record.words;
                let at = match self.groups.iter().position(|d| d.spec == spec) {
                    Some(at) => at,
                    None => {
                        let members = vec![0; words];
                        self.groups.push(Displaced { key, index: g.index, reads: g.reads, spec, members });
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
        let mine = operation(r, slot);
        self.groups.iter().all(|g| {
            let Some(p) = self.open(r, g).filter(|&p| p != slot) else { return true };
            let (Some(a), Some(b)) = (mine, operation(r, p)) else { return true };
            let reads = may_only_read(r.pending[slot].kind);
            if a != b || reads && g.reads {
                return true;
            }
            meets(&self.record.past_of_next(r.number[slot], a, reads), &g.members)
        })
    }

    /// The slot of the thread whose event is displaced by a group, if it has not made up for it yet.
    fn open(&self, r: &Rt, g: &Displaced) -> Option<usize> {
        bits(r.alive).find(|&t| {
            let log = &self.record.threads[r.number[t] as usize];
            log.key == g.key && log.events == g.index
        })
    }

    /// Looks at the events of the item that have been made: is this run the one that stands for them?
    fn judge(&mut self, r: &mut Rt) {
        let base = self.base();
        while self.judged < self.record.len().min(base) && self.verdict == Verdict::Canonical {
            let x = self.judged;
            self.judged += 1;
            let own = self.item.steps[x].group;
            for g in &self.groups {
                if g.spec + 1 == own {
                    continue;
                }
                let Some(p) = self.open(r, g) else { continue };
                let Some(object) = operation(r, p) else { continue };
                let clash = self.record.accesses_of(x).iter().any(|a| a.object == object && !(a.reads && g.reads));
                if clash && !meets(self.record.past(x), &g.members) && !bit(&g.members, x) {
                    self.verdict = Verdict::Redundant;
                }
            }
            if x + 1 == base {
                self.judge_heads();
            }
        }
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
            let conflict = self.item.conflicts[x - heads];
            let clashes = self
                .record
                .accesses_of(x)
                .iter()
                .take(32)
                .enumerate()
                .any(|(n, a)| conflict.always >> n & 1 == 1 || conflict.writing >> n & 1 == 1 && !a.reads);
            if !clashes {
                self.verdict = Verdict::Redundant;
            }
        }
        let comparable = (heads..base).any(|x| bit(&needed, x));
        let unneeded = (moved..heads).any(|x| !bit(&needed, x));
        if comparable || unneeded {
            self.verdict = Verdict::Redundant;
        }
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
    }

    /// A failure cuts the run; nobody has been unwound yet.
    pub(crate) fn cut(&mut self, r: &mut Rt) {
        if self.waiting.is_empty() && self.unmade.is_empty() {
            self.unmade = announced(r);
        }
    }

    /// The thread that has just run announces a yield: has it only read what it had read the round before?
    fn look_for_spins(&mut self, r: &Rt) {
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
                for a in self.record.accesses_of(event) {
                    spin.impure |= !a.reads;
                    spin.reads.push((a.object, self.record.last_write(a.object)));
                }
            }
            let Some(slot) = bits(r.alive).find(|&t| r.number[t] == number) else { return };
            if kind == OpKind::Yield {
                // The round that begins is compared with the one before.
                spin.before = std::mem::take(&mut spin.reads);
                spin.waits = false;
                if spin.impure {
                    spin.before.clear();
                    spin.impure = false;
                }
            }
            if r.pending[slot].kind == OpKind::Yield {
                spin.waits = !spin.impure && !spin.reads.is_empty() && spin.reads == spin.before;
            }
        }
    }
}

fn plain(object: u32, kind: OpKind) -> Access {
    Access { object, kind, success: true, reads: reads_only(kind, true), found: 0, value: 0, expected: 0 }
}

/// Whether an announced operation can only read.
fn may_only_read(kind: OpKind) -> bool {
    reads_only(kind, true) && reads_only(kind, false)
}

/// All announced operations on objects.
fn announced(r: &mut Rt) -> Vec<Waiting> {
    let mut all = Vec::new();
    for slot in bits(r.alive) {
        if let Some(object) = operation(r, slot) {
            all.push(Waiting { thread: r.number[slot], kind: r.pending[slot].kind, object });
        }
    }
    all
}

/// The object of an announced operation.
fn operation(r: &mut Rt, slot: usize) -> Option<u32> {
    let pending = r.pending[slot];
    match pending.kind {
        OpKind::Park | OpKind::Unpark if pending.at < MAX_THREADS => Some(Object::Token(r.number[pending.at]).raw()),
        OpKind::Sleep => Some(Object::Clock.raw()),
        _ => {
            let number = ask::operand(r, slot)?;
            Some(Object::Sync(number).raw())
        }
    }
}
