//! Random histories against a ledger that is nothing but a list of blocks and a list of waiting transactions, and
//! computes everything anew at every question.

mod ledger_fixture;

use std::collections::{BTreeMap, BTreeSet};

use interleaf_engine::ledger::{Address, Amount, Block, Genesis, Ledger, LedgerConfig, OutPoint, Output, Record, Tx};
use interleaf_engine::planted::Planted;
use proptest::prelude::*;

/// The naive ledger.
struct Model {
    config: LedgerConfig,
    blocks: Vec<Block>,
    /// Waiting transactions with the height at which they were admitted.
    pool: Vec<(Tx, u64)>,
    /// Below this height nothing can be undone.
    committed_height: u64,
}

type Utxos = BTreeMap<OutPoint, Record>;

/// Executes one transaction of a block; `None` if a rule is broken. Returns the fee.
fn execute(utxos: &mut Utxos, tx: &Tx) -> Option<Amount> {
    let distinct: BTreeSet<_> = tx.inputs.iter().collect();
    let indices: BTreeSet<_> = tx.outputs.iter().map(|output| output.index).collect();
    if tx.inputs.is_empty() || distinct.len() != tx.inputs.len() || indices.len() != tx.outputs.len() {
        return None;
    }
    let mut inputs = 0;
    for key in &tx.inputs {
        inputs += utxos.remove(key)?.amount;
    }
    for output in &tx.outputs {
        utxos.insert(tx.outpoint(output.index), Record::from(output));
    }
    inputs.checked_sub(tx.outputs.iter().map(|output| output.amount).sum())
}

impl Model {
    fn tip(&self) -> &Block {
        self.blocks.last().unwrap()
    }

    fn utxos_of(blocks: &[Block]) -> Option<Utxos> {
        let mut utxos = Utxos::new();
        for output in &blocks[0].txs[0].outputs {
            let record = Record::from(output);
            utxos.insert(blocks[0].txs[0].outpoint(output.index), record);
        }
        for tx in blocks[1..].iter().flat_map(|block| &block.txs) {
            execute(&mut utxos, tx)?;
        }
        Some(utxos)
    }

    /// What the sender of a transaction may consume, given the transactions that wait before it.
    fn spendable(&self, pool: &[(Tx, u64)], sender: Address) -> Utxos {
        let mut utxos = Self::utxos_of(&self.blocks).unwrap();
        for (tx, _) in pool {
            for output in tx.outputs.iter().filter(|output| output.owner == tx.sender && tx.sender == sender) {
                let record = Record::from(output);
                utxos.insert(tx.outpoint(output.index), record);
            }
        }
        for (tx, _) in pool {
            tx.inputs.iter().for_each(|key| utxos.retain(|k, _| k != key));
        }
        utxos
    }

    fn admit(&self, pool: &mut Vec<(Tx, u64)>, tx: Tx, since: u64) -> bool {
        let valid = execute(&mut self.spendable(pool, tx.sender), &tx).is_some();
        if valid {
            pool.push((tx, since));
        }
        valid
    }

    /// Keeps of `candidates`, in their order, what the pool may hold.
    fn refill(&mut self, candidates: Vec<(Tx, u64)>) {
        let mut pool = Vec::new();
        for (tx, since) in candidates {
            self.admit(&mut pool, tx, since);
        }
        self.pool = pool;
    }

    fn add_tx(&mut self, tx: Tx) -> bool {
        let mut pool = std::mem::take(&mut self.pool);
        let admitted = self.admit(&mut pool, tx, self.tip().height);
        self.pool = pool;
        admitted
    }

    fn push(&mut self, block: Block) {
        let confirmed: BTreeSet<_> = block.txs.iter().map(|tx| tx.id).collect();
        let min_height = block.height.saturating_sub(self.config.pool_age_max_blocks);
        self.blocks.push(block);
        let waiting = std::mem::take(&mut self.pool).into_iter();
        // First without the aged ones' removal: an aged transaction does not make room for a later one.
        self.refill(waiting.filter(|(tx, _)| !confirmed.contains(&tx.id)).collect());
        let waiting = std::mem::take(&mut self.pool).into_iter();
        self.refill(waiting.filter(|(_, since)| *since >= min_height).collect());
    }

    fn commit(&mut self) {
        let in_memory = self.tip().height - self.committed_height;
        let every = self.config.commit_every_blocks as u64;
        self.committed_height += in_memory.saturating_sub(self.config.window_blocks as u64) / every * every;
    }

    fn pop(&mut self) {
        let block = self.blocks.pop().unwrap();
        let height = self.tip().height;
        let returned = block.txs.into_iter().map(|tx| (tx, height));
        let waiting = std::mem::take(&mut self.pool);
        self.refill(returned.chain(waiting).collect());
    }

    fn switch(&mut self, depth: usize, blocks: Vec<Block>) -> bool {
        if depth as u64 > self.tip().height - self.committed_height {
            return false;
        }
        let mut chain = self.blocks[..self.blocks.len() - depth].to_vec();
        for block in &blocks {
            let tip = chain.last().unwrap();
            let in_place = block.parent == tip.id && block.height == tip.height + 1;
            chain.push(block.clone());
            if !in_place || Self::utxos_of(&chain).is_none() {
                return false;
            }
        }
        (0..depth).for_each(|_| self.pop());
        blocks.into_iter().for_each(|block| self.push(block));
        self.commit();
        true
    }

    fn assert_same(&self, ledger: &Ledger) {
        let state = ledger.state().unwrap();
        let utxos = Self::utxos_of(&self.blocks).unwrap();
        assert_eq!(state.confirmed.utxos, utxos);
        assert!(state.confirmed.blocks.iter().map(|block| &**block).eq(&self.blocks));
        let value = state.confirmed.unspent_value() + u128::from(state.confirmed.tip.fees_burnt);
        assert_eq!(value, u128::from(ledger.issued()));
        let pool: Vec<_> = state.pool.entries.iter().map(|e| (Tx::clone(&e.tx), e.since_height)).collect();
        assert_eq!(pool, self.pool);
        let reserved: BTreeMap<_, _> =
            self.pool.iter().flat_map(|(tx, _)| tx.inputs.iter().map(|key| (*key, tx.id))).collect();
        assert_eq!(state.pool.global_spent_keys, reserved);
        let current = ledger.current_block();
        assert_eq!(*current.block, *self.tip());
        assert!(ledger.block_metas().iter().map(|meta| meta.id).eq(self.blocks.iter().map(|block| block.id)));
        self.assert_same_owners(ledger, &utxos, &state.pool.pools.into_iter().collect());
    }

    fn assert_same_owners(
        &self,
        ledger: &Ledger,
        utxos: &Utxos,
        pools: &BTreeMap<Address, interleaf_engine::ledger::utxo_pool::UtxoPool>,
    ) {
        for owner in OWNERS {
            let spendable = self.spendable(&self.pool, owner);
            let balance: Amount = spendable.values().filter(|r| r.owner == owner).map(|r| r.amount).sum();
            assert_eq!(ledger.get_balance_available_with_pool(owner), Ok(balance));
            let own = || self.pool.iter().map(|(tx, _)| tx).filter(|tx| tx.sender == owner);
            let keys: BTreeSet<_> = own().flat_map(|tx| tx.inputs.iter().copied()).collect();
            let change =
                own().flat_map(|tx| tx.outputs.iter().filter(|o| o.owner == owner).map(|o| tx.outpoint(o.index)));
            let pool = pools.get(&owner).cloned().unwrap_or_default();
            assert!(pool.spent_keys.keys().eq(&keys));
            assert_eq!(pool.available.keys().copied().collect::<BTreeSet<_>>(), change.collect());
        }
        for key in utxos.keys() {
            let free = !self.pool.iter().any(|(tx, _)| tx.inputs.contains(key));
            assert_eq!(ledger.get_utxo_with_pool(*key).unwrap().is_some(), free);
            assert_eq!(ledger.is_not_spent_key_with_pool(*key), Ok(true));
        }
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
    model: Model,
    time_ms: u64,
}

impl Pair {
    fn new(config: LedgerConfig) -> Self {
        let genesis = Genesis::of(&[(OWNERS[0], 5), (OWNERS[0], 3), (OWNERS[1], 4), (OWNERS[2], 2)]);
        let block = Block::new(Default::default(), 0, vec![genesis.tx()]);
        let model = Model { config, blocks: vec![block], pool: Vec::new(), committed_height: 0 };
        Self { ledger: Ledger::new(config, genesis), model, time_ms: 0 }
    }

    /// Unspent records, waiting outputs and a few consumed ones, so that most plans are valid and some are not.
    fn known(&self, txs: &[Tx]) -> Vec<OutPoint> {
        let utxos = Model::utxos_of(&self.model.blocks).unwrap();
        let waiting = self.model.pool.iter().map(|(tx, _)| tx);
        let outputs = waiting.chain(txs).flat_map(|tx| tx.outputs.iter().map(|output| tx.outpoint(output.index)));
        let spent = self.model.tip().txs.iter().flat_map(|tx| tx.inputs.iter().copied().take(1));
        utxos.into_keys().chain(outputs).chain(spent).collect()
    }

    fn plan_block(&mut self, parent: &Block, mut txs: Vec<Tx>, plans: &[TxPlan]) -> Block {
        for plan in plans {
            self.time_ms += 1;
            let tx = build(plan, &self.known(&txs), self.time_ms);
            // Blocks are mostly valid: an invalid one teaches little.
            let mut blocks = self.model.blocks.clone();
            blocks.push(Block::new(parent.id, parent.height + 1, [txs.as_slice(), std::slice::from_ref(&tx)].concat()));
            if Model::utxos_of(&blocks).is_some() || self.time_ms.is_multiple_of(7) {
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
                assert_eq!(admitted.is_ok(), self.model.add_tx(tx), "{admitted:?}");
            }
            Step::AddBlock(mask, plans) => {
                let waiting = self.model.pool.iter().zip(0..).filter(|(_, n)| mask >> (n % 32) & 1 == 1);
                let waiting = waiting.map(|((tx, _), _)| tx.clone()).collect();
                let parent = self.model.tip().clone();
                let block = self.plan_block(&parent, waiting, plans);
                let added = self.ledger.add_block(block.clone());
                assert_eq!(added.is_ok(), self.model.switch(0, vec![block]), "{added:?}");
            }
            Step::RollBack => {
                let undone = self.ledger.roll_back();
                assert_eq!(undone.is_ok(), self.model.switch(1, Vec::new()), "{undone:?}");
            }
            Step::Switch(depth, plans) => self.switch(*depth, plans),
            Step::Evict(n) => self.evict(*n),
        }
        self.model.assert_same(&self.ledger);
    }

    fn switch(&mut self, depth: usize, plans: &[Vec<TxPlan>]) {
        let fork = self.model.blocks.len().saturating_sub(depth + 1);
        let mut parent = self.model.blocks[fork].clone();
        let mut blocks = Vec::new();
        for plans in plans {
            let block = self.plan_block(&parent, Vec::new(), plans);
            parent = block.clone();
            blocks.push(block);
        }
        let switched = self.ledger.switch_fork(depth, blocks.clone());
        assert_eq!(switched.is_ok(), self.model.switch(depth, blocks), "{switched:?}");
    }

    fn evict(&mut self, n: usize) {
        if self.model.pool.is_empty() {
            return;
        }
        let id = self.model.pool[n % self.model.pool.len()].0.id;
        let before = self.model.pool.len();
        let waiting = std::mem::take(&mut self.model.pool).into_iter();
        self.model.refill(waiting.filter(|(tx, _)| tx.id != id).collect());
        assert_eq!(self.ledger.evict_tx(id).len(), before - self.model.pool.len());
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
    let bugs =
        [Planted::NoCrossAddressCheck, Planted::DuplicateInput, Planted::CleanupOrder, Planted::RollbackForgetsPool];
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
