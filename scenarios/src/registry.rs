//! All scenarios, by name.

use crate::scenario::Scenario;
use crate::{ledger, negative, scheduler};

/// All scenarios in the order in which they are listed and run.
#[must_use]
pub fn all() -> &'static [Scenario] {
    ALL
}

const ALL: &[Scenario] = &[
    ledger::add_tx_against_add_block::STORY,
    ledger::add_tx_against_add_block_and_roll_back::STORY,
    ledger::change_is_spent_before_confirmation::STORY,
    ledger::two_addresses_want_one_output::STORY,
    ledger::roll_back_returns_the_blocks_transactions::STORY,
    ledger::clean_up_after_a_block::STORY,
    ledger::readers_during_a_fork_switch::STORY,
    ledger::eviction_frees_what_it_reserved::STORY,
    ledger::everything_at_once::STORY,
    ledger::every_answer_fits_one_order::STORY,
    ledger::two_calls_of_each_at_once::STORY,
    ledger::the_heaviest_branch_wins::STORY,
    ledger::nodes_converge_after_competing_blocks::STORY,
    ledger::readers_during_a_flush::STORY,
    ledger::acknowledged_blocks_survive_a_power_loss::STORY,
    ledger::duplicate_inputs_are_rejected::STORY,
    ledger::queries_respect_the_lock_order::STORY,
    scheduler::every_policy_equals_sequential_on_small_blocks::STORY,
    scheduler::wave_waits_for_its_dependencies::STORY,
    scheduler::successors_see_their_parents_outputs::STORY,
    scheduler::real_block_under_every_policy::STORY,
    negative::the_vulnerable_design_spends_twice::STORY,
    negative::check_then_act_in_user_code::STORY,
    negative::reversed_lock_order_deadlocks::STORY,
    negative::locks_in_two_orders::STORY,
    negative::a_fork_switch_in_three_steps::STORY,
    negative::a_choice_that_was_made_before_the_lock::STORY,
    negative::a_flush_that_forgets_first::STORY,
    negative::an_acknowledgement_before_the_sync::STORY,
    negative::a_balance_in_two_steps::STORY,
    negative::a_clean_up_in_steps::STORY,
    negative::a_roll_back_that_counted_too_early::STORY,
    negative::a_wave_that_forgets_a_dependency::STORY,
];

/// The scenario called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Scenario> {
    all().iter().find(|s| s.name == name)
}
