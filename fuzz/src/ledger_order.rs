//! Bytes → transaction order, schedule and faults over a small ledger.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0 | which write of the store fails, modulo eight; 0 for none |
//! | 1 to 9 | three operations for each of three threads, modulo the number of [`Operation`]s |
//! | rest | the schedule: see `interleaf::strategy::bytes` |
//!
//! Missing bytes count as zero, so every input is valid and short inputs are simple worlds. A flipped byte changes one
//! operation or one decision, which is what a coverage-guided fuzzer needs.

use std::sync::Arc as Shared;
use std::sync::LazyLock;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicU32, Ordering};
use interleaf::{Explorer, Report, Strategy, note, thread};
use interleaf_engine::ledger::{
    Address, Amount, Block, Genesis, Ledger, LedgerConfig, MemoryStore, OutPoint, Output, StoreCall, StoreError,
    StoreLayer, Tx,
};
use interleaf_engine::planted::Planted;
use interleaf_scenarios::checkers::{ledger::check_settled, locks};

const THREADS: usize = 3;
const OPERATIONS: usize = 3;
/// Bytes before the schedule.
const HEAD: usize = 1 + THREADS * OPERATIONS;
/// Steps after which a run is cut. Longest seen without a fault: a few hundred.
const MAX_STEPS: u32 = 20_000;

const ALICE: Address = Address::numbered(1);
const BOB: Address = Address::numbered(2);

/// What a thread can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Offer one of the prepared transactions to the pool.
    AddTx(usize),
    /// Put up to this many waiting transactions into a block on the tip that is seen.
    AddBlock(usize),
    /// Put a prepared transaction into a block on the tip that is seen, whether it waits or not.
    AddForeignBlock(usize),
    /// Take the newest block off.
    RollBack,
    /// Replace the newest block by one with a prepared transaction.
    SwitchFork(usize),
    /// Drop a prepared transaction from the pool.
    Evict(usize),
    /// Ask for Alice's balance.
    Balance,
}

impl Operation {
    /// The operation that a byte stands for.
    #[must_use]
    pub fn of(byte: u8) -> Self {
        let pick = usize::from(byte / 8) % TXS;
        match byte % 8 {
            0 | 1 => Self::AddTx(pick),
            2 => Self::AddBlock(pick),
            3 => Self::AddForeignBlock(pick),
            4 => Self::RollBack,
            5 => Self::SwitchFork(pick),
            6 => Self::Evict(pick),
            _ => Self::Balance,
        }
    }
}

const TXS: usize = 8;

/// Plain data that all runs share: nothing in it is simulated.
struct World {
    genesis: Genesis,
    txs: [Tx; TXS],
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let genesis = Genesis::of(&[(ALICE, 5), (BOB, 4)]);
    let first = genesis.tx();
    let (a, b) = (first.outpoint(0), first.outpoint(1));
    let pay = |time, sender, inputs: &[OutPoint], outputs: &[(u32, Address, Amount)]| {
        let outputs = outputs.iter().map(|&(index, owner, amount)| Output::coin(index, owner, amount)).collect();
        Tx::new(time, sender, inputs.to_vec(), outputs)
    };
    let spend = pay(1, ALICE, &[a], &[(0, BOB, 3), (1, ALICE, 2)]);
    let change = pay(2, ALICE, &[spend.outpoint(1)], &[(0, BOB, 1), (1, ALICE, 1)]);
    let again = pay(3, ALICE, &[a], &[(0, BOB, 5)]);
    let cross = pay(4, BOB, &[a, b], &[(0, BOB, 9)]);
    let twice = pay(5, BOB, &[b, b], &[(0, BOB, 8)]);
    let over = pay(6, BOB, &[b], &[(0, BOB, 40)]);
    let same_index = pay(7, BOB, &[b], &[(0, BOB, 1), (0, ALICE, 1)]);
    let received = pay(8, BOB, &[spend.outpoint(0)], &[(0, ALICE, 3)]);
    World { genesis, txs: [spend, change, again, cross, twice, over, same_index, received] }
});

/// A store of which one write fails. All or nothing, as the trait demands.
struct Flaky {
    inner: MemoryStore,
    /// Writes left until the one that fails; 0 for none.
    fails_in: Arc<AtomicU32>,
}

impl StoreLayer for Flaky {
    type Below = MemoryStore;

    fn below(&self) -> &MemoryStore {
        &self.inner
    }

    fn before(&self, call: StoreCall) -> Result<(), StoreError> {
        let left = self.fails_in.load(Ordering::SeqCst);
        if left > 0 && matches!(call, StoreCall::Commit(_)) {
            self.fails_in.store(left - 1, Ordering::SeqCst);
            if left == 1 {
                return Err(StoreError::of("commit", "the input wants this write to fail"));
            }
        }
        Ok(())
    }
}

/// Runs one input, with a bug switched on or without.
pub fn run(input: &[u8], planted: Option<Planted>) -> Report {
    let schedule: Shared<[u8]> = Shared::from(input.get(HEAD..).unwrap_or_default());
    Explorer::new()
        .name("fuzz.ledger_order")
        .strategy(Strategy::Bytes(schedule))
        .seeds(0..1)
        .max_steps(MAX_STEPS)
        .check_determinism(false)
        .monitor(locks::lock_hierarchy)
        .run(|| world(input, planted))
}

fn world(input: &[u8], planted: Option<Planted>) {
    let byte = |i: usize| input.get(i).copied().unwrap_or(0);
    let fails_in = Arc::new(AtomicU32::new(0));
    let store = Flaky { inner: MemoryStore::new(), fails_in: Arc::clone(&fails_in) };
    // A window of one block, so that a handful of blocks reaches the store.
    let config = LedgerConfig {
        window_blocks: 1,
        commit_every_blocks: 1,
        pool_age_max_blocks: 3,
        planted,
        ..LedgerConfig::default()
    };
    let ledger = Ledger::with_store(config, WORLD.genesis.clone(), store).expect("an empty store takes a genesis");
    fails_in.store(u32::from(byte(0) % 8), Ordering::SeqCst);
    thread::scope(|scope| {
        for t in 0..THREADS {
            let ledger = &ledger;
            scope.spawn(move || {
                for i in 0..OPERATIONS {
                    perform(ledger, Operation::of(byte(1 + t * OPERATIONS + i)));
                }
            });
        }
    });
    check_settled(&ledger);
    // Faults off: what waits must get into a block now.
    fails_in.store(0, Ordering::SeqCst);
    let tip = ledger.current_block();
    let waiting = ledger.pool_batch(usize::MAX).iter().map(|tx| Tx::clone(tx)).collect();
    ledger.add_block(Block::new(tip.meta.id, tip.meta.height + 1, waiting)).expect("what waits is valid together");
    let settled = check_settled(&ledger);
    assert!(settled.pool.entries.is_empty(), "confirmed transactions still wait: {:?}", settled.pool.entries);
}

fn perform(ledger: &Ledger<Flaky>, operation: Operation) {
    let on_tip = |txs: Vec<Tx>| {
        let tip = ledger.current_block();
        Block::new(tip.meta.id, tip.meta.height + 1, txs)
    };
    let txs = &WORLD.txs;
    let answer = match operation {
        Operation::AddTx(i) => ledger.add_tx(txs[i].clone()).map(|_| ()).map_err(|e| e.to_string()),
        Operation::AddBlock(n) => {
            let waiting = ledger.pool_batch(n).iter().map(|tx| Tx::clone(tx)).collect();
            ledger.add_block(on_tip(waiting)).map(|_| ()).map_err(|e| e.to_string())
        }
        Operation::AddForeignBlock(i) => {
            ledger.add_block(on_tip(vec![txs[i].clone()])).map(|_| ()).map_err(|e| e.to_string())
        }
        Operation::RollBack => ledger.roll_back().map(|_| ()).map_err(|e| e.to_string()),
        Operation::SwitchFork(i) => {
            let tip = ledger.current_block();
            let parent = tip.block.parent;
            let rival = Block::new(parent, tip.meta.height.max(1), vec![txs[i].clone()]);
            ledger.switch_fork(1, vec![rival]).map(|_| ()).map_err(|e| e.to_string())
        }
        Operation::Evict(i) => {
            drop(ledger.evict_tx(txs[i].id));
            Ok(())
        }
        Operation::Balance => ledger.get_balance_available_with_pool(ALICE).map(|_| ()).map_err(|e| e.to_string()),
    };
    note(|| format!("{operation:?} -> {answer:?}"));
}

/// The target: no input may make a run fail.
///
/// # Panics
/// With the failure block, if one does.
pub fn check(input: &[u8]) {
    if let Some(failure) = run(input, None).first_failure() {
        panic!("{failure}");
    }
}
