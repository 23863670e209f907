//! The shell of worker threads around the policy state machine (items N7, N10, N24, N25).

use std::mem;

use interleaf::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use interleaf::thread;

use super::base::{Base, Record};
use super::collect::collect;
use super::graph::Graph;
use super::machine::{Counters, Machine};
use super::policy::Policy;
use super::receipt::{BlockOutcome, Receipt, TxError};
use super::rules::Rules;
use super::slots::{Published, Slots};
use crate::ledger::block::Block;
use crate::planted::Planted;

/// Bugs that can be switched on, to see that checkers find them. Each gives wrong receipts under some interleavings
/// and right ones under others; none panics.
#[cfg(feature = "planted")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchedulerBug {
    /// The wave policy forgets one dependency: a transaction runs in the wave of its predecessor.
    WaveIgnoresDependency,
    /// The queue policies (ready queue and work-first) report a transaction as complete, so that its successors can
    /// start, before its result stands in its slot.
    ReadyBeforePublish,
}

#[cfg(feature = "planted")]
impl SchedulerBug {
    /// The scheduler's part of all planted bugs.
    #[must_use]
    pub const fn of(planted: Planted) -> Option<Self> {
        match planted {
            Planted::WaveIgnoresDependency => Some(Self::WaveIgnoresDependency),
            Planted::ReadyBeforePublish => Some(Self::ReadyBeforePublish),
            _ => None,
        }
    }
}

/// Executes blocks with a policy and a number of workers.
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    policy: Policy,
    workers: usize,
    rules: Rules,
    #[cfg(feature = "planted")]
    bug: Option<SchedulerBug>,
}

/// The result of a parallel execution.
#[derive(Clone, Debug)]
pub struct Execution {
    /// What must equal the sequential outcome.
    pub outcome: BlockOutcome,
    /// What happened on the way; differs from schedule to schedule.
    pub counters: Counters,
}

impl Executor {
    /// An executor with `workers` workers, at least one. The calling thread is one of them, so `workers - 1` threads
    /// are started for each block, and none for a block that is empty.
    #[must_use]
    pub fn new(policy: Policy, workers: usize) -> Self {
        Self {
            policy,
            workers: workers.max(1),
            rules: Rules::default(),
            #[cfg(feature = "planted")]
            bug: None,
        }
    }

    /// Sets the rules of execution.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Switches the bug `planted` on if it is one of the schedulers'; without the feature `planted` it has no effect.
    #[must_use]
    pub fn with_planted(self, planted: Option<Planted>) -> Self {
        #[cfg(feature = "planted")]
        return self.with_bug(planted.and_then(SchedulerBug::of));
        #[cfg(not(feature = "planted"))]
        {
            let _ = planted;
            self
        }
    }

    /// Switches a planted bug on.
    #[cfg(feature = "planted")]
    #[must_use]
    pub fn with_bug(mut self, bug: Option<SchedulerBug>) -> Self {
        self.bug = bug;
        self
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Executes `block`, whose graph is `graph`, on `base`. The outcome equals that of
    /// [`sequential::execute`](super::sequential::execute) with the same rules, for every policy and every number of
    /// workers (item N8).
    ///
    /// # Panics
    /// If `base` panics; the other workers stop after their current task. If `graph` belongs to another block.
    #[must_use]
    pub fn execute<B: Base + Sync + ?Sized>(&self, block: &Block, graph: &Graph, base: &B) -> Execution {
        assert_eq!(block.txs.len(), graph.len(), "the graph belongs to another block");
        let machine = self.machine(graph);
        let shell = Shell {
            block,
            graph,
            base,
            rules: self.rules,
            slots: Slots::new(graph.len()),
            shared: Mutex::new(Shared { machine, asleep: 0, abandoned: false }),
            changed: Condvar::new(),
            #[cfg(feature = "planted")]
            publishes_late: self.bug == Some(SchedulerBug::ReadyBeforePublish)
                && matches!(self.policy, Policy::ReadyQueue { .. } | Policy::WorkFirstContinuation { .. }),
        };
        shell.slots.name();
        interleaf::name(&shell.shared, "Schedule");
        interleaf::name(&shell.changed, "Schedule.changed");
        if !graph.is_empty() {
            thread::scope(|scope| {
                for worker in 1..self.workers {
                    let shell = &shell;
                    scope.spawn(move || shell.work(worker));
                }
                shell.work(0);
            });
        }
        let counters = shell.shared.into_inner().unwrap_or_else(PoisonError::into_inner).machine.counters();
        let receipts =
            shell.slots.into_receipts().map(|r| r.unwrap_or(Receipt::Failed(TxError::NotExecuted))).collect();
        Execution { outcome: collect(block, graph, receipts), counters }
    }

    fn machine<'g>(&self, graph: &'g Graph) -> Machine<'g> {
        #[cfg(feature = "planted")]
        if self.bug == Some(SchedulerBug::WaveIgnoresDependency) && matches!(self.policy, Policy::Wave { .. }) {
            return Machine::ignoring_a_dependency(graph, self.policy, self.workers);
        }
        Machine::new(graph, self.policy, self.workers)
    }
}

/// What the workers of one execution share.
struct Shell<'a, B: ?Sized> {
    block: &'a Block,
    graph: &'a Graph,
    base: &'a B,
    rules: Rules,
    slots: Slots,
    shared: Mutex<Shared<'a>>,
    /// Something became ready, or everything is done.
    changed: Condvar,
    #[cfg(feature = "planted")]
    publishes_late: bool,
}

struct Shared<'a> {
    machine: Machine<'a>,
    /// Workers waiting on `changed`, those included that are notified but do not run yet.
    asleep: usize,
    /// A worker panicked, so its task will never be complete.
    abandoned: bool,
}

impl<B: Base + ?Sized> Shell<'_, B> {
    fn work(&self, worker: usize) {
        let mut watch = Watch { shell: self, left_normally: false };
        let mut batch = Vec::new();
        #[cfg(feature = "planted")]
        let mut late = None;
        while self.next(worker, &mut batch) {
            #[cfg(feature = "planted")]
            self.publish_late(late.take());
            for &tx in &batch {
                let result = self.execute(tx);
                #[cfg(feature = "planted")]
                if self.publishes_late && batch.last() == Some(&tx) {
                    late = Some((tx, result));
                    continue;
                }
                self.slots.publish(tx, result);
            }
        }
        #[cfg(feature = "planted")]
        self.publish_late(late);
        watch.left_normally = true;
    }

    #[cfg(feature = "planted")]
    fn publish_late(&self, late: Option<(u32, Published)>) {
        if let Some((tx, result)) = late {
            self.slots.publish(tx, result);
        }
    }

    /// Reports the task `batch` as complete and replaces it by the worker's next one, under one acquisition of the
    /// lock. Waits while there is nothing to do; `false` when there will never be.
    fn next(&self, worker: usize, batch: &mut Vec<u32>) -> bool {
        let mut shared = self.lock();
        shared.machine.complete(worker, batch);
        loop {
            if shared.abandoned || shared.machine.is_done() {
                if mem::take(&mut shared.asleep) > 0 {
                    self.changed.notify_all();
                }
                return false;
            }
            if shared.machine.start(worker, batch) {
                // Each waker wakes one; that one wakes the next if there is still work. So nobody is woken for nothing
                // when a single transaction became ready, which its own worker has just taken.
                if shared.asleep > 0 && shared.machine.ready() > 0 {
                    self.changed.notify_one();
                }
                return true;
            }
            shared.asleep += 1;
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            shared.asleep = shared.asleep.saturating_sub(1);
        }
    }

    fn execute(&self, tx: u32) -> Published {
        interleaf::note(|| format!("runs tx {tx}"));
        let content = &self.block.txs[tx as usize];
        if let Some(first) = self.graph.twin(tx) {
            return Published { receipt: Receipt::Failed(TxError::DuplicateTx { first }), spent_before: Vec::new() };
        }
        let sources = self.graph.sources(tx);
        let spent_before: Vec<(u32, u32)> = (0u32..)
            .zip(sources)
            .filter_map(|(position, source)| {
                let (rival, at) = source.rival?;
                Some((position, self.slots.spender(rival, at)?))
            })
            .collect();
        let receipt = self.rules.execute(content, tx, |position, outpoint| {
            if let Some(&(_, by)) = spent_before.iter().find(|(p, _)| *p as usize == position) {
                return Err(TxError::AlreadySpent { outpoint: *outpoint, by });
            }
            let created = sources[position].creator.and_then(|(creator, output)| self.created(creator, output));
            let found = created.or_else(|| self.base.record(outpoint));
            found.ok_or(TxError::MissingInput { outpoint: *outpoint })
        });
        Published { receipt, spent_before }
    }

    /// The record that `creator` creates with its output at position `output`, if `creator` has published success.
    fn created(&self, creator: u32, output: u32) -> Option<Record> {
        self.slots.succeeded(creator).then(|| {
            let output = self.block.txs[creator as usize].outputs[output as usize];
            Record::from(&output)
        })
    }
}

impl<'a, B: ?Sized> Shell<'a, B> {
    fn lock(&self) -> MutexGuard<'_, Shared<'a>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Releases the other workers when its own one leaves by a panic.
struct Watch<'s, 'a, B: ?Sized> {
    shell: &'s Shell<'a, B>,
    left_normally: bool,
}

impl<B: ?Sized> Drop for Watch<'_, '_, B> {
    fn drop(&mut self) {
        if !self.left_normally {
            self.shell.lock().abandoned = true;
            self.shell.changed.notify_all();
        }
    }
}
