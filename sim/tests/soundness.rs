//! Safe programs that would reach freed memory, shared cells or a dead runtime if the runtime trusted them.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst as STD};

use interleaf::monitor::{Event, Monitor};
use interleaf::sync::atomic::{AtomicBool as Flag, AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use interleaf::{Explorer, FailureKind, Faults, Report, Strategy, Violation, set_patience, thread};

fn explorer() -> Explorer<'static> {
    set_patience(std::time::Duration::from_secs(5));
    Explorer::new().seeds(0..64).max_failures(64)
}

fn message_of(f: impl FnOnce() -> Report) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(report) => report.first_failure().map_or_else(String::new, |f| f.kind.headline()),
        Err(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(_) => "a panic without text".into(),
        },
    }
}

/// Does its work when it is dropped.
struct AtDrop<F: Fn()>(F);

impl<F: Fn()> Drop for AtDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[test]
fn a_scope_that_is_unwound_still_waits_for_the_thread_it_waited_for() {
    static LATE: AtomicU64 = AtomicU64::new(0);
    static DROPS: AtomicU64 = AtomicU64::new(0);
    let report = explorer().run(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let held = lock.lock().unwrap();
        let started = Arc::new(Flag::new(false));
        let in_scope = Arc::clone(&started);
        let _owner = thread::spawn(move || {
            let alive = AtomicBool::new(true);
            let on_stack = AtDrop(|| alive.store(false, STD));
            thread::scope(|s| {
                s.spawn(|| {
                    let _late = AtDrop(|| {
                        // Waits until the main thread, the oldest, is unwound.
                        drop(theirs.lock());
                        DROPS.fetch_add(1, STD);
                        LATE.fetch_add(u64::from(!alive.load(STD)), STD);
                    });
                    in_scope.store(true, SeqCst);
                    thread::park();
                });
            });
            drop(on_stack);
        });
        while !started.load(SeqCst) {
            thread::yield_now();
        }
        // The owner waits for its scope, the scoped thread is parked, and this thread for ever too.
        thread::park();
        drop(held);
    });
    assert!(report.failures.len() > 32);
    assert!(DROPS.load(STD) > 0);
    assert_eq!(LATE.load(STD), 0, "a scoped thread outlived what it borrowed");
}

#[test]
fn a_thread_that_never_ran_may_own_what_locks_when_dropped() {
    static DONE: AtomicU64 = AtomicU64::new(0);
    let report = explorer().check_determinism(false).run(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let owned = AtDrop(move || {
            if let Ok(mut value) = theirs.lock() {
                *value += 1;
            }
            DONE.fetch_add(1, STD);
        });
        let _handle = thread::spawn(move || {
            let _owned = owned;
        });
        panic!("before the new thread has run");
    });
    assert_eq!(report.failures.len(), 64);
    assert_eq!(report.abandoned, 0);
    assert!(DONE.load(STD) >= 64);
    assert!(interleaf::seed().is_none(), "the runtime is gone");
}

#[test]
fn a_static_that_is_named_before_it_is_used_forgets_the_run_before() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let report = Explorer::new().seeds(0..64).max_failures(64).count_distinct(true).run(|| {
        interleaf::name(&LOCK, "lock");
        let held = LOCK.lock();
        if interleaf::seed() == Some(0) {
            let _many: Vec<_> = (0..9).map(|_| thread::spawn(|| drop(LOCK.lock()))).collect();
            thread::yield_now();
            panic!("while the others wait");
        }
        let waiter = thread::spawn(|| drop(LOCK.lock()));
        thread::yield_now();
        drop(held);
        waiter.join().unwrap();
    });
    assert!(report.failures.iter().all(|f| f.seed == 0), "{}", report.failures[0]);
}

#[test]
fn a_condition_variable_shared_by_two_simulations_is_refused() {
    static SHARED: Condvar = Condvar::new();
    let (both, done) = (Barrier::new(2), Barrier::new(2));
    let use_it = |first: bool| {
        message_of(|| {
            let once = AtomicBool::new(false);
            Explorer::new().seeds(0..1).check_determinism(false).strategy(Strategy::Dfs { preemptions: None }).run(
                || {
                    if once.swap(true, STD) {
                        return;
                    }
                    if !first {
                        both.wait();
                    }
                    SHARED.notify_all();
                    if first {
                        both.wait();
                    }
                    done.wait();
                },
            )
        })
    };
    let second = std::thread::scope(|s| {
        let second = s.spawn(|| {
            let text = use_it(false);
            if text.contains("shared") {
                done.wait();
            }
            text
        });
        use_it(true);
        second.join().unwrap()
    });
    assert!(second.contains("is shared by two simulations"), "{second}");
}

#[test]
fn sleepers_with_one_moment_wake_together() {
    for time in [interleaf::Time::WhenIdle, interleaf::Time::AnyMoment] {
        let report = explorer().time(time).run(|| {
            let x = Arc::new(AtomicU32::new(0));
            let add = |x: Arc<AtomicU32>| {
                move || {
                    thread::sleep(std::time::Duration::from_millis(5));
                    x.store(x.load(SeqCst) + 1, SeqCst);
                }
            };
            let other = thread::spawn(add(Arc::clone(&x)));
            add(Arc::clone(&x))();
            other.join().unwrap();
            assert_eq!(x.load(SeqCst), 2);
        });
        assert!(!report.failures.is_empty(), "{time:?}");
    }
}

#[test]
fn a_choice_does_not_look_at_the_object_of_the_operation_before() {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let report = explorer().faults(Faults { spurious_wakeups: 1, weak_cas_failures: 0 }).run(|| {
        let x = Box::new(AtomicU32::new(0));
        thread::current().unpark();
        x.store(1, SeqCst);
        drop(x);
        // The same size, so very likely the same place.
        let words = std::hint::black_box(Box::new([8u64; size_of::<AtomicU32>() / 8]));
        thread::park();
        WRITTEN.fetch_add(u64::from(words.iter().any(|&w| w != 8)), STD);
    });
    assert_eq!(WRITTEN.load(STD), 0, "memory that is not the runtime's was written to");
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_handle_of_another_run_is_refused() {
    static HANDLE: std::sync::Mutex<Option<thread::JoinHandle<u32>>> = std::sync::Mutex::new(None);
    let report = explorer().check_determinism(false).run(|| {
        let before = HANDLE.lock().unwrap().take();
        *HANDLE.lock().unwrap() = Some(thread::spawn(|| 1));
        if let Some(before) = before {
            assert!(before.is_finished());
            let _ = before.join();
            unreachable!("joined a thread of another run");
        }
    });
    assert!(report.failures.len() > 50, "{}", report.failures.len());
    for failure in &report.failures {
        let FailureKind::Panic { panic, .. } = &failure.kind else { continue };
        assert!(panic.message.contains("outside the run that started it"), "{failure}");
    }
}

#[test]
fn a_thread_that_catches_every_panic_is_abandoned() {
    let report = explorer().max_failures(1).seeds(0..1).run(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        thread::spawn(move || {
            loop {
                let _ = catch_unwind(AssertUnwindSafe(|| receiver.recv()));
            }
        });
        let _alive = sender.clone();
        thread::yield_now();
        panic!("the run is over");
    });
    assert_eq!(report.failures.len(), 1);
    assert!(report.abandoned > 0);
}

#[test]
fn a_destructor_may_spin_until_another_thread_has_ended() {
    let report = explorer().run(|| {
        let stop = Arc::new(Flag::new(false));
        let stopped = Arc::new(Flag::new(false));
        let worker = (Arc::clone(&stop), Arc::clone(&stopped));
        thread::spawn(move || {
            while !worker.0.load(SeqCst) {
                thread::yield_now();
            }
            worker.1.store(true, SeqCst);
        });
        let _service = AtDrop(move || {
            stop.store(true, SeqCst);
            while !stopped.load(SeqCst) {
                thread::yield_now();
            }
        });
        panic!("while the service runs");
    });
    assert_eq!(report.failures.len(), 64);
    assert!(report.failures.iter().all(|f| matches!(f.kind, FailureKind::Panic { .. })), "{}", report.failures[0]);
    assert_eq!(report.abandoned, 0);
}

#[test]
fn a_destructor_that_spins_for_ever_in_a_cut_run_is_abandoned() {
    let report = explorer().max_failures(1).seeds(0..1).run(|| {
        let never = Flag::new(false);
        let _spins = AtDrop(|| {
            while !never.load(SeqCst) {
                thread::yield_now();
            }
        });
        thread::park();
    });
    assert_eq!(report.failures.len(), 1);
    assert!(report.abandoned > 0);
}

#[test]
fn senders_may_be_cloned_and_dropped_on_real_threads() {
    let report =
        explorer().seeds(0..1).check_determinism(false).strategy(Strategy::Dfs { preemptions: None }).run(|| {
            let (sender, receiver) = mpsc::channel::<u32>();
            let both = Barrier::new(2);
            std::thread::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        both.wait();
                        (0..1_000_000).for_each(|_| drop(sender.clone()));
                    });
                }
            });
            sender.send(1).unwrap();
            drop(sender);
            assert_eq!(receiver.iter().count(), 1);
        });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

struct Busy(Mutex<u32>, bool);

impl Monitor for Busy {
    fn step(&mut self, _event: &Event<'_>) -> Result<(), Violation> {
        *self.0.lock().unwrap() += 1;
        assert!(!self.1 || *self.0.lock().unwrap() < 12, "the monitor is broken");
        Ok(())
    }
}

fn two_threads_that_lock() {
    let lock = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&lock);
    let other = thread::spawn(move || (0..3).for_each(|_| *theirs.lock().unwrap() += 1));
    (0..3).for_each(|_| *lock.lock().unwrap() += 1);
    other.join().unwrap();
}

#[test]
fn a_monitor_may_lock_what_is_its_own() {
    let without = explorer().run(two_threads_that_lock);
    let report = explorer().monitor(|| Box::new(Busy(Mutex::new(0), false))).run(two_threads_that_lock);
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
    assert_eq!(report.steps, without.steps, "the monitor takes part in the run");
}

#[test]
fn a_monitor_that_panics_fails_the_run() {
    let report = explorer().monitor(|| Box::new(Busy(Mutex::new(0), true))).run(two_threads_that_lock);
    assert_eq!(report.failures.len(), 64);
    for failure in &report.failures {
        assert!(failure.kind.headline().contains("the monitor is broken"), "{failure}");
    }
}

thread_local! {
    static STASH: RefCell<Option<MutexGuard<'static, u32>>> = const { RefCell::new(None) };
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn a_guard_kept_from_an_earlier_run_still_excludes() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let text = message_of(|| {
        explorer().check_determinism(false).run(|| {
            RUNS.set(RUNS.get() + 1);
            if RUNS.get() == 1 {
                STASH.set(Some(LOCK.lock().unwrap()));
            } else {
                let _second = LOCK.lock().unwrap();
                STASH.with_borrow(|kept| assert!(kept.is_none(), "two guards of one mutex"));
            }
        })
    });
    assert!(text.contains("is still locked by an earlier run"), "{text}");
    STASH.set(None);
}

#[test]
fn a_caught_panic_does_not_poison_what_is_held_later() {
    let report = explorer().run(|| {
        let lock = Arc::new(Mutex::new(0));
        let gate = Arc::new(Mutex::new(()));
        let theirs = (Arc::clone(&lock), Arc::clone(&gate));
        let calm = thread::spawn(move || {
            let _ = catch_unwind(|| panic!("caught"));
            let held = theirs.0.lock().unwrap();
            drop(theirs.1.lock());
            drop(held);
        });
        let last = Arc::clone(&lock);
        let unwinds = thread::spawn(move || {
            let _waits = AtDrop(|| drop(last.lock()));
            drop(gate.lock());
            panic!("unwinds");
        });
        calm.join().unwrap();
        assert!(unwinds.join().is_err());
        assert!(!lock.is_poisoned());
    });
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_seed_that_fails_only_when_it_is_repeated_is_found() {
    static RUNS_OF_SEED: AtomicU64 = AtomicU64::new(0);
    let report = Explorer::new().seeds(5..6).run(|| {
        if interleaf::seed() == Some(5) {
            assert_eq!(RUNS_OF_SEED.fetch_add(1, STD), 0, "run before");
        }
    });
    let failure = report.first_failure().expect("the repetitions fail");
    assert!(matches!(failure.kind, FailureKind::Nondeterminism { .. }), "{failure}");
}

#[test]
fn a_strategy_that_panics_is_named() {
    struct Broken;
    impl interleaf::strategy::Scheduler for Broken {
        fn next_thread(&mut self, _: &interleaf::strategy::Point<'_>) -> usize {
            panic!("out of ideas")
        }
        fn choose(&mut self, _: u64) -> usize {
            0
        }
    }
    let make: Arc<dyn Fn(u64) -> Box<dyn interleaf::strategy::Scheduler> + Send + Sync> =
        Arc::new(|_| Box::new(Broken));
    let report = Explorer::new().strategy(interleaf::Strategy::Custom(make)).run(|| {
        let m = Arc::new(Mutex::new(0));
        let n = Arc::clone(&m);
        let other = thread::spawn(move || drop(n.lock()));
        drop(m.lock());
        other.join().unwrap();
    });
    let interleaf::FailureKind::Panic { thread, panic } = &report.failures[0].kind else {
        panic!("{}", report.failures[0])
    };
    assert_eq!((thread.as_str(), panic.message.as_str()), ("the strategy", "out of ideas"));
}
