//! The story `every_answer_fits_one_order` with a roll-back that looks how many blocks it may take off before it has the
//! chain's lock (decision O9). A batch is written meanwhile, and it takes off fewer than it says.
//!
//! A check and its act in two acquisitions, on the chain and not on the pool.

use interleaf_engine::planted::Planted;

use crate::checkers::answers;
use crate::ledger::every_answer_fits_one_order as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_roll_back_that_counted_too_early",
    claim: "a roll-back that looks how deep it may go before the lock does half of what it says",
    expected: Expected::Breaks(&[answers::NAME]),
    invariants: &[answers::NAME],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::RollBackDepthStale), ..*setup }),
    ..twin::STORY
};
