//! Following a labelled choice log through a program that may have changed.
//!
//! The rule: take the next line (thread, operation). If that thread is about to do exactly that, run it. If it is
//! about to do something that the log has never seen, let it run until it catches up. If the log is ahead of it, drop
//! the line. When the lines end, go on at random.
//!
//! *Places move.* A line inserted above shifts all places below it. The places that the log knows and those that the
//! program has now are therefore matched file by file as a longest common subsequence of (operation, object, column) in
//! the order of lines; what has no partner is new, or gone.

use std::collections::BTreeMap;

use crate::choice::finalise;
use crate::trace::choices::{Choice, ChoiceLog};
use crate::trace::{Trace, verb};

use super::{Pending, Point, Scheduler};

/// What an operation is called, apart from where it stands.
type Name = (String, String, u32);
/// Where in a file.
type Place = (u32, u32);

/// Steps that the followed thread may be blocked before its line is dropped.
const PATIENCE: u32 = 256;

/// All operations of a program, by file, in the order of lines.
#[derive(Default)]
pub(crate) struct Places(BTreeMap<String, BTreeMap<(Place, Name), ()>>);

impl Places {
    fn add(&mut self, file: &str, line: u32, column: u32, operation: &str, object: &str) {
        let name = (operation.to_owned(), object.to_owned(), column);
        self.0.entry(file.to_owned()).or_default().insert(((line, column), name), ());
    }

    pub(crate) fn add_trace(&mut self, trace: &Trace) {
        for d in trace.decisions.iter().filter(|d| !d.data) {
            let object = d.object.and_then(|o| trace.objects.get(o as usize)).map_or("", |o| o.name);
            self.add(d.location.file(), d.location.line(), d.location.column(), verb(d.kind), object);
        }
    }

    fn of_log(log: &ChoiceLog) -> Self {
        let mut places = Self::default();
        for c in log.choices.iter().filter(|c| c.operation != "choose") {
            places.add(&c.file, c.line, c.column, &c.operation, &c.object);
        }
        places
    }
}

/// (file, line, column, operation, object) of an operation.
type Key = (String, u32, u32, String, String);

fn key(file: &str, place: Place, name: &Name) -> Key {
    (file.to_owned(), place.0, place.1, name.0.clone(), name.1.clone())
}

/// Which operation of the log each operation of the present program is.
fn partners(log: &Places, present: &Places) -> BTreeMap<Key, Key> {
    let mut out = BTreeMap::new();
    for (file, now) in &present.0 {
        let Some(then) = log.0.get(file) else { continue };
        let now: Vec<&(Place, Name)> = now.keys().collect();
        let then: Vec<&(Place, Name)> = then.keys().collect();
        for (i, j) in common(&now, &then) {
            out.insert(key(file, now[i].0, &now[i].1), key(file, then[j].0, &then[j].1));
        }
    }
    out
}

/// Longest common subsequence by name, as pairs of indices.
fn common(a: &[&(Place, Name)], b: &[&(Place, Name)]) -> Vec<(usize, usize)> {
    let mut length = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i][j] =
                if a[i].1 == b[j].1 { length[i + 1][j + 1] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i].1 == b[j].1 {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if length[i + 1][j] >= length[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The scheduler that follows a log.
pub(crate) struct Labelled {
    choices: Vec<Choice>,
    at: usize,
    partners: BTreeMap<Key, Key>,
    waited: u32,
    random: u64,
}

impl Labelled {
    pub(crate) fn new(log: &ChoiceLog, present: &Places) -> Self {
        let partners = partners(&Places::of_log(log), present);
        Self { choices: log.choices.clone(), at: 0, partners, waited: 0, random: log.seed }
    }

    /// What the log calls the operation that a thread is about to do; `None` if it has never seen it.
    fn known_as(&self, p: &Pending) -> Option<&Key> {
        let place = p.location;
        let name = (verb(p.kind).to_owned(), p.object_name.to_owned(), place.column());
        self.partners.get(&key(place.file(), (place.line(), place.column()), &name))
    }

    fn is(choice: &Choice, known: &Key) -> bool {
        (&choice.file, choice.line, choice.column, &choice.operation, &choice.object)
            == (&known.0, known.1, known.2, &known.3, &known.4)
    }

    /// Whether the thread does the operation later in the log.
    fn comes_later(&self, thread: &str, known: &Key) -> bool {
        self.choices[self.at..].iter().any(|c| c.thread == thread && Self::is(c, known))
    }

    fn draw(&mut self, options: u64) -> usize {
        self.random = finalise(self.random);
        crate::runtime::point::choose_bit(options, self.random)
    }

    /// The followed thread cannot go on now: somebody else must move first.
    fn wait(&mut self, point: &Point<'_>) -> usize {
        self.waited += 1;
        if self.waited > PATIENCE {
            self.at += 1;
            self.waited = 0;
        }
        point.default
    }
}

impl Scheduler for Labelled {
    fn next_thread(&mut self, point: &Point<'_>) -> usize {
        loop {
            let Some(choice) = self.choices.get(self.at) else { return self.draw(point.enabled) };
            let thread = choice.thread.clone();
            let named = |p: &&Pending| point.names.get(p.thread as usize) == Some(&thread);
            let Some(p) = point.pending.iter().find(named) else {
                if !point.names.contains(&thread) {
                    // Not started yet: whoever starts it must move first.
                    return self.wait(point);
                }
                self.at += 1;
                continue;
            };
            let can = point.enabled >> p.slot & 1 == 1;
            match self.known_as(p) {
                Some(known) if Self::is(choice, known) => {
                    if !can {
                        return self.wait(point);
                    }
                    self.at += 1;
                    self.waited = 0;
                    return p.slot;
                }
                Some(known) if choice.operation == "choose" || self.comes_later(&thread, known) => self.at += 1,
                _ if can => return p.slot,
                _ => return self.wait(point),
            }
        }
    }

    fn choose(&mut self, options: u64) -> usize {
        if let Some(choice) = self.choices.get(self.at)
            && choice.operation == "choose"
        {
            let value = choice.object.parse::<usize>().ok();
            self.at += 1;
            if let Some(value) = value.filter(|&v| v < 64 && options >> v & 1 == 1) {
                return value;
            }
        }
        options.trailing_zeros() as usize
    }

    fn wants_pending(&self) -> bool {
        true
    }

    fn sees_forced(&self) -> bool {
        true
    }
}
