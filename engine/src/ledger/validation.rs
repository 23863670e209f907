//! The rules of a block, and the difference that a valid block makes.

use std::collections::BTreeMap;

use interleaf::sync::Arc;

use super::block::Block;
use super::block_meta::BlockMeta;
use super::difference::{BlockDiff, Consumed};
use super::error::{BlockError, TxError};
use super::record::{Record, Status};
use super::store::{Store, StoreError};
use super::tx::{Amount, OutPoint, Tx};
use super::volatile_cache::VolatileCache;
use crate::planted::Planted;

impl Tx {
    /// Rejects a record that is named twice (item U21, CVE-2018-17144).
    pub(super) fn check_inputs_differ(&self) -> Result<(), TxError> {
        for (second, key) in self.inputs.iter().enumerate() {
            if let Some(first) = self.inputs[..second].iter().position(|earlier| earlier == key) {
                return Err(TxError::DuplicateInput { key: *key, first, second });
            }
        }
        Ok(())
    }

    /// Rejects an output index that is created twice (item U24).
    pub(super) fn check_outputs_differ(&self) -> Result<(), TxError> {
        for (place, output) in self.outputs.iter().enumerate() {
            if self.outputs[..place].iter().any(|earlier| earlier.index == output.index) {
                return Err(TxError::DuplicateOutput { index: output.index });
            }
        }
        Ok(())
    }

    /// Rejects an output that may not be of its kind (items U20, U37, U38).
    pub(super) fn check_output_kinds(&self) -> Result<(), TxError> {
        self.outputs.iter().try_for_each(|output| {
            let checked = output.kind.check_output(self.sender, output.owner, output.amount);
            checked.map_err(|reason| TxError::OutputKind { index: output.index, reason })
        })
    }

    /// Rejects an input that may not be consumed because of its kind (items U20, U37, U38).
    pub(super) fn check_input_kind(&self, input: usize, key: &OutPoint, record: &Record) -> Result<(), TxError> {
        let checked = record.kind.check_input(self.sender, record.owner);
        checked.map_err(|reason| TxError::InputKind { input, key: *key, reason })
    }

    /// What the outputs leave of inputs worth `inputs`.
    pub(super) fn fee(&self, inputs: Amount) -> Result<Amount, TxError> {
        let sum = self.outputs.iter().try_fold(0, |sum: Amount, output| sum.checked_add(output.amount));
        let outputs = sum.ok_or(TxError::AmountOverflow)?;
        inputs.checked_sub(outputs).ok_or(TxError::OutputsExceedInputs { inputs, outputs })
    }
}

/// Checks `block` against the tip of `volatile` and computes its difference.
///
/// Transactions count in their order: one may consume what an earlier one of the block creates, of whatever owner.
pub(super) fn validate(
    block: Arc<Block>,
    volatile: &VolatileCache,
    store: &impl Store,
    planted: Option<Planted>,
) -> Result<BlockDiff, BlockError> {
    let tip = &volatile.tip().meta;
    check_place(&block, tip)?;
    let below = statuses_below(&block, volatile, store)?;
    let mut state = BlockState { planted, below, created: BTreeMap::new(), spent: BTreeMap::new() };
    let mut fees: Amount = 0;
    for (index, tx) in block.txs.iter().enumerate() {
        let total = state.apply(tx, block.height).and_then(|fee| fees.checked_add(fee).ok_or(TxError::AmountOverflow));
        fees = total.map_err(|reason| BlockError::InvalidTx {
            block: block.id,
            height: block.height,
            index,
            tx: tx.id,
            reason: Box::new(reason),
        })?;
    }
    let meta = BlockMeta {
        id: block.id,
        parent: block.parent,
        height: block.height,
        tx_count: block.txs.len(),
        fees,
        // Fees are part of the supply, which fits into `Amount`.
        fees_burnt: tip.fees_burnt.saturating_add(fees),
    };
    let BlockState { created, spent, .. } = state;
    Ok(BlockDiff::new(block, meta, created, spent))
}

fn check_place(block: &Block, tip: &BlockMeta) -> Result<(), BlockError> {
    let expected = tip.height + 1;
    if block.height != expected {
        return Err(BlockError::WrongHeight { block: block.id, expected, actual: block.height });
    }
    if block.parent != tip.id {
        let (expected, actual) = (tip.id, block.parent);
        return Err(BlockError::WrongParent { block: block.id, height: block.height, expected, actual });
    }
    Ok(())
}

/// What the ledger below the block knows of the block's inputs: memory first, the rest in one call to the store.
fn statuses_below(
    block: &Block,
    volatile: &VolatileCache,
    store: &impl Store,
) -> Result<BTreeMap<OutPoint, Status>, StoreError> {
    let mut known = BTreeMap::new();
    let mut missing = Vec::new();
    for key in block.txs.iter().flat_map(|tx| &tx.inputs) {
        match volatile.status(key) {
            Some(status) => {
                known.insert(*key, status);
            }
            None => missing.push(*key),
        }
    }
    if !missing.is_empty() {
        known.extend(missing.iter().copied().zip(store.statuses(&missing)?));
    }
    Ok(known)
}

/// The state in the middle of a block.
struct BlockState {
    planted: Option<Planted>,
    below: BTreeMap<OutPoint, Status>,
    created: BTreeMap<OutPoint, Record>,
    spent: BTreeMap<OutPoint, Consumed>,
}

impl BlockState {
    /// Applies one transaction and returns its fee.
    fn apply(&mut self, tx: &Tx, height: u64) -> Result<Amount, TxError> {
        if tx.inputs.is_empty() {
            return Err(TxError::NoInputs);
        }
        if !Planted::DuplicateInput.is_active(self.planted) {
            tx.check_inputs_differ()?;
        }
        tx.check_outputs_differ()?;
        tx.check_output_kinds()?;
        let mut consumed = Vec::with_capacity(tx.inputs.len());
        let mut inputs: Amount = 0;
        for (input, key) in tx.inputs.iter().enumerate() {
            let record = self.unspent(tx, input, key, height)?;
            tx.check_input_kind(input, key, &record)?;
            inputs = inputs.checked_add(record.amount).ok_or(TxError::AmountOverflow)?;
            consumed.push((*key, Consumed { record, by: tx.id }));
        }
        let fee = tx.fee(inputs)?;
        self.spent.extend(consumed);
        self.created.extend(tx.outputs.iter().map(|output| (tx.outpoint(output.index), Record::from(output))));
        Ok(fee)
    }

    fn unspent(&self, tx: &Tx, input: usize, key: &OutPoint, height: u64) -> Result<Record, TxError> {
        if let Some(earlier) = self.spent.get(key) {
            return Err(TxError::SpentInput { input, key: *key, by: earlier.by, height });
        }
        if let Some(record) = self.created.get(key) {
            return Ok(*record);
        }
        match self.below.get(key) {
            Some(Status::Unspent(record)) => Ok(*record),
            Some(Status::Spent(spent)) => {
                Err(TxError::SpentInput { input, key: *key, by: spent.by, height: spent.height })
            }
            Some(Status::Unknown) | None => Err(TxError::UnknownInput { input, key: *key, sender: tx.sender }),
        }
    }
}
