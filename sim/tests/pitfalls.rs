//! The pitfalls that a runtime of this kind falls into, one test each. (4, a destructor that locks during tear-down, and
//! 3, two unwinds at once, are in `teardown.rs`.)

use std::cell::RefCell;
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Arc, Mutex};
use interleaf::{Explorer, FailureKind, Strategy, thread};

/// Runs the test `name` of this binary alone in a process of its own, where it finds `INTERLEAF_CHILD` set.
fn in_a_process_of_its_own(name: &str) -> Output {
    let exe = std::env::current_exe().expect("the test binary has a path");
    Command::new(exe)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env("INTERLEAF_CHILD", name)
        .output()
        .expect("the test binary runs")
}

fn is_child(name: &str) -> bool {
    std::env::var("INTERLEAF_CHILD").is_ok_and(|child| child == name)
}

/// 1: the joined thread's order must be in the join. What is read after a join has one possible order.
#[test]
fn a_join_orders_what_the_thread_did_before_what_follows() {
    let report =
        Explorer::new().strategy(Strategy::Dfs { preemptions: None }).count_distinct(true).seeds(0..1_000).run(|| {
            let x = Arc::new(AtomicU32::new(0));
            let y = Arc::clone(&x);
            thread::spawn(move || y.store(1, SeqCst)).join().unwrap();
            assert_eq!(x.load(SeqCst), 1);
        });
    assert!(report.complete && report.failures.is_empty());
    assert_eq!((report.executions, report.distinct), (1, 1));
}

/// 2: "go on with the running thread" must not take the exploration loop for a thread.
#[test]
fn every_strategy_makes_steps() {
    for strategy in ["random", "pct:1", "pct:3", "pos", "urw", "surw", "portfolio", "dfs:0", "dfs"] {
        let report = Explorer::new().strategy(strategy.parse().unwrap()).seeds(0..20).run(|| {
            let m = Arc::new(Mutex::new(0));
            let n = Arc::clone(&m);
            let t = thread::spawn(move || *n.lock().unwrap() += 1);
            *m.lock().unwrap() += 1;
            t.join().unwrap();
            assert_eq!(*m.lock().unwrap(), 2);
        });
        assert_eq!(report.steps, 3 * report.executions, "{strategy}");
    }
}

/// 5: std's thread-locals are shared by the threads of a run and survive it; the comparison of runs finds that.
#[test]
fn a_std_thread_local_that_outlives_the_run_is_found() {
    thread_local! {
        static CALLS: RefCell<u32> = const { RefCell::new(0) };
    }
    let report = Explorer::new().run(|| {
        let m = Mutex::new(());
        let calls = CALLS.with(|c| {
            *c.borrow_mut() += 1;
            *c.borrow()
        });
        // One operation more in each run than in the one before.
        (0..calls % 50).for_each(|_| drop(m.lock()));
    });
    let FailureKind::Nondeterminism { first, second, .. } = &report.failures[0].kind else {
        panic!("{}", report.failures[0])
    };
    assert!(first.contains("main") && first != second, "{first} / {second}");
}

/// 6: statics that are initialised once make the first run differ from the rest.
#[test]
fn a_static_that_is_initialised_once_is_found() {
    static TABLE: OnceLock<u32> = OnceLock::new();
    let report = Explorer::new().strategy(Strategy::Bytes(Arc::from([]))).seeds(0..1).run(|| {
        let m = Mutex::new(());
        TABLE.get_or_init(|| {
            drop(m.lock());
            7
        });
        drop(m.lock());
    });
    // The first run is over when the comparison begins, so what differs is the number of steps of later runs.
    let later = Explorer::new().seeds(0..100).run(|| drop(Mutex::new(()).lock()));
    assert!(later.failures.is_empty());
    assert_eq!(report.executions, 1);
    assert_eq!(report.steps, 2, "the first run initialises");
}

/// 6: the order of std's hash maps is an input that nobody controls.
#[test]
fn the_order_of_a_hash_map_is_found() {
    let report = Explorer::new().run(|| {
        let locks: Vec<Mutex<u32>> = (0..8).map(Mutex::new).collect();
        let map: std::collections::HashMap<usize, ()> = (0..8).map(|i| (i, ())).collect();
        map.keys().for_each(|&i| *locks[i].lock().unwrap() += 1);
        // Objects are numbered by first use; using them in a fixed order shows the permutation.
        locks.iter().for_each(|l| drop(l.lock()));
    });
    assert!(matches!(report.failures[0].kind, FailureKind::Nondeterminism { .. }), "{}", report.failures[0]);
    assert_eq!(report.failures[0].signature(), "nondeterminism");
}

/// 7: real blocking is named instead of hanging for ever.
#[test]
fn a_foreign_lock_held_across_a_point_is_named() {
    const NAME: &str = "a_foreign_lock_held_across_a_point_is_named";
    if is_child(NAME) {
        interleaf::set_patience(Duration::from_millis(600));
        interleaf::check(|| {
            let foreign = Arc::new(std::sync::Mutex::new(0));
            let theirs = Arc::clone(&foreign);
            let other = thread::Builder::new().name("culprit".into()).spawn(move || {
                thread::yield_now();
                *theirs.lock().unwrap() += 1;
            });
            let held = foreign.lock().unwrap();
            thread::yield_now();
            drop(held);
            other.unwrap().join().unwrap();
        });
        return;
    }
    let output = in_a_process_of_its_own(NAME);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("foreign block: thread culprit has blocked"), "{text}");
    assert!(text.contains("last operation: yield at sim/tests/pitfalls.rs:"), "{text}");
}

/// 7: so is a loop that does nothing that could be controlled.
#[test]
fn an_endless_loop_without_operations_is_named() {
    const NAME: &str = "an_endless_loop_without_operations_is_named";
    if is_child(NAME) {
        interleaf::set_patience(Duration::from_millis(600));
        interleaf::check(|| {
            thread::yield_now();
            loop {
                std::hint::black_box(());
            }
        });
        return;
    }
    let output = in_a_process_of_its_own(NAME);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("foreign block: thread main has blocked"), "{text}");
}

/// 8: a stack overflow says whose it was.
#[test]
#[cfg(unix)]
fn a_stack_overflow_is_named() {
    const NAME: &str = "a_stack_overflow_is_named";
    #[expect(unconditional_recursion, reason = "this is the overflow")]
    fn deeper(n: u64) -> u64 {
        let page = std::hint::black_box([n; 64]);
        deeper(n + 1) + page[63]
    }
    if is_child(NAME) {
        interleaf::check(|| {
            let recursive = thread::spawn(|| deeper(0));
            drop(recursive.join());
        });
        return;
    }
    let output = in_a_process_of_its_own(NAME);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(text.contains("stack overflow in controlled thread number 1 (0 is main), seed "), "{text}");
}

/// 9: the stack of a failure shows the frames of the program.
#[test]
fn a_panics_stack_shows_the_programs_frames() {
    #[inline(never)]
    fn the_function_that_panics() {
        assert_eq!(std::hint::black_box(1), 2);
    }
    let report = Explorer::new().run(|| thread::spawn(the_function_that_panics).join().unwrap());
    let stack = report.failures[0].backtrace.as_deref().expect("a stack");
    assert!(stack.contains("the_function_that_panics"), "{stack}");
}

/// 10: callers that explore once per input must not leak a stack each.
#[test]
#[cfg(target_os = "linux")]
fn ten_thousand_explorations_map_no_more_stacks_than_one() {
    let explore = || {
        let report = Explorer::new().seeds(0..1).check_determinism(false).run(|| {
            let t = thread::spawn(|| 1);
            drop(t.join());
        });
        assert!(report.failures.is_empty());
    };
    let mappings = || std::fs::read_to_string("/proc/self/maps").expect("proc").lines().count();
    (0..10).for_each(|_| explore());
    let before = mappings();
    (0..10_000).for_each(|_| explore());
    assert!(mappings() <= before + 8, "{before} mappings became {}", mappings());
}

#[test]
fn an_exploration_inside_a_run_is_refused() {
    let report = Explorer::new().seeds(0..1).run(|| interleaf::check(|| {}));
    assert!(report.failures[0].to_string().contains("started inside a simulated run"), "{}", report.failures[0]);
}

/// Explores one run that takes `lock`, says so, and waits until the other side has tried to.
fn hold_in_a_run(lock: &Mutex<u32>, taken: &std::sync::Barrier, tried: &std::sync::Barrier) {
    Explorer::new().seeds(0..1).check_determinism(false).run(|| {
        let held = lock.lock();
        // The profile's runs come first and have other seeds.
        if interleaf::seed() == Some(0) {
            taken.wait();
            tried.wait();
        }
        drop(held);
    });
}

#[test]
fn a_lock_shared_by_a_simulation_and_an_ordinary_thread_is_refused() {
    static SHARED: Mutex<u32> = Mutex::new(0);
    let (taken, tried) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| hold_in_a_run(&SHARED, &taken, &tried));
        taken.wait();
        let refused = std::panic::catch_unwind(|| drop(SHARED.lock()));
        tried.wait();
        refused
    });
    let payload = refused.expect_err("the lock was given to both");
    let text = payload.downcast_ref::<String>().expect("a message");
    assert!(text.contains("is shared by an ordinary thread and a simulation that runs at this moment"), "{text}");
}

#[test]
fn a_lock_shared_by_two_simulations_is_refused() {
    static SHARED: Mutex<u32> = Mutex::new(0);
    let (taken, tried) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    let second = std::thread::scope(|scope| {
        scope.spawn(|| hold_in_a_run(&SHARED, &taken, &tried));
        taken.wait();
        let report = Explorer::new().seeds(0..1).run(|| drop(SHARED.lock()));
        tried.wait();
        report
    });
    let failure = second.first_failure().expect("the lock was given to both");
    assert!(failure.to_string().contains("two simulations that run at the same time"), "{failure}");
}
