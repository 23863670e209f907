//! Sequential execution: transactions in block order on one thread; the reference for all schedulers (items N8, N19).

use super::base::{Base, Record, RecordMap};
use super::receipt::{BlockOutcome, Receipt, TxError};
use super::rules::Rules;
use crate::digest_map::DigestMap;
use crate::ledger::block::Block;
use crate::ledger::tx::{OutPoint, Tx, TxId};

/// Executes `block` on `base`, one transaction after the other.
///
/// A failed transaction changes nothing. One that consumes an output of a failed transaction fails as
/// [`TxError::MissingInput`]; a second spender of a record fails as [`TxError::AlreadySpent`] unless the first spender
/// failed (item O4).
///
/// It keeps its state in maps and shares nothing with the parallel executor but [`Rules`], so that each can be tested
/// against the other.
#[must_use]
pub fn execute<B: Base + ?Sized>(block: &Block, base: &B, rules: &Rules) -> BlockOutcome {
    let mut state = State::default();
    let receipts: Vec<Receipt> = (0u32..).zip(&block.txs).map(|(at, tx)| state.execute(tx, at, base, rules)).collect();
    let created = block
        .txs
        .iter()
        .zip(&receipts)
        .filter(|(_, receipt)| receipt.is_ok())
        .flat_map(|(tx, _)| tx.outputs.iter().map(|o| tx.outpoint(o.index)))
        .filter_map(|outpoint| state.created.get(&outpoint).map(|record| (outpoint, *record)))
        .collect();
    BlockOutcome { receipts, created, consumed: state.consumed, fees: state.fees, issued: state.issued }
}

/// What the transactions so far have done.
#[derive(Default)]
struct State {
    ids: DigestMap<TxId, u32>,
    /// Created by the block and not yet consumed.
    created: RecordMap,
    /// Consumed, and by which transaction.
    spent: DigestMap<OutPoint, u32>,
    consumed: Vec<OutPoint>,
    fees: u128,
    issued: u128,
}

impl State {
    fn execute<B: Base + ?Sized>(&mut self, tx: &Tx, at: u32, base: &B, rules: &Rules) -> Receipt {
        if let Some(&first) = self.ids.get(&tx.id) {
            return Receipt::Failed(TxError::DuplicateTx { first });
        }
        self.ids.insert(tx.id, at);
        let receipt = rules.execute(tx, at, |_, outpoint| {
            if let Some(&by) = self.spent.get(outpoint) {
                return Err(TxError::AlreadySpent { outpoint: *outpoint, by });
            }
            let found = self.created.get(outpoint).copied().or_else(|| base.record(outpoint));
            found.ok_or(TxError::MissingInput { outpoint: *outpoint })
        });
        if let Receipt::Ok { fee } = receipt {
            self.apply(tx, at);
            self.fees += u128::from(fee);
        }
        receipt
    }

    fn apply(&mut self, tx: &Tx, at: u32) {
        for outpoint in &tx.inputs {
            self.spent.insert(*outpoint, at);
            if self.created.remove(outpoint).is_none() {
                self.consumed.push(*outpoint);
            }
        }
        for o in &tx.outputs {
            self.created.insert(tx.outpoint(o.index), Record::from(o));
            if tx.inputs.is_empty() {
                self.issued += u128::from(o.amount);
            }
        }
    }
}
