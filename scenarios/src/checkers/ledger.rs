//! The engine's ledger as the invariants see it.

use std::collections::BTreeSet;

use interleaf::Violation;
use interleaf_engine::ledger::{
    Address, ConfirmedState, Kind, Ledger, LedgerState, OutPoint, Record, Spent, Store, StoreDump, Tx, TxId,
};
use interleaf_invariants::Difference;
use interleaf_invariants::difference::{in_entries, in_sequence, in_value};
use interleaf_invariants::ledger::index_is_data::IndexedView;
use interleaf_invariants::ledger::undo_is_inverse::UndoableState;
use interleaf_invariants::ledger::{
    LedgerView, TxView, balance_is_sum, conservation, index_is_data, no_double_spend, pool_consistency,
};

pub use interleaf_invariants::ledger::undo_is_inverse;

/// The names of what [`check_settled`] checks.
pub const SETTLED: &[&str] =
    &[no_double_spend::NAME, conservation::NAME, pool_consistency::NAME, index_is_data::NAME, balance_is_sum::NAME];

/// The name of what [`check_kept`] checks.
pub const KEPT: &str = "ledger.accepted_is_kept";

/// Takes the state of `ledger`, checks every rule of a ledger on it and returns it.
///
/// # Panics
/// With the violation, for the runtime to report; if the store cannot be read.
#[track_caller]
pub fn check_settled<S: Store>(ledger: &Ledger<S>) -> LedgerState {
    let state = ledger.state().expect("the store can be read");
    let view = View(&state);
    let checked = no_double_spend::check(&view)
        .and_then(|()| conservation::check(&view))
        .and_then(|()| pool_consistency::check(&view));
    let stored = ledger.stored().expect("the store can be read");
    let checked = checked.and_then(|()| index_is_data::check(&Stored(&stored)));
    checked.and_then(|()| check_balances(ledger, &state)).unwrap_or_else(|violation| violation.raise());
    state
}

/// Asks for the balance and the stake of everybody who owns anything, and sums both up from the state.
fn check_balances<S: Store>(ledger: &Ledger<S>, state: &LedgerState) -> Result<(), Violation> {
    let reserved = |key: &OutPoint| state.pool.global_spent_keys.contains_key(key);
    let confirmed = state.confirmed.utxos.iter().filter(|(key, _)| !reserved(key)).map(|(_, record)| *record);
    let change = state.pool.pools.values().flat_map(|pool| &pool.available);
    let change = change.filter(|(key, _)| !reserved(key)).map(|(_, record)| *record);
    let records: Vec<Record> = confirmed.chain(change).collect();
    let owners: BTreeSet<Address> = records.iter().map(|record| record.owner).collect();
    for owner in owners {
        let of_kind = |kind| records.iter().filter(move |r| r.owner == owner && r.kind == kind).map(|r| r.amount);
        let balance = ledger.get_balance_available_with_pool(owner).expect("the store can be read");
        balance_is_sum::check(&owner, "balance", of_kind(Kind::Coin), balance)?;
        let stake = ledger.get_stake_with_pool(owner).expect("the store can be read");
        balance_is_sum::check(&owner, "stake", of_kind(Kind::Stake), stake)?;
    }
    Ok(())
}

/// The store, as its invariant sees it.
struct Stored<'a>(&'a StoreDump);

impl IndexedView for Stored<'_> {
    type Key = OutPoint;
    type Owner = Address;
    type Id = TxId;

    fn records(&self) -> impl Iterator<Item = (Address, OutPoint)> {
        self.0.unspent.iter().map(|(key, record)| (record.owner, *key))
    }

    fn owner_index(&self) -> impl Iterator<Item = (Address, OutPoint)> {
        self.0.owners.iter().copied()
    }

    fn transactions(&self) -> impl Iterator<Item = (TxId, u64)> {
        self.0.blocks.iter().flat_map(|block| block.txs.iter().map(|tx| (tx.id, block.height)))
    }

    fn transaction_index(&self) -> impl Iterator<Item = (TxId, u64)> {
        self.0.transactions.iter().copied()
    }
}

/// Checks that a block and its roll-back left no trace in the confirmed state (item U32).
///
/// # Panics
/// With the violation, for the runtime to report.
pub fn check_undone(before: &ConfirmedState, after: &ConfirmedState) {
    undo_is_inverse::check(&Confirmed(before), &Confirmed(after)).unwrap_or_else(|violation| violation.raise());
}

/// Checks that nothing was lost: every transaction of `accepted` is confirmed or waits, unless one of its inputs is
/// gone or another waiting transaction has reserved it (items U28, O7, O8).
///
/// # Panics
/// With the violation, for the runtime to report.
pub fn check_kept<'a>(state: &LedgerState, accepted: impl IntoIterator<Item = &'a Tx>) {
    for tx in accepted {
        if !is_kept(state, tx) {
            Violation::new(KEPT, "an accepted transaction is lost though its inputs are free")
                .expected(format_args!("{:?} confirmed or waiting", tx.id))
                .actual("neither")
                .event(format_args!("{:?} of {:?} consumes {:?}", tx.id, tx.sender, tx.inputs))
                .raise();
        }
    }
}

fn is_kept(state: &LedgerState, tx: &Tx) -> bool {
    let confirmed = || state.confirmed.blocks.iter().rev().any(|block| block.txs.iter().any(|t| t.id == tx.id));
    let waits = || state.pool.entries.iter().any(|entry| entry.tx.id == tx.id);
    waits() || confirmed() || !tx.inputs.iter().all(|key| is_free(state, tx.sender, key))
}

fn is_free(state: &LedgerState, sender: Address, key: &OutPoint) -> bool {
    let change = || state.pool.pools.get(&sender).is_some_and(|pool| pool.available.contains_key(key));
    !state.pool.global_spent_keys.contains_key(key) && (state.confirmed.utxos.contains_key(key) || change())
}

/// One state, as the ledger's invariants see it.
struct View<'a>(&'a LedgerState);

impl LedgerView for View<'_> {
    type Key = OutPoint;
    type Id = TxId;
    type Owner = Address;

    fn confirmed(&self) -> impl Iterator<Item = TxView<'_, Self>> {
        self.0.confirmed.blocks.iter().flat_map(|block| &block.txs).map(seen)
    }

    fn waiting(&self) -> impl Iterator<Item = TxView<'_, Self>> {
        self.0.pool.entries.iter().map(|entry| seen(&entry.tx))
    }

    fn waiting_change(&self) -> impl Iterator<Item = (TxId, Address, OutPoint)> {
        self.0.pool.entries.iter().flat_map(|entry| {
            let tx = &*entry.tx;
            let change = tx.outputs.iter().filter(|output| output.owner == tx.sender);
            change.map(|output| (tx.id, tx.sender, tx.outpoint(output.index)))
        })
    }

    fn unspent(&self) -> impl Iterator<Item = (OutPoint, u64)> {
        self.0.confirmed.utxos.iter().map(|(key, record)| (*key, record.amount))
    }

    fn is_unspent(&self, key: &OutPoint) -> bool {
        self.0.confirmed.utxos.contains_key(key)
    }

    fn issued(&self) -> u128 {
        u128::from(self.0.confirmed.issued)
    }

    fn fees_burnt(&self) -> u128 {
        u128::from(self.0.confirmed.tip.fees_burnt)
    }

    fn reserved_globally(&self) -> impl Iterator<Item = (OutPoint, TxId)> {
        self.0.pool.global_spent_keys.iter().map(|(key, id)| (*key, *id))
    }

    fn reserved_by_owner(&self) -> impl Iterator<Item = (Address, OutPoint, TxId)> {
        let pools = self.0.pool.pools.iter();
        pools.flat_map(|(owner, pool)| pool.spent_keys.iter().map(|(key, id)| (*owner, *key, *id)))
    }

    fn available(&self) -> impl Iterator<Item = (Address, OutPoint)> {
        let pools = self.0.pool.pools.iter();
        pools.flat_map(|(owner, pool)| pool.available.keys().map(|key| (*owner, *key)))
    }
}

fn seen<'a, 'v>(tx: &'a Tx) -> TxView<'a, View<'v>> {
    TxView { id: tx.id, sender: tx.sender, inputs: &tx.inputs }
}

/// A confirmed state, compared part by part.
struct Confirmed<'a>(&'a ConfirmedState);

impl UndoableState for Confirmed<'_> {
    fn first_difference(&self, after: &Self) -> Option<Difference> {
        let (before, after) = (self.0, after.0);
        in_value("tips", &before.tip, &after.tip)
            .or_else(|| in_sequence("blocks", &before.blocks, &after.blocks))
            .or_else(|| in_entries::<OutPoint, Record>("unspent records", &before.utxos, &after.utxos))
            .or_else(|| in_entries::<OutPoint, Spent>("consumed records", &before.spent, &after.spent))
            .or_else(|| in_entries("referrals", &before.referrals, &after.referrals))
            .or_else(|| in_entries("node infos", &before.nodes, &after.nodes))
    }
}
