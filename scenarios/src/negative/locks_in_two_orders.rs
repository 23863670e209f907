//! A thread takes a pool's lock, then the chain's. Nobody else runs, so nothing can wait, and still the order is wrong:
//! the day on which somebody takes both in the declared order they wait for each other for ever.
//!
//! Shows that the hierarchy (item U10) is checked on every run, not only on those that deadlock.

use interleaf::name;
use interleaf::sync::Mutex;

use crate::checkers::locks;
use crate::ledger::cast::LEDGER_STORY;
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.locks_in_two_orders",
    claim: "a lock taken from inside to outside is reported although nobody waits",
    invariants: &[locks::NAME],
    expected: Expected::Breaks(&[locks::NAME]),
    weight: 0,
    exhaustive: Some(1),
    world,
    ..LEDGER_STORY
};

fn world(setup: &Setup<'_>) {
    let (chain, pool) = (Mutex::new(()), Mutex::new(()));
    name(&chain, "Chain");
    name(&pool, "TxCurrent");
    let inner = pool.lock();
    let outer = chain.lock();
    drop((inner, outer));
    setup.tally.conflicts(1);
}
