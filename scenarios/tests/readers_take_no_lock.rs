//! The lock-free reads of the ledger perform no lock operation: they wait for nobody, and nobody waits for them.
//!
//! What a thread does is judged by what the runtime sees of it. One thread does nothing but the three reads of item U11;
//! of it a [`LockFree`] monitor accepts loads of the three snapshot cells, and the begin and end of the thread. Loads
//! disable no operation of another thread, so no writer can wait for this one; and as none of them is an operation that
//! can wait, it waits for no writer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use interleaf::monitor::{Event, Monitor, OpKind, Phase};
use interleaf::thread::{Builder, scope};
use interleaf::{Explorer, Report, Violation};
use interleaf_engine::ledger::{Address, Block, Genesis, Ledger, LedgerConfig, Output, Tx};

const READER: &str = "reader";

/// The cells that the reader loads.
const CELLS: [&str; 3] = ["BlockCurrent snapshot", "BlockMetaFullCache snapshot", "BlockPool snapshot"];

/// Runs in which the reader read while a writer held the lock that excludes everybody from the caches.
#[derive(Default)]
struct Seen {
    beside_a_writer: AtomicU64,
    cells: [AtomicU64; 3],
}

/// Watches that the reader takes no lock and waits for nothing.
struct LockFree {
    seen: Arc<Seen>,
    /// Threads that hold the cache manager's exclusive lock: one at most.
    writers: BTreeSet<u32>,
    was_beside: bool,
}

impl Monitor for LockFree {
    fn step(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        if event.thread_name != READER {
            match (event.object_name, event.kind, event.phase) {
                ("CacheManager", OpKind::Write, Phase::Executed) => drop(self.writers.insert(event.thread)),
                ("CacheManager", OpKind::WriteUnlock, _) => drop(self.writers.remove(&event.thread)),
                _ => {}
            }
            return Ok(());
        }
        match event.kind {
            OpKind::Start | OpKind::End => Ok(()),
            OpKind::Load if CELLS.contains(&event.object_name) => {
                self.was_beside |= !self.writers.is_empty();
                let cell = CELLS.iter().position(|cell| *cell == event.object_name);
                if let Some(cell) = cell {
                    self.seen.cells[cell].fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }
            _ => Err(Violation::new("ledger.readers_take_no_lock", "a lock-free read performs another operation")
                .expected("loads of snapshot cells only")
                .actual(format!("{:?} of `{}` at {}", event.kind, event.object_name, event.location))),
        }
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.seen.beside_a_writer.fetch_add(u64::from(self.was_beside), Ordering::Relaxed);
        Ok(())
    }
}

/// The reads of item U11.
fn read(ledger: &Ledger) {
    let current = ledger.current_block();
    assert_eq!(current.metas.tip().map(|tip| tip.id), Some(current.block.id), "the tip's metas end with the tip");
    assert!(ledger.peek_current_block().meta.height <= 1, "there is one block above genesis at most");
    assert!(!ledger.block_metas().is_empty(), "there is a genesis block at least");
    assert!(ledger.block_pool().len() <= 2, "there are two blocks in all");
}

/// A reader beside two writers that add a block, roll it back, offer a branch and fill the pool.
fn explore(seen: &Arc<Seen>, seeds: u64, reads: impl Fn(&Ledger) + Sync + Send) -> Report {
    let owner = Address::numbered(1);
    let genesis = Genesis::of(&[(owner, 10), (owner, 20)]);
    let coins = genesis.tx();
    let pay = |coin| Tx::new(1, owner, vec![coins.outpoint(coin)], vec![Output::coin(0, owner, 10)]);
    let root = Ledger::new(LedgerConfig::default(), genesis.clone()).current_block().meta.id;
    let (block, branch) = (Block::new(root, 1, vec![pay(0)]), Block::new(root, 1, vec![pay(1)]));
    let seen = Arc::clone(seen);
    let explorer =
        Explorer::new().name("readers_take_no_lock").seeds(0..seeds).max_failures(1).monitor(move || {
            Box::new(LockFree { seen: Arc::clone(&seen), writers: BTreeSet::new(), was_beside: false })
        });
    explorer.run(|| {
        let ledger = Ledger::new(LedgerConfig::default(), genesis.clone());
        let named = |name: &str| Builder::new().name(name.to_owned());
        scope(|scope| {
            let chain = || {
                ledger.add_block(block.clone()).expect("a valid block");
                ledger.roll_back().expect("a block in the window");
            };
            let others = || {
                ledger.offer_branch(branch.clone());
                // Refused after its own inputs are in a block; both are fine here.
                drop(ledger.add_tx(pay(0)));
            };
            named("chain").spawn_scoped(scope, chain).expect("room for a thread");
            named("others").spawn_scoped(scope, others).expect("room for a thread");
            named(READER).spawn_scoped(scope, || reads(&ledger)).expect("room for a thread");
        });
    })
}

#[test]
fn current_block_metas_and_branches_are_read_without_a_lock() {
    // U11
    let seen = Arc::<Seen>::default();
    let report = explore(&seen, 3_000, read);
    assert!(report.first_failure().is_none(), "{}", report.first_failure().expect("looked at before"));
    // It was shown something: each cell was loaded in each run, often while a writer shut everybody out of the caches.
    for (cell, name) in seen.cells.iter().zip(CELLS) {
        // Some runs are made twice, to see whether they are deterministic.
        assert!(cell.load(Ordering::Relaxed) >= 3_000, "{name}");
    }
    let beside = seen.beside_a_writer.load(Ordering::Relaxed);
    assert!(beside > 300, "only {beside} of 3,000 runs read beside a writer");
}

#[test]
fn a_read_under_a_lock_is_found() {
    // U11: the checker rejects every query that asks the caches, in the first run.
    let queries: [fn(&Ledger); 3] = [
        |ledger| drop(ledger.pool_batch(1)),
        |ledger| drop(ledger.nodes(Address::numbered(1))),
        |ledger| drop(ledger.recent_transactions(1)),
    ];
    for query in queries {
        let report = explore(&Arc::default(), 1, |ledger| {
            read(ledger);
            query(ledger);
        });
        let failure = report.first_failure().expect("a lock on the path of the reader");
        assert!(failure.signature().starts_with("ledger.readers_take_no_lock/"), "{failure}");
    }
}
