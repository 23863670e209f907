//! Each planted bug breaks what it is meant to break, where that shows without a particular interleaving.
#![cfg(feature = "planted")]

mod ledger_fixture;

use std::time::Duration;

use interleaf::sync::Arc;
use interleaf::sync::atomic::{AtomicBool, Ordering::SeqCst};
use interleaf::thread;
use interleaf_engine::ledger::{
    Address, Block, Genesis, Ledger, LedgerConfig, MemoryStore, OutPoint, StoreCall, StoreError, StoreLayer,
};
use interleaf_engine::planted::Planted;
use ledger_fixture::{A, B, C, add, next_block, open, tx, waiting};

fn planted(bug: Planted, outputs: &[(Address, u64)]) -> (Ledger, Vec<OutPoint>) {
    open(LedgerConfig::with_planted(bug), outputs)
}

#[test]
fn no_cross_address_check_lets_two_addresses_reserve_one_record() {
    // U23 missing
    let (ledger, keys) = planted(Planted::NoCrossAddressCheck, &[(A, 5)]);
    ledger.add_tx(tx(1, A, &keys, &[(A, 5)])).unwrap();
    assert!(ledger.add_tx(tx(2, A, &keys, &[(C, 5)])).is_err(), "the check within the address stays");
    ledger.add_tx(tx(3, B, &keys, &[(B, 5)])).unwrap();
    assert_eq!(waiting(&ledger).len(), 2);
}

#[test]
fn duplicate_input_creates_value_in_pool_and_block() {
    // CVE-2018-17144
    let (ledger, keys) = planted(Planted::DuplicateInput, &[(A, 10), (B, 90)]);
    let twice = tx(1, A, &[keys[0], keys[0]], &[(A, 20)]);
    ledger.add_tx(twice.clone()).unwrap();
    add(&ledger, &[twice]);
    assert_eq!(ledger.state().unwrap().confirmed.unspent_value(), 110);
    // Two transactions of one block still may not share an input.
    let two = [tx(2, B, &[keys[1]], &[]), tx(3, A, &[keys[1]], &[])];
    assert!(ledger.add_block(next_block(&ledger, &two)).is_err());
}

#[test]
fn cleanup_order_drops_what_uses_confirmed_change() {
    // U28
    let (ledger, keys) = planted(Planted::CleanupOrder, &[(A, 5)]);
    let parent = tx(1, A, &keys, &[(B, 3), (A, 2)]);
    let child = tx(2, A, &[parent.outpoint(1)], &[(C, 2)]);
    ledger.add_tx(parent.clone()).unwrap();
    ledger.add_tx(child).unwrap();
    add(&ledger, &[parent]);
    assert!(waiting(&ledger).is_empty(), "the child is valid and gone");
}

#[test]
fn rollback_forgets_pool_keeps_spenders_of_records_that_are_gone() {
    // O8
    let (ledger, keys) = planted(Planted::RollbackForgetsPool, &[(A, 5)]);
    let payment = tx(1, A, &keys, &[(B, 5)]);
    let passed_on = tx(2, B, &[payment.outpoint(0)], &[(C, 5)]);
    add(&ledger, std::slice::from_ref(&payment));
    ledger.add_tx(passed_on.clone()).unwrap();
    ledger.roll_back().unwrap();
    assert_eq!(waiting(&ledger), [passed_on], "its input does not exist, and the payment is lost");
}

#[test]
fn reversed_lock_order_answers_the_same() {
    // U10: only the order differs; that it deadlocks is for the simulator to find.
    let (ledger, keys) = planted(Planted::ReversedLockOrder, &[(A, 5)]);
    ledger.add_tx(tx(1, A, &keys, &[(B, 3), (A, 2)])).unwrap();
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(2));
}

/// A store in memory whose first look-up waits until the test says go on.
#[derive(Debug, Default)]
struct Gated {
    inner: MemoryStore,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    reached: AtomicBool,
    open: AtomicBool,
}

impl StoreLayer for Gated {
    type Below = MemoryStore;

    fn below(&self) -> &MemoryStore {
        &self.inner
    }

    fn before(&self, call: StoreCall) -> Result<(), StoreError> {
        if matches!(call, StoreCall::Statuses(_)) && !self.gate.reached.swap(true, SeqCst) {
            while !self.gate.open.load(SeqCst) {
                thread::yield_now();
            }
        }
        Ok(())
    }
}

/// One record; while a transaction that spends it is being checked, a block arrives that spends it too. Returns whether
/// the transaction waits although its input is consumed.
fn block_during_check(planted: Option<Planted>) -> bool {
    let store = Gated::default();
    let gate = Arc::clone(&store.gate);
    let genesis = Genesis::of(&[(A, 5)]);
    let key = genesis.tx().outpoint(0);
    let ledger = Ledger::with_store(LedgerConfig { planted, ..Default::default() }, genesis, store).unwrap();
    let parent = ledger.current_block().meta.id;
    thread::scope(|scope| {
        scope.spawn(|| ledger.add_tx(tx(1, A, &[key], &[(B, 5)])));
        while !gate.reached.load(SeqCst) {
            thread::yield_now();
        }
        let block = Block::new(parent, 1, vec![tx(2, A, &[key], &[(C, 5)])]);
        scope.spawn(|| ledger.add_block(block).unwrap());
        // Time for the block to queue for the exclusive lock.
        thread::sleep(Duration::from_millis(2));
        gate.open.store(true, SeqCst);
    });
    let pool = ledger.state().unwrap().pool;
    pool.entries.iter().any(|entry| entry.tx.inputs.contains(&key))
}

#[test]
fn check_then_act_keeps_a_transaction_whose_input_a_block_consumed() {
    // U12, and U14 without the bug
    assert!((0..500).any(|_| block_during_check(Some(Planted::CheckThenAct))), "never met in 500 tries");
    assert!(!(0..20).any(|_| block_during_check(None)));
}
