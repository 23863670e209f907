//! The reservations of one address (item U25).

use std::collections::BTreeMap;

use super::record::Record;
use super::tx::{OutPoint, TxId};

/// What the waiting transactions of one address reserve and what they make available to that address at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UtxoPool {
    /// Own change of waiting transactions: usable before any block confirms it (item U27). A record stays here while a
    /// later transaction reserves it; the reservation in `spent_keys` then hides it.
    pub available: BTreeMap<OutPoint, Record>,
    /// Records that waiting transactions of the address consume, and which one does.
    pub spent_keys: BTreeMap<OutPoint, TxId>,
}
