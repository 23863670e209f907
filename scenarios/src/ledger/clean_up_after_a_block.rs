//! Alice's payment and a transaction that spends its change wait in the pool. A block confirms the payment and spends
//! Bob's output, while Bob offers a transaction that spends it otherwise and Alice goes on building on her change.
//! Afterwards Alice's descendants wait, now on a confirmed record, and Bob's loser is gone.
//!
//! The clean-up has three steps in one order (item U28): what was confirmed leaves by its id *first*. Conflicts first
//! would see the confirmed payment as a spender of what the block spent, and evict it with all that depends on it.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::{check_kept, check_settled};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.clean_up_after_a_block",
    claim: "a block takes out of the pool what it confirms and what conflicts with it, and nothing else",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.accepted_is_kept",
        "ledger.clean_up_is_exact",
    ],
    finds: &[(Planted::CleanupOrder, 100), (Planted::CheckThenAct, 1_000)],
    weight: 3,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    child: Tx,
    grandchild: Tx,
    loser: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (BOB, 7)]);
    let payment = pay(ALICE, &opening.keys[..1], &[(BOB, 2), (ALICE, 3)]);
    let child = pay(ALICE, &[payment.outpoint(1)], &[(CAROL, 1), (ALICE, 2)]);
    let grandchild = pay(ALICE, &[child.outpoint(1)], &[(CAROL, 2)]);
    let winner = pay(BOB, &opening.keys[1..], &[(CAROL, 7)]);
    let loser = pay(BOB, &opening.keys[1..], &[(ALICE, 6), (BOB, 1)]);
    let block = opening.block(&[&payment, &winner]);
    Facts { opening, payment, child, grandchild, loser, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    add_tx(&ledger, "payment", &facts.payment);
    add_tx(&ledger, "child", &facts.child);
    let added = thread::scope(|scope| {
        begin(scope, "bob", || add_tx(&ledger, "loser", &facts.loser));
        begin(scope, "alice", || add_tx(&ledger, "grandchild", &facts.grandchild));
        add_block(&ledger, "with payment", &facts.block)
    });
    let state = check_settled(&ledger);
    check_kept(&state, [&facts.payment, &facts.child, &facts.grandchild]);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    let expected = vec![facts.child.id, facts.grandchild.id];
    claim::equal("ledger.clean_up_is_exact", "a valid block was refused", &true, &added);
    claim::equal("ledger.clean_up_is_exact", "the wrong transactions wait", &expected, &waiting);
    // The loser, refused at once or taken out.
    setup.tally.conflicts(1);
}
