//! Collecting the receipts of a parallel execution into the outcome of the block, in block order (item N10).

use super::base::Record;
use super::graph::Graph;
use super::receipt::{BlockOutcome, Receipt};
use crate::ledger::block::Block;

/// The outcome that follows from `receipts`. It checks nothing: wrong receipts give a wrong outcome, for a comparison
/// to find.
pub(super) fn collect(block: &Block, graph: &Graph, receipts: Vec<Receipt>) -> BlockOutcome {
    let mut first_output = Vec::with_capacity(block.txs.len());
    let mut outputs = 0;
    for tx in &block.txs {
        first_output.push(outputs);
        outputs += tx.outputs.len();
    }
    let mut spent_inside = vec![false; outputs];
    let mut consumed = Vec::new();
    let mut fees = 0;
    for ((at, tx), receipt) in (0u32..).zip(&block.txs).zip(&receipts) {
        let Receipt::Ok { fee } = receipt else { continue };
        fees += u128::from(*fee);
        for (outpoint, source) in tx.inputs.iter().zip(graph.sources(at)) {
            match source.creator {
                Some((creator, output)) if receipts[creator as usize].is_ok() => {
                    spent_inside[first_output[creator as usize] + output as usize] = true;
                }
                _ => consumed.push(*outpoint),
            }
        }
    }
    let mut created = Vec::with_capacity(outputs);
    let mut issued = 0;
    for ((tx, receipt), first) in block.txs.iter().zip(&receipts).zip(&first_output) {
        if !receipt.is_ok() {
            continue;
        }
        for (o, spent) in tx.outputs.iter().zip(&spent_inside[*first..]) {
            if !spent {
                created.push((tx.outpoint(o.index), Record::from(o)));
            }
            if tx.inputs.is_empty() {
                issued += u128::from(o.amount);
            }
        }
    }
    BlockOutcome { receipts, created, consumed, fees, issued }
}
