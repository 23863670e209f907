//! `interleaf bench ledger`: the ledger used as a ledger.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "real time, outside of simulated runs")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use interleaf_engine::ledger::{
    BlockId, Genesis, Journal, Ledger, LedgerConfig, MemoryStore, OpenError, Recovered, RedbStore, Store,
};
use serde_json::json;

use super::args::BenchLedgerArgs;
use super::{Refusal, interrupt};
use crate::bench::digest;
use crate::bench::import::{Amounts, ImportError, import};
use crate::bench::imported::Imported;
use crate::bench::place::Place;
use crate::bench::questions::ask;
use crate::bench::watched_store::{Watch, WatchedStore};
use crate::bench::workload::Workload;
use crate::blocks::bitcoin;
use crate::campaign::Exit;
use crate::report::json::VERSION;
use crate::report::ledger_bench as report;
use crate::report::progress::Progress;
use crate::report::table::{counted, grouped};
use crate::report::terminal::{Terminal, Tone};

/// Imports blocks and transactions, asks, closes, opens again and compares.
///
/// # Errors
/// If a block file or the folder is not as expected, a real block breaks a rule of the ledger, or the disk fails.
pub fn ledger(terminal: &Terminal, args: &BenchLedgerArgs) -> Result<Exit, Refusal> {
    // All input is read before anything is made.
    let real = real_blocks(args)?;
    let (workload, mut genesis) = Workload::new(args.seed.0, args.block_size);
    real.found(&mut genesis).map_err(Refusal::BadInput)?;
    let start = Instant::now();
    let bench = Bench { terminal, args, real: &real, interrupted: interrupt::listen() };
    let exit = if args.memory { bench.in_memory(genesis, workload)? } else { bench.on_disk(&genesis, workload)? };
    let seconds = start.elapsed().as_secs_f64();
    terminal.message(&json!({ "type": "end", "exit": exit.code(), "seconds": seconds }));
    let (tone, word) = match exit {
        Exit::Passed => (Tone::Good, "Finished"),
        Exit::Inconclusive => (Tone::Warning, "Interrupted"),
        _ => (Tone::Bad, "Failed"),
    };
    terminal.status(tone, word, format_args!("in {seconds:.1} s (exit code {})", exit.code()));
    Ok(exit)
}

fn real_blocks(args: &BenchLedgerArgs) -> Result<Imported, Refusal> {
    let mut real = Imported::default();
    if args.blocks.is_empty() {
        real.push(bitcoin::mainnet_702861());
    }
    for path in &args.blocks {
        real.push(bitcoin::load(path).map_err(Refusal::bad_input)?);
    }
    Ok(real)
}

/// One call of the command.
struct Bench<'a> {
    terminal: &'a Terminal,
    args: &'a BenchLedgerArgs,
    real: &'a Imported,
    interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    fn in_memory(&self, genesis: Genesis, workload: Workload) -> Result<Exit, Refusal> {
        self.begin("in memory");
        let watch = Arc::<Watch>::default();
        let store = WatchedStore::new(MemoryStore::new(), Arc::clone(&watch));
        let ledger = Ledger::with_store(LedgerConfig::default(), genesis, store).map_err(Refusal::bad_input)?;
        self.fill(&ledger, &watch, workload).map_err(Refusal::bad_input)?;
        Ok(self.exit(Exit::Passed))
    }

    fn on_disk(&self, genesis: &Genesis, workload: Workload) -> Result<Exit, Refusal> {
        let place = match &self.args.folder {
            Some(folder) => Place::at(folder),
            None => Place::temporary(self.args.keep),
        };
        let mut place = place.map_err(Refusal::BadInput)?;
        self.begin(&place.path().display().to_string());
        let watch = Arc::<Watch>::default();
        let (ledger, _) = open(genesis, place.path(), &watch).map_err(Refusal::bad_input)?;
        let filled = self.fill(&ledger, &watch, workload).inspect_err(|error| {
            // A block of the user's that is none of this ledger's: nothing half written stays of it.
            if matches!(error, ImportError::RealBlock { .. }) {
                place.discard();
            }
        });
        filled.map_err(Refusal::bad_input)?;
        let before = Snapshot::of(&ledger)?;
        drop(ledger);
        let files = place.files().map_err(|e| Refusal::BadInput(format!("{}: {e}", place.path().display())))?;
        let start = Instant::now();
        let (ledger, recovered) = open(genesis, place.path(), &watch).map_err(Refusal::bad_input)?;
        let took = start.elapsed();
        let same = before == Snapshot::of(&ledger)?;
        drop(ledger);
        self.reopened(&before, same, took, recovered);
        report::files(self.terminal, &files);
        if place.stays() {
            self.terminal.status(Tone::Good, "Kept", place.path().display());
        }
        Ok(self.exit(if same { Exit::Passed } else { Exit::Violated }))
    }

    fn begin(&self, place: &str) {
        let (args, blocks) = (self.args, self.real.blocks.len());
        self.terminal.message(&json!({
            "type": "bench_ledger", "version": VERSION, "place": place, "transactions": args.transactions,
            "block_size": args.block_size, "real_blocks": blocks, "queries": args.queries, "seed": args.seed.0,
            "optimised": !cfg!(debug_assertions),
        }));
        if cfg!(debug_assertions) {
            self.terminal.status(Tone::Warning, "Note", "this build is not optimised; its figures mean little");
        }
        let text = format!(
            "{} and {} generated transactions into a ledger {}{place}",
            counted(blocks, "real block"),
            grouped(args.transactions),
            if args.memory { "" } else { "at " }
        );
        self.terminal.status(Tone::Good, "Importing", text);
    }

    /// Imports, asks, and shows what both took.
    fn fill<S: Store>(&self, ledger: &Ledger<S>, watch: &Watch, mut workload: Workload) -> Result<(), ImportError> {
        let amounts = Amounts { transactions: self.args.transactions, block_size: self.args.block_size };
        let progress = Progress::counting(*self.terminal, Some(amounts.transactions), "transactions");
        let measured = import(ledger, self.real, &mut workload, amounts, self.interrupted, &|done| progress.show(done));
        progress.finish();
        let measured = measured?;
        report::import(self.terminal, &measured, &watch.commits());
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let text = format!("{} questions of each kind", grouped(self.args.queries));
        self.terminal.status(Tone::Good, "Asking", text);
        let answered = ask(ledger, watch, &workload.samples(), self.args.queries)?;
        report::questions(self.terminal, &answered);
        Ok(())
    }

    fn reopened(&self, before: &Snapshot, same: bool, took: Duration, recovered: Recovered) {
        self.terminal.message(&json!({
            "type": "reopened", "same": same, "seconds": took.as_secs_f64(), "height": before.height,
            "digest": before.digest, "stored_blocks": recovered.stored_blocks,
            "journalled_blocks": recovered.journalled_blocks, "torn_bytes": recovered.torn_bytes,
        }));
        let (tone, verdict) = if same { (Tone::Good, "the same") } else { (Tone::Bad, "ANOTHER") };
        let text = format!(
            "in {:.0} ms: {} blocks from the database, {} from the journal; tip {} and state {} are {verdict}",
            took.as_secs_f64() * 1e3,
            grouped(recovered.stored_blocks),
            grouped(recovered.journalled_blocks),
            grouped(before.height),
            &before.digest[..16],
        );
        self.terminal.status(tone, "Reopened", text);
    }

    fn exit(&self, otherwise: Exit) -> Exit {
        let stopped = self.interrupted.load(Ordering::Relaxed) && otherwise == Exit::Passed;
        if stopped { Exit::Inconclusive } else { otherwise }
    }
}

/// What must be the same after opening again.
#[derive(PartialEq, Eq)]
struct Snapshot {
    tip: BlockId,
    height: u64,
    digest: String,
}

impl Snapshot {
    fn of<S: Store>(ledger: &Ledger<S>) -> Result<Self, Refusal> {
        let state = ledger.state().map_err(Refusal::bad_input)?.confirmed;
        Ok(Self { tip: state.tip.id, height: state.tip.height, digest: digest::of(&state) })
    }
}

type Durable = Ledger<WatchedStore<RedbStore>>;

fn open(genesis: &Genesis, folder: &Path, watch: &Arc<Watch>) -> Result<(Durable, Recovered), OpenError> {
    let store = WatchedStore::new(RedbStore::open(&folder.join("ledger.redb"))?, Arc::clone(watch));
    Ledger::open(LedgerConfig::default(), genesis.clone(), store, Journal::in_folder(folder)?)
}
