//! The policy state machine: which transaction a worker is given next. No threads, no locks, no clock; the same machine
//! is driven by virtual workers in tests, by explored interleavings and by real threads.

use super::graph::Graph;
use super::policy::{Batching, Order, Policy};
use super::ready_queue::ReadyQueue;

/// What a machine counted. Depends on the schedule, hence no part of the outcome that must be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transactions started that had a predecessor in the block. 0 means that the run says nothing about dependencies.
    pub conflicts_met: u64,
    /// Waves begun (wave policy only).
    pub waves: u64,
    /// Transactions that were made ready by one worker and started by another (item N22).
    pub hand_overs: u64,
    /// Tasks given to workers (item N24).
    pub batches: u64,
}

/// The state of one block's execution.
///
/// A driver asks [`start`](Self::start) for a worker without a task and reports with [`complete`](Self::complete)
/// when the worker has finished all of it. The machine answers the same for the same sequence of calls.
#[derive(Debug)]
pub struct Machine<'g> {
    graph: &'g Graph,
    policy: Policy,
    workers: usize,
    /// Workers that have a task.
    busy: usize,
    /// Predecessors of each transaction that are not complete.
    waiting: Vec<u32>,
    /// Ready, and not in anybody's hands.
    queue: ReadyQueue,
    /// Ready when the current wave is complete (wave policy only).
    next_wave: Vec<u32>,
    /// Size of a task of the current wave (wave policy, [`Batching::Chunks`]).
    chunk: usize,
    /// What each worker goes on with by itself (work-first only).
    continuations: Vec<Option<u32>>,
    /// Who made each transaction ready.
    ready_by: Vec<Option<u32>>,
    completed: usize,
    counters: Counters,
    #[cfg(feature = "planted")]
    ignored: Option<(u32, u32)>,
}

impl<'g> Machine<'g> {
    /// The machine at the start of the block of `graph`, for `workers` workers (at least one).
    #[must_use]
    pub fn new(graph: &'g Graph, policy: Policy, workers: usize) -> Self {
        let mut machine = Self::unprimed(graph, policy, workers);
        machine.prime();
        machine
    }

    /// A machine with the planted bug that forgets one dependency: the first edge of the graph whose later end waits
    /// for nothing else.
    #[cfg(feature = "planted")]
    #[must_use]
    pub fn ignoring_a_dependency(graph: &'g Graph, policy: Policy, workers: usize) -> Self {
        let mut machine = Self::unprimed(graph, policy, workers);
        machine.ignored = graph.edges().map(|(from, to, _)| (from, to)).find(|&(_, to)| graph.predecessors(to) == 1);
        if let Some((_, to)) = machine.ignored {
            machine.waiting[to as usize] -= 1;
        }
        machine.prime();
        machine
    }

    fn unprimed(graph: &'g Graph, policy: Policy, workers: usize) -> Self {
        let workers = workers.max(1);
        let order = match policy {
            Policy::ReadyQueue { order, .. } => order,
            Policy::Sequential | Policy::Wave { .. } | Policy::WorkFirstContinuation { .. } => Order::Fifo,
        };
        let continuing = if matches!(policy, Policy::WorkFirstContinuation { .. }) { workers } else { 0 };
        Self {
            graph,
            policy,
            workers,
            busy: 0,
            waiting: graph.predecessor_counts().to_vec(),
            queue: ReadyQueue::new(order),
            next_wave: Vec::new(),
            chunk: 1,
            continuations: vec![None; continuing],
            ready_by: vec![None; graph.len()],
            completed: 0,
            counters: Counters::default(),
            #[cfg(feature = "planted")]
            ignored: None,
        }
    }

    /// Fills the queue with what waits for nothing.
    fn prime(&mut self) {
        let everything = self.policy == Policy::Sequential;
        for tx in (0u32..).take(self.graph.len()) {
            if everything || self.waiting[tx as usize] == 0 {
                self.enqueue(tx);
            }
        }
        self.begin_wave();
    }

    /// Number of transactions that any worker may be given now.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.queue.len()
    }

    /// Whether all transactions are complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.completed == self.graph.len()
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Gives `worker`, which has no task, its next one: replaces the content of `batch` by the transactions that it
    /// must execute in this order. `false`, with an empty batch, if there is nothing for it now.
    ///
    /// # Panics
    /// May panic if `worker` is not below the number of workers.
    pub fn start(&mut self, worker: usize, batch: &mut Vec<u32>) -> bool {
        batch.clear();
        if let Some(tx) = self.continuations.get_mut(worker).and_then(Option::take) {
            batch.push(tx);
        } else {
            self.take_from_queue(batch);
        }
        if batch.is_empty() {
            return false;
        }
        self.busy += 1;
        self.counters.batches += 1;
        for &tx in &*batch {
            self.counters.conflicts_met += u64::from(self.graph.predecessors(tx) > 0);
            let handed_over = self.ready_by[tx as usize].is_some_and(|by| by as usize != worker);
            self.counters.hand_overs += u64::from(handed_over);
        }
        true
    }

    fn take_from_queue(&mut self, batch: &mut Vec<u32>) {
        let ready = self.ready();
        let idle = self.workers - self.busy.min(self.workers);
        let (size, report_at_once) = match self.policy {
            Policy::Sequential => (ready, false),
            Policy::Wave { batching: Batching::Chunks } => (self.chunk, false),
            Policy::Wave { batching } => (batching.size(ready, self.workers, idle), false),
            Policy::ReadyQueue { batching, .. } | Policy::WorkFirstContinuation { batching } => {
                (batching.size(ready, self.workers, idle), true)
            }
        };
        while batch.len() < size.min(ready) {
            let Some(tx) = self.queue.pop() else { return };
            batch.push(tx);
            // Successors are not to wait for the rest of a task, so the task ends with the first that has some.
            if report_at_once && !self.graph.successors(tx).is_empty() {
                return;
            }
        }
    }

    /// `worker` has finished the task `batch` that [`start`](Self::start) gave it. An empty batch changes nothing.
    pub fn complete(&mut self, worker: usize, batch: &[u32]) {
        if batch.is_empty() {
            return;
        }
        debug_assert!(self.busy > 0, "worker {worker} completes a task that was never started");
        self.busy -= 1;
        self.completed += batch.len();
        if self.policy == Policy::Sequential {
            return;
        }
        for &tx in batch {
            self.release_successors(worker, tx);
        }
        self.begin_wave();
    }

    fn release_successors(&mut self, worker: usize, tx: u32) {
        let graph = self.graph;
        for &successor in graph.successors(tx) {
            #[cfg(feature = "planted")]
            if self.ignored == Some((tx, successor)) {
                continue;
            }
            let waiting = &mut self.waiting[successor as usize];
            *waiting -= 1;
            if *waiting > 0 {
                continue;
            }
            self.ready_by[successor as usize] = Some(worker as u32);
            match self.continuations.get_mut(worker) {
                Some(free @ None) => *free = Some(successor),
                _ => self.enqueue(successor),
            }
        }
    }

    fn enqueue(&mut self, tx: u32) {
        if matches!(self.policy, Policy::Wave { .. }) {
            self.next_wave.push(tx);
        } else {
            self.queue.push(tx, self.graph);
        }
    }

    /// Wave policy: if the current wave is complete and a next one is ready, opens it, in block order.
    fn begin_wave(&mut self) {
        if self.busy > 0 || self.queue.len() > 0 || self.next_wave.is_empty() {
            return;
        }
        self.next_wave.sort_unstable();
        self.chunk = Batching::Chunks.size(self.next_wave.len(), self.workers, self.workers);
        for tx in self.next_wave.drain(..) {
            self.queue.push(tx, self.graph);
        }
        self.counters.waves += 1;
    }
}
