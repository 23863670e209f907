//! Blocks on the bench: each with its graph and its sequential outcome, made once and outside the runs.

use std::sync::LazyLock;

use interleaf::rand::Rng;
use interleaf::{Faults, note};
use interleaf_engine::ledger::block::{Block, BlockId};
use interleaf_engine::ledger::tx::{Address, Amount, OutPoint, Output, Tx, TxId};
use interleaf_engine::schedule::{
    BlockOutcome, Counters, Executor, Graph, Policy, Record, RecordMap, Rules, sequential,
};

use crate::blocks::PreparedBlock;
use crate::checkers::block_result::{self, check_equivalent};
use crate::checkers::locks;
use crate::scenario::{Expected, Scenario, Setup};

/// What the stories of the schedulers have in common. Not a story.
pub const SCHEDULER_STORY: Scenario = Scenario {
    name: "",
    claim: "",
    invariants: &[block_result::NAME, locks::NAME],
    expected: Expected::Holds,
    finds: &[],
    weight: 1,
    max_steps: 5_000,
    faults: Faults { spurious_wakeups: 1, weak_cas_failures: 0 },
    strategy: None,
    draws: false,
    exhaustive: None,
    monitor: Some(locks::schedule_locks),
    world: |_| {},
};

/// Every policy with every order and batching.
pub static POLICIES: LazyLock<Vec<Policy>> = LazyLock::new(Policy::all);

/// A block, what it stands on, which transaction waits for which, and what must come out. Plain data: nothing in it is
/// simulated, so runs may share it.
#[derive(Debug)]
pub struct OnBench {
    block: Block,
    base: RecordMap,
    rules: Rules,
    graph: Graph,
    sequential: BlockOutcome,
}

impl OnBench {
    /// Analyses the block and executes it one transaction after the other.
    #[must_use]
    pub fn of(prepared: PreparedBlock) -> Self {
        let PreparedBlock { block, base, rules, .. } = prepared;
        let graph = Graph::new(&block);
        let sequential = sequential::execute(&block, &base, &rules);
        Self { block, base, rules, graph, sequential }
    }

    /// A block of one owner. Each transaction consumes the outputs of earlier ones, given as (transaction, output), or
    /// a base record worth 9 if it names none; it creates outputs worth 1, as many as given.
    #[must_use]
    pub fn family(members: &[(&[(usize, u32)], u32)]) -> Self {
        let owner = Address::default();
        let mut base = RecordMap::default();
        let mut txs: Vec<Tx> = Vec::with_capacity(members.len());
        for (n, (parents, outputs)) in (0u32..).zip(members) {
            let mut inputs: Vec<OutPoint> = parents.iter().map(|&(tx, output)| txs[tx].outpoint(output)).collect();
            if inputs.is_empty() {
                inputs.push(OutPoint { tx: TxId([0xff; 32]), index: n });
                base.insert(inputs[0], Record::coin(owner, 9));
            }
            let outputs = (0..*outputs).map(|index| Output::coin(index, owner, 1 as Amount));
            txs.push(Tx::new(u64::from(n), owner, inputs, outputs.collect()));
        }
        let block = Block::new(BlockId::default(), 1, txs);
        Self::of(PreparedBlock { name: "family".to_owned(), block, base, rules: Rules::default() })
    }

    /// Executes the block under `policy` and compares with sequential execution. Returns what was counted.
    ///
    /// # Panics
    /// With the violation, for the runtime to report.
    pub fn check(&self, setup: &Setup<'_>, policy: Policy, workers: usize) -> Counters {
        note(|| format!("{} transactions under {policy} with {workers} workers", self.block.txs.len()));
        let executor = Executor::new(policy, workers).with_rules(self.rules).with_planted(setup.planted);
        let execution = executor.execute(&self.block, &self.graph, &self.base);
        if execution.outcome != self.sequential {
            check_equivalent(&self.block, &self.sequential, &policy.to_string(), &execution.outcome);
        }
        setup.tally.conflicts(execution.counters.conflicts_met);
        execution.counters
    }
}

/// A number below `n`, which is not 0.
pub fn below(draws: &mut impl Rng, n: usize) -> usize {
    // The bias is below n / 2^64.
    ((u128::from(draws.next_u64()) * n as u128) >> 64) as usize
}
