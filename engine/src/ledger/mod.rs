//! The ledger: transactions over outpoints, caches, pool, chain.
//!
//! * [`tx`]: transactions, outpoints, addresses, ids
//! * [`block`]: blocks and their ids

pub mod block;
pub mod tx;
