//! A miner adds blocks to a durable ledger, one of them with a transaction that fails; somebody reads; and power is lost
//! at some moment.
//! What the disk had not synced is lost, torn or reordered. When the machine is on again the ledger has every block that
//! was acknowledged, at most the one beside that was on its way, and nothing that was refused.
//!
//! Between two batches a block is in memory only (decision O11), so it must be in a journal before it is acknowledged: the
//! mistake of NATS 2.12.1 was to sync later. And what failed must not come back with a restart: in Solana's outage of June
//! 2022 nodes differed in whether a failed transaction had run.

use std::sync::LazyLock;

use interleaf::disk::{Disk, Options, Outcome, Plan, When};
use interleaf::rand::{Rng as _, stream};
use interleaf::{note, thread};
use interleaf_engine::ledger::{Block, Journal, Ledger, LedgerConfig, OpenError, RedbStore};
use interleaf_engine::planted::Planted;

use super::cast::{ALICE, BOB, CAROL, LEDGER_STORY, Opening, begin, block_on, pay};
use crate::checkers::claim;
use crate::checkers::ledger::check_settled;
use crate::scenario::{Scenario, Setup};

/// Operations that change the disk, from the empty one to the last block; a few more than there are.
const OPERATIONS: u64 = 120;

/// The name of what is checked.
pub const DURABLE: &str = "ledger.acknowledged_is_durable";

/// The story.
pub const STORY: Scenario = Scenario {
    name: "ledger.acknowledged_blocks_survive_a_power_loss",
    claim: "a ledger that lost power has what it acknowledged, and nothing that it refused",
    invariants: &["ledger.no_double_spend", "ledger.conservation", "ledger.pool_consistency", DURABLE],
    finds: &[(Planted::AckBeforeSync, 400), (Planted::JournalBeforeCheck, 100)],
    weight: 1,
    max_steps: 20_000,
    draws: true,
    world,
    ..LEDGER_STORY
};

struct Facts {
    opening: Opening,
    /// A chain; the second one's twin holds a transaction that fails.
    blocks: [Block; 3],
    refused: Block,
}

// Plain data: nothing in it is simulated, so runs may share it.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let opening = Opening::of(&[(ALICE, 5), (BOB, 7)]);
    let first = opening.block(&[&pay(ALICE, &opening.keys[..1], &[(CAROL, 2), (ALICE, 3)])]);
    let onward = pay(BOB, &opening.keys[1..], &[(CAROL, 7)]);
    let fails = pay(ALICE, &opening.keys[..1], &[(BOB, 5)]);
    let refused = block_on(first.id, 2, &[&onward, &fails]);
    let second = block_on(first.id, 2, &[&onward]);
    let third = block_on(second.id, 3, &[]);
    Facts { opening, blocks: [first, second, third], refused }
});

fn open(disk: &Disk, setup: &Setup<'_>) -> Result<Ledger<RedbStore>, OpenError> {
    let config =
        LedgerConfig { window_blocks: 1, commit_every_blocks: 1, planted: setup.planted, ..Default::default() };
    let store = RedbStore::on(disk.open("ledger.redb"))?;
    let journal = Journal::on(disk.open("journal.a"), disk.open("journal.b"));
    Ledger::open(config, FACTS.opening.genesis(), store, journal).map(|(ledger, _)| ledger)
}

fn world(setup: &Setup<'_>) {
    let facts = &*FACTS;
    let mut drawn = stream("workload");
    // Somewhere between the first operation and shortly behind the last.
    let plan = Plan { power_losses: When::at(drawn.next_u64() % OPERATIONS), ..Plan::default() };
    let disk = Disk::new(Options { log: false, plan, ..Options::default() });
    let acknowledged = match open(&disk, setup) {
        Ok(ledger) => thread::scope(|scope| {
            begin(scope, "reader", || ask(&ledger));
            mine(&ledger, facts)
        }),
        Err(_) => 0,
    };
    let found = disk.crash_with(Outcome::from_seed(drawn.next_u64()));
    let disk = Disk::from_image(found, Options { log: false, scheduling_points: false, ..Options::default() });
    let opened = open(&disk, setup);
    claim::holds(opened.is_ok(), DURABLE, "the ledger does not open again", || {
        opened.as_ref().map_or_else(ToString::to_string, |_| "it does".to_owned())
    });
    let Ok(ledger) = opened else { return };
    let state = check_settled(&ledger).confirmed;
    note(|| format!("{acknowledged} blocks were acknowledged, {} are found", state.tip.height));
    let found: Vec<_> = state.blocks[1..].iter().map(|block| block.id).collect();
    let chain: Vec<_> = facts.blocks.iter().map(|block| block.id).collect();
    claim::holds(found.len() >= acknowledged, DURABLE, "an acknowledged block is lost", || {
        format!("{acknowledged} blocks were acknowledged, {} are found", found.len())
    });
    claim::holds(chain.starts_with(&found) && found.len() <= acknowledged + 1, DURABLE, "a block from nowhere", || {
        format!("{found:?}; the blocks were {chain:?}")
    });
    setup.tally.conflicts(u64::from(acknowledged < chain.len()));
}

/// Asks store and memory, whatever they answer: the disk may be gone.
fn ask(ledger: &Ledger<RedbStore>) {
    for owner in [ALICE, CAROL] {
        let answer = ledger.get_balance_available_with_pool(owner);
        note(|| format!("balance of {owner:?}: {answer:?}"));
    }
}

/// Adds the blocks until the disk is gone; how many were acknowledged.
fn mine(ledger: &Ledger<RedbStore>, facts: &Facts) -> usize {
    let [first, second, third] = &facts.blocks;
    let steps = [(first, true), (&facts.refused, false), (second, true), (third, true)];
    let mut acknowledged = 0;
    for (block, is_valid) in steps {
        let added = ledger.add_block(block.clone());
        note(|| match &added {
            Ok(meta) => format!("add_block → Ok({})", meta.height),
            Err(error) => format!("add_block → Err({error})"),
        });
        match added {
            Ok(_) if is_valid => acknowledged += 1,
            Ok(_) => claim::holds(false, DURABLE, "a block that fails was added", || format!("{:?}", block.id)),
            Err(_) if is_valid => break,
            Err(_) => {}
        }
    }
    acknowledged
}
