//! Alice's payment and a transaction that spends its change wait in the pool. A block confirms the payment and spends
//! Bob's output, while Bob offers a transaction that spends it otherwise, and its child, and Alice goes on building
//! on her change. Afterwards Alice's descendants wait, now on a confirmed record, and Bob's losers are gone.
//!
//! The clean-up has three steps in one order (item U28): what was confirmed leaves by its id *first*. Conflicts first
//! would see the confirmed payment as a spender of what the block spent, and evict it with all that depends on it.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::{check_kept, check_settled};
use crate::scenario::{Scenario, Setup};

const EXACT: &str = "ledger.clean_up_is_exact";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.clean_up_after_a_block",
    claim: "a block takes out of the pool what it confirms and what conflicts with it, and nothing else",
    invariants: &[
        "ledger.no_double_spend",
        "ledger.conservation",
        "ledger.pool_consistency",
        "ledger.accepted_is_kept",
        EXACT,
    ],
    finds: &[(Planted::CleanupOrder, 10), (Planted::CheckThenAct, 150)],
    weight: 30,
    exhaustive: Some(516),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    /// Alice's payment and her descendants, each on the change of the one before.
    line: [Tx; 4],
    loser: Tx,
    losers_child: Tx,
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 9), (BOB, 7)]);
    let payment = pay(ALICE, &opening.keys[..1], &[(BOB, 2), (ALICE, 7)]);
    let next = |parent: &Tx, left| pay(ALICE, &[parent.outpoint(1)], &[(CAROL, 1), (ALICE, left)]);
    let child = next(&payment, 6);
    let grandchild = next(&child, 5);
    let last = next(&grandchild, 4);
    let winner = pay(BOB, &opening.keys[1..], &[(CAROL, 7)]);
    let loser = pay(BOB, &opening.keys[1..], &[(ALICE, 6), (BOB, 1)]);
    let losers_child = pay(BOB, &[loser.outpoint(1)], &[(CAROL, 1)]);
    let block = opening.block(&[&payment, &winner]);
    Facts { opening, line: [payment, child, grandchild, last], loser, losers_child, block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let [payment, child, grandchild, last] = &facts.line;
    add_tx(&ledger, "payment", payment);
    add_tx(&ledger, "child", child);
    let (added, lost) = thread::scope(|scope| {
        let bob = begin(scope, "bob", || {
            [add_tx(&ledger, "loser", &facts.loser), add_tx(&ledger, "loser's child", &facts.losers_child)]
        });
        begin(scope, "alice", || {
            add_tx(&ledger, "grandchild", grandchild);
            add_tx(&ledger, "great-grandchild", last);
        });
        begin(scope, "miner", || {
            let batch = ledger.pool_batch(2);
            note(|| format!("takes {} transactions, {:?} first", batch.len(), batch.first().map(|tx| tx.id)));
            let has_child = batch.iter().any(|tx| tx.id == child.id);
            claim::equal(EXACT, "a valid transaction left the pool for a moment", &true, &has_child);
        });
        let added = add_block(&ledger, "with payment", &facts.block);
        (added, bob.join().expect("Bob's thread returns"))
    });
    let state = check_settled(&ledger);
    check_kept(&state, &facts.line);
    let waiting: Vec<_> = state.pool.entries.iter().map(|entry| entry.tx.id).collect();
    let expected = vec![child.id, grandchild.id, last.id];
    claim::equal(EXACT, "a valid block was refused", &true, &added);
    claim::equal(EXACT, "the wrong transactions wait", &expected, &waiting);
    // The losers, refused at once or taken out.
    setup.tally.conflicts(1 + u64::from(lost[0]));
}
