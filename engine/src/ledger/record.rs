//! Records: what an outpoint holds, and what became of it.

use super::tx::{Address, Amount, Output, TxId};

/// What an unspent outpoint is worth and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// Who may spend it.
    pub owner: Address,
    /// What it is worth.
    pub amount: Amount,
}

impl From<&Output> for Record {
    fn from(output: &Output) -> Self {
        Self { owner: output.owner, amount: output.amount }
    }
}

/// The confirmed transaction that consumed an outpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spent {
    /// The consuming transaction.
    pub by: TxId,
    /// The height of its block.
    pub height: u64,
}

/// What the confirmed ledger knows of an outpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Created and not consumed.
    Unspent(Record),
    /// Created and consumed.
    Spent(Spent),
    /// Never created.
    Unknown,
}
