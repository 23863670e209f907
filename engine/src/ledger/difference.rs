//! What one block changes: the unit of the volatile cache and of the batch write.

use std::collections::BTreeMap;

use interleaf::sync::Arc;

use super::block::Block;
use super::block_meta::BlockMeta;
use super::record::{Record, Spent, Status};
use super::tx::{OutPoint, TxId};

/// A record and the transaction that consumed it. Roll-back needs the record: it exists again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumed {
    /// What was consumed.
    pub record: Record,
    /// By whom.
    pub by: TxId,
}

/// The difference that one block makes to the confirmed ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDiff {
    /// The block.
    pub block: Arc<Block>,
    /// Its meta data.
    pub meta: BlockMeta,
    /// All records that the block creates, also those that it consumes itself.
    pub created: BTreeMap<OutPoint, Record>,
    /// All records that the block consumes.
    pub spent: BTreeMap<OutPoint, Consumed>,
}

impl BlockDiff {
    /// What this block makes of `key`; `None` if it does not touch it.
    #[must_use]
    pub fn status(&self, key: &OutPoint) -> Option<Status> {
        // First the consumptions: a record may be created and consumed inside one block.
        if let Some(consumed) = self.spent.get(key) {
            return Some(Status::Spent(Spent { by: consumed.by, height: self.meta.height }));
        }
        self.created.get(key).map(|record| Status::Unspent(*record))
    }

    /// The status of `key` in the state below this block, for a `key` that this block consumes.
    pub(super) fn status_below(&self, key: &OutPoint) -> Status {
        match self.spent.get(key) {
            Some(consumed) if !self.created.contains_key(key) => Status::Unspent(consumed.record),
            _ => Status::Unknown,
        }
    }
}
