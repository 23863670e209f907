//! Stories of the block schedulers. The file's name is the claim.
//!
//! [`bench`](mod@bench) holds the blocks that they execute and what must come out.

pub mod bench;

pub mod every_policy_equals_sequential_on_small_blocks;
pub mod real_block_under_every_policy;
pub mod successors_see_their_parents_outputs;
pub mod wave_waits_for_its_dependencies;
