//! Exploration by reads-from classes: one run for each, and no other.
//!
//! How many classes there are is known of published programs, and counted by brute force for all others: all schedules
//! are run, and a monitor notes whose write each read finds.

mod classes;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "other tests measure")]
#[path = "programs/language/mod.rs"]
mod language;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use interleaf::arc_swap::ArcSwap;
use interleaf::sync::{Arc, Mutex};
use interleaf::{Strategy, thread};

use classes::{Class, Classes, by_class, difference, explorer};
use known::{Known, compare_with_published, fixtures};
use language::run::outcome;

/// All schedules of a program; `None` if there are more than `limit`.
fn all_classes(limit: u64, body: impl Fn() + Sync) -> Option<BTreeSet<Class>> {
    let classes = Classes::default();
    let report = explorer(Strategy::Dfs { preemptions: None }, limit, &classes).run(body);
    let classes = std::mem::take(&mut *classes.lock().expect("not poisoned"));
    report.complete.then_some(classes)
}

fn is_supported(text: &str) -> bool {
    let others = ["rwlock", "cond ", "sem "];
    !text.lines().any(|line| !line.starts_with('#') && others.iter().any(|other| line.contains(other)))
}

#[test]
fn fixtures_take_one_run_a_class() {
    let (mut wrong, mut counted) = (Vec::new(), 0);
    for (path, text) in fixtures("fixtures").into_iter().filter(|(_, text)| is_supported(text)) {
        for line in text.lines().filter_map(|line| line.strip_prefix("#:")) {
            let known = Known::read(line);
            let program = known.program(&text).expect("a program");
            if known.complete + known.unfinished > 6_000 {
                continue;
            }
            counted += 1;
            let all = all_classes(20_000, || drop(outcome(&program))).expect("few schedules");
            let seen = Classes::default();
            let report = by_class(known.distinct + 1, &seen).run(|| drop(outcome(&program)));
            if let Some(difference) = difference(&report, &seen, &all) {
                wrong.push(format!("{} {line}: {difference}", path.display()));
            }
            assert!(report.executions <= known.distinct, "never more runs than traces");
            assert_eq!(report.exhaustive.probes, 0, "no run in vain");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counted >= 40, "only {counted} instances");
}

/// One that locks is made to wait for another; what the one that tries finds must not be decided before.
#[test]
fn a_mutex_that_is_tried_while_it_is_promised_takes_one_run_a_class() {
    let body = || {
        let (n, m) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let locker = |n: &Arc<Mutex<()>>| {
            let n = Arc::clone(n);
            thread::spawn(move || drop(n.lock().unwrap()))
        };
        let first = locker(&n);
        let trier = {
            let (n, m) = (Arc::clone(&n), Arc::clone(&m));
            thread::spawn(move || {
                if let Ok(_held) = n.try_lock() {
                    drop(m.lock().unwrap());
                }
            })
        };
        let last = locker(&n);
        [first, trier, last].into_iter().for_each(|t| t.join().unwrap());
    };
    let all = all_classes(20_000, body).expect("few schedules");
    let seen = Classes::default();
    let report = by_class(20_000, &seen).run(body);
    assert_eq!((difference(&report, &seen, &all), all.len()), (None, 10));
}

/// A snapshot cell is compared by whose snapshot it holds.
#[test]
fn snapshots_take_one_run_a_class() {
    let body = || {
        let cell = Arc::new(ArcSwap::from_pointee(0));
        let others: Vec<_> = (1..4)
            .map(|id| {
                let cell = Arc::clone(&cell);
                thread::spawn(move || match id {
                    3 => cell.store(Arc::new(id)),
                    _ => drop(cell.rcu(|old| **old + id)),
                })
            })
            .collect();
        drop(cell.load());
        others.into_iter().for_each(|t| t.join().unwrap());
    };
    let all = all_classes(20_000, body).expect("few schedules");
    let seen = Classes::default();
    let report = by_class(20_000, &seen).run(body);
    assert_eq!(difference(&report, &seen, &all), None);
    assert!(report.exhaustive.probes == 0 && report.executions > 20, "{}", report.executions);
}

/// What is wrong with the number of runs of a program of the table.
fn against_table(text: &str, line: &str) -> Vec<String> {
    let known: Vec<_> = line.split_whitespace().filter(|item| !item.starts_with("classes=")).collect();
    let classes: u64 = line.rsplit_once("classes=").and_then(|(_, n)| n.parse().ok()).expect("classes=N");
    let program = match Known::read(&known.join(" ")).program(text) {
        Ok(program) => program,
        Err(error) => return vec![error],
    };
    let stopped = AtomicU64::new(0);
    let (seen, limit) = (Classes::default(), 60_000);
    let report = by_class(limit, &seen).run(|| {
        let at_an_assumption = outcome(&program).starts_with("true");
        stopped.fetch_add(at_an_assumption.into(), Relaxed);
    });
    let once = seen.lock().expect("not poisoned").len() as u64 == report.executions;
    let complete = report.exhaustive.traces - stopped.into_inner();
    let good = report.complete && once && complete == classes && report.exhaustive.probes == 0;
    Vec::from_iter((!good).then(|| format!("{complete} complete, once {once}, {:?}", report.exhaustive)))
}

/// The published numbers of reads-from classes, and of programs that were counted by the counter of traces.
#[test]
fn published_programs_take_one_run_a_class() {
    compare_with_published("reads_from.txt", against_table);
}
