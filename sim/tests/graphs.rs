//! Exhaustive search under RC11 makes exactly one run for each consistent execution graph.

#[path = "graphs/brute.rs"]
mod brute;
#[path = "graphs/program.rs"]
mod program;

use interleaf::{Explorer, FailureKind, MemoryModel, Report, Strategy};

use brute::{Counted, count};
use program::{Program, draw, run};

fn explore(program: &Program, strategy: Strategy) -> Report {
    Explorer::new()
        .memory_model(MemoryModel::Rc11)
        .strategy(strategy)
        .seeds(0..1_000_000)
        .max_failures(usize::MAX)
        .count_distinct(true)
        .run(|| run(program))
}

fn exhaustive(program: &Program) -> (Report, Counted) {
    let report = explore(program, Strategy::Exhaustive { preemptions: None });
    let mut counted = Counted { complete: report.executions, deadlocked: 0 };
    for failure in &report.failures {
        assert!(matches!(failure.kind, FailureKind::Deadlock { .. }), "{program:?}\n{failure}");
        counted.complete -= 1;
        counted.deadlocked += 1;
    }
    (report, counted)
}

/// The seeds of the programs: `INTERLEAF_GRAPH_PROGRAMS` as `FIRST..LAST` for others.
fn seeds(number: u64) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("INTERLEAF_GRAPH_PROGRAMS") else { return 0..number };
    let (first, last) = text.split_once("..").expect("FIRST..LAST");
    first.parse().expect("a number")..last.parse().expect("a number")
}

fn compare(seeds: std::ops::Range<u64>, locks: bool) {
    let mut wrong = Vec::new();
    for seed in seeds {
        let program = draw(seed, locks);
        let expected = count(&program);
        let (report, found) = exhaustive(&program);
        if found != expected || !report.complete || report.distinct != report.executions {
            wrong.push(format!(
                "{seed}: {found:?}, not {expected:?}; {} distinct of {}; {program:?}",
                report.distinct, report.executions
            ));
        }
        if wrong.len() > 5 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn as_many_runs_as_graphs_of_atomics() {
    compare(seeds(500), false);
}

#[test]
fn as_many_runs_as_graphs_with_mutexes() {
    compare(seeds(100), true);
}

#[test]
fn loops_that_wait_end() {
    use interleaf::sync::Arc;
    use interleaf::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use interleaf::sync::atomic::{AtomicBool, AtomicU32};
    use interleaf::{hint, thread};
    let explorer = Explorer::new()
        .memory_model(MemoryModel::Rc11)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .seeds(0..10_000);
    let hand_over = |store, load| {
        move || {
            let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
            let there = Arc::clone(&shared);
            let waiter = thread::spawn(move || {
                while !there.0.load(load) {
                    hint::spin_loop();
                }
                assert_eq!(there.1.load(Relaxed), 1, "the value is there");
            });
            shared.1.store(1, Relaxed);
            shared.0.store(true, store);
            waiter.join().unwrap();
        }
    };
    let report = explorer.run(hand_over(Release, Acquire));
    assert!(report.failures.is_empty() && report.complete, "{:?}", report.failures);
    // The flag at once, at the second look, or not yet at the second.
    assert_eq!((report.executions, report.blocked), (3, 1));
    assert!(!explorer.run(hand_over(Relaxed, Acquire)).failures.is_empty());

    // Nobody sets the flag: that is no matter of what was read.
    let report = explorer.clone().max_steps(1_000).run(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            thread::yield_now();
        }
    });
    assert!(matches!(report.failures[0].kind, FailureKind::StepLimit { .. }));
}

#[test]
fn what_it_does_not_know_is_said() {
    let explorer = Explorer::new().memory_model(MemoryModel::Rc11).strategy(Strategy::Exhaustive { preemptions: None });
    let report = explorer.run(|| {
        let (sender, receiver) = interleaf::sync::mpsc::channel();
        interleaf::thread::spawn(move || sender.send(1).unwrap());
        receiver.recv().unwrap();
    });
    assert!(!report.complete);
    let headline = report.failures[0].kind.headline();
    assert!(headline.contains("knows atomics, fences, mutexes, spawn and join; the program does `send`"), "{headline}");
}

#[test]
#[should_panic(
    expected = "the strategy `exhaustive:1` counts preemptions or delays, which the memory model rc11 does not have"
)]
fn bounds_on_preemptions_are_refused() {
    Explorer::new().memory_model(MemoryModel::Rc11).strategy(Strategy::Exhaustive { preemptions: Some(1) }).run(|| {});
}

#[test]
fn who_waits_in_a_loop_with_a_mutex_may_have_come_second() {
    use interleaf::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use interleaf::sync::{Arc, Mutex};
    use interleaf::thread;
    let completed = std::sync::atomic::AtomicU64::new(0);
    let report = Explorer::new()
        .memory_model(MemoryModel::Rc11)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .max_steps(1_000)
        .max_failures(100)
        .run(|| {
            let shared = Arc::new((Mutex::new(()), AtomicBool::new(false)));
            let there = Arc::clone(&shared);
            let waiter = thread::spawn(move || {
                let _guard = there.0.lock().unwrap();
                while !there.1.load(Relaxed) {
                    thread::yield_now();
                }
            });
            let setter = thread::spawn(move || {
                let _guard = shared.0.lock().unwrap();
                shared.1.store(true, Relaxed);
            });
            waiter.join().unwrap();
            setter.join().unwrap();
            completed.fetch_add(1, Relaxed);
        });
    assert!(report.failures.iter().all(|f| matches!(f.kind, FailureKind::StepLimit { .. })));
    assert_eq!((report.executions, report.failures.len(), completed.into_inner()), (2, 1, 1));
}

#[test]
fn two_workers_make_the_same_runs_as_one() {
    for seed in 0..20 {
        let program = draw(seed, seed % 2 == 1);
        let explorer = Explorer::new()
            .memory_model(MemoryModel::Rc11)
            .strategy(Strategy::Exhaustive { preemptions: None })
            .seeds(0..1_000_000)
            .max_failures(usize::MAX)
            .count_distinct(true);
        let one = explorer.clone().run(|| run(&program));
        let two = explorer.workers(2).run(|| run(&program));
        let of = |r: &Report| (r.executions, r.distinct, r.failures.len(), r.complete, r.steps);
        assert_eq!(of(&one), of(&two), "{seed}: {program:?}");
        assert_eq!(two.distinct, two.executions);
    }
}
