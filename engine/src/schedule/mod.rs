//! Block execution: dependency graph, policy state machine, worker threads.
//!
//! * [`base`]: the records that exist before the block
//! * [`rules`]: what a transaction must satisfy, whoever runs it
//! * [`receipt`]: everything observable of an executed block
//! * [`sequential`]: the reference, one transaction after the other
//! * [`graph`]: which transaction waits for which
//! * [`policy`]: the policies and their parameters
//! * [`machine`]: the policies as one state machine without threads
//! * [`virtual_time`]: the machine driven by virtual workers under a cost model
//! * [`executor`]: the machine driven by worker threads
//!
//! Private: `ready_queue` (order of ready transactions), `slots` (published results), `collect` (the outcome from them).

pub mod base;
mod collect;
pub mod executor;
pub mod graph;
pub mod machine;
pub mod policy;
mod ready_queue;
pub mod receipt;
pub mod rules;
pub mod sequential;
mod slots;
pub mod virtual_time;

pub use base::{Base, Record, RecordMap};
#[cfg(feature = "planted")]
pub use executor::SchedulerBug;
pub use executor::{Execution, Executor};
pub use graph::Graph;
pub use machine::{Counters, Machine};
pub use policy::{Batching, Order, Policy};
pub use receipt::{BlockOutcome, Difference, Receipt, TxError};
pub use rules::{Ownership, Rules};
