//! Workers that sleep are woken when there is work for them.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "the test steers real threads with std")]

mod schedule_blocks;

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use interleaf_engine::ledger::tx::OutPoint;
use interleaf_engine::schedule::{Base, Executor, Graph, Policy, Record, RecordMap};
use schedule_blocks::{base, base_outpoint, block, tx};

/// A base in which each child's record is found only while the other child asks for its own.
struct Meeting {
    records: RecordMap,
    arrived: Mutex<usize>,
    arrival: Condvar,
}

impl Base for Meeting {
    fn record(&self, outpoint: &OutPoint) -> Option<Record> {
        if *outpoint == base_outpoint(0) {
            // The parent takes its time, so that the other worker is asleep when the children become ready.
            std::thread::sleep(Duration::from_millis(20));
            return self.records.record(outpoint);
        }
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.arrival.notify_all();
        let met = self.arrival.wait_timeout_while(arrived, Duration::from_secs(20), |n| *n < 2).unwrap();
        self.records.record(outpoint).filter(|_| !met.1.timed_out())
    }
}

// N21: two successors of one transaction run at the same time, on the worker that made them ready and on one that slept.
#[test]
fn successors_wake_sleeping_workers() {
    let parent = tx(0, &[base_outpoint(0)], &[1, 1]);
    let child = |n: u32| tx(u64::from(n), &[parent.outpoint(n - 1), base_outpoint(n)], &[2]);
    let block = block(vec![parent.clone(), child(1), child(2)]);
    let graph = Graph::new(&block);
    for policy in Policy::all().into_iter().filter(|p| *p != Policy::Sequential) {
        let base = Meeting { records: base(&[2, 1, 1]), arrived: Mutex::new(0), arrival: Condvar::new() };
        let outcome = Executor::new(policy, 2).execute(&block, &graph, &base).outcome;
        assert!(outcome.receipts.iter().all(|r| r.is_ok()), "{policy}: {:?}", outcome.receipts);
    }
}
