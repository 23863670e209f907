//! What the ledger costs, counted in operations of the database and not in time (items U30–U36).

mod durable;

use durable::{genesis, next};
use interleaf::disk::{Counters, Disk, Options};
use interleaf_engine::ledger::{
    Address, Block, Genesis, Journal, Ledger, LedgerConfig, OutPoint, Output, RedbStore, Status, Tx,
};

fn quiet() -> Disk {
    Disk::new(Options { log: false, scheduling_points: false, ..Options::default() })
}

/// A ledger whose store and journal are on disks of their own.
fn opened(config: LedgerConfig, genesis: Genesis) -> (Ledger<RedbStore>, Disk) {
    let (store, journal) = (quiet(), quiet());
    let on_disk = RedbStore::on(store.open("ledger.redb")).unwrap();
    let journal = Journal::on(journal.open("a"), journal.open("b"));
    (Ledger::open(config, genesis, on_disk, journal).unwrap().0, store)
}

fn pages(before: &Counters, after: &Counters) -> (u64, u64) {
    (after.reads - before.reads, after.writes - before.writes)
}

#[test]
fn a_roll_back_touches_no_page_of_the_database() {
    // U32
    let (ledger, disk) = opened(LedgerConfig::default(), genesis());
    for salt in 0..25 {
        let state = ledger.state().unwrap().confirmed;
        ledger.add_block(next(&state, salt)).unwrap();
    }
    let before = disk.counters();
    for _ in 0..10 {
        ledger.roll_back().unwrap();
    }
    assert_eq!(pages(&before, &disk.counters()), (0, 0));
}

#[test]
fn a_batch_costs_in_proportion_to_its_difference() {
    // U31: bytes that a batch of one block writes, by the number of its transactions.
    let written = |transactions: u32| {
        let owners: Vec<_> = (0..transactions).map(|n| (Address::numbered(n), 10)).collect();
        let genesis = Genesis { outputs: owners, base: Vec::new() };
        let config = LedgerConfig { window_blocks: 0, commit_every_blocks: 1, ..LedgerConfig::default() };
        let root = genesis.tx();
        let (ledger, disk) = opened(config, genesis);
        let spend = |n: u32| {
            let owner = Address::numbered(n);
            Tx::new(1, owner, vec![root.outpoint(n)], vec![Output::coin(0, owner, 10)])
        };
        let tip = ledger.current_block().meta.id;
        let before = disk.counters();
        ledger.add_block(Block::new(tip, 1, (0..transactions).map(spend).collect())).unwrap();
        disk.counters().bytes_written - before.bytes_written
    };
    let [small, middle, large] = [250, 1_000, 4_000].map(written);
    // Four times the difference: at most five times the bytes, and not less than two.
    assert!(middle <= 5 * small && large <= 5 * middle && large >= 2 * middle, "{small} {middle} {large}");
}

#[test]
fn a_spent_check_is_one_probe_of_memory_and_one_look_up_at_most() {
    // U34, U35: what is recent touches no page; what is older costs as many pages as one path of the tree.
    let (ledger, disk) = opened(LedgerConfig::default(), genesis());
    let key: OutPoint = genesis().tx().outpoint(0);
    for salt in 0..25 {
        let state = ledger.state().unwrap().confirmed;
        ledger.add_block(next(&state, salt)).unwrap();
    }
    let recent = ledger.current_block().block.txs[0].clone();
    let before = disk.counters();
    assert!(matches!(ledger.status(recent.inputs[0]), Ok(Status::Spent(_))));
    assert_eq!(ledger.transaction_height(recent.id), Ok(Some(25)));
    assert_eq!(pages(&before, &disk.counters()), (0, 0));
    assert!(matches!(ledger.status(key), Ok(Status::Spent(spent)) if spent.height == 1));
    // redb keeps pages in memory, so this is the most.
    let (reads, writes) = pages(&before, &disk.counters());
    assert!(reads <= 8 && writes == 0, "{reads} reads, {writes} writes");
}
