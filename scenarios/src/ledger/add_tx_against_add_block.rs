//! One output worth 5. Alice spends it in a transaction; at the same time a block that spends it arrives. Whatever the
//! order, at most one spend is confirmed and the pool never keeps the loser.
//!
//! This is the double spend of item U12. It needs one preemption between check and reservation, so a ledger that does
//! not hold one lock over both fails here first.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::{SETTLED, check_settled};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.add_tx_against_add_block",
    claim: "a block and a transaction that spend one output never both stand",
    invariants: SETTLED,
    finds: &[(Planted::CheckThenAct, 1_000)],
    weight: 4,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    spend: Tx,
    rival_block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let spend = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let rival_block = opening.block(&[&pay(ALICE, &opening.keys, &[(CAROL, 5)])]);
    Facts { opening, spend, rival_block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    thread::scope(|scope| {
        begin(scope, "alice", || add_tx(&ledger, "spend", &facts.spend));
        add_block(&ledger, "with rival", &facts.rival_block);
    });
    let state = check_settled(&ledger);
    claim::equal("ledger.block_wins", "the chain's height is wrong", &1, &state.confirmed.tip.height);
    claim::equal("ledger.block_wins", "the loser still waits", &0, &state.pool.entries.len());
    // Refused at once, or taken out again by the clean-up.
    setup.tally.conflicts(1);
}
