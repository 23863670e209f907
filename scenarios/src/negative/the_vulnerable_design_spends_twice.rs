//! The story `add_tx_against_add_block` with the design of item U12: check in one acquisition of the lock, reservation
//! in another. A block that comes between the two leaves a waiting transaction whose input it has consumed,
//! or that was never created.
//!
//! Shows that the checker of double spends sees the mistake that the ledger is built to avoid.

use interleaf_engine::planted::Planted;

use crate::ledger::add_tx_against_add_block as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.the_vulnerable_design_spends_twice",
    claim: "a check whose answer is used after its lock was released lets an output be spent twice",
    invariants: &["ledger.no_double_spend", "ledger.pool_consistency"],
    expected: Expected::Breaks(&["ledger.no_double_spend", "ledger.pool_consistency"]),
    finds: &[],
    weight: 0,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::CheckThenAct), ..*setup }),
    // The twin's number is not that of a world in which runs fail halfway.
    exhaustive: None,
    ..twin::STORY
};
