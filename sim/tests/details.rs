//! Small things that no other test would miss.

use std::sync::atomic::{AtomicBool as StdFlag, AtomicU64, Ordering::SeqCst as STD};

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use interleaf::{Explorer, FailureKind, Faults, Replay, Report, Strategy, replay, replay_choices, thread};

fn exhaustive() -> Explorer<'static> {
    Explorer::new().seeds(0..100_000).strategy(Strategy::Dfs { preemptions: None })
}

/// Runs everything and says whether `happens` was ever seen to be true.
fn ever(explorer: &Explorer<'_>, world: impl Fn() -> bool + Sync) -> bool {
    let seen = StdFlag::new(false);
    let report = explorer.run(|| {
        if world() {
            seen.store(true, STD);
        }
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    assert!(report.complete);
    seen.load(STD)
}

fn reproduces(report: &Report, world: impl Fn()) {
    let failure = report.first_failure().expect("a failure");
    match replay(&failure.token.parse().expect("a token"), world) {
        Replay::Failed(again) => assert_eq!(again.trace, failure.trace),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reader_that_tries_may_fail_because_of_a_waiting_writer() {
    let failed = ever(&exhaustive(), || {
        let lock = Arc::new(RwLock::new(0));
        let held = lock.read().unwrap();
        let writer = Arc::clone(&lock);
        let writer = thread::spawn(move || *writer.write().unwrap() += 1);
        let failed = lock.try_read().is_err();
        drop(held);
        writer.join().unwrap();
        failed
    });
    assert!(failed, "std may refuse a reader behind a writer that waits");
}

#[test]
fn unparking_a_thread_that_has_ended_does_not_reach_its_successor() {
    for _ in 0..2 {
        let report = exhaustive().run(|| {
            let first = thread::spawn(|| {});
            let handle = first.thread().clone();
            first.join().unwrap();
            // Has the same place in the runtime.
            let _second = thread::spawn(thread::park);
            handle.unpark();
        });
        let all = report.first_failure().expect("nobody unparks the second thread");
        assert!(matches!(all.kind, FailureKind::Deadlock { .. }), "{all}");
    }
}

#[test]
fn a_token_that_was_not_used_dies_with_its_thread() {
    let report = exhaustive().run(|| {
        let first = thread::spawn(|| thread::current().unpark());
        first.join().unwrap();
        thread::spawn(thread::park);
    });
    assert!(matches!(report.failures[0].kind, FailureKind::Deadlock { .. }));
}

#[test]
fn a_token_serves_one_park() {
    let report = exhaustive().run(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park();
    });
    assert!(matches!(report.failures[0].kind, FailureKind::Deadlock { .. }));
}

#[test]
fn faults_fire_at_most_as_often_as_armed() {
    let explorer = |faults| exhaustive().max_failures(1_000).faults(faults);
    for n in [0u32, 1, 2] {
        let weak = explorer(Faults { spurious_wakeups: 0, weak_cas_failures: n });
        let at_most = AtomicU64::new(0);
        let report = weak.run(|| {
            let x = AtomicU32::new(0);
            let failures = (0..4).filter(|_| x.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_err()).count();
            at_most.fetch_max(failures as u64, STD);
        });
        assert!(report.failures.is_empty() && report.complete);
        assert_eq!(at_most.load(STD), u64::from(n));
        let wakeups = explorer(Faults { spurious_wakeups: n, weak_cas_failures: 0 });
        let most = AtomicU64::new(0);
        let report = wakeups.run(|| {
            let pair = (Mutex::new(()), Condvar::new());
            let mut woken = 0;
            while woken < n {
                drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
                woken += 1;
                most.fetch_max(u64::from(woken), STD);
            }
            // Nobody notifies: the next wait can only end by a fault.
            drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
            most.fetch_max(u64::from(woken) + 1, STD);
        });
        assert!(!report.failures.is_empty());
        assert!(most.load(STD) <= u64::from(n), "{n} were armed");
    }
}

#[test]
fn faults_that_fired_are_counted() {
    let faults = Faults { spurious_wakeups: 1, weak_cas_failures: 1 };
    let report = Explorer::new().seeds(0..200).faults(faults).run(|| {
        let x = AtomicU32::new(0);
        let _ = x.compare_exchange_weak(0, 1, SeqCst, SeqCst);
        thread::current().unpark();
        thread::park();
    });
    assert!((20..180).contains(&report.fired[0]), "{:?}", report.fired);
    assert!((20..180).contains(&report.fired[1]), "{:?}", report.fired);
}

#[test]
fn a_condition_variable_with_two_mutexes_is_refused() {
    let report = Explorer::new().seeds(0..50).run(|| {
        let shared = Arc::new((Mutex::new(()), Mutex::new(()), Condvar::new()));
        let theirs = Arc::clone(&shared);
        thread::spawn(move || drop(theirs.2.wait(theirs.0.lock().unwrap())));
        drop(shared.2.wait(shared.1.lock().unwrap()));
    });
    let text = report.failures[0].kind.headline();
    assert!(text.contains("with two mutexes"), "{text}");
}

#[test]
fn the_end_of_a_channel_can_be_seen_from_both_sides() {
    let lost = ever(&exhaustive(), || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let other = thread::spawn(move || sender.send(1).is_err());
        drop(receiver);
        other.join().unwrap()
    });
    let kept = ever(&exhaustive(), || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let other = thread::spawn(move || sender.send(1).is_ok());
        drop(receiver);
        other.join().unwrap()
    });
    assert!(lost && kept);
    for wanted in [mpsc::TryRecvError::Empty, mpsc::TryRecvError::Disconnected] {
        assert!(ever(&exhaustive(), || {
            let (sender, receiver) = mpsc::channel::<u32>();
            let other = thread::spawn(move || drop(sender));
            let seen = receiver.try_recv() == Err(wanted);
            other.join().unwrap();
            seen
        }));
    }
}

#[test]
fn choices_of_values_are_replayed() {
    let faults = Faults { spurious_wakeups: 2, weak_cas_failures: 2 };
    let world = || {
        let x = AtomicU32::new(0);
        let failures = (0..4).filter(|_| x.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_err()).count();
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let others: Vec<_> = (0..3)
            .map(|i| {
                let pair = Arc::clone(&pair);
                thread::spawn(move || {
                    let mut turn = pair.1.wait(pair.0.lock().unwrap()).unwrap();
                    assert!(!(failures == 1 && *turn == 0 && i == 2), "the third one is the first");
                    *turn += 1;
                    drop(turn);
                    pair.1.notify_one();
                })
            })
            .collect();
        pair.1.notify_one();
        drop(others);
    };
    let explorer = Explorer::new().seeds(0..5_000).faults(faults).max_failures(20);
    let report = explorer.run(world);
    assert!(!report.failures.is_empty());
    assert!(report.failures.iter().all(|f| !matches!(f.kind, FailureKind::Nondeterminism { .. })));
    reproduces(&report, world);
}

#[test]
fn every_seed_is_run_once_and_a_flag_stops_the_search() {
    for n in [1, 63, 64, 65, 130] {
        let sum = AtomicU64::new(0);
        let report = Explorer::new().seeds(0..n).check_determinism(false).run(|| {
            let seed = interleaf::seed().unwrap_or_default();
            if seed < n {
                sum.fetch_add(1 << 32 | seed, STD);
            }
        });
        assert_eq!(report.executions, n);
        assert_eq!(sum.load(STD), (n << 32) + n * (n - 1) / 2);
    }
    let stop = StdFlag::new(true);
    assert_eq!(Explorer::new().stop_when(&stop).run(|| {}).executions, 0);
    stop.store(false, STD);
    let some = Explorer::new().check_determinism(false).stop_when(&stop).run(|| {
        if interleaf::seed() == Some(3) {
            stop.store(true, STD);
        }
    });
    assert_eq!(some.executions, 4);
}

#[test]
fn nondeterminism_of_a_later_seed_is_found() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let report = Explorer::new().seeds(0..100).run(|| {
        let steps = if interleaf::seed() == Some(32) { COUNT.fetch_add(1, STD) } else { 0 };
        (0..steps).for_each(|_| thread::yield_now());
    });
    assert!(matches!(report.failures[0].kind, FailureKind::Nondeterminism { .. }));
    assert_eq!(report.failures[0].seed, 32);
    assert_eq!(report.compared, 7);
}

#[test]
fn a_run_of_exactly_the_greatest_number_of_steps_passes() {
    for (steps, passes) in [(9, true), (10, true), (11, false)] {
        for strategy in ["random", "pct:2", "pos", "urw", "surw", "dfs"] {
            let explorer = Explorer::new().seeds(0..3).strategy(strategy.parse().unwrap()).max_steps(10);
            let report = explorer.run(|| (0..steps).for_each(|_| thread::yield_now()));
            assert_eq!(report.failures.is_empty(), passes, "{strategy} {steps}");
        }
    }
}

#[test]
fn a_writer_that_waits_is_not_let_in_by_a_reader_that_comes_first() {
    let explorer = exhaustive();
    let both = ever(&explorer, || {
        let lock = Arc::new((RwLock::new(0), AtomicU32::new(0)));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || {
            let _read = theirs.0.read().unwrap();
            theirs.1.store(1, SeqCst);
            theirs.1.store(0, SeqCst);
        });
        let held = lock.0.write().unwrap();
        let inside = lock.1.load(SeqCst) == 1;
        drop(held);
        other.join().unwrap();
        inside
    });
    assert!(!both, "a writer and a reader had the lock at once");
}

#[test]
fn readers_do_not_queue_behind_a_writer_that_has_gone() {
    let report = exhaustive().run(|| {
        let locks = Arc::new((Mutex::new(()), RwLock::new(0), AtomicU32::new(0)));
        let (writes, reads) = (Arc::clone(&locks), Arc::clone(&locks));
        let writer = thread::spawn(move || *writes.1.write().unwrap() += 1);
        let reader = thread::spawn(move || {
            let _read = reads.1.read();
            reads.2.store(1, SeqCst);
        });
        // A reader that holds something is the one that may be told to queue.
        let held = locks.0.lock().unwrap();
        drop(locks.1.read());
        drop(held);
        drop(locks.1.read());
        writer.join().unwrap();
        reader.join().unwrap();
    });
    assert!(report.complete && report.failures.is_empty(), "{:?}", report.failures);
}

#[test]
fn a_late_try_sees_the_lock_still_held_after_its_holders_last_operation() {
    assert!(ever(&exhaustive(), || {
        let lock = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || {
            let _held = theirs.0.lock().unwrap();
            theirs.1.store(1, SeqCst);
        });
        let seen = lock.1.load(SeqCst) == 1 && lock.0.try_lock().is_err();
        other.join().unwrap();
        seen
    }));
}

#[test]
fn who_reads_twice_and_stops_once_still_holds() {
    let report = Explorer::new().max_steps(2_000).run(|| {
        let locks = Arc::new((RwLock::new(0), Mutex::new(()), AtomicU32::new(0)));
        let (a, b) = (Arc::clone(&locks), Arc::clone(&locks));
        thread::spawn(move || {
            let first = a.0.read().unwrap();
            let second = a.0.read().unwrap();
            a.2.store(1, SeqCst);
            drop(second);
            drop(a.1.lock().unwrap());
            drop(first);
        });
        thread::spawn(move || {
            while b.2.load(SeqCst) == 0 {
                thread::yield_now();
            }
            let _held = b.1.lock().unwrap();
            *b.0.write().unwrap() += 1;
        });
        // Ends only if the other two do not.
        (0..200).for_each(|_| thread::yield_now());
    });
    // The third thread still runs when the cycle closes.
    assert!(matches!(report.failures[0].kind, FailureKind::Deadlock { all: false, .. }), "{}", report.failures[0]);
}

#[test]
fn a_sleep_takes_exactly_its_time() {
    use interleaf::time::{Duration, Instant};
    let report = Explorer::new().run(|| {
        let others = [3u64, 1, 2].map(|ms| {
            thread::spawn(move || {
                for _ in 0..2 {
                    let start = Instant::now();
                    thread::sleep(Duration::from_millis(ms));
                    assert_eq!(start.elapsed(), Duration::from_millis(ms));
                }
            })
        });
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(Instant::now() - Instant::now(), Duration::ZERO);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn readers_that_try_commute() {
    let report = exhaustive().count_distinct(true).run(|| {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || drop(theirs.try_read()));
        drop(lock.try_read());
        other.join().unwrap();
    });
    assert!(report.complete && report.executions > 1);
    assert_eq!(report.distinct, 1);
}

#[test]
fn a_labelled_log_repeats_choices_of_values() {
    let faults = Faults { spurious_wakeups: 0, weak_cas_failures: 3 };
    let world = || {
        let x = AtomicU32::new(0);
        let failed = |_: &u32| x.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_err();
        assert_ne!((0..6).filter(failed).collect::<Vec<_>>(), [1, 2, 5], "this very combination");
    };
    let report = Explorer::new().seeds(0..10_000).faults(faults).run(world);
    let log = report.failures[0].choices();
    assert!(matches!(replay_choices("values", &log, None, world), Replay::Failed(_)));
    reproduces(&report, world);
}

#[test]
fn a_program_that_tries_locks_is_known_as_such_before_the_search() {
    let report = Explorer::new().seeds(0..200).run(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        thread::yield_now();
        drop(lock.try_lock());
        other.join().unwrap();
    });
    assert_eq!(report.repeated, 0);
}
