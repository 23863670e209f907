//! What other testers of concurrent Rust are publicly known to miss or to report falsely. Written from the descriptions of
//! the issues; memory is sequentially consistent here, so issues about weak memory (Loom 180) have no place in this file.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;

use interleaf::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex};
use interleaf::{Explorer, Replay, Report, Strategy, Token, replay, thread};

fn explore<T: Ord + Send>(run: impl Fn() -> T + Sync) -> (BTreeSet<T>, Report) {
    let outcomes = Plain::new(BTreeSet::new());
    let report = Explorer::new().seeds(0..100_000).strategy(Strategy::Exhaustive { preemptions: None }).run(|| {
        let outcome = run();
        outcomes.lock().unwrap().insert(outcome);
    });
    (outcomes.into_inner().unwrap(), report)
}

/// <https://github.com/tokio-rs/loom/issues/392>: if a new thread begins with a load, Loom 0.7 takes it out of the
/// exploration and runs once; one of the two outcomes is never seen.
#[test]
fn loom_392_a_thread_that_begins_with_a_load() {
    let (outcomes, report) = explore(|| {
        let done = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&done);
        let other = thread::spawn(move || {
            theirs.load(SeqCst);
            theirs.store(true, SeqCst);
        });
        let seen = done.load(SeqCst);
        other.join().unwrap();
        seen
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(outcomes, BTreeSet::from([false, true]));
    assert_eq!(report.executions, 2);
}

/// <https://github.com/tokio-rs/loom/issues/166>: a load whose result is not used takes an outcome away.
#[test]
fn loom_166_a_load_that_is_not_used() {
    let outcomes = |more: bool| {
        let (outcomes, report) = explore(|| {
            let entry = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let (ours, theirs) = (Arc::clone(&entry), entry);
            let writer = thread::spawn(move || {
                let (key, value) = &*ours;
                key.store(1, SeqCst);
                value.store(1, SeqCst);
                value.store(0, SeqCst);
                if more {
                    key.load(SeqCst);
                }
                key.store(0, SeqCst);
            });
            let reader = thread::spawn(move || (theirs.1.load(SeqCst), theirs.0.load(SeqCst)));
            writer.join().unwrap();
            reader.join().unwrap()
        });
        assert!(report.complete && report.failures.is_empty());
        outcomes
    };
    assert_eq!(outcomes(false), BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
    assert_eq!(outcomes(true), outcomes(false));
}

/// <https://github.com/tokio-rs/loom/issues/376>: `try_lock` from two threads is reported as a deadlock.
#[test]
fn loom_376_two_threads_that_try_a_lock() {
    let (outcomes, report) = explore(|| {
        let lock = Arc::new(Mutex::new(()));
        let tries = |lock: Arc<Mutex<()>>| move || lock.try_lock().is_ok();
        let (a, b) = (thread::spawn(tries(Arc::clone(&lock))), thread::spawn(tries(lock)));
        (a.join().unwrap(), b.join().unwrap())
    });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(outcomes, BTreeSet::from([(true, true), (true, false), (false, true)]));
}

/// <https://github.com/tokio-rs/loom/issues/422>: a condition variable takes the token of `park`, so that a later `park`
/// hangs (a false deadlock), and a wait ends by an `unpark` (a deadlock that is missed).
#[test]
fn loom_422_a_condition_variable_leaves_the_token_alone() {
    let wait = |notify: bool| {
        explore(move || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let theirs = Arc::clone(&pair);
            let waiter = thread::spawn(move || {
                let mut ready = theirs.0.lock().unwrap();
                while !*ready {
                    ready = theirs.1.wait(ready).unwrap();
                }
                drop(ready);
                thread::park();
            });
            waiter.thread().unpark();
            if notify {
                *pair.0.lock().unwrap() = true;
                pair.1.notify_one();
            }
            waiter.join().unwrap();
        })
        .1
    };
    let report = wait(true);
    assert!(report.complete && report.failures.is_empty(), "a token given before or during the wait is there after it");
    assert!(!wait(false).failures.is_empty(), "an unpark ends no wait");
}

/// <https://github.com/awslabs/shuttle/issues/197>: a destructor that uses a lock while a panic unwinds is scheduled, and
/// the printed schedule does not replay.
#[test]
fn shuttle_197_a_destructor_that_locks_while_a_panic_unwinds() {
    struct Last(Arc<Mutex<u32>>);
    impl Drop for Last {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let world = || {
        let (count, x) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU32::new(0)));
        let (theirs, y) = (Arc::clone(&count), Arc::clone(&x));
        let other = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            y.store(1, SeqCst);
            *theirs.lock().unwrap() += 1;
        });
        let last = Last(count);
        assert_eq!(x.load(SeqCst), 0, "the other came first");
        drop(last);
        other.join().unwrap();
    };
    let (_, report) = explore(world);
    let failure = report.first_failure().expect("the store can come first");
    assert!(failure.kind.headline().contains("the other came first"), "{failure}");
    let token: Token = failure.token.parse().expect("a token");
    assert!(matches!(replay(&token, world), Replay::Failed(_)), "the token repeats it");
}

/// PCT promises a bug of depth d with probability at least 1/(n·k^(d-1)) in each run. Where priorities are changed at
/// steps that have no choice, or the running thread is asked before it is compared with the others, that is lost. Here a
/// bug of depth 2 among two threads of five steps each must come at least once in 2·10 runs on average.
#[test]
fn pct_keeps_its_promise() {
    let runs = 2_000;
    let report =
        Explorer::new().strategy(Strategy::Pct { depth: 2 }).seeds(0..runs).max_failures(usize::MAX).run(|| {
            let x = Arc::new(AtomicU32::new(0));
            let y = Arc::clone(&x);
            let other = thread::spawn(move || (0..5).for_each(|n| y.store(n + 1, SeqCst)));
            // Only between the third and the fourth load does the other do all it does.
            let seen: Vec<u32> = (0..5).map(|_| x.load(SeqCst)).collect();
            other.join().unwrap();
            assert_ne!(seen, [0, 0, 0, 5, 5]);
        });
    let found = report.failures.len() as u64;
    assert!(found * 20 >= runs, "{found} of {runs}");
}
