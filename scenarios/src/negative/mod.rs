//! Stories that must fail, with the invariant that they name: tests of the checkers and of the search.
//!
//! Some switch a bug of the engine on, the others are user code with a mistake of its own.

pub mod a_balance_in_two_steps;
pub mod a_choice_that_was_made_before_the_lock;
pub mod a_clean_up_in_steps;
pub mod a_flush_that_forgets_first;
pub mod a_fork_switch_in_three_steps;
pub mod a_roll_back_that_counted_too_early;
pub mod a_wave_that_forgets_a_dependency;
pub mod an_acknowledgement_before_the_sync;
pub mod check_then_act_in_user_code;
pub mod locks_in_two_orders;
pub mod reversed_lock_order_deadlocks;
pub mod the_vulnerable_design_spends_twice;
