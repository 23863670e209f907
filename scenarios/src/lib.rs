//! Stories that the ledger and its schedulers must survive, the campaign that runs them, and the command line.
//!
//! * [`scenario`]: what a scenario is
//! * [`registry`]: all of them, by name
//! * [`ledger`], [`scheduler`]: stories that must hold
//! * [`negative`]: stories that must fail, with the invariant they name
//! * [`checkers`]: the engine as the invariants see it
//! * [`bench`](mod@bench): the ledger used as a ledger, in real time on real files
//! * [`blocks`]: real and generated blocks as input
//! * [`campaign`]: many runs of many scenarios: seeds, gates, verdicts, equivalence, the self-test
//! * [`report`]: how results are shown and stored
//! * [`cli`]: the command line
#![forbid(unsafe_code)]

pub mod bench;
pub mod blocks;
pub mod campaign;
pub mod checkers;
pub mod cli;
pub mod ledger;
pub mod negative;
pub mod registry;
pub mod report;
pub mod scenario;
pub mod scheduler;
