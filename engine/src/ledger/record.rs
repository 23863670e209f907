//! Records: what an outpoint holds, and what became of it.

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::tx::{Address, Amount, Output, TxId};

/// What an unspent outpoint is worth and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Record {
    /// Who may spend it.
    pub owner: Address,
    /// What it is worth.
    pub amount: Amount,
    /// What it is good for.
    pub kind: Kind,
}

impl Record {
    /// Value to spend.
    #[must_use]
    pub const fn coin(owner: Address, amount: Amount) -> Self {
        Self { owner, amount, kind: Kind::Coin }
    }
}

impl From<&Output> for Record {
    fn from(output: &Output) -> Self {
        Self { owner: output.owner, amount: output.amount, kind: output.kind }
    }
}

/// The confirmed transaction that consumed an outpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
