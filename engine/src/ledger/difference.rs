//! What one block changes: the unit of the volatile cache and of the batch write.

use std::collections::BTreeMap;

use interleaf::sync::Arc;

use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::Referral;
use super::kind::{Kind, NodeInfo};
use super::record::{Record, Spent, Status};
use super::tx::{Address, OutPoint, TxId};

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
    /// The records that it creates, by owner. Sorted once: it costs less than a map that changes with each block, and goes
    /// with the block.
    owners: Vec<(Address, OutPoint)>,
    /// Its transactions, the newest by the time in its id first.
    newest: Vec<TxId>,
}

impl BlockDiff {
    /// The difference of a valid block.
    pub(super) fn new(
        block: Arc<Block>,
        meta: BlockMeta,
        created: BTreeMap<OutPoint, Record>,
        spent: BTreeMap<OutPoint, Consumed>,
    ) -> Self {
        let mut owners: Vec<_> = created.iter().map(|(key, record)| (record.owner, *key)).collect();
        owners.sort_unstable();
        let mut newest: Vec<_> = block.txs.iter().map(|tx| tx.id).collect();
        newest.sort_unstable_by(|a, b| b.cmp(a));
        Self { block, meta, created, spent, owners, newest }
    }

    /// A block whose changes are in the store: nobody asks for them here any more.
    pub(super) fn settled(block: Arc<Block>, meta: BlockMeta) -> Self {
        let (created, spent) = (BTreeMap::new(), BTreeMap::new());
        Self { block, meta, created, spent, owners: Vec::new(), newest: Vec::new() }
    }

    /// The records of `owner` that this block creates, also those that it consumes itself, by ascending outpoint (item U33).
    pub(super) fn owned_by(&self, owner: Address) -> impl Iterator<Item = (OutPoint, Record)> {
        let first = self.owners.partition_point(|(of, _)| *of < owner);
        let own = self.owners[first..].iter().take_while(move |(of, _)| *of == owner);
        own.filter_map(|(_, key)| Some((*key, *self.created.get(key)?)))
    }

    /// Its transactions, newest first by the time in their ids (item U36).
    pub(super) fn transactions_newest_first(&self) -> &[TxId] {
        &self.newest
    }

    /// What this block makes of `key`; `None` if it does not touch it.
    #[must_use]
    pub fn status(&self, key: &OutPoint) -> Option<Status> {
        // First the consumptions: a record may be created and consumed inside one block.
        if let Some(consumed) = self.spent.get(key) {
            return Some(Status::Spent(Spent { by: consumed.by, height: self.meta.height }));
        }
        self.created.get(key).map(|record| Status::Unspent(*record))
    }

    /// Whom this block brings in (item U37), given who is in the tree below it. The genesis block brings in all owners.
    ///
    /// # Errors
    /// What `known` fails with.
    pub fn referrals<E>(&self, known: impl Fn(&Address) -> Result<bool, E>) -> Result<BTreeMap<Address, Referral>, E> {
        let since_height = self.meta.height;
        if since_height == 0 {
            let root = Referral { by: None, since_height };
            return Ok(self.created.values().map(|record| (record.owner, root)).collect());
        }
        let mut new = BTreeMap::new();
        for tx in &self.block.txs {
            for output in tx.outputs.iter().filter(|output| output.kind == Kind::Referral) {
                let is_known = |address, new: &BTreeMap<_, _>| Ok(new.contains_key(address) || known(address)?);
                if is_known(&tx.sender, &new)? && !is_known(&output.owner, &new)? {
                    new.insert(output.owner, Referral { by: Some(tx.sender), since_height });
                }
            }
        }
        Ok(new)
    }

    /// The node infos that this block creates, also those that it consumes itself (item U38).
    pub fn nodes_created(&self) -> impl Iterator<Item = (Address, OutPoint, NodeInfo)> {
        self.created.iter().filter_map(|(key, record)| match record.kind {
            Kind::Node(info) => Some((record.owner, *key, info)),
            _ => None,
        })
    }

    /// The node infos that this block consumes, also those that it creates itself (item U38).
    pub fn nodes_consumed(&self) -> impl Iterator<Item = (Address, OutPoint, NodeInfo)> {
        self.spent.iter().filter_map(|(key, consumed)| match consumed.record.kind {
            Kind::Node(info) => Some((consumed.record.owner, *key, info)),
            _ => None,
        })
    }

    /// The status of `key` in the state below this block, for a `key` that this block consumes.
    pub(super) fn status_below(&self, key: &OutPoint) -> Status {
        match self.spent.get(key) {
            Some(consumed) if !self.created.contains_key(key) => Status::Unspent(consumed.record),
            _ => Status::Unknown,
        }
    }
}
