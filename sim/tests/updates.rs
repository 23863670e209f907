//! Updates whose result nobody sees: those of one kind commute, and what is between them does not.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst, Update, UpdateBool};
use interleaf::{Explorer, MemoryModel, Strategy, thread};

/// Runs of an exhaustive exploration.
fn runs(f: impl Fn() + Sync) -> u64 {
    let report = Explorer::new().strategy(Strategy::Exhaustive { preemptions: None }).run(f);
    assert!(report.complete && report.failures.is_empty());
    assert_eq!((report.exhaustive.redundant, report.exhaustive.probes), (0, 0));
    report.executions
}

/// Interleavings among all schedules, told apart by the hash of their order.
fn classes(f: impl Fn() + Sync) -> u64 {
    let report = Explorer::new().strategy(Strategy::Dfs { preemptions: None }).count_distinct(true).run(f);
    assert!(report.complete && report.failures.is_empty() && report.distinct_is_exact);
    report.distinct
}

fn ignore<T>(_result: T) {}

type Step = fn(&AtomicI32);

/// Each step by a thread of its own, on one atomic; returns what it ends with.
fn at_once(steps: &[Step]) -> i32 {
    let atomic = Arc::new(AtomicI32::new(0));
    let start = |&step: &Step| {
        let atomic = Arc::clone(&atomic);
        thread::spawn(move || step(&atomic))
    };
    let threads: Vec<_> = steps.iter().map(start).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    atomic.load(SeqCst)
}

const ADD: Step = |a| a.add(1, SeqCst);
const SUB: Step = |a| a.sub(2, SeqCst);
const AND: Step = |a| a.and(6, SeqCst);
const OR: Step = |a| a.or(1, SeqCst);
const XOR: Step = |a| a.xor(3, SeqCst);
const MAX: Step = |a| a.max(5, SeqCst);
const MIN: Step = |a| a.min(-5, SeqCst);
const FETCH: Step = |a| ignore(a.fetch_add(1, SeqCst));
const LOAD: Step = |a| ignore(a.load(SeqCst));

#[test]
fn any_number_of_threads_that_add_is_one_interleaving() {
    for n in 1..=6 {
        assert_eq!(runs(|| assert_eq!(at_once(&vec![ADD; n]), n as i32)), 1);
    }
    assert_eq!(runs(|| assert_eq!(at_once(&[FETCH; 4]), 4)), 24, "each sees how many were before");
}

#[test]
fn those_of_one_kind_commute_and_others_do_not() {
    for (i, a) in [ADD, AND, OR, XOR, MAX, MIN, LOAD].into_iter().enumerate() {
        for (j, b) in [ADD, AND, OR, XOR, MAX, MIN, LOAD].into_iter().enumerate() {
            let expected = if i == j { 1 } else { 2 };
            assert_eq!(runs(|| ignore(at_once(&[a, b]))), expected, "{i} {j}");
            assert_eq!(classes(|| ignore(at_once(&[a, b]))), expected, "{i} {j}");
        }
        assert_eq!(runs(|| ignore(at_once(&[a, FETCH]))), 2, "{i}");
    }
    assert_eq!(runs(|| assert_eq!(at_once(&[ADD, SUB, ADD]), 0)), 1, "subtraction is addition");
}

/// A reader sees any subset of the additions, whatever their order.
#[test]
fn what_comes_between_them_sees_which_came_before() {
    for n in 1..=4 {
        let mut steps = vec![ADD; n];
        steps.push(LOAD);
        assert_eq!(runs(|| ignore(at_once(&steps))), 1 << n);
    }
    // Two additions in a row by one thread against one by another, and a reader: places of the reader.
    let twice: Step = |a| {
        a.add(1, SeqCst);
        a.add(1, SeqCst);
    };
    assert_eq!(runs(|| ignore(at_once(&[twice, ADD, LOAD]))), 6);
}

/// Whether a compare-and-swap succeeds depends on which additions are before it, not on those that the run made before
/// and that stay behind it.
#[test]
fn a_compare_and_swap_finds_the_sum_of_those_before_it() {
    let seven: Step = |a| ignore(a.compare_exchange(2, 7, SeqCst, SeqCst));
    let eight: Step = |a| ignore(a.compare_exchange(2, 8, SeqCst, SeqCst));
    let one: Step = |a| ignore(a.compare_exchange(1, 9, SeqCst, SeqCst));
    for steps in [vec![ADD, ADD, seven, eight], vec![ADD, ADD, seven, one], vec![ADD, SUB, ADD, one, one]] {
        let outcomes = |explore: fn(&(dyn Fn() + Sync)) -> u64| {
            let seen = Plain::new(BTreeSet::new());
            let n = explore(&|| ignore(seen.lock().unwrap().insert(at_once(&steps))));
            (n, seen.into_inner().unwrap())
        };
        assert_eq!(outcomes(|f| runs(f)), outcomes(|f| classes(f)));
    }
}

#[test]
fn flags_are_raised_in_one_run() {
    assert_eq!(
        runs(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let raise = |_| {
                let flag = Arc::clone(&flag);
                thread::spawn(move || flag.or(true, SeqCst))
            };
            let threads: Vec<_> = (0..4).map(raise).collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
            assert!(flag.load(SeqCst));
        }),
        1
    );
}

/// Under RC11 they are read-modify-writes as any other: which stands where in the modification order decides what an
/// acquiring load of one of them synchronises with.
#[test]
fn under_rc11_their_order_counts() {
    let report = Explorer::new()
        .strategy(Strategy::Exhaustive { preemptions: None })
        .memory_model(MemoryModel::Rc11)
        .run(|| assert_eq!(at_once(&[ADD; 3]), 3));
    assert!(report.complete && report.failures.is_empty());
    assert_eq!(report.executions, 6);
}

/// Partial order sampling draws anew for those that conflict only, and coverage counts them as one class.
#[test]
fn random_strategies_count_them_as_one_class() {
    for strategy in [Strategy::Random, Strategy::Pos] {
        let report = Explorer::new()
            .strategy(strategy)
            .seeds(0..200)
            .count_distinct(true)
            .run(|| assert_eq!(at_once(&[ADD; 4]), 4));
        assert_eq!(report.distinct, 1);
    }
}
