//! One block is on the chain. Alice pays on twice, two blocks come and send their predecessors to the store, the operator
//! takes two blocks off, and a shop asks twice what Alice has, all at once. In every interleaving the eight answers, and
//! what is there at the end, are those of some order of whole calls.
//!
//! What the great story draws at random is here complete, for two calls of each kind.

use std::sync::LazyLock;

use interleaf::sync::Arc;
use interleaf::thread;
use interleaf_engine::ledger::{Block, LedgerConfig, Tx};
use interleaf_engine::planted::Planted;
use interleaf_invariants::history::Clock;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, begin, block_on, pay};
use crate::checkers::answers::{self, Answer, Asker, Op};
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.two_calls_of_each_at_once",
    claim: "a payment, a block with a flush, a roll-back and a reader together answer as one after the other",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", answers::NAME],
    finds: &[(Planted::BalanceInTwoSteps, 150), (Planted::CleanupInSteps, 800)],
    weight: 20,
    exhaustive: Some(9_675),
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    blocks: [Arc<Block>; 3],
    /// Each on the change of the one before; the first waits when the others begin.
    line: [Arc<Tx>; 3],
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 9), (BOB, 7)]);
    let waiting = pay(ALICE, &opening.keys[..1], &[(BOB, 2), (ALICE, 7)]);
    let next = pay(ALICE, &[waiting.outpoint(1)], &[(CAROL, 1), (ALICE, 6)]);
    let last = pay(ALICE, &[next.outpoint(1)], &[(BOB, 6)]);
    let first = opening.block(&[&pay(BOB, &opening.keys[1..], &[(ALICE, 3), (BOB, 4)])]);
    let second = block_on(first.id, 2, &[&waiting]);
    let third = block_on(second.id, 3, &[&next]);
    Facts { opening, blocks: [first, second, third].map(Arc::new), line: [waiting, next, last].map(Arc::new) }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let config =
        LedgerConfig { window_blocks: 1, commit_every_blocks: 1, planted: setup.planted, ..LedgerConfig::default() };
    let ledger = facts.opening.ledger_with(config);
    let clock = Clock::default();
    let mut main = Asker::new(&ledger, &clock, "main");
    let put_on = |n: usize| Op::Switch(0, vec![Arc::clone(&facts.blocks[n])]);
    let pay = |n: usize| Op::AddTx(Arc::clone(&facts.line[n]));
    main.ask(put_on(0));
    main.ask(pay(0));
    let others = [
        ("alice", [pay(1), pay(2)]),
        ("operator", [Op::Switch(1, Vec::new()), Op::Switch(1, Vec::new())]),
        ("shop", [Op::Balance(ALICE), Op::Balance(ALICE)]),
    ];
    let (ledger, clock) = (&ledger, &clock);
    let mut calls = thread::scope(|scope| {
        let others = others.map(|(name, ops)| {
            begin(scope, name, move || {
                let mut asker = Asker::new(ledger, clock, name);
                ops.into_iter().for_each(|op| drop(asker.ask(op).clone()));
                asker.into_calls()
            })
        });
        main.ask(put_on(1));
        main.ask(put_on(2));
        others.map(|other| other.join().expect("everybody returns")).concat()
    });
    main.ask(Op::Everything);
    calls.extend(main.into_calls());
    answers::check(&config, &facts.opening.genesis(), &calls);
    check_settled(ledger);
    setup.tally.conflicts(calls.iter().filter(|call| call.answer == Some(Answer::Is(false))).count() as u64);
}
