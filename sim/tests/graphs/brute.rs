//! Counts the RC11-consistent graphs of a program by building all of them, one event at a time in every order, and
//! evaluating the axioms as they stand on each. Slow and simple.

use std::collections::BTreeMap;

use interleaf::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};

use super::program::{CELLS, MUTEXES, Op, Program};

/// Thread and place in it; the thread of first values is -1.
type Name = (i8, u8);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Load,
    Store,
    Rmw,
    Fence,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Event {
    kind: Kind,
    loc: usize,
    order: u8,
    value: u32,
    reads: Option<Name>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// Events of each thread, next instruction, value read last.
    threads: Vec<(Vec<Event>, usize, u32)>,
    /// Modification orders, cells then mutexes.
    orders: Vec<Vec<Name>>,
}

/// How many graphs are complete, and in how many some thread waits for a mutex for ever.
#[derive(Debug, PartialEq, Eq, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) complete: u64,
    pub(super) deadlocked: u64,
}

fn code(order: Ordering) -> u8 {
    match order {
        Acquire => 1,
        Release => 2,
        AcqRel => 3,
        SeqCst => 7,
        _ => 0,
    }
}

pub(super) fn count(program: &Program) -> Counted {
    let locations = CELLS + MUTEXES;
    let start = State {
        threads: program.iter().map(|_| (Vec::new(), 0, 0)).collect(),
        orders: (0..locations).map(|l| vec![(-1, l as u8)]).collect(),
    };
    // Whether each is consistent.
    let mut seen = BTreeMap::from([(start.clone(), true)]);
    let mut todo = vec![start];
    let mut counted = Counted::default();
    while let Some(state) = todo.pop() {
        let mut ended = 0;
        let mut gone_on = false;
        for thread in 0..program.len() {
            let next = successors(program, &state, thread);
            let Some(next) = next else {
                ended += 1;
                continue;
            };
            for state in next {
                let known = *seen.entry(state.clone()).or_insert_with(|| {
                    let consistent = state.is_consistent();
                    if consistent {
                        todo.push(state);
                    }
                    consistent
                });
                gone_on |= known;
            }
        }
        if ended == program.len() {
            counted.complete += 1;
        } else if !gone_on {
            counted.deadlocked += 1;
        }
    }
    counted
}

/// What may come of the next event of a thread, consistent or not; `None` if it has ended.
fn successors(program: &Program, state: &State, thread: usize) -> Option<Vec<State>> {
    let (events, mut at, last) = state.threads[thread].clone();
    let code_of = &program[thread];
    while let Some(Op::If(value)) = code_of.get(at) {
        at += 1 + usize::from(last != *value);
    }
    let op = *code_of.get(at)?;
    let me = (thread as i8, events.len() as u8);
    let mut out = Vec::new();
    let mut add = |event: Event, behind: Option<usize>, last: u32| {
        let mut next = state.clone();
        if let Some(behind) = behind {
            next.orders[event.loc].insert(behind + 1, me);
        }
        let (events, next_at, read) = &mut next.threads[thread];
        events.push(event);
        *next_at = at + 1;
        *read = last;
        out.push(next);
    };
    let stores = |loc: usize| state.orders[loc].iter().copied().enumerate();
    let event = |kind, loc, order, value, reads| Event { kind, loc, order: code(order), value, reads };
    match op {
        Op::Load(loc, order) => stores(loc).for_each(|(_, w)| {
            let value = state.value(w);
            add(event(Kind::Load, loc, order, value, Some(w)), None, value);
        }),
        Op::Store(loc, value, order) => {
            stores(loc).for_each(|(i, _)| add(event(Kind::Store, loc, order, value, None), Some(i), last));
        }
        Op::Add(loc, order) => stores(loc).for_each(|(i, w)| {
            let found = state.value(w);
            add(event(Kind::Rmw, loc, order, found + 1, Some(w)), Some(i), found);
        }),
        Op::Cas(loc, expected, new, success, failure) => stores(loc).for_each(|(i, w)| {
            let found = state.value(w);
            if found == expected {
                add(event(Kind::Rmw, loc, success, new, Some(w)), Some(i), found);
            } else {
                add(event(Kind::Load, loc, failure, found, Some(w)), None, found);
            }
        }),
        Op::Fence(order) => add(event(Kind::Fence, usize::MAX, order, 0, None), None, last),
        Op::Lock(m) => stores(CELLS + m).filter(|(_, w)| state.value(*w) == 0).for_each(|(i, w)| {
            add(event(Kind::Rmw, CELLS + m, Acquire, 1, Some(w)), Some(i), last);
        }),
        Op::Unlock(m) => {
            let loc = CELLS + m;
            let own = stores(loc).rfind(|(_, (t, _))| *t == thread as i8).expect("it holds the mutex").0;
            add(event(Kind::Store, loc, Release, 0, None), Some(own), last);
        }
        Op::If(_) => unreachable!("conditions were passed"),
        Op::Start(_) | Op::Join(_) | Op::Yield => unreachable!("only drawn where traces are counted"),
    }
    Some(out)
}

#[derive(Clone)]
struct Relation(Vec<u64>);

fn bits(mut m: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (m != 0).then(|| {
            let b = m.trailing_zeros() as usize;
            m &= m - 1;
            b
        })
    })
}

impl Relation {
    fn new(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Self((0..n).map(|a| (0..n).filter(|&b| holds(a, b)).fold(0, |m, b| m | 1 << b)).collect())
    }
    fn then(&self, o: &Self) -> Self {
        Self(self.0.iter().map(|&m| bits(m).fold(0, |r, b| r | o.0[b])).collect())
    }
    fn or(&self, o: &Self) -> Self {
        Self(self.0.iter().zip(&o.0).map(|(a, b)| a | b).collect())
    }
    fn maybe(&self) -> Self {
        Self(self.0.iter().enumerate().map(|(a, m)| m | 1 << a).collect())
    }
    fn plus(&self) -> Self {
        let mut r = self.clone();
        for k in 0..r.0.len() {
            let through = r.0[k];
            r.0.iter_mut().filter(|m| **m >> k & 1 == 1).for_each(|m| *m |= through);
        }
        r
    }
    fn cyclic(&self) -> bool {
        self.0.iter().enumerate().any(|(a, m)| m >> a & 1 == 1)
    }
}

impl State {
    fn value(&self, name: Name) -> u32 {
        if name.0 < 0 { 0 } else { self.threads[name.0 as usize].0[name.1 as usize].value }
    }

    fn is_consistent(&self) -> bool {
        let first = |l: usize| Event { kind: Kind::Store, loc: l, order: 0, value: 0, reads: None };
        let mut all: Vec<(Name, Event)> = (0..self.orders.len()).map(|l| ((-1, l as u8), first(l))).collect();
        for (t, (events, ..)) in self.threads.iter().enumerate() {
            all.extend(events.iter().enumerate().map(|(i, e)| ((t as i8, i as u8), e.clone())));
        }
        let n = all.len();
        let name = |a: usize| all[a].0;
        let e = |a: usize| &all[a].1;
        let find = |w: Name| all.iter().position(|(x, _)| *x == w).expect("an event");
        let place = |a: usize| self.orders[e(a).loc].iter().position(|x| *x == name(a));
        let init = |a: usize| name(a).0 < 0;
        let same = |a: usize, b: usize| e(a).loc != usize::MAX && e(a).loc == e(b).loc;
        let sb = Relation::new(n, |a, b| !init(b) && (init(a) || name(a).0 == name(b).0 && name(a).1 < name(b).1));
        let rf = Relation::new(n, |a, b| e(b).reads == Some(name(a)));
        let (w, r) = (|a: usize| matches!(e(a).kind, Kind::Store | Kind::Rmw), |a: usize| e(a).reads.is_some());
        let mo = Relation::new(n, |a, b| w(a) && w(b) && same(a, b) && place(a) < place(b));
        let fr = Relation::new(n, |a, b| {
            a != b && w(b) && same(a, b) && e(a).reads.is_some_and(|s| place(find(s)) < place(b))
        });
        let rmw = |a: usize| e(a).kind == Kind::Rmw;
        let fence = |a: usize| e(a).kind == Kind::Fence;
        let has = |a: usize, bit: u8| e(a).order & bit == bit;
        let one = |set: &dyn Fn(usize) -> bool| Relation::new(n, |a, b| a == b && set(a));
        let part = |of: &Relation, set: &dyn Fn(usize, usize) -> bool| {
            Relation::new(n, |a, b| of.0[a] >> b & 1 == 1 && set(a, b))
        };
        let rs = one(&w).then(&part(&rf, &|_, b| rmw(b)).plus().maybe());
        let head = one(&|a| w(a) && has(a, 2)).or(&part(&sb, &|a, b| fence(a) && has(a, 2) && w(b)));
        let tail = one(&|a| r(a) && has(a, 1)).or(&part(&sb, &|a, b| r(a) && fence(b) && has(b, 1)));
        let sw = part(&head.then(&rs).then(&rf).then(&tail), &|a, b| a != b);
        let hb = sb.or(&sw).plus();
        let eco = rf.or(&mo).or(&fr).plus();
        if hb.cyclic() || hb.then(&eco.maybe()).cyclic() || sb.or(&rf).plus().cyclic() {
            return false;
        }
        if part(&fr.then(&mo), &|a, b| a == b && rmw(a)).cyclic() {
            return false;
        }
        let apart = part(&sb, &|a, b| !same(a, b));
        let scb = sb.or(&apart.then(&hb).then(&apart)).or(&part(&hb, &same)).or(&mo).or(&fr);
        let (sc, fsc) = (one(&|a| has(a, 7)), one(&|a| has(a, 7) && fence(a)));
        let base = sc.or(&fsc.then(&hb.maybe())).then(&scb).then(&sc.or(&hb.maybe().then(&fsc)));
        let fences = fsc.then(&hb.or(&hb.then(&eco).then(&hb))).then(&fsc);
        !base.or(&fences).plus().cyclic()
    }
}
