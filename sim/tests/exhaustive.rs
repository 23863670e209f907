//! Exhaustive exploration makes one run for each trace and no other.
//!
//! The fixtures say how many there are (see `programs.rs`); lines that begin with `#=` give numbers of traces of programs
//! that have too many interleavings for a search over all of them.

#[allow(dead_code, reason = "other tests measure")]
#[path = "programs/language/mod.rs"]
mod language;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use language::program::Program;
use language::run::exhaust;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// `KEY=NUMBER` items of a line: parameters, and the number of traces.
fn known(line: &str) -> (Vec<(String, i64)>, u64) {
    let mut parameters = Vec::new();
    let mut traces = 0;
    for (key, value) in line.split_whitespace().map(|item| item.split_once('=').expect("KEY=VALUE")) {
        match key {
            "distinct" => traces = value.parse().expect("a number"),
            "complete" | "unfinished" | "within" => {}
            _ => parameters.push((key.to_owned(), value.parse().expect("a number"))),
        }
    }
    (parameters, traces)
}

fn difference(text: &str, line: &str) -> Option<String> {
    let (parameters, traces) = known(line);
    let borrowed: Vec<_> = parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let program = match Program::read(text, &borrowed) {
        Ok(program) => Arc::new(program),
        Err(error) => return Some(error),
    };
    let (counted, report) = exhaust(&program, 300_000);
    let once = report.distinct == traces || !report.distinct_is_exact;
    let good = report.complete && once && report.executions == traces && report.exhaustive.redundant == 0;
    (!good).then(|| {
        format!(
            "{traces} expected, {} runs, {counted:?}, {:?} {}",
            report.executions, report.exhaustive, report.complete
        )
    })
}

#[test]
fn fixtures_take_one_run_a_trace() {
    let mut wrong = Vec::new();
    let entries = fs::read_dir(directory().join("fixtures")).expect("the fixtures");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a fixture");
        for line in text.lines().filter_map(|line| line.strip_prefix("#:").or_else(|| line.strip_prefix("#="))) {
            if let Some(difference) = difference(&text, line) {
                wrong.push(format!("{} {line}: {difference}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn published_programs_take_one_run_a_trace() {
    let Some(outside) = std::env::var_os("INTERLEAF_PROGRAMS").map(PathBuf::from) else {
        eprintln!("INTERLEAF_PROGRAMS is not set: only the fixtures were counted");
        return;
    };
    let table = fs::read_to_string(directory().join("published.txt")).expect("the table");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, known) = line.split_once(' ').expect("NAME and what is known");
        let text = fs::read_to_string(outside.join(format!("{name}.prog"))).expect(name);
        if let Some(difference) = difference(&text, known) {
            wrong.push(format!("{line}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
