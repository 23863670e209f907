//! A UTXO ledger and its block schedulers.
//!
//! * [`admission`]: signatures, and the proof that one was verified (items N4, N11–N16)
//! * [`ledger`]: transactions, blocks, caches, pool, chain (specification items U…)
//! * [`schedule`]: the schedulers that execute a block in parallel (items N…)
//! * [`node`]: ledgers that tell each other of blocks and transactions
//! * [`planted`]: bugs that can be switched on, for the tests of the tests
#![forbid(unsafe_code)]

pub mod admission;
pub mod ledger;
pub mod node;
pub mod planted;
pub mod schedule;
