//! A ledger written down by hand, for the checkers' own tests: keys, ids and owners are numbers.

use super::view::{LedgerView, TxView};

pub(super) struct SampleTx {
    pub(super) id: u32,
    pub(super) sender: u32,
    pub(super) inputs: Vec<u32>,
    pub(super) change: Vec<u32>,
}

pub(super) struct Sample {
    pub(super) confirmed: Vec<SampleTx>,
    pub(super) waiting: Vec<SampleTx>,
    pub(super) unspent: Vec<(u32, u64)>,
    pub(super) issued: u128,
    pub(super) fees_burnt: u128,
    pub(super) global: Vec<(u32, u32)>,
    pub(super) by_owner: Vec<(u32, u32, u32)>,
    pub(super) available: Vec<(u32, u32)>,
}

pub(super) fn tx(id: u32, sender: u32, inputs: &[u32], change: &[u32]) -> SampleTx {
    SampleTx { id, sender, inputs: inputs.to_vec(), change: change.to_vec() }
}

impl Sample {
    /// Issued 10 as records 1 (worth 6) and 2 (worth 4). Transaction 100 of owner 7 consumed record 1 for record 11
    /// (worth 5) and a fee of 1. Waiting: 200 of owner 7 consumes 11 and returns 21; 201 of owner 7 consumes 21; 202
    /// of owner 8 consumes 2.
    pub(super) fn good() -> Self {
        Self {
            confirmed: vec![tx(100, 7, &[1], &[11])],
            waiting: vec![tx(200, 7, &[11], &[21]), tx(201, 7, &[21], &[]), tx(202, 8, &[2], &[])],
            unspent: vec![(2, 4), (11, 5)],
            issued: 10,
            fees_burnt: 1,
            global: vec![(2, 202), (11, 200), (21, 201)],
            by_owner: vec![(7, 11, 200), (7, 21, 201), (8, 2, 202)],
            available: vec![(7, 21)],
        }
    }
}

fn views(txs: &[SampleTx]) -> impl Iterator<Item = TxView<'_, Sample>> {
    txs.iter().map(|tx| TxView { id: tx.id, sender: tx.sender, inputs: &tx.inputs })
}

impl LedgerView for Sample {
    type Key = u32;
    type Id = u32;
    type Owner = u32;

    fn confirmed(&self) -> impl Iterator<Item = TxView<'_, Self>> {
        views(&self.confirmed)
    }

    fn waiting(&self) -> impl Iterator<Item = TxView<'_, Self>> {
        views(&self.waiting)
    }

    fn waiting_change(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.waiting.iter().flat_map(|tx| tx.change.iter().map(|key| (tx.id, tx.sender, *key)))
    }

    fn unspent(&self) -> impl Iterator<Item = (u32, u64)> {
        self.unspent.iter().copied()
    }

    fn is_unspent(&self, key: &u32) -> bool {
        self.unspent.iter().any(|(unspent, _)| unspent == key)
    }

    fn issued(&self) -> u128 {
        self.issued
    }

    fn fees_burnt(&self) -> u128 {
        self.fees_burnt
    }

    fn reserved_globally(&self) -> impl Iterator<Item = (u32, u32)> {
        self.global.iter().copied()
    }

    fn reserved_by_owner(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.by_owner.iter().copied()
    }

    fn available(&self) -> impl Iterator<Item = (u32, u32)> {
        self.available.iter().copied()
    }
}
