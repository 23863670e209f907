//! Scenarios, campaign, command line.
//!
//! * [`blocks`]: blocks to execute, imported and generated
#![forbid(unsafe_code)]

pub mod blocks;
