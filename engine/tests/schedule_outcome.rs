//! What becomes of transactions that fail, and of those that depend on them: known answers, for every policy.

mod schedule_blocks;

use interleaf_engine::ledger::tx::{Address, Amount, Output, Tx};
use interleaf_engine::ledger::{Kind, KindError};
use interleaf_engine::schedule::receipt::Side;
use interleaf_engine::schedule::{
    Base, BlockOutcome, Executor, Graph, Ownership, Policy, Receipt, Record, RecordMap, Rules, TxError, sequential,
};
use schedule_blocks::{base, base_outpoint, block, tx};

/// The outcome of sequential execution, after checking that every policy with 1 and 3 workers has the same.
fn outcome(txs: Vec<Tx>, base: &RecordMap, rules: Rules) -> BlockOutcome {
    let block = block(txs);
    let expected = sequential::execute(&block, base, &rules);
    let graph = Graph::new(&block);
    for policy in Policy::all() {
        for workers in [1, 3] {
            let got = Executor::new(policy, workers).with_rules(rules).execute(&block, &graph, base).outcome;
            assert_eq!(expected.first_difference(&got), None, "{policy}, {workers} workers");
            assert_eq!(expected, got);
        }
    }
    expected
}

fn receipts(txs: Vec<Tx>, amounts: &[Amount]) -> Vec<Receipt> {
    outcome(txs, &base(amounts), Rules::default()).receipts
}

const fn ok(fee: Amount) -> Receipt {
    Receipt::Ok { fee }
}

// N1, N8
#[test]
fn created_consumed_fees() {
    let parent = tx(0, &[base_outpoint(0)], &[3, 1]);
    let child = tx(1, &[parent.outpoint(0), base_outpoint(1)], &[7]);
    let got = outcome(vec![parent.clone(), child.clone()], &base(&[5, 5, 5]), Rules::default());
    assert_eq!(got.receipts, [ok(1), ok(1)]);
    let record = |amount| Record::coin(Address::numbered(0), amount);
    assert_eq!(got.created, [(parent.outpoint(1), record(1)), (child.outpoint(0), record(7))]);
    assert_eq!(got.consumed, [base_outpoint(0), base_outpoint(1)]);
    assert_eq!((got.fees, got.issued), (2, 0));
}

// O4
#[test]
fn the_dependants_of_a_failed_transaction_fail_as_missing() {
    let greedy = tx(0, &[base_outpoint(0)], &[6]);
    let child = tx(1, &[greedy.outpoint(0)], &[1]);
    let grandchild = tx(2, &[child.outpoint(0)], &[1]);
    let missing = |of: &Tx| Receipt::Failed(TxError::MissingInput { outpoint: of.outpoint(0) });
    let expected = [Receipt::Failed(TxError::Overspend { inputs: 5, outputs: 6 }), missing(&greedy), missing(&child)];
    assert_eq!(receipts(vec![greedy, child, grandchild], &[5]), expected);
}

// O4
#[test]
fn the_second_spender_fails_unless_the_first_failed() {
    let spend = |nonce, amount| tx(nonce, &[base_outpoint(0)], &[amount]);
    let spent = |by| Receipt::Failed(TxError::AlreadySpent { outpoint: base_outpoint(0), by });
    assert_eq!(receipts(vec![spend(0, 5), spend(1, 4), spend(2, 3)], &[5]), [ok(0), spent(0), spent(0)]);
    let overspend = Receipt::Failed(TxError::Overspend { inputs: 5, outputs: 9 });
    assert_eq!(
        receipts(vec![spend(0, 9), spend(1, 4), spend(2, 3), spend(3, 9)], &[5]),
        [overspend, ok(1), spent(1), spent(1)]
    );
}

// O4: the spender behind a failed rival learns of the earlier one that succeeded, although the rival failed for
// another reason.
#[test]
fn a_rival_that_failed_otherwise_still_knows_who_spent() {
    let first = tx(0, &[base_outpoint(0)], &[5]);
    let twice = tx(1, &[base_outpoint(0), base_outpoint(0)], &[5]);
    let third = tx(2, &[base_outpoint(1), base_outpoint(0)], &[5]);
    let expected = [
        ok(0),
        Receipt::Failed(TxError::DuplicateInput { outpoint: base_outpoint(0) }),
        Receipt::Failed(TxError::AlreadySpent { outpoint: base_outpoint(0), by: 0 }),
    ];
    assert_eq!(receipts(vec![first, twice, third], &[5, 5]), expected);
}

// O4: a record of a failed creator is missing for all who want it, not spent.
#[test]
fn rivals_for_an_output_that_never_came_to_be() {
    let creator = tx(0, &[base_outpoint(7)], &[5]);
    let spend = |nonce| tx(nonce, &[creator.outpoint(0)], &[5]);
    let missing = |outpoint| Receipt::Failed(TxError::MissingInput { outpoint });
    let expected = [missing(base_outpoint(7)), missing(creator.outpoint(0)), missing(creator.outpoint(0))];
    assert_eq!(receipts(vec![creator.clone(), spend(1), spend(2)], &[5]), expected);
}

#[test]
fn a_transaction_that_stands_before_its_parent_finds_nothing() {
    let parent = tx(0, &[base_outpoint(0)], &[5]);
    let child = tx(1, &[parent.outpoint(0)], &[5]);
    let again = tx(2, &[parent.outpoint(0)], &[4]);
    let missing = Receipt::Failed(TxError::MissingInput { outpoint: parent.outpoint(0) });
    assert_eq!(receipts(vec![child, parent, again], &[5]), [missing, ok(0), ok(1)]);
}

// U21, U24
#[test]
fn duplicates_inside_one_transaction() {
    let inputs = tx(0, &[base_outpoint(0), base_outpoint(0)], &[10]);
    let mut outputs = tx(1, &[base_outpoint(0)], &[1, 1, 1]);
    outputs.outputs[2].index = 1;
    let expected = [
        Receipt::Failed(TxError::DuplicateInput { outpoint: base_outpoint(0) }),
        Receipt::Failed(TxError::DuplicateOutput { index: 1 }),
    ];
    assert_eq!(receipts(vec![inputs, outputs], &[5]), expected);
}

// U20, U37: what a record is good for decides who may create and consume it, whichever scheduler runs the block.
#[test]
fn kinds_are_part_of_the_rules() {
    let of_kind = |at, input, sender, kind| {
        let output = Output { index: 0, owner: Address::numbered(0), amount: 5, kind };
        Tx::new(at, Address::numbered(sender), vec![input], vec![output])
    };
    let stake = of_kind(0, base_outpoint(0), 0, Kind::Stake);
    let stolen = of_kind(1, stake.outpoint(0), 1, Kind::Coin);
    let given = of_kind(2, base_outpoint(1), 1, Kind::Stake);
    let back = of_kind(3, stake.outpoint(0), 0, Kind::Coin);
    let owner = Address::numbered(0);
    let expected = [
        ok(0),
        Receipt::Failed(TxError::InputKind {
            outpoint: stake.outpoint(0),
            reason: KindError::OfSomebodyElse { owner },
        }),
        Receipt::Failed(TxError::OutputKind { index: 0, reason: KindError::ForSomebodyElse { owner } }),
        ok(0),
    ];
    assert_eq!(receipts(vec![stake, stolen, given, back], &[5, 5]), expected);
}

#[test]
fn a_repeated_transaction_fails_even_if_the_first_failed() {
    let parent = tx(0, &[base_outpoint(0)], &[5]);
    let child = tx(1, &[parent.outpoint(0)], &[5]);
    let got = receipts(vec![child.clone(), parent, child], &[5]);
    assert_eq!(got[2], Receipt::Failed(TxError::DuplicateTx { first: 0 }));
}

#[test]
fn only_the_first_transaction_creates_from_nothing() {
    let got = outcome(vec![tx(0, &[], &[50, 1]), tx(1, &[], &[50])], &base(&[]), Rules::default());
    assert_eq!(got.receipts, [ok(0), Receipt::Failed(TxError::NoInputs)]);
    assert_eq!((got.issued, got.fees), (51, 0));
}

#[test]
fn sums_that_overflow() {
    let inputs = tx(0, &[base_outpoint(0), base_outpoint(1)], &[1]);
    let outputs = tx(1, &[base_outpoint(0)], &[Amount::MAX, 1]);
    let overflow = |side| Receipt::Failed(TxError::AmountOverflow { side });
    let got = outcome(vec![inputs, outputs], &base(&[Amount::MAX, 1]), Rules::default());
    assert_eq!(got.receipts, [overflow(Side::Inputs), overflow(Side::Outputs)]);
}

// The sum of fees is wider than an amount.
#[test]
fn fees_do_not_overflow() {
    let burn = |n| tx(u64::from(n), &[base_outpoint(n)], &[0]);
    let got = outcome(vec![burn(0), burn(1)], &base(&[Amount::MAX, Amount::MAX]), Rules::default());
    assert_eq!(got.fees, 2 * u128::from(Amount::MAX));
}

#[test]
fn a_stranger_may_not_spend_where_ownership_is_checked() {
    let rules = Rules { ownership: Ownership::SenderOwnsInputs };
    let mut records = base(&[5, 5]);
    records.insert(base_outpoint(1), Record::coin(Address::numbered(9), 5));
    let txs = vec![tx(0, &[base_outpoint(0)], &[5]), tx(1, &[base_outpoint(1)], &[5])];
    let stranger = TxError::NotOwner { outpoint: base_outpoint(1), owner: Address::numbered(9) };
    assert_eq!(outcome(txs.clone(), &records, rules).receipts, [ok(0), Receipt::Failed(stranger)]);
    assert_eq!(outcome(txs, &records, Rules::default()).receipts, [ok(0), ok(0)]);
}

#[test]
fn an_empty_block() {
    let got = outcome(vec![], &base(&[5]), Rules::default());
    assert_eq!(got, BlockOutcome { receipts: vec![], created: vec![], consumed: vec![], fees: 0, issued: 0 });
}

// S15: a comparison says which key differs.
#[test]
fn the_first_difference_is_named() {
    let one = outcome(vec![tx(0, &[base_outpoint(0)], &[5])], &base(&[5]), Rules::default());
    let mut other = one.clone();
    other.receipts[0] = ok(1);
    let difference = one.first_difference(&other).unwrap();
    assert_eq!(difference.to_string(), "transaction 0: expected ok, fee 0, got ok, fee 1");
    let mut other = one.clone();
    other.created.clear();
    assert!(one.first_difference(&other).unwrap().to_string().starts_with("created record 0: expected Some"));
    let mut other = one.clone();
    other.fees = 1;
    assert_eq!(one.first_difference(&other).unwrap().to_string(), "fees and issued value: expected (0, 0), got (1, 0)");
}

/// Panics when asked for anything.
struct Broken;

impl Base for Broken {
    fn record(&self, _: &interleaf_engine::ledger::tx::OutPoint) -> Option<Record> {
        panic!("the base is broken")
    }
}

// A worker that panics must not leave the others waiting for ever.
#[test]
fn a_panic_in_one_worker_ends_all() {
    let block = block(vec![tx(0, &[base_outpoint(0)], &[5]), tx(1, &[base_outpoint(1)], &[5])]);
    let graph = Graph::new(&block);
    for policy in Policy::all() {
        let run = std::panic::catch_unwind(|| Executor::new(policy, 3).execute(&block, &graph, &Broken));
        assert!(run.is_err(), "{policy}");
    }
}
