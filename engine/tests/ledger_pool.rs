//! What becomes of waiting transactions: clean-up after a block, roll-back, eviction, age.

mod ledger_fixture;

use interleaf_engine::ledger::{LedgerConfig, TxError};
use ledger_fixture::{A, B, C, add, ledger, next_block, open, tx, waiting};

#[test]
fn what_a_block_confirms_leaves_and_what_uses_its_change_stays() {
    // U28, step 1
    let (ledger, keys) = ledger(&[(A, 5)]);
    let parent = tx(1, A, &[keys[0]], &[(B, 3), (A, 2)]);
    let child = tx(2, A, &[parent.outpoint(1)], &[(C, 2)]);
    ledger.add_tx(parent.clone()).unwrap();
    ledger.add_tx(child.clone()).unwrap();
    add(&ledger, &[parent]);
    assert_eq!(waiting(&ledger), std::slice::from_ref(&child));
    let pool = ledger.state().unwrap().pool;
    assert_eq!(pool.global_spent_keys, [(child.inputs[0], child.id)].into());
    assert!(pool.pools[&A].available.is_empty());
    add(&ledger, &[child]);
    assert_eq!(ledger.state().unwrap().pool, Default::default());
}

#[test]
fn what_a_block_contradicts_leaves_with_its_dependants() {
    // U28, step 2; O7: the dependant's own reservation is undone too.
    let (ledger, keys) = ledger(&[(A, 5), (A, 7)]);
    let loser = tx(1, A, &[keys[0]], &[(A, 5)]);
    let dependant = tx(2, A, &[loser.outpoint(0), keys[1]], &[(A, 12)]);
    let third = tx(3, A, &[dependant.outpoint(0)], &[(C, 12)]);
    for waiting in [&loser, &dependant, &third] {
        ledger.add_tx(waiting.clone()).unwrap();
    }
    add(&ledger, &[tx(4, B, &[keys[0]], &[(B, 5)])]);
    assert_eq!(ledger.state().unwrap().pool, Default::default());
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(7));
    assert_eq!(ledger.add_tx(tx(5, A, &[keys[1]], &[(C, 7)])), Ok(0));
}

#[test]
fn what_waited_too_long_leaves_by_height() {
    // U28, step 3; O16: age is counted in blocks since admission.
    let config = LedgerConfig { pool_age_max_blocks: 2, ..LedgerConfig::default() };
    let (ledger, keys) = open(config, &[(A, 5), (B, 5)]);
    let old = tx(1, A, &[keys[0]], &[(A, 5)]);
    ledger.add_tx(old.clone()).unwrap();
    add(&ledger, &[]);
    let young = tx(2, B, &[keys[1]], &[(B, 5)]);
    let child = tx(3, A, &[old.outpoint(0)], &[(C, 5)]);
    ledger.add_tx(young.clone()).unwrap();
    ledger.add_tx(child.clone()).unwrap();
    add(&ledger, &[]);
    assert_eq!(waiting(&ledger).len(), 3);
    add(&ledger, &[]);
    // The old one goes, and with it the young one that used its change.
    assert_eq!(waiting(&ledger), std::slice::from_ref(&young));
    add(&ledger, &[]);
    assert!(waiting(&ledger).is_empty());
}

#[test]
fn eviction_undoes_reservation_change_and_dependants() {
    // O7
    let (ledger, keys) = ledger(&[(A, 5), (B, 5)]);
    let before = ledger.state().unwrap();
    let parent = tx(1, A, &[keys[0]], &[(A, 3), (A, 2)]);
    let one = tx(2, A, &[parent.outpoint(0)], &[(A, 3)]);
    let two = tx(3, A, &[parent.outpoint(1), one.outpoint(0)], &[]);
    for waiting in [&parent, &one, &two] {
        ledger.add_tx(waiting.clone()).unwrap();
    }
    let evicted = ledger.evict_tx(parent.id);
    assert_eq!(evicted.len(), 3);
    assert_eq!(*evicted[0], parent);
    assert_eq!(ledger.state().unwrap(), before);
    assert!(ledger.evict_tx(parent.id).is_empty());
    assert_eq!(ledger.add_tx(tx(4, B, &[keys[0]], &[(B, 5)])), Ok(0));
}

#[test]
fn evicting_a_child_makes_the_change_available_again() {
    // O7
    let (ledger, keys) = ledger(&[(A, 5)]);
    let parent = tx(1, A, &[keys[0]], &[(A, 5)]);
    let child = tx(2, A, &[parent.outpoint(0)], &[(B, 5)]);
    ledger.add_tx(parent.clone()).unwrap();
    let before = ledger.state().unwrap();
    ledger.add_tx(child.clone()).unwrap();
    assert_eq!(ledger.evict_tx(child.id).len(), 1);
    assert_eq!(ledger.state().unwrap(), before);
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(5));
}

#[test]
fn roll_back_returns_transactions_in_front_and_in_order() {
    // O8
    let (ledger, keys) = ledger(&[(A, 5), (B, 5)]);
    let parent = tx(3, A, &[keys[0]], &[(A, 4)]);
    let child = tx(2, A, &[parent.outpoint(0)], &[(A, 3)]);
    let grandchild = tx(1, A, &[child.outpoint(0)], &[(C, 3)]);
    let before = ledger.state().unwrap().confirmed;
    add(&ledger, &[parent.clone(), child.clone()]);
    ledger.add_tx(grandchild.clone()).unwrap();
    ledger.roll_back().unwrap();
    assert_eq!(waiting(&ledger), [parent.clone(), child.clone(), grandchild.clone()]);
    assert_eq!(ledger.state().unwrap().confirmed, before);
    // A block of the pool's batch is valid: parents come first.
    add(&ledger, &[parent, child, grandchild]);
    assert!(waiting(&ledger).is_empty());
}

#[test]
fn roll_back_removes_what_spends_records_that_are_gone() {
    // O8, O14: B was paid in the block and passed it on; unconfirmed, B may not.
    let (ledger, keys) = ledger(&[(A, 5), (C, 1)]);
    let payment = tx(1, A, &[keys[0]], &[(B, 5)]);
    let passed_on = tx(2, B, &[payment.outpoint(0)], &[(B, 5)]);
    let used_later = tx(3, B, &[passed_on.outpoint(0)], &[(C, 5)]);
    let unrelated = tx(4, C, &[keys[1]], &[(A, 1)]);
    add(&ledger, &[payment.clone(), passed_on.clone()]);
    ledger.add_tx(used_later.clone()).unwrap();
    ledger.add_tx(unrelated.clone()).unwrap();
    ledger.roll_back().unwrap();
    assert_eq!(waiting(&ledger), [payment, unrelated]);
    let refused = ledger.add_tx(used_later);
    assert_eq!(refused, Err(TxError::UnknownInput { input: 0, key: passed_on.outpoint(0), sender: B }));
}

#[test]
fn block_then_roll_back_changes_nothing_for_a_pool_that_the_block_emptied() {
    // U30, U32, O8
    let (ledger, keys) = ledger(&[(A, 5)]);
    let only = tx(1, A, &[keys[0]], &[(B, 3), (A, 2)]);
    ledger.add_tx(only.clone()).unwrap();
    let before = ledger.state().unwrap();
    let block = next_block(&ledger, &[only]);
    ledger.add_block(block.clone()).unwrap();
    assert_eq!(*ledger.roll_back().unwrap(), block);
    let after = ledger.state().unwrap();
    assert_eq!(before.confirmed, after.confirmed);
    assert_eq!(before.pool.pools, after.pool.pools);
    assert_eq!(before.pool.global_spent_keys, after.pool.global_spent_keys);
}
