//! The engine's block executions as the invariants see them.

use std::collections::BTreeMap;

use interleaf::Violation;
use interleaf_engine::ledger::block::Block;
use interleaf_engine::ledger::tx::{OutPoint, TxId};
use interleaf_engine::schedule::{BlockOutcome, Receipt, Record};
use interleaf_invariants::sequential_equivalence::{self, BlockResult};

pub use interleaf_invariants::sequential_equivalence::NAME;

/// Checks that `policy` gave what sequential execution gives: order, receipts with errors, fees, records (item N8).
///
/// Equal outcomes are the rule, so they are compared as they are; only a difference is put into the order in which a
/// reader wants to see it.
///
/// # Panics
/// With the violation, for the runtime to report.
pub fn check_equivalent(block: &Block, sequential: &BlockOutcome, policy: &str, parallel: &BlockOutcome) {
    if sequential == parallel {
        return;
    }
    let (expected, actual) = (Outcome::of(block, sequential), Outcome::of(block, parallel));
    sequential_equivalence::check(&expected, policy, &actual).unwrap_or_else(|violation| violation.raise());
    // The same records in another order.
    Violation::new(NAME, "order of records differs from sequential execution")
        .actual(sequential.first_difference(parallel).map_or_else(String::new, |difference| difference.to_string()))
        .event(format_args!("policy {policy}"))
        .raise()
}

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Created(Record),
    Consumed,
}

/// An outcome with its records by ascending key.
struct Outcome<'a> {
    order: Vec<TxId>,
    outcome: &'a BlockOutcome,
    records: BTreeMap<OutPoint, Change>,
}

impl<'a> Outcome<'a> {
    fn of(block: &Block, outcome: &'a BlockOutcome) -> Self {
        let consumed = outcome.consumed.iter().map(|key| (*key, Change::Consumed));
        let created = outcome.created.iter().map(|(key, record)| (*key, Change::Created(*record)));
        Self { order: block.txs.iter().map(|tx| tx.id).collect(), outcome, records: consumed.chain(created).collect() }
    }
}

impl BlockResult for Outcome<'_> {
    type TxId = TxId;
    type Receipt = Receipt;
    type Key = OutPoint;
    type Value = Change;

    fn order(&self) -> &[TxId] {
        &self.order
    }

    fn receipts(&self) -> &[Receipt] {
        &self.outcome.receipts
    }

    fn fees(&self) -> u64 {
        // Fees beyond the range come from receipts that differ already.
        u64::try_from(self.outcome.fees).unwrap_or(u64::MAX)
    }

    fn state(&self) -> impl Iterator<Item = (&OutPoint, &Change)> {
        self.records.iter()
    }
}
