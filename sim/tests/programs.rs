//! Depth-first search reaches exactly the known number of interleavings and of traces.
//!
//! The fixtures state in comments what is known of them, with parameters where they have any:
//!
//! ```text
//! #: N=3 complete=90 distinct=66 within=6/24/54/66
//! #: complete=162 distinct=7 unfinished=6
//! ```
//!
//! `complete`: interleavings in which every thread comes to its end; `unfinished`: those that deadlock or stop at an
//! `assume`; `distinct`: traces of both kinds, that is, orders of conflicting operations; `within`: traces that have an
//! interleaving with at most 0, 1, 2, … preemptions. The counts come from a program that builds the graph of trace
//! prefixes and shares no idea with a depth-first search; many are the published ones of the literature on partial-order
//! reduction.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "one test counts, the other measures")]
#[path = "programs/language/mod.rs"]
mod language;

use known::{Known, compare_with_published, fixtures};
use language::run::count;

/// Most schedules of one program.
const LIMIT: u64 = 400_000;

/// What is found to be different.
fn differences(known: &Known, text: &str) -> Vec<String> {
    let program = match known.program(text) {
        Ok(program) => program,
        Err(error) => return vec![error],
    };
    let mut differences = Vec::new();
    let mut compare = |what: String, found: u64, expected: u64| {
        if found != expected {
            differences.push(format!("{what}: {found}, not {expected}"));
        }
    };
    let all = count(&program, None, LIMIT);
    compare("complete".into(), all.complete, known.complete);
    compare("unfinished".into(), all.blocked + all.deadlocked, known.unfinished);
    compare("distinct".into(), all.distinct, known.distinct);
    for (bound, &expected) in known.within.iter().enumerate() {
        let bounded = count(&program, Some(bound as u32), LIMIT);
        compare(format!("within {bound} preemptions"), bounded.distinct, expected);
    }
    differences
}

#[test]
fn fixtures_are_counted_exactly() {
    let (mut instances, mut wrong) = (0, Vec::new());
    for (path, text) in fixtures("fixtures") {
        let known: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("#:")).map(Known::read).collect();
        let exhausted = text.lines().any(|line| line.starts_with("#="));
        assert!(exhausted || !known.is_empty(), "{} does not say what is expected", path.display());
        for expected in known {
            instances += 1;
            for difference in differences(&expected, &text) {
                wrong.push(format!("{} {:?} {difference}", path.display(), expected.parameters));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(instances >= 70, "only {instances} instances");
}

/// Many more programs, in files that are not part of this repository: set `INTERLEAF_PROGRAMS` to their directory.
#[test]
fn published_programs_are_counted_exactly() {
    compare_with_published("published.txt", |text, known| differences(&Known::read(known), text));
}
