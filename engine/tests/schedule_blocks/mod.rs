//! Small blocks for the tests of the schedulers.
#![allow(dead_code, reason = "each test program uses a part")]

use interleaf_engine::ledger::block::{Block, BlockId};
use interleaf_engine::ledger::tx::{Address, Amount, OutPoint, Output, Tx, TxId};
use interleaf_engine::schedule::{Record, RecordMap};
use proptest::prelude::*;
use proptest::sample::Index;

/// The outpoint of base record `n`.
pub(crate) fn base_outpoint(n: u32) -> OutPoint {
    let mut id = [0xba; 32];
    id[28..].copy_from_slice(&n.to_be_bytes());
    OutPoint { tx: TxId(id), index: n }
}

/// Base records 0, 1, 2, … with these amounts, all of owner 0.
pub(crate) fn base(amounts: &[Amount]) -> RecordMap {
    let record = |&amount| Record::coin(Address::numbered(0), amount);
    (0u32..).zip(amounts).map(|(n, a)| (base_outpoint(n), record(a))).collect()
}

/// A transaction of owner 0 that pays `amounts` to owner 0. `nonce` tells equal ones apart.
pub(crate) fn tx(nonce: u64, inputs: &[OutPoint], amounts: &[Amount]) -> Tx {
    let output = |(index, &amount)| Output::coin(index, Address::numbered(0), amount);
    Tx::new(nonce, Address::numbered(0), inputs.to_vec(), (0u32..).zip(amounts).map(output).collect())
}

pub(crate) fn block(txs: Vec<Tx>) -> Block {
    Block::new(BlockId::default(), 1, txs)
}

/// `n` Direct transactions, each worth 5. Those for which `in_chain` holds consume each other's outputs in turn, the
/// others a base record of their own (items N2, N37).
pub(crate) fn direct(n: u32, in_chain: impl Fn(u32) -> bool) -> (Block, RecordMap) {
    let mut last = None;
    let txs = (0..n).map(|i| {
        let input = last.filter(|_| in_chain(i)).unwrap_or(base_outpoint(i));
        let tx = tx(u64::from(i), &[input], &[5]);
        if in_chain(i) {
            last = Some(tx.outpoint(0));
        }
        tx
    });
    (block(txs.collect()), base(&vec![5; n as usize]))
}

/// One input of a random transaction.
#[derive(Clone, Debug)]
enum Pick {
    Base(u32),
    Created(Index),
    Unknown(u32),
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        4 => (0..12u32).prop_map(Pick::Base),
        8 => any::<Index>().prop_map(Pick::Created),
        1 => (0..3u32).prop_map(Pick::Unknown),
    ]
}

fn amount() -> impl Strategy<Value = Amount> {
    prop_oneof![20 => 0..6u64, 1 => Just(Amount::MAX)]
}

/// What a random transaction is made of: inputs, amounts of its outputs, whether its last output repeats the first's
/// index.
type Recipe = (Vec<Pick>, Vec<Amount>, bool);

fn recipe() -> impl Strategy<Value = Recipe> {
    let repeats = prop::bool::weighted(0.03);
    (prop::collection::vec(pick(), 0..4), prop::collection::vec(amount(), 1..4), repeats)
}

/// Random blocks over twelve base records: chains, second spenders, failing transactions of every kind, transactions
/// that stand before their parents, repeated ones, and outputs that the base claims to have already.
pub(crate) fn random_block(max: usize) -> impl Strategy<Value = (Block, RecordMap)> {
    let recipes = prop::collection::vec(recipe(), 0..max);
    let amounts = prop::collection::vec(prop_oneof![20 => 5..40u64, 1 => Just(Amount::MAX)], 12);
    let swaps = prop::collection::vec((any::<Index>(), any::<Index>()), 0..3);
    let repeats = prop::collection::vec((any::<Index>(), any::<Index>()), 0..2);
    let existing = prop::collection::vec(any::<Index>(), 0..2);
    (recipes, amounts, swaps, repeats, existing).prop_map(|(recipes, amounts, swaps, repeats, existing)| {
        let mut txs = cook(&recipes);
        let mut base = base(&amounts);
        if !txs.is_empty() {
            for at in existing {
                let record = Record::coin(Address::numbered(0), 3);
                base.insert(at.get(&txs).outpoint(0), record);
            }
            for (from, to) in repeats {
                let tx = txs[from.index(txs.len())].clone();
                txs.insert(to.index(txs.len()), tx);
            }
            for (a, b) in swaps {
                let (a, b) = (a.index(txs.len()), b.index(txs.len()));
                txs.swap(a, b);
            }
        }
        (block(txs), base)
    })
}

fn cook(recipes: &[Recipe]) -> Vec<Tx> {
    let mut created = Vec::new();
    let mut txs = Vec::new();
    for (nonce, (picks, amounts, repeats)) in (0u64..).zip(recipes) {
        let find = |pick: &Pick| match pick {
            Pick::Created(at) if !created.is_empty() => *at.get(&created),
            Pick::Created(_) => base_outpoint(0),
            Pick::Base(n) => base_outpoint(*n),
            Pick::Unknown(n) => base_outpoint(1000 + n),
        };
        let inputs: Vec<OutPoint> = picks.iter().map(find).collect();
        let mut tx = tx(nonce, &inputs, amounts);
        if *repeats && let Some(last) = tx.outputs.last_mut() {
            last.index = 0;
        }
        created.extend(tx.outputs.iter().map(|o| tx.outpoint(o.index)));
        txs.push(tx);
    }
    txs
}
