//! The axioms of RC11 evaluated as they are defined (see [`super::psc`]), relation by relation, and compared with what
//! the graph decides step by step.

use std::panic::Location;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::graph::{Draft, Event, Graph, INIT, Kind, NOWHERE, acquires, releases};

/// A relation over at most 64 events: the successors of each.
#[derive(Clone)]
struct Relation(Vec<u64>);

fn bits(m: u64) -> impl Iterator<Item = usize> {
    crate::runtime::rt::bits(m)
}

impl Relation {
    fn new(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Self((0..n).map(|a| (0..n).filter(|&b| holds(a, b)).fold(0, |m, b| m | 1 << b)).collect())
    }

    /// The identity on a set.
    fn on(n: usize, set: impl Fn(usize) -> bool) -> Self {
        Self::new(n, |a, b| a == b && set(a))
    }

    fn then(&self, other: &Self) -> Self {
        Self(self.0.iter().map(|&m| bits(m).fold(0, |r, b| r | other.0[b])).collect())
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn and(&self, holds: impl Fn(usize, usize) -> bool) -> Self {
        Self(
            self.0
                .iter()
                .enumerate()
                .map(|(a, &m)| bits(m).filter(|&b| holds(a, b)).fold(0, |r, b| r | 1 << b))
                .collect(),
        )
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

    fn irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(a, m)| m >> a & 1 == 0)
    }
}

/// An operation without an event; whether it gets what another one, by its place in the list, gave.
struct Aside {
    thread: u32,
    position: u32,
    from: Option<usize>,
}

/// Which part of the model is left out, to see that the comparison notices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Without {
    Nothing,
    Sc,
    Atomicity,
    Sequences,
    Fences,
    Asides,
}

/// Whether the graph is RC11-consistent, from the definitions.
fn consistent(g: &Graph, asides: &[Aside], without: Without) -> bool {
    // Behind the events come the operations without one, at locations of their own.
    let events = g.events.len();
    let n = events + asides.len();
    let is = |a: usize, of: &dyn Fn(&Event) -> bool| g.events.get(a).is_some_and(of);
    let init = |a: usize| is(a, &|e| e.thread == INIT);
    let loc = |a: usize| g.events.get(a).map_or(NOWHERE, |e| e.loc);
    let same_loc = |a: usize, b: usize| loc(a) != NOWHERE && loc(a) == loc(b);
    let at = |a: usize| match g.events.get(a) {
        Some(e) => (e.thread, e.position),
        None => (asides[a - events].thread, asides[a - events].position),
    };
    let po = Relation::new(n, |a, b| !init(b) && (init(a) || at(a).0 == at(b).0 && at(a).1 < at(b).1));
    let from = |a: usize| g.events.get(a).and_then(|e| e.rf);
    let rf = Relation::new(n, |a, b| from(b) == Some(a as u32));
    let place = |a: usize| g.place_of(a as u32);
    let writes = |a: usize| is(a, &|e| e.kind.writes());
    let mo = Relation::new(n, |a, b| writes(a) && writes(b) && same_loc(a, b) && place(a) < place(b));
    let fr = Relation::new(n, |a, b| {
        a != b && writes(b) && from(a).is_some_and(|w| same_loc(a, b) && place(w as usize) < place(b))
    });
    let rmw = |a: usize| is(a, &|e| e.kind == Kind::Rmw);
    let fence = |a: usize| is(a, &|e| e.kind == Kind::Fence);
    let through = if without == Without::Sequences { Relation::new(n, |_, _| false) } else { rf.and(|_, b| rmw(b)) };
    let rs = Relation::on(n, writes).then(&through.plus().maybe());
    let rel = |a: usize| is(a, &|e| releases(e.order));
    let acq = |a: usize| is(a, &|e| acquires(e.order));
    let no_fences = without == Without::Fences;
    let head =
        Relation::on(n, |a| writes(a) && rel(a)).or(&po.and(|a, b| !no_fences && fence(a) && rel(a) && writes(b)));
    let reads = |a: usize| is(a, &|e| e.kind.reads());
    let tail = Relation::on(n, |a| reads(a) && acq(a)).or(&po.and(|a, b| !no_fences && reads(a) && fence(b) && acq(b)));
    let sw = head.then(&rs).then(&rf).then(&tail).and(|a, b| a != b);
    let given = Relation::new(n, |a, b| b >= events && asides[b - events].from.is_some_and(|from| from + events == a));
    let hb = po.or(&sw).or(&given).plus();
    let eco = rf.or(&mo).or(&fr).plus();
    let coherent = hb.irreflexive() && hb.then(&eco.maybe()).irreflexive();
    let no_thin_air = po.or(&rf).plus().irreflexive();
    let atomic = without == Without::Atomicity || fr.then(&mo).and(|a, b| a == b && rmw(a)).irreflexive();
    let sc = |a: usize| is(a, &|e| e.order == SeqCst);
    let counts = |a: usize| without != Without::Asides || a < events;
    let around = po.and(|a, b| counts(a) && counts(b));
    let scb = po.or(&around.then(&hb).then(&around)).or(&hb.and(same_loc)).or(&mo).or(&fr);
    let esc = Relation::on(n, sc);
    let fsc = Relation::on(n, |a| sc(a) && fence(a));
    let left = esc.or(&fsc.then(&hb.maybe()));
    let right = esc.or(&hb.maybe().then(&fsc));
    let base = left.then(&scb).then(&right);
    let fences = fsc.then(&hb.or(&hb.then(&eco).then(&hb))).then(&fsc);
    let sequential = without == Without::Sc || base.or(&fences).plus().irreflexive();
    coherent && no_thin_air && atomic && sequential
}

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const LOADS: [Ordering; 4] = [Relaxed, Acquire, SeqCst, SeqCst];
const STORES: [Ordering; 4] = [Relaxed, Release, SeqCst, SeqCst];
const RMWS: [Ordering; 5] = [Relaxed, Acquire, Release, AcqRel, SeqCst];
const FENCES: [Ordering; 5] = [Acquire, Release, AcqRel, SeqCst, SeqCst];

/// Builds a random graph event by event and compares, at each, what may be added. Returns the differences found.
fn differences(seed: u64, without: Without) -> usize {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut graph = Graph::default();
    let here = Location::caller();
    let locations = 1 + dice.below(3);
    for _ in 0..locations {
        graph.location(0, here);
    }
    let threads = 2 + dice.below(3);
    let mut positions = vec![0u32; threads];
    let mut asides: Vec<Aside> = Vec::new();
    let mut different = 0;
    for _ in 0..6 + dice.below(9) {
        let thread = dice.below(threads);
        let mut aside = |thread: usize, from| {
            positions[thread] += 1;
            asides.push(Aside { thread: thread as u32, position: positions[thread] - 1, from });
            asides.len() - 1
        };
        if dice.below(5) == 0 {
            let other = (thread + 1 + dice.below(threads - 1)) % threads;
            let given = aside(thread, None);
            aside(other, Some(given));
            let view = graph.view(thread as u32);
            view.hb.raise(thread as u32, asides[given].position + 1);
            let clock = view.hb.clone();
            graph.view(other as u32).hb.join(&clock);
        }
        let kind = dice.pick(&[Kind::Load, Kind::Load, Kind::Store, Kind::Store, Kind::Rmw, Kind::Fence]);
        let (order, loc) = match kind {
            Kind::Load => (dice.pick(&LOADS), dice.below(locations) as u32),
            Kind::Store => (dice.pick(&STORES), dice.below(locations) as u32),
            Kind::Rmw => (dice.pick(&RMWS), dice.below(locations) as u32),
            Kind::Fence => (dice.pick(&FENCES), NOWHERE),
        };
        let places = if kind == Kind::Fence { 1 } else { graph.mo[loc as usize].len() };
        let mut good = Vec::new();
        for at in 0..places {
            let draft = Draft { thread: thread as u32, kind, loc, order, at };
            let mut with = graph.clone();
            with.add(&draft, positions[thread], 0, here);
            let admitted = graph.admits(&draft);
            different += usize::from(admitted != consistent(&with, &asides, without));
            if admitted {
                good.push(draft);
            }
        }
        assert!(!good.is_empty(), "the latest store is always possible");
        let draft = dice.pick(&good);
        graph.add(&draft, positions[thread], 0, here);
        positions[thread] += 1;
    }
    different
}

#[test]
fn each_step_decides_as_the_axioms_do() {
    let runs = std::env::var("INTERLEAF_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
    for seed in 0..runs {
        assert_eq!(differences(seed, Without::Nothing), 0, "seed {seed}");
    }
}

#[test]
fn every_axiom_is_needed() {
    for without in [Without::Sc, Without::Atomicity, Without::Sequences, Without::Fences, Without::Asides] {
        let noticed = (0..20_000).any(|seed| differences(seed, without) > 0);
        assert!(noticed, "nobody notices that {without:?} is missing");
    }
}
