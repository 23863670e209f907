//! A small ledger with a few owners, and short ways to name what tests build.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use interleaf_engine::ledger::{Address, Amount, Block, Genesis, Ledger, LedgerConfig, OutPoint, Output, Tx};

pub(crate) const A: Address = Address::numbered(1);
pub(crate) const B: Address = Address::numbered(2);
pub(crate) const C: Address = Address::numbered(3);

/// A ledger whose genesis block has these outputs, and their outpoints.
pub(crate) fn open(config: LedgerConfig, outputs: &[(Address, Amount)]) -> (Ledger, Vec<OutPoint>) {
    let genesis = Genesis::of(outputs);
    let tx = genesis.tx();
    let keys = tx.outputs.iter().map(|output| tx.outpoint(output.index)).collect();
    (Ledger::new(config, genesis), keys)
}

/// The same with the default configuration.
pub(crate) fn ledger(outputs: &[(Address, Amount)]) -> (Ledger, Vec<OutPoint>) {
    open(LedgerConfig::default(), outputs)
}

/// A transaction whose outputs have indices from 0.
pub(crate) fn tx(time_ms: u64, sender: Address, inputs: &[OutPoint], outputs: &[(Address, Amount)]) -> Tx {
    let outputs = outputs.iter().zip(0..).map(|(&(owner, amount), index)| Output::coin(index, owner, amount));
    Tx::new(time_ms, sender, inputs.to_vec(), outputs.collect())
}

/// A block on the tip of `ledger`.
pub(crate) fn next_block(ledger: &Ledger, txs: &[Tx]) -> Block {
    let tip = ledger.current_block();
    Block::new(tip.meta.id, tip.meta.height + 1, txs.to_vec())
}

/// Adds a valid block on the tip and returns it.
pub(crate) fn add(ledger: &Ledger, txs: &[Tx]) -> Block {
    let block = next_block(ledger, txs);
    ledger.add_block(block.clone()).expect("a valid block");
    block
}

/// The waiting transactions in order.
pub(crate) fn waiting(ledger: &Ledger) -> Vec<Tx> {
    ledger.pool_batch(usize::MAX).iter().map(|tx| Tx::clone(tx)).collect()
}
