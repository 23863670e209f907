//! Exhaustive exploration makes one run for each trace and no other.
//!
//! The fixtures say how many there are (see `programs.rs`); lines that begin with `#=` give numbers of traces of programs
//! that have too many interleavings for a search over all of them.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "programs/known.rs"]
mod known;
#[allow(dead_code, reason = "other tests measure")]
#[path = "programs/language/mod.rs"]
mod language;

use known::{Known, compare_with_published, fixtures};
use language::run::exhaust;

fn difference(text: &str, line: &str) -> Option<String> {
    let known = Known::read(line);
    let traces = known.distinct;
    let program = match known.program(text) {
        Ok(program) => program,
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
    for (path, text) in fixtures("fixtures") {
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
    compare_with_published("published.txt", |text, known| Vec::from_iter(difference(text, known)));
}
