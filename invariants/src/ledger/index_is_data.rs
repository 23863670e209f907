//! What a ledger finds by an index is what it has: the owner index lists the unspent records and no other, the index of
//! transactions those of the blocks.
//!
//! Reads: the records, blocks and indices of the database.

use std::collections::BTreeSet;
use std::fmt::Debug;

use interleaf::Violation;

/// The invariant's name.
pub const NAME: &str = "ledger.index_is_data";

/// A database as this checker sees it.
pub trait IndexedView {
    /// Names a record.
    type Key: Ord + Copy + Debug;
    /// An address.
    type Owner: Ord + Copy + Debug;
    /// Names a transaction.
    type Id: Ord + Copy + Debug;

    /// The unspent records and their owners.
    fn records(&self) -> impl Iterator<Item = (Self::Owner, Self::Key)>;

    /// What the owner index lists.
    fn owner_index(&self) -> impl Iterator<Item = (Self::Owner, Self::Key)>;

    /// The transactions of the blocks, with their heights.
    fn transactions(&self) -> impl Iterator<Item = (Self::Id, u64)>;

    /// What the index of transactions lists.
    fn transaction_index(&self) -> impl Iterator<Item = (Self::Id, u64)>;
}

/// Checks one state.
///
/// # Errors
/// The first entry that one side has and the other has not.
pub fn check<V: IndexedView + ?Sized>(view: &V) -> Result<(), Violation> {
    compare("the owner index is not the records", view.records(), view.owner_index())?;
    compare("the index of transactions is not the blocks", view.transactions(), view.transaction_index())
}

fn compare<T: Ord + Debug>(
    predicate: &str,
    data: impl Iterator<Item = T>,
    index: impl Iterator<Item = T>,
) -> Result<(), Violation> {
    let (data, index): (BTreeSet<T>, BTreeSet<T>) = (data.collect(), index.collect());
    let missing = data.difference(&index).next();
    let Some(entry) = missing.or_else(|| index.difference(&data).next()) else { return Ok(()) };
    let side = if missing.is_some() { "the data, not the index" } else { "the index, not the data" };
    Err(Violation::new(NAME, predicate)
        .expected(format_args!("{} entries in both", data.len()))
        .actual(format_args!("{} in the index", index.len()))
        .event(format_args!("{entry:?} is in {side}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sample {
        records: Vec<(u8, u8)>,
        owners: Vec<(u8, u8)>,
        blocks: Vec<(u8, u64)>,
        heights: Vec<(u8, u64)>,
    }

    impl IndexedView for Sample {
        type Key = u8;
        type Owner = u8;
        type Id = u8;

        fn records(&self) -> impl Iterator<Item = (u8, u8)> {
            self.records.iter().copied()
        }

        fn owner_index(&self) -> impl Iterator<Item = (u8, u8)> {
            self.owners.iter().copied()
        }

        fn transactions(&self) -> impl Iterator<Item = (u8, u64)> {
            self.blocks.iter().copied()
        }

        fn transaction_index(&self) -> impl Iterator<Item = (u8, u64)> {
            self.heights.iter().copied()
        }
    }

    fn good() -> Sample {
        let (records, blocks) = (vec![(1, 10), (2, 11)], vec![(7, 1), (8, 2)]);
        Sample { owners: records.clone(), records, heights: blocks.clone(), blocks }
    }

    #[test]
    fn accepts_indices_that_list_what_there_is() {
        assert_eq!(check(&good()), Ok(()));
    }

    #[test]
    fn rejects_an_entry_too_many_and_one_too_few() {
        let mut sample = good();
        sample.owners.push((1, 12));
        let violation = check(&sample).unwrap_err();
        assert_eq!((&*violation.invariant, &*violation.predicate), (NAME, "the owner index is not the records"));
        let mut sample = good();
        sample.owners[0].0 = 2;
        assert!(check(&sample).is_err(), "a record of somebody else");
        let mut sample = good();
        sample.heights.pop();
        assert_eq!(check(&sample).unwrap_err().predicate, "the index of transactions is not the blocks");
        let mut sample = good();
        sample.heights[1].1 = 3;
        assert!(check(&sample).is_err(), "another height");
    }
}
