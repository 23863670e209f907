//! Stories of the ledger. The file's name is the claim.
//!
//! [`cast`] holds who takes part and what they can do.

pub mod cast;

pub mod acknowledged_blocks_survive_a_power_loss;
pub mod add_tx_against_add_block;
pub mod add_tx_against_add_block_and_roll_back;
pub mod change_is_spent_before_confirmation;
pub mod clean_up_after_a_block;
pub mod duplicate_inputs_are_rejected;
pub mod every_answer_fits_one_order;
pub mod everything_at_once;
pub mod eviction_frees_what_it_reserved;
pub mod nodes_converge_after_competing_blocks;
pub mod queries_respect_the_lock_order;
pub mod readers_during_a_flush;
pub mod readers_during_a_fork_switch;
pub mod roll_back_returns_the_blocks_transactions;
pub mod the_heaviest_branch_wins;
pub mod two_addresses_want_one_output;
pub mod two_calls_of_each_at_once;
