//! Readers without a lock against readers under a lock, while a writer adds blocks: two real threads (item U11).
//!
//! ```text
//! cargo bench -p interleaf-engine --bench readers                     # the table
//! cargo bench -p interleaf-engine --bench readers -- --rounds 15 --blocks 200
//! ```
//!
//! What is read is the same on the first four sides: the height of the newest block.
//! * `lock-free, a look`: [`Ledger::peek_current_block`]
//! * `lock-free`: [`Ledger::current_block`], which gives a reference that may be kept
//! * `manager's lock`: the tip behind one `RwLock` that the writer holds as long as it changes the chain. This is the read
//!   as it would be if the tip were one more field of the caches (item U10): the baseline of the bar.
//! * `own lock`: the tip behind an `RwLock` of its own, which the writer holds only to replace it: the kindest baseline
//! * `status query`: [`Ledger::status`], another question, which has to be asked under the cache manager's shared lock
//!
//! Two threads that share one processor take turns, and then a lock that is held only in the other's turn costs nothing:
//! the figures over all mean something where two processors are free. The reads *within changes*, those that ended while
//! the writer was inside `add_block`, do not depend on that.
//!
//! A round runs each side once over a fresh ledger, and the order alternates. The writer adds the same blocks each time; the
//! reader reads from the first block to the last. Built without the feature `simulation`, so locks and cells are those of
//! std and `arc-swap`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "measures real threads in real time")]

use std::hint::black_box;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use interleaf_engine::ledger::{Address, Block, Genesis, Ledger, LedgerConfig, OutPoint, Output, Tx};

/// What the reads of the first side are to be worth in reads of the second.
const BAR: f64 = 5.0;

/// Transactions of a block, each of an owner of its own.
const TXS: u32 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Peek,
    LockFree,
    ManagersLock,
    OwnLock,
    StatusQuery,
}

impl Side {
    const ALL: [Self; 5] = [Self::LockFree, Self::Peek, Self::ManagersLock, Self::OwnLock, Self::StatusQuery];

    const fn name(self) -> &'static str {
        match self {
            Self::Peek => "lock-free, a look",
            Self::LockFree => "lock-free",
            Self::ManagersLock => "manager's lock",
            Self::OwnLock => "own lock",
            Self::StatusQuery => "status query",
        }
    }
}

/// What one side did in one round.
#[derive(Clone, Copy)]
struct Round {
    /// Reads in a second of real time.
    reads: f64,
    /// Reads in a second of the time for which a change of the chain was under way.
    within: f64,
    /// Blocks that the writer added in a second of real time meanwhile.
    blocks: f64,
    /// The share of its time for which the writer waited for the lock of the readers.
    waited: f64,
}

/// On what the writer spent its time.
#[derive(Clone, Copy, Default)]
struct Spent {
    /// Inside `add_block`.
    changing: Duration,
    /// For the lock of the readers.
    waiting: Duration,
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("readers: this build is not optimised, its figures mean nothing; use `cargo bench`");
        // `cargo test --benches` runs this too, and there is nothing to test.
        std::process::exit(i32::from(std::env::args().any(|a| a == "--bench")));
    }
    let (rounds, blocks) = options().unwrap_or_else(|message| {
        eprintln!("readers: {message}");
        std::process::exit(2);
    });
    let (genesis, blocks) = chain(blocks);
    let mut measured = Side::ALL.map(|_| Vec::new());
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..Side::ALL.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for side in order {
            measured[side].push(run(Side::ALL[side], &genesis, &blocks));
        }
    }
    print(&measured);
}

/// `--rounds N --blocks N`; cargo adds `--bench`.
fn options() -> Result<(usize, u32), String> {
    let (mut rounds, mut blocks) = (9, 200);
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok()).filter(|n| (1..=100_000).contains(n));
        let value: u32 = value.ok_or_else(|| format!("{name}: expected a number from 1 to 100000"))?;
        match name.as_str() {
            "--rounds" => rounds = value as usize,
            "--blocks" => blocks = value,
            _ => return Err(format!("{name}: expected --rounds or --blocks")),
        }
    }
    Ok((rounds, blocks))
}

/// A genesis block with one coin for each owner, and `count` blocks in each of which everybody passes his coin on to
/// himself.
fn chain(count: u32) -> (Genesis, Vec<Block>) {
    let genesis = Genesis::of(&(0..TXS).map(|n| (Address::numbered(n), 1_000_000)).collect::<Vec<_>>());
    let tx = genesis.tx();
    let mut coins: Vec<OutPoint> = (0..TXS).map(|index| tx.outpoint(index)).collect();
    let mut parent = Ledger::new(LedgerConfig::default(), genesis.clone()).current_block().meta.id;
    let mut blocks = Vec::new();
    for height in 1..=u64::from(count) {
        let pay = |(owner, coin): (u32, &mut OutPoint)| {
            let owner = Address::numbered(owner);
            let tx = Tx::new(height, owner, vec![*coin], vec![Output::coin(0, owner, 1_000_000)]);
            *coin = tx.outpoint(0);
            tx
        };
        let block = Block::new(parent, height, (0..).zip(&mut coins).map(pay).collect());
        parent = block.id;
        blocks.push(block);
    }
    (genesis, blocks)
}

fn run(side: Side, genesis: &Genesis, blocks: &[Block]) -> Round {
    let ledger = Ledger::new(LedgerConfig::default(), genesis.clone());
    let key = genesis.tx().outpoint(0);
    let tip = RwLock::new(ledger.current_block());
    let unpoisoned = "no reader or writer panics";
    let changing = AtomicBool::new(false);
    let add = |block| {
        let start = Instant::now();
        changing.store(true, Ordering::Release);
        ledger.add_block(block).expect("the block is valid");
        changing.store(false, Ordering::Release);
        Spent { changing: start.elapsed(), waiting: Duration::ZERO }
    };
    match side {
        Side::LockFree => race(blocks, &changing, add, || ledger.current_block().meta.height),
        Side::Peek => race(blocks, &changing, add, || ledger.peek_current_block().meta.height),
        Side::StatusQuery => race(blocks, &changing, add, || ledger.status(key).is_ok()),
        Side::ManagersLock => {
            let add = |block| {
                let start = Instant::now();
                let mut tip = tip.write().expect(unpoisoned);
                let waiting = start.elapsed();
                let spent = add(block);
                *tip = ledger.current_block();
                Spent { waiting, ..spent }
            };
            race(blocks, &changing, add, || tip.read().expect(unpoisoned).clone().meta.height)
        }
        Side::OwnLock => {
            let add = |block| {
                let spent = add(block);
                let start = Instant::now();
                let mut tip = tip.write().expect(unpoisoned);
                let waiting = start.elapsed();
                *tip = ledger.current_block();
                Spent { waiting, ..spent }
            };
            race(blocks, &changing, add, || tip.read().expect(unpoisoned).clone().meta.height)
        }
    }
}

/// One thread adds all `blocks` and is told how long it waited for readers; another reads until that is done.
fn race<R>(
    blocks: &[Block],
    changing: &AtomicBool,
    mut add: impl FnMut(Block) -> Spent + Send,
    read: impl Fn() -> R + Sync,
) -> Round {
    // Copied before, because `add_block` takes its block.
    let copies = blocks.to_vec();
    let (begun, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut reads, mut within, start) = (0_u64, 0_u64, Instant::now());
            begun.store(true, Ordering::Release);
            while !done.load(Ordering::Acquire) {
                black_box(read());
                reads += 1;
                within += u64::from(changing.load(Ordering::Relaxed));
            }
            (reads as f64 / start.elapsed().as_secs_f64(), within as f64)
        });
        while !begun.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        let mut sum = Spent::default();
        for block in copies {
            let spent = add(block);
            sum.changing += spent.changing;
            sum.waiting += spent.waiting;
        }
        let seconds = start.elapsed().as_secs_f64();
        done.store(true, Ordering::Release);
        let (reads, within) = reader.join().expect("the reader does not panic");
        Round {
            reads,
            within: within / sum.changing.as_secs_f64(),
            blocks: blocks.len() as f64 / seconds,
            waited: sum.waiting.as_secs_f64() / seconds,
        }
    })
}

fn print(measured: &[Vec<Round>; 5]) {
    println!(
        "| read | reads/s within changes | reads/s over all | blocks/s of the writer | lock-free is, over all | rounds | writer waits for readers |"
    );
    println!("|---|---:|---:|---:|---:|---|---:|");
    let mut bar = f64::NAN;
    for (side, rounds) in Side::ALL.iter().zip(measured) {
        let pick = |of: fn(&Round) -> f64| sorted(rounds.iter().map(of));
        let ratios = sorted(measured[0].iter().zip(rounds).map(|(free, other)| free.reads / other.reads));
        let ratio = median(&ratios);
        if *side == Side::ManagersLock {
            bar = ratio;
        }
        println!(
            "| {} | {:.0} | {:.0} | {:.0} | **{ratio:.2}** × | {:.2} to {:.2} | {} |",
            side.name(),
            median(&pick(|r| r.within)),
            median(&pick(|r| r.reads)),
            median(&pick(|r| r.blocks)),
            ratios[0],
            ratios[ratios.len() - 1],
            match side {
                Side::LockFree | Side::Peek => "never".to_owned(),
                Side::StatusQuery => "not measured".to_owned(),
                _ => format!("{:.0} %", 100.0 * median(&pick(|r| r.waited))),
            },
        );
    }
    let verdict = if bar >= BAR { "held" } else { "MISSED" };
    println!("\nbar: lock-free at least {BAR} × the read under the manager's lock: {bar:.1} × over all, {verdict}");
    let within = |side: usize| median(&sorted(measured[side].iter().map(|round| round.within)));
    println!("within changes: {:.0} reads/s against {:.0}", within(0), within(2));
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}
