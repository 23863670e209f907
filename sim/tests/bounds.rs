//! Exhaustive exploration within a bound finds exactly the traces within it, and says how many schedules they stand for.

#[allow(dead_code, reason = "other tests measure")]
#[path = "programs/language/mod.rs"]
mod language;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use interleaf::Strategy;
use language::program::Program;
use language::run::exhaust_by;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// One line of what is known: see `programs.rs`.
#[derive(Default)]
struct Known {
    parameters: Vec<(String, i64)>,
    complete: u64,
    unfinished: u64,
    distinct: u64,
    within: Vec<u64>,
}

impl Known {
    fn read(line: &str) -> Self {
        let mut known = Self::default();
        for (key, value) in line.split_whitespace().map(|item| item.split_once('=').expect("KEY=VALUE")) {
            let number = || value.parse::<u64>().expect("a number");
            match key {
                "complete" => known.complete = number(),
                "unfinished" => known.unfinished = number(),
                "distinct" => known.distinct = number(),
                "within" => known.within = value.split('/').map(|n| n.parse().expect("a number")).collect(),
                _ => known.parameters.push((key.to_owned(), value.parse().expect("a number"))),
            }
        }
        known
    }

    fn program(&self, text: &str) -> Arc<Program> {
        let parameters: Vec<_> = self.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Arc::new(Program::read(text, &parameters).expect("a program"))
    }

    /// What is found to be different.
    fn differences(&self, text: &str) -> Vec<String> {
        let program = self.program(text);
        let mut differences = Vec::new();
        let (_, all) = exhaust_by(Strategy::Exhaustive { preemptions: None }, &program, 300_000, true);
        let mut compare = |what: String, found: u128, expected: u64| {
            if found != expected.into() {
                differences.push(format!("{what}: {found}, not {expected}"));
            }
        };
        assert!(
            all.complete && all.exhaustive.schedules_are_exact && all.exhaustive.unjudged == 0,
            "{:?}",
            all.exhaustive
        );
        let schedules = all.exhaustive.schedules.expect("a number");
        compare("schedules".into(), schedules, self.complete + self.unfinished);
        compare("traces".into(), (all.exhaustive.traces + all.exhaustive.deadlocked).into(), self.distinct);
        for (bound, &expected) in self.within.iter().enumerate() {
            let strategy = Strategy::Exhaustive { preemptions: Some(bound as u32) };
            let (_, report) = exhaust_by(strategy, &program, 300_000, false);
            compare(format!("within {bound} preemptions"), report.executions.into(), expected);
            compare(format!("distinct within {bound} preemptions"), report.distinct.into(), expected);
            assert!(report.complete && report.exhaustive.unjudged == 0, "{:?}", report.exhaustive);
            if std::env::var_os("INTERLEAF_SHOW").is_some() {
                eprintln!(
                    "{:?} {bound}: {} of {}, {:?}",
                    self.parameters, report.executions, self.distinct, report.exhaustive
                );
            }
        }
        if let Some(most) = self.within.iter().position(|&n| n == self.distinct) {
            compare("most preemptions".into(), all.exhaustive.preemptions.into(), most as u64);
        }
        differences
    }
}

#[test]
fn fixtures_have_the_known_traces_within_each_bound() {
    let entries = fs::read_dir(directory().join("fixtures")).expect("the fixtures");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a fixture");
        for line in text.lines().filter_map(|line| line.strip_prefix("#:")) {
            for difference in Known::read(line).differences(&text) {
                wrong.push(format!("{} {line}: {difference}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixtures_have_the_known_traces_within_each_number_of_delays() {
    let table = fs::read_to_string(directory().join("delays.txt")).expect("the table");
    let (mut wrong, mut instances) = (Vec::new(), 0);
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (line, delays) = line.split_once("delays=").expect("NAME PARAMETERS delays=…");
        let (name, parameters) = line.split_once(' ').expect("a name");
        let text = fs::read_to_string(directory().join(format!("fixtures/{name}.prog"))).expect(name);
        let program = Known::read(parameters).program(&text);
        for (delays, expected) in delays.split('/').enumerate() {
            let (_, report) = exhaust_by(Strategy::Delays { delays: delays as u32 }, &program, 300_000, false);
            instances += 1;
            if report.exhaustive.traces.to_string() != expected || !report.complete || report.exhaustive.unjudged > 0 {
                wrong.push(format!("{line} {delays} delays: {expected} expected, {:?}", report.exhaustive));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(instances > 300, "only {instances} instances");
}

#[test]
fn bounds_in_turn_count_each_trace_once() {
    let text = fs::read_to_string(directory().join("fixtures/reordered_stores.prog")).expect("a fixture");
    let known = Known { parameters: vec![("S".into(), 2)], ..Known::default() };
    let program = known.program(&text);
    for (last, expected) in [6, 24, 42, 44, 44].into_iter().enumerate() {
        let (_, report) = exhaust_by(Strategy::Iterative { preemptions: last as u32 }, &program, 300_000, false);
        let found = report.exhaustive;
        assert_eq!(
            (report.executions, report.distinct, report.complete),
            (expected, expected, true),
            "{last}: {found:?}"
        );
        assert_eq!(found.preemptions, last.min(3) as u32);
        assert!(last == 0 || found.again > 0);
    }
    let rounds =
        |last| exhaust_by(Strategy::Iterative { preemptions: last }, &program, 300_000, false).1.exhaustive.again;
    assert_eq!(rounds(3), rounds(9), "no further round is made once nothing was beyond the bound");
}

#[test]
fn published_programs_have_the_known_traces_within_each_bound() {
    let Some(outside) = std::env::var_os("INTERLEAF_PROGRAMS").map(PathBuf::from) else {
        eprintln!("INTERLEAF_PROGRAMS is not set: only the fixtures were counted");
        return;
    };
    let table = fs::read_to_string(directory().join("published.txt")).expect("the table");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (name, known) = line.split_once(' ').expect("NAME and what is known");
        let text = fs::read_to_string(outside.join(format!("{name}.prog"))).expect(name);
        for difference in Known::read(known).differences(&text) {
            wrong.push(format!("{line}: {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
