//! Four owners, a chain with a fork, a window of one block. Payments, stakes, referrals and node infos, blocks, a fork
//! switch, a roll-back, a flush in a thread of its own, and readers who ask everything, all at once; what is done is drawn
//! from the seed. Every invariant of a ledger holds at the end, and whatever a reader was told was true of one moment.
//!
//! addTx, addBlock, rollBack, flush and readers meet in every combination only if nobody chooses the combination.

use std::sync::LazyLock;

use interleaf::rand::{Rng as _, Stream, stream};
use interleaf::{note, thread};
use interleaf_engine::ledger::{
    Address, Amount, Block, Kind, Ledger, LedgerConfig, NodeInfo, OutPoint, Output, Status, Tx,
};
use interleaf_engine::planted::Planted;

use super::cast::{LEDGER_STORY, Opening, add_tx, begin, block_on};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

const ONE_MOMENT: &str = "ledger.query_sees_one_moment";
const OWNERS: u32 = 4;
const EACH: Amount = 100;

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.everything_at_once",
    claim: "payments, blocks, roll-backs, flushes and readers together break no rule",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", ONE_MOMENT],
    finds: &[(Planted::CheckThenAct, 2_000), (Planted::RollbackForgetsPool, 2_000)],
    weight: 30,
    max_steps: 4_000,
    draws: true,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    /// Transactions of each owner, each on the change of the one before.
    lines: Vec<[Tx; 3]>,
    /// The chain, and what replaces its second and third block.
    chain: [Block; 3],
    rival: [Block; 3],
}

fn owner(n: u32) -> Address {
    Address::numbered(n + 1)
}

/// A transaction of `sender`: a bit to the next owner, a bit of some kind, the rest back.
fn spend(n: u32, key: OutPoint, left: Amount, step: u32) -> Tx {
    let sender = owner(n);
    let special = match (n + step) % 4 {
        0 => (sender, 1, Kind::Stake),
        1 => (sender, 1, Kind::Node(NodeInfo { host: std::net::Ipv6Addr::LOCALHOST, port: 1 })),
        2 => (owner(10 + n), 0, Kind::Referral),
        _ => (owner(n + 1), 1, Kind::Coin),
    };
    let outputs = vec![
        Output::coin(0, sender, left - 4),
        Output::coin(1, owner((n + 1) % OWNERS), 1),
        Output { index: 2, owner: special.0, amount: special.1, kind: special.2 },
    ];
    Tx::new(u64::from(step), sender, vec![key], outputs)
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let outputs: Vec<_> = (0..OWNERS).map(|n| (owner(n), EACH)).collect();
    let opening = Opening::of(&outputs);
    let lines: Vec<[Tx; 3]> = (0..OWNERS)
        .map(|n| {
            let first = spend(n, opening.keys[n as usize], EACH, 1);
            let second = spend(n, first.outpoint(0), EACH - 4, 2);
            let third = spend(n, second.outpoint(0), EACH - 8, 3);
            [first, second, third]
        })
        .collect();
    let first = opening.block(&[&lines[0][0], &lines[1][0]]);
    let second = block_on(first.id, 2, &[&lines[0][1], &lines[2][0]]);
    let third = block_on(second.id, 3, &[&lines[2][1]]);
    let against = spend(2, opening.keys[2], EACH, 7);
    let other = block_on(first.id, 2, &[&against]);
    let above = block_on(other.id, 3, &[&lines[1][1]]);
    let top = block_on(above.id, 4, &[]);
    Facts { opening, lines, chain: [first, second, third], rival: [other, above, top] }
});

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let config =
        LedgerConfig { window_blocks: 2, commit_every_blocks: 1, planted: setup.planted, ..Default::default() };
    let ledger = facts.opening.ledger_with(config);
    let refused = thread::scope(|scope| {
        let payers = [0, 1].map(|t| {
            let name = ["payer", "other payer"][t];
            begin(scope, name, || pay_some(&ledger, facts, stream(name)))
        });
        begin(scope, "flusher", || (0..2).for_each(|_| note_flush(&ledger)));
        begin(scope, "reader", || ask_some(&ledger, facts, stream("reader")));
        let refused = change_the_chain(&ledger, facts, stream("chain"));
        payers.into_iter().fold(refused, |sum, payer| sum + payer.join().expect("payers return"))
    });
    check_settled(&ledger);
    setup.tally.conflicts(refused);
}

fn below(drawn: &mut Stream, n: usize) -> usize {
    (drawn.next_u64() % n as u64) as usize
}

/// Offers some transactions, in any order; how many were refused.
fn pay_some(ledger: &Ledger, facts: &Facts, mut drawn: Stream) -> u64 {
    let offers = (0..3).map(|_| {
        let (line, step) = (below(&mut drawn, facts.lines.len()), below(&mut drawn, 3));
        add_tx(ledger, "of a line", &facts.lines[line][step])
    });
    offers.filter(|accepted| !accepted).count() as u64
}

/// Blocks from others in some order, a roll-back in between; how much was refused or took something off.
fn change_the_chain(ledger: &Ledger, facts: &Facts, mut drawn: Stream) -> u64 {
    let mut blocks: Vec<&Block> = facts.chain.iter().chain(&facts.rival).collect();
    let mut met = 0;
    while !blocks.is_empty() {
        let block = blocks.remove(below(&mut drawn, blocks.len().min(2)));
        let received = ledger.receive_block(block.clone());
        note(|| format!("receive_block {:?} → {received:?}", block.id));
        if below(&mut drawn, 5) == 0 {
            let rolled_back = ledger.roll_back();
            note(|| format!("roll_back → {:?}", rolled_back.as_ref().map(|block| block.id)));
            met += u64::from(rolled_back.is_ok());
        }
    }
    met
}

fn note_flush(ledger: &Ledger) {
    let flushed = ledger.flush();
    note(|| format!("flush → {flushed:?}"));
}

/// Asks some questions. What one owner has in all its forms is never more than was issued.
fn ask_some(ledger: &Ledger, facts: &Facts, mut drawn: Stream) {
    for _ in 0..3 {
        let n = below(&mut drawn, OWNERS as usize);
        match below(&mut drawn, 4) {
            0 => {
                let balance = ledger.get_balance_available_with_pool(owner(n as u32)).expect("the store can be read");
                let most = EACH + 3 * u64::from(OWNERS);
                claim::holds(balance <= most, ONE_MOMENT, "somebody has more than he was ever paid", || {
                    format!("{balance} of at most {most}")
                });
            }
            1 => {
                // Asked twice, a record that was consumed below what can be rolled back stays consumed.
                let committed = ledger.block_metas().tip().map_or(0, |tip| tip.height) > 3;
                let status = ledger.status(facts.opening.keys[0]).expect("the store can be read");
                let is_spent = matches!(status, Status::Spent(_));
                claim::holds(is_spent || !committed, ONE_MOMENT, "a settled consumption is gone", || {
                    format!("{status:?}")
                });
            }
            2 => {
                let tip = ledger.current_block();
                claim::equal(
                    ONE_MOMENT,
                    "metas of another tip",
                    &Some(tip.meta.id),
                    &tip.metas.tip().map(|meta| meta.id),
                );
            }
            _ => {
                let recent = ledger.recent_transactions(20).expect("the store can be read");
                let distinct: std::collections::BTreeSet<_> = recent.iter().collect();
                claim::equal(ONE_MOMENT, "a transaction is listed twice", &recent.len(), &distinct.len());
            }
        }
    }
}
