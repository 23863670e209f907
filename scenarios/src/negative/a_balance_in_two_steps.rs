//! The story `every_answer_fits_one_order` with a balance that is read in two steps: the records under one acquisition of
//! the cache manager's lock, the pool under the next. A block in between confirms change that is then counted twice, or
//! not at all.
//!
//! Shows that a reader who was told what never was true is noticed although every state at rest is right.

use interleaf_engine::planted::Planted;

use crate::checkers::answers;
use crate::ledger::every_answer_fits_one_order as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_balance_in_two_steps",
    claim: "a balance that is read in two steps is one that nobody ever had",
    expected: Expected::Breaks(&[answers::NAME]),
    invariants: &[answers::NAME],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::BalanceInTwoSteps), ..*setup }),
    ..twin::STORY
};
