//! The state machine driven by virtual workers: how long a block would take if only precedence, the number of workers
//! and the cost of each transaction counted.

use super::graph::Graph;
use super::machine::{Counters, Machine};
use super::policy::Policy;

/// A block executed in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Makespan {
    /// When the last transaction is complete, in the unit of the costs.
    pub end: u64,
    /// What the machine counted.
    pub counters: Counters,
}

/// Executes the block of `graph` in virtual time. `cost` is what each transaction takes, in any unit; scheduling itself
/// takes nothing. Workers that finish at the same time report in the order of their numbers, before anybody is given
/// new work, and are given work in that order too.
///
/// # Panics
/// If the policy leaves transactions behind that nobody can start: a bug in the machine.
#[must_use]
pub fn makespan(graph: &Graph, policy: Policy, workers: usize, cost: impl Fn(u32) -> u64) -> Makespan {
    let workers = workers.max(1);
    let mut machine = Machine::new(graph, policy, workers);
    let mut tasks: Vec<(Option<u64>, Vec<u32>)> = vec![(None, Vec::new()); workers];
    let mut now = 0;
    while !machine.is_done() {
        for (worker, (until, batch)) in tasks.iter_mut().enumerate() {
            if until.is_none() && machine.start(worker, batch) {
                *until = Some(now + batch.iter().map(|&tx| cost(tx)).sum::<u64>());
            }
        }
        now = tasks.iter().filter_map(|(until, _)| *until).min().expect("somebody works while the block is not done");
        for (worker, (until, batch)) in tasks.iter_mut().enumerate() {
            if *until == Some(now) {
                machine.complete(worker, batch);
                *until = None;
            }
        }
    }
    Makespan { end: now, counters: machine.counters() }
}
