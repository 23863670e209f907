//! Exhaustive search under RC11 makes exactly one run for each consistent execution graph.

#[path = "graphs/brute.rs"]
mod brute;
#[path = "graphs/program.rs"]
mod program;

use interleaf::{Explorer, FailureKind, MemoryModel, Report, Strategy};

use brute::{Counted, count};
use program::{Op, Program, draw, draw_rounds, run};

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

/// The traces of a program whose accesses are all `SeqCst`: its graphs, too.
fn traces(program: &Program) -> Option<Counted> {
    let report = Explorer::new()
        .strategy(Strategy::Exhaustive { preemptions: None })
        .seeds(0..MOST_TRACES)
        .max_failures(usize::MAX)
        .run(|| run(program));
    let deadlocked = report.failures.len() as u64;
    report.complete.then(|| Counted { complete: report.executions - deadlocked, deadlocked })
}

/// What is wrong with the search over graphs on a program, if its traces can be counted.
fn not_as_traces(program: &Program) -> Option<String> {
    let expected = traces(program)?;
    let report = explore(program, Strategy::Exhaustive { preemptions: None });
    let deadlocks = report.failures.iter().filter(|f| matches!(f.kind, FailureKind::Deadlock { .. })).count() as u64;
    let other = report.failures.iter().find(|f| !matches!(f.kind, FailureKind::Deadlock { .. }));
    let found = Counted { complete: report.executions - report.failures.len() as u64, deadlocked: deadlocks };
    let is_right = found == expected && report.complete && report.distinct == report.executions;
    let other = other.map_or_else(String::new, |f| f.kind.headline());
    (!is_right)
        .then(|| format!("{found:?}, not {expected:?}; {} distinct of {}; {other}", report.distinct, report.executions))
}

/// The program with as much left out as can be while `fails` holds.
fn shrunk(mut program: Program, fails: impl Fn(&Program) -> bool) -> Program {
    loop {
        let smaller = |t: usize, at: usize| {
            let mut less = program.clone();
            match less[t].remove(at) {
                Op::Lock(m) => {
                    let end = less[t][at..].iter().position(|op| *op == Op::Unlock(m))?;
                    less[t].remove(at + end);
                }
                Op::Unlock(_) => return None,
                Op::Start(child) => less[t].retain(|op| *op != Op::Join(child)),
                _ => {}
            }
            Some(less)
        };
        let all = program.iter().enumerate().flat_map(|(t, ops)| (0..ops.len()).map(move |at| (t, at)));
        let Some(less) = all.filter_map(|(t, at)| smaller(t, at)).find(&fails) else { return program };
        program = less;
    }
}

/// Most traces of a program whose mutexes are taken several times.
const MOST_TRACES: u64 = 400;

#[test]
fn as_many_graphs_as_traces_where_mutexes_are_taken_again() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for seed in seeds(300) {
        let program = draw_rounds(seed);
        compared += u64::from(traces(&program).is_some());
        if not_as_traces(&program).is_some() {
            let small = shrunk(program, |p| not_as_traces(p).is_some());
            wrong.push(format!("{seed}: {}: {small:?}", not_as_traces(&small).unwrap_or_default()));
        }
        if wrong.len() > 5 {
            break;
        }
    }
    assert!(compared > 0, "no program has so few traces");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_that_once_went_wrong() {
    use Op::{Add, Join, Load, Lock, Start, Unlock, Yield};
    let sc = std::sync::atomic::Ordering::SeqCst;
    let mut wrong = Vec::new();
    for program in [
        // While a revisited graph was built, nothing but starts and joins went on for a while.
        vec![vec![Load(0, sc)], vec![Start(2), Join(2), Add(0, sc)], vec![]],
        vec![vec![Lock(0), Unlock(0)], vec![Start(2), Join(2), Lock(0), Unlock(0)], vec![]],
        // Who has no event to repeat must yield before it ends, or before it starts another.
        vec![vec![Start(1), Join(1), Add(0, sc)], vec![Load(1, sc), Yield], vec![Load(0, sc)]],
        vec![vec![Yield, Start(1)], vec![Lock(0), Unlock(0)], vec![], vec![Lock(0), Unlock(0)]],
        // An acquisition was displaced by one that is repeated before its thread starts.
        vec![
            vec![Yield, Yield, Yield, Lock(1), Lock(0), Unlock(0), Unlock(1)],
            vec![Lock(0), Start(2), Join(2), Unlock(0)],
            vec![Lock(1), Unlock(1)],
        ],
        // What came next depended on whether the second had yielded.
        vec![
            vec![Start(1), Join(1), Lock(0), Unlock(0)],
            vec![Yield],
            vec![Lock(0), Unlock(0), Yield, Lock(0), Unlock(0), Lock(0), Unlock(0)],
        ],
    ] {
        let differences = not_as_traces(&program);
        wrong.extend(differences.map(|d| format!("{d}: {program:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A known limit: who reads the same twice and yields after each is taken for a loop that waits, and goes no further in that
/// run, even if it would give up.
#[test]
#[ignore = "known to miss graphs"]
fn who_looks_twice_and_gives_up() {
    use Op::{Add, Load, Yield};
    let sc = std::sync::atomic::Ordering::SeqCst;
    let looks = vec![Load(0, sc), Yield, Load(0, sc), Yield, Load(1, sc)];
    assert_eq!(not_as_traces(&vec![looks, vec![Add(0, sc)], vec![Add(1, sc)]]), None);
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
