//! The story `the_heaviest_branch_wins` with a fork choice that is made before the chain's lock is taken. What was chosen
//! is then about a chain that is another one meanwhile.
//!
//! Shows that the checker sees a chain that is not the heaviest, and a block lost to a wrong judgement.

use interleaf_engine::planted::Planted;

use crate::ledger::the_heaviest_branch_wins as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_choice_that_was_made_before_the_lock",
    claim: "a branch that is chosen before the lock is taken may not be the heaviest when it is put on",
    expected: Expected::Breaks(&[twin::HEAVIEST]),
    invariants: &[twin::HEAVIEST],
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::ForkChoiceStale), ..*setup }),
    // The twin's number is not that of a world in which runs fail halfway.
    exhaustive: None,
    ..twin::STORY
};
