//! Every story without a switch ends as it must, and twice the same.

use interleaf::{Explorer, Report};
use interleaf_scenarios::registry;
use interleaf_scenarios::scenario::{Expected, Scenario, Setup, Tally};

/// Runs `story` as a campaign does, without a planted bug.
fn run(story: &Scenario, runs: u64, tally: &Tally) -> Report {
    let mut explorer = Explorer::new()
        .name(story.name)
        .seeds(0..runs)
        .max_steps(story.max_steps)
        .faults(story.faults)
        .count_distinct(true);
    if let Some(strategy) = story.strategy {
        explorer = explorer.strategy(strategy());
    }
    if let Some(monitor) = story.monitor {
        explorer = explorer.monitor(monitor);
    }
    explorer.run(|| (story.world)(&Setup { planted: None, tally }))
}

#[test]
fn all_stories_that_must_hold_do() {
    for story in registry::all().iter().filter(|story| story.expected == Expected::Holds) {
        let tally = Tally::default();
        let report = run(story, 20_000, &tally);
        if let Some(failure) = report.first_failure() {
            panic!("{}: {failure}", story.name);
        }
        println!(
            "{}: {} runs, {} distinct, {} conflicts",
            story.name,
            report.executions,
            report.distinct,
            tally.conflicts_met()
        );
    }
}
