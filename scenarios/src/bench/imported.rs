//! Real blocks as blocks of this ledger.

use std::collections::BTreeMap;

use interleaf_engine::ledger::{Amount, Genesis, OutPoint, Record, Tx};

use crate::blocks::bitcoin::BitcoinBlock;

/// Real blocks on top of each other, and the records that have to exist before them.
///
/// This ledger issues value in its genesis block only. So the outputs of a block's first transaction, which has no inputs,
/// are records of genesis too, and the transaction is left out.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Records for genesis.
    pub base: BTreeMap<OutPoint, Record>,
    /// The name of each block, and its transactions.
    pub blocks: Vec<(String, Vec<Tx>)>,
}

impl Imported {
    /// Adds a block on top.
    pub fn push(&mut self, block: BitcoinBlock) {
        let prepared = block.prepared;
        // A record that two blocks consume is made up once; the second block is refused for it, as it has to be.
        for (key, record) in prepared.base {
            self.base.entry(key).or_insert(record);
        }
        let (issuing, txs): (Vec<Tx>, Vec<Tx>) = prepared.block.txs.into_iter().partition(|tx| tx.inputs.is_empty());
        for tx in &issuing {
            self.base.extend(tx.outputs.iter().map(|output| (tx.outpoint(output.index), Record::from(output))));
        }
        self.blocks.push((prepared.name, txs));
    }

    /// Adds the records to `genesis`.
    ///
    /// # Errors
    /// If all amounts together do not fit into [`Amount`].
    pub fn found(&self, genesis: &mut Genesis) -> Result<(), String> {
        genesis.base.extend(self.base.iter().map(|(key, record)| (*key, *record)));
        let amounts = genesis.outputs.iter().map(|output| output.1).chain(genesis.base.iter().map(|(_, r)| r.amount));
        let sum: u128 = amounts.map(u128::from).sum();
        match Amount::try_from(sum) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("the records of genesis add up to {sum}, more than an amount can hold")),
        }
    }
}
