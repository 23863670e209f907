//! A parent has two children, one of them a child of its own; an independent transaction stands beside them. Executed
//! in waves, the parent and the stranger run first, then the children, then the grandchild: a wave starts when the one
//! before is complete, and nobody looks for an output that is not there yet.
//!
//! A chain of three takes three waves at least (item N20). A scheduler that forgets one dependency runs a child beside
//! its parent, and is right as long as the parent happens to be faster.

use std::sync::LazyLock;

use interleaf::rand::stream;
use interleaf_engine::planted::Planted;
use interleaf_engine::schedule::{Batching, Policy};

use super::bench::{OnBench, SCHEDULER_STORY, below};
use crate::checkers::{block_result, claim, locks};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "scheduler.wave_waits_for_its_dependencies",
    claim: "a wave starts when everything that it depends on is complete",
    invariants: &[block_result::NAME, locks::NAME, "scheduler.one_wave_per_level"],
    finds: &[(Planted::WaveIgnoresDependency, 300)],
    weight: 20,
    draws: true,
    world,
    ..SCHEDULER_STORY
};

/// Parent, two children, grandchild, stranger.
static FAMILY: LazyLock<OnBench> =
    LazyLock::new(|| OnBench::family(&[(&[], 2), (&[(0, 0)], 1), (&[(0, 1)], 1), (&[(1, 0)], 1), (&[], 1)]));

fn world(setup: &Setup<'_>) {
    let mut draws = stream("workload");
    let batching = [Batching::PerTx, Batching::Chunks, Batching::SHRINKING][below(&mut draws, 3)];
    let counters = FAMILY.check(setup, Policy::Wave { batching }, 2 + below(&mut draws, 2));
    if setup.planted.is_none() {
        claim::equal("scheduler.one_wave_per_level", "the number of waves is wrong", &3, &counters.waves);
    }
}
