//! Every parallel mode gives the result of sequential execution (item N8), on real threads.

mod schedule_blocks;

use std::collections::BTreeMap;

use interleaf_engine::schedule::{Executor, Graph, Ownership, Policy, Receipt, Rules, TxError, sequential};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use schedule_blocks::{direct, random_block};

proptest! {
    // N7, N8, O4: state, receipts with reasons, order, fees.
    #[test]
    fn random_blocks((block, base) in random_block(60), workers in 1..5usize) {
        let rules = Rules::default();
        let expected = sequential::execute(&block, &base, &rules);
        let graph = Graph::new(&block);
        for policy in Policy::all() {
            let got = Executor::new(policy, workers).with_rules(rules).execute(&block, &graph, &base);
            prop_assert_eq!(&expected, &got.outcome, "{}", policy);
            prop_assert_eq!(got.counters.conflicts_met as usize, graph.dependent_count());
        }
    }
}

// N37 under every policy and 1 to 8 workers.
#[test]
fn one_chain_among_independents() {
    let (block, base) = direct(200, |i| i % 4 == 0);
    let rules = Rules { ownership: Ownership::SenderOwnsInputs };
    let expected = sequential::execute(&block, &base, &rules);
    assert!(expected.receipts.iter().all(|r| r.is_ok()));
    let graph = Graph::new(&block);
    for policy in Policy::all() {
        for workers in 1..=8 {
            let got = Executor::new(policy, workers).with_rules(rules).execute(&block, &graph, &base);
            assert_eq!(expected, got.outcome, "{policy}, {workers} workers");
        }
    }
}

// The random blocks are no test of equivalence if they never fail in some way or hardly ever succeed.
#[test]
fn random_blocks_contain_every_kind_of_failure() {
    let mut runner = TestRunner::deterministic();
    let strategy = random_block(60);
    let mut seen = BTreeMap::new();
    for _ in 0..300 {
        let (block, base) = strategy.new_tree(&mut runner).unwrap().current();
        for receipt in sequential::execute(&block, &base, &Rules::default()).receipts {
            let kind = match receipt {
                Receipt::Ok { .. } => "ok",
                Receipt::Failed(TxError::DuplicateTx { .. }) => "duplicate transaction",
                Receipt::Failed(TxError::NoInputs) => "no inputs",
                Receipt::Failed(TxError::DuplicateInput { .. }) => "duplicate input",
                Receipt::Failed(TxError::DuplicateOutput { .. }) => "duplicate output",
                Receipt::Failed(TxError::MissingInput { .. }) => "missing",
                Receipt::Failed(TxError::AlreadySpent { .. }) => "spent",
                Receipt::Failed(TxError::AmountOverflow { .. }) => "overflow",
                Receipt::Failed(TxError::Overspend { .. }) => "overspend",
                Receipt::Failed(e) => panic!("{e}"),
            };
            *seen.entry(kind).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert!(seen.values().all(|&n| n >= 20), "{seen:?}");
}
