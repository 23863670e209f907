//! The litmus tests of the literature under RC11: which weak outcomes are found, and which never are.
//!
//! Each is run with relaxed accesses, with release stores and acquire loads, with `SeqCst` accesses, and relaxed with a
//! `SeqCst` fence between any two accesses of a thread. Depth-first search over schedules and over the stores that may
//! be read is complete, and so is the search over execution graphs: they must agree, and random search must find what
//! they find.

use std::collections::BTreeSet;
use std::sync::Mutex;

use interleaf::sync::Arc;
use interleaf::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use interleaf::sync::atomic::{AtomicU32, Ordering, fence};
use interleaf::{Explorer, MemoryModel, Strategy, thread};

type Outcome = Vec<u32>;

/// How the accesses of a test are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    load: Ordering,
    store: Ordering,
    fences: bool,
}

const RLX: Style = Style { load: Relaxed, store: Relaxed, fences: false };
const REL_ACQ: Style = Style { load: Acquire, store: Release, fences: false };
const SC: Style = Style { load: SeqCst, store: SeqCst, fences: false };
const FENCES: Style = Style { load: Relaxed, store: Relaxed, fences: true };

/// The shared variables.
#[derive(Clone)]
struct Cells(Arc<[AtomicU32; 4]>, Style);

impl Cells {
    fn load(&self, cell: usize) -> u32 {
        self.0[cell].load(self.1.load)
    }

    fn store(&self, cell: usize, value: u32) {
        self.0[cell].store(value, self.1.store);
    }

    fn fence(&self) {
        if self.1.fences {
            fence(SeqCst);
        }
    }
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

type Body = fn(&Cells) -> Outcome;

/// One run: the values that the threads give, one after the other, and then the last values of `x` and `y`.
fn run(style: Style, threads: &[Body]) -> Outcome {
    let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), style);
    let started: Vec<_> = threads
        .iter()
        .map(|&body| {
            let cells = cells.clone();
            thread::spawn(move || body(&cells))
        })
        .collect();
    let mut outcome: Outcome = started.into_iter().flat_map(|t| t.join().unwrap()).collect();
    let cells = Arc::into_inner(cells.0).expect("all threads have ended");
    outcome.extend(cells.map(AtomicU32::into_inner).iter().take(2));
    outcome
}

fn outcomes(strategy: Strategy, seeds: u64, f: impl Fn() -> Outcome + Sync) -> BTreeSet<Outcome> {
    let found = Mutex::new(BTreeSet::new());
    let complete = matches!(strategy, Strategy::Dfs { .. } | Strategy::Exhaustive { .. });
    let report = Explorer::new().memory_model(MemoryModel::Rc11).strategy(strategy).seeds(0..seeds).run(|| {
        let outcome = f();
        found.lock().unwrap().insert(outcome);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    assert_eq!(report.complete, complete);
    found.into_inner().unwrap()
}

/// Whether the weak outcome is possible: what complete search finds, random search finds too, and nothing else.
#[track_caller]
fn verdict(name: &str, f: impl Fn() -> Outcome + Sync, weak: impl Fn(&Outcome) -> bool, allowed: bool) {
    let all = outcomes(Strategy::Dfs { preemptions: None }, 1_000_000, &f);
    assert_eq!(all.iter().any(&weak), allowed, "{name}: the weak outcome, among {all:?}");
    assert_eq!(outcomes(Strategy::Exhaustive { preemptions: None }, 1_000, &f), all, "{name}: one run for each graph");
    for strategy in [Strategy::Random, Strategy::Pct { depth: 3 }] {
        let some = outcomes(strategy.clone(), 1_500, &f);
        assert!(some.is_subset(&all), "{name}: {strategy} finds more than there is: {some:?}, {all:?}");
        if allowed {
            assert!(some.iter().any(&weak), "{name}: {strategy} does not find the weak outcome");
        }
    }
}

/// A row of the table: verdicts for relaxed, release/acquire, `SeqCst`, fences.
#[track_caller]
fn row(name: &str, threads: &[Body], weak: fn(&Outcome) -> bool, verdicts: [bool; 4]) {
    for (style, allowed) in [RLX, REL_ACQ, SC, FENCES].into_iter().zip(verdicts) {
        verdict(&format!("{name} {style:?}"), || run(style, threads), weak, allowed);
    }
}

fn write_then_read(c: &Cells, write: usize, read: usize) -> Outcome {
    c.store(write, 1);
    c.fence();
    vec![c.load(read)]
}

fn two_reads(c: &Cells, first: usize, second: usize) -> Outcome {
    let a = c.load(first);
    c.fence();
    vec![a, c.load(second)]
}

fn two_writes(c: &Cells, first: (usize, u32), second: (usize, u32)) -> Outcome {
    c.store(first.0, first.1);
    c.fence();
    c.store(second.0, second.1);
    vec![]
}

fn read_then_write(c: &Cells, read: usize, write: (usize, u32)) -> Outcome {
    let a = c.load(read);
    c.fence();
    c.store(write.0, write.1);
    vec![a]
}

fn one_write(c: &Cells, cell: usize) -> Outcome {
    c.store(cell, 1);
    vec![]
}

#[test]
fn store_buffering() {
    let threads: [Body; 2] = [|c| write_then_read(c, X, Y), |c| write_then_read(c, Y, X)];
    row("SB", &threads, |o| o[..2] == [0, 0], [true, true, false, false]);
}

#[test]
fn message_passing() {
    let threads: [Body; 2] = [|c| two_writes(c, (X, 1), (Y, 1)), |c| two_reads(c, Y, X)];
    row("MP", &threads, |o| o[..2] == [1, 0], [true, false, false, false]);
}

#[test]
fn load_buffering() {
    let threads: [Body; 2] = [|c| read_then_write(c, Y, (X, 1)), |c| read_then_write(c, X, (Y, 1))];
    row("LB", &threads, |o| o[..2] == [1, 1], [false; 4]);
}

#[test]
fn coherence_of_two_reads() {
    let threads: [Body; 2] = [|c| two_writes(c, (X, 1), (X, 2)), |c| two_reads(c, X, X)];
    row("CoRR", &threads, |o| o[..2] == [2, 1] || o[1] < o[0], [false; 4]);
}

#[test]
fn coherence_of_writes_and_reads() {
    let write_read: [Body; 2] = [
        |c| {
            c.store(X, 1);
            vec![c.load(X)]
        },
        |c| {
            c.store(X, 2);
            vec![]
        },
    ];
    row("CoWR", &write_read, |o| o[0] == 0 || o[0] == 2 && o[1] == 1, [false; 4]);
    let read_write: [Body; 2] = [
        |c| read_then_write(c, X, (X, 1)),
        |c| {
            c.store(X, 2);
            vec![]
        },
    ];
    row("CoRW", &read_write, |o| o[0] == 1 || o[0] == 2 && o[1] == 2, [false; 4]);
    let write_write: [Body; 1] = [|c| two_writes(c, (X, 1), (X, 2))];
    row("CoWW", &write_write, |o| o[0] != 2, [false; 4]);
}

#[test]
fn independent_reads_of_independent_writes() {
    let threads: [Body; 4] = [|c| one_write(c, X), |c| one_write(c, Y), |c| two_reads(c, X, Y), |c| two_reads(c, Y, X)];
    for (style, allowed) in [(RLX, true), (REL_ACQ, true), (SC, false), (FENCES, false)] {
        let weak = |o: &Outcome| o[..4] == [1, 0, 1, 0];
        // Too many schedules for depth-first search over all of them, but not too many graphs.
        let all = outcomes(Strategy::Exhaustive { preemptions: None }, 1_000, || run(style, &threads));
        assert_eq!(all.iter().any(weak), allowed, "IRIW {style:?}");
        let found = outcomes(Strategy::Random, 6_000, || run(style, &threads));
        assert_eq!(found.iter().any(weak), allowed, "IRIW {style:?}");
        assert!(found.is_subset(&all));
    }
}

#[test]
fn two_plus_two_writes() {
    let threads: [Body; 2] = [|c| two_writes(c, (X, 1), (Y, 2)), |c| two_writes(c, (Y, 1), (X, 2))];
    row("2+2W", &threads, |o| o[..2] == [1, 1], [true, true, false, false]);
}

#[test]
fn write_to_read_causality() {
    let threads: [Body; 3] = [|c| one_write(c, X), |c| read_then_write(c, X, (Y, 1)), |c| two_reads(c, Y, X)];
    row("WRC", &threads, |o| o[..3] == [1, 1, 0], [true, false, false, false]);
}

#[test]
fn chain_of_messages() {
    let threads: [Body; 3] =
        [|c| two_writes(c, (X, 1), (Y, 1)), |c| read_then_write(c, Y, (Z, 1)), |c| two_reads(c, Z, X)];
    row("ISA2", &threads, |o| o[..3] == [1, 1, 0], [true, false, false, false]);
}

#[test]
fn read_write_causality() {
    let threads: [Body; 3] = [|c| one_write(c, X), |c| two_reads(c, X, Y), |c| write_then_read(c, Y, X)];
    // C++11 allowed the form with fences; RC11 and C++20 do not.
    row("RWC", &threads, |o| o[..3] == [1, 0, 0], [true, true, false, false]);
}

#[test]
fn the_test_called_r() {
    let threads: [Body; 2] = [
        |c| two_writes(c, (X, 1), (Y, 1)),
        |c| {
            c.store(Y, 2);
            c.fence();
            vec![c.load(X)]
        },
    ];
    row("R", &threads, |o| o[0] == 0 && o[2] == 2, [true, true, false, false]);
}

#[test]
fn the_test_called_s() {
    let threads: [Body; 2] = [|c| two_writes(c, (X, 2), (Y, 1)), |c| read_then_write(c, Y, (X, 1))];
    row("S", &threads, |o| o[0] == 1 && o[1] == 2, [true, false, false, false]);
}

#[test]
fn mixed_accesses() {
    let mp = |store: Ordering, load: Ordering, fences: bool| {
        move || {
            let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
            let writer = cells.clone();
            let writer = thread::spawn(move || {
                writer.0[X].store(1, Relaxed);
                if fences {
                    fence(Release);
                }
                writer.0[Y].store(1, store);
            });
            let y = cells.0[Y].load(load);
            if fences {
                fence(Acquire);
            }
            let x = cells.0[X].load(Relaxed);
            writer.join().unwrap();
            vec![y, x]
        }
    };
    let weak = |o: &Outcome| *o == [1, 0];
    verdict("release store, relaxed load", mp(Release, Relaxed, false), weak, true);
    verdict("relaxed store, acquire load", mp(Relaxed, Acquire, false), weak, true);
    verdict("release store, acquire load", mp(Release, Acquire, false), weak, false);
    verdict("release fence, acquire fence", mp(Relaxed, Relaxed, true), weak, false);

    // A SeqCst access against a SeqCst fence: the fence orders the other thread's accesses, too.
    let sb = || {
        let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
        let other = cells.clone();
        let other = thread::spawn(move || {
            other.0[X].store(1, SeqCst);
            other.0[Y].load(SeqCst)
        });
        cells.0[Y].store(1, Relaxed);
        fence(SeqCst);
        let x = cells.0[X].load(Relaxed);
        vec![x, other.join().unwrap()]
    };
    verdict("SB, accesses against fence", sb, |o| *o == [0, 0], false);
}

/// x=1; y=1 (release) | add to y (`middle`) | y (acquire), x
fn through_rmw(middle: Option<Ordering>) -> Outcome {
    let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
    let (writer, adder) = (cells.clone(), cells.clone());
    let writer = thread::spawn(move || {
        writer.0[X].store(1, Relaxed);
        writer.0[Y].store(1, Release);
        if middle.is_none() {
            writer.0[Y].store(2, Relaxed);
        }
    });
    let adder = thread::spawn(move || middle.map_or(0, |order| adder.0[Y].fetch_add(1, order)));
    let y = cells.0[Y].load(Acquire);
    let x = cells.0[X].load(Relaxed);
    writer.join().unwrap();
    vec![y, x, adder.join().unwrap()]
}

#[test]
fn release_sequences() {
    verdict("through an RMW", || through_rmw(Some(Relaxed)), |o| o[..2] == [2, 0] && o[2] == 1, false);
    verdict("through an acquire RMW", || through_rmw(Some(Acquire)), |o| o[..2] == [2, 0] && o[2] == 1, false);
    // C++20 has taken the thread's own later stores out of the sequence.
    verdict("own store", || through_rmw(None), |o| o[..2] == [2, 0], true);
}

#[test]
fn read_modify_writes_are_atomic() {
    let f = || {
        let x = Arc::new(AtomicU32::new(0));
        let adders: Vec<_> =
            (0..3).map(|_| Arc::clone(&x)).map(|x| thread::spawn(move || x.fetch_add(1, Relaxed))).collect();
        let mut seen: Outcome = adders.into_iter().map(|t| t.join().unwrap()).collect();
        seen.sort_unstable();
        seen.push(x.load(Relaxed));
        seen
    };
    assert_eq!(outcomes(Strategy::Dfs { preemptions: None }, 1_000_000, f), BTreeSet::from([vec![0, 1, 2, 3]]));
}

#[test]
fn a_failed_compare_and_swap_is_a_load_with_its_own_order() {
    let f = |failure: Ordering| {
        move || {
            let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
            let writer = cells.clone();
            let writer = thread::spawn(move || {
                writer.0[X].store(1, Relaxed);
                writer.0[Y].store(1, Release);
            });
            let y = cells.0[Y].compare_exchange(0, 5, AcqRel, failure);
            let x = cells.0[X].load(Relaxed);
            writer.join().unwrap();
            vec![u32::from(y.is_err()), x]
        }
    };
    verdict("failure acquire", f(Acquire), |o| *o == [1, 0], false);
    verdict("failure relaxed", f(Relaxed), |o| *o == [1, 0], true);
}

#[test]
fn locks_joins_and_tokens_synchronise() {
    use interleaf::sync::{Mutex, RwLock, mpsc};
    let never_stale = |f: &(dyn Fn(Arc<AtomicU32>) -> Option<u32> + Sync)| {
        let all = outcomes(Strategy::Dfs { preemptions: None }, 1_000_000, || {
            let x = Arc::new(AtomicU32::new(0));
            f(x).into_iter().collect()
        });
        assert!(!all.contains(&vec![0]), "a stale value was read");
        assert!(all.contains(&vec![1]), "{all:?}");
    };
    never_stale(&|x| {
        let there = Arc::clone(&x);
        thread::spawn(move || there.store(1, Relaxed)).join().unwrap();
        Some(x.load(Relaxed))
    });
    never_stale(&|x| {
        x.store(1, Relaxed);
        thread::spawn(move || Some(x.load(Relaxed))).join().unwrap()
    });
    never_stale(&|x| {
        let done = Arc::new(Mutex::new(false));
        let (there, set) = (Arc::clone(&x), Arc::clone(&done));
        let t = thread::spawn(move || {
            there.store(1, Relaxed);
            *set.lock().unwrap() = true;
        });
        let seen = done.lock().unwrap().then(|| x.load(Relaxed));
        t.join().unwrap();
        seen
    });
    never_stale(&|x| {
        let done = Arc::new(RwLock::new(false));
        let (there, set) = (Arc::clone(&x), Arc::clone(&done));
        let t = thread::spawn(move || {
            there.store(1, Relaxed);
            *set.write().unwrap() = true;
        });
        let seen = done.read().unwrap().then(|| x.load(Relaxed));
        t.join().unwrap();
        seen
    });
    never_stale(&|x| {
        let (sender, receiver) = mpsc::channel();
        let there = Arc::clone(&x);
        thread::spawn(move || {
            there.store(1, Relaxed);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        Some(x.load(Relaxed))
    });
    never_stale(&|x| {
        let there = Arc::clone(&x);
        let main = thread::current();
        thread::spawn(move || {
            there.store(1, Relaxed);
            main.unpark();
        });
        thread::park();
        Some(x.load(Relaxed))
    });
}

/// Store buffering in which one half is done by two threads: `half` stores to x and later loads y, in an order that only its
/// synchronisation makes. C++20: the store strongly happens before the load, so it is before it in the single order of all
/// SeqCst operations, and both loads cannot read 0.
fn buffering_in_halves(half: impl FnOnce(&Cells) -> Option<u32>) -> Outcome {
    let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
    let other = cells.clone();
    let other = thread::spawn(move || {
        other.0[Y].store(1, SeqCst);
        other.0[X].load(SeqCst)
    });
    let y = half(&cells);
    let x = other.join().unwrap();
    y.map_or_else(Vec::new, |y| vec![x, y])
}

#[test]
fn the_order_of_seq_cst_operations_follows_threads_that_start_and_end() {
    let weak = |o: &Outcome| *o == [0, 0];
    let spawn = |c: &Cells| {
        c.0[X].store(1, SeqCst);
        let there = c.clone();
        Some(thread::spawn(move || there.0[Y].load(SeqCst)).join().unwrap())
    };
    verdict("SB over a spawn", || buffering_in_halves(spawn), weak, false);
    let join = |c: &Cells| {
        let there = c.clone();
        thread::spawn(move || there.0[X].store(1, SeqCst)).join().unwrap();
        Some(c.0[Y].load(SeqCst))
    };
    verdict("SB over a join", || buffering_in_halves(join), weak, false);
    // Nothing but the order of addition orders them: allowed.
    let neither = |c: &Cells| {
        let there = c.clone();
        let started = thread::spawn(move || there.0[X].store(1, SeqCst));
        let y = c.0[Y].load(SeqCst);
        started.join().unwrap();
        Some(y)
    };
    verdict("SB in three threads", || buffering_in_halves(neither), weak, true);
}

/// A store to x that is SeqCst, then operations of the same thread on x; who acquires the last of them loads y, SeqCst.
fn buffering_by_a_message(between: Option<u32>) -> Outcome {
    let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
    let (writer, reader) = (cells.clone(), cells.clone());
    let writer = thread::spawn(move || {
        writer.0[X].store(1, SeqCst);
        if let Some(value) = between {
            writer.0[X].store(value, Release);
        }
    });
    let reader = thread::spawn(move || [reader.0[X].load(Acquire), reader.0[Y].load(SeqCst)]);
    cells.0[Y].store(1, SeqCst);
    let x = cells.0[X].load(SeqCst);
    writer.join().unwrap();
    let [message, y] = reader.join().unwrap();
    vec![message, y, x]
}

#[test]
fn a_seq_cst_store_that_somebody_acquires_is_not_ordered_by_that_alone() {
    // C++20: the store happens before the load of y, but not strongly: it is not sequenced before anything that
    // synchronises, and its reader is not SeqCst. This is what the change of C++20 is about (P0668R5).
    verdict("acquired itself", || buffering_by_a_message(None), |o| *o == [1, 0, 0], true);
    // Here it is sequenced before the store that synchronises, to whatever place that goes. (RC11 as published lets it pass,
    // because that place is the same.)
    verdict("acquired by the next", || buffering_by_a_message(Some(2)), |o| *o == [2, 0, 0], false);
}

#[test]
fn the_order_of_seq_cst_operations_follows_locks_messages_and_tokens() {
    use interleaf::sync::{Mutex, RwLock, mpsc};
    let never = |name: &str, half: &(dyn Fn(&Cells) -> Option<u32> + Sync)| {
        let dfs = Strategy::Dfs { preemptions: Some(3) };
        let all = outcomes(dfs, 1_000_000, || buffering_in_halves(half));
        assert!(!all.contains(&vec![0, 0]), "{name}: {all:?}");
        assert!(all.contains(&vec![0, 1]) && all.contains(&vec![1, 0]), "{name}: {all:?}");
    };
    never("mutex", &|c| {
        let done = Arc::new(Mutex::new(false));
        let (there, set) = (c.clone(), Arc::clone(&done));
        let t = thread::spawn(move || {
            there.0[X].store(1, SeqCst);
            *set.lock().unwrap() = true;
        });
        let seen = done.lock().unwrap().then(|| c.0[Y].load(SeqCst));
        t.join().unwrap();
        seen
    });
    never("readers-writer lock", &|c| {
        let done = Arc::new(RwLock::new(false));
        let (there, set) = (c.clone(), Arc::clone(&done));
        let t = thread::spawn(move || {
            there.0[X].store(1, SeqCst);
            *set.write().unwrap() = true;
        });
        let seen = done.read().unwrap().then(|| c.0[Y].load(SeqCst));
        t.join().unwrap();
        seen
    });
    never("channel", &|c| {
        let (sender, receiver) = mpsc::channel();
        let there = c.clone();
        thread::spawn(move || {
            there.0[X].store(1, SeqCst);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        Some(c.0[Y].load(SeqCst))
    });
    never("park", &|c| {
        let there = c.clone();
        let main = thread::current();
        thread::spawn(move || {
            there.0[X].store(1, SeqCst);
            main.unpark();
        });
        thread::park();
        Some(c.0[Y].load(SeqCst))
    });
}

#[test]
fn under_sequential_consistency_orderings_mean_nothing() {
    let found = Mutex::new(BTreeSet::new());
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).seeds(0..100_000).run(|| {
        let threads: [Body; 2] = [|c| write_then_read(c, X, Y), |c| write_then_read(c, Y, X)];
        found.lock().unwrap().insert(run(RLX, &threads));
    });
    assert!(report.complete);
    assert!(found.into_inner().unwrap().iter().all(|o| o[..2] != [0, 0]));
}

#[test]
fn what_is_got_by_exclusive_access_is_the_last_store() {
    let report = Explorer::new().memory_model(MemoryModel::Rc11).run(|| {
        let mut x = AtomicU32::new(1);
        thread::scope(|s| {
            s.spawn(|| x.store(2, Relaxed));
            s.spawn(|| x.store(3, Relaxed));
        });
        let last = *x.get_mut();
        assert_eq!(x.load(Relaxed), last);
        *x.get_mut() = 7;
        assert_eq!(x.load(Relaxed), 7);
        x.store(8, Relaxed);
        assert_eq!(x.fetch_add(1, Relaxed), 8);
        assert_eq!(x.into_inner(), 9);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_token_of_a_weak_run_replays() {
    use interleaf::{Replay, replay};
    let f = || {
        let cells = Cells(Arc::new([const { AtomicU32::new(0) }; 4]), RLX);
        let writer = cells.clone();
        let writer = thread::spawn(move || two_writes(&writer, (X, 1), (Y, 1)));
        let seen = two_reads(&cells, Y, X);
        writer.join().unwrap();
        assert_ne!(seen, [1, 0], "a stale read");
    };
    let report = Explorer::new().memory_model(MemoryModel::Rc11).run(f);
    let failure = report.first_failure().expect("the weak outcome");
    let Replay::Failed(again) = replay(&failure.token.parse().unwrap(), f) else { panic!("the replay passes") };
    assert_eq!(again.trace, failure.trace);
    assert_eq!(again.signature(), failure.signature());
    assert!(Explorer::new().run(f).failures.is_empty(), "sequential consistency has no such run");
}

/// The failure of a run in which the assertion about a message does not hold.
fn failed_message(store: Ordering, load: Ordering) -> interleaf::Failure {
    let f = move || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        interleaf::name(&shared.0, "value");
        interleaf::name(&shared.1, "flag");
        let writer = Arc::clone(&shared);
        let writer = thread::spawn(move || {
            writer.0.store(7, Relaxed);
            writer.1.store(1, store);
        });
        if shared.1.load(load) == 1 {
            assert_eq!(shared.0.load(Relaxed), 7, "the value is there");
        }
        writer.join().unwrap();
    };
    let strategy = Strategy::Exhaustive { preemptions: None };
    let report = Explorer::new().memory_model(MemoryModel::Rc11).strategy(strategy).run(f);
    report.failures.into_iter().next().expect("the weak outcome")
}

#[test]
fn a_failure_says_which_older_store_was_read_and_why() {
    let failure = failed_message(Release, Relaxed);
    assert_eq!(failure.trace.stale.len(), 1, "{failure}");
    let line = failure.trace.stale_lines().next().unwrap();
    for part in [
        "main: load value at ",
        "reads 0 from the first value, made at ",
        "although there is a newer one, 7 by main/0 at ",
        "none of them happens before this, nor is read by anything that does",
        "had read what main/0 stored after it at ",
        "but does not synchronise with that (the load is Relaxed)",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let text = failure.to_string();
    assert!(text.contains("not the latest, and why that is allowed") && text.contains(&line), "{text}");
    assert!(text.contains("load value (stale)"), "{text}");
    let json = interleaf::trace::jsonl::render(&failure.trace);
    assert_eq!(json.matches("\"stale\":\"reads 0 from").count(), 1, "{json}");
    let line = failed_message(Relaxed, Acquire).trace.stale_lines().next().unwrap();
    assert!(line.ends_with("(the store is Relaxed)"), "{line}");
    let line = failed_message(Relaxed, Relaxed).trace.stale_lines().next().unwrap();
    assert!(line.ends_with("(the store is Relaxed, the load Relaxed)"), "{line}");
}

#[test]
fn a_failure_says_which_store_was_put_before_others() {
    let f = || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1.store(2, Relaxed);
        });
        shared.1.store(1, Relaxed);
        shared.0.store(2, Relaxed);
        other.join().unwrap();
        let last = (shared.0.load(Relaxed), shared.1.load(Relaxed));
        assert_ne!(last, (1, 1), "each kept the first");
    };
    let strategy = Strategy::Exhaustive { preemptions: None };
    let report = Explorer::new().memory_model(MemoryModel::Rc11).strategy(strategy).run(f);
    let failure = report.first_failure().expect("the weak outcome");
    assert!(
        failure.trace.stale_lines().any(|l| l.contains("stores ") && l.contains(" in the past, although")),
        "{failure}"
    );
}

#[test]
fn a_choice_log_of_a_weak_run_repeats_it() {
    use interleaf::trace::choices::ChoiceLog;
    use interleaf::{Replay, replay_choices};
    let f = || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let writer = Arc::clone(&shared);
        let writer = thread::spawn(move || {
            writer.0.store(7, Relaxed);
            writer.1.store(1, Relaxed);
        });
        let seen = (shared.1.load(Relaxed), shared.0.load(Relaxed));
        writer.join().unwrap();
        assert_ne!(seen, (1, 0), "stale");
    };
    let strategy = Strategy::Exhaustive { preemptions: None };
    let report = Explorer::new().memory_model(MemoryModel::Rc11).strategy(strategy).run(f);
    let failure = report.first_failure().expect("the weak outcome");
    let text = failure.choices().render();
    assert!(text.lines().next().unwrap().ends_with(" memory=rc11"), "{text}");
    let log = ChoiceLog::parse(&text).unwrap();
    assert_eq!(log, failure.choices());
    let Replay::Failed(again) = replay_choices("stale", &log, None, f) else { panic!("it passes") };
    assert_eq!(again.signature(), failure.signature());
    assert_eq!(again.trace.stale, failure.trace.stale);
}
