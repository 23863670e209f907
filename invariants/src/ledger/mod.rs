//! Rules of a UTXO ledger over its state of one moment.
//!
//! * [`no_double_spend`]: nothing is consumed twice, confirmed or waiting
//! * [`conservation`]: unspent value and burnt fees add up to what was issued
//! * [`undo_is_inverse`]: a block and its roll-back leave no trace
//! * [`pool_consistency`]: waiting transactions can be confirmed, and reservations are exactly theirs
//! * [`balance_is_sum`]: what an owner is told is what he has
//! * [`index_is_data`]: an index lists what there is
//!
//! [`view`] says how these checkers see a ledger.

pub mod balance_is_sum;
pub mod conservation;
pub mod index_is_data;
pub mod no_double_spend;
pub mod pool_consistency;
pub mod undo_is_inverse;
pub mod view;

#[cfg(test)]
mod sample;

pub use view::{LedgerView, TxView};
