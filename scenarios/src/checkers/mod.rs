//! The engine as the invariants see it: one function for each use.
//!
//! * [`ledger`]: the rules of a ledger at rest, undo, accepted transactions
//! * [`block_result`]: a parallel execution against the sequential one
//! * [`locks`]: the declared lock orders, as monitors
//! * [`answers`]: what was answered against the naive ledger
//! * [`claim`]: what only one story claims

pub mod answers;
pub mod block_result;
pub mod claim;
pub mod ledger;
pub mod locks;

#[cfg(test)]
mod tests;
