//! A parent has two children, and both of them one child in common. Whoever becomes ready is started at once, by a
//! worker that waits in the queue or by the one that has just made it ready; each finds the outputs of its parents.
//!
//! Ready means that the predecessors' outputs exist (item N21), not that somebody is about to write them. The worker
//! that goes on by itself (item N22) never notices the difference; the one that takes the other child does.

use std::sync::LazyLock;

use interleaf::rand::stream;
use interleaf_engine::planted::Planted;
use interleaf_engine::schedule::{Batching, Order, Policy};

use super::bench::{OnBench, SCHEDULER_STORY, below};
use crate::scenario::{Scenario, Setup};

/// The story.
pub const STORY: Scenario = Scenario {
    name: "scheduler.successors_see_their_parents_outputs",
    claim: "a transaction starts when its parents' outputs are published, not earlier",
    finds: &[(Planted::ReadyBeforePublish, 50)],
    weight: 20,
    draws: true,
    world,
    ..SCHEDULER_STORY
};

/// Parent, two children, their common child.
static DIAMOND: LazyLock<OnBench> =
    LazyLock::new(|| OnBench::family(&[(&[], 2), (&[(0, 0)], 1), (&[(0, 1)], 1), (&[(1, 0), (2, 0)], 1)]));

const BATCHING: Batching = Batching::PerTx;

const QUEUES: [Policy; 4] = [
    Policy::ReadyQueue { order: Order::Fifo, batching: BATCHING },
    Policy::ReadyQueue { order: Order::Index, batching: BATCHING },
    Policy::ReadyQueue { order: Order::CriticalPath, batching: BATCHING },
    Policy::WorkFirstContinuation { batching: BATCHING },
];

fn world(setup: &Setup<'_>) {
    let mut draws = stream("workload");
    let policy = QUEUES[below(&mut draws, QUEUES.len())];
    DIAMOND.check(setup, policy, 2 + below(&mut draws, 2));
}
