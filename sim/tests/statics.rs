//! Statics are fresh in every run, and what a run has made in them can be referred to for ever.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst as STD};

use interleaf::sync::{Arc, Barrier, LazyLock, Mutex, Once, OnceLock, mpsc};
use interleaf::{Explorer, Strategy, thread};

fn explorer() -> Explorer<'static> {
    Explorer::new().seeds(0..50).max_failures(50)
}

fn fine(explorer: &Explorer<'_>, f: impl Fn() + Sync) {
    let report = explorer.run(f);
    assert!(report.failures.is_empty(), "{}", report.failures[0]);
}

#[test]
fn a_static_once_is_not_called_before_the_run() {
    static ONCE: Once = Once::new();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    static RUNS: AtomicU64 = AtomicU64::new(0);
    ONCE.call_once(|| ());
    assert!(ONCE.is_completed());
    fine(&explorer(), || {
        RUNS.fetch_add(1, STD);
        assert!(!ONCE.is_completed());
        let call = || {
            ONCE.call_once(|| {
                CALLS.fetch_add(1, STD);
            });
        };
        let other = thread::spawn(call);
        call();
        other.join().unwrap();
        assert!(ONCE.is_completed());
    });
    assert!(RUNS.load(STD) >= 50);
    assert_eq!(CALLS.load(STD), RUNS.load(STD));
    ONCE.call_once(|| unreachable!("it was called outside before"));
}

#[test]
fn a_static_cell_is_empty_at_the_start_of_a_run() {
    static CELL: OnceLock<u64> = OnceLock::new();
    assert_eq!(CELL.set(1), Ok(()));
    fine(&explorer(), || {
        assert_eq!(CELL.get(), None);
        let seed = interleaf::seed().unwrap();
        assert_eq!(CELL.set(seed), Ok(()));
        assert_eq!(CELL.get(), Some(&seed));
    });
    assert_eq!(CELL.get(), Some(&1), "what a run wrote is not seen outside");
}

#[test]
fn a_static_lazy_value_is_made_in_each_run() {
    static MADE: AtomicU64 = AtomicU64::new(0);
    static RUNS: AtomicU64 = AtomicU64::new(0);
    static LAZY: LazyLock<Mutex<Vec<u64>>> = LazyLock::new(|| {
        MADE.fetch_add(1, STD);
        Mutex::new(Vec::new())
    });
    fine(&explorer(), || {
        RUNS.fetch_add(1, STD);
        let push = || LAZY.lock().unwrap().push(1);
        let other = thread::spawn(push);
        push();
        other.join().unwrap();
        assert_eq!(LAZY.lock().unwrap().len(), 2, "nothing is left of an earlier run");
    });
    assert_eq!(MADE.load(STD), RUNS.load(STD));
    assert!(LAZY.lock().unwrap().is_empty());
    assert_eq!(MADE.load(STD), RUNS.load(STD) + 1);
}

#[test]
fn poison_and_unfinished_initialisations_end_with_the_run() {
    static ONCE: Once = Once::new();
    static LAZY: LazyLock<u8> = LazyLock::new(|| match interleaf::seed() {
        Some(0) => panic!("seed 0"),
        Some(1) => {
            thread::park();
            1
        }
        _ => 2,
    });
    let report = explorer().run(|| {
        ONCE.call_once(|| assert!(interleaf::seed() > Some(1)));
        assert_eq!(*LAZY, 2);
    });
    assert_eq!(report.failures.iter().map(|f| f.seed).collect::<Vec<_>>(), [0, 1]);
    let report = explorer().run(|| assert_eq!(*LAZY, 2));
    assert_eq!(report.failures.iter().map(|f| f.seed).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(*LAZY, 2);
}

#[test]
fn simulations_at_the_same_time_each_have_their_own_static() {
    static CELL: OnceLock<u64> = OnceLock::new();
    static LAZY: LazyLock<Mutex<u64>> = LazyLock::new(Mutex::default);
    let program = || {
        let seed = interleaf::seed().unwrap();
        let other = thread::spawn(move || {
            assert_eq!(CELL.set(seed), Ok(()));
            *LAZY.lock().unwrap() += 1;
        });
        *LAZY.lock().unwrap() += 1;
        assert_eq!(*CELL.wait(), seed);
        other.join().unwrap();
        assert_eq!(*LAZY.lock().unwrap(), 2);
    };
    fine(&Explorer::new().seeds(0..400).workers(4), program);
    std::thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| fine(&Explorer::new().seeds(0..200), program));
        }
        for value in 0..200 {
            assert_eq!(*CELL.get_or_init(|| 77), 77, "{value}");
            assert_eq!(*LAZY.lock().unwrap(), 0);
        }
    });
}

#[test]
fn what_a_run_has_made_in_a_static_can_be_referred_to_for_ever() {
    static CELL: OnceLock<String> = OnceLock::new();
    static LAZY: LazyLock<String> = LazyLock::new(|| format!("seed {:?}", interleaf::seed()));
    static KEPT: StdMutex<Vec<(u64, &'static str, &'static str)>> = StdMutex::new(Vec::new());
    fine(&explorer(), || {
        let seed = interleaf::seed().unwrap();
        let text = CELL.get_or_init(|| format!("cell {seed}"));
        KEPT.lock().unwrap().push((seed, text, &LAZY));
    });
    let kept = KEPT.lock().unwrap();
    assert!(kept.len() >= 50);
    for (seed, cell, lazy) in kept.iter() {
        assert_eq!((*cell, *lazy), (format!("cell {seed}").as_str(), format!("seed Some({seed})").as_str()));
    }
}

/// Counts how many exist.
struct Counted(&'static AtomicU64);

impl Counted {
    fn new(count: &'static AtomicU64) -> Self {
        count.fetch_add(1, STD);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, STD);
    }
}

#[test]
fn objects_of_a_run_drop_their_values_in_it() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    fine(&explorer(), || {
        let cell = Arc::new(OnceLock::new());
        let theirs = Arc::clone(&cell);
        let other = thread::spawn(move || drop(theirs.set(Counted::new(&COUNT))));
        let lazy = LazyLock::new(|| Counted::new(&COUNT));
        LazyLock::force(&lazy);
        cell.get_or_init(|| Counted::new(&COUNT));
        other.join().unwrap();
        let taken = Arc::into_inner(cell).and_then(OnceLock::into_inner);
        assert!(taken.is_some());
        drop((taken, lazy));
        assert_eq!(COUNT.load(STD), 0);
    });
    // Also in a run that fails with all of them in use.
    let report = explorer().check_determinism(false).run(|| {
        let cell = OnceLock::new();
        let lazy = LazyLock::new(|| Counted::new(&COUNT));
        thread::scope(|s| {
            s.spawn(|| {
                cell.get_or_init(|| Counted::new(&COUNT));
                LazyLock::force(&lazy);
                thread::park();
            });
        });
    });
    assert_eq!((report.failures.len(), report.abandoned, COUNT.load(STD)), (50, 0, 0));
}

#[test]
fn a_cell_that_outlives_the_run_is_fresh_in_the_next() {
    let cell = OnceLock::new();
    let full = OnceLock::from(7);
    fine(&explorer(), || {
        assert_eq!(cell.get(), None);
        assert_eq!(cell.set(1), Ok(()));
        assert_eq!((full.get(), full.set(8)), (Some(&7), Err(8)), "it was made with its value");
    });
    assert_eq!(cell.get(), None);
    assert_eq!(cell.into_inner(), None);
}

#[test]
fn a_cell_that_is_dropped_elsewhere_leaves_nothing_to_the_next() {
    fine(&explorer(), || {
        for value in 0..3 {
            // Very likely at the same place each time.
            let cell = Box::new(OnceLock::new());
            assert_eq!(cell.get(), None);
            assert_eq!(cell.set(value), Ok(()));
            // An ordinary thread, which knows nothing of the run.
            let outside = std::thread::spawn(move || (cell.get().copied(), cell.set(9))).join().unwrap();
            assert_eq!(outside, (None, Ok(())));
        }
    });
}

#[test]
fn a_closure_is_called_in_one_run_only() {
    let text = String::from("moved");
    let lazy = LazyLock::new(move || text);
    let seen = StdMutex::new(Vec::new());
    fine(&explorer().check_determinism(false), || {
        let used = catch_unwind(AssertUnwindSafe(|| lazy.len()));
        seen.lock().unwrap().push(used.map_err(|payload| *payload.downcast::<&str>().unwrap()));
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen[0], Ok(5));
    for later in &seen[1..] {
        assert!(later.is_err_and(|text| text.contains("can be initialised once only")), "{later:?}");
    }
}

#[test]
fn a_static_barrier_forgets_who_waited_in_the_run_before() {
    static GATE: Barrier = Barrier::new(3);
    let report = explorer().run(|| assert!(!GATE.wait().is_leader()));
    assert_eq!(report.failures.len(), 50);
    for failure in &report.failures {
        let details = failure.kind.details();
        assert!(details.len() == 1 && details[0].ends_with("where 1 of 3 have arrived"), "{details:?}");
    }
}

interleaf::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static HELD: RefCell<Option<Counted>> = const { RefCell::new(None) };
    static SENDER: RefCell<Option<mpsc::Sender<u8>>> = const { RefCell::new(None) };
}

#[test]
fn thread_locals_are_fresh_in_every_run_and_thread() {
    static ALIVE: AtomicU64 = AtomicU64::new(0);
    COUNT.set(100);
    for strategy in [Strategy::Random, Strategy::Dfs { preemptions: None }] {
        fine(&explorer().strategy(strategy), || {
            let count = || {
                assert_eq!(COUNT.replace(1), 0);
                HELD.set(Some(Counted::new(&ALIVE)));
                thread::yield_now();
                assert_eq!(COUNT.get(), 1);
            };
            let other = thread::spawn(count);
            count();
            other.join().unwrap();
            assert_eq!(ALIVE.load(STD), 1, "the main thread's is left");
            // Another thread in the same slot.
            thread::spawn(count).join().unwrap();
        });
        assert_eq!(ALIVE.load(STD), 0, "the main thread's is dropped with the run");
    }
    assert_eq!(COUNT.get(), 100);
}

#[test]
fn a_thread_local_destructor_may_schedule() {
    fine(&explorer(), || {
        let (sender, receiver) = mpsc::channel();
        let ends = thread::spawn(move || SENDER.set(Some(sender)));
        assert!(receiver.recv().is_err(), "the destructor drops the last sender");
        ends.join().unwrap();
    });
}

/// Does its work when it is dropped.
struct AtDrop(fn());

impl Drop for AtDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn thread_locals_of_a_run_that_fails_are_dropped() {
    interleaf::thread_local! {
        static LOCKS: RefCell<Option<AtDrop>> = const { RefCell::new(None) };
        static FIRST: RefCell<Option<Counted>> = const { RefCell::new(None) };
    }
    static ALIVE: AtomicU64 = AtomicU64::new(0);
    static LOCK: Mutex<u32> = Mutex::new(0);
    let report = explorer().check_determinism(false).run(|| {
        let waits = || {
            FIRST.set(Some(Counted::new(&ALIVE)));
            // Its operation is cut short: the run is over.
            LOCKS.set(Some(AtDrop(|| drop(LOCK.lock()))));
            thread::park();
        };
        let _other = thread::spawn(waits);
        waits();
    });
    assert_eq!((report.failures.len(), report.abandoned, ALIVE.load(STD)), (50, 0, 0));
}

#[test]
fn a_thread_local_destructor_that_panics_fails_the_run() {
    interleaf::thread_local! {
        static BREAKS: RefCell<Option<AtDrop>> = const { RefCell::new(None) };
    }
    static AFTER: AtomicU64 = AtomicU64::new(0);
    let report = explorer().run(|| {
        let joined = thread::Builder::new().name("breaks".into()).spawn(|| {
            BREAKS.set(Some(AtDrop(|| panic!("in a destructor"))));
        });
        // std would end the process, so taking the result does not make it good.
        let _ = joined.unwrap().join();
        AFTER.fetch_add(1, STD);
    });
    assert_eq!((report.failures.len(), AFTER.load(STD)), (50, 0));
    for failure in &report.failures {
        let headline = failure.kind.headline();
        assert!(headline.starts_with("thread breaks panicked") && headline.ends_with("in a destructor"), "{headline}");
    }
}
