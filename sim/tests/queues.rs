//! Readers behind waiting writers, in an exhaustive exploration: a choice only where it can change something.

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

use interleaf::sync::{Arc, Mutex, RwLock};
use interleaf::{Explorer, FailureKind, Report, Strategy, thread};

fn explore(f: impl Fn() + Sync) -> Report {
    Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).seeds(0..100_000).max_failures(1_000).run(f)
}

/// One thread takes the mutex and reads, one writes, and one reads and (if `inverted`) takes the mutex meanwhile.
fn three(inverted: bool) {
    let (outer, lock) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(0)));
    let first = {
        let (outer, lock) = (Arc::clone(&outer), Arc::clone(&lock));
        thread::spawn(move || {
            let _held = outer.lock().unwrap();
            drop(lock.read().unwrap());
        })
    };
    let writer = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || *lock.write().unwrap() += 1)
    };
    let reading = lock.read().unwrap();
    if inverted {
        drop(outer.lock().unwrap());
    }
    drop(reading);
    first.join().unwrap();
    writer.join().unwrap();
}

#[test]
fn a_cycle_through_a_read_lock_makes_queues_matter() {
    let report = explore(|| three(true));
    assert!(report.complete && report.exhaustive.queues, "{:?}", report.exhaustive);
    assert!(report.failures.iter().any(|f| matches!(f.kind, FailureKind::Deadlock { .. })), "no deadlock");
    for failure in &report.failures {
        assert!(matches!(failure.kind, FailureKind::Deadlock { .. }), "{failure}");
    }
}

#[test]
fn without_a_cycle_nobody_queues() {
    let report = explore(|| three(false));
    assert!(report.complete && report.failures.is_empty(), "{:?}", report.failures.first());
    assert!(!report.exhaustive.queues);
}

#[test]
fn a_try_to_read_may_fail_because_a_writer_waits() {
    let results = StdMutex::new(BTreeSet::new());
    let report = explore(|| {
        let lock = Arc::new(RwLock::new(0));
        let reading = lock.read().unwrap();
        let writer = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.write().unwrap() += 1)
        };
        let tries = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || lock.try_read().is_ok())
        };
        // Nobody but readers holds the lock by now.
        let got = tries.join().unwrap();
        drop(reading);
        writer.join().unwrap();
        results.lock().unwrap().insert(got);
    });
    assert!(report.complete && report.exhaustive.queues && report.failures.is_empty());
    assert_eq!(results.into_inner().unwrap(), BTreeSet::from([false, true]));
}

/// The writer waits for the first reader, that one for the end of the second, which is stuck behind the writer: no order
/// of locks has a cycle.
#[test]
fn a_join_with_a_read_lock_in_hand_makes_queues_matter() {
    let report = explore(|| {
        let (held, lock) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(0)));
        let reading = lock.read().unwrap();
        let writer = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.write().unwrap() += 1)
        };
        let reader = {
            let (held, lock) = (Arc::clone(&held), Arc::clone(&lock));
            thread::spawn(move || {
                let _held = held.lock().unwrap();
                drop(lock.read().unwrap());
            })
        };
        reader.join().unwrap();
        drop(reading);
        writer.join().unwrap();
    });
    assert!(report.complete && report.exhaustive.queues);
    assert!(report.failures.iter().any(|f| matches!(f.kind, FailureKind::Deadlock { .. })), "no deadlock");
}
