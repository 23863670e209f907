//! The strategies find bugs as often as theory says they must.
//!
//! A random walk that is outside the binomial interval around the exact probability has a wrong idea of what a
//! scheduling point is. The exact probabilities come from summing over the whole tree of schedules, with one uniform
//! choice before each visible operation; the rates of the others from an independent simulator of the algorithms.
//!
//! Seeds are fixed, so these tests either always pass or always fail.

#[path = "programs/bugs.rs"]
mod bugs;
#[allow(dead_code, reason = "one test counts, the other measures")]
#[path = "programs/language/mod.rs"]
mod language;

use bugs::{BUGS, Bug, MEASURED};
use interleaf::Strategy;

/// Half the width of the interval, in standard deviations: a right implementation is outside once in 150,000 times.
const DEVIATIONS: f64 = 4.5;

/// How far a rate may be from the reference, as a factor.
const FACTOR: f64 = 1.5;

/// How much worse than the best single strategy the portfolio may be, as a factor.
const WORSE: f64 = 3.0;

#[test]
fn random_walk_is_uniform_at_each_point() {
    const RUNS: u64 = 10_000;
    let mut outside = Vec::new();
    for bug in BUGS.iter().filter(|b| !b.random.is_nan()) {
        let found = bug.rate(&Strategy::Random, RUNS);
        let deviation = (bug.random * (1.0 - bug.random) / RUNS as f64).sqrt();
        if (found - bug.random).abs() > DEVIATIONS * deviation {
            outside.push(format!("{} {:?}: {found}, exactly {}", bug.name, bug.parameters, bug.random));
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// Checks one of [`MEASURED`] on all programs, with about `hits` bugs met on each, but for those that need more than
/// `most` runs for that.
fn finds_bugs_at_the_reference_rate(strategy: usize, hits: u64, most: u64) {
    let mut outside = Vec::new();
    let mut checked = 0;
    for bug in BUGS {
        let expected = bug.reference[strategy];
        let runs = hits * expected.ceil() as u64;
        if expected.is_nan() || runs > most {
            continue;
        }
        checked += 1;
        let found = 1.0 / bug.rate(&MEASURED[strategy], runs);
        if found > expected * FACTOR || found < expected / FACTOR {
            outside.push(format!(
                "{} {:?} {}: a bug in {found:.1} executions, reference {expected}",
                bug.name, bug.parameters, MEASURED[strategy]
            ));
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
    assert!(checked >= 24, "only {checked} programs");
}

#[test]
fn pct_finds_bugs_at_the_reference_rate() {
    finds_bugs_at_the_reference_rate(0, 300, 20_000);
    finds_bugs_at_the_reference_rate(1, 300, 20_000);
}

#[test]
fn pos_finds_bugs_at_the_reference_rate() {
    finds_bugs_at_the_reference_rate(2, 300, 30_000);
}

#[test]
fn urw_finds_bugs_at_the_reference_rate() {
    finds_bugs_at_the_reference_rate(3, 300, 20_000);
}

#[test]
fn surw_finds_bugs_at_the_reference_rate() {
    finds_bugs_at_the_reference_rate(4, 300, 20_000);
}

/// All programs and strategies, with 1,000 bugs met on each:
/// `cargo test --release -p interleaf --test probabilities -- --ignored`.
#[test]
#[ignore = "takes half a minute in release"]
fn all_find_bugs_at_the_reference_rate() {
    (0..MEASURED.len()).for_each(|strategy| finds_bugs_at_the_reference_rate(strategy, 1_000, u64::MAX));
}

/// The portfolio against every strategy alone, with about `hits` bugs met by the best one. The ratio of two measured
/// rates has a standard error of the root of the sum of (1-p)/hits, in its logarithm; the portfolio is too bad if it is by
/// more than two of them.
fn portfolio_is_near_the_best(hits: u64, bugs: impl Iterator<Item = &'static Bug>) {
    let mut outside = Vec::new();
    for bug in bugs {
        let runs = hits * bug.best().ceil() as u64;
        let alone = MEASURED.into_iter().chain([Strategy::Random]).map(|s| (bug.hits(&s, runs), s));
        let (best, strategy) = alone.max_by_key(|(hits, _)| *hits).expect("strategies");
        let ours = bug.hits(&Strategy::Portfolio, 3 * runs);
        let (p, q) = (best as f64 / runs as f64, ours as f64 / (3 * runs) as f64);
        let error = ((1.0 - p) / best as f64 + (1.0 - q) / ours.max(1) as f64).sqrt();
        let ratio = p / q;
        println!(
            "{:25} {:14} best {strategy:6} {:8.1}  portfolio {:8.1}  ratio {ratio:.2} +- {:.0} %",
            bug.name,
            format!("{:?}", bug.parameters),
            1.0 / p,
            1.0 / q,
            100.0 * error
        );
        if ratio.ln() - 2.0 * error > WORSE.ln() {
            outside.push(format!("{} {:?}: {ratio:.2} times worse than {strategy}", bug.name, bug.parameters));
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

#[test]
fn the_portfolio_is_near_the_best_strategy_on_each_program() {
    portfolio_is_near_the_best(200, BUGS.iter().filter(|b| b.best() < 20.0 || b.name == "short_against_long"));
}

/// All programs, with 1,000 bugs met by the best strategy:
/// `cargo test --release -p interleaf --test probabilities -- --ignored --nocapture`.
#[test]
#[ignore = "takes half a minute in release"]
fn the_portfolio_is_near_the_best_strategy_on_each_program_measured_closely() {
    portfolio_is_near_the_best(1_000, BUGS.iter());
}

/// Two threads are preempted one after the other. Which of them resumes first must not matter: a PCT that deals the low
/// priorities in the order of time finds only one of the two bugs, ever.
#[test]
fn pct_does_not_care_who_resumes_first() {
    const RUNS: u64 = 40_000;
    let pct = Strategy::Pct { depth: 3 };
    let rate = |name| BUGS.iter().find(|b| b.name == name).expect("the program").rate(&pct, RUNS);
    let (first, last) = (rate("first_resumes_first"), rate("last_resumes_first"));
    // The guarantee of PCT with 3 threads and 11 steps.
    let least = 1.0 / (3.0 * 11.0 * 11.0);
    assert!(first > least && last > least, "{first} and {last}, at least {least}");
    assert!(first / last < FACTOR && last / first < FACTOR, "{first} and {last}");
}
