//! Alice has paid Carol in a block that is about to leave the window. The next block arrives and its predecessor is
//! written to the store, while readers ask for the payment in every way there is. A block is in memory, in both places, or
//! in the store; whoever asks finds it.
//!
//! A flush moves blocks from memory to the store (item U31) while readers go on (decision O12). A reader that looks in
//! one place, misses, and then looks in the other is the classic torn read.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Ledger, LedgerConfig, Status, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The name of what the readers check.
pub const ONE_MOMENT: &str = "ledger.query_sees_one_moment";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.readers_during_a_flush",
    claim: "whoever asks for a block that moves from memory to the store finds it",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", ONE_MOMENT],
    finds: &[(Planted::FlushForgetsFirst, 1_000)],
    weight: 20,
    exhaustive: Some(187),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    payment: Tx,
    again: Tx,
    blocks: [Block; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (BOB, 1)]);
    let payment = pay(ALICE, &opening.keys[..1], &[(CAROL, 2), (ALICE, 3)]);
    let again = pay(ALICE, &opening.keys[..1], &[(BOB, 5)]);
    let first = opening.block(&[&payment]);
    let second = block_on(first.id, 2, &[]);
    Facts { opening, payment, again, blocks: [first, second] }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let config =
        LedgerConfig { window_blocks: 1, commit_every_blocks: 1, planted: setup.planted, ..Default::default() };
    let ledger = facts.opening.ledger_with(config);
    add_block(&ledger, "with payment", &facts.blocks[0]);
    let asked = thread::scope(|scope| {
        let records = begin(scope, "carol", || ask_for_records(&ledger, facts));
        let lists = begin(scope, "bob", || ask_for_lists(&ledger, facts));
        add_block(&ledger, "empty", &facts.blocks[1]);
        [records, lists].map(|thread| thread.join().expect("both readers return"))
    });
    check_settled(&ledger);
    // Who asked before the flush was over.
    setup.tally.conflicts(asked.into_iter().filter(|height| *height < 2).count() as u64);
}

/// Each answer is the same before, during and after the flush. The height of the tip when all was asked.
fn ask_for_records(ledger: &Ledger, facts: &Facts) -> u64 {
    let spent = ledger.status(facts.opening.keys[0]).expect("the store can be read");
    claim::holds(matches!(spent, Status::Spent(_)), ONE_MOMENT, "a consumed record is not", || format!("{spent:?}"));
    let again = add_tx(ledger, "payment once more", &facts.again);
    claim::holds(!again, ONE_MOMENT, "a consumed record is not", || "its second spender was accepted".to_owned());
    let balance = ledger.get_balance_available_with_pool(CAROL).expect("the store can be read");
    claim::equal(ONE_MOMENT, "a balance is not the sum of the records", &2, &balance);
    ledger.current_block().meta.height
}

fn ask_for_lists(ledger: &Ledger, facts: &Facts) -> u64 {
    let height = ledger.transaction_height(facts.payment.id).expect("the store can be read");
    claim::equal(ONE_MOMENT, "a confirmed transaction is not found", &Some(1), &height);
    let recent = ledger.recent_transactions(9).expect("the store can be read");
    claim::equal(ONE_MOMENT, "transactions are listed twice or not at all", &2, &recent.len());
    ledger.current_block().meta.height
}
