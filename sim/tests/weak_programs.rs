//! Exhaustive search under RC11 makes as many runs as there are executions, on programs with known answers.
//!
//! Lines of a table: name, parameters, what is expected. `complete`: executions in which every thread comes to its end;
//! `blocked`: those that stop at an `assume`; `deadlocked`; `wrong`: those that deadlock or in which an `assert` or
//! `final` does not hold. With all accesses `sc` the counts are those of Mazurkiewicz traces in the literature on
//! partial-order reduction; the others come from a program that builds all graphs and evaluates the axioms on each.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "several tests share it")]
#[path = "programs/language/mod.rs"]
mod language;

use std::sync::Arc;

use known::{compare_with_published, fixtures};
use language::program::Program;
use language::run::count_graphs;

/// Most executions of one program.
const LIMIT: u64 = 1_000_000;

/// What is found to be different.
fn differences(text: &str, known: &str) -> Vec<String> {
    let mut parameters: Vec<(&str, i64)> = Vec::new();
    let mut expected = [("complete", 0), ("blocked", 0), ("deadlocked", 0), ("wrong", 0)];
    for (key, value) in known.split_whitespace().map(|item| item.split_once('=').expect("KEY=VALUE")) {
        let value: i64 = value.parse().expect("a number");
        match expected.iter_mut().find(|(name, _)| *name == key) {
            Some((_, number)) => *number = value,
            None => parameters.push((key, value)),
        }
    }
    let program = match Program::read(text, &parameters) {
        Ok(program) => Arc::new(program),
        Err(error) => return vec![error],
    };
    let found = count_graphs(&program, LIMIT);
    let found = [found.complete, found.blocked, found.deadlocked, found.wrong];
    let different = |((name, expected), found): (&(&str, i64), u64)| {
        (*expected != found as i64).then(|| format!("{name}: {found}, not {expected}"))
    };
    expected.iter().zip(found).filter_map(different).collect()
}

#[test]
fn fixtures_are_counted_exactly() {
    let (mut instances, mut wrong) = (0, Vec::new());
    for (path, text) in fixtures("weak") {
        for known in text.lines().filter_map(|line| line.strip_prefix("#:")) {
            instances += 1;
            for difference in differences(&text, known) {
                wrong.push(format!("{} {known} {difference}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(instances >= 20, "only {instances} instances");
}

/// Many more programs, in files that are not part of this repository: set `INTERLEAF_PROGRAMS` to their directory.
#[test]
fn published_programs_are_counted_exactly() {
    compare_with_published("published_rc11.txt", differences);
}
