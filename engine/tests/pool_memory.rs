//! What the pool says that it takes, against what the allocator gave it (item U40). Alone in its process: the allocator
//! counts everything.

use std::alloc::System;

use interleaf_engine::ledger::{Address, Genesis, Ledger, LedgerConfig, OutPoint, Output, Tx};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Transactions of many senders: `inputs` of one each, change and `payments` besides, each on the change of the one before.
fn transactions(keys: &[OutPoint], inputs: usize, payments: u32, length: usize) -> Vec<Tx> {
    let mut all = Vec::new();
    for (n, own) in (0u32..).zip(keys.chunks_exact(inputs)) {
        let sender = Address::numbered(n);
        let mut spent = own.to_vec();
        for step in 0..length {
            let left = 1_000 * inputs as u64 - (step as u64 + 1) * u64::from(payments + 1);
            let mut outputs = vec![Output::coin(0, sender, left)];
            outputs.extend((1..=payments).map(|index| Output::coin(index, Address::numbered(n + index), 1)));
            let tx = Tx::new(u64::from(n) + step as u64, sender, spent, outputs);
            spent = vec![tx.outpoint(0)];
            all.push(tx);
        }
    }
    all
}

/// What the pool says, as a part of what it takes.
fn said(number: usize, inputs: usize, payments: u32, length: usize) -> f64 {
    let keys = (number / length * inputs) as u32;
    let genesis = Genesis::of(&vec![(Address::numbered(0), 1_000); keys as usize]);
    let root = genesis.tx();
    let keys: Vec<_> = (0..keys).map(|index| root.outpoint(index)).collect();
    let ledger = Ledger::new(LedgerConfig { pool_bytes_max: usize::MAX, ..LedgerConfig::default() }, genesis);
    let txs = transactions(&keys, inputs, payments, length);
    let region = Region::new(ALLOCATOR);
    for tx in &txs {
        ledger.add_tx(tx.clone()).unwrap();
    }
    let change = region.change();
    let allocated = change.bytes_allocated - change.bytes_deallocated;
    ledger.memory_use().tx_current as f64 / allocated as f64
}

#[test]
fn the_pool_takes_what_it_says() {
    // From hash maps that have just grown to those that are about to.
    for number in [7_500, 10_000, 14_000, 30_000] {
        for (inputs, payments, length) in [(1, 1, 1), (1, 0, 20), (3, 1, 2), (8, 4, 1), (1, 12, 3)] {
            let said = said(number, inputs, payments, length);
            assert!(
                (0.8..1.2).contains(&said),
                "{number} of {inputs} inputs, {payments} payments, lines of {length}: {said:.2}"
            );
        }
    }
}
