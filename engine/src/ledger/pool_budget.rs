//! The pool within its budget of bytes (items U40, O7).
//!
//! When it is full the transaction that pays the least for its bytes goes, with all that use its change; of equal ones the
//! newest. One that would itself be the one to go, or whose parent would, is refused. What a dependant pays does not
//! protect its parent.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use interleaf::sync::Arc;

use super::config::LedgerConfig;
use super::error::TxError;
use super::tx::{Amount, Tx, TxId};
use super::tx_current::{PoolEntry, TxCurrent, change_of};
use crate::planted::Planted;

/// What a transaction pays for its bytes, then the reverse of its place: the least goes first.
pub(super) type Worth = (u128, Reverse<i64>, TxId);

/// Bytes that the pool's maps take for one transaction, beside the transaction itself.
const ENTRY_BYTES: usize = 450;
/// For each input: two reservations.
const RESERVATION_BYTES: usize = 250;
/// For each change.
const CHANGE_BYTES: usize = 160;

/// About how many bytes a waiting transaction takes.
pub(super) fn bytes_of(tx: &Tx) -> usize {
    let maps = ENTRY_BYTES + RESERVATION_BYTES * tx.inputs.len() + CHANGE_BYTES * change_of(tx).count();
    tx.memory_bytes() + maps
}

pub(super) fn worth(tx: &Tx, fee: Amount, place: i64) -> Worth {
    ((u128::from(fee) << 32) / bytes_of(tx) as u128, Reverse(place), tx.id)
}

impl TxCurrent {
    /// Which transactions have to go so that `tx`, which pays `fee`, fits into `most` bytes; in the order of the pool's rule.
    ///
    /// # Errors
    /// [`TxError::PoolFull`] if it would be one of them.
    pub(super) fn room_for(&self, tx: &Tx, fee: Amount, most: usize) -> Result<Vec<TxId>, TxError> {
        let needed = bytes_of(tx);
        let full = || TxError::PoolFull { needed, taken: self.bytes, most };
        if needed > most {
            return Err(full());
        }
        let mut after = self.bytes + needed;
        let (mine, mut gone, mut first) = (worth(tx, fee, i64::MAX), BTreeSet::new(), Vec::new());
        let mut least_first = self.by_worth.iter();
        while after > most {
            let least = least_first.next().ok_or_else(full)?;
            if mine <= *least {
                return Err(full());
            }
            if gone.contains(&least.2) {
                continue;
            }
            first.push(least.2);
            let mut pending = vec![least.2];
            while let Some(id) = pending.pop() {
                let Some(entry) = self.entries.get(&id).filter(|_| gone.insert(id)) else { continue };
                after -= bytes_of(&entry.tx);
                pending.extend(change_of(&entry.tx).filter_map(|(key, _)| self.reserved_by(&key)));
            }
        }
        // The record that it uses would go with its parent.
        if tx.inputs.iter().any(|key| gone.contains(&key.tx)) { Err(full()) } else { Ok(first) }
    }

    /// Drops what pays the least until the pool fits again: after a roll-back has brought transactions back.
    pub(super) fn shrink_to(&mut self, most: usize) {
        while self.bytes > most {
            let Some(least) = self.by_worth.first().map(|worth| worth.2) else { return };
            self.evict(least);
        }
    }

    /// Counts an entry that comes in.
    pub(super) fn count_in(&mut self, entry: &PoolEntry) {
        self.bytes += bytes_of(&entry.tx);
        self.by_worth.insert(worth(&entry.tx, entry.fee, entry.place));
    }

    /// Uncounts an entry that goes.
    pub(super) fn count_out(&mut self, entry: &PoolEntry) {
        self.bytes -= bytes_of(&entry.tx);
        self.by_worth.remove(&worth(&entry.tx, entry.fee, entry.place));
    }

    /// Takes a checked transaction in, after making room for it.
    ///
    /// # Errors
    /// [`TxError::PoolFull`]; then nothing has changed.
    pub(super) fn admit(
        &mut self,
        tx: Arc<Tx>,
        fee: Amount,
        since_height: u64,
        config: &LedgerConfig,
    ) -> Result<(), TxError> {
        for id in self.room_for(&tx, fee, config.pool_bytes_max)? {
            if config.has(Planted::EvictionKeepsDependants) {
                self.take(id);
            } else {
                let evicted = self.evict(id);
                if config.has(Planted::EvictionKeepsReservation) {
                    evicted.iter().for_each(|tx| self.reserve_globally(tx));
                }
            }
        }
        self.push(tx, fee, since_height);
        Ok(())
    }
}
