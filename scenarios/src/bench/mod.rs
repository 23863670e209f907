//! The ledger used as a ledger: real time, real files, one thread. Nothing here is simulated.
//!
//! * [`workload`]: transactions that are valid one after the other, drawn from a seed
//! * [`imported`]: real blocks as blocks of this ledger
//! * [`place`]: the folder of a ledger, made by nobody else
//! * [`watched_store`]: a store whose reads are counted and whose batches are timed
//! * [`meter`]: latencies, CPU time, memory
//! * [`import`]: blocks and transactions into the ledger
//! * [`questions`]: what a ledger is asked, how long it takes and what it reads
//! * [`digest`]: a hash of the confirmed state
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "measures real time on real files, outside of simulated runs"
)]

pub mod digest;
pub mod import;
pub mod imported;
pub mod meter;
pub mod place;
pub mod questions;
pub mod watched_store;
pub mod workload;
