//! Reports of runs that are stuck say what each thread waits for.

use std::time::Duration;

use interleaf::monitor::OpKind;
use interleaf::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, mpsc};
use interleaf::{Explorer, FailureKind, thread};

/// The lines of the deadlock that a program always runs into, and whether nobody else could run.
fn stuck(f: impl Fn() + Sync) -> (Vec<String>, bool) {
    let report = Explorer::new().seeds(0..20).run(f);
    let failure = report.first_failure().expect("it is stuck");
    let FailureKind::Deadlock { all, .. } = &failure.kind else { panic!("{failure}") };
    // Lines and columns of this file are of no interest.
    let place = |word: &str| match word.split_once("blocked.rs:") {
        Some((_, rest)) => format!("blocked.rs{}", if rest.ends_with(',') { "," } else { "" }),
        None => word.to_owned(),
    };
    let line = |line: String| line.split(' ').map(place).collect::<Vec<_>>().join(" ");
    (failure.kind.details().into_iter().map(line).collect(), *all)
}

#[test]
fn a_barrier_tells_how_many_have_come() {
    let (lines, all) = stuck(|| {
        let gate = Arc::new(Barrier::new(3));
        interleaf::name(&*gate, "Gate");
        let theirs = Arc::clone(&gate);
        let other = thread::spawn(move || theirs.wait());
        gate.wait();
        other.join().unwrap();
    });
    assert!(all);
    assert_eq!(
        lines,
        [
            "main wants barrier Gate at blocked.rs, where 2 of 3 have arrived",
            "main/0 wants barrier Gate at blocked.rs, where 2 of 3 have arrived"
        ]
    );
}

#[test]
fn an_initialiser_that_initialises_itself_waits_for_itself() {
    let expected = ["main wants init X at blocked.rs, held by main since blocked.rs"];
    let (lines, _) = stuck(|| {
        let once = Once::new();
        interleaf::name(&once, "X");
        once.call_once(|| once.call_once(|| ()));
    });
    assert_eq!(lines, expected);
    let (lines, _) = stuck(|| {
        let cell = OnceLock::new();
        interleaf::name(&cell, "X");
        cell.get_or_init(|| cell.set(1).map_or(2, |()| 3));
    });
    assert_eq!(lines, expected);
    let (lines, _) = stuck(|| {
        static LAZY: LazyLock<u8> = LazyLock::new(|| *LAZY);
        interleaf::name(&LAZY, "X");
        LazyLock::force(&LAZY);
    });
    assert_eq!(lines, expected);
    let (lines, _) = stuck(|| {
        let cell = OnceLock::<u8>::new();
        interleaf::name(&cell, "X");
        cell.get_or_init(|| *cell.wait());
    });
    assert_eq!(lines, ["main wants init_wait X at blocked.rs, held by main since blocked.rs"]);
}

#[test]
fn two_lazy_values_that_need_each_other_are_found_while_others_run() {
    static A: LazyLock<u8> = LazyLock::new(|| *B + 1);
    static B: LazyLock<u8> = LazyLock::new(|| if interleaf::seed().is_some() { *A } else { 0 });
    let (lines, all) = stuck(|| {
        interleaf::name(&A, "A");
        interleaf::name(&B, "B");
        let lock = Arc::new(Mutex::new(()));
        let busy = Arc::clone(&lock);
        thread::spawn(move || {
            loop {
                drop(busy.lock());
            }
        });
        let other = thread::spawn(|| *B);
        assert_eq!(*A, 2);
        other.join().unwrap();
    });
    assert!(!all, "another thread runs on");
    let waits = |line: &String| line.contains(" wants init ") && line.contains(" held by main");
    assert!(lines.iter().any(waits), "{lines:?}");
    assert_eq!(*A, 1, "outside a run there is no cycle");
}

#[test]
fn an_initialiser_and_the_holder_of_a_lock_are_one_cycle() {
    let report = Explorer::new().run(|| {
        let both = Arc::new((Mutex::new(()), Once::new()));
        let theirs = Arc::clone(&both);
        let other = thread::spawn(move || theirs.1.call_once(|| drop(theirs.0.lock())));
        let held = both.0.lock().unwrap();
        both.1.call_once(|| ());
        drop(held);
        other.join().unwrap();
    });
    let failure = report.first_failure().expect("one locks, the other initialises");
    let FailureKind::Deadlock { threads, .. } = &failure.kind else { panic!("{failure}") };
    let wants: Vec<OpKind> = threads.iter().map(|b| b.wants).collect();
    assert_eq!(wants, [OpKind::Init, OpKind::Lock], "{failure}");
    assert_eq!((threads[0].holders[0].thread.as_str(), threads[1].holders[0].thread.as_str()), ("main/0", "main"));
}

#[test]
fn channels_tell_which_side_waits() {
    let (lines, _) = stuck(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        other.join().unwrap();
        drop(receiver);
    });
    assert_eq!(
        lines,
        [
            "main wants join main/0 at blocked.rs, waits for the end of main/0",
            "main/0 wants send blocked.rs at blocked.rs"
        ]
    );
    let (lines, _) = stuck(|| {
        let (sender, receiver) = mpsc::sync_channel::<u8>(0);
        let other = thread::spawn(move || receiver.recv());
        let _ = other.join();
        drop(sender);
    });
    assert_eq!(lines[1], "main/0 wants recv blocked.rs at blocked.rs");
    let (lines, _) = stuck(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        sender.send(1).unwrap();
        drop(receiver);
    });
    assert_eq!(lines, ["main wants send blocked.rs at blocked.rs"]);
}

#[test]
fn a_wait_with_a_timeout_is_never_stuck() {
    let report = Explorer::new().seeds(0..50).run(|| {
        let hour = Duration::from_secs(3_600);
        for bound in [0, 1] {
            let (sender, receiver) = mpsc::sync_channel::<u8>(bound);
            assert!(receiver.recv_timeout(hour).is_err());
            drop(sender);
        }
        thread::park_timeout(hour);
        let pair = (Mutex::new(()), Condvar::new());
        drop(pair.1.wait_timeout(pair.0.lock().unwrap(), hour));
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}
