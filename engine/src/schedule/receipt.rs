//! What is observable of an executed block: one receipt per transaction, the changed records, the fees (item N8).

use std::fmt;

use thiserror::Error;

use super::base::Record;
use crate::ledger::kind::KindError;
use crate::ledger::tx::{Address, Amount, OutPoint};

/// Which sum of a transaction's amounts left the range of [`Amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The sum of what its inputs bring.
    Inputs,
    /// The sum of what its outputs take.
    Outputs,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
        })
    }
}

/// Why a transaction failed. The reason is part of the receipt, hence of the equivalence that schedulers must keep.
///
/// If a transaction breaks several rules, the receipt names the one that stands first here; among inputs, the one that
/// stands first in the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum TxError {
    /// An earlier transaction of the block has the same id. Ids name records, so the second bearer of an id never
    /// succeeds, whatever became of the first.
    #[error("has the id of transaction {first}")]
    DuplicateTx {
        /// Index in the block of the first bearer.
        first: u32,
    },
    /// It consumes nothing. Only the first transaction of a block may create value from nothing (coinbase).
    #[error("has no inputs and is not the first of its block")]
    NoInputs,
    /// It consumes the same record twice (item U21).
    #[error("consumes {outpoint:?} twice")]
    DuplicateInput {
        /// The record.
        outpoint: OutPoint,
    },
    /// It creates the same output index twice (item U24).
    #[error("creates output {index} twice")]
    DuplicateOutput {
        /// The index.
        index: u32,
    },
    /// An output may not be of the kind that it is.
    #[error("output {index}: {reason}")]
    OutputKind {
        /// The output's index.
        index: u32,
        /// What forbids it.
        reason: KindError,
    },
    /// A record that it consumes does not exist: never did, is created only later, or its creator failed (item O4).
    #[error("input {outpoint:?} does not exist")]
    MissingInput {
        /// The record.
        outpoint: OutPoint,
    },
    /// A record that it consumes was consumed earlier in the block by a transaction that succeeded (item O4).
    #[error("input {outpoint:?} was spent by transaction {by}")]
    AlreadySpent {
        /// The record.
        outpoint: OutPoint,
        /// Index in the block of the transaction that consumed it.
        by: u32,
    },
    /// A record that it consumes belongs to somebody else; see [`Ownership`](super::rules::Ownership).
    #[error("input {outpoint:?} belongs to {owner:?}")]
    NotOwner {
        /// The record.
        outpoint: OutPoint,
        /// Whose it is.
        owner: Address,
    },
    /// A record that it consumes may not be consumed because of its kind.
    #[error("input {outpoint:?}: {reason}")]
    InputKind {
        /// The record.
        outpoint: OutPoint,
        /// What forbids it.
        reason: KindError,
    },
    /// A sum of amounts is not representable.
    #[error("the sum of the {side} overflows")]
    AmountOverflow {
        /// Which one.
        side: Side,
    },
    /// The outputs take more than the inputs bring.
    #[error("outputs take {outputs}, inputs bring only {inputs}")]
    Overspend {
        /// Sum of the inputs.
        inputs: Amount,
        /// Sum of the outputs.
        outputs: Amount,
    },
    /// It was never executed. No correct scheduler reports this: it stands in the receipt of a transaction that a
    /// scheduler lost, so that the loss is seen as a difference from sequential execution.
    #[error("was never executed")]
    NotExecuted,
}

/// What became of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Receipt {
    /// Executed: its inputs are consumed, its outputs exist.
    Ok {
        /// What the inputs bring beyond what the outputs take. 0 for a coinbase.
        fee: Amount,
    },
    /// Failed: it changed nothing.
    Failed(TxError),
}

impl Receipt {
    /// Whether the transaction took effect.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        matches!(self, Self::Ok { .. })
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok { fee } => write!(f, "ok, fee {fee}"),
            Self::Failed(e) => write!(f, "failed: {e}"),
        }
    }
}

/// Everything observable of an executed block. Two executions are equivalent when their outcomes are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOutcome {
    /// One receipt per transaction, at the transaction's index (item N25).
    pub receipts: Vec<Receipt>,
    /// Records that exist after the block and did not before, in the order of the block. What was created and
    /// consumed inside the block is not listed.
    pub created: Vec<(OutPoint, Record)>,
    /// Records of the base that the block consumed, in the order of the block.
    pub consumed: Vec<OutPoint>,
    /// Sum of all fees. Wider than an amount, since a block may hold many of the largest.
    pub fees: u128,
    /// Value that the coinbase created from nothing.
    pub issued: u128,
}

impl BlockOutcome {
    /// The first thing in which `other` differs from `self`, which is taken as the expectation: receipts first, since
    /// a wrong receipt explains wrong records. `None` if the outcomes are equal.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        first_unequal(&self.receipts, &other.receipts)
            .map(|(index, expected, actual)| Difference::Receipt { index, expected, actual })
            .or_else(|| {
                first_unequal(&self.created, &other.created).map(|(position, expected, actual)| Difference::Created {
                    position,
                    expected,
                    actual,
                })
            })
            .or_else(|| {
                first_unequal(&self.consumed, &other.consumed)
                    .map(|(position, expected, actual)| Difference::Consumed { position, expected, actual })
            })
            .or_else(|| {
                ((self.fees, self.issued) != (other.fees, other.issued)).then_some(Difference::Totals {
                    expected: (self.fees, self.issued),
                    actual: (other.fees, other.issued),
                })
            })
    }
}

/// The first thing in which two outcomes differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Two receipts; `None` where one list is shorter.
    Receipt {
        /// Index of the transaction.
        index: usize,
        /// The expected receipt.
        expected: Option<Receipt>,
        /// The one found.
        actual: Option<Receipt>,
    },
    /// Two created records; `None` where one list is shorter.
    Created {
        /// Position in [`BlockOutcome::created`].
        position: usize,
        /// The expected record.
        expected: Option<(OutPoint, Record)>,
        /// The one found.
        actual: Option<(OutPoint, Record)>,
    },
    /// Two consumed records; `None` where one list is shorter.
    Consumed {
        /// Position in [`BlockOutcome::consumed`].
        position: usize,
        /// The expected record.
        expected: Option<OutPoint>,
        /// The one found.
        actual: Option<OutPoint>,
    },
    /// Fees and issued value.
    Totals {
        /// Expected fees and issued value.
        expected: (u128, u128),
        /// Those found.
        actual: (u128, u128),
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receipt { index, expected, actual } => {
                write!(f, "transaction {index}: expected {}, got {}", shown(expected), shown(actual))
            }
            Self::Created { position, expected, actual } => {
                write!(f, "created record {position}: expected {expected:?}, got {actual:?}")
            }
            Self::Consumed { position, expected, actual } => {
                write!(f, "consumed record {position}: expected {expected:?}, got {actual:?}")
            }
            Self::Totals { expected, actual } => {
                write!(f, "fees and issued value: expected {expected:?}, got {actual:?}")
            }
        }
    }
}

fn shown(receipt: &Option<Receipt>) -> String {
    receipt.map_or_else(|| "none".to_owned(), |r| r.to_string())
}

fn first_unequal<T: Copy + PartialEq>(expected: &[T], actual: &[T]) -> Option<(usize, Option<T>, Option<T>)> {
    (0..expected.len().max(actual.len())).find_map(|i| {
        let (e, a) = (expected.get(i), actual.get(i));
        (e != a).then(|| (i, e.copied(), a.copied()))
    })
}
