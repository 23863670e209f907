//! Who takes part in the stories of the ledger, what they own, and what they can do.

use std::fmt::Display;

use interleaf::thread::{Builder, Scope, ScopedJoinHandle};
use interleaf::{Faults, note};
use interleaf_engine::ledger::{
    Address, Amount, Block, BlockId, Genesis, Ledger, LedgerConfig, OutPoint, Output, Store, Tx,
};

use crate::checkers::locks;
use crate::scenario::{Expected, Scenario, Setup};

/// Owns the record that most stories are about.
pub const ALICE: Address = Address::numbered(1);
/// Is paid, and sometimes wants what is Alice's.
pub const BOB: Address = Address::numbered(2);
/// Is paid.
pub const CAROL: Address = Address::numbered(3);

/// What the stories of the ledger have in common. Not a story.
pub const LEDGER_STORY: Scenario = Scenario {
    name: "",
    claim: "",
    invariants: &[],
    expected: Expected::Holds,
    finds: &[],
    weight: 1,
    max_steps: 2_000,
    faults: Faults { spurious_wakeups: 0, weak_cas_failures: 0 },
    strategy: None,
    draws: false,
    exhaustive: None,
    monitor: Some(locks::lock_hierarchy),
    world: |_| {},
};

/// What a ledger story starts from. Plain data, made once and shared by all runs; each run opens its own ledger.
#[derive(Debug)]
pub struct Opening {
    genesis: Genesis,
    /// The records of the genesis block, in their order.
    pub keys: Vec<OutPoint>,
    /// The genesis block.
    pub root: BlockId,
}

impl Opening {
    /// A genesis block with these outputs.
    #[must_use]
    pub fn of(outputs: &[(Address, Amount)]) -> Self {
        let genesis = Genesis::of(outputs);
        let tx = genesis.tx();
        let keys = tx.outputs.iter().map(|output| tx.outpoint(output.index)).collect();
        let root = Block::new(BlockId::default(), 0, vec![tx]).id;
        Self { genesis, keys, root }
    }

    /// The ledger that starts from here, with the bug of `setup`.
    #[must_use]
    pub fn ledger(&self, setup: &Setup<'_>) -> Ledger {
        let config = LedgerConfig { planted: setup.planted, ..LedgerConfig::default() };
        self.ledger_with(config)
    }

    /// The ledger that starts from here, with these options.
    #[must_use]
    pub fn ledger_with(&self, config: LedgerConfig) -> Ledger {
        Ledger::new(config, self.genesis.clone())
    }

    /// The genesis.
    #[must_use]
    pub fn genesis(&self) -> Genesis {
        self.genesis.clone()
    }

    /// The block with `txs` directly above the genesis block.
    #[must_use]
    pub fn block(&self, txs: &[&Tx]) -> Block {
        block_on(self.root, 1, txs)
    }
}

/// The block with `txs` above `parent`.
#[must_use]
pub fn block_on(parent: BlockId, height: u64, txs: &[&Tx]) -> Block {
    Block::new(parent, height, txs.iter().copied().cloned().collect())
}

/// Two branches that spend the same record: one block, and two.
#[derive(Debug)]
pub struct Rivals {
    /// Pays Bob.
    pub light: Block,
    /// Pays Carol.
    pub heavy: [Block; 2],
}

impl Rivals {
    /// The branches above `opening`, which spend the first record, of Alice and worth 5.
    #[must_use]
    pub fn of(opening: &Opening) -> Self {
        let light = opening.block(&[&pay(ALICE, &opening.keys[..1], &[(BOB, 5)])]);
        let first = opening.block(&[&pay(ALICE, &opening.keys[..1], &[(CAROL, 5)])]);
        let second = block_on(first.id, 2, &[]);
        Self { light, heavy: [first, second] }
    }
}

/// A transaction of `sender`.
#[must_use]
pub fn pay(sender: Address, inputs: &[OutPoint], outputs: &[(Address, Amount)]) -> Tx {
    let outputs = outputs.iter().zip(0..).map(|(&(owner, amount), index)| Output::coin(index, owner, amount));
    Tx::new(1, sender, inputs.to_vec(), outputs.collect())
}

/// Starts the thread of one who takes part.
///
/// # Panics
/// If the run has too many threads.
#[track_caller]
pub fn begin<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    part: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, part).expect("a run has room for its few threads")
}

/// Offers `tx` to the pool; whether it was accepted.
#[track_caller]
pub fn add_tx(ledger: &Ledger, name: &str, tx: &Tx) -> bool {
    told(|| format!("add_tx {name}"), ledger.add_tx(tx.clone()))
}

/// Offers `block` to the chain; whether it was added.
#[track_caller]
pub fn add_block<S: Store>(ledger: &Ledger<S>, name: &str, block: &Block) -> bool {
    told(|| format!("add_block {name}"), ledger.add_block(block.clone()).map(|meta| meta.height))
}

/// Takes the newest block off; whether there was one above genesis.
#[track_caller]
pub fn roll_back(ledger: &Ledger) -> bool {
    told(|| "roll_back".to_owned(), ledger.roll_back().map(|block| block.height))
}

/// Tells the trace how `what` ended.
fn told<T: Display, E: Display>(what: impl Fn() -> String, answer: Result<T, E>) -> bool {
    note(|| match &answer {
        Ok(value) => format!("{} → Ok({value})", what()),
        Err(error) => format!("{} → Err({error})", what()),
    });
    answer.is_ok()
}
