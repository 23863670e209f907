//! One output worth 5. Alice spends it and goes on with the change, a block that spends it otherwise arrives and another
//! on top of it, and the chain is rolled back twice, all at once; Carol passes on what the first block paid her, which
//! the second block spends otherwise. Whatever the order, no record has two consumers, nothing that was
//! accepted is lost, and a block that was taken off has left no trace in the confirmed ledger.
//!
//! addTx, addBlock and rollBack on one record are the three ways in which it can change hands (items U1, U2, U14, U32,
//! decision O8). Only together do they meet the pool in the states that a roll-back leaves behind.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, block_on, pay, roll_back};
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
        "ledger.valid_block_is_added",
    ],
    finds: &[(Planted::CheckThenAct, 200), (Planted::RollbackForgetsPool, 50)],
    weight: 60,
    exhaustive: Some(4_936),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    spend: Tx,
    change_spent: Tx,
    rival: Tx,
    passed_on: Tx,
    rest: Tx,
    onward: Tx,
    blocks: [Block; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let spend = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[spend.outpoint(1)], &[(BOB, 2)]);
    let rival = pay(ALICE, &opening.keys, &[(CAROL, 4), (ALICE, 1)]);
    let passed_on = pay(CAROL, &[rival.outpoint(0)], &[(BOB, 3), (CAROL, 1)]);
    let rest = pay(CAROL, &[passed_on.outpoint(1)], &[(ALICE, 1)]);
    let onward = pay(CAROL, &[rival.outpoint(0)], &[(ALICE, 4)]);
    let first = opening.block(&[&rival]);
    let second = block_on(first.id, 2, &[&onward]);
    Facts { opening, spend, change_spent, rival, passed_on, rest, onward, blocks: [first, second] }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let before = check_settled(&ledger).confirmed;
    let (alice, carol, added, rolled_back) = thread::scope(|scope| {
        let alice = begin(scope, "alice", || {
            [add_tx(&ledger, "spend", &facts.spend), add_tx(&ledger, "its change", &facts.change_spent)]
        });
        let carol = begin(scope, "carol", || {
            [add_tx(&ledger, "passed on", &facts.passed_on), add_tx(&ledger, "the rest", &facts.rest)]
        });
        let fork = begin(scope, "fork", || [roll_back(&ledger), roll_back(&ledger)]);
        let added =
            [add_block(&ledger, "with rival", &facts.blocks[0]), add_block(&ledger, "with onward", &facts.blocks[1])];
        let fork = fork.join().expect("the fork's thread returns");
        (alice.join().expect("Alice's thread returns"), carol.join().expect("Carol's thread returns"), added, fork)
    });
    let state = check_settled(&ledger);
    claim::holds(added[0], "ledger.valid_block_is_added", "a valid block was refused", || "refused".to_owned());
    if state.confirmed.tip.height == 0 {
        check_undone(&before, &state.confirmed);
    }
    let offered = [&facts.spend, &facts.change_spent, &facts.passed_on, &facts.rest, &facts.rival, &facts.onward];
    let answers = [alice, carol, added];
    let answers = answers.iter().flatten();
    check_kept(&state, offered.into_iter().zip(answers.clone()).filter(|(_, accepted)| **accepted).map(|(tx, _)| tx));
    let refused = answers.chain(&rolled_back).filter(|accepted| !**accepted).count();
    setup.tally.conflicts(refused as u64);
}
