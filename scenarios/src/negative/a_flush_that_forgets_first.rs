//! The story `readers_during_a_flush` with a flush that forgets the blocks in memory before the store has them.
//!
//! Shows that the checker sees a reader that finds a block in neither place.

use interleaf_engine::planted::Planted;

use crate::ledger::readers_during_a_flush as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_flush_that_forgets_first",
    claim: "a block that is forgotten in memory before it is in the store is nowhere for a moment",
    expected: Expected::Breaks(&[twin::ONE_MOMENT]),
    invariants: &[twin::ONE_MOMENT],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::FlushForgetsFirst), ..*setup }),
    exhaustive: None,
    ..twin::STORY
};
