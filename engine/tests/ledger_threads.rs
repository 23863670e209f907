//! The ledger on real threads.
#![allow(clippy::disallowed_types, reason = "the tests steer real threads with a std barrier")]

mod ledger_fixture;

use std::collections::BTreeSet;
use std::sync::Barrier;

use interleaf::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use interleaf::thread;
use interleaf_engine::ledger::{Address, Block, Ledger, LedgerState};
use ledger_fixture::{A, ledger, tx};

/// No record has two consumers, and every waiting transaction could be confirmed.
fn assert_sound(state: &LedgerState) {
    let mut reserved = BTreeSet::new();
    let mut exists: BTreeSet<_> = state.confirmed.utxos.keys().copied().collect();
    for entry in &state.pool.entries {
        for key in &entry.tx.inputs {
            assert!(reserved.insert(*key), "{key:?} has two waiting consumers");
            assert!(!state.confirmed.spent.contains_key(key), "{key:?} is consumed and waits to be consumed");
            assert!(exists.contains(key), "{key:?} does not exist");
        }
        let change = entry.tx.outputs.iter().filter(|output| output.owner == entry.tx.sender);
        exists.extend(change.map(|output| entry.tx.outpoint(output.index)));
    }
    assert!(reserved.iter().eq(state.pool.global_spent_keys.keys()));
    let value = state.confirmed.unspent_value() + u128::from(state.confirmed.tip.fees_burnt);
    assert_eq!(value, u128::from(state.confirmed.issued));
}

#[test]
fn of_many_spenders_exactly_one_is_admitted() {
    // U8, U14, U22, U23, O6
    for round in 0..200 {
        let (ledger, keys) = ledger(&[(A, 5)]);
        let (start, admitted) = (Barrier::new(4), AtomicUsize::new(0));
        thread::scope(|scope| {
            for n in 0..4u32 {
                let (ledger, start, admitted, key) = (&ledger, &start, &admitted, keys[0]);
                scope.spawn(move || {
                    let sender = Address::numbered(1 + n % 2);
                    let spend = tx(u64::from(n) + round, sender, &[key], &[(sender, 5)]);
                    start.wait();
                    if ledger.add_tx(spend).is_ok() {
                        admitted.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(admitted.load(SeqCst), 1);
        assert_sound(&ledger.state().unwrap());
    }
}

fn spend_what_is_there(ledger: &Ledger, owner: Address, rounds: u64) {
    for n in 0..rounds {
        if let Some(inputs) = ledger.get_input_with_pool(owner, 3).unwrap() {
            let keys: Vec<_> = inputs.iter().map(|(key, _)| *key).collect();
            let sum: u64 = inputs.iter().map(|(_, record)| record.amount).sum();
            let other = Address::numbered((n % 3) as u32 + 1);
            let paid = [(other, 2), (owner, sum - 2)];
            // May be refused: a block may have come between look-up and admission.
            ledger.add_tx(tx(n, owner, &keys, &paid)).ok();
        }
    }
}

#[test]
fn pool_blocks_and_roll_backs_at_once_leave_a_sound_ledger() {
    // U1, U2, U6–U9, U14, U28, U32, O15
    let owners = [1, 2, 3].map(Address::numbered);
    let (ledger, _) = ledger(&owners.map(|owner| (owner, 50)));
    thread::scope(|scope| {
        for owner in owners {
            let ledger = &ledger;
            scope.spawn(move || spend_what_is_there(ledger, owner, 300));
        }
        scope.spawn(|| {
            for n in 0..150 {
                let tip = ledger.current_block();
                let txs = ledger.pool_batch(3).iter().map(|tx| (**tx).clone()).collect();
                // May be refused: the other thread may have moved the tip.
                ledger.add_block(Block::new(tip.meta.id, tip.meta.height + 1, txs)).ok();
                if n % 5 == 4 {
                    ledger.roll_back().ok();
                }
            }
        });
        scope.spawn(|| {
            for n in 0..100 {
                assert_sound(&ledger.state().unwrap());
                if n % 3 == 0 {
                    ledger.roll_back().ok();
                }
            }
        });
    });
    assert_sound(&ledger.state().unwrap());
    assert!(ledger.current_block().meta.height > 0);
}
