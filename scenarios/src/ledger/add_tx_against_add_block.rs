//! One output worth 5. Alice spends it in a transaction and goes on with the change; at the same time a block that
//! spends it otherwise arrives, and her phone offers the very transaction of that block. Whatever the order, at most one
//! spend is confirmed and the pool never keeps the loser. Bob, beside them, spends what is his: his transaction is
//! confirmed by the next block, and the one that uses its change waits in the end.
//!
//! This is the double spend of item U12. It needs one preemption between check and reservation, so a ledger that does
//! not hold one lock over both fails here first.

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

const BLOCK_WINS: &str = "ledger.block_wins";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.add_tx_against_add_block",
    claim: "a block and a transaction that spend one output never both stand",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", BLOCK_WINS],
    finds: &[(Planted::CheckThenAct, 150)],
    weight: 40,
    exhaustive: Some(2_222),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    spend: Tx,
    change_spent: Tx,
    rival: Tx,
    bobs: Tx,
    bobs_change: Tx,
    blocks: [Block; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (BOB, 4)]);
    let spend = pay(ALICE, &opening.keys[..1], &[(BOB, 3), (ALICE, 2)]);
    let change_spent = pay(ALICE, &[spend.outpoint(1)], &[(CAROL, 2)]);
    let rival = pay(ALICE, &opening.keys[..1], &[(CAROL, 5)]);
    let bobs = pay(BOB, &opening.keys[1..], &[(CAROL, 1), (BOB, 3)]);
    let bobs_change = pay(BOB, &[bobs.outpoint(1)], &[(ALICE, 3)]);
    let first = opening.block(&[&rival]);
    let second = block_on(first.id, 2, &[&bobs]);
    Facts { opening, spend, change_spent, rival, bobs, bobs_change, blocks: [first, second] }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let refused = thread::scope(|scope| {
        let alice = begin(scope, "alice", || {
            add_tx(&ledger, "spend", &facts.spend);
            add_tx(&ledger, "its change", &facts.change_spent)
        });
        let phone = begin(scope, "alice's phone", || add_tx(&ledger, "rival", &facts.rival));
        let bob = begin(scope, "bob", || {
            add_tx(&ledger, "bob's", &facts.bobs) | add_tx(&ledger, "bob's change", &facts.bobs_change)
        });
        add_block(&ledger, "with rival", &facts.blocks[0]);
        add_block(&ledger, "with bob's", &facts.blocks[1]);
        let accepted = [alice, phone, bob].map(|thread| thread.join().expect("all return"));
        accepted.into_iter().filter(|accepted| !accepted).count() as u64
    });
    let state = check_settled(&ledger);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    claim::equal(BLOCK_WINS, "the chain's height is wrong", &2, &state.confirmed.tip.height);
    claim::equal(BLOCK_WINS, "the wrong transactions wait", &vec![facts.bobs_change.id], &waiting);
    // Alice's spend, refused at once or taken out by the clean-up, and what was refused besides.
    setup.tally.conflicts(1 + refused);
}
