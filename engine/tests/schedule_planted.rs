//! The planted scheduler bugs show themselves as wrong receipts under some interleavings, never as a panic.
#![cfg(feature = "planted")]
#![allow(clippy::disallowed_types, reason = "the tests steer real threads with std's own locks")]

mod schedule_blocks;

use std::sync::{Condvar, Mutex};

use interleaf_engine::ledger::block::Block;
use interleaf_engine::ledger::tx::OutPoint;
use interleaf_engine::schedule::{
    Base, Batching, Executor, Graph, Order, Policy, Receipt, Record, RecordMap, Rules, SchedulerBug, TxError,
    sequential,
};
use schedule_blocks::{base, base_outpoint, block, tx};

/// A parent and its two children.
fn family() -> (Block, RecordMap) {
    let parent = tx(0, &[base_outpoint(0)], &[1, 1]);
    let children = [0, 1].map(|i| tx(1 + u64::from(i), &[parent.outpoint(i)], &[1]));
    let [a, b] = children;
    (block(vec![parent, a, b]), base(&[2]))
}

/// A base in which the parent's input is found only when a child has looked for the parent's output in vain.
struct ParentWaitsForChild {
    records: RecordMap,
    child_asked: Mutex<bool>,
    asked: Condvar,
}

impl Base for ParentWaitsForChild {
    fn record(&self, outpoint: &OutPoint) -> Option<Record> {
        let mut child_asked = self.child_asked.lock().unwrap();
        if *outpoint == base_outpoint(0) {
            while !*child_asked {
                child_asked = self.asked.wait(child_asked).unwrap();
            }
        } else {
            *child_asked = true;
            self.asked.notify_all();
        }
        self.records.record(outpoint)
    }
}

const WAVE: Policy = Policy::Wave { batching: Batching::PerTx };

#[test]
fn a_wave_that_ignores_a_dependency_loses_the_parents_output() {
    let (block, records) = family();
    let graph = Graph::new(&block);
    let bug = Some(SchedulerBug::WaveIgnoresDependency);
    let right = sequential::execute(&block, &records, &Rules::default());
    let alone = Executor::new(WAVE, 1).with_bug(bug).execute(&block, &graph, &records);
    assert_eq!(alone.outcome, right, "one worker runs the parent first");

    let base = ParentWaitsForChild { records, child_asked: Mutex::new(false), asked: Condvar::new() };
    let wrong = Executor::new(WAVE, 2).with_bug(bug).execute(&block, &graph, &base).outcome;
    let missing = TxError::MissingInput { outpoint: block.txs[0].outpoint(0) };
    assert_eq!(wrong.receipts, [right.receipts[0], Receipt::Failed(missing), right.receipts[2]]);
}

// Which of the two results comes out depends on the schedule; here only that it is one of them.
#[test]
fn a_late_publication_loses_the_parents_output_or_nothing() {
    let (block, records) = family();
    let graph = Graph::new(&block);
    let right = sequential::execute(&block, &records, &Rules::default());
    let queues = [
        Policy::ReadyQueue { order: Order::Index, batching: Batching::PerTx },
        Policy::WorkFirstContinuation { batching: Batching::PerTx },
    ];
    for policy in queues {
        let executor = Executor::new(policy, 2).with_bug(Some(SchedulerBug::ReadyBeforePublish));
        for _ in 0..2_000 {
            let got = executor.execute(&block, &graph, &records).outcome;
            let lost = |i: usize| {
                let missing = TxError::MissingInput { outpoint: block.txs[0].outpoint(i as u32 - 1) };
                got.receipts[i] == Receipt::Failed(missing)
            };
            assert_eq!(got.receipts[0], right.receipts[0]);
            assert!([1, 2].into_iter().all(|i| lost(i) || got.receipts[i] == right.receipts[i]), "{got:?}");
        }
    }
}

#[test]
fn a_bug_of_one_policy_leaves_the_others_alone() {
    let (block, records) = family();
    let graph = Graph::new(&block);
    let right = sequential::execute(&block, &records, &Rules::default());
    for policy in Policy::all() {
        let bug = match policy {
            Policy::Wave { .. } => SchedulerBug::ReadyBeforePublish,
            _ => SchedulerBug::WaveIgnoresDependency,
        };
        for _ in 0..20 {
            let got = Executor::new(policy, 3).with_bug(Some(bug)).execute(&block, &graph, &records);
            assert_eq!(got.outcome, right, "{policy}");
        }
    }
}
