//! Bitcoin's mainnet block 702,861 is executed by two to eight workers, under a policy, order and batching drawn from
//! the seed. The outcome is that of executing its 2,500 transactions one after the other.
//!
//! Generated blocks have the dependencies that somebody thought of. This one has 325 edges in chains up to 17 deep, as
//! they came; a run takes milliseconds, so it is a small part of a campaign.

use std::sync::LazyLock;

use interleaf::rand::stream;

use super::bench::{OnBench, POLICIES, SCHEDULER_STORY, below};
use crate::blocks::bitcoin;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "scheduler.real_block_under_every_policy",
    claim: "a real Bitcoin block gives one outcome under every policy, with 2 to 8 workers",
    weight: 4,
    max_steps: 200_000,
    draws: true,
    world,
    ..SCHEDULER_STORY
};

// Made once: decoding and analysing the block take longer than a run.
static REAL_BLOCK: LazyLock<OnBench> = LazyLock::new(|| OnBench::of(bitcoin::mainnet_702861().prepared));

fn world(setup: &Setup<'_>) {
    let mut draws = stream("workload");
    let policy = POLICIES[below(&mut draws, POLICIES.len())];
    REAL_BLOCK.check(setup, policy, 2 + below(&mut draws, 7));
}
