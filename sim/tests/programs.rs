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

#[allow(dead_code, reason = "one test counts, the other measures")]
#[path = "programs/language/mod.rs"]
mod language;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use language::program::Program;
use language::run::count;

/// Most schedules of one program.
const LIMIT: u64 = 400_000;

/// One line of what is known.
#[derive(Debug, Default)]
struct Expected {
    parameters: Vec<(String, i64)>,
    complete: u64,
    unfinished: u64,
    distinct: u64,
    within: Vec<u64>,
}

impl Expected {
    fn read(line: &str) -> Self {
        let mut expected = Self::default();
        for (key, value) in line.split_whitespace().map(|item| item.split_once('=').expect("KEY=VALUE")) {
            let number = || value.parse::<u64>().expect("a number");
            match key {
                "complete" => expected.complete = number(),
                "unfinished" => expected.unfinished = number(),
                "distinct" => expected.distinct = number(),
                "within" => expected.within = value.split('/').map(|n| n.parse().expect("a number")).collect(),
                _ => expected.parameters.push((key.to_owned(), value.parse().expect("a number"))),
            }
        }
        expected
    }

    /// What is found to be different.
    fn differences(&self, text: &str) -> Vec<String> {
        let parameters: Vec<_> = self.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let program = match Program::read(text, &parameters) {
            Ok(program) => Arc::new(program),
            Err(error) => return vec![error],
        };
        let mut differences = Vec::new();
        let mut compare = |what: String, found: u64, expected: u64| {
            if found != expected {
                differences.push(format!("{what}: {found}, not {expected}"));
            }
        };
        let all = count(&program, None, LIMIT);
        compare("complete".into(), all.complete, self.complete);
        compare("unfinished".into(), all.blocked + all.deadlocked, self.unfinished);
        compare("distinct".into(), all.distinct, self.distinct);
        for (bound, &expected) in self.within.iter().enumerate() {
            let bounded = count(&program, Some(bound as u32), LIMIT);
            compare(format!("within {bound} preemptions"), bounded.distinct, expected);
        }
        differences
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn fixtures() -> Vec<PathBuf> {
    let entries = fs::read_dir(directory().join("fixtures")).expect("the fixtures");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn fixtures_are_counted_exactly() {
    let (mut instances, mut wrong) = (0, Vec::new());
    for path in fixtures() {
        let text = fs::read_to_string(&path).expect("a fixture");
        let known: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("#:")).map(Expected::read).collect();
        let exhausted = text.lines().any(|line| line.starts_with("#="));
        assert!(exhausted || !known.is_empty(), "{} does not say what is expected", path.display());
        for expected in known {
            instances += 1;
            for difference in expected.differences(&text) {
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
    let Some(outside) = std::env::var_os("INTERLEAF_PROGRAMS").map(PathBuf::from) else {
        eprintln!("INTERLEAF_PROGRAMS is not set: only the fixtures were counted");
        return;
    };
    let table = fs::read_to_string(directory().join("published.txt")).expect("the table");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, known) = line.split_once(' ').expect("NAME and what is known");
        let text = fs::read_to_string(outside.join(format!("{name}.prog"))).expect(name);
        for difference in Expected::read(known).differences(&text) {
            wrong.push(format!("{line}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
