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
