//! Exploration of random small programs by reads-from classes against all their interleavings: one run for each class.
//!
//! The ordinary suite looks at a few dozen programs of each sort. For many more:
//!
//! ```text
//! INTERLEAF_RANDOM_PROGRAMS=10000 cargo test -p interleaf --test random_classes
//! ```
//!
//! (that many of each sort; `INTERLEAF_RANDOM_SEED` starts elsewhere, `INTERLEAF_RANDOM_LIMIT` is the most schedules.)

mod classes;
#[allow(dead_code, reason = "another test compares traces")]
mod random;

use classes::{Classes, by_class, difference, explorer};
use random::compare::every_schedule;
use random::generate::{Class, program};
use random::program::{Body, Op};
use random::run::{Outcomes, run};
use random::shrink::shrink;

/// Programs of each sort in the ordinary suite.
const PROGRAMS: u64 = 60;
/// Most interleavings of a program.
const LIMIT: u64 = 3_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{variable}={text}: {e}")))
}

/// What is wrong; an empty text if nothing is, `None` if there are too many interleavings or the program is refused.
fn wrong(body: &Body, limit: u64) -> Option<String> {
    let (all, outcomes) = (Classes::default(), Outcomes::default());
    let (strategy, done) = every_schedule();
    let every = explorer(strategy, limit, &all).stop_when(&done).run(|| run(body, &outcomes));
    if !done.load(std::sync::atomic::Ordering::Relaxed) {
        return None;
    }
    let all = std::mem::take(&mut *all.lock().expect("not poisoned"));
    let seen = Classes::default();
    let report = by_class(all.len() as u64 * 2 + 10, &seen).run(|| run(body, &outcomes));
    if report.failures.iter().any(|f| f.kind.headline().contains("try_lock of mutexes that others wait for")) {
        return None;
    }
    if report.exhaustive.probes > 0 && !body.any(&|op| matches!(op, Op::Await(..) | Op::Yield)) {
        return Some(format!("{} runs in vain", report.exhaustive.probes));
    }
    let found = difference(&report, &seen, &all).unwrap_or_default();
    Some(if found.is_empty() { found } else { format!("{found}, of {} schedules", every.executions) })
}

fn compare(class: Class) {
    let programs = number("INTERLEAF_RANDOM_PROGRAMS").unwrap_or(PROGRAMS);
    let limit = number("INTERLEAF_RANDOM_LIMIT").unwrap_or(LIMIT);
    let first = number("INTERLEAF_RANDOM_SEED").unwrap_or(0);
    let mut compared = 0;
    for seed in first..first + programs {
        let body = program(class, seed);
        let Some(found) = wrong(&body, limit) else { continue };
        compared += 1;
        if !found.is_empty() {
            let small = shrink(body, &|b| wrong(b, limit).is_some_and(|found| !found.is_empty()));
            let why = wrong(&small, limit).unwrap_or_default();
            panic!("{class:?} program {seed}: {found}\nsmallest:\n{small}{why}");
        }
    }
    eprintln!("{class:?}: {compared} of {programs} programs");
    assert!(compared * 2 > programs, "only {compared} of {programs} programs could be compared");
}

#[test]
fn atomics() {
    compare(Class::Atomics);
}

#[test]
fn mutexes() {
    compare(Class::Mutexes);
}

#[test]
fn threads_start_and_join_threads() {
    compare(Class::Threads);
}

#[test]
fn yields_in_bounded_loops() {
    compare(Class::Yields);
}
