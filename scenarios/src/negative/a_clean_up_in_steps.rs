//! The story `every_answer_fits_one_order` with a pool that is cleaned up after the block is visible, one step at a time
//! (item U28, decision O15). Whoever comes in between finds a transaction both confirmed and waiting.
//!
//! Shows that the three steps have to be one.

use interleaf_engine::planted::Planted;

use crate::checkers::answers;
use crate::ledger::every_answer_fits_one_order as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_clean_up_in_steps",
    claim: "who asks between the steps of a clean-up finds what is confirmed waiting",
    expected: Expected::Breaks(&[answers::NAME]),
    invariants: &[answers::NAME],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::CleanupInSteps), ..*setup }),
    ..twin::STORY
};
