//! Stories that the ledger and its schedulers must survive, the campaign that runs them, and the command line.
//!
//! * [`scenario`]: what a scenario is
//! * [`registry`]: all of them, by name
//! * [`blocks`]: real and generated blocks as input
#![forbid(unsafe_code)]

pub mod blocks;
pub mod registry;
pub mod scenario;
