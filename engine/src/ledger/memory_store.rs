//! A store in memory.

use std::collections::BTreeMap;
use std::convert::Infallible;

use interleaf::sync::{Arc, Mutex, MutexGuard};

use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::Referral;
use super::difference::BlockDiff;
use super::genesis::LedgerId;
use super::kind::NodeInfo;
use super::lock_order::POISONED;
use super::record::{Record, Spent, Status};
use super::store::{Store, StoreDump, StoreError, fitting};
use super::tx::{Address, OutPoint, TxId};

/// A [`Store`] in memory behind one mutex that serialises every operation (item U9). It never fails.
#[derive(Debug)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    unspent: BTreeMap<OutPoint, Record>,
    spent: BTreeMap<OutPoint, Spent>,
    /// Owner index over `unspent`.
    owners: BTreeMap<(Address, OutPoint), Record>,
    transactions: BTreeMap<TxId, u64>,
    referrals: BTreeMap<Address, Referral>,
    nodes: BTreeMap<(Address, OutPoint), NodeInfo>,
    blocks: Vec<Arc<Block>>,
    metas: Vec<BlockMeta>,
    ledger: Option<LedgerId>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        let tables = Mutex::new(Tables::default());
        interleaf::name(&tables, "Store");
        Self { tables }
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().expect(POISONED)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Tables {
    fn status(&self, key: &OutPoint) -> Status {
        match (self.unspent.get(key), self.spent.get(key)) {
            (Some(record), _) => Status::Unspent(*record),
            (None, Some(spent)) => Status::Spent(*spent),
            (None, None) => Status::Unknown,
        }
    }

    fn apply(&mut self, diff: &BlockDiff) {
        for (key, record) in &diff.created {
            self.unspent.insert(*key, *record);
            self.owners.insert((record.owner, *key), *record);
        }
        // After the creations: a record may be created and consumed inside one block.
        for (key, consumed) in &diff.spent {
            self.unspent.remove(key);
            self.owners.remove(&(consumed.record.owner, *key));
            self.spent.insert(*key, Spent { by: consumed.by, height: diff.meta.height });
        }
        let known = |address: &Address| Ok::<_, Infallible>(self.referrals.contains_key(address));
        let Ok(new) = diff.referrals(known);
        self.referrals.extend(new);
        self.nodes.extend(diff.nodes_created().map(|(owner, key, info)| ((owner, key), info)));
        for (owner, key, _) in diff.nodes_consumed() {
            self.nodes.remove(&(owner, key));
        }
        for tx in &diff.block.txs {
            self.transactions.insert(tx.id, diff.meta.height);
        }
        self.blocks.push(Arc::clone(&diff.block));
        self.metas.push(diff.meta.clone());
    }
}

impl Store for MemoryStore {
    fn statuses(&self, keys: &[OutPoint]) -> Result<Vec<Status>, StoreError> {
        let tables = self.lock();
        Ok(keys.iter().map(|key| tables.status(key)).collect())
    }

    fn owned_by(&self, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
        let tables = self.lock();
        let from_owner = tables.owners.range((owner, OutPoint::default())..);
        let owned = from_owner.take_while(|((other, _), _)| *other == owner);
        Ok(owned.map(|((_, key), record)| (*key, *record)).collect())
    }

    fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError> {
        Ok(self.lock().transactions.get(&id).copied())
    }

    fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError> {
        Ok(self.lock().transactions.keys().rev().take(limit).copied().collect())
    }

    fn referrals(&self) -> Result<Vec<(Address, Referral)>, StoreError> {
        Ok(self.lock().referrals.iter().map(|(address, referral)| (*address, *referral)).collect())
    }

    fn nodes(&self) -> Result<Vec<(Address, OutPoint, NodeInfo)>, StoreError> {
        Ok(self.lock().nodes.iter().map(|((owner, key), info)| (*owner, *key, *info)).collect())
    }

    fn ledger(&self) -> Result<Option<LedgerId>, StoreError> {
        Ok(self.lock().ledger)
    }

    fn found(&self, ledger: LedgerId, genesis: &BlockDiff) -> Result<(), StoreError> {
        let mut tables = self.lock();
        if let Some(other) = tables.ledger {
            return Err(StoreError::of("found", format_args!("the store belongs to {other:?}")));
        }
        tables.ledger = Some(ledger);
        tables.apply(genesis);
        Ok(())
    }

    fn metas(&self) -> Result<Vec<BlockMeta>, StoreError> {
        Ok(self.lock().metas.clone())
    }

    fn block(&self, height: u64) -> Result<Option<Arc<Block>>, StoreError> {
        let tables = self.lock();
        Ok(usize::try_from(height).ok().and_then(|height| tables.blocks.get(height)).map(Arc::clone))
    }

    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError> {
        let mut tables = self.lock();
        let newest = tables.metas.last().ok_or_else(|| StoreError::of("commit", "the store has no genesis"))?;
        for diff in fitting(newest, batch)? {
            tables.apply(diff);
        }
        Ok(())
    }

    fn dump(&self) -> Result<StoreDump, StoreError> {
        let tables = self.lock();
        Ok(StoreDump {
            unspent: tables.unspent.iter().map(|(k, r)| (*k, *r)).collect(),
            spent: tables.spent.iter().map(|(k, s)| (*k, *s)).collect(),
            blocks: tables.blocks.clone(),
            owners: tables.owners.keys().copied().collect(),
            transactions: tables.transactions.iter().map(|(id, height)| (*id, *height)).collect(),
        })
    }
}
