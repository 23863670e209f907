//! A block holds Alice's payment of 3 to Bob with change of 2. It is taken off the chain while Alice spends the change
//! and the change of that, and Bob passes on what he got. The payment waits again, Alice's transactions behind it; Bob's
//! are gone, because nobody may build on an unconfirmed payment of somebody else.
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

const RETURNS: &str = "ledger.block_returns_to_the_pool";

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
        RETURNS,
    ],
    finds: &[(Planted::RollbackForgetsPool, 10)],
    weight: 30,
    exhaustive: Some(974),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    change_spent: Tx,
    its_change_spent: Tx,
    passed_on: Tx,
    rest: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let payment = pay(ALICE, &opening.keys, &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[payment.outpoint(1)], &[(CAROL, 1), (ALICE, 1)]);
    let its_change_spent = pay(ALICE, &[change_spent.outpoint(1)], &[(CAROL, 1)]);
    let passed_on = pay(BOB, &[payment.outpoint(0)], &[(CAROL, 2), (BOB, 1)]);
    let rest = pay(BOB, &[passed_on.outpoint(1)], &[(CAROL, 1)]);
    let block = opening.block(&[&payment]);
    Facts { opening, payment, change_spent, its_change_spent, passed_on, rest, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let before = check_settled(&ledger).confirmed;
    add_block(&ledger, "with payment", &facts.block);
    let (back, alice, bob) = thread::scope(|scope| {
        let alice = begin(scope, "alice", || {
            [
                add_tx(&ledger, "change spent", &facts.change_spent),
                add_tx(&ledger, "its change", &facts.its_change_spent),
            ]
        });
        let bob = begin(scope, "bob", || {
            [add_tx(&ledger, "passed on", &facts.passed_on), add_tx(&ledger, "the rest", &facts.rest)]
        });
        begin(scope, "shop", || {
            let usable = ledger.is_not_spent_key_with_pool(facts.payment.outpoint(1)).expect("the store can be read");
            claim::equal(RETURNS, "the change was gone for a moment", &true, &usable);
        });
        let back = roll_back(&ledger);
        (back, alice.join().expect("Alice's thread returns"), bob.join().expect("Bob's thread returns"))
    });
    let state = check_settled(&ledger);
    check_undone(&before, &state.confirmed);
    check_kept(&state, [&facts.payment, &facts.change_spent, &facts.its_change_spent]);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    let expected = vec![facts.payment.id, facts.change_spent.id, facts.its_change_spent.id];
    claim::equal(RETURNS, "roll-back or spending of change was refused", &(true, [true; 2]), &(back, alice));
    claim::equal(RETURNS, "the wrong transactions wait", &expected, &waiting);
    // Bob's transactions: refused at once, or accepted and evicted.
    setup.tally.conflicts(2 + u64::from(bob[0]));
}
