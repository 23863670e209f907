//! Two payers, a miner, an operator who takes blocks off again, and a shop that asks questions; what each does is drawn
//! from the seed. All calls with their answers are recorded, and one order of whole calls must explain them: that of a
//! ledger without caches and locks, to which the same was said one thing after the other.
//!
//! The rules of a state at rest do not see a reader who was told what never was true. Whoever compares answers with an
//! order does not have to know what could go wrong.

use std::sync::LazyLock;

use interleaf::rand::{Rng as _, Stream, stream};
use interleaf::sync::Arc;
use interleaf::thread;
use interleaf_engine::ledger::{Address, Block, LedgerConfig, OutPoint, Tx};
use interleaf_engine::planted::Planted;
use interleaf_invariants::history::Clock;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, begin, block_on, pay};
use crate::checkers::answers::{self, Answer, Asker, Op};
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.every_answer_fits_one_order",
    claim: "some order of whole calls explains every answer that anybody got",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", answers::NAME],
    finds: &[
        (Planted::CheckThenAct, 150),
        (Planted::RollbackForgetsPool, 50),
        (Planted::ReturnInReverse, 400),
        (Planted::RollBackDepthStale, 1_000),
        (Planted::CommitTakesWindow, 50),
        (Planted::CleanupInSteps, 3_000),
        (Planted::AgeFromGenesis, 400),
        (Planted::BalanceInTwoSteps, 2_000),
    ],
    weight: 4,
    draws: true,
    max_steps: 4_000,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    txs: Vec<Arc<Tx>>,
    /// A tree of blocks.
    blocks: Vec<Arc<Block>>,
    keys: Vec<OutPoint>,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 9), (BOB, 7)]);
    let first = pay(ALICE, &opening.keys[..1], &[(BOB, 2), (ALICE, 7)]);
    let second = pay(ALICE, &[first.outpoint(1)], &[(CAROL, 1), (ALICE, 6)]);
    let third = pay(ALICE, &[second.outpoint(1)], &[(CAROL, 2), (ALICE, 4)]);
    let otherwise = pay(ALICE, &opening.keys[..1], &[(CAROL, 9)]);
    let of_bob = pay(BOB, &opening.keys[1..], &[(CAROL, 3), (BOB, 4)]);
    let of_bob_too = pay(BOB, &opening.keys[1..], &[(ALICE, 7)]);
    let passed_on = pay(BOB, &[first.outpoint(0)], &[(CAROL, 2)]);
    let block = |below: &Block, txs: &[&Tx]| block_on(below.id, below.height + 1, txs);
    let left = opening.block(&[&first, &second]);
    let right = opening.block(&[&otherwise]);
    let left_again = block(&left, &[&of_bob, &passed_on]);
    let left_empty = block(&left, &[]);
    let right_again = block(&right, &[&of_bob_too]);
    let top = block(&left_again, &[&third]);
    let above_empty = block(&left_empty, &[&of_bob_too]);
    let highest = block(&top, &[]);
    let keys = vec![opening.keys[0], first.outpoint(0), first.outpoint(1), second.outpoint(1), of_bob.outpoint(1)];
    let all = |blocks: Vec<Block>| blocks.into_iter().map(Arc::new).collect();
    Facts {
        opening,
        txs: [first, second, third, otherwise, of_bob, of_bob_too, passed_on].map(Arc::new).to_vec(),
        blocks: all(vec![left, right, left_again, left_empty, right_again, top, above_empty, highest]),
        keys,
    }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    // Small enough that batches and age matter within a few blocks.
    let config = LedgerConfig {
        window_blocks: 1,
        commit_every_blocks: 2,
        pool_age_max_blocks: 1,
        planted: setup.planted,
        ..LedgerConfig::default()
    };
    let ledger = facts.opening.ledger_with(config);
    let clock = Clock::default();
    let (ledger, clock) = (&ledger, &clock);
    let mut calls = thread::scope(|scope| {
        let payers = ["alice", "bob"].map(|name| {
            begin(scope, name, move || {
                let (mut payer, mut drawn) = (Asker::new(ledger, clock, name), stream(name));
                for _ in 0..2 {
                    payer.ask(Op::AddTx(Arc::clone(one_of(&facts.txs, &mut drawn))));
                }
                payer.into_calls()
            })
        });
        let operator = begin(scope, "operator", move || {
            let (mut operator, mut drawn) = (Asker::new(ledger, clock, "operator"), stream("operator"));
            for _ in 0..2 {
                operator.ask(Op::Switch(1 + below(&mut drawn, 2), Vec::new()));
            }
            operator.into_calls()
        });
        let shop = begin(scope, "shop", move || {
            let (mut shop, mut drawn) = (Asker::new(ledger, clock, "shop"), stream("shop"));
            for _ in 0..3 {
                shop.ask(question(facts, &mut drawn));
            }
            shop.into_calls()
        });
        let (mut miner, mut drawn) = (Asker::new(ledger, clock, "miner"), stream("miner"));
        for _ in 0..4 {
            mine(&mut miner, facts, &mut drawn);
        }
        let mut calls = miner.into_calls();
        for other in payers.into_iter().chain([operator, shop]) {
            calls.extend(other.join().expect("everybody returns"));
        }
        calls
    });
    let mut auditor = Asker::new(ledger, clock, "auditor");
    auditor.ask(Op::Everything);
    calls.extend(auditor.into_calls());
    answers::check(&config, &facts.opening.genesis(), &calls);
    check_settled(ledger);
    setup.tally.conflicts(calls.iter().filter(|call| call.answer == Some(Answer::Is(false))).count() as u64);
}

fn below(drawn: &mut Stream, n: usize) -> usize {
    (drawn.next_u64() % n as u64) as usize
}

fn one_of<'a, T>(all: &'a [T], drawn: &mut Stream) -> &'a T {
    &all[below(drawn, all.len())]
}

/// Puts a block on what the miner takes for the newest one, or replaces that by its rival.
fn mine(miner: &mut Asker<'_>, facts: &Facts, drawn: &mut Stream) {
    let Answer::Block(tip) = *miner.ask(Op::Tip) else { return };
    let above = |id| facts.blocks.iter().filter(move |block| block.parent == id).cloned().collect::<Vec<_>>();
    let parent = facts.blocks.iter().find(|block| block.id == tip).map(|block| block.parent);
    let (off, choice) = match parent {
        Some(parent) if below(drawn, 4) == 0 => (1, above(parent)),
        _ => (0, above(tip)),
    };
    if !choice.is_empty() {
        miner.ask(Op::Switch(off, vec![Arc::clone(one_of(&choice, drawn))]));
    }
}

fn question(facts: &Facts, drawn: &mut Stream) -> Op {
    const OWNERS: [Address; 3] = [ALICE, BOB, CAROL];
    match below(drawn, 8) {
        0..3 => Op::Balance(*one_of(&OWNERS, drawn)),
        3 => Op::CanBeSpent(*one_of(&facts.keys, drawn)),
        4 => Op::IsNotSpent(*one_of(&facts.keys, drawn)),
        5 => Op::Height(one_of(&facts.txs, drawn).id),
        6 => Op::Batch,
        _ => Op::Tip,
    }
}
