//! The story `queries_respect_the_lock_order` with the reversed query and without the monitor that would stop it at
//! once: a reader holds the pool and wants the cache manager, a block holds the cache manager and wants the pool.
//!
//! Shows that the deadlock behind the rule of item U10 is real, and that the runtime names both locks.

use interleaf_engine::planted::Planted;

use crate::ledger::queries_respect_the_lock_order as twin;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.reversed_lock_order_deadlocks",
    claim: "a query that locks from inside to outside waits for a block that waits for it",
    invariants: &["deadlock"],
    expected: Expected::Breaks(&["deadlock"]),
    finds: &[],
    weight: 0,
    monitor: None,
    world: |setup| (twin::STORY.world)(&Setup { planted: Some(Planted::ReversedLockOrder), ..*setup }),
    // The twin's number is not that of a world in which runs fail halfway.
    exhaustive: None,
    ..twin::STORY
};
