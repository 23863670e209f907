//! The store on disk: redb (items U9, U31, U33–U38).

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use interleaf::sync::{Arc, Mutex, MutexGuard};
use redb::backends::FileBackend;
use redb::{
    Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend, TableError,
    WriteTransaction,
};

use super::block::Block;
use super::block_meta::BlockMeta;
use super::confirmed_cache::Referral;
use super::difference::BlockDiff;
use super::genesis::LedgerId;
use super::kind::NodeInfo;
use super::lock_order::POISONED;
use super::record::{Record, Spent, Status};
use super::redb_tables::{
    ABOUT, BLOCKS, FORMAT, METAS, NODES, OWNERS, REFERRALS, SPENT, TRANSACTIONS, UNSPENT, decode, encode, outpoint_key,
    outpoint_of, owned_key, owned_of,
};
use super::store::{Store, StoreDump, StoreError, fitting};
use super::tx::{Address, OutPoint, TxId};

/// A [`Store`] in a redb database, on a file or on any [`StorageBackend`].
///
/// One mutex serialises every operation (item U9). redb could read while it writes; but it holds locks of its own while
/// it calls the backend, and a simulated disk is a place where others may come to run: two simulated threads inside redb
/// would block each other for good.
#[derive(Debug)]
pub struct RedbStore {
    database: Mutex<Database>,
}

/// Makes a redb error one of ours.
fn failed<E: Display>(operation: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError::of(operation, error)
}

impl RedbStore {
    /// The store in the file at `path`, which is created if it is missing.
    ///
    /// # Errors
    /// If the file cannot be opened, is open elsewhere, or is not such a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |error: &dyn Display| StoreError::of("open", format_args!("{}: {error}", path.display()));
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let backend = FileBackend::new(file.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
        Self::on(backend).map_err(|error| StoreError { reason: failed(&error.reason).reason, ..error })
    }

    /// The store on `backend`.
    ///
    /// # Errors
    /// If it cannot be read, or holds something else.
    pub fn on(backend: impl StorageBackend) -> Result<Self, StoreError> {
        if is_unfinished(&backend).map_err(failed("open"))? {
            backend.set_len(0).map_err(failed("open"))?;
        }
        let database = Database::builder().create_with_backend(backend).map_err(failed("open"))?;
        let store = Self { database: Mutex::new(database) };
        interleaf::name(&store.database, "Store");
        match store.about::<u32>("format")? {
            Some(format) if format != FORMAT => {
                Err(StoreError::of("open", format_args!("the store has format {format}, this program reads {FORMAT}")))
            }
            _ => Ok(store),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Database> {
        self.database.lock().expect(POISONED)
    }

    fn about<T: serde::de::DeserializeOwned>(&self, what: &'static str) -> Result<Option<T>, StoreError> {
        let database = self.lock();
        let read = database.begin_read().map_err(failed("open"))?;
        let about = match read.open_table(ABOUT) {
            Ok(about) => about,
            // An empty database.
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(StoreError::of("open", error)),
        };
        let value = about.get(what).map_err(failed("open"))?;
        value.map(|value| decode("open", value.value())).transpose()
    }

    /// Runs `write` as one durable transaction.
    fn write(
        &self,
        operation: &'static str,
        write: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let database = self.lock();
        let mut transaction = database.begin_write().map_err(failed(operation))?;
        transaction.set_durability(Durability::Immediate).map_err(failed(operation))?;
        write(&transaction)?;
        transaction.commit().map_err(failed(operation))
    }
}

/// Whether redb was stopped while it made this file: it writes the magic number last, when all else is on disk. redb
/// itself would refuse such a file for good.
fn is_unfinished(file: &impl StorageBackend) -> std::io::Result<bool> {
    const MAGIC_LEN: u64 = 9;
    let len = file.len()?;
    let mut magic = vec![0; len.min(MAGIC_LEN) as usize];
    file.read(0, &mut magic)?;
    Ok(len > 0 && magic.iter().all(|&byte| byte == 0))
}

/// The newest block of the store that `transaction` sees.
fn newest(transaction: &WriteTransaction) -> Result<BlockMeta, StoreError> {
    let metas = transaction.open_table(METAS).map_err(failed("commit"))?;
    let last = metas.last().map_err(failed("commit"))?;
    let (_, meta) = last.ok_or_else(|| StoreError::of("commit", "the store has no genesis"))?;
    decode("commit", meta.value())
}

/// Writes one difference.
fn apply(transaction: &WriteTransaction, diff: &BlockDiff) -> Result<(), redb::Error> {
    let (mut unspent, mut owners) = (transaction.open_table(UNSPENT)?, transaction.open_table(OWNERS)?);
    // What the block creates and consumes itself is in its place in `spent` only.
    for (key, record) in diff.created.iter().filter(|(key, _)| !diff.spent.contains_key(*key)) {
        let value = encode(record);
        unspent.insert(&outpoint_key(key), &*value)?;
        owners.insert(&owned_key(&record.owner, key), &*value)?;
    }
    let mut spent = transaction.open_table(SPENT)?;
    for (key, consumed) in &diff.spent {
        if !diff.created.contains_key(key) {
            unspent.remove(&outpoint_key(key))?;
            owners.remove(&owned_key(&consumed.record.owner, key))?;
        }
        let by = Spent { by: consumed.by, height: diff.meta.height };
        spent.insert(&outpoint_key(key), &*encode(&by))?;
    }
    let mut nodes = transaction.open_table(NODES)?;
    for (owner, key, info) in diff.nodes_created() {
        nodes.insert(&owned_key(&owner, &key), &*encode(&info))?;
    }
    for (owner, key, _) in diff.nodes_consumed() {
        nodes.remove(&owned_key(&owner, &key))?;
    }
    let mut referrals = transaction.open_table(REFERRALS)?;
    let new = diff.referrals(|address| referrals.get(&address.0).map(|found| found.is_some()))?;
    for (address, referral) in new {
        referrals.insert(&address.0, &*encode(&referral))?;
    }
    let mut transactions = transaction.open_table(TRANSACTIONS)?;
    for tx in &diff.block.txs {
        transactions.insert(&tx.id.0, diff.meta.height)?;
    }
    transaction.open_table(BLOCKS)?.insert(diff.meta.height, &*encode(&*diff.block))?;
    transaction.open_table(METAS)?.insert(diff.meta.height, &*encode(&diff.meta))?;
    Ok(())
}

/// All entries of a table.
fn all<K: redb::Key + 'static, T>(
    read: &ReadTransaction,
    table: redb::TableDefinition<'_, K, &'static [u8]>,
    entry: impl for<'k> Fn(K::SelfType<'k>, &[u8]) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let table = read.open_table(table).map_err(failed("read"))?;
    let entries = table.iter().map_err(failed("read"))?;
    let entries = entries.map(|found| {
        let (key, value) = found.map_err(failed("read"))?;
        entry(key.value(), value.value())
    });
    entries.collect()
}

impl Store for RedbStore {
    fn statuses(&self, keys: &[OutPoint]) -> Result<Vec<Status>, StoreError> {
        const OPERATION: &str = "look up records";
        let database = self.lock();
        let read = database.begin_read().map_err(failed(OPERATION))?;
        let unspent = read.open_table(UNSPENT).map_err(failed(OPERATION))?;
        let spent = read.open_table(SPENT).map_err(failed(OPERATION))?;
        let status = |key: &OutPoint| {
            let key = outpoint_key(key);
            if let Some(record) = unspent.get(&key).map_err(failed(OPERATION))? {
                return Ok(Status::Unspent(decode(OPERATION, record.value())?));
            }
            match spent.get(&key).map_err(failed(OPERATION))? {
                Some(spent) => Ok(Status::Spent(decode(OPERATION, spent.value())?)),
                None => Ok(Status::Unknown),
            }
        };
        keys.iter().map(status).collect()
    }

    fn owned_by(&self, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
        const OPERATION: &str = "look up an owner";
        let database = self.lock();
        let read = database.begin_read().map_err(failed(OPERATION))?;
        let owners = read.open_table(OWNERS).map_err(failed(OPERATION))?;
        let last = OutPoint { tx: TxId([u8::MAX; 32]), index: u32::MAX };
        let (from, to) = (owned_key(&owner, &OutPoint::default()), owned_key(&owner, &last));
        let owned = owners.range::<&[u8; 56]>(&from..=&to).map_err(failed(OPERATION))?;
        let owned = owned.map(|found| {
            let (key, record) = found.map_err(failed(OPERATION))?;
            Ok((owned_of(key.value()).1, decode(OPERATION, record.value())?))
        });
        owned.collect()
    }

    fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError> {
        const OPERATION: &str = "look up a transaction";
        let database = self.lock();
        let read = database.begin_read().map_err(failed(OPERATION))?;
        let transactions = read.open_table(TRANSACTIONS).map_err(failed(OPERATION))?;
        Ok(transactions.get(&id.0).map_err(failed(OPERATION))?.map(|height| height.value()))
    }

    fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError> {
        const OPERATION: &str = "look up recent transactions";
        let database = self.lock();
        let read = database.begin_read().map_err(failed(OPERATION))?;
        let transactions = read.open_table(TRANSACTIONS).map_err(failed(OPERATION))?;
        let newest_first = transactions.iter().map_err(failed(OPERATION))?.rev().take(limit);
        newest_first.map(|found| Ok(TxId(*found.map_err(failed(OPERATION))?.0.value()))).collect()
    }

    fn referrals(&self) -> Result<Vec<(Address, Referral)>, StoreError> {
        let database = self.lock();
        let read = database.begin_read().map_err(failed("read"))?;
        all(&read, REFERRALS, |address: &[u8; 20], referral| Ok((Address(*address), decode("read", referral)?)))
    }

    fn nodes(&self) -> Result<Vec<(Address, OutPoint, NodeInfo)>, StoreError> {
        let database = self.lock();
        let read = database.begin_read().map_err(failed("read"))?;
        all(&read, NODES, |key: &[u8; 56], info| {
            let (owner, outpoint) = owned_of(key);
            Ok((owner, outpoint, decode("read", info)?))
        })
    }

    fn ledger(&self) -> Result<Option<LedgerId>, StoreError> {
        self.about("ledger")
    }

    fn found(&self, ledger: LedgerId, genesis: &BlockDiff) -> Result<(), StoreError> {
        if let Some(other) = self.ledger()? {
            return Err(StoreError::of("found", format_args!("the store belongs to {other:?}")));
        }
        self.write("found", |transaction| {
            let about = |what: &str, value: Vec<u8>| {
                let mut about = transaction.open_table(ABOUT).map_err(failed("found"))?;
                about.insert(what, &*value).map(drop).map_err(failed("found"))
            };
            about("format", encode(&FORMAT))?;
            about("ledger", encode(&ledger))?;
            apply(transaction, genesis).map_err(failed("found"))
        })
    }

    fn metas(&self) -> Result<Vec<BlockMeta>, StoreError> {
        let database = self.lock();
        let read = database.begin_read().map_err(failed("read"))?;
        all(&read, METAS, |_: u64, meta| decode("read", meta))
    }

    fn block(&self, height: u64) -> Result<Option<Arc<Block>>, StoreError> {
        const OPERATION: &str = "look up a block";
        let database = self.lock();
        let read = database.begin_read().map_err(failed(OPERATION))?;
        let blocks = read.open_table(BLOCKS).map_err(failed(OPERATION))?;
        let block = blocks.get(height).map_err(failed(OPERATION))?;
        block.map(|block| decode(OPERATION, block.value()).map(Arc::new)).transpose()
    }

    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError> {
        self.write("commit", |transaction| {
            let batch = fitting(&newest(transaction)?, batch)?;
            batch.iter().try_for_each(|diff| apply(transaction, diff)).map_err(failed("commit"))
        })
    }

    fn dump(&self) -> Result<StoreDump, StoreError> {
        let database = self.lock();
        let read = database.begin_read().map_err(failed("read"))?;
        let outpoint = |key: &[u8; 36]| outpoint_of(key);
        let blocks: BTreeMap<u64, Arc<Block>> =
            all(&read, BLOCKS, |height: u64, block| Ok((height, decode("read", block)?)))?.into_iter().collect();
        let table = read.open_table(TRANSACTIONS).map_err(failed("read"))?;
        let transactions = table.iter().map_err(failed("read"))?.map(|found| {
            let (id, height) = found.map_err(failed("read"))?;
            Ok((TxId(*id.value()), height.value()))
        });
        Ok(StoreDump {
            unspent: all(&read, UNSPENT, |key: &[u8; 36], record| Ok((outpoint(key), decode("read", record)?)))?,
            spent: all(&read, SPENT, |key: &[u8; 36], spent| Ok((outpoint(key), decode("read", spent)?)))?,
            blocks: blocks.into_values().collect(),
            owners: all(&read, OWNERS, |key: &[u8; 56], _| Ok(owned_of(key)))?,
            transactions: transactions.collect::<Result<_, _>>()?,
        })
    }
}
