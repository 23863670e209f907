//! The tables of the store on disk, and how their keys and values are written.

use redb::TableDefinition;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::store::StoreError;
use super::tx::{Address, OutPoint, TxId};

/// A transaction id and a big-endian index.
pub(super) type OutPointKey = [u8; 36];
/// An owner and an outpoint, so that the records of one owner stand together.
pub(super) type OwnedKey = [u8; 56];

/// Unspent records.
pub(super) const UNSPENT: TableDefinition<'_, &OutPointKey, &[u8]> = TableDefinition::new("unspent");
/// Consumed outpoints, and by whom.
pub(super) const SPENT: TableDefinition<'_, &OutPointKey, &[u8]> = TableDefinition::new("spent");
/// The unspent records by owner (item U33).
pub(super) const OWNERS: TableDefinition<'_, &OwnedKey, &[u8]> = TableDefinition::new("owners");
/// The height of each transaction; ids sort by time (item U36).
pub(super) const TRANSACTIONS: TableDefinition<'_, &[u8; 32], u64> = TableDefinition::new("transactions");
/// Blocks by height.
pub(super) const BLOCKS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("blocks");
/// Meta data of blocks by height.
pub(super) const METAS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("metas");
/// Who brought whom in (item U37).
pub(super) const REFERRALS: TableDefinition<'_, &[u8; 20], &[u8]> = TableDefinition::new("referrals");
/// Where nodes can be reached (item U38).
pub(super) const NODES: TableDefinition<'_, &OwnedKey, &[u8]> = TableDefinition::new("nodes");
/// `format` and `ledger`.
pub(super) const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");

/// The version of all this.
pub(super) const FORMAT: u32 = 1;

pub(super) fn outpoint_key(key: &OutPoint) -> OutPointKey {
    let mut bytes = [0; 36];
    bytes[..32].copy_from_slice(&key.tx.0);
    bytes[32..].copy_from_slice(&key.index.to_be_bytes());
    bytes
}

pub(super) fn outpoint_of(bytes: &OutPointKey) -> OutPoint {
    let (mut tx, mut index) = ([0; 32], [0; 4]);
    tx.copy_from_slice(&bytes[..32]);
    index.copy_from_slice(&bytes[32..]);
    OutPoint { tx: TxId(tx), index: u32::from_be_bytes(index) }
}

pub(super) fn owned_key(owner: &Address, key: &OutPoint) -> OwnedKey {
    let mut bytes = [0; 56];
    bytes[..20].copy_from_slice(&owner.0);
    bytes[20..].copy_from_slice(&outpoint_key(key));
    bytes
}

pub(super) fn owned_of(bytes: &OwnedKey) -> (Address, OutPoint) {
    let (mut owner, mut key) = ([0; 20], [0; 36]);
    owner.copy_from_slice(&bytes[..20]);
    key.copy_from_slice(&bytes[20..]);
    (Address(owner), outpoint_of(&key))
}

pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory does not fail.
    postcard::to_stdvec(value).unwrap_or_default()
}

pub(super) fn decode<T: DeserializeOwned>(operation: &'static str, bytes: &[u8]) -> Result<T, StoreError> {
    postcard::from_bytes(bytes)
        .map_err(|error| StoreError::of(operation, format_args!("a value does not read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_and_sort_as_what_they_stand_for() {
        let keys = [(0, 0), (0, 256), (1, 1), (1, 2)].map(|(tx, index)| OutPoint { tx: TxId([tx; 32]), index });
        let owners = [3, 4].map(Address::numbered);
        let all: Vec<_> = owners.iter().flat_map(|owner| keys.iter().map(move |key| (*owner, *key))).collect();
        let bytes: Vec<_> = all.iter().map(|(owner, key)| owned_key(owner, key)).collect();
        assert!(bytes.is_sorted());
        assert!(bytes.iter().map(owned_of).eq(all));
    }
}
