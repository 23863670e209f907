//! Every interleaving of the stories that have few enough, and how soon the others are found to fail.

use interleaf::{Explorer, Replay, Report, Strategy, replay_with};
use interleaf_engine::planted::Planted;
use interleaf_scenarios::registry;
use interleaf_scenarios::scenario::{Expected, Scenario, Setup, Tally};

fn explore(story: &Scenario, planted: Option<Planted>, seed: u64, most: u64, max_failures: usize) -> Report {
    let mut explorer = Explorer::new()
        .name(story.name)
        .strategy(Strategy::Exhaustive { preemptions: None })
        .seeds(seed..seed + most)
        .workers(2)
        .max_steps(story.max_steps)
        .faults(story.faults)
        .max_failures(max_failures);
    if let Some(monitor) = story.monitor {
        explorer = explorer.monitor(monitor);
    }
    let tally = Tally::default();
    explorer.run(|| (story.world)(&Setup { planted, tally: &tally }))
}

#[test]
fn stories_have_the_number_of_interleavings_that_they_say() {
    assert!(check_numbers(|number| number < 3_000) >= 8);
}

#[test]
#[ignore = "takes some seconds in a release build, and a minute without optimisation: the campaign checks them, too"]
fn large_stories_have_the_number_of_interleavings_that_they_say() {
    assert!(check_numbers(|number| number >= 3_000) >= 3);
}

/// The number of stories.
fn check_numbers(of: impl Fn(u64) -> bool) -> u64 {
    let mut stories = 0;
    for story in registry::all() {
        let Some(expected) = story.exhaustive.filter(|number| of(*number)) else { continue };
        let report = explore(story, None, 0, expected + 1, usize::MAX);
        let over = report.frontier.is_none();
        assert!(over && report.executions == expected, "{}: {} runs", story.name, report.executions);
        assert_eq!(report.exhaustive.redundant, 0, "{}", story.name);
        match story.expected {
            Expected::Holds => {
                assert!(report.complete && report.failures.is_empty(), "{}: {:?}", story.name, report.first_failure())
            }
            Expected::Breaks(_) => {
                assert!(!report.failures.is_empty(), "{} holds", story.name);
                assert!(report.failures.iter().all(|f| story.expected.is_shown_by(&f.signature())), "{}", story.name);
            }
        }
        stories += 1;
    }
    stories
}

#[test]
fn addtx_addblock_and_rollback_hold_in_every_interleaving() {
    // Two operations of each of four threads, and all interleavings of them in the default campaign.
    let story = registry::by_name("ledger.add_tx_against_add_block_and_roll_back").unwrap();
    assert!(story.exhaustive.is_some() && story.weight > 0);
}

/// Negative stories and planted bugs, also of those that have too many interleavings to run them all.
#[test]
fn what_must_fail_is_found_to_fail_and_replays() {
    let negative = registry::all().iter().filter(|story| story.expected != Expected::Holds).map(|story| (story, None));
    let planted = registry::all().iter().flat_map(|s| s.finds.iter().map(move |(bug, _)| (s, Some(*bug))));
    for (story, bug) in negative.chain(planted) {
        // A seed may draw something in which the bug does not show.
        let (seeds, most) = if story.draws { (0..400, 60) } else { (0..1, 20_000) };
        let report = seeds.map(|seed| explore(story, bug, seed, most, 1)).find(|report| !report.failures.is_empty());
        let report = report.unwrap_or_else(|| panic!("{} {bug:?} holds", story.name));
        let failure = report.first_failure().unwrap();
        assert!(bug.is_some() || story.expected.is_shown_by(&failure.signature()), "{}: {failure}", story.name);
        let token = failure.token.parse().unwrap();
        let (tally, monitor) = (Tally::default(), story.monitor.map(|make| make()));
        let again = replay_with(&token, monitor, || (story.world)(&Setup { planted: bug, tally: &tally }));
        let Replay::Failed(again) = again else { panic!("{}: {again:?}", story.name) };
        assert_eq!((&again.trace, again.signature()), (&failure.trace, failure.signature()), "{}", story.name);
    }
}

#[test]
fn stories_that_draw_say_so() {
    for story in registry::all() {
        let file = format!("{}/src/{}.rs", env!("CARGO_MANIFEST_DIR"), story.name.replace('.', "/"));
        let text = std::fs::read_to_string(file).unwrap();
        // A twin draws in the other's file.
        if !text.contains("..twin::STORY") {
            assert_eq!(story.draws, text.contains("stream("), "{}", story.name);
        }
        assert!(!story.draws || story.exhaustive.is_none(), "{}: all of one seed is not all", story.name);
    }
}
