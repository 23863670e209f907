//! Exhaustive exploration divided: among workers, over time, among processes; and how large it will be.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/language/mod.rs"]
mod language;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};

use interleaf::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interleaf::sync::{Condvar, Mutex};
use interleaf::{Frontier, FrontierError, Report, thread};
use known::{Known, fixtures};
use language::program::Program;
use language::run::{exhaust_with, exhausting};

/// The fixtures with at most `most` traces, with the parameters of their first line of what is known.
fn programs(most: u64) -> Vec<(String, Arc<Program>, u64)> {
    let mut programs = Vec::new();
    for (path, text) in fixtures("fixtures") {
        let Some(line) = text.lines().find_map(|line| line.strip_prefix("#:")) else { continue };
        let known = Known::read(line);
        assert_ne!(known.distinct, 0, "{}: a number of traces", path.display());
        if (3..=most).contains(&known.distinct) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            programs.push((name, known.program(&text).expect("a program"), known.distinct));
        }
    }
    assert!(programs.len() > 20, "{}", programs.len());
    programs
}

/// Runs all traces; which ones they are, by the program's own account.
fn set_of(program: &Arc<Program>, workers: usize) -> (Report, BTreeSet<String>) {
    let seen = StdMutex::new(BTreeSet::new());
    let report = exhausting().workers(workers).count_distinct(true).seeds(0..1 << 40).run(|| {
        let outcome = language::run::outcome(program);
        seen.lock().expect("no panic").insert(outcome);
    });
    (report, seen.into_inner().expect("no panic"))
}

#[test]
fn workers_share_the_traces_without_loss_or_repetition() {
    for (name, program, traces) in programs(800) {
        let (alone, outcomes) = set_of(&program, 1);
        assert_eq!((alone.executions, alone.distinct, alone.complete), (traces, traces, true), "{name}");
        for workers in [2, 3] {
            let (shared, same) = set_of(&program, workers);
            assert_eq!((shared.executions, shared.distinct, shared.complete), (traces, traces, true), "{name}");
            assert_eq!(shared.failures.len(), alone.failures.len(), "{name} with {workers} workers");
            assert_eq!(same, outcomes, "{name} with {workers} workers");
        }
    }
}

#[test]
fn a_stopped_exploration_goes_on_from_its_file() {
    for (name, program, traces) in programs(70) {
        for portion in [1, 3, 7, 100] {
            let (mut total, mut rounds) = (0, 0);
            let mut seen = None::<Report>;
            let mut saved: Option<String> = None;
            loop {
                let mut explorer = exhausting().count_distinct(true).seeds(0..portion);
                if let Some(text) = &saved {
                    explorer = explorer.resume(Frontier::from_json(text, "closure").expect("what was written"));
                }
                let report = exhaust_with(&explorer, &program);
                total += report.executions;
                rounds += 1;
                saved = report.frontier.as_ref().map(Frontier::to_json);
                assert_eq!(report.complete, saved.is_none(), "{name}");
                match &mut seen {
                    None => seen = Some(report),
                    Some(all) => all.merge(report),
                }
                if saved.is_none() {
                    break;
                }
            }
            assert_eq!(total, traces, "{name} in portions of {portion}");
            assert_eq!(seen.expect("a round").distinct, traces, "{name} in portions of {portion}");
            assert!(rounds >= traces.div_ceil(portion), "{name}: {rounds} rounds are too few");
        }
    }
}

#[test]
fn parts_of_the_work_add_up() {
    for (name, program, traces) in programs(800) {
        let first = exhaust_with(&exhausting().seeds(0..traces / 3 + 1), &program);
        let Some(frontier) = &first.frontier else { continue };
        let mut total = first.executions;
        for part in frontier.split(3) {
            if !part.is_empty() {
                let report = exhaust_with(&exhausting().seeds(0..1 << 40).resume(part), &program);
                assert!(report.complete, "{name}");
                total += report.executions;
            }
        }
        assert_eq!(total, traces, "{name}");
    }
}

#[test]
fn what_is_no_saved_exploration_is_refused() {
    let (_, program, _) = programs(70).swap_remove(0);
    let frontier = exhaust_with(&exhausting().seeds(0..5), &program).frontier.expect("work is left");
    let good = frontier.to_json();
    assert_eq!(Frontier::from_json(&good, "closure").expect("its own"), frontier);
    assert!(matches!(Frontier::from_json(&good, "other"), Err(FrontierError::Name { .. })));
    let newer = good.replacen("\"version\":2", "\"version\":3", 1);
    assert!(matches!(Frontier::from_json(&newer, "closure"), Err(FrontierError::Version(3))));
    for cut in [0, 1, good.len() / 2, good.len() - 1] {
        assert!(matches!(Frontier::from_json(&good[..cut], "closure"), Err(FrontierError::Shape(_))), "{cut}");
    }
    let damaged = good.replacen("\"thread\":0", "\"thread\":9", 1);
    assert!(matches!(Frontier::from_json(&damaged, "closure"), Err(FrontierError::Damaged(_))));
}

#[test]
fn a_frontier_of_another_program_does_no_harm() {
    let (_, one, _) = programs(70).swap_remove(0);
    let frontier = exhaust_with(&exhausting().seeds(0..2), &one).frontier.expect("work is left");
    let explorer = exhausting().seeds(0..1_000).resume(frontier);
    let report = explorer.run(|| {
        let word = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&word);
        let t = thread::spawn(move || other.store(1, SeqCst));
        word.load(SeqCst);
        t.join().unwrap();
    });
    assert!(report.failures.is_empty());
}

/// The mean of many estimates is the number itself.
#[test]
fn the_estimate_is_unbiased() {
    for (name, program, traces) in programs(70) {
        let report = exhaust_with(&exhausting().seeds(0..1).estimate(400), &program);
        let estimate = report.exhaustive.estimate;
        assert_eq!(estimate.samples, 400);
        let (off, allowed) = ((estimate.traces - traces as f64).abs(), 4.0 * estimate.error + 1e-9);
        assert!(off <= allowed, "{name}: {} ± {} for {traces}", estimate.traces, estimate.error);
        assert!(estimate.error < 0.2 * traces as f64, "{name}: ± {}", estimate.error);
    }
}

#[test]
fn a_run_of_more_than_64_events_is_explored_too() {
    let report = exhausting().seeds(0..10_000).count_distinct(true).run(|| {
        let word = Arc::new(AtomicU32::new(0));
        let own = AtomicU32::new(0);
        let other = Arc::clone(&word);
        let t = thread::spawn(move || {
            for _ in 0..2 {
                other.fetch_add(1, SeqCst);
            }
        });
        for _ in 0..150 {
            own.fetch_add(1, SeqCst);
        }
        for _ in 0..2 {
            word.fetch_add(1, SeqCst);
        }
        t.join().unwrap();
    });
    assert_eq!((report.executions, report.distinct, report.complete), (6, 6, true));
}

/// A bounded buffer of one place, one producer and one consumer of `n` items: the waits decide everything, and threads
/// spawn threads.
#[test]
fn condition_variables_and_nested_threads_are_explored_exactly() {
    let report = exhausting().seeds(0..100_000).count_distinct(true).run(|| {
        let place = Arc::new((Mutex::new(None), Condvar::new()));
        let outer = Arc::clone(&place);
        let producer = thread::spawn(move || {
            let inner = Arc::clone(&outer);
            let nested = thread::spawn(move || {
                let (slot, changed) = &*inner;
                *slot.lock().unwrap() = Some(7);
                changed.notify_one();
            });
            nested.join().unwrap();
        });
        let (slot, changed) = &*place;
        let mut guard = slot.lock().unwrap();
        while guard.is_none() {
            guard = changed.wait(guard).unwrap();
        }
        assert_eq!(guard.take(), Some(7));
        drop(guard);
        producer.join().unwrap();
    });
    assert!(report.failures.is_empty() && report.complete);
    assert_eq!(report.executions, report.distinct);
    assert!(report.executions > 1);
}
