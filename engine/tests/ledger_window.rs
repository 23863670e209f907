//! The volatile window: what is in memory, what is written when, how far back one can go.

mod ledger_fixture;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use interleaf_engine::ledger::difference::BlockDiff;
use interleaf_engine::ledger::store::StoreDump;
use interleaf_engine::ledger::{
    Address, Amount, BlockError, Genesis, Ledger, LedgerConfig, MemoryStore, NodeInfo, OutPoint, Record, Referral,
    Status, Store, StoreError, Tx, TxId,
};
use ledger_fixture::{A, B, tx};

/// A store in memory that counts calls, and fails to write when told to.
#[derive(Debug, Default)]
struct Watched {
    inner: MemoryStore,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicUsize,
    blocks_written: AtomicUsize,
    batches: AtomicUsize,
    disk_full: AtomicBool,
}

impl Watched {
    fn read(&self) -> &MemoryStore {
        self.counts.reads.fetch_add(1, SeqCst);
        &self.inner
    }
}

impl Store for Watched {
    fn statuses(&self, keys: &[OutPoint]) -> Result<Vec<Status>, StoreError> {
        self.read().statuses(keys)
    }

    fn owned_by(&self, owner: Address) -> Result<Vec<(OutPoint, Record)>, StoreError> {
        self.read().owned_by(owner)
    }

    fn transaction_height(&self, id: TxId) -> Result<Option<u64>, StoreError> {
        self.read().transaction_height(id)
    }

    fn recent_transactions(&self, limit: usize) -> Result<Vec<TxId>, StoreError> {
        self.read().recent_transactions(limit)
    }

    fn referrals(&self) -> Result<Vec<(Address, Referral)>, StoreError> {
        self.read().referrals()
    }

    fn nodes(&self) -> Result<Vec<(Address, OutPoint, NodeInfo)>, StoreError> {
        self.read().nodes()
    }

    fn commit(&self, batch: &[Arc<BlockDiff>]) -> Result<(), StoreError> {
        if self.counts.disk_full.load(SeqCst) {
            return Err(StoreError { operation: "commit", reason: "no space left".to_owned() });
        }
        self.counts.batches.fetch_add(1, SeqCst);
        self.counts.blocks_written.fetch_add(batch.len(), SeqCst);
        self.inner.commit(batch)
    }

    fn dump(&self) -> Result<StoreDump, StoreError> {
        self.inner.dump()
    }
}

/// A chain in which each block passes one record on.
struct Relay {
    ledger: Ledger<Watched>,
    counts: Arc<Counts>,
    txs: Vec<Tx>,
}

const AMOUNT: Amount = 1_000;

impl Relay {
    fn new() -> Self {
        let store = Watched::default();
        let counts = Arc::clone(&store.counts);
        let genesis = Genesis::of(&[(A, AMOUNT)]);
        let txs = vec![genesis.tx()];
        let ledger = Ledger::with_store(LedgerConfig::default(), genesis, store).unwrap();
        counts.batches.store(0, SeqCst);
        counts.blocks_written.store(0, SeqCst);
        Self { ledger, counts, txs }
    }

    fn next_tx(&self) -> Tx {
        let last = &self.txs[self.txs.len() - 1];
        let amount = last.outputs[0].amount - 1;
        tx(self.txs.len() as u64, A, &[last.outpoint(0)], &[(A, amount)])
    }

    fn add_blocks(&mut self, count: usize) {
        for _ in 0..count {
            let tx = self.next_tx();
            let tip = self.ledger.current_block();
            let block = interleaf_engine::ledger::Block::new(tip.meta.id, tip.meta.height + 1, vec![tx.clone()]);
            self.ledger.add_block(block).unwrap();
            self.txs.push(tx);
        }
    }

    fn roll_back(&mut self) -> Result<(), BlockError> {
        self.ledger.roll_back()?;
        self.txs.pop();
        Ok(())
    }

    fn written(&self) -> (usize, usize) {
        (self.counts.batches.load(SeqCst), self.counts.blocks_written.load(SeqCst))
    }
}

#[test]
fn one_batch_of_ten_every_ten_blocks_and_ten_stay_in_memory() {
    // U29, U31, O10: the first batch is written when ten blocks have left the window of ten.
    let mut relay = Relay::new();
    relay.add_blocks(19);
    assert_eq!(relay.written(), (0, 0));
    relay.add_blocks(1);
    assert_eq!(relay.written(), (1, 10));
    relay.add_blocks(9);
    assert_eq!(relay.written(), (1, 10));
    relay.add_blocks(1);
    assert_eq!(relay.written(), (2, 20));
}

#[test]
fn ten_blocks_can_be_undone_right_after_a_batch_and_no_more() {
    // O9, O10
    let mut relay = Relay::new();
    relay.add_blocks(20);
    let before = relay.ledger.state().unwrap().confirmed;
    for _ in 0..10 {
        relay.roll_back().unwrap();
    }
    assert_eq!(relay.roll_back(), Err(BlockError::RollBackPastCommit { depth: 1, tip: 10, committed: 10 }));
    let said = relay.roll_back().unwrap_err().to_string();
    assert_eq!(said, "cannot roll back 1 blocks from height 10: everything up to height 10 is in the store");
    relay.add_blocks(10);
    assert_eq!(relay.ledger.state().unwrap().confirmed, before);
    // Genesis is in the store from the start.
    let refused = Relay::new().roll_back();
    assert_eq!(refused, Err(BlockError::RollBackPastCommit { depth: 1, tip: 0, committed: 0 }));
}

#[test]
fn roll_back_does_not_touch_the_store() {
    // U32
    let mut relay = Relay::new();
    relay.add_blocks(15);
    let (reads, written) = (relay.counts.reads.load(SeqCst), relay.written());
    for _ in 0..15 {
        relay.roll_back().unwrap();
    }
    assert_eq!((relay.counts.reads.load(SeqCst), relay.written()), (reads, written));
}

#[test]
fn recent_records_are_answered_from_memory() {
    // U34, U35: no look-up of something in the ten newest blocks asks the store.
    let mut relay = Relay::new();
    relay.add_blocks(20);
    let reads = relay.counts.reads.load(SeqCst);
    for height in 11..=20u64 {
        let tx = &relay.txs[height as usize];
        assert_eq!(relay.ledger.transaction_height(tx.id), Ok(Some(height)));
        assert!(!matches!(relay.ledger.status(tx.outpoint(0)), Ok(Status::Unknown)));
    }
    relay.ledger.add_tx(relay.next_tx()).unwrap();
    assert_eq!(relay.counts.reads.load(SeqCst), reads);
    assert_eq!(relay.ledger.transaction_height(relay.txs[10].id), Ok(Some(10)));
    assert_eq!(relay.counts.reads.load(SeqCst), reads + 1);
}

#[test]
fn look_ups_do_not_depend_on_where_the_block_lies() {
    // U33–U36, O12: the same answers for blocks in the store and in memory.
    let mut relay = Relay::new();
    relay.add_blocks(34);
    let ledger = &relay.ledger;
    for (height, tx) in (0u64..).zip(&relay.txs) {
        assert_eq!(ledger.transaction_height(tx.id), Ok(Some(height)));
        match ledger.status(tx.outpoint(0)) {
            Ok(Status::Spent(spent)) => assert_eq!(spent.height, height + 1),
            Ok(Status::Unspent(record)) => assert_eq!((height, record.amount), (34, AMOUNT - 34)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(AMOUNT - 34));
    assert_eq!(ledger.get_balance_available_with_pool(B), Ok(0));
    let newest: Vec<TxId> = relay.txs.iter().rev().take(20).map(|tx| tx.id).collect();
    assert_eq!(ledger.recent_transactions(20), Ok(newest));
    assert_eq!(ledger.transaction_height(TxId([3; 32])), Ok(None));
}

#[test]
fn a_batch_that_cannot_be_written_leaves_the_chain_as_it_was() {
    let mut relay = Relay::new();
    relay.add_blocks(19);
    let waiting = relay.next_tx();
    relay.ledger.add_tx(waiting.clone()).unwrap();
    let before = relay.ledger.state().unwrap();
    relay.counts.disk_full.store(true, SeqCst);
    let tip = relay.ledger.current_block();
    let block = interleaf_engine::ledger::Block::new(tip.meta.id, 20, vec![waiting]);
    let refused = relay.ledger.add_block(block.clone()).unwrap_err();
    assert_eq!(refused.to_string(), "store: commit: no space left");
    assert_eq!(relay.ledger.state().unwrap(), before);
    assert_eq!(relay.ledger.current_block().meta, tip.meta);
    relay.counts.disk_full.store(false, SeqCst);
    relay.ledger.add_block(block).unwrap();
    assert_eq!(relay.written(), (1, 10));
}
