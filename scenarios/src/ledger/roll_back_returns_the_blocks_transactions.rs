//! A block holds Alice's payment of 3 to Bob with change of 2. It is taken off the chain while Alice spends the change
//! and Bob passes on what he got. The payment waits again, Alice's transaction behind it; Bob's is gone, because
//! nobody may build on an unconfirmed payment of somebody else.
//!
//! Roll-back is the inverse of adding a block in the confirmed ledger (item U32) and a re-admission in the pool
//! (decision O8, O14). A pool that is not told keeps spenders of records that do not exist and loses the payment.

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
    name: "ledger.roll_back_returns_the_blocks_transactions",
    claim: "what a taken-off block confirmed waits again, and what built on it falls if it must",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.accepted_is_kept",
        "ledger.undo_is_inverse",
        "ledger.block_returns_to_the_pool",
    ],
    finds: &[(Planted::RollbackForgetsPool, 100)],
    weight: 3,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    change_spent: Tx,
    passed_on: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let payment = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[payment.outpoint(1)], &[(CAROL, 2)]);
    let passed_on = pay(BOB, &[payment.outpoint(0)], &[(CAROL, 3)]);
    let block = opening.block(&[&payment]);
    Facts { opening, payment, change_spent, passed_on, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let before = check_settled(&ledger).confirmed;
    add_block(&ledger, "with payment", &facts.block);
    let (back, spent, passed_on) = thread::scope(|scope| {
        let alice = begin(scope, "alice", || add_tx(&ledger, "change spent", &facts.change_spent));
        let bob = begin(scope, "bob", || add_tx(&ledger, "passed on", &facts.passed_on));
        let back = roll_back(&ledger);
        (back, alice.join().expect("Alice's thread returns"), bob.join().expect("Bob's thread returns"))
    });
    let state = check_settled(&ledger);
    check_undone(&before, &state.confirmed);
    check_kept(&state, [&facts.payment, &facts.change_spent]);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    let expected = vec![facts.payment.id, facts.change_spent.id];
    let name = "ledger.block_returns_to_the_pool";
    claim::equal(name, "roll-back or spending of change was refused", &(true, true), &(back, spent));
    claim::equal(name, "the wrong transactions wait", &expected, &waiting);
    // Bob's transaction: refused at once, or accepted and evicted.
    setup.tally.conflicts(1 + u64::from(passed_on));
}
