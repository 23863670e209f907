//! A small block, drawn from a thousand with parents, children, second spenders and transactions that break a rule, is
//! executed by two to four workers under a policy, order and batching that are drawn too. The outcome is that of one
//! transaction after the other: the same receipts with the same errors, the same fees, the same records.
//!
//! No optimisation may drop a check or change the order (item N8), and what depends on a failed transaction fails as it
//! would alone (decision O4). Small blocks, because most wrong orders need only three transactions, and many of them.

use std::sync::LazyLock;

use interleaf::rand::stream;

use super::bench::{OnBench, POLICIES, SCHEDULER_STORY, below};
use crate::blocks::spec::Spec;
use crate::scenario::{Scenario, Setup};
use interleaf_engine::planted::Planted;

/// The story.
pub const STORY: Scenario = Scenario {
    name: "scheduler.every_policy_equals_sequential_on_small_blocks",
    claim: "every policy gives what sequential execution gives, errors included",
    finds: &[(Planted::WaveIgnoresDependency, 2_000), (Planted::ReadyBeforePublish, 400)],
    weight: 60,
    draws: true,
    world,
    ..SCHEDULER_STORY
};

const BLOCKS: u64 = 1_024;

/// Made once: building a block costs more than executing it. Three to ten transactions; every fourth block has no
/// broken rules.
static SMALL_BLOCKS: LazyLock<Vec<OnBench>> = LazyLock::new(|| {
    let spec = |n: u64| {
        let txs = 3 + (n / 4 % 8) as u32;
        if n.is_multiple_of(4) { Spec::Random { txs, percent: 80 } } else { Spec::Conflicts { txs, percent: 30 } }
    };
    (0..BLOCKS).map(|n| OnBench::of(spec(n).generate(n))).collect()
});

fn world(setup: &Setup<'_>) {
    let mut draws = stream("workload");
    let block = &SMALL_BLOCKS[below(&mut draws, BLOCKS as usize)];
    let policy = POLICIES[below(&mut draws, POLICIES.len())];
    block.check(setup, policy, 2 + below(&mut draws, 3));
}
