//! The strategies find bugs as often as theory says they must.
//!
//! A random walk that is outside the binomial interval around the exact probability has a wrong idea of what a
//! scheduling point is. The exact probabilities come from summing over the whole tree of schedules, with one uniform
//! choice before each visible operation; the rates of PCT from an independent simulator of the algorithm.
//!
//! Seeds are fixed, so these tests either always pass or always fail.

#[allow(dead_code, reason = "one test counts, the other measures")]
#[path = "programs/language/mod.rs"]
mod language;

use std::path::Path;
use std::sync::Arc;

use interleaf::Strategy;
use language::program::Program;
use language::run::measure;

/// Half the width of the interval, in standard deviations: a right implementation is outside once in 150,000 times.
const DEVIATIONS: f64 = 4.5;

/// How far the rate of PCT may be from the reference, as a factor.
const FACTOR: f64 = 1.5;

/// A fixture with a bug.
struct Bug {
    name: &'static str,
    parameters: &'static [(&'static str, i64)],
    /// Exact probability that one random walk shows it.
    random: f64,
    /// Mean number of executions until PCT with depth 2 and 3 shows it.
    pct: [f64; 2],
}

const fn bug(name: &'static str, parameters: &'static [(&'static str, i64)], random: f64, pct: [f64; 2]) -> Bug {
    Bug { name, parameters, random, pct }
}

const BUGS: &[Bug] = &[
    bug("account", &[], 1.0 / 3.0, [3.0, 3.0]),
    bug("limit", &[], 1.0 / 3.0, [3.0, 3.0]),
    bug("counted_lock", &[], 0.5, [4.0, 2.4]),
    bug("opposite_order", &[], 0.5, [8.3, 4.3]),
    bug("token_ring", &[], 1.0 / 6.0, [5.9, 5.9]),
    bug("ring_of_locks", &[], 1.0 / 3.0, [24.3, 11.7]),
    bug("lost_wakeup", &[], 0.125, [18.5, 10.3]),
    bug("one_signal_for_two", &[], 1.0 / 3.0, [3.0, 3.0]),
    bug("reordered_stores", &[("S", 2)], 0.123_456_790, [23.9, 12.3]),
    bug("reordered_stores", &[("S", 3)], 0.111_328_125, [39.4, 19.9]),
    bug("two_stages", &[("A", 1)], 1.0 / 64.0, [9.3, 6.7]),
    bug("two_stages", &[("A", 2)], 0.013_946_045, [f64::NAN, f64::NAN]),
    bug("stack", &[("K", 3)], 0.25, [5.9, 4.3]),
    bug("stack", &[("K", 5)], 0.429_687_5, [f64::NAN, f64::NAN]),
    bug("six_against_six", &[("N", 6)], 1.0 / 64.0, [3.3, 5.1]),
    bug("rounds", &[("N", 1)], 0.5, [4.0, 2.4]),
    bug("rounds", &[("N", 2)], 0.8125, [4.1, 2.3]),
    bug("rounds", &[("N", 3)], 0.933_593_75, [f64::NAN, f64::NAN]),
    bug("overdraft", &[], 0.375, [8.0, 4.3]),
    bug("once_flag_first", &[], 1.0 / 32.0, [14.3, 10.2]),
    bug("seqlock_unchecked", &[], 0.054_687_5, [16.5, 13.9]),
    bug("late_close", &[], 0.25, [9.7, 5.7]),
    bug("first_resumes_first", &[], 0.032_083_524, [f64::NAN, f64::NAN]),
    bug("last_resumes_first", &[], 0.026_596_555, [f64::NAN, f64::NAN]),
    bug("unlocked_by_luck", &[], 5.0 / 6.0, [f64::NAN, f64::NAN]),
];

fn fixture(name: &str, parameters: &[(&str, i64)]) -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/fixtures").join(format!("{name}.prog"));
    let text = std::fs::read_to_string(path).expect("a fixture");
    Arc::new(Program::read(&text, parameters).expect("a program"))
}

/// The share of wrong runs among `runs`.
fn rate(bug: &Bug, strategy: &Strategy, runs: u64) -> f64 {
    measure(&fixture(bug.name, bug.parameters), strategy, runs).wrong as f64 / runs as f64
}

#[test]
fn random_walk_is_uniform_at_each_point() {
    const RUNS: u64 = 10_000;
    let mut outside = Vec::new();
    for bug in BUGS {
        let found = rate(bug, &Strategy::Random, RUNS);
        let deviation = (bug.random * (1.0 - bug.random) / RUNS as f64).sqrt();
        if (found - bug.random).abs() > DEVIATIONS * deviation {
            outside.push(format!("{} {:?}: {found}, exactly {}", bug.name, bug.parameters, bug.random));
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

#[test]
fn pct_finds_bugs_at_the_reference_rate() {
    let mut outside = Vec::new();
    for bug in BUGS.iter().filter(|b| !b.pct[0].is_nan()) {
        for (depth, expected) in [2, 3].into_iter().zip(bug.pct) {
            // At least about 300 hits.
            let runs = 300 * expected.ceil() as u64;
            let found = 1.0 / rate(bug, &Strategy::Pct { depth }, runs);
            if found > expected * FACTOR || found < expected / FACTOR {
                outside.push(format!(
                    "{} {:?} depth {depth}: a bug in {found:.1} executions, reference {expected}",
                    bug.name, bug.parameters
                ));
            }
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// Two threads are preempted one after the other. Which of them resumes first must not matter: a PCT that deals the low
/// priorities in the order of time finds only one of the two bugs, ever.
#[test]
fn pct_does_not_care_who_resumes_first() {
    const RUNS: u64 = 40_000;
    let pct = Strategy::Pct { depth: 3 };
    let [first, last] = ["first_resumes_first", "last_resumes_first"]
        .map(|name| measure(&fixture(name, &[]), &pct, RUNS).wrong as f64 / RUNS as f64);
    // The guarantee of PCT with 3 threads and 11 steps.
    let least = 1.0 / (3.0 * 11.0 * 11.0);
    assert!(first > least && last > least, "{first} and {last}, at least {least}");
    assert!(first / last < FACTOR && last / first < FACTOR, "{first} and {last}");
}
