//! Alice asks for her balance and for an output of hers while a block and a transaction change both. She reads amounts
//! that were true at one moment, and no query takes a lock from inside to outside, so nobody can wait in a circle.
//!
//! The hierarchy of item U10 is what excludes deadlocks. The monitor sees a reversed order also in the runs in which it
//! does not end in one, so a single run of the wrong query is enough.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.queries_respect_the_lock_order",
    claim: "queries take locks from outside to inside and see one moment",
    invariants: &[
        "locks.hierarchy",
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.query_sees_one_moment",
    ],
    finds: &[(Planted::ReversedLockOrder, 100)],
    weight: 3,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 10), (BOB, 5)]);
    // Alice's 10 become change of 6; Bob's 5 become hers by the block. So 0, 5 and 10 alone are never her balance.
    let payment = pay(ALICE, &opening.keys[..1], &[(CAROL, 4), (ALICE, 6)]);
    let block = opening.block(&[&pay(BOB, &opening.keys[1..], &[(ALICE, 5)])]);
    Facts { opening, payment, block }
});

/// What Alice can have: before and after her payment, before and after the block.
const BALANCES: [u64; 4] = [10, 15, 6, 11];

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    thread::scope(|scope| {
        begin(scope, "pool", || add_tx(&ledger, "payment", &facts.payment));
        begin(scope, "chain", || add_block(&ledger, "with income", &facts.block));
        let balance = ledger.get_balance_available_with_pool(ALICE).expect("the store can be read");
        let own = ledger.get_utxo_with_pool(facts.opening.keys[0]).expect("the store can be read");
        note(|| format!("balance {balance}, output 0 {}", if own.is_some() { "free" } else { "reserved" }));
        claim::holds(BALANCES.contains(&balance), "ledger.query_sees_one_moment", "a balance that never was", || {
            format!("a balance of {balance}; possible are {BALANCES:?}")
        });
        // Her payment came before the query: she waited for the pool, or the pool for her.
        setup.tally.conflicts(u64::from(balance != 10) + u64::from(own.is_none()));
    });
    check_settled(&ledger);
}
