//! What others can see of what a thread does next: steps of their own where somebody looks, and nowhere else.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, RwLock};
use interleaf::trace::choices::ChoiceLog;
use interleaf::{Explorer, Replay, Report, Strategy, replay, replay_choices, thread};

fn exhaust(f: impl Fn() + Sync) -> Report {
    let report =
        Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).seeds(0..100_000).max_failures(9).run(f);
    assert_eq!(report.exhaustive.redundant, 0);
    report
}

/// A thread that ends at once, or after another store, as what it reads says.
fn ends_sooner_or_later(asks: bool, seen: &Plain<BTreeSet<(bool, u32)>>) {
    let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let other = {
        let (x, y) = (Arc::clone(&x), Arc::clone(&y));
        thread::spawn(move || {
            if x.load(SeqCst) == 1 {
                y.store(1, SeqCst);
            }
        })
    };
    let finished = asks && other.is_finished();
    x.store(1, SeqCst);
    other.join().unwrap();
    seen.lock().unwrap().insert((finished, y.load(SeqCst)));
}

#[test]
fn a_thread_has_ended_before_or_after_somebody_asks() {
    let seen = Plain::new(BTreeSet::new());
    let report = exhaust(|| ends_sooner_or_later(true, &seen));
    assert!(report.complete && report.exhaustive.ends && report.failures.is_empty());
    // Asked before the end, the load finds 0 or 1; asked after it, it must have found 0.
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([(false, 0), (false, 1), (true, 0)]));
    assert_eq!(report.executions, 3);
    // Nobody asks: the load comes before the store, or after it, and the end is no step.
    let report = exhaust(|| ends_sooner_or_later(false, &Plain::default()));
    assert!(report.complete && !report.exhaustive.ends);
    assert_eq!(report.executions, 2);
}

#[test]
fn even_a_thread_without_operations_may_not_have_ended_yet() {
    let seen = Plain::new(BTreeSet::new());
    let report = exhaust(|| {
        let other = thread::spawn(|| ());
        seen.lock().unwrap().insert(other.is_finished());
        other.join().unwrap();
    });
    assert_eq!((report.complete, report.executions), (true, 2));
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([false, true]));
}

/// A writer announces itself or not, as what it reads says; who tries to read sees that.
#[test]
fn a_writer_waits_before_or_after_somebody_tries_to_read() {
    let seen = Plain::new(BTreeSet::new());
    let report = exhaust(|| {
        let (x, lock) = (Arc::new(AtomicU32::new(0)), Arc::new(RwLock::new(())));
        let reading = lock.read().unwrap();
        let writer = {
            let (x, lock) = (Arc::clone(&x), Arc::clone(&lock));
            thread::spawn(move || {
                if x.load(SeqCst) == 0 {
                    drop(lock.write().unwrap());
                }
            })
        };
        let tries = {
            let (x, lock) = (Arc::clone(&x), Arc::clone(&lock));
            thread::spawn(move || {
                let got = lock.try_read().is_ok();
                x.store(1, SeqCst);
                got
            })
        };
        let got = tries.join().unwrap();
        drop(reading);
        writer.join().unwrap();
        seen.lock().unwrap().insert((got, x.load(SeqCst)));
    });
    assert!(report.complete && report.exhaustive.queues && report.failures.is_empty());
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([(false, 1), (true, 1)]));
}

/// The steps belong to the run: a token and a labelled log repeat them.
#[test]
fn a_failure_that_needs_such_a_step_is_repeated() {
    let f = || {
        let other = thread::spawn(|| ());
        assert!(other.is_finished(), "not yet");
        other.join().unwrap();
    };
    let report = exhaust(f);
    let failure = &report.failures[0];
    let not_yet = |r: &Replay| matches!(r, Replay::Failed(f) if f.to_string().contains("not yet"));
    assert!(not_yet(&replay(&failure.token.parse().unwrap(), f)));
    let log = ChoiceLog::parse(&failure.choices().render()).unwrap();
    assert!(not_yet(&replay_choices("ends", &log, None, f)));
}
