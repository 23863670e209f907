//! What a failed run leaves behind: nothing.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use interleaf::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
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

/// Locks in its destructor.
struct LocksInDrop(Arc<Mutex<u32>>, #[expect(dead_code, reason = "held to be dropped")] Counted);

impl Drop for LocksInDrop {
    fn drop(&mut self) {
        if let Ok(mut value) = self.0.lock() {
            *value += 1;
        }
    }
}

/// Explores a world in which every run fails, and returns how many threads had to be abandoned.
fn all_fail(runs: u64, world: impl Fn() + Sync) -> u64 {
    let report = Explorer::new().seeds(0..runs).max_failures(usize::MAX).check_determinism(false).run(world);
    assert_eq!(report.failures.len() as u64, runs, "every run was to fail");
    report.abandoned
}

#[test]
fn suspended_threads_are_unwound_whatever_they_wait_for() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    let abandoned = all_fail(300, || {
        let lock = Arc::new((Mutex::new(0), RwLock::new(0), Condvar::new()));
        let (_sender, receiver) = mpsc::channel::<Counted>();
        let share = |_| (Arc::clone(&lock), Counted::new(&LIVE));
        let (a, b, c, d) = (share(0), share(1), share(2), share(3));
        let _held = lock.1.write().unwrap();
        thread::spawn(move || drop((a.0.1.read(), &a.1)));
        thread::spawn(move || {
            let guard = b.0.0.lock().unwrap();
            drop((b.0.2.wait(guard), &b));
        });
        thread::spawn(move || drop((receiver.recv(), &c.1)));
        let parked = thread::spawn(move || {
            thread::park();
            drop(d);
        });
        thread::spawn(move || drop((parked.join(), Counted::new(&LIVE))));
        (0..10).for_each(|_| thread::yield_now());
        panic!("everybody is in the middle of something");
    });
    assert_eq!((abandoned, LIVE.load(SeqCst)), (0, 0));
}

#[test]
fn destructors_that_lock_wait_until_the_holder_is_unwound() {
    // Pitfall 4: waiting would deadlock, granting would alias.
    static LIVE: AtomicI64 = AtomicI64::new(0);
    let abandoned = all_fail(300, || {
        let m = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let m = Arc::clone(&m);
                thread::spawn(move || {
                    let _on_drop = LocksInDrop(Arc::clone(&m), Counted::new(&LIVE));
                    let mut held = m.lock().unwrap();
                    thread::yield_now();
                    *held += 1;
                })
            })
            .collect();
        thread::yield_now();
        drop(threads);
        panic!("with a holder suspended and others waiting");
    });
    assert_eq!((abandoned, LIVE.load(SeqCst)), (0, 0));
}

#[test]
fn a_destructor_may_join_and_the_last_arc_may_die_there() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    struct Pool(Option<thread::JoinHandle<()>>, Arc<(Mutex<bool>, Condvar)>);
    impl Drop for Pool {
        fn drop(&mut self) {
            if let Ok(mut stop) = self.1.0.lock() {
                *stop = true;
            }
            self.1.1.notify_all();
            if let Some(worker) = self.0.take() {
                let _ = worker.join();
            }
        }
    }
    let abandoned = all_fail(300, || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let (mine, counted) = (Arc::clone(&shared), Arc::new(Counted::new(&LIVE)));
        let theirs = Arc::clone(&counted);
        let worker = thread::spawn(move || {
            let _last = theirs;
            let mut stop = mine.0.lock().unwrap();
            while !*stop {
                stop = mine.1.wait(stop).unwrap();
            }
        });
        let _pool = Pool(Some(worker), shared);
        drop(counted);
        thread::yield_now();
        panic!("the pool's destructor joins its worker");
    });
    assert_eq!((abandoned, LIVE.load(SeqCst)), (0, 0));
}

#[test]
fn a_destructor_that_locks_may_meet_a_contended_lock_while_its_own_panic_unwinds() {
    // Pitfall 3: no false poison, no abort, and the other thread's panic is its own.
    let report = Explorer::new().run(|| {
        let m = Arc::new(Mutex::new(0));
        let other = Arc::new(Mutex::new(0));
        let (n, o) = (Arc::clone(&m), Arc::clone(&other));
        let dies = thread::spawn(move || {
            let _on_drop = LocksInDrop(n, Counted::new(Box::leak(Box::new(AtomicI64::new(0)))));
            panic!("unwinds into a lock");
        });
        let holds = thread::spawn({
            let m = Arc::clone(&m);
            move || {
                let mut held = m.lock().unwrap();
                // While this thread works, the other may be suspended in the middle of its panic.
                *o.lock().unwrap() += 1;
                thread::yield_now();
                *held += 1;
            }
        });
        assert!(dies.join().is_err());
        holds.join().unwrap();
        assert!(!m.is_poisoned() && !other.is_poisoned(), "poisoned by somebody else's panic");
        assert_eq!(*m.lock().unwrap(), 2);
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_thread_that_cannot_be_unwound_is_abandoned_and_counted() {
    struct WaitsForEver(mpsc::Receiver<()>);
    impl Drop for WaitsForEver {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    let abandoned = all_fail(3, || {
        let (sender, receiver) = mpsc::channel();
        std::mem::forget(sender);
        thread::spawn(move || {
            let _stubborn = WaitsForEver(receiver);
            thread::park();
        });
        thread::yield_now();
        panic!("nobody will ever send");
    });
    // Three runs, their confirmations and the profile: repetitions count too.
    assert!(abandoned >= 3, "{abandoned}");
    // The explorer still works on this OS thread.
    let report = Explorer::new().seeds(0..10).run(|| drop(thread::spawn(|| 1).join()));
    assert_eq!((report.executions, report.failures.len()), (10, 0));
}

#[test]
fn threads_that_never_ran_drop_what_they_own() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    all_fail(50, || {
        for _ in 0..5 {
            let counted = Counted::new(&LIVE);
            thread::spawn(move || drop(counted));
        }
        panic!("before any of them started");
    });
    assert_eq!(LIVE.load(SeqCst), 0);
}

#[test]
fn a_cut_run_poisons_no_static() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    all_fail(20, || {
        let holder = thread::spawn(|| {
            let _held = LOCK.lock().expect("poisoned by the tear-down of an earlier run");
            thread::park();
        });
        thread::yield_now();
        drop(holder);
        panic!("with the static locked by a parked thread");
    });
    assert!(!LOCK.is_poisoned());
}

#[test]
fn a_destructor_that_panics_costs_its_thread_and_nothing_else() {
    static LIVE: AtomicI64 = AtomicI64::new(0);
    struct Explodes(Counted);
    impl Drop for Explodes {
        fn drop(&mut self) {
            panic!("in a destructor, with {} alive", self.0.0.load(SeqCst));
        }
    }
    for round in 0..3 {
        let abandoned = all_fail(20, || {
            let m = Arc::new(Mutex::new(0));
            let n = Arc::clone(&m);
            let (fuse, bystander) = (Explodes(Counted::new(&LIVE)), Counted::new(&LIVE));
            thread::spawn(move || {
                let _fuse = fuse;
                thread::park();
            });
            thread::spawn(move || {
                let _bystander = bystander;
                let _held = n.lock();
                thread::park();
            });
            thread::yield_now();
            drop(m);
            panic!("the run itself");
        });
        assert!(abandoned >= 20, "round {round}: {abandoned}");
    }
    // The bystanders were unwound, and even the fields of what exploded were dropped on the way.
    assert_eq!(LIVE.load(SeqCst), 0);
    // This OS thread explores, panics and catches as before.
    let report = Explorer::new().run(|| assert!(thread::spawn(|| panic!("an ordinary panic")).join().is_err()));
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    assert!(std::panic::catch_unwind(|| panic!("outside a run")).is_err());
}
