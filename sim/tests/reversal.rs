//! What a failure hangs on: the one order of two operations without which the program passes.

use interleaf::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, mpsc};
use interleaf::{Explorer, Failure, Operation, Replay, Strategy, name, replay, thread};

fn fails(f: impl Fn() + Sync) -> (Failure, Replay) {
    let strategy = Strategy::Iterative { preemptions: 3 };
    let report = Explorer::new().strategy(strategy).seeds(0..10_000).run(&f);
    let failure = report.first_failure().expect("a failure").clone();
    let reversal = failure.reversal.as_ref().unwrap_or_else(|| panic!("nothing to reverse: {failure}"));
    let again = replay(&reversal.token.parse().expect("a token"), &f);
    (failure, again)
}

#[track_caller]
fn hangs_on(f: impl Fn() + Sync, later: &str, earlier: &str) {
    let (failure, again) = fails(f);
    let reversal = failure.reversal.as_ref().expect("checked");
    let says = |o: &Operation| format!("{} {:?} {}", o.thread, o.kind, o.object);
    assert_eq!((&*says(&reversal.later), &*says(&reversal.earlier)), (later, earlier), "{failure}");
    for operation in [&reversal.later, &reversal.earlier] {
        assert!(operation.location.contains("reversal.rs:"), "{operation}");
    }
    assert!(matches!(again, Replay::Passed(_)), "the run that passes can be repeated");
    let line = format!("passes if {} comes before {}", reversal.later, reversal.earlier);
    assert!(failure.to_string().contains(&line), "{failure}");
}

#[test]
fn a_lost_update_hangs_on_a_store_that_comes_too_late() {
    let program = || {
        let cell = Arc::new(AtomicU32::new(0));
        name(&*cell, "cell");
        let add = |cell: &Arc<AtomicU32>| {
            let cell = Arc::clone(cell);
            thread::spawn(move || {
                let seen = cell.load(SeqCst);
                cell.store(seen + 1, SeqCst);
            })
        };
        let threads = [add(&cell), add(&cell)];
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(cell.load(SeqCst), 2);
    };
    hangs_on(program, "main/0 Store cell", "main/1 Load cell");
}

#[test]
fn a_check_then_act_hangs_on_what_comes_between() {
    let program = || {
        let (open, used) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        name(&*open, "open");
        let user = {
            let (open, used) = (Arc::clone(&open), Arc::clone(&used));
            thread::spawn(move || {
                if open.load(SeqCst) {
                    used.store(true, SeqCst);
                    assert!(open.load(SeqCst), "used after it was closed");
                }
            })
        };
        open.store(false, SeqCst);
        user.join().unwrap();
    };
    let (failure, again) = fails(program);
    let reversal = failure.reversal.as_ref().expect("checked");
    assert!(matches!(again, Replay::Passed(_)), "{failure}");
    // Either side of the check will do; the nearer one is told.
    assert_eq!((&*reversal.later.object, &*reversal.earlier.object), ("open", "open"), "{failure}");
}

#[test]
fn a_lost_wakeup_hangs_on_a_flag_that_is_read_too_early() {
    let program = || {
        let ready = Arc::new(AtomicBool::new(false));
        name(&*ready, "ready");
        let bell = Arc::new((Mutex::new(()), Condvar::new()));
        let waiter = {
            let (ready, bell) = (Arc::clone(&ready), Arc::clone(&bell));
            thread::spawn(move || {
                if !ready.load(SeqCst) {
                    let guard = bell.0.lock().unwrap();
                    drop(bell.1.wait(guard).unwrap());
                }
            })
        };
        ready.store(true, SeqCst);
        {
            let _guard = bell.0.lock().unwrap();
            bell.1.notify_one();
        }
        waiter.join().unwrap();
    };
    hangs_on(program, "main Store ready", "main/0 Load ready");
}

#[test]
fn an_operation_that_was_waited_for_may_be_what_comes_too_late() {
    let program = || {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        name(&*a, "a");
        name(&*b, "b");
        let other = {
            let (a, b) = (Arc::clone(&a), Arc::clone(&b));
            thread::spawn(move || {
                let _b = b.lock().unwrap();
                let _a = a.lock().unwrap();
            })
        };
        {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        }
        other.join().unwrap();
    };
    let (failure, again) = fails(program);
    let reversal = failure.reversal.as_ref().expect("checked");
    assert!(matches!(again, Replay::Passed(_)), "{failure}");
    assert_eq!(format!("{:?} {:?}", reversal.later.kind, reversal.earlier.kind), "Lock Lock", "{failure}");
    assert_eq!(reversal.later.object, reversal.earlier.object, "{failure}");
    assert!(!reversal.later.location.is_empty(), "{failure}");
}

#[test]
fn a_failure_of_every_schedule_hangs_on_nothing() {
    let report = Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).run(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        let got = receiver.recv().unwrap();
        other.join().unwrap();
        assert_eq!(got, 2);
    });
    let failure = report.first_failure().expect("a failure");
    assert_eq!(failure.reversal, None);
    assert!(!failure.to_string().contains("passes if"));
}
