//! What the glue must reject: the invariants' own rules are tested where they are.

use std::panic::{AssertUnwindSafe, catch_unwind};

use interleaf::Violation;
use interleaf_engine::ledger::{Address, Block, Genesis, Ledger, LedgerConfig, Nodes, OutPoint, Output, Tx};
use interleaf_engine::planted::Planted;
use interleaf_engine::schedule::{Receipt, TxError, sequential};

use super::block_result::check_equivalent;
use super::ledger::{check_kept, check_settled, check_undone};
use crate::blocks::spec::Spec;

const ALICE: Address = Address::numbered(1);

fn raised(check: impl FnOnce()) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(check)).err()?;
    let violation = payload.downcast::<Violation>().expect("checkers raise violations only");
    Some(format!("{}: {}", violation.invariant, violation.predicate))
}

fn spend(key: OutPoint, amount: u64) -> Tx {
    Tx::new(1, ALICE, vec![key], vec![Output::coin(0, ALICE, amount)])
}

/// A ledger in which Alice owns 5, and the outpoint of it.
fn open(planted: Option<Planted>) -> (Ledger, OutPoint) {
    let genesis = Genesis::of(&[(ALICE, 5)]);
    let key = genesis.tx().outpoint(0);
    (Ledger::new(LedgerConfig { planted, ..LedgerConfig::default() }, genesis), key)
}

fn next(ledger: &Ledger, txs: Vec<Tx>) -> Block {
    let tip = ledger.current_block();
    Block::new(tip.meta.id, tip.meta.height + 1, txs)
}

#[test]
fn a_ledger_that_broke_a_rule_is_not_settled() {
    let (ledger, key) = open(Some(Planted::DuplicateInput));
    check_settled(&ledger);
    ledger.add_tx(Tx::new(1, ALICE, vec![key, key], Vec::new())).unwrap();
    let violation = raised(|| drop(check_settled(&ledger)));
    assert_eq!(violation.as_deref(), Some("ledger.no_double_spend: a waiting transaction consumes a record twice"));
    let (ledger, key) = open(Some(Planted::RollbackForgetsPool));
    let payment = spend(key, 5);
    ledger.add_block(next(&ledger, vec![payment.clone()])).unwrap();
    ledger.add_tx(spend(payment.outpoint(0), 5)).unwrap();
    ledger.roll_back().unwrap();
    let violation = raised(|| drop(check_settled(&ledger))).unwrap();
    assert!(violation.starts_with("ledger.pool_consistency: "), "{violation}");
}

#[test]
fn an_accepted_transaction_may_be_gone_only_if_its_inputs_are() {
    // U28, O8
    let (ledger, key) = open(None);
    let (lost, rival) = (spend(key, 5), spend(key, 4));
    let check = || raised(|| check_kept(&ledger.state().unwrap(), [&lost]));
    let is_lost = Some("ledger.accepted_is_kept: an accepted transaction is lost though its inputs are free");
    ledger.add_tx(lost.clone()).unwrap();
    assert_eq!(check(), None, "it waits");
    ledger.evict_tx(lost.id);
    assert_eq!(check().as_deref(), is_lost);
    ledger.add_tx(rival.clone()).unwrap();
    assert_eq!(check(), None, "another one has reserved its input");
    ledger.add_block(next(&ledger, vec![rival])).unwrap();
    assert_eq!(check(), None, "its input is consumed");
    ledger.roll_back().unwrap();
    ledger.add_block(next(&ledger, vec![lost.clone()])).unwrap();
    assert_eq!(check(), None, "it is confirmed");
}

#[test]
fn every_part_of_the_confirmed_state_must_come_back() {
    // U32
    let (ledger, key) = open(None);
    let before = ledger.state().unwrap().confirmed;
    ledger.add_block(next(&ledger, vec![spend(key, 4)])).unwrap();
    let after = ledger.state().unwrap().confirmed;
    assert_eq!(raised(|| check_undone(&before, &before)), None);
    let mut mixed = before.clone();
    let mut parts = Vec::new();
    let mut differing = |mixed: &_| parts.push(raised(|| check_undone(&before, mixed)).unwrap());
    mixed.nodes.insert(ALICE, Nodes::new());
    differing(&mixed);
    mixed.referrals.clear();
    differing(&mixed);
    mixed.spent = after.spent;
    differing(&mixed);
    mixed.utxos = after.utxos;
    differing(&mixed);
    mixed.blocks = after.blocks;
    differing(&mixed);
    mixed.tip = after.tip;
    differing(&mixed);
    let part = |name: &str| format!("ledger.undo_is_inverse: {name} differ after block and roll-back");
    assert_eq!(parts, ["node infos", "referrals", "consumed records", "unspent records", "blocks", "tips"].map(part));
}

#[test]
fn an_outcome_must_be_equal_in_everything() {
    // N8
    let prepared = Spec::Random { txs: 6, percent: 50 }.generate(3);
    let expected = sequential::execute(&prepared.block, &prepared.base, &prepared.rules);
    let compared = |actual: &_| raised(|| check_equivalent(&prepared.block, &expected, "wave", actual));
    assert_eq!(compared(&expected), None);
    let says = |part: &str| Some(format!("scheduler.sequential_equivalence: {part} differs from sequential execution"));
    let mut actual = expected.clone();
    actual.receipts[2] = Receipt::Failed(TxError::NotExecuted);
    assert_eq!(compared(&actual), says("receipt"));
    let mut actual = expected.clone();
    actual.fees += 1;
    assert_eq!(compared(&actual), says("sum of fees"));
    let mut actual = expected.clone();
    actual.consumed.pop();
    assert_eq!(compared(&actual), says("state"));
    let mut actual = expected.clone();
    actual.created.reverse();
    assert_eq!(compared(&actual), says("order of records"));
}
