//! The volatile window: what is in memory, what is written when, how far back one can go.

mod ledger_fixture;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use interleaf_engine::ledger::{
    Address, Amount, BlockError, Genesis, Ledger, LedgerConfig, MemoryStore, Status, StoreCall, StoreError, StoreLayer,
    Tx, TxId,
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

impl StoreLayer for Watched {
    type Below = MemoryStore;

    fn below(&self) -> &MemoryStore {
        &self.inner
    }

    fn before(&self, call: StoreCall) -> Result<(), StoreError> {
        if call.is_look_up() {
            self.counts.reads.fetch_add(1, SeqCst);
        }
        if let StoreCall::Commit(blocks) = call {
            if self.counts.disk_full.load(SeqCst) {
                return Err(StoreError { operation: "commit", reason: "no space left".to_owned() });
            }
            self.counts.batches.fetch_add(1, SeqCst);
            self.counts.blocks_written.fetch_add(blocks, SeqCst);
        }
        Ok(())
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
fn the_newest_transactions_are_those_with_the_latest_times_wherever_they_stand() {
    // U36: neither the order in a block nor that of the blocks is the order of time; some are in the store.
    let owners: Vec<_> = (0..40).map(|n| (Address::numbered(n), 5)).collect();
    let genesis = Genesis::of(&owners);
    let root = genesis.tx();
    let config = LedgerConfig { window_blocks: 2, commit_every_blocks: 2, ..LedgerConfig::default() };
    let ledger = Ledger::new(config, genesis);
    let mut all = vec![root.id];
    for (height, part) in (1u64..).zip((0..40u32).collect::<Vec<_>>().chunks(5)) {
        let txs = part.iter().map(|&n| {
            let time = 1 + u64::from(n) * 17 % 41;
            tx(time, Address::numbered(n), &[root.outpoint(n)], &[(A, 5)])
        });
        let txs: Vec<_> = txs.collect();
        all.extend(txs.iter().map(|tx| tx.id));
        let tip = ledger.current_block().meta.id;
        ledger.add_block(interleaf_engine::ledger::Block::new(tip, height, txs)).unwrap();
        all.sort_unstable_by(|a, b| b.cmp(a));
        for limit in [1, 2, 3, 7, 100] {
            let newest: Vec<_> = all.iter().copied().take(limit).collect();
            assert_eq!(ledger.recent_transactions(limit), Ok(newest), "{limit} at height {height}");
        }
    }
}

#[test]
fn a_batch_that_cannot_be_written_stays_due_and_too_many_refuse_blocks() {
    // O11: what is accepted does not depend on the store, until too much waits for it.
    let mut relay = Relay::new();
    relay.add_blocks(19);
    relay.counts.disk_full.store(true, SeqCst);
    relay.add_blocks(1);
    let full = StoreError { operation: "commit", reason: "no space left".to_owned() };
    assert_eq!(relay.ledger.flush_error(), Some(full.clone()));
    assert_eq!(relay.ledger.flush(), Err(BlockError::Store(full.clone())));
    // The window of 10, one batch that fills up, and four that wait.
    relay.add_blocks(40);
    let before = relay.ledger.state().unwrap();
    let tip = relay.ledger.current_block();
    let block = interleaf_engine::ledger::Block::new(tip.meta.id, 61, vec![relay.next_tx()]);
    let refused = relay.ledger.add_block(block.clone()).unwrap_err();
    assert_eq!(refused, BlockError::Backlog { waiting: 60, most: 60, reason: full });
    assert_eq!(refused.to_string(), "60 blocks wait for the store, more than 60: store: commit: no space left");
    assert_eq!(relay.ledger.state().unwrap(), before);
    assert_eq!(relay.ledger.current_block().meta, tip.meta);
    assert_eq!(relay.written(), (0, 0));
    // The next change tries again, and finds that all of it can be written.
    relay.counts.disk_full.store(false, SeqCst);
    relay.ledger.add_block(block).unwrap();
    assert_eq!((relay.written(), relay.ledger.flush_error()), ((1, 50), None));
}

#[test]
fn a_batch_that_was_written_after_all_is_not_written_twice() {
    // O11: redb may fail after the batch is on disk. The retry finds it there.
    let genesis = Genesis::of(&[(A, 5)]);
    let config = LedgerConfig { window_blocks: 1, commit_every_blocks: 1, ..LedgerConfig::default() };
    let ledger = Ledger::with_store(config, genesis.clone(), Doubtful::default()).unwrap();
    let key = genesis.tx().outpoint(0);
    for n in 1..=6u64 {
        let tip = ledger.current_block();
        let txs = if n == 1 { vec![tx(1, A, &[key], &[(B, 5)])] } else { Vec::new() };
        ledger.add_block(interleaf_engine::ledger::Block::new(tip.meta.id, n, txs)).unwrap();
        assert_eq!(ledger.get_balance_available_with_pool(B), Ok(5), "in memory, in both places, or in the store");
        let ids = ledger.recent_transactions(10).unwrap();
        assert_eq!(ids.len(), 2, "{ids:?}");
    }
    assert_eq!(ledger.state().unwrap().confirmed.blocks.len(), 7);
}

/// Says of each batch at first that it failed, though it did not.
#[derive(Debug, Default)]
struct Doubtful {
    inner: MemoryStore,
    batches: AtomicUsize,
}

impl StoreLayer for Doubtful {
    type Below = MemoryStore;

    fn below(&self) -> &MemoryStore {
        &self.inner
    }

    fn before(&self, _: StoreCall) -> Result<(), StoreError> {
        Ok(())
    }

    fn after_commit(&self) -> Result<(), StoreError> {
        let is_first = self.batches.fetch_add(1, SeqCst).is_multiple_of(2);
        if is_first { Err(StoreError::of("commit", "the answer was lost")) } else { Ok(()) }
    }
}
