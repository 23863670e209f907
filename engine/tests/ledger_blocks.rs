//! What a block must satisfy, and that a refused one leaves no trace.

mod ledger_fixture;

use interleaf_engine::ledger::{
    Block, BlockError, BlockId, Genesis, Ledger, LedgerConfig, OutPoint, Output, Record, Tx, TxError, TxId,
};
use ledger_fixture::{A, B, C, add, ledger, next_block, tx};

/// The rule that a block of these transactions breaks.
#[track_caller]
fn broken_rule(ledger: &Ledger, txs: &[Tx]) -> TxError {
    let before = ledger.state().unwrap();
    let refused = ledger.add_block(next_block(ledger, txs));
    assert_eq!(ledger.state().unwrap(), before);
    match refused {
        Err(BlockError::InvalidTx { reason, .. }) => *reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_block_stands_on_the_tip() {
    let (ledger, _) = ledger(&[(A, 5)]);
    let tip = ledger.current_block().meta.id;
    let high = Block::new(tip, 2, vec![]);
    let refused = ledger.add_block(high.clone());
    assert_eq!(refused, Err(BlockError::WrongHeight { block: high.id, expected: 1, actual: 2 }));
    let aside = Block::new(BlockId([7; 32]), 1, vec![]);
    let refused = ledger.add_block(aside.clone());
    let actual = BlockId([7; 32]);
    assert_eq!(refused, Err(BlockError::WrongParent { block: aside.id, height: 1, expected: tip, actual }));
}

#[test]
fn duplicate_inputs_do_not_create_money() {
    // CVE-2018-17144: O worth 10 of a supply of 100; a transaction that spends O and O and pays 20.
    let (ledger, keys) = ledger(&[(A, 10), (B, 90)]);
    let twice = tx(1, A, &[keys[0], keys[0]], &[(A, 20)]);
    let rule = broken_rule(&ledger, &[twice]);
    assert_eq!(rule, TxError::DuplicateInput { key: keys[0], first: 0, second: 1 });
    // The same input in two transactions of one block.
    let (first, second) = (tx(1, A, &[keys[0]], &[(A, 10)]), tx(2, A, &[keys[0]], &[(B, 10)]));
    let rule = broken_rule(&ledger, &[first.clone(), second]);
    assert_eq!(rule, TxError::SpentInput { input: 0, key: keys[0], by: first.id, height: 1 });
    // The same transaction twice.
    assert!(matches!(broken_rule(&ledger, &[first.clone(), first]), TxError::SpentInput { .. }));
}

#[test]
fn every_rule_of_a_transaction_holds_in_blocks_too() {
    // U21, U24, value conservation
    let (ledger, keys) = ledger(&[(A, 10)]);
    assert_eq!(broken_rule(&ledger, &[tx(1, A, &[], &[(A, 1)])]), TxError::NoInputs);
    let output = Output::coin(3, B, 1);
    let rule = broken_rule(&ledger, &[Tx::new(1, A, keys.clone(), vec![output, output])]);
    assert_eq!(rule, TxError::DuplicateOutput { index: 3 });
    let rule = broken_rule(&ledger, &[tx(1, A, &keys, &[(A, 11)])]);
    assert_eq!(rule, TxError::OutputsExceedInputs { inputs: 10, outputs: 11 });
    let first = tx(1, A, &keys, &[(B, 10)]);
    let later = first.outpoint(0);
    // A block lists parents before children.
    let rule = broken_rule(&ledger, &[tx(2, B, &[later], &[]), first.clone()]);
    assert_eq!(rule, TxError::UnknownInput { input: 0, key: later, sender: B });
    add(&ledger, std::slice::from_ref(&first));
    let rule = broken_rule(&ledger, &[tx(3, A, &keys, &[])]);
    assert_eq!(rule, TxError::SpentInput { input: 0, key: keys[0], by: first.id, height: 1 });
}

#[test]
fn the_refusal_says_where_and_what() {
    let (ledger, keys) = ledger(&[(A, 10)]);
    let bad = tx(1, A, &[keys[0]], &[(A, 11)]);
    let block = next_block(&ledger, std::slice::from_ref(&bad));
    let said = ledger.add_block(block.clone()).unwrap_err().to_string();
    let (id, tx) = (block.id, bad.id);
    let expected = "its outputs are worth 11, its inputs only 10";
    assert_eq!(said, format!("block {id:?} at height 1: transaction 0 ({tx:?}): {expected}"));
}

#[test]
fn base_records_are_spendable_under_any_outpoint() {
    let key = OutPoint { tx: TxId([9; 32]), index: 4 };
    let genesis = Genesis { outputs: vec![(A, 1)], base: vec![(key, Record::coin(B, 6))] };
    let ledger = Ledger::new(LedgerConfig::default(), genesis);
    assert_eq!(ledger.issued(), 7);
    add(&ledger, &[tx(1, B, &[key], &[(C, 6)])]);
    assert_eq!(ledger.get_balance_available_with_pool(C), Ok(6));
}

#[test]
#[should_panic(expected = "overflow")]
fn the_issued_value_fits() {
    drop(ledger(&[(A, u64::MAX), (B, 1)]));
}
