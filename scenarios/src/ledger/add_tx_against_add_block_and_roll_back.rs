//! One output worth 5. Alice spends it, a block that spends it otherwise arrives, and the chain is rolled back, all at
//! once; Carol passes on what the block paid her. Whatever the order, no record has two consumers, nothing that was
//! accepted is lost, and a block that was taken off has left no trace in the confirmed ledger.
//!
//! addTx, addBlock and rollBack on one record are the three ways in which it can change hands (items U1, U2, U14, U32,
//! decision O8). Only together do they meet the pool in the states that a roll-back leaves behind.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay, roll_back};
use crate::checkers::claim;
use crate::checkers::ledger::{check_kept, check_settled, check_undone};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.add_tx_against_add_block_and_roll_back",
    claim: "addTx, addBlock and rollBack on one output leave one consumer and lose nothing",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.accepted_is_kept",
        "ledger.undo_is_inverse",
    ],
    finds: &[(Planted::CheckThenAct, 1_000), (Planted::RollbackForgetsPool, 1_000)],
    weight: 4,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    spend: Tx,
    rival: Tx,
    passed_on: Tx,
    rival_block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let spend = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let rival = pay(ALICE, &opening.keys, &[(CAROL, 4), (ALICE, 1)]);
    let passed_on = pay(CAROL, &[rival.outpoint(0)], &[(BOB, 4)]);
    let rival_block = opening.block(&[&rival]);
    Facts { opening, spend, rival, passed_on, rival_block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let before = check_settled(&ledger).confirmed;
    let (spent, passed_on, added, rolled_back) = thread::scope(|scope| {
        let pool = begin(scope, "pool", || {
            let spent = add_tx(&ledger, "spend", &facts.spend);
            (spent, add_tx(&ledger, "passed on", &facts.passed_on))
        });
        let back = begin(scope, "fork", || roll_back(&ledger));
        let added = add_block(&ledger, "with rival", &facts.rival_block);
        let (spent, passed_on) = pool.join().expect("the pool's thread returns");
        (spent, passed_on, added, back.join().expect("the fork's thread returns"))
    });
    let state = check_settled(&ledger);
    claim::holds(added, "ledger.valid_block_is_added", "a valid block was refused", || "refused".to_owned());
    if rolled_back {
        check_undone(&before, &state.confirmed);
    }
    let accepted = [(spent, &facts.spend), (passed_on, &facts.passed_on), (added, &facts.rival)];
    check_kept(&state, accepted.into_iter().filter(|(accepted, _)| *accepted).map(|(_, tx)| tx));
    setup.tally.conflicts(u64::from(!spent) + u64::from(!passed_on) + u64::from(!rolled_back));
}
