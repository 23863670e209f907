//! Exhaustive exploration of threads that spin: it ends, and finds every outcome.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex as Plain};

use interleaf::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use interleaf::{Explorer, FailureKind, Report, Strategy, hint, thread};

/// Explores all traces. What `run` gives is an outcome.
fn explore<T: Ord + Clone + Send + Debug>(run: impl Fn() -> T + Sync) -> (BTreeSet<T>, Report) {
    let outcomes = Plain::new(BTreeSet::new());
    let report = Explorer::new()
        .seeds(0..20_000)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .count_distinct(true)
        .max_failures(usize::MAX)
        .run(|| {
            let outcome = run();
            outcomes.lock().unwrap().insert(outcome);
        });
    assert!(report.complete, "it does not end: {} runs", report.executions);
    assert_eq!(report.executions, report.distinct, "a trace twice");
    (outcomes.into_inner().unwrap(), report)
}

#[test]
fn a_loop_that_waits_for_a_flag_ends() {
    for spin in [thread::yield_now as fn(), hint::spin_loop] {
        let (outcomes, report) = explore(|| {
            let (flag, x) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
            let other = {
                let (flag, x) = (Arc::clone(&flag), Arc::clone(&x));
                thread::spawn(move || {
                    x.store(1, SeqCst);
                    flag.store(true, SeqCst);
                    x.store(2, SeqCst);
                })
            };
            while !flag.load(SeqCst) {
                spin();
            }
            let seen = x.load(SeqCst);
            other.join().unwrap();
            seen
        });
        assert!(report.failures.is_empty());
        assert_eq!(outcomes, BTreeSet::from([1, 2]));
    }
}

#[test]
fn who_gives_up_after_some_rounds_is_found_although_the_other_came_later() {
    for tries in [1_u64, 2, 3, 4, 10] {
        let (outcomes, report) = explore(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = Arc::clone(&flag);
            let other = thread::spawn(move || theirs.store(true, SeqCst));
            let seen = (0..tries).position(|_| {
                let seen = flag.load(SeqCst);
                if !seen {
                    thread::yield_now();
                }
                seen
            });
            other.join().unwrap();
            seen
        });
        assert!(report.failures.is_empty());
        let all: BTreeSet<_> = (0..tries as usize).map(Some).chain([None]).collect();
        assert_eq!(outcomes, all, "success in each round, and none");
        assert_eq!(report.executions, tries + 1);
    }
}

#[test]
fn what_a_loop_that_gave_up_does_next_comes_before_the_others_too() {
    let (outcomes, _) = explore(|| {
        let (never, x) = (AtomicBool::new(false), Arc::new(AtomicU32::new(0)));
        let theirs = Arc::clone(&x);
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        for _ in 0..5 {
            if never.load(SeqCst) {
                break;
            }
            thread::yield_now();
        }
        let seen = x.load(SeqCst);
        other.join().unwrap();
        seen
    });
    assert_eq!(outcomes, BTreeSet::from([0, 1]));
}

#[test]
fn a_livelock_is_a_failure() {
    let (outcomes, report) = explore(|| {
        let (a, b) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let other = {
            let (a, b) = (Arc::clone(&a), Arc::clone(&b));
            thread::spawn(move || {
                while !a.load(SeqCst) {
                    thread::yield_now();
                }
                b.store(true, SeqCst);
            })
        };
        while !b.load(SeqCst) {
            hint::spin_loop();
        }
        a.store(true, SeqCst);
        other.join().unwrap();
    });
    assert!(outcomes.is_empty());
    assert!(!report.failures.is_empty());
    assert!(report.failures.iter().all(|f| matches!(f.kind, FailureKind::StepLimit { .. })));
}

/// Threads that take a lock once each. Returns how many were inside at once, at most.
fn inside_at_once(threads: u32, lock: fn(&[AtomicU32; 2]) -> u32, unlock: fn(&[AtomicU32; 2], u32)) -> (u32, Report) {
    let (outcomes, report) = explore(|| {
        let world = Arc::new(([AtomicU32::new(0), AtomicU32::new(0)], AtomicU32::new(0)));
        let all: Vec<_> = (0..threads)
            .map(|_| {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    let ticket = lock(&world.0);
                    let inside = world.1.fetch_add(1, SeqCst) + 1;
                    world.1.fetch_sub(1, SeqCst);
                    unlock(&world.0, ticket);
                    inside
                })
            })
            .collect();
        all.into_iter().map(|t| t.join().unwrap()).max().unwrap_or_default()
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    (outcomes.into_iter().max().unwrap_or_default(), report)
}

#[test]
fn a_ticket_lock_excludes() {
    for threads in [2, 3] {
        let lock = |[next, serving]: &[AtomicU32; 2]| {
            let mine = next.fetch_add(1, SeqCst);
            while serving.load(SeqCst) != mine {
                hint::spin_loop();
            }
            mine
        };
        let (inside, _) = inside_at_once(threads, lock, |[_, serving], mine| serving.store(mine + 1, SeqCst));
        assert_eq!(inside, 1);
    }
}

#[test]
fn a_compare_and_swap_lock_excludes() {
    let lock = |[held, _]: &[AtomicU32; 2]| {
        while held.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            thread::yield_now();
        }
        0
    };
    assert_eq!(inside_at_once(3, lock, |[held, _], _| held.store(0, SeqCst)).0, 1);
}

#[test]
fn a_lock_that_looks_before_it_takes_is_broken() {
    let lock = |[held, _]: &[AtomicU32; 2]| {
        while held.load(SeqCst) == 1 {
            hint::spin_loop();
        }
        held.store(1, SeqCst);
        0
    };
    assert_eq!(inside_at_once(2, lock, |[held, _], _| held.store(0, SeqCst)).0, 2);
}
