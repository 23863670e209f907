//! Every story ends as it must when no bug is switched on, and twice the same.

mod campaign;

use std::ops::Range;

use campaign::run;
use interleaf::Report;
use interleaf_scenarios::registry;
use interleaf_scenarios::scenario::{Expected, Scenario, Tally};

/// A run of the real block takes tens of milliseconds in a build without optimisation.
const SLOW: &str = "scheduler.real_block_under_every_policy";

fn stories(expected: impl Fn(Expected) -> bool) -> impl Iterator<Item = &'static Scenario> {
    registry::all().iter().filter(move |story| expected(story.expected))
}

fn runs(story: &Scenario, many: u64) -> Range<u64> {
    // Stories of several nodes, or of a disk, have ten times as many steps as others.
    let many = if story.max_steps >= 20_000 { many / 20 } else { many };
    0..if story.name == SLOW { 20 } else { many }
}

fn assert_holds(story: &Scenario, seeds: Range<u64>) {
    let tally = Tally::default();
    let report = run(story, None, seeds, 1, &tally);
    if let Some(failure) = report.first_failure() {
        panic!("{}: {failure}", story.name);
    }
    assert!(tally.conflicts_met() > 0, "{} meets no conflict", story.name);
    assert!(report.distinct > 1, "{} has one interleaving only", story.name);
    assert!(story.faults.spurious_wakeups == 0 || report.fired[0] > 0, "{}: no fault fired", story.name);
}

#[test]
fn stories_of_the_ledger_hold() {
    stories(|e| e == Expected::Holds)
        .filter(|s| s.name.starts_with("ledger."))
        .for_each(|s| assert_holds(s, runs(s, 4_000)));
}

#[test]
fn stories_of_the_schedulers_hold() {
    stories(|e| e == Expected::Holds)
        .filter(|s| s.name.starts_with("scheduler."))
        .for_each(|s| assert_holds(s, runs(s, 4_000)));
}

#[test]
#[ignore = "takes a minute in a release build: a million runs of each story, two thousand of the real block"]
fn stories_hold_for_a_million_runs() {
    for story in stories(|e| e == Expected::Holds) {
        assert_holds(story, 0..if story.name == SLOW { 2_000 } else { 1_000_000 });
    }
}

#[test]
fn negative_stories_break_the_invariant_that_they_name() {
    for story in stories(|e| e != Expected::Holds) {
        let report = run(story, None, 0..2_000, 1, &Tally::default());
        let failure = report.first_failure().unwrap_or_else(|| panic!("{} holds", story.name));
        assert!(story.expected.is_shown_by(&failure.signature()), "{}: {failure}", story.name);
        assert!(story.name.starts_with("negative.") && story.weight == 0, "{}", story.name);
    }
}

#[test]
fn the_same_seeds_give_the_same_report() {
    let shown = |report: &Report, tally: &Tally| {
        let failures: Vec<_> = report.failures.iter().map(|f| (f.seed, f.signature(), f.token.clone())).collect();
        (report.executions, report.steps, report.distinct, report.fired, tally.conflicts_met(), failures)
    };
    for story in registry::all() {
        let again = || {
            let tally = Tally::default();
            shown(&run(story, None, runs(story, 500), 2, &tally), &tally)
        };
        // The first exploration also makes what all runs share.
        assert_eq!(again(), again(), "{}", story.name);
    }
}

#[test]
fn names_say_where_the_story_is_and_are_unique() {
    let manifest = env!("CARGO_MANIFEST_DIR");
    for story in registry::all() {
        let file = format!("{manifest}/src/{}.rs", story.name.replace('.', "/"));
        assert!(std::path::Path::new(&file).is_file(), "{} is not at {file}", story.name);
        assert_eq!(registry::all().iter().filter(|s| s.name == story.name).count(), 1, "{}", story.name);
        assert!(!story.claim.is_empty() && !story.invariants.is_empty(), "{}", story.name);
        assert_eq!(registry::by_name(story.name).map(|s| s.claim), Some(story.claim));
    }
}
