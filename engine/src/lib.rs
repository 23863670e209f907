//! A UTXO ledger and its block schedulers.
//!
//! * [`ledger`]: transactions, blocks, caches, pool, chain (specification items U…)
//! * [`schedule`]: the schedulers that execute a block in parallel (items N…)
#![forbid(unsafe_code)]

pub mod ledger;
pub mod schedule;
