//! What a report says of the classes that each strategy has shown, against a count by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::{Coverage, Explorer, Report, Strategy, thread};

/// All operations are on one object and write, so the order in which the threads come *is* the class.
fn program(order: &std::sync::Arc<Mutex<String>>) {
    let shared = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = "abc"
        .chars()
        .map(|who| {
            let (shared, order) = (Arc::clone(&shared), std::sync::Arc::clone(order));
            thread::spawn(move || {
                for _ in 0..3 {
                    shared.fetch_add(1, SeqCst);
                    order.lock().unwrap().push(who);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

fn explore(strategy: &Strategy, seeds: std::ops::Range<u64>, workers: usize) -> Report {
    Explorer::new().strategy(strategy.clone()).seeds(seeds).workers(workers).count_distinct(true).run(|| {
        program(&std::sync::Arc::new(Mutex::new(String::new())));
    })
}

/// The strategy and the class of one seed, which is run alone.
fn class_of(strategy: &Strategy, seed: u64) -> (String, String) {
    let last = Mutex::new(String::new());
    let explorer = Explorer::new().strategy(strategy.clone()).seeds(seed..seed + 1).check_determinism(false);
    let report = explorer.count_distinct(true).run(|| {
        let order = std::sync::Arc::new(Mutex::new(String::new()));
        program(&order);
        // The profile runs come first, so the seed's own run is what stays.
        *last.lock().unwrap() = std::mem::take(&mut *order.lock().unwrap());
    });
    let [ref one] = report.coverage[..] else { panic!("one seed, one strategy") };
    assert_eq!((one.runs, one.distinct, one.once, one.twice), (1, 1, 1, 0));
    (one.strategy.clone(), last.into_inner().unwrap())
}

#[test]
fn each_strategys_classes_are_counted_as_by_hand() {
    const SEEDS: u64 = 600;
    for strategy in [Strategy::Portfolio, Strategy::Random, Strategy::Pct { depth: 3 }] {
        let mut times: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for seed in 0..SEEDS {
            let (strategy, class) = class_of(&strategy, seed);
            *times.entry(strategy).or_default().entry(class).or_insert(0) += 1;
        }
        let report = explore(&strategy, 0..SEEDS, 1);
        let by_hand: Vec<(String, [u64; 4])> = times
            .iter()
            .map(|(strategy, classes)| {
                let with = |n| classes.values().filter(|&&t| t == n).count() as u64;
                (strategy.clone(), [classes.values().sum(), classes.len() as u64, with(1), with(2)])
            })
            .collect();
        let numbers = |c: &Coverage| (c.strategy.clone(), [c.runs, c.distinct, c.once, c.twice]);
        assert_eq!(report.coverage.iter().map(numbers).collect::<Vec<_>>(), by_hand);
        let all: BTreeSet<&String> = times.values().flat_map(BTreeMap::keys).collect();
        assert_eq!(report.distinct, all.len() as u64);
        for c in &report.coverage {
            assert_eq!((c.one_in, c.new_class.chance), (1, c.once as f64 / c.runs as f64));
            assert!(c.new_class.low <= c.new_class.chance && c.new_class.chance <= c.new_class.high);
        }
    }
    let names: Vec<String> = explore(&Strategy::Portfolio, 0..9, 1).coverage.into_iter().map(|c| c.strategy).collect();
    assert_eq!(names, ["pct:2", "pos", "urw"]);
}

#[test]
fn coverage_depends_neither_on_the_workers_nor_on_how_seeds_are_split() {
    let whole = explore(&Strategy::Portfolio, 0..1_000, 1);
    assert_eq!(explore(&Strategy::Portfolio, 0..1_000, 4).coverage, whole.coverage);
    let mut parts = Report::default();
    for seeds in [700..1_000, 0..1, 1..700] {
        parts.merge(explore(&Strategy::Portfolio, seeds, 2));
    }
    assert_eq!(parts.coverage, whole.coverage);
    assert_eq!(whole.coverage.iter().map(|c| c.runs).sum::<u64>(), 1_000);
}

#[test]
fn a_search_and_an_exploration_that_does_not_count_have_none() {
    assert!(explore(&Strategy::Dfs { preemptions: None }, 0..10_000, 1).coverage.is_empty());
    let report = Explorer::new().seeds(0..10).run(|| program(&std::sync::Arc::new(Mutex::new(String::new()))));
    assert!(report.coverage.is_empty());
}
