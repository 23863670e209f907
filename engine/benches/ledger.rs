//! How many transactions a single node admits and confirms per CPU second, without signatures (bar: 200,000).
//!
//! `cargo bench -p interleaf-engine --bench ledger`: one thread, blocks of 1,000 transactions, in memory and in redb on a
//! file. Transactions and blocks are made and hashed beforehand. Built without the feature `simulation`, locks are std's.
#![allow(missing_docs, reason = "a program")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use interleaf_engine::ledger::{Address, Block, BlockId, Genesis, Ledger, LedgerConfig, Output, Store, Tx};

const PER_BLOCK: u32 = 1_000;
const BLOCKS: u64 = 60;
const ROUNDS: usize = 5;

/// CPU time of this thread; wall time where the system does not tell.
fn cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    nanos.map_or_else(|| START.get_or_init(now).elapsed(), Duration::from_nanos)
}

#[allow(clippy::disallowed_methods, reason = "a bench measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// A thousand owners who each pass on what they have, block by block, and keep some change.
fn workload() -> (Genesis, Vec<Block>) {
    let owners: Vec<Address> = (0..PER_BLOCK).map(Address::numbered).collect();
    let genesis = Genesis { outputs: owners.iter().map(|owner| (*owner, 1_000_000)).collect(), base: Vec::new() };
    let tx = genesis.tx();
    let mut keys: Vec<_> = tx.outputs.iter().map(|output| tx.outpoint(output.index)).collect();
    let mut parent = Block::new(BlockId::default(), 0, vec![tx]).id;
    let blocks = (1..=BLOCKS).map(|height| {
        let txs: Vec<Tx> = owners
            .iter()
            .zip(&mut keys)
            .map(|(owner, key)| {
                let outputs =
                    vec![Output::coin(0, *owner, 1_000_000 - height * 3), Output::coin(1, Address::numbered(7), 1)];
                let tx = Tx::new(height, *owner, vec![*key], outputs);
                *key = tx.outpoint(0);
                tx
            })
            .collect();
        let block = Block::new(parent, height, txs);
        parent = block.id;
        block
    });
    let blocks = blocks.collect();
    (genesis, blocks)
}

/// The parts in wall time, since the system counts CPU time in ticks that are longer than one part.
struct Times {
    add_tx: Duration,
    add_block: Duration,
    cpu: Duration,
}

fn run<S: Store>(ledger: &Ledger<S>, blocks: &[Block]) -> Times {
    let mut times = Times { add_tx: Duration::ZERO, add_block: Duration::ZERO, cpu: Duration::ZERO };
    for block in blocks {
        let (txs, block) = (block.txs.clone(), block.clone());
        let (begun, start) = (cpu(), now());
        for tx in txs {
            ledger.add_tx(tx).expect("a valid transaction");
        }
        let admitted = now();
        ledger.add_block(block).expect("a valid block");
        times.add_tx += admitted - start;
        times.add_block += now() - admitted;
        times.cpu += cpu().saturating_sub(begun);
    }
    times
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn show(name: &str, all: &[Times]) {
    let transactions = f64::from(PER_BLOCK) * BLOCKS as f64;
    let rate =
        |time: &dyn Fn(&Times) -> Duration| median(all.iter().map(|t| transactions / time(t).as_secs_f64()).collect());
    let mut line = format!("{name:10}");
    for (what, rate) in [
        ("both, per CPU second", rate(&|t| t.cpu)),
        ("wall: add_tx", rate(&|t| t.add_tx)),
        ("add_block", rate(&|t| t.add_block)),
    ] {
        let _ = write!(line, "  {what} {rate:>11.0}/s");
    }
    println!("{line}");
}

fn main() {
    if cfg!(debug_assertions) {
        println!("not optimised: no figures");
        return;
    }
    let (genesis, blocks) = workload();
    let (mut memory, mut disk) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        memory.push(run(&Ledger::new(LedgerConfig::default(), genesis.clone()), &blocks));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (ledger, _) =
            Ledger::open_folder(LedgerConfig::default(), genesis.clone(), folder.path()).expect("a new ledger");
        disk.push(run(&ledger, &blocks));
    }
    println!("transactions per second, {BLOCKS} blocks of {PER_BLOCK}, median of {ROUNDS}");
    show("in memory", &memory);
    show("redb", &disk);
}
