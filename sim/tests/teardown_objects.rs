//! What a failed run leaves behind of barriers, initialisations and channels with a bound: nothing.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use interleaf::sync::{Arc, Barrier, Mutex, Once, OnceLock, mpsc};
use interleaf::{Explorer, thread};

/// Counts itself while it lives.
struct Counted(&'static AtomicI64);

impl Counted {
    fn new(live: &'static AtomicI64) -> Self {
        live.fetch_add(1, SeqCst);
        Self(live)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Does its work when it is dropped.
struct AtDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Explores a program whose every run fails; tells how many threads were abandoned.
fn all_fail(f: impl Fn() + Sync) -> u64 {
    let report = Explorer::new().seeds(0..200).max_failures(200).check_determinism(false).run(f);
    assert_eq!(report.failures.len(), 200);
    report.abandoned
}

#[test]
fn threads_are_unwound_whatever_they_wait_for() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    let abandoned = all_fail(|| {
        let once = Arc::new((Once::new(), OnceLock::new(), Barrier::new(9)));
        let (offers, _keeps) = mpsc::sync_channel(0);
        let (fills, _full) = mpsc::sync_channel(1);
        let (_kept, meets) = mpsc::sync_channel::<Counted>(0);
        let (_held, waits) = mpsc::channel::<Counted>();
        let share = || (Arc::clone(&once), Counted::new(&LIVE));
        let (a, b, c, d, e) = (share(), share(), share(), share(), share());
        let _ = once.1.set(Counted::new(&LIVE));
        thread::spawn(move || drop((offers.send(Counted::new(&LIVE)), Counted::new(&LIVE))));
        thread::spawn(move || (0..3).for_each(|_| drop(fills.send(Counted::new(&LIVE)))));
        thread::spawn(move || drop((meets.recv(), &a.1)));
        thread::spawn(move || drop((waits.recv_timeout(Duration::MAX), &b)));
        thread::spawn(move || assert!(c.0.2.wait().is_leader()));
        // One initialises, one wants to, one waits.
        thread::spawn(move || {
            d.0.0.call_once(|| {
                let _inside = Counted::new(&LIVE);
                thread::park();
            });
        });
        thread::spawn(move || e.0.0.call_once(|| ()));
        let waits = Arc::clone(&once);
        thread::spawn(move || waits.0.wait());
        thread::spawn(|| thread::park_timeout(Duration::MAX));
        (0..20).for_each(|_| thread::yield_now());
        panic!("everybody is in the middle of something");
    });
    assert_eq!((abandoned, LIVE.load(SeqCst)), (0, 0));
}

#[test]
fn destructors_may_use_what_suspended_threads_are_in_the_middle_of() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    static DONE: AtomicI64 = AtomicI64::new(0);
    let abandoned = all_fail(|| {
        let shared = Arc::new((Once::new(), OnceLock::new()));
        let (full, _receives) = mpsc::sync_channel(0);
        // The youngest are unwound first: this one is suspended inside its initialiser meanwhile.
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            theirs.0.call_once(thread::park);
            drop(theirs);
        });
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            let _at_drop = AtDrop(|| {
                theirs.0.call_once(|| ());
                assert!(theirs.0.is_completed());
                theirs.1.get_or_init(|| Counted::new(&LIVE));
                // The receiver is gone soon.
                let _ = full.send(Counted::new(&LIVE));
                let _ = full.try_send(Counted::new(&LIVE));
                DONE.fetch_add(1, SeqCst);
            });
            thread::park();
        });
        (0..10).for_each(|_| thread::yield_now());
        panic!("the run is over");
    });
    assert!(DONE.load(SeqCst) >= 200);
    assert_eq!((abandoned, LIVE.load(SeqCst)), (0, 0));
}

#[test]
fn a_destructor_that_waits_for_those_who_never_come_is_abandoned() {
    let abandoned = all_fail(|| {
        let _arrives = AtDrop(|| assert!(Barrier::new(2).wait().is_leader()));
        panic!("the run is over");
    });
    assert!(abandoned >= 200);
}

#[test]
fn a_thread_that_unwinds_passes_a_barrier_and_waits_for_an_initialisation() {
    let report = Explorer::new().run(|| {
        let shared = Arc::new((Barrier::new(2), OnceLock::new(), Mutex::new(Vec::new())));
        let theirs = Arc::clone(&shared);
        let unwinds = thread::spawn(move || {
            let _at_drop = AtDrop(|| {
                theirs.0.wait();
                let value = *theirs.1.wait();
                theirs.2.lock().unwrap().push(value);
            });
            panic!("its own");
        });
        shared.0.wait();
        shared.1.get_or_init(|| {
            thread::yield_now();
            7
        });
        assert!(unwinds.join().is_err());
        assert_eq!(*shared.2.lock().unwrap(), [7]);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    assert_eq!(report.abandoned, 0);
}
