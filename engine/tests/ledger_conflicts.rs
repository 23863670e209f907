//! What the pool refuses, and what the atomic check functions answer.

mod ledger_fixture;

use interleaf_engine::ledger::{Amount, BlockError, OutPoint, Output, Record, Spent, Status, Tx, TxError};
use ledger_fixture::{A, B, C, add, ledger, next_block, tx, waiting};

#[test]
fn a_record_named_twice_is_refused() {
    // U21, CVE-2018-17144
    let (ledger, keys) = ledger(&[(A, 10)]);
    let refused = ledger.add_tx(tx(1, A, &[keys[0], keys[0]], &[(A, 20)]));
    assert_eq!(refused, Err(TxError::DuplicateInput { key: keys[0], first: 0, second: 1 }));
    assert!(waiting(&ledger).is_empty());
}

#[test]
fn a_record_reserved_by_the_same_address_is_refused() {
    // U22, and step 2 of U13
    let (ledger, keys) = ledger(&[(A, 10), (A, 1)]);
    let first = tx(1, A, &[keys[0]], &[(B, 10)]);
    ledger.add_tx(first.clone()).unwrap();
    let refused = ledger.add_tx(tx(2, A, &[keys[1], keys[0]], &[(C, 10)]));
    assert_eq!(refused, Err(TxError::ReservedInput { input: 1, key: keys[0], by: first.id }));
    let checked = ledger.check_double_spend_with_pool(A, keys[0]);
    assert_eq!(checked, Err(TxError::ReservedInput { input: 0, key: keys[0], by: first.id }));
}

#[test]
fn a_record_reserved_by_another_address_is_refused() {
    // U23, and step 3 of U13
    let (ledger, keys) = ledger(&[(A, 10)]);
    let first = tx(1, A, &[keys[0]], &[(B, 10)]);
    ledger.add_tx(first.clone()).unwrap();
    let expected = TxError::ReservedElsewhere { input: 0, key: keys[0], by: first.id };
    assert_eq!(ledger.add_tx(tx(2, B, &[keys[0]], &[(B, 10)])), Err(expected.clone()));
    assert_eq!(ledger.check_double_spend_with_pool(B, keys[0]), Err(expected));
    assert_eq!(waiting(&ledger), [first]);
}

#[test]
fn an_output_index_created_twice_is_refused() {
    // U24
    let (ledger, keys) = ledger(&[(A, 10)]);
    let output = |amount| Output::coin(7, B, amount);
    let refused = ledger.add_tx(Tx::new(1, A, vec![keys[0]], vec![output(1), output(2)]));
    assert_eq!(refused, Err(TxError::DuplicateOutput { index: 7 }));
}

#[test]
fn a_record_that_a_block_consumed_is_refused() {
    // U12: whoever asked before the block and acts after it is refused when he acts; step 1 of U13.
    let (ledger, keys) = ledger(&[(A, 10)]);
    assert_eq!(ledger.check_double_spend_with_pool(A, keys[0]), Ok(Record::coin(A, 10)));
    let confirmed = tx(1, A, &[keys[0]], &[(B, 10)]);
    add(&ledger, std::slice::from_ref(&confirmed));
    let refused = ledger.add_tx(tx(2, A, &[keys[0]], &[(C, 10)]));
    assert_eq!(refused, Err(TxError::SpentInput { input: 0, key: keys[0], by: confirmed.id, height: 1 }));
    let said = refused.unwrap_err().to_string();
    let by = confirmed.id;
    assert_eq!(said, format!("input 0 names {:?}, which {by:?} spent at height 1", keys[0]));
}

#[test]
fn own_change_is_spendable_before_any_block() {
    // U25, U26, U27: A sends 3 of 5; the 5 is reserved, the change of 2 is available and can be spent.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let first = tx(1, A, &[keys[0]], &[(B, 3), (A, 2)]);
    assert_eq!(ledger.add_tx(first.clone()), Ok(0));
    let pool = ledger.state().unwrap().pool;
    assert_eq!(pool.pools[&A].spent_keys, [(keys[0], first.id)].into());
    assert_eq!(pool.pools[&A].available, [(first.outpoint(1), Record::coin(A, 2))].into());
    assert_eq!(pool.global_spent_keys, [(keys[0], first.id)].into());
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(2));
    let second = tx(2, A, &[first.outpoint(1)], &[(C, 1)]);
    assert_eq!(ledger.add_tx(second.clone()), Ok(1));
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(0));
    assert_eq!(waiting(&ledger), [first, second]);
}

#[test]
fn an_unconfirmed_output_of_somebody_else_is_not_spendable() {
    // O14: B is paid by a waiting transaction and cannot pass it on before a block confirms it.
    let (ledger, keys) = ledger(&[(A, 5)]);
    let payment = tx(1, A, &[keys[0]], &[(B, 5)]);
    ledger.add_tx(payment.clone()).unwrap();
    let received = payment.outpoint(0);
    let passed_on = tx(2, B, &[received], &[(C, 5)]);
    let refused = ledger.add_tx(passed_on.clone());
    assert_eq!(refused, Err(TxError::UnknownInput { input: 0, key: received, sender: B }));
    // Nor can the payer: it is not his change.
    assert!(ledger.add_tx(tx(3, A, &[received], &[(A, 5)])).is_err());
    add(&ledger, &[payment]);
    assert_eq!(ledger.add_tx(passed_on), Ok(0));
}

#[test]
fn value_cannot_be_created_and_what_is_left_is_the_fee() {
    let (ledger, keys) = ledger(&[(A, 10), (A, 1)]);
    let refused = ledger.add_tx(tx(1, A, &[keys[0]], &[(B, 11)]));
    assert_eq!(refused, Err(TxError::OutputsExceedInputs { inputs: 10, outputs: 11 }));
    let refused = ledger.add_tx(tx(2, A, &[keys[0]], &[(B, Amount::MAX), (B, 11)]));
    assert_eq!(refused, Err(TxError::AmountOverflow));
    assert_eq!(ledger.add_tx(tx(3, A, &keys, &[(B, 4)])), Ok(7));
}

#[test]
fn nothing_comes_out_of_nothing_and_nothing_waits_twice() {
    let (ledger, keys) = ledger(&[(A, 10)]);
    assert_eq!(ledger.add_tx(tx(1, A, &[], &[])), Err(TxError::NoInputs));
    let once = tx(2, A, &[keys[0]], &[]);
    ledger.add_tx(once.clone()).unwrap();
    assert_eq!(ledger.add_tx(once), Err(TxError::AlreadyInPool));
    let unknown = OutPoint { index: 9, ..keys[0] };
    let refused = ledger.add_tx(tx(3, A, &[unknown], &[]));
    assert_eq!(refused, Err(TxError::UnknownInput { input: 0, key: unknown, sender: A }));
}

#[test]
fn a_refused_transaction_leaves_no_reservation() {
    // U14: the second input is refused, so the first is not reserved either.
    let (ledger, keys) = ledger(&[(A, 10), (B, 1)]);
    ledger.add_tx(tx(1, B, &[keys[1]], &[])).unwrap();
    let before = ledger.state().unwrap();
    ledger.add_tx(tx(2, A, &keys, &[(A, 10)])).unwrap_err();
    assert_eq!(ledger.state().unwrap(), before);
}

#[test]
fn check_functions_follow_a_record_from_waiting_to_consumed() {
    // U15, U16, U17, U35
    let (ledger, keys) = ledger(&[(A, 5)]);
    let answers = |key: OutPoint| {
        let utxo = ledger.get_utxo_with_pool(key).unwrap().map(|record| record.amount);
        let free = ledger.check_double_spend_with_pool(A, key).is_ok();
        (ledger.is_not_spent_key_with_pool(key).unwrap(), utxo, free)
    };
    assert_eq!(answers(keys[0]), (true, Some(5), true));
    let first = tx(1, A, &[keys[0]], &[(B, 3), (A, 2)]);
    let (paid, change) = (first.outpoint(0), first.outpoint(1));
    assert_eq!(answers(change), (false, None, false));
    ledger.add_tx(first.clone()).unwrap();
    assert_eq!(answers(keys[0]), (true, None, false));
    assert_eq!(answers(change), (true, Some(2), true));
    assert_eq!(answers(paid), (false, None, false));
    add(&ledger, std::slice::from_ref(&first));
    assert_eq!(answers(keys[0]), (false, None, false));
    assert_eq!(answers(change), (true, Some(2), true));
    assert_eq!(ledger.status(keys[0]), Ok(Status::Spent(Spent { by: first.id, height: 1 })));
}

#[test]
fn inputs_are_collected_from_confirmed_records_and_change() {
    // U18, U19, U33
    let (ledger, keys) = ledger(&[(A, 5), (A, 4), (B, 9)]);
    let first = tx(1, A, &[keys[0]], &[(B, 2), (A, 3)]);
    ledger.add_tx(first.clone()).unwrap();
    let collect = |amount| {
        let inputs = ledger.get_input_with_pool(A, amount).unwrap();
        inputs.map(|inputs| inputs.into_iter().map(|(key, _)| key).collect::<Vec<_>>())
    };
    assert_eq!(collect(0), Some(vec![]));
    assert_eq!(collect(4), Some(vec![keys[1]]));
    assert_eq!(collect(5), Some(vec![keys[1], first.outpoint(1)]));
    assert_eq!(collect(7), Some(vec![keys[1], first.outpoint(1)]));
    assert_eq!(collect(8), None);
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(7));
    assert_eq!(ledger.get_balance_available_with_pool(B), Ok(9));
    add(&ledger, &[first]);
    assert_eq!(ledger.get_balance_available_with_pool(A), Ok(7));
    assert_eq!(ledger.get_balance_available_with_pool(B), Ok(11));
}

#[test]
fn a_block_may_pass_an_output_on_but_not_spend_it_twice() {
    let (ledger, keys) = ledger(&[(A, 5)]);
    let first = tx(1, A, &[keys[0]], &[(B, 5)]);
    let second = tx(2, B, &[first.outpoint(0)], &[(C, 4)]);
    let third = tx(3, C, &[first.outpoint(0)], &[]);
    let block = next_block(&ledger, &[first.clone(), second.clone(), third.clone()]);
    let Err(BlockError::InvalidTx { index: 2, height: 1, tx, reason, .. }) = ledger.add_block(block) else { panic!() };
    assert_eq!(tx, third.id);
    let key = first.outpoint(0);
    assert_eq!(*reason, TxError::SpentInput { input: 0, key, by: second.id, height: 1 });
    add(&ledger, &[first.clone(), second]);
    assert_eq!(ledger.current_block().meta.fees_burnt, 1);
}
