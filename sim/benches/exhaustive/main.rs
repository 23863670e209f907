//! Exhaustive exploration: executions and CPU time, alone on programs with known numbers of traces, and against Loom on
//! the same programs in the same process.
//!
//! ```text
//! cargo bench -p interleaf --bench exhaustive                  # both tables
//! cargo bench -p interleaf --bench exhaustive -- alone         # the first
//! cargo bench -p interleaf --bench exhaustive -- loom          # the second
//! INTERLEAF_PROGRAMS=DIR cargo bench -p interleaf --bench exhaustive -- file NAME KEY=VALUE…
//! ```
//!
//! CPU time of this process. Against Loom a round runs both sides once, in alternating order, and the ratio is the
//! median of the rounds' ratios.

mod against_loom;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/programs/language/mod.rs"]
mod language;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use language::program::Program;
use language::run::exhaust;

/// A program of the test suite with its parameters and number of traces.
type Instance = (&'static str, &'static [(&'static str, i64)], u64);

const ALONE: &[Instance] = &[
    ("one_writer", &[("N", 8)], 256),
    ("last_nonzero", &[("N", 5)], 64),
    ("last_nonzero", &[("N", 10)], 3_328),
    ("last_nonzero", &[("N", 15)], 147_456),
];

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("exhaustive: this build is not optimised, its figures mean nothing; use `cargo bench`");
        // `cargo test --benches` runs this too, and there is nothing to test.
        std::process::exit(i32::from(std::env::args().any(|a| a == "--bench")));
    }
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        None => {
            alone();
            against_loom::table();
        }
        Some("alone") => alone(),
        Some("loom") => against_loom::table(),
        Some("file") => file(&arguments[1..]),
        Some(other) => {
            eprintln!("exhaustive: unknown argument `{other}`: expected alone, loom or file");
            std::process::exit(2);
        }
    }
}

fn alone() {
    println!("| program | traces expected | executions | redundant | probes | CPU s | us/execution |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, parameters, traces) in ALONE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/fixtures/{name}.prog"));
        one(&path, parameters, Some(*traces));
    }
}

fn file(arguments: &[String]) {
    let directory = std::env::var("INTERLEAF_PROGRAMS").expect("INTERLEAF_PROGRAMS");
    let path = Path::new(&directory).join(format!("{}.prog", arguments[0]));
    let parameters: Vec<(&str, i64)> = arguments[1..]
        .iter()
        .map(|a| a.split_once('=').map(|(k, v)| (k, v.parse().expect("a number"))).expect("KEY=VALUE"))
        .collect();
    one(&path, &parameters, None);
}

fn one(path: &Path, parameters: &[(&str, i64)], traces: Option<u64>) {
    let text = std::fs::read_to_string(path).expect("a program");
    let program = Arc::new(Program::read(&text, parameters).expect("a program"));
    let mut executions = 0;
    let took = cpu_time(|| {
        let (_, report) = exhaust(&program, u64::MAX >> 1);
        executions = report.executions;
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        print!(
            "| {name} {parameters:?} | {} | {} | {} | {} |",
            traces.map_or_else(String::new, |t| t.to_string()),
            report.executions,
            report.exhaustive.redundant,
            report.exhaustive.probes,
        );
    });
    println!(" {:.3} | {:.2} |", took.as_secs_f64(), took.as_secs_f64() * 1e6 / executions.max(1) as f64);
}

/// CPU time that this process spends in `f`.
pub(crate) fn cpu_time(f: impl FnOnce()) -> Duration {
    let now = || {
        let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `t` is a valid place for the result.
        let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) };
        assert_eq!(failed, 0, "no CPU clock");
        Duration::new(t.tv_sec.unsigned_abs(), t.tv_nsec.unsigned_abs() as u32)
    };
    let start = now();
    f();
    now() - start
}
