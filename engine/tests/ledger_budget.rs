//! The pool within its budget: who goes, who is refused, and what an eviction undoes (items U40, O7); and what look-ups cost.

mod ledger_fixture;

use std::collections::BTreeSet;

use interleaf_engine::ledger::{Address, Ledger, LedgerConfig, OutPoint, Tx, TxError, TxId};
use ledger_fixture::{A, B, C, add, open, tx, waiting};
use proptest::prelude::*;

/// What one transaction with one input and one change takes.
const ONE: usize = 1_100;

fn pool_of(bytes: usize, owners: &[Address]) -> (Ledger, Vec<OutPoint>) {
    let config = LedgerConfig { pool_bytes_max: bytes, ..LedgerConfig::default() };
    let outputs: Vec<_> = owners.iter().map(|owner| (*owner, 100)).collect();
    open(config, &outputs)
}

fn pays(fee: u64, owner: Address, key: OutPoint) -> Tx {
    tx(1, owner, &[key], &[(owner, 100 - fee)])
}

/// How many transactions of one input and one change fit.
fn fitting(bytes: usize) -> usize {
    let owners: Vec<_> = (1..40).map(Address::numbered).collect();
    let (ledger, keys) = pool_of(bytes, &owners);
    owners.iter().zip(keys).filter(|(owner, key)| ledger.add_tx(pays(1, **owner, *key)).is_ok()).count()
}

#[test]
fn the_one_that_pays_least_goes_with_its_dependants() {
    // O7, U25: what was reserved is free again.
    let (ledger, keys) = pool_of(3 * ONE, &[A, B, C, A]);
    assert_eq!(fitting(3 * ONE), 3, "the sizes in this test");
    let poor = pays(1, A, keys[0]);
    let child = tx(2, A, &[poor.outpoint(0)], &[(A, 9)]);
    let middling = pays(2, B, keys[1]);
    for tx in [&poor, &child, &middling] {
        ledger.add_tx(tx.clone()).unwrap();
    }
    // Full. One that pays less than the poorest, or as much, is refused, and nothing changes.
    let before = ledger.state().unwrap();
    for fee in [0, 1] {
        let refused = ledger.add_tx(pays(fee, C, keys[2])).unwrap_err();
        assert!(matches!(refused, TxError::PoolFull { most, .. } if most == 3 * ONE), "{refused}");
    }
    // So is a child of the one that would have to go.
    let grandchild = tx(3, A, &[child.outpoint(0)], &[]);
    assert!(matches!(ledger.add_tx(grandchild), Err(TxError::PoolFull { .. })));
    assert_eq!(ledger.state().unwrap(), before);
    let rich = pays(5, C, keys[2]);
    ledger.add_tx(rich.clone()).unwrap();
    assert_eq!(waiting(&ledger), [middling, rich]);
    let pool = ledger.state().unwrap().pool;
    assert_eq!(pool.global_spent_keys.keys().collect::<BTreeSet<_>>(), [&keys[1], &keys[2]].into());
    assert!(!pool.pools.contains_key(&A));
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(200));
    ledger.add_tx(pays(3, A, keys[0])).unwrap();
}

#[test]
fn what_a_roll_back_returns_fits_too() {
    // O8
    let (ledger, keys) = pool_of(2 * ONE, &[A, B, C]);
    let block = [pays(1, A, keys[0]), pays(3, B, keys[1]), pays(2, C, keys[2])];
    add(&ledger, &block);
    ledger.roll_back().unwrap();
    assert_eq!(waiting(&ledger), [block[1].clone(), block[2].clone()]);
}

proptest! {
    #[test]
    fn a_full_pool_holds_what_pays_best(fees in prop::collection::vec(0..50u64, 1..30), room in 1..10usize) {
        // Transactions of one size without dependants: the best fees stay, the earlier of equal ones.
        let owners: Vec<_> = (1..=fees.len() as u32).map(Address::numbered).collect();
        let (ledger, keys) = pool_of(room * ONE, &owners);
        let room = fitting(room * ONE);
        let mut model: Vec<(u64, TxId)> = Vec::new();
        for ((fee, owner), key) in fees.iter().zip(&owners).zip(keys) {
            let tx = pays(*fee, *owner, key);
            let accepted = ledger.add_tx(tx.clone()).is_ok();
            model.push((*fee, tx.id));
            if model.len() > room {
                let least = model.iter().map(|(fee, _)| *fee).min().unwrap();
                let newest = model.iter().rposition(|(fee, _)| *fee == least).unwrap();
                let gone = model.remove(newest);
                prop_assert_eq!(accepted, gone.1 != tx.id);
            } else {
                prop_assert!(accepted);
            }
            let ids: Vec<_> = waiting(&ledger).iter().map(|tx| tx.id).collect();
            prop_assert_eq!(ids, model.iter().map(|(_, id)| *id).collect::<Vec<_>>());
        }
    }
}
