//! A ledger as its checkers see it.

use std::fmt::Debug;

/// A transaction: who sends it, what it consumes.
#[derive(Debug)]
pub struct TxView<'a, L: LedgerView + ?Sized> {
    /// Its id.
    pub id: L::Id,
    /// Whose reservation pool it belongs to.
    pub sender: L::Owner,
    /// What it consumes.
    pub inputs: &'a [L::Key],
}

/// The state of a ledger at one moment.
pub trait LedgerView {
    /// Names a record: an outpoint.
    type Key: Ord + Copy + Debug;
    /// Names a transaction.
    type Id: Ord + Copy + Debug;
    /// An address.
    type Owner: Ord + Copy + Debug;

    /// The confirmed transactions, oldest first.
    fn confirmed(&self) -> impl Iterator<Item = TxView<'_, Self>>;

    /// The waiting transactions, in the order of the pool.
    fn waiting(&self) -> impl Iterator<Item = TxView<'_, Self>>;

    /// The outputs of waiting transactions that return to their sender: transaction, sender, record.
    fn waiting_change(&self) -> impl Iterator<Item = (Self::Id, Self::Owner, Self::Key)>;

    /// The unspent records and their values.
    fn unspent(&self) -> impl Iterator<Item = (Self::Key, u64)>;

    /// Whether `key` is an unspent record.
    fn is_unspent(&self, key: &Self::Key) -> bool;

    /// The value issued for good.
    fn issued(&self) -> u128;

    /// The fees that all blocks have burnt.
    fn fees_burnt(&self) -> u128;

    /// The records that the pool reserves against everybody, and for which transaction.
    fn reserved_globally(&self) -> impl Iterator<Item = (Self::Key, Self::Id)>;

    /// The records that the pool reserves within one address, and for which transaction.
    fn reserved_by_owner(&self) -> impl Iterator<Item = (Self::Owner, Self::Key, Self::Id)>;

    /// The change that the pool makes available to an address.
    fn available(&self) -> impl Iterator<Item = (Self::Owner, Self::Key)>;
}
