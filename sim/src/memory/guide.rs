//! One run of the exhaustive search: first it repeats a given graph, then it adds events in the one canonical way.
//!
//! *Repeating.* The threads are scheduled so that each event of the item happens after the store that it reads and after
//! its predecessors in program order; loads get the store that the item says, stores their place.
//!
//! *Going on.* The next event is that of the first thread, by path, that can go on; an acquisition that was displaced
//! comes before all others as soon as its mutex is free. Each event takes the latest store and the last place, and its
//! alternatives are put aside: see [`super::revisit`].

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::clock::Clock;
use super::graph::{Graph, Id, Kind};
use super::item::{Item, Path, Planned, Source};

/// What an event is apart from what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// The first value of a location.
    Nothing,
    Load,
    Store,
    Rmw,
    Cas {
        expected: u64,
        success: Ordering,
        failure: Ordering,
    },
    Lock,
    Unlock,
    Fence,
}

/// What the search knows of an event beside the graph.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Place in the order of addition, and that of its write: later, if its read was revisited, for then the write is
    /// added anew, right after the store that it reads.
    pub(crate) stamp: u64,
    pub(crate) write_stamp: u64,
    pub(crate) want: Want,
    /// What comes before it by program order, start, join and reads-from, and itself.
    pub(crate) prefix: Clock,
    pub(crate) displaced_by: Option<Id>,
}

/// A displaced acquisition that is still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) stamp: u64,
    pub(crate) thread: u32,
    pub(crate) index: u32,
    /// The acquisition that came before it; absent until that has been repeated.
    pub(crate) displaced_by: Option<Id>,
}

/// The stamp of an event of a work item, by its place there. There is room for the writes of revisited reads between two.
const fn stamp_of(place: u32) -> u64 {
    (place as u64) << 20
}

/// What a thread did, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    Begin,
    Event(Id),
    Spawn { child: u32, position: u32 },
    Join { child: u32, position: u32 },
}

/// See the module.
pub(crate) struct Guide {
    pub(crate) item: Item,
    planned: BTreeMap<(Path, u32), u32>,
    pub(crate) done: Vec<Option<Id>>,
    /// Events of the item that are still to be repeated.
    remaining: usize,
    /// The threads of this run, by number.
    pub(crate) paths: Vec<Path>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) holes: Vec<Hole>,
    /// What comes before the next event of each thread, by program order, start, join and reads-from.
    pub(crate) prefixes: Vec<Clock>,
    pub(crate) logs: Vec<Vec<Entry>>,
    next_stamp: u32,
    /// The outcome that the operation under way must have.
    pub(crate) wanted: usize,
    /// Work items for the alternatives of this run.
    pub(crate) found: Vec<Item>,
    /// Why the search cannot go on.
    pub(crate) error: Option<String>,
    /// The waiting of each thread that has yielded.
    spins: BTreeMap<u32, Spin>,
    /// They wait for what never comes: let them, up to the step limit.
    is_livelock: bool,
}

/// How often a thread may yield before others go first. A loop that only reads is known by its second round.
const FREE_YIELDS: u32 = 2;

/// A loop in which a thread waits for others.
#[derive(Clone, Debug, Default)]
struct Spin {
    /// How often the thread has yielded.
    yields: u32,
    /// How many events the thread had when it yielded last.
    events: usize,
    /// What it read between the last two times, and from where.
    round: Option<Vec<(u32, Id)>>,
    /// It has done the same twice, and waits for good.
    is_blocked: bool,
}

impl Guide {
    pub(crate) fn new(item: Item) -> Self {
        let key = |p: &Planned| (item.threads[p.thread as usize].clone(), p.index);
        let planned = item.events.iter().zip(0u32..).map(|(p, i)| (key(p), i)).collect();
        let remaining = item.events.iter().filter(|p| !p.is_hole).count();
        Self {
            done: vec![None; item.events.len()],
            remaining,
            planned,
            next_stamp: item.events.len() as u32,
            item,
            paths: Vec::new(),
            marks: Vec::new(),
            holes: Vec::new(),
            prefixes: Vec::new(),
            logs: Vec::new(),
            wanted: 0,
            found: Vec::new(),
            error: None,
            spins: BTreeMap::new(),
            is_livelock: false,
        }
    }

    pub(crate) fn fail(&mut self, why: String) {
        self.error.get_or_insert(why);
    }

    /// A thread has started: `ordinal` is its place among the children of `parent`.
    pub(crate) fn started(&mut self, child: u32, parent: Option<(u32, u32)>, position: u32) {
        let mut path = Path::new();
        let mut prefix = Clock::new();
        if let Some((parent, ordinal)) = parent {
            path.clone_from(&self.paths[parent as usize]);
            path.push(ordinal);
            self.logs[parent as usize].push(Entry::Spawn { child, position });
            self.prefixes[parent as usize].raise(parent, position + 1);
            prefix = self.prefixes[parent as usize].clone();
        }
        // Holes are known by their place from the start.
        for (i, p) in self.item.events.iter().enumerate().filter(|(_, p)| p.is_hole) {
            if self.item.threads[p.thread as usize] == path {
                // What came before it may have been repeated already: the thread may have started late.
                let displaced_by = p.displaced_by.and_then(|d| self.done[d as usize]);
                self.holes.push(Hole { stamp: stamp_of(i as u32), thread: child, index: p.index, displaced_by });
            }
        }
        self.paths.push(path);
        self.prefixes.push(prefix);
        self.logs.push(if parent.is_some() { vec![Entry::Begin] } else { Vec::new() });
    }

    pub(crate) fn joined(&mut self, thread: u32, child: u32, position: u32) {
        self.logs[thread as usize].push(Entry::Join { child, position });
        let mut prefix = self.prefixes[child as usize].clone();
        prefix.raise(child, position + 1);
        self.prefixes[thread as usize].join(&prefix);
    }

    /// The place in the item of the next event of a thread.
    fn plan_of(&self, graph: &Graph, thread: u32) -> Option<u32> {
        let index = graph.views.get(thread as usize).map_or(0, |v| v.events.len() as u32);
        self.planned.get(&(self.paths[thread as usize].clone(), index)).copied()
    }

    /// The event of the item that a thread is about to repeat; `None` if it is new, or fills a hole.
    pub(crate) fn repeated(&self, graph: &Graph, thread: u32) -> Option<&Planned> {
        let plan = self.plan_of(graph, thread)?;
        Some(&self.item.events[plan as usize]).filter(|p| !p.is_hole)
    }

    /// Whether the next event of a thread fills a hole.
    pub(crate) fn fills(&self, graph: &Graph, thread: u32) -> bool {
        self.plan_of(graph, thread).is_some_and(|p| self.item.events[p as usize].is_hole)
    }

    /// The stamp of the event of the item that a thread is about to repeat.
    pub(crate) fn stamp_of_repeated(&self, graph: &Graph, thread: u32) -> Option<u64> {
        self.plan_of(graph, thread).map(stamp_of)
    }

    /// The place in the modification order of `loc` of what the repeated event of a thread reads, or is put behind.
    pub(crate) fn place(&self, graph: &Graph, thread: u32, loc: u32) -> Option<usize> {
        let plan = self.plan_of(graph, thread)?;
        let event = match self.item.events[plan as usize].source {
            Source::Initial => return Some(0),
            Source::Event(source) => self.done[source as usize]?,
            Source::None => match self.item.before(plan).find_map(|e| self.done[e as usize]) {
                Some(event) => event,
                None => return Some(0),
            },
        };
        (graph.event(event).loc == loc).then(|| graph.place_of(event))
    }

    /// Gives a mark to the first values of new locations.
    pub(crate) fn mark_first_values(&mut self, events: usize) {
        let nothing = Mark { stamp: 0, write_stamp: 0, want: Want::Nothing, prefix: Clock::new(), displaced_by: None };
        self.marks.resize(events, nothing);
    }

    /// An event has been added to the graph.
    pub(crate) fn added(&mut self, graph: &Graph, id: Id, want: Want) {
        let e = graph.event(id);
        let thread = e.thread;
        self.mark_first_values(id as usize);
        if let Some(rf) = e.rf {
            let prefix = self.marks[rf as usize].prefix.clone();
            self.prefixes[thread as usize].join(&prefix);
        }
        let prefix = &mut self.prefixes[thread as usize];
        prefix.raise(thread, e.position + 1);
        let prefix = prefix.clone();
        self.logs[thread as usize].push(Entry::Event(id));
        let plan = self.planned.get(&(self.paths[thread as usize].clone(), e.index)).copied();
        let mut displaced_by = None;
        let stamp = match plan {
            Some(plan) => {
                let planned = &self.item.events[plan as usize];
                displaced_by = planned.displaced_by.and_then(|d| self.done[d as usize]);
                if planned.is_hole {
                    self.holes.retain(|h| h.stamp != stamp_of(plan));
                } else {
                    self.remaining -= 1;
                }
                self.done[plan as usize] = Some(id);
                for hole in self.holes.iter_mut().filter(|h| h.displaced_by.is_none()) {
                    let planned = &self.item.events[(hole.stamp >> 20) as usize];
                    hole.displaced_by = planned.displaced_by.and_then(|d| self.done[d as usize]);
                }
                plan
            }
            None => {
                self.next_stamp += 1;
                self.next_stamp - 1
            }
        };
        let stamp = stamp_of(stamp);
        let source = e.rf.map_or(0, |rf| self.marks[rf as usize].write_stamp);
        let write_stamp = if e.kind.writes() && source > stamp { source + 1 } else { stamp };
        self.marks.push(Mark { stamp, write_stamp, want, prefix, displaced_by });
    }

    /// A thread yields, as loops do that wait for others. True if it has read the very same stores since it yielded last
    /// as between that time and the one before, and did nothing else: then it would go on for ever, and what comes of
    /// reading something newer is an alternative of those reads. It does not go on in this run.
    pub(crate) fn yields(&mut self, graph: &Graph, thread: u32) -> bool {
        let events: &[Id] = graph.views.get(thread as usize).map_or(&[], |v| &v.events);
        let spin = self.spins.entry(thread).or_default();
        spin.yields += 1;
        let since = &events[spin.events.min(events.len())..];
        let read = |&id: &Id| {
            let e = graph.event(id);
            (e.kind == Kind::Load).then_some((e.loc, e.rf?))
        };
        let round: Option<Vec<(u32, Id)>> = since.iter().map(read).collect();
        spin.is_blocked = !self.is_livelock && round.as_ref().is_some_and(|r| !r.is_empty()) && round == spin.round;
        spin.events = events.len();
        spin.round = round;
        spin.is_blocked
    }

    /// How the run ended for threads that wait in loops: `None` if there are none, else whether some could still read
    /// something newer than what they did, so that only this run ends here.
    pub(crate) fn spinning(&self, graph: &Graph) -> Option<bool> {
        let mut blocked = self.spins.values().filter(|s| s.is_blocked).peekable();
        blocked.peek()?;
        let is_old = |&(loc, store): &(u32, Id)| graph.mo[loc as usize].last() != Some(&store);
        Some(blocked.any(|s| s.round.iter().flatten().any(is_old)))
    }

    /// Nobody can go on, and those who wait in loops have read the latest there is: lets them wait, so that the run shows
    /// itself as one that does not end. Returns their numbers.
    pub(crate) fn let_spin(&mut self, graph: &Graph) -> Vec<u32> {
        if self.spinning(graph) != Some(false) {
            return Vec::new();
        }
        self.is_livelock = true;
        let blocked = self.spins.iter_mut().filter(|(_, s)| s.is_blocked);
        blocked.map(|(thread, spin)| (spin.is_blocked = false, *thread).1).collect()
    }

    /// Which of the threads that can go on does: its slot.
    pub(crate) fn next_thread(&mut self, graph: &Graph, can: &[Can]) -> Option<usize> {
        let path = |number: u32| &self.paths[number as usize];
        let first = |list: &mut dyn Iterator<Item = &Can>| list.min_by_key(|t| path(t.thread)).copied();
        if self.remaining > 0 {
            let ready = |t: &&Can| match self.repeated(graph, t.thread) {
                Some(p) if p.is_fresh && self.remaining > 1 => false,
                Some(Planned { source: Source::Event(source), .. }) => self.done[*source as usize].is_some(),
                Some(_) => true,
                None => false,
            };
            // What is no event is on the way to one, of its own or of a thread that it starts or that waits for its end.
            let next = first(&mut can.iter().filter(ready)).or_else(|| first(&mut can.iter().filter(|t| !t.is_event)));
            if next.is_none() {
                self.fail(String::from("a graph cannot be repeated: the program is not deterministic"));
            }
            return next.map(|t| t.slot);
        }
        let hole = can.iter().find(|t| self.fills(graph, t.thread)).copied();
        // What comes next must depend on the graph alone, so it must make no difference whether a thread has yielded already:
        // yielding is no event. The first times it is passed over. Who does it again, and is no loop that only reads, comes
        // after all others, before and after it has yielded, and then in turn.
        let events = |thread: u32| graph.views.get(thread as usize).map_or(&[][..], |v| &v.events);
        let yields = |t: &&Can| {
            let of_now =
                |spin: &Spin| t.gives_way || spin.yields > FREE_YIELDS && spin.events == events(t.thread).len();
            self.spins.get(&t.thread).is_some_and(|spin| spin.yields >= FREE_YIELDS && of_now(spin))
        };
        let turn = |t: &&Can| {
            let last = events(t.thread).last().map(|&id| self.marks[id as usize].stamp);
            (last, path(t.thread))
        };
        let next = hole.or_else(|| first(&mut can.iter().filter(|t| !yields(t))));
        next.or_else(|| can.iter().min_by_key(turn).copied()).map(|t| t.slot)
    }
}

/// A thread that can go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Can {
    pub(crate) slot: usize,
    pub(crate) thread: u32,
    /// It is about to add an event to the graph.
    pub(crate) is_event: bool,
    /// It waits for others without being blocked.
    pub(crate) gives_way: bool,
}
