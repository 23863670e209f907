//! Checkers over events, histories and externalised state.
//!
//! * [`verdict`]: holds, violated, undecided
//! * [`difference`]: where two states differ first
//! * [`ledger`]: no double spend, conservation, undo, pool consistency
//! * [`concurrency`]: the declared lock hierarchy
//! * [`history`]: calls and answers, and whether one order explains them
//! * [`sequential_equivalence`]: a parallel block result against the sequential one
//!
//! The checkers know no engine. They see a ledger or a block result through small traits, which whoever runs them
//! implements for a wrapper around his own types.
#![forbid(unsafe_code)]

pub mod concurrency;
pub mod difference;
pub mod history;
pub mod ledger;
pub mod sequential_equivalence;
pub mod verdict;

pub use difference::Difference;
pub use verdict::Verdict;
