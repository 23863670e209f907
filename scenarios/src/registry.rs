//! All scenarios, by name.

use crate::ledger;
use crate::scenario::Scenario;

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
    ledger::duplicate_inputs_are_rejected::STORY,
    ledger::queries_respect_the_lock_order::STORY,
];

/// The scenario called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Scenario> {
    all().iter().find(|s| s.name == name)
}
