//! Why a transaction or a block is refused.

use thiserror::Error;

use super::block::BlockId;
use super::journal::JournalError;
use super::kind::KindError;
use super::store::StoreError;
use super::tx::{Address, Amount, OutPoint, TxId};

/// Why a transaction is refused, by the pool or inside a block. Inputs are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TxError {
    /// Only the genesis transaction may create records out of nothing.
    #[error("it has no inputs")]
    NoInputs,
    /// The same record is named twice (item U21).
    #[error("inputs {first} and {second} both name {key:?}")]
    DuplicateInput {
        /// The record.
        key: OutPoint,
        /// The input that names it first.
        first: usize,
        /// The input that names it again.
        second: usize,
    },
    /// The same output index is created twice (item U24).
    #[error("output index {index} is created twice")]
    DuplicateOutput {
        /// The index.
        index: u32,
    },
    /// An output may not be of the kind that it is (items U20, U37, U38).
    #[error("output {index}: {reason}")]
    OutputKind {
        /// The output's index.
        index: u32,
        /// What forbids it.
        reason: KindError,
    },
    /// An input may not be consumed because of its kind (items U20, U37, U38).
    #[error("input {input} names {key:?}: {reason}")]
    InputKind {
        /// Which input.
        input: usize,
        /// The record.
        key: OutPoint,
        /// What forbids it.
        reason: KindError,
    },
    /// The record does not exist: not confirmed and not the sender's own unconfirmed change (item U13, decision O14).
    #[error("input {input} names {key:?}, which is neither confirmed nor change of {sender:?} in the pool")]
    UnknownInput {
        /// Which input.
        input: usize,
        /// The record.
        key: OutPoint,
        /// Whose change was looked at.
        sender: Address,
    },
    /// A confirmed transaction consumed the record already (item U13, step 1).
    #[error("input {input} names {key:?}, which {by:?} spent at height {height}")]
    SpentInput {
        /// Which input.
        input: usize,
        /// The record.
        key: OutPoint,
        /// Who consumed it.
        by: TxId,
        /// The height of the consuming block.
        height: u64,
    },
    /// A waiting transaction of the same address reserved the record (item U22).
    #[error("input {input} names {key:?}, which {by:?} of the same address reserved")]
    ReservedInput {
        /// Which input.
        input: usize,
        /// The record.
        key: OutPoint,
        /// Who reserved it.
        by: TxId,
    },
    /// A waiting transaction of another address reserved the record (item U23).
    #[error("input {input} names {key:?}, which {by:?} of another address reserved")]
    ReservedElsewhere {
        /// Which input.
        input: usize,
        /// The record.
        key: OutPoint,
        /// Who reserved it.
        by: TxId,
    },
    /// The transaction would create value.
    #[error("its outputs are worth {outputs}, its inputs only {inputs}")]
    OutputsExceedInputs {
        /// Sum of the inputs.
        inputs: Amount,
        /// Sum of the outputs.
        outputs: Amount,
    },
    /// A sum does not fit into [`Amount`].
    #[error("the sum of its inputs or of its outputs overflows")]
    AmountOverflow,
    /// The pool holds this very transaction.
    #[error("it waits in the pool already")]
    AlreadyInPool,
    /// The pool is full, and the transaction pays less for its bytes than what would have to go for it (item U40).
    #[error("the pool is full: {taken} of {most} bytes are taken, it takes {needed}, and it pays too little")]
    PoolFull {
        /// Bytes that it takes.
        needed: usize,
        /// Bytes that are taken.
        taken: usize,
        /// Bytes that there are.
        most: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a block is not added, or the chain not rolled back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BlockError {
    /// The block does not stand directly above the tip.
    #[error("block {block:?} has height {actual}; the next height is {expected}")]
    WrongHeight {
        /// The refused block.
        block: BlockId,
        /// One above the tip.
        expected: u64,
        /// What the block says.
        actual: u64,
    },
    /// The block's parent is not the tip.
    #[error("block {block:?} at height {height} stands on {actual:?}; the tip is {expected:?}")]
    WrongParent {
        /// The refused block.
        block: BlockId,
        /// Its height.
        height: u64,
        /// The tip.
        expected: BlockId,
        /// What the block says.
        actual: BlockId,
    },
    /// One of its transactions breaks a rule.
    #[error("block {block:?} at height {height}: transaction {index} ({tx:?}): {reason}")]
    InvalidTx {
        /// The refused block.
        block: BlockId,
        /// Its height.
        height: u64,
        /// Place of the transaction in the block, from 0.
        index: usize,
        /// The transaction.
        tx: TxId,
        /// The rule.
        #[source]
        reason: Box<TxError>,
    },
    /// Roll-back would go below what was written to the store (decision O9).
    #[error("cannot roll back {depth} blocks from height {tip}: everything up to height {committed} is in the store")]
    RollBackPastCommit {
        /// How many blocks were to be undone.
        depth: usize,
        /// Height of the tip.
        tip: u64,
        /// Height of the newest block in the store.
        committed: u64,
    },
    /// The store failed; the chain is unchanged.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal failed. If it failed before, the chain is unchanged. If it fails now, the chain of this process is
    /// unchanged and takes no further change, but whether the change is on disk shows when the ledger is opened again
    /// (decision O11).
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// So many blocks wait for the store, which keeps failing, that no more are taken (decision O11).
    #[error("{waiting} blocks wait for the store, more than {most}: {reason}")]
    Backlog {
        /// Blocks in memory.
        waiting: usize,
        /// The most that may be.
        most: usize,
        /// Why the store did not take them.
        reason: StoreError,
    },
}
