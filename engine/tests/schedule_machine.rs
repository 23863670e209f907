//! The policy state machine, driven by hand and by virtual workers.

mod schedule_blocks;

use interleaf_engine::schedule::virtual_time::makespan;
use interleaf_engine::schedule::{Batching, Graph, Machine, Order, Policy};
use proptest::prelude::*;
use proptest::sample::Index;
use schedule_blocks::{base_outpoint, block, direct, random_block, tx};

const PER_TX: Batching = Batching::PerTx;
const WAVE: Policy = Policy::Wave { batching: PER_TX };
const FIFO: Policy = Policy::ReadyQueue { order: Order::Fifo, batching: PER_TX };
const INDEX: Policy = Policy::ReadyQueue { order: Order::Index, batching: PER_TX };
const WORK_FIRST: Policy = Policy::WorkFirstContinuation { batching: PER_TX };

/// The next task of `worker`; empty if there is none.
fn start(machine: &mut Machine<'_>, worker: usize) -> Vec<u32> {
    let mut batch = Vec::new();
    machine.start(worker, &mut batch);
    batch
}

/// 0 creates two outputs that 1 and 2 consume, 3 consumes one of each; 4 is independent.
fn diamond() -> Graph {
    let top = tx(0, &[base_outpoint(0)], &[1, 1]);
    let left = tx(1, &[top.outpoint(0)], &[1]);
    let right = tx(2, &[top.outpoint(1)], &[1]);
    let bottom = tx(3, &[left.outpoint(0), right.outpoint(0)], &[2]);
    let alone = tx(4, &[base_outpoint(1)], &[1]);
    Graph::new(&block(vec![top, left, right, bottom, alone]))
}

// N19
#[test]
fn sequential_hands_the_whole_block_to_one_worker_in_order() {
    let graph = diamond();
    let mut m = Machine::new(&graph, Policy::Sequential, 2);
    assert_eq!(start(&mut m, 1), [0, 1, 2, 3, 4]);
    assert_eq!(start(&mut m, 0), Vec::<u32>::new(), "nothing beside it");
    m.complete(1, &[0, 1, 2, 3, 4]);
    assert!(m.is_done());
    assert_eq!(m.counters().hand_overs, 0);
}

// N20
#[test]
fn a_wave_waits_for_its_last_transaction() {
    let graph = diamond();
    let mut m = Machine::new(&graph, WAVE, 2);
    assert_eq!((start(&mut m, 0), start(&mut m, 1)), (vec![0], vec![4]));
    m.complete(0, &[0]);
    assert_eq!(start(&mut m, 0), Vec::<u32>::new(), "4 still runs, so the wave is not complete");
    m.complete(1, &[4]);
    assert_eq!((start(&mut m, 0), start(&mut m, 1)), (vec![1], vec![2]));
    m.complete(1, &[2]);
    m.complete(0, &[1]);
    assert_eq!(start(&mut m, 1), [3]);
    m.complete(1, &[3]);
    assert!(m.is_done());
    assert_eq!(m.counters().waves, 3);
    assert_eq!(m.counters().conflicts_met, 3);
}

// N8: the order inside a wave is that of the block, not that in which its predecessors happened to end.
#[test]
fn a_wave_is_in_block_order() {
    let (a, b) = (tx(0, &[base_outpoint(0)], &[1]), tx(1, &[base_outpoint(1)], &[1]));
    let (child_of_a, child_of_b) = (tx(2, &[a.outpoint(0)], &[1]), tx(3, &[b.outpoint(0)], &[1]));
    let graph = Graph::new(&block(vec![a, b, child_of_a, child_of_b]));
    let mut m = Machine::new(&graph, WAVE, 2);
    assert_eq!((start(&mut m, 0), start(&mut m, 1)), (vec![0], vec![1]));
    m.complete(1, &[1]);
    m.complete(0, &[0]);
    assert_eq!(start(&mut m, 1), [2]);
}

// N21
#[test]
fn the_ready_queue_does_not_wait_for_a_wave() {
    let graph = diamond();
    let mut m = Machine::new(&graph, INDEX, 2);
    assert_eq!((start(&mut m, 0), start(&mut m, 1)), (vec![0], vec![4]));
    m.complete(0, &[0]);
    assert_eq!(m.ready(), 2);
    assert_eq!(start(&mut m, 0), [1], "while 4 still runs");
    m.complete(1, &[4]);
    assert_eq!(start(&mut m, 1), [2]);
    assert_eq!(m.counters().hand_overs, 1, "2 was made ready by worker 0");
}

// O1
#[test]
fn the_order_of_the_ready_queue_decides_what_comes_first() {
    let graph = diamond();
    let second = |order| {
        let mut m = Machine::new(&graph, Policy::ReadyQueue { order, batching: PER_TX }, 1);
        assert_eq!(start(&mut m, 0), [0]);
        m.complete(0, &[0]);
        start(&mut m, 0)
    };
    assert_eq!(second(Order::Fifo), [4]);
    assert_eq!(second(Order::Index), [1]);
    let last_has_a_child = {
        let parent = tx(1, &[base_outpoint(1)], &[1]);
        let child = tx(2, &[parent.outpoint(0)], &[1]);
        Graph::new(&block(vec![tx(0, &[base_outpoint(0)], &[1]), parent, child]))
    };
    let critical = Policy::ReadyQueue { order: Order::CriticalPath, batching: PER_TX };
    assert_eq!(start(&mut Machine::new(&last_has_a_child, critical, 1), 0), [1]);
}

// N22
#[test]
fn work_first_goes_on_with_a_successor_and_shares_the_others() {
    let graph = diamond();
    let mut m = Machine::new(&graph, WORK_FIRST, 2);
    assert_eq!(start(&mut m, 0), [0]);
    m.complete(0, &[0]);
    assert_eq!(m.ready(), 2, "4 and one successor; the other is worker 0's own");
    assert_eq!(start(&mut m, 1), [4]);
    assert_eq!(start(&mut m, 0), [1], "its own successor, not the head of the queue");
    m.complete(1, &[4]);
    assert_eq!(start(&mut m, 1), [2]);
    assert_eq!(m.counters().hand_overs, 1);
}

// N24, O3
#[test]
fn tasks_are_few_and_a_queue_task_ends_where_somebody_waits() {
    let (independent, _) = direct(100, |_| false);
    let graph = Graph::new(&independent);
    let mut m = Machine::new(&graph, Policy::Wave { batching: Batching::Chunks }, 4);
    assert_eq!(start(&mut m, 2), (0..25).collect::<Vec<_>>());
    assert_eq!(makespan(&graph, Policy::Wave { batching: Batching::Chunks }, 4, |_| 1).counters.batches, 4);
    assert_eq!(makespan(&graph, WAVE, 4, |_| 1).counters.batches, 100);

    let (chain_in_the_middle, _) = direct(100, |i| (5..8).contains(&i));
    let graph = Graph::new(&chain_in_the_middle);
    let chunked = Policy::ReadyQueue { order: Order::Index, batching: Batching::Chunks };
    assert_eq!(start(&mut Machine::new(&graph, chunked, 2), 0), [0, 1, 2, 3, 4, 5], "6 waits for 5");
}

// N20, N23: a chain of length L makes at least L waves and takes at least L, whatever the workers.
#[test]
fn no_number_of_workers_removes_a_chain() {
    let (chain, _) = direct(20, |i| i % 2 == 0);
    let graph = Graph::new(&chain);
    assert_eq!(graph.depth(), 10);
    for policy in Policy::all() {
        let run = makespan(&graph, policy, 8, |_| 1);
        assert!(run.end >= 10, "{policy}: {run:?}");
        if matches!(policy, Policy::Wave { .. }) {
            assert_eq!(run.counters.waves, 10, "{policy}");
        }
    }
}

/// One row of the table: share of the chain, workers, and ms for wave, ready queue (fifo, index), work-first.
type Row = (u32, usize, [f64; 4]);

// The zero-overhead model of N37–N40: 1,000 Direct transactions of 121.016 µs each, the chain at the start of the
// block. O1 rests on it: first in first out gains nothing over waves.
#[test]
fn virtual_time_of_the_published_experiment() {
    let table: [Row; 5] = [
        (25, 4, [52.9, 52.8, 30.3, 30.3]),
        (25, 2, [75.6, 75.5, 60.5, 60.5]),
        (50, 4, [75.6, 75.5, 60.5, 60.5]),
        (50, 2, [90.8, 90.6, 60.5, 60.5]),
        (0, 4, [30.3, 30.3, 30.3, 30.3]),
    ];
    for (percent, workers, expected) in table {
        let (block, _) = direct(1000, |i| i < percent * 10);
        let graph = Graph::new(&block);
        let ms = [WAVE, FIFO, INDEX, WORK_FIRST].map(|policy| {
            let ns = makespan(&graph, policy, workers, |_| 121_016).end;
            (ns as f64 / 1e5).round() / 10.0
        });
        assert_eq!(ms, expected, "{percent} % in one chain, {workers} workers");
    }
}

// O2: where the chain stands in the block (first, last, spread) matters to the queues, not to waves.
#[test]
fn place_of_the_chain() {
    let places: [fn(u32) -> bool; 3] = [|i| i < 250, |i| i >= 750, |i| i % 4 == 0];
    let rounds = |policy| places.map(|in_chain| makespan(&Graph::new(&direct(1000, in_chain).0), policy, 4, |_| 1).end);
    assert_eq!(rounds(WAVE), [437; 3]);
    assert_eq!(rounds(INDEX), [250, 437, 250]);
    assert_eq!(rounds(WORK_FIRST), [250, 437, 250]);
    assert_eq!(rounds(Policy::ReadyQueue { order: Order::CriticalPath, batching: PER_TX }), [250; 3]);
}

fn any_policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(Policy::all())
}

proptest! {
    // N8, N21, N23: whatever the workers do when, every transaction is started exactly once, after its predecessors.
    #[test]
    fn started_once_and_after_all_predecessors(
        (block, _) in random_block(40),
        policy in any_policy(),
        workers in 1..5usize,
        moves in prop::collection::vec(any::<Index>(), 0..200),
    ) {
        let graph = Graph::new(&block);
        let mut machine = Machine::new(&graph, policy, workers);
        let mut started = vec![0; graph.len()];
        let mut complete = vec![false; graph.len()];
        let mut tasks: Vec<Vec<u32>> = vec![Vec::new(); workers];
        let mut moves = moves.into_iter();
        while !machine.is_done() {
            let worker = moves.next().map_or(0, |i| i.index(workers));
            // Without further random moves: all that can start do, then all complete.
            let turn: Vec<usize> = if moves.len() > 0 { vec![worker] } else { (0..workers).collect() };
            let mut moved = moves.len() > 0;
            for worker in turn {
                if tasks[worker].is_empty() {
                    let mut batch = Vec::new();
                    moved |= machine.start(worker, &mut batch);
                    for (i, &tx) in batch.iter().enumerate() {
                        started[tx as usize] += 1;
                        for (from, to, _) in graph.edges() {
                            let before = complete[from as usize] || batch[..i].contains(&from);
                            prop_assert!(to != tx || before, "{policy}: {to} before {from}");
                        }
                    }
                    tasks[worker] = batch;
                } else {
                    let batch = std::mem::take(&mut tasks[worker]);
                    batch.iter().for_each(|&tx| complete[tx as usize] = true);
                    machine.complete(worker, &batch);
                    moved = true;
                }
            }
            prop_assert!(moved, "{policy}: nobody can start and nobody works, but the block is not done");
        }
        prop_assert!(started.iter().all(|&n| n == 1), "{policy}: {started:?}");
        prop_assert_eq!(machine.counters().conflicts_met as usize, graph.dependent_count());
        if let Policy::Wave { .. } = policy {
            prop_assert_eq!(machine.counters().waves, u64::from(graph.depth()));
        }
    }

    // The widths of the waves are the levels of the graph, and heights and levels measure the same longest path.
    #[test]
    fn levels_and_heights_agree((block, _) in random_block(40)) {
        let graph = Graph::new(&block);
        prop_assert_eq!(graph.widths().iter().sum::<usize>(), graph.len());
        let through = (0..graph.len() as u32).map(|tx| graph.level(tx) + graph.height(tx)).max();
        prop_assert_eq!(through.unwrap_or(0), graph.depth());
        for (from, to, why) in graph.edges() {
            prop_assert!(from < to && graph.level(from) < graph.level(to) && graph.height(from) > graph.height(to));
            prop_assert!(why.outputs + why.rivalries > 0);
        }
    }
}
