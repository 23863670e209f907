//! Alice asks for her balance, from two sides, and for outputs to spend, while blocks and transactions change all of it.
//! She reads amounts that were true at one moment, and no query takes a lock from inside to outside, so nobody can wait in a circle.
//!
//! The hierarchy of item U10 is what excludes deadlocks. The monitor sees a reversed order also in the runs in which it
//! does not end in one, so a single run of the wrong query is enough.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Ledger, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

const ONE_MOMENT: &str = "ledger.query_sees_one_moment";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.queries_respect_the_lock_order",
    claim: "queries take locks from outside to inside and see one moment",
    invariants: &[
        "locks.hierarchy",
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        ONE_MOMENT,
    ],
    finds: &[(Planted::ReversedLockOrder, 10)],
    weight: 30,
    exhaustive: Some(12_558),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payments: [Tx; 2],
    blocks: [Block; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 100), (BOB, 10), (BOB, 20)]);
    let first = pay(ALICE, &opening.keys[..1], &[(CAROL, 1), (ALICE, 99)]);
    let second = pay(ALICE, &[first.outpoint(1)], &[(CAROL, 2), (ALICE, 97)]);
    let below = opening.block(&[&pay(BOB, &opening.keys[1..2], &[(ALICE, 10)])]);
    let above = block_on(below.id, 2, &[&pay(BOB, &opening.keys[2..], &[(ALICE, 20)])]);
    Facts { opening, payments: [first, second], blocks: [below, above] }
});

/// Whether Alice can ever have this: after none, one or two of her payments, and none, one or two of her incomes.
fn is_possible(balance: u64) -> bool {
    [100, 99, 97].iter().any(|own| [0, 10, 30].contains(&balance.wrapping_sub(*own)))
}

/// Asks for Alice's balance.
fn ask(ledger: &Ledger) -> u64 {
    let balance = ledger.get_balance_available_with_pool(ALICE).expect("the store can be read");
    note(|| format!("balance {balance}"));
    claim::holds(is_possible(balance), ONE_MOMENT, "a balance that never was", || format!("a balance of {balance}"));
    balance
}

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    thread::scope(|scope| {
        begin(scope, "pool", || facts.payments.each_ref().map(|tx| add_tx(&ledger, "payment", tx)));
        begin(scope, "chain", || facts.blocks.each_ref().map(|block| add_block(&ledger, "with income", block)));
        begin(scope, "phone", || ask(&ledger));
        let balances = [ask(&ledger), ask(&ledger)];
        let inputs = ledger.get_input_with_pool(ALICE, 97).expect("the store can be read");
        claim::equal(ONE_MOMENT, "what she always has was not found", &true, &inputs.is_some());
        // Something came before a query or between the two: they met at a lock.
        setup.tally.conflicts(u64::from(balances[0] != 100) + u64::from(balances[0] != balances[1]));
    });
    check_settled(&ledger);
}
