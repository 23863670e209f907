//! Blocks for the schedulers, each with the records that it needs to stand on.
//!
//! * [`bitcoin`]: real blocks: mainnet block 702,861, or any raw block file
//! * [`spec`]: descriptions of generated blocks and their text form
//! * [`generated`]: the blocks that they describe

pub mod bitcoin;
pub mod generated;
pub mod spec;

use interleaf_engine::ledger::block::Block;
use interleaf_engine::schedule::{RecordMap, Rules};

/// A block, the records that exist before it and the rules under which it is executed.
#[derive(Clone, Debug)]
pub struct PreparedBlock {
    /// What it is, for reports.
    pub name: String,
    /// The block.
    pub block: Block,
    /// The records below it.
    pub base: RecordMap,
    /// The rules of execution.
    pub rules: Rules,
}
