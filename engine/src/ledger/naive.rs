//! What a ledger is, without caches, indices, locks or a store: a list of blocks and a list of waiting transactions, from
//! which every answer is computed anew.
//!
//! [`Ledger`](super::Ledger) must give the answers that this gives when it is asked the same one thing after the other
//! (items U13, U16–U28, U31, U32, decisions O7–O10, O13, O14, O16). It is slow and short on purpose, and shares no rule
//! with the engine's code. It knows coins only, and no budget of the pool.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use interleaf::sync::Arc;

use super::block::{Block, BlockId};
use super::config::LedgerConfig;
use super::genesis::Genesis;
use super::record::Record;
use super::tx::{Address, Amount, OutPoint, Tx, TxId};

/// Unspent records.
pub type Unspent = BTreeMap<OutPoint, Record>;

/// A waiting transaction, and the height at which it was admitted.
pub type Waiting = (Arc<Tx>, u64);

/// See the module.
#[derive(Clone, Debug)]
pub struct NaiveLedger {
    window_blocks: u64,
    commit_every_blocks: u64,
    pool_age_max_blocks: u64,
    /// All blocks, genesis first.
    blocks: Vec<Arc<Block>>,
    pool: Vec<Waiting>,
    /// Below this height nothing can be undone.
    committed_height: u64,
}

/// Executes one transaction; `None` if a rule is broken. Returns the fee.
fn execute(unspent: &mut Unspent, tx: &Tx) -> Option<Amount> {
    let distinct: BTreeSet<_> = tx.inputs.iter().collect();
    let indices: BTreeSet<_> = tx.outputs.iter().map(|output| output.index).collect();
    if tx.inputs.is_empty() || distinct.len() != tx.inputs.len() || indices.len() != tx.outputs.len() {
        return None;
    }
    let mut inputs: Amount = 0;
    for key in &tx.inputs {
        inputs = inputs.checked_add(unspent.remove(key)?.amount)?;
    }
    unspent.extend(tx.outputs.iter().map(|output| (tx.outpoint(output.index), Record::from(output))));
    let outputs = tx.outputs.iter().try_fold(0, |sum: Amount, output| sum.checked_add(output.amount))?;
    inputs.checked_sub(outputs)
}

/// What `blocks` leave unspent; `None` if they break a rule.
fn unspent_after(blocks: &[Arc<Block>]) -> Option<Unspent> {
    let (genesis, blocks) = blocks.split_first()?;
    let mut unspent = Unspent::new();
    for tx in &genesis.txs {
        unspent.extend(tx.outputs.iter().map(|output| (tx.outpoint(output.index), Record::from(output))));
    }
    blocks.iter().flat_map(|block| &block.txs).try_for_each(|tx| execute(&mut unspent, tx).map(drop))?;
    Some(unspent)
}

impl NaiveLedger {
    /// The ledger that starts from `genesis`.
    #[must_use]
    pub fn new(config: &LedgerConfig, genesis: &Genesis) -> Self {
        Self {
            window_blocks: config.window_blocks as u64,
            commit_every_blocks: config.commit_every_blocks.max(1) as u64,
            pool_age_max_blocks: config.pool_age_max_blocks,
            blocks: vec![Arc::new(Block::new(BlockId::default(), 0, vec![genesis.tx()]))],
            pool: Vec::new(),
            committed_height: 0,
        }
    }

    /// All blocks, genesis first.
    #[must_use]
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// The newest block.
    #[must_use]
    pub fn tip(&self) -> &Block {
        &self.blocks[self.blocks.len() - 1]
    }

    /// The waiting transactions in order.
    #[must_use]
    pub fn pool(&self) -> &[Waiting] {
        &self.pool
    }

    /// What the blocks leave unspent.
    #[must_use]
    pub fn unspent(&self) -> Unspent {
        unspent_after(&self.blocks).unwrap_or_default()
    }

    /// Whether the chain would be valid with `block` on the blocks below its height.
    #[must_use]
    pub fn would_hold(&self, block: &Block) -> bool {
        let below = usize::try_from(block.height).map_or(usize::MAX, |height| height.min(self.blocks.len()));
        let mut blocks = self.blocks[..below].to_vec();
        blocks.push(Arc::new(block.clone()));
        unspent_after(&blocks).is_some()
    }

    /// What `sender` may consume: what is unspent, and its own change in the pool, without what the pool consumes.
    #[must_use]
    pub fn spendable(&self, sender: Address) -> Unspent {
        self.spendable_with(&self.pool, sender)
    }

    /// Whether anybody's waiting transaction consumes `key`.
    #[must_use]
    pub fn is_reserved(&self, key: &OutPoint) -> bool {
        self.pool.iter().any(|(tx, _)| tx.inputs.contains(key))
    }

    /// What `owner` can spend now (item U19).
    #[must_use]
    pub fn balance(&self, owner: Address) -> Amount {
        let spendable = self.spendable(owner).into_values();
        spendable.filter(|record| record.owner == owner).fold(0, |sum, record| sum.saturating_add(record.amount))
    }

    /// Offers a transaction to the pool; whether it was admitted.
    pub fn add_tx(&mut self, tx: Arc<Tx>) -> bool {
        let mut pool = std::mem::take(&mut self.pool);
        let admitted = self.admit(&mut pool, tx, self.tip().height);
        self.pool = pool;
        admitted
    }

    /// Takes a transaction and all that use its change out of the pool; how many.
    pub fn evict_tx(&mut self, id: TxId) -> usize {
        let before = self.pool.len();
        self.refill(|(tx, _)| tx.id != id);
        before - self.pool.len()
    }

    /// Takes `depth` blocks off and puts `blocks` on; `false`, and nothing has changed, if that cannot be.
    pub fn switch(&mut self, depth: usize, blocks: &[Arc<Block>]) -> bool {
        if depth as u64 > self.tip().height - self.committed_height {
            return false;
        }
        let mut chain = self.blocks[..self.blocks.len() - depth].to_vec();
        for block in blocks {
            let below = &chain[chain.len() - 1];
            let is_in_place = block.parent == below.id && block.height == below.height + 1;
            chain.push(Arc::clone(block));
            if !is_in_place || unspent_after(&chain).is_none() {
                return false;
            }
        }
        (0..depth).for_each(|_| self.pop());
        blocks.iter().for_each(|block| self.push(Arc::clone(block)));
        let in_memory = self.tip().height - self.committed_height;
        let every = self.commit_every_blocks;
        self.committed_height += in_memory.saturating_sub(self.window_blocks) / every * every;
        true
    }

    fn spendable_with(&self, pool: &[Waiting], sender: Address) -> Unspent {
        let mut unspent = self.unspent();
        for (tx, _) in pool.iter().filter(|(tx, _)| tx.sender == sender) {
            let change = tx.outputs.iter().filter(|output| output.owner == sender);
            unspent.extend(change.map(|output| (tx.outpoint(output.index), Record::from(output))));
        }
        for key in pool.iter().flat_map(|(tx, _)| &tx.inputs) {
            unspent.remove(key);
        }
        unspent
    }

    fn admit(&self, pool: &mut Vec<Waiting>, tx: Arc<Tx>, since: u64) -> bool {
        let valid = execute(&mut self.spendable_with(pool, tx.sender), &tx).is_some();
        if valid {
            pool.push((tx, since));
        }
        valid
    }

    /// Keeps what `stays`, as far as the pool may hold it without the others.
    fn refill(&mut self, stays: impl Fn(&Waiting) -> bool) {
        let mut pool = Vec::new();
        for (tx, since) in std::mem::take(&mut self.pool).into_iter().filter(stays) {
            self.admit(&mut pool, tx, since);
        }
        self.pool = pool;
    }

    fn push(&mut self, block: Arc<Block>) {
        let confirmed: BTreeSet<_> = block.txs.iter().map(|tx| tx.id).collect();
        let min_height = block.height.saturating_sub(self.pool_age_max_blocks);
        self.blocks.push(block);
        // In two steps: a transaction that is too old makes no room for a later one.
        self.refill(|(tx, _)| !confirmed.contains(&tx.id));
        self.refill(|(_, since)| *since >= min_height);
    }

    fn pop(&mut self) {
        let Some(block) = self.blocks.pop() else { return };
        let height = self.tip().height;
        let returned = block.txs.iter().map(|tx| (Arc::new(tx.clone()), height));
        self.pool = returned.chain(std::mem::take(&mut self.pool)).collect();
        self.refill(|_| true);
    }

    /// What two ledgers that started alike differ in, if they do: ids, which say the rest.
    fn key(&self) -> impl Ord {
        let pool: Vec<_> = self.pool.iter().map(|(tx, since)| (tx.id, *since)).collect();
        (self.tip().id, self.committed_height, pool)
    }
}

impl PartialEq for NaiveLedger {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NaiveLedger {}

impl PartialOrd for NaiveLedger {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By newest block, then by what is committed and what waits: equal ledgers that started from one genesis have the same
/// future.
impl Ord for NaiveLedger {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
