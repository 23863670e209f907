//! Random histories against the naive ledger.

mod ledger_fixture;

use std::collections::{BTreeMap, BTreeSet};

use interleaf::sync::Arc;
use interleaf_engine::ledger::{
    Address, Amount, Block, Genesis, Ledger, LedgerConfig, NaiveLedger, OutPoint, Output, Tx,
};
use interleaf_engine::planted::Planted;
use proptest::prelude::*;

/// Compares the ledger with the naive one in everything that can be asked.
fn assert_same(model: &NaiveLedger, ledger: &Ledger) {
    let state = ledger.state().unwrap();
    let unspent = model.unspent();
    assert_eq!(state.confirmed.utxos, unspent);
    assert_eq!(state.confirmed.blocks, model.blocks());
    let value = state.confirmed.unspent_value() + u128::from(state.confirmed.tip.fees_burnt);
    assert_eq!(value, u128::from(ledger.issued()));
    let pool: Vec<_> = state.pool.entries.iter().map(|e| (Arc::clone(&e.tx), e.since_height)).collect();
    assert_eq!(pool, model.pool());
    let reserved: BTreeMap<_, _> = pool.iter().flat_map(|(tx, _)| tx.inputs.iter().map(|key| (*key, tx.id))).collect();
    assert_eq!(state.pool.global_spent_keys, reserved);
    assert_eq!(*ledger.current_block().block, *model.tip());
    assert!(ledger.block_metas().iter().map(|meta| meta.id).eq(model.blocks().iter().map(|block| block.id)));
    for owner in OWNERS {
        assert_eq!(ledger.get_balance_available_with_pool(owner), Ok(model.balance(owner)));
        let own = || pool.iter().map(|(tx, _)| tx).filter(|tx| tx.sender == owner);
        let keys: BTreeSet<_> = own().flat_map(|tx| tx.inputs.iter().copied()).collect();
        let change = own().flat_map(|tx| tx.outputs.iter().filter(|o| o.owner == owner).map(|o| tx.outpoint(o.index)));
        let reservations = state.pool.pools.get(&owner).cloned().unwrap_or_default();
        assert!(reservations.spent_keys.keys().eq(&keys));
        assert_eq!(reservations.available.keys().copied().collect::<BTreeSet<_>>(), change.collect());
    }
    for key in unspent.keys() {
        assert_eq!(ledger.get_utxo_with_pool(*key).unwrap().is_some(), !model.is_reserved(key));
        assert_eq!(ledger.is_not_spent_key_with_pool(*key), Ok(true));
    }
}

const OWNERS: [Address; 3] = [ledger_fixture::A, ledger_fixture::B, ledger_fixture::C];

/// Numbers that are turned into a transaction over whatever records exist when its turn comes.
#[derive(Clone, Debug)]
struct TxPlan {
    sender: usize,
    inputs: Vec<usize>,
    outputs: Vec<(usize, Amount)>,
    same_index: bool,
}

#[derive(Clone, Debug)]
enum Step {
    AddTx(TxPlan),
    /// A block of some of the waiting transactions (a mask) and some new ones.
    AddBlock(u32, Vec<TxPlan>),
    RollBack,
    Switch(usize, Vec<Vec<TxPlan>>),
    Evict(usize),
}

fn tx_plan() -> impl Strategy<Value = TxPlan> {
    let outputs = prop::collection::vec((0..3usize, 0..4u64), 0..3);
    (0..3usize, prop::collection::vec(any::<usize>(), 0..3), outputs, prop::bool::weighted(0.03))
        .prop_map(|(sender, inputs, outputs, same_index)| TxPlan { sender, inputs, outputs, same_index })
}

fn step() -> impl Strategy<Value = Step> {
    let plans = || prop::collection::vec(tx_plan(), 0..3);
    prop_oneof![
        8 => tx_plan().prop_map(Step::AddTx),
        5 => (any::<u32>(), plans()).prop_map(|(mask, plans)| Step::AddBlock(mask, plans)),
        3 => Just(Step::RollBack),
        1 => (0..4usize, prop::collection::vec(plans(), 0..4)).prop_map(|(depth, plans)| Step::Switch(depth, plans)),
        1 => any::<usize>().prop_map(Step::Evict),
    ]
}

/// Makes a transaction over the records of `known`, more often than not an existing one.
fn build(plan: &TxPlan, known: &[OutPoint], time_ms: u64) -> Tx {
    let inputs = plan.inputs.iter().filter(|_| !known.is_empty()).map(|n| known[n % known.len()]).collect();
    let index = |n: u32| if plan.same_index { 0 } else { n };
    let outputs = plan.outputs.iter().zip(0..);
    let outputs = outputs.map(|(&(owner, amount), n)| Output::coin(index(n), OWNERS[owner], amount));
    Tx::new(time_ms, OWNERS[plan.sender], inputs, outputs.collect())
}

/// Ledger and model side by side.
struct Pair {
    ledger: Ledger,
    model: NaiveLedger,
    time_ms: u64,
}

impl Pair {
    fn new(config: LedgerConfig) -> Self {
        let genesis = Genesis::of(&[(OWNERS[0], 5), (OWNERS[0], 3), (OWNERS[1], 4), (OWNERS[2], 2)]);
        let model = NaiveLedger::new(&config, &genesis);
        Self { ledger: Ledger::new(config, genesis), model, time_ms: 0 }
    }

    /// Unspent records, waiting outputs and a few consumed ones, so that most plans are valid and some are not.
    fn known(&self, txs: &[Tx]) -> Vec<OutPoint> {
        let waiting = self.model.pool().iter().map(|(tx, _)| &**tx);
        let outputs = waiting.chain(txs).flat_map(|tx| tx.outputs.iter().map(|output| tx.outpoint(output.index)));
        let spent = self.model.tip().txs.iter().flat_map(|tx| tx.inputs.iter().copied().take(1));
        self.model.unspent().into_keys().chain(outputs).chain(spent).collect()
    }

    fn plan_block(&mut self, parent: &Block, mut txs: Vec<Tx>, plans: &[TxPlan]) -> Block {
        for plan in plans {
            self.time_ms += 1;
            let tx = build(plan, &self.known(&txs), self.time_ms);
            // Blocks are mostly valid: an invalid one teaches little.
            let all = [txs.as_slice(), std::slice::from_ref(&tx)].concat();
            if self.model.would_hold(&Block::new(parent.id, parent.height + 1, all)) || self.time_ms.is_multiple_of(7) {
                txs.push(tx);
            }
        }
        Block::new(parent.id, parent.height + 1, txs)
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::AddTx(plan) => {
                self.time_ms += 1;
                let tx = build(plan, &self.known(&[]), self.time_ms);
                let admitted = self.ledger.add_tx(tx.clone());
                assert_eq!(admitted.is_ok(), self.model.add_tx(Arc::new(tx)), "{admitted:?}");
            }
            Step::AddBlock(mask, plans) => {
                let waiting = self.model.pool().iter().zip(0..).filter(|(_, n)| mask >> (n % 32) & 1 == 1);
                let waiting = waiting.map(|((tx, _), _)| Tx::clone(tx)).collect();
                let parent = self.model.tip().clone();
                let block = self.plan_block(&parent, waiting, plans);
                let added = self.ledger.add_block(block.clone());
                assert_eq!(added.is_ok(), self.model.switch(0, &[Arc::new(block)]), "{added:?}");
            }
            Step::RollBack => {
                let undone = self.ledger.roll_back();
                assert_eq!(undone.is_ok(), self.model.switch(1, &[]), "{undone:?}");
            }
            Step::Switch(depth, plans) => self.switch(*depth, plans),
            Step::Evict(n) => self.evict(*n),
        }
        assert_same(&self.model, &self.ledger);
    }

    fn switch(&mut self, depth: usize, plans: &[Vec<TxPlan>]) {
        let fork = self.model.blocks().len().saturating_sub(depth + 1);
        let mut parent = Block::clone(&self.model.blocks()[fork]);
        let mut blocks = Vec::new();
        for plans in plans {
            let block = self.plan_block(&parent, Vec::new(), plans);
            parent = block.clone();
            blocks.push(block);
        }
        let switched = self.ledger.switch_fork(depth, blocks.clone());
        let blocks: Vec<_> = blocks.into_iter().map(Arc::new).collect();
        assert_eq!(switched.is_ok(), self.model.switch(depth, &blocks), "{switched:?}");
    }

    fn evict(&mut self, n: usize) {
        if self.model.pool().is_empty() {
            return;
        }
        let id = self.model.pool()[n % self.model.pool().len()].0.id;
        assert_eq!(self.ledger.evict_tx(id).len(), self.model.evict_tx(id));
    }
}

/// Options small enough that batch writes and ageing happen within a few steps.
fn config(planted: Option<Planted>) -> impl Strategy<Value = LedgerConfig> {
    (0..4usize, 1..4usize, 0..5u64).prop_map(move |(window_blocks, commit_every_blocks, pool_age_max_blocks)| {
        LedgerConfig { window_blocks, commit_every_blocks, pool_age_max_blocks, planted, ..LedgerConfig::default() }
    })
}

fn run_history(config: LedgerConfig, steps: &[Step]) {
    let mut pair = Pair::new(config);
    for step in steps {
        pair.step(step);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// U13, U21–U32, O7–O10, O13, O14, O16: whatever the history, the ledger is what the naive model computes.
    #[test]
    fn every_history_ends_where_the_naive_ledger_ends(
        config in config(None),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        run_history(config, &steps);
    }
}

/// The same comparison rejects every planted bug that shows on one thread.
#[cfg(feature = "planted")]
#[test]
fn the_naive_ledger_tells_every_sequential_bug() {
    use proptest::test_runner::{TestError, TestRunner};
    let bugs = [
        Planted::NoCrossAddressCheck,
        Planted::DuplicateInput,
        Planted::CleanupOrder,
        Planted::RollbackForgetsPool,
        Planted::ReturnInReverse,
        Planted::CommitTakesWindow,
        Planted::AgeFromGenesis,
    ];
    for bug in bugs {
        let settings =
            ProptestConfig { cases: 2_000, max_shrink_iters: 0, failure_persistence: None, ..Default::default() };
        let histories = (config(Some(bug)), prop::collection::vec(step(), 1..40));
        let result = TestRunner::new_with_rng(
            settings,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        )
        .run(&histories, |(config, steps)| {
            run_history(config, &steps);
            Ok(())
        });
        assert!(matches!(result, Err(TestError::Fail(..))), "{bug} went unnoticed");
    }
}
