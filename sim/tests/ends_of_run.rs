//! How a run can end, and what is said of it.

use interleaf::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use interleaf::{Explorer, Failure, FailureKind, Faults, Replay, Strategy, Violation, replay, thread};

fn explore(f: impl Fn() + Sync) -> Option<Failure> {
    Explorer::new().run(f).failures.into_iter().next()
}

fn must_fail(f: impl Fn() + Sync) -> Failure {
    explore(&f).expect("no run failed")
}

#[test]
fn a_panic_that_join_returns_is_a_value() {
    let failure = explore(|| {
        let died = thread::spawn(|| panic!("an ordinary outcome")).join();
        assert!(died.is_err());
    });
    assert!(failure.is_none(), "{}", failure.unwrap());
}

#[test]
fn a_panic_that_nobody_takes_fails_the_run() {
    let failure = must_fail(|| {
        let handle = thread::spawn(|| panic!("nobody will know"));
        drop(handle);
    });
    let FailureKind::Panic { thread, panic } = &failure.kind else { panic!("{failure}") };
    assert_eq!((thread.as_str(), panic.message.as_str()), ("main/0", "nobody will know"));
    assert!(panic.location.starts_with("sim/tests/ends_of_run.rs:"), "{}", panic.location);
}

#[test]
fn a_panic_that_is_passed_on_is_told_as_the_first_one() {
    let failure = must_fail(|| thread::spawn(|| panic!("the cause")).join().unwrap());
    let FailureKind::Panic { thread, panic } = &failure.kind else { panic!("{failure}") };
    assert_eq!((thread.as_str(), panic.message.as_str()), ("main/0", "the cause"));
    let failure = must_fail(|| {
        thread::scope(|s| {
            s.spawn(|| panic!("the scoped cause"));
        });
    });
    assert!(failure.to_string().contains("the scoped cause"), "{failure}");
}

#[test]
fn a_violation_in_any_thread_ends_the_run_at_once_and_keeps_its_parts() {
    let failure = must_fail(|| {
        let handle = thread::spawn(|| {
            Violation::new("bank.conservation", "total changed").expected(100).actual(105).event("deposit of 5").raise()
        });
        let _ = handle.join();
    });
    let FailureKind::Violation(v) = &failure.kind else { panic!("{failure}") };
    assert_eq!((v.expected.as_str(), v.actual.as_str()), ("100", "105"));
    assert_eq!(failure.signature(), "bank.conservation/total-changed");
    assert!(failure.to_string().starts_with("bank.conservation: total changed (expected 100, got 105)\n"));
}

#[test]
fn two_threads_that_wait_for_each_other_are_found_while_a_third_runs_for_ever() {
    let failure = must_fail(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        interleaf::name(&locks.0, "left");
        interleaf::name(&locks.1, "right");
        let (a, b) = (Arc::clone(&locks), Arc::clone(&locks));
        thread::spawn(move || {
            let _left = a.0.lock();
            let _right = a.1.lock();
        });
        thread::spawn(move || {
            let _right = b.1.lock();
            let _left = b.0.lock();
        });
        // Without the cycle these are 50 steps; the deadlock must not have to wait for them.
        (0..50).for_each(|_| thread::yield_now());
    });
    let FailureKind::Deadlock { threads, all } = &failure.kind else { panic!("{failure}") };
    assert_eq!(threads.iter().map(|t| t.thread.as_str()).collect::<Vec<_>>(), ["main/0", "main/1"]);
    assert!(!all && failure.trace.events.len() < 60, "{failure}");
    assert_eq!(failure.signature(), "deadlock/left+right");
    let first = &threads[0];
    assert_eq!((first.object.as_str(), first.holders[0].thread.as_str()), ("right", "main/1"));
    let place = |text: &str| text.starts_with("sim/tests/ends_of_run.rs:");
    assert!(place(&first.location) && place(first.holders[0].since.as_deref().unwrap()), "{failure}");
    assert!(failure.to_string().contains("wants lock right"), "{failure}");
}

#[test]
fn a_thread_that_waits_for_itself_is_stuck() {
    let failure = must_fail(|| {
        let m = Mutex::new(());
        let _held = m.lock();
        let _again = m.lock();
    });
    assert!(matches!(&failure.kind, FailureKind::Deadlock { threads, .. } if threads.len() == 1), "{failure}");
}

#[test]
fn joining_a_thread_that_needs_ones_own_lock_is_a_cycle() {
    // Checker case L43.
    let failure = must_fail(|| {
        let m = Arc::new(Mutex::new(()));
        let other = Arc::clone(&m);
        let held = m.lock();
        let handle = thread::spawn(move || drop(other.lock()));
        let _ = handle.join();
        drop(held);
    });
    let FailureKind::Deadlock { threads, .. } = &failure.kind else { panic!("{failure}") };
    assert_eq!(threads.len(), 2);
    assert!(failure.to_string().contains("waits for the end of main/0"), "{failure}");
}

#[test]
fn a_reader_that_reads_again_can_be_stuck_behind_a_waiting_writer() {
    // Checker case L27; parking_lot issue 212.
    let twice = || {
        let l = Arc::new(RwLock::new(0));
        let writer = Arc::clone(&l);
        let handle = thread::spawn(move || *writer.write().unwrap() += 1);
        let first = l.read().unwrap();
        let second = l.read().unwrap();
        assert_eq!(*first, *second);
        drop((first, second));
        handle.join().unwrap();
    };
    let report =
        Explorer::new().strategy(Strategy::Dfs { preemptions: None }).max_failures(1_000).seeds(0..100_000).run(twice);
    assert!(report.complete);
    let stuck = report.failures.iter().filter(|f| matches!(f.kind, FailureKind::Deadlock { .. })).count();
    assert!(stuck > 0 && (stuck as u64) < report.executions, "{stuck} of {}", report.executions);
    assert!(report.failures[0].to_string().contains("behind a writer that waits"), "{}", report.failures[0]);
}

#[test]
fn readers_that_hold_nothing_never_deadlock_with_a_writer() {
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).seeds(0..100_000).run(|| {
        let l = Arc::new(RwLock::new(0));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let l = Arc::clone(&l);
                thread::spawn(move || if i == 0 { *l.write().unwrap() += 1 } else { drop(l.read().unwrap()) })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(report.executions, 6, "the acquisitions of three threads in any order");
}

#[test]
fn nobody_is_left_to_notify() {
    let failure = must_fail(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        let setter = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        // The bug: the flag is tested before the lock is taken for the wait.
        let ready = *pair.0.lock().unwrap();
        if !ready {
            drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
        }
        setter.join().unwrap();
    });
    let FailureKind::Deadlock { threads, all } = &failure.kind else { panic!("{failure}") };
    assert!(*all && threads.len() == 1 && failure.to_string().contains("wants wait"), "{failure}");
}

#[test]
fn a_livelock_ends_at_the_step_limit() {
    let report = Explorer::new().max_steps(500).seeds(0..1).run(|| {
        let never = AtomicBool::new(false);
        while !never.load(SeqCst) {
            interleaf::hint::spin_loop();
        }
    });
    let failure = &report.failures[0];
    assert!(matches!(failure.kind, FailureKind::StepLimit { steps: 500, .. }), "{failure}");
    assert_eq!(failure.signature(), "step-limit");
    // With the same bound in the token it replays to the same end (Shuttle issue 85).
    let again = replay(&failure.token.parse().unwrap(), || {
        let never = AtomicBool::new(false);
        while !never.load(SeqCst) {
            interleaf::hint::spin_loop();
        }
    });
    assert!(matches!(again, Replay::Failed(f) if f.kind.signature() == "step-limit"));
}

#[test]
fn armed_spurious_wakeups_break_a_wait_without_a_loop() {
    let hasty = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        let setter = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        if !*ready {
            ready = pair.1.wait(ready).unwrap();
        }
        assert!(*ready, "woken without reason");
        drop(ready);
        setter.join().unwrap();
    };
    assert!(Explorer::new().run(hasty).failures.is_empty(), "not armed: the code is right");
    let armed = Explorer::new().faults(Faults { spurious_wakeups: 1, weak_cas_failures: 0 }).run(hasty);
    assert!(armed.failures[0].to_string().contains("woken without reason"));
    assert!(armed.fired[0] > 0);
}

#[test]
fn armed_weak_failures_break_code_that_trusts_a_weak_exchange() {
    let trusting = || {
        let x = AtomicU32::new(0);
        assert!(x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok(), "nobody else is there");
    };
    assert!(Explorer::new().run(trusting).failures.is_empty());
    let armed = Explorer::new().faults(Faults { spurious_wakeups: 0, weak_cas_failures: 1 }).run(trusting);
    assert!(!armed.failures.is_empty() && armed.fired[1] > 0);
}

#[test]
fn notify_one_wakes_any_waiter() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    Explorer::new().run(|| {
        let state = Arc::new((Mutex::new((0, Vec::new())), Condvar::new()));
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..2)
            .map(|i| {
                let (state, sender) = (Arc::clone(&state), sender.clone());
                thread::spawn(move || {
                    let mut s = state.0.lock().unwrap();
                    s.0 += 1;
                    sender.send(()).unwrap();
                    s = state.1.wait(s).unwrap();
                    s.1.push(i);
                })
            })
            .collect();
        // Both wait, in the order in which they have counted.
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        while state.0.lock().unwrap().0 < 2 {}
        state.1.notify_one();
        while state.0.lock().unwrap().1.is_empty() {
            thread::yield_now();
        }
        state.1.notify_one();
        threads.into_iter().for_each(|t| t.join().unwrap());
        seen.lock().unwrap().insert(state.0.lock().unwrap().1.clone());
    });
    let seen: Vec<_> = seen.into_inner().unwrap().into_iter().collect();
    assert_eq!(seen, [vec![0, 1], vec![1, 0]]);
}

#[test]
fn a_lock_that_is_tried_makes_its_releases_points() {
    // Shuttle's own test: lock, add 1 against try_lock, add 1; try_lock, add 2. Final values exactly 1, 2, 3, 4.
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).seeds(0..10_000).run(|| {
        let m = Arc::new(Mutex::new(0));
        let other = Arc::clone(&m);
        let locker = thread::spawn(move || *other.lock().unwrap() += 1);
        for add in [1, 2] {
            if let Ok(mut value) = m.try_lock() {
                *value += add;
            }
        }
        locker.join().unwrap();
        seen.lock().unwrap().insert(*m.lock().unwrap());
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<i32>>(), [1, 2, 3, 4]);
}

#[test]
fn a_replay_diverges_if_the_program_has_become_another_one_or_shorter() {
    fn adds(times: u32) -> impl Fn() + Sync {
        move || {
            let x = Arc::new(AtomicU32::new(0));
            let y = Arc::clone(&x);
            let add = move |x: &AtomicU32| (0..times).for_each(|_| x.store(x.load(SeqCst) + 1, SeqCst));
            let other = thread::spawn(move || add(&y));
            add(&x);
            other.join().unwrap();
            assert_eq!(x.load(SeqCst), 2 * times);
        }
    }
    // A failure with many preemptions, so that its record is longer than the short program's runs.
    let report = Explorer::new().strategy(Strategy::Random).max_failures(200).run(adds(6));
    let long = report.failures.iter().max_by_key(|f| f.trace.preemptions()).unwrap();
    let token = long.token.parse().unwrap();
    assert!(matches!(replay(&token, adds(6)), Replay::Failed(again) if again.trace == long.trace));
    let Replay::Diverged(failure) = replay(&token, adds(1)) else { panic!("the record does not fit") };
    assert!(failure.to_string().contains("diverged"), "{failure}");
    let Replay::Diverged(failure) = replay(&token, || {}) else { panic!("nothing of the record happens") };
    assert!(failure.to_string().contains("decisions of the record left over"), "{failure}");
}

#[test]
fn a_cycle_through_a_join_is_found_while_a_third_thread_runs_for_ever() {
    let failure = must_fail(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        thread::spawn(|| {
            loop {
                thread::yield_now();
            }
        });
        let held = lock.lock().unwrap();
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        other.join().unwrap();
        drop(held);
    });
    assert!(matches!(failure.kind, FailureKind::Deadlock { all: false, .. }), "{failure}");
}

#[test]
fn a_waiter_woken_into_a_cycle_is_found_while_a_third_thread_runs_for_ever() {
    let report = Explorer::new().max_steps(500).max_failures(64).seeds(0..64).strategy(Strategy::Random).run(|| {
        let world = Arc::new((Mutex::new(0), Condvar::new(), Mutex::new(0), AtomicU32::new(0)));
        let (waits, needs) = (Arc::clone(&world), Arc::clone(&world));
        thread::spawn(move || {
            let _outer = waits.2.lock().unwrap();
            let inner = waits.0.lock().unwrap();
            waits.3.store(1, SeqCst);
            drop(waits.1.wait(inner));
        });
        thread::spawn(move || {
            while needs.3.load(SeqCst) == 0 {
                thread::yield_now();
            }
            // Free only once the other waits, with the outer lock.
            let _inner = needs.0.lock().unwrap();
            needs.3.store(2, SeqCst);
            let _outer = needs.2.lock().unwrap();
        });
        while world.3.load(SeqCst) < 2 {
            thread::yield_now();
        }
        world.1.notify_all();
        loop {
            thread::yield_now();
        }
    });
    assert_eq!(report.failures.len(), 64);
    for failure in &report.failures {
        assert!(matches!(failure.kind, FailureKind::Deadlock { all: false, .. }), "{failure}");
    }
}
