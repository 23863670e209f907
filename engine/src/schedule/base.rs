//! The records that exist before a block is executed.

use crate::digest_map::DigestMap;
pub use crate::ledger::record::Record;
use crate::ledger::tx::OutPoint;

/// The state below a block: what its transactions may consume beyond what they create themselves.
///
/// It must not change while a block is executed on it, and must answer the same for the same outpoint: workers ask in
/// whatever order they run.
pub trait Base {
    /// The unspent record at `outpoint`, or `None` if there is none.
    fn record(&self, outpoint: &OutPoint) -> Option<Record>;
}

impl<B: Base + ?Sized> Base for &B {
    fn record(&self, outpoint: &OutPoint) -> Option<Record> {
        (**self).record(outpoint)
    }
}

/// A base held in memory.
pub type RecordMap = DigestMap<OutPoint, Record>;

impl Base for RecordMap {
    fn record(&self, outpoint: &OutPoint) -> Option<Record> {
        self.get(outpoint).copied()
    }
}

impl Base for std::collections::BTreeMap<OutPoint, Record> {
    fn record(&self, outpoint: &OutPoint) -> Option<Record> {
        self.get(outpoint).copied()
    }
}
