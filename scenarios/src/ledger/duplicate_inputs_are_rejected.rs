//! Alice owns outputs worth 10 and 90. A transaction names the first of them twice to make 20 out of 10; it is offered
//! to the pool and, at the same time, inside a block. Both refuse it, and an honest transaction passes by.
//!
//! Bitcoin Core 0.14 to 0.16.2 accepted such blocks (CVE-2018-17144): the check had been taken out as a duplicate of
//! another one. Pool and block check on different paths, so both are tried (item U21).

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.duplicate_inputs_are_rejected",
    claim: "a transaction that names one output twice enters neither pool nor chain",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.duplicate_input_is_refused",
    ],
    finds: &[(Planted::DuplicateInput, 100)],
    weight: 1,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    twice: Tx,
    honest: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 10), (ALICE, 90)]);
    let key = opening.keys[0];
    let twice = pay(ALICE, &[key, key], &[(ALICE, 20)]);
    let honest = pay(ALICE, &[opening.keys[1]], &[(BOB, 90)]);
    let block = opening.block(&[&twice]);
    Facts { opening, twice, honest, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let refused = thread::scope(|scope| {
        let chain = begin(scope, "chain", || add_block(&ledger, "with duplicate", &facts.block));
        let honest = begin(scope, "alice", || add_tx(&ledger, "honest", &facts.honest));
        let pool = add_tx(&ledger, "twice", &facts.twice);
        let refused = u64::from(!pool) + u64::from(!chain.join().expect("the chain's thread returns"));
        let honest = honest.join().expect("Alice's thread returns");
        claim::holds(honest, "ledger.duplicate_input_is_refused", "an honest transaction was refused", String::new);
        refused
    });
    check_settled(&ledger);
    claim::equal("ledger.duplicate_input_is_refused", "a duplicate input was accepted", &2, &refused);
    setup.tally.conflicts(refused);
}
