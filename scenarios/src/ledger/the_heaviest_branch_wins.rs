//! Two branches come in from two sides at once, one block against two. In whatever order their blocks come, the heavier
//! branch is the chain when both are in, and somebody who looks at the tip without a lock never sees the chain get lighter.
//!
//! Which branch is the heaviest must be decided under the lock under which the chain is switched (decision O13): a choice
//! that was made before is about another chain.

use std::sync::LazyLock;

use interleaf::{note, thread};
use interleaf_engine::ledger::fork_choice::weight;
use interleaf_engine::ledger::{Block, Ledger};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The name of what is checked.
pub const HEAVIEST: &str = "ledger.heaviest_branch_wins";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.the_heaviest_branch_wins",
    claim: "in whatever order the blocks of two branches come, the heavier one is the chain in the end",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", HEAVIEST],
    finds: &[(Planted::ForkChoiceStale, 100)],
    weight: 20,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    light: Block,
    heavy: [Block; 2],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5)]);
    let light = opening.block(&[&pay(ALICE, &opening.keys, &[(BOB, 5)])]);
    let first = opening.block(&[&pay(ALICE, &opening.keys, &[(CAROL, 5)])]);
    let second = block_on(first.id, 2, &[]);
    Facts { opening, light, heavy: [first, second] }
});

fn receive(ledger: &Ledger, name: &str, block: &Block) {
    let received = ledger.receive_block(block.clone());
    note(|| format!("receive_block {name} → {received:?}"));
    claim::holds(received.is_ok(), HEAVIEST, "a ledger in memory fails", || format!("{received:?}"));
}

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let looks = thread::scope(|scope| {
        let light = begin(scope, "light", || receive(&ledger, "light", &facts.light));
        let reader = begin(scope, "reader", || {
            let looks = [(); 2].map(|()| ledger.current_block()).map(|tip| weight(tip.meta.height, tip.meta.id));
            claim::holds(looks[0] <= looks[1], HEAVIEST, "the chain got lighter", || format!("{looks:?}"));
            looks
        });
        receive(&ledger, "heavy, second", &facts.heavy[1]);
        receive(&ledger, "heavy, first", &facts.heavy[0]);
        light.join().expect("the light branch is in");
        reader.join().expect("the reader returns")
    });
    let state = check_settled(&ledger).confirmed;
    claim::equal(HEAVIEST, "a lighter branch is the chain", &facts.heavy[1].id, &state.tip.id);
    // Whether the light branch was the chain for a while.
    let was_light = ledger.block_pool().contains_key(&facts.light.id);
    setup.tally.conflicts(u64::from(was_light && looks[0].0 > 0));
}
