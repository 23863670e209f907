//! The fork of `readers_during_a_fork_switch`, switched by its user in three calls: roll back, add, add. Each call is
//! one step, the three are not, and a reader in between sees genesis or half of the new branch.
//!
//! Shows that the readers of the twin would notice (decision O13).

use interleaf::thread;

use crate::ledger::cast::{LEDGER_STORY, add_block, begin, roll_back};
use crate::ledger::readers_during_a_fork_switch::{FORK, WHOLE_STEPS};
use crate::scenario::{Expected, Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "negative.a_fork_switch_in_three_steps",
    claim: "a fork switched call by call shows tips in the middle of a step",
    invariants: &[WHOLE_STEPS],
    expected: Expected::Breaks(&[WHOLE_STEPS]),
    weight: 0,
    exhaustive: Some(7),
    world,
    ..LEDGER_STORY
};

fn world(setup: &Setup<'_>) {
    let fork = &*FORK;
    let ledger = fork.opening.ledger(setup);
    add_block(&ledger, "old", &fork.old);
    thread::scope(|scope| {
        begin(scope, "reader", || fork.look(&ledger));
        roll_back(&ledger);
        for block in &fork.new {
            add_block(&ledger, "new", block);
        }
    });
    setup.tally.conflicts(1);
}
