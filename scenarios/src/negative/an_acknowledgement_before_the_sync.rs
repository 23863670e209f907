//! The story `acknowledged_blocks_survive_a_power_loss` with a journal that is synced later, as NATS 2.12.1 did every two
//! minutes.
//!
//! Shows that the checker sees a block that was acknowledged and is gone.

use interleaf_engine::planted::Planted;

use crate::ledger::acknowledged_blocks_survive_a_power_loss as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.an_acknowledgement_before_the_sync",
    claim: "a block that is acknowledged before it is on disk is lost with the power",
    expected: Expected::Breaks(&[twin::DURABLE]),
    invariants: &[twin::DURABLE],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::AckBeforeSync), ..*setup }),
    ..twin::STORY
};
