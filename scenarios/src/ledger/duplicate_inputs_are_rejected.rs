//! Alice owns outputs worth 10 and 90. A transaction names the first of them twice to make 20 out of 10; it is offered
//! to the pool from two sides and, at the same time, inside a block. All refuse it, and honest transactions pass by, one
//! of them with the output that was to be counted twice.
//!
//! Bitcoin Core 0.14 to 0.16.2 accepted such blocks (CVE-2018-17144): the check had been taken out as a duplicate of
//! another one. Pool and block check on different paths, so both are tried (item U21).

use std::sync::LazyLock;

use interleaf::thread;
use interleaf_engine::ledger::{Block, Tx};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, LEDGER_STORY, Opening, add_block, add_tx, begin, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

const REFUSED: &str = "ledger.duplicate_input_is_refused";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.duplicate_inputs_are_rejected",
    claim: "a transaction that names one output twice enters neither pool nor chain",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", REFUSED],
    finds: &[(Planted::DuplicateInput, 10)],
    weight: 10,
    exhaustive: Some(376),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    twice: Tx,
    honest: [Tx; 2],
    block: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 10), (ALICE, 90)]);
    let key = opening.keys[0];
    let twice = pay(ALICE, &[key, key], &[(ALICE, 20)]);
    let first = pay(ALICE, &[opening.keys[1]], &[(BOB, 50), (ALICE, 40)]);
    let second = pay(ALICE, &[key, first.outpoint(1)], &[(BOB, 50)]);
    let block = opening.block(&[&twice]);
    Facts { opening, twice, honest: [first, second], block }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let ledger = facts.opening.ledger(setup);
    let refused = thread::scope(|scope| {
        let chain = begin(scope, "chain", || add_block(&ledger, "with duplicate", &facts.block));
        let honest = begin(scope, "alice", || {
            let [first, second] = &facts.honest;
            [add_tx(&ledger, "honest", first), add_tx(&ledger, "honest too", second)]
        });
        let again = begin(scope, "thief's phone", || add_tx(&ledger, "twice", &facts.twice));
        let pool = add_tx(&ledger, "twice", &facts.twice);
        let others = [again, chain].map(|thread| thread.join().expect("both return"));
        let honest = honest.join().expect("Alice's thread returns");
        if others == [false; 2] && !pool {
            claim::equal(REFUSED, "an honest transaction was refused", &[true; 2], &honest);
        }
        u64::from(!pool) + u64::from(!others[0]) + u64::from(!others[1])
    });
    check_settled(&ledger);
    claim::equal(REFUSED, "a duplicate input was accepted", &3, &refused);
    setup.tally.conflicts(refused);
}
