//! A story run as a campaign runs it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::ops::Range;

use interleaf::{Explorer, Report};
use interleaf_engine::planted::Planted;
use interleaf_scenarios::scenario::{Scenario, Setup, Tally};

/// Runs `story` with `planted` on all of `seeds`, or until `max_failures` of them failed.
pub(crate) fn run(
    story: &Scenario,
    planted: Option<Planted>,
    seeds: Range<u64>,
    max_failures: usize,
    tally: &Tally,
) -> Report {
    let mut explorer = Explorer::new()
        .name(story.name)
        .seeds(seeds)
        .max_steps(story.max_steps)
        .max_failures(max_failures)
        .faults(story.faults)
        .count_distinct(true);
    if let Some(strategy) = story.strategy {
        explorer = explorer.strategy(strategy());
    }
    if let Some(monitor) = story.monitor {
        explorer = explorer.monitor(monitor);
    }
    explorer.run(|| (story.world)(&Setup { planted, tally }))
}
