//! What may be given on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use interleaf::{Equivalence, MemoryModel, Strategy};
use interleaf_engine::planted::Planted;

use super::values::{Jobs, Policies, Seed, Seeds, Workers};
use crate::blocks::spec::Spec;
use crate::campaign::profile::Budget;
use crate::report::terminal::{Color, Format};

/// Where the files of runs go.
pub const OUT: &str = "target/interleaf";

/// Most parts of a divided exploration.
const PARTS_MAX: u64 = 4_096;

/// Deterministic simulation of a ledger and its block schedulers.
#[derive(Debug, Parser)]
#[command(name = "interleaf", version, after_help = EXIT_CODES)]
pub struct Args {
    /// What to do; without a command, `run` with the default profile.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Text for people, or one JSON object a line for programs.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub message_format: Format,
    /// The same as `--message-format json`.
    #[arg(long, global = true, conflicts_with = "message_format")]
    pub json: bool,
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

const EXIT_CODES: &str = "Exit codes: 0 passed, 1 violated, 2 bad input, 3 deadlock, 4 nothing ran, \
5 same seed but another run, 6 engine panicked, 7 gate: too little shown, 8 inconclusive or interrupted, \
9 replay diverged";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the scenarios.
    List,
    /// Run scenarios under many schedules.
    Run(RunArgs),
    /// Run every distinguishable interleaving of a scenario, once.
    Explore(ExploreArgs),
    /// Run a stored failure once more.
    Replay(ReplayArgs),
    /// Compare the block schedulers with sequential execution, simulated and on real threads.
    Equiv(EquivArgs),
    /// Test the tests: every planted bug is found, the canary fails, and nothing else does.
    Selftest(SelftestArgs),
    /// Use the engine for what it is made for, in real time, and measure it.
    Bench(BenchArgs),
}

impl Default for Command {
    fn default() -> Self {
        Self::Run(RunArgs::parse_from(["interleaf"]))
    }
}

/// Arguments of `run`.
#[derive(Debug, Parser)]
pub struct RunArgs {
    /// Only scenarios whose name contains one of these; each must select something.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// This seed only. Gates are not judged.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["seeds", "budget"])]
    pub seed: Option<Seed>,
    /// These seeds of each scenario: `A..B` (without B), `A..=B`, or `N` for `0..N`.
    #[arg(long, value_name = "SEEDS")]
    pub seeds: Option<Seeds>,
    /// End after this time, e.g. `30s`, `10m`. Without seeds, run until then.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Budget>,
    /// How schedules are chosen: `portfolio`, `random`, `pct:D`, `pos`, `urw`, `surw`, `dfs`, `dfs:K`.
    #[arg(long)]
    pub strategy: Option<Strategy>,
    /// What atomics mean: `sc` (sequential consistency) or `rc11`, in which a load may read an older store.
    #[arg(long, value_name = "MODEL", default_value_t)]
    pub memory_model: MemoryModel,
    /// Number of OS threads. Results do not depend on it.
    #[arg(long, short, value_name = "N", default_value_t)]
    pub jobs: Jobs,
    /// End a scenario after this many failures.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Switch a planted bug on. Without filters, the scenarios that can find it are run.
    #[arg(long, value_name = "BUG")]
    pub plant: Option<Planted>,
    /// Also show what each strategy has seen, and how likely its next run shows something new.
    #[arg(long, short)]
    pub verbose: bool,
    /// `default`, or the path of a TOML file.
    #[arg(long, default_value = "default")]
    pub profile: String,
    /// Where the files of runs go.
    #[arg(long, value_name = "FOLDER", default_value = OUT)]
    pub out: PathBuf,
}

/// Arguments of `explore`.
#[derive(Debug, Parser)]
pub struct ExploreArgs {
    /// The scenario: its name, or a part of it that no other has.
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The seed from which the scenario draws what is done, if it does; 0 unless given.
    #[arg(long, value_name = "SEED")]
    pub seed: Option<Seed>,
    /// What atomics mean: `sc` (sequential consistency) or `rc11`, in which a load may read an older store: then every
    /// execution graph is run once. Only for scenarios of atomics, mutexes and threads; nothing can be saved.
    #[arg(long, value_name = "MODEL", default_value_t)]
    pub memory_model: MemoryModel,
    /// Which runs count as the same, so that one of them is made: `traces`, those with the same order of conflicting
    /// operations, or `reads-from`, those in which every read finds the same write: never more, often far fewer. Only
    /// for scenarios of atomics, mutexes and threads; nothing can be saved.
    #[arg(long, value_name = "EQUIVALENCE", default_value_t)]
    pub equivalence: Equivalence,
    /// Only interleavings that have a schedule with at most this many preemptions.
    #[arg(long, value_name = "K", conflicts_with = "estimate")]
    pub preemptions: Option<u32>,
    /// Those that need fewest preemptions first, so that the first failure is one with the fewest.
    #[arg(long, requires = "preemptions", conflicts_with = "split")]
    pub iterative: bool,
    /// End after this many interleavings; 0 explores nothing and only divides what `--resume` gives.
    #[arg(long, value_name = "N")]
    pub max: Option<u64>,
    /// End after this time, e.g. `30s`, `10m`.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Budget>,
    /// Number of OS threads. What is explored does not depend on it.
    #[arg(long, short, value_name = "N", default_value_t)]
    pub jobs: Jobs,
    /// End after this many failures.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: u32,
    /// Go on with what an exploration that did not finish has saved.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Where to save what is left if it does not finish; without it, in the files of the run.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Save what is left in this many files, for as many processes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=PARTS_MAX))]
    pub split: Option<u64>,
    /// Samples of the estimate of all interleavings; 0 for none. Without it as many as two seconds allow, at most 64.
    #[arg(long, value_name = "SAMPLES")]
    pub estimate: Option<u32>,
    /// Switch a planted bug on.
    #[arg(long, value_name = "BUG")]
    pub plant: Option<Planted>,
    /// Where the files of runs go.
    #[arg(long, value_name = "FOLDER", default_value = OUT)]
    pub out: PathBuf,
}

/// Arguments of `replay`.
#[derive(Debug, Parser)]
pub struct ReplayArgs {
    /// A token, a failure's folder or `failure.toml`, or a file with a token.
    #[arg(value_name = "TOKEN|FILE")]
    pub what: String,
    /// Write the trace of the replay to this file, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Most rows of the table; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub rows: usize,
    /// Where the files of runs are: a token is compared with the trace that the last run stored with it.
    #[arg(long, value_name = "FOLDER", default_value = OUT)]
    pub out: PathBuf,
}

/// Arguments of `equiv`.
#[derive(Debug, Parser)]
pub struct EquivArgs {
    /// A raw Bitcoin block, binary or hex. Without it: mainnet block 702,861.
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub block: Option<PathBuf>,
    /// Generate a block: `independent:TXS`, `chain:TXS:SHARE%[:first|last|spread]`, `random:TXS:SHARE%` or
    /// `conflicts:TXS:SHARE%`.
    #[arg(long, value_name = "SPEC")]
    pub generate: Option<Spec>,
    /// Seed of the generated block.
    #[arg(long, value_name = "SEED", default_value = "0", requires = "generate")]
    pub generate_seed: Seed,
    /// Policies, separated by commas, or `all`. Without it, one of each kind.
    #[arg(long, value_name = "POLICIES")]
    pub policies: Option<Policies>,
    /// Numbers of workers: `A..B` (both included), or a list such as `2,4`.
    #[arg(long, value_name = "WORKERS", default_value = "1..8")]
    pub workers: Workers,
    /// Seeds of the simulated runs of each combination.
    #[arg(long, value_name = "SEEDS", default_value = "0..16")]
    pub seeds: Seeds,
    /// Runs of each combination on real threads.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub real_runs: u64,
    /// How schedules are chosen.
    #[arg(long, default_value = "portfolio")]
    pub strategy: Strategy,
    /// Number of OS threads that share the simulated runs.
    #[arg(long, short, value_name = "N", default_value_t)]
    pub jobs: Jobs,
    /// Switch a planted bug of the schedulers on.
    #[arg(long, value_name = "BUG")]
    pub plant: Option<Planted>,
    /// Where the files of runs go.
    #[arg(long, value_name = "FOLDER", default_value = OUT)]
    pub out: PathBuf,
}

/// Arguments of `selftest`.
#[derive(Debug, Parser)]
pub struct SelftestArgs {
    /// Runs without any bug, in which nothing may be found.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub interleavings: u64,
    /// Instead, explore programs with a known number of interleavings, and compare.
    #[arg(long, conflicts_with = "interleavings")]
    pub programs: bool,
    /// The `.prog` files of this folder, not those that are built in.
    #[arg(long, value_name = "DIR", requires = "programs")]
    pub dir: Option<PathBuf>,
    /// The programs of the folder, and how many interleavings each has; without it `published.txt` in the folder or, if
    /// there is none, what the programs say themselves.
    #[arg(long, value_name = "FILE", requires = "dir")]
    pub table: Option<PathBuf>,
    /// Number of OS threads.
    #[arg(long, short, value_name = "N", default_value_t)]
    pub jobs: Jobs,
}

/// Arguments of `bench`.
#[derive(Debug, Parser)]
pub struct BenchArgs {
    /// What to measure.
    #[command(subcommand)]
    pub what: BenchCommand,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Import blocks and transactions into a ledger on disk, ask it, open it again.
    Ledger(BenchLedgerArgs),
}

/// Most generated transactions: more than a day's work.
const TRANSACTIONS_MAX: u64 = 1_000_000_000;

/// Arguments of `bench ledger`.
#[derive(Debug, Parser)]
pub struct BenchLedgerArgs {
    /// Where the ledger is made: a folder that is empty or does not exist. It stays. Without it, a temporary one.
    #[arg(long, value_name = "FOLDER", conflicts_with = "memory")]
    pub folder: Option<PathBuf>,
    /// Keep the temporary folder.
    #[arg(long, conflicts_with = "memory")]
    pub keep: bool,
    /// A ledger in memory, without a file: nothing of it is durable.
    #[arg(long)]
    pub memory: bool,
    /// Raw Bitcoin blocks, binary or hex, that come first. Without it: mainnet block 702,861.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub blocks: Vec<PathBuf>,
    /// Generated transactions.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(..=TRANSACTIONS_MAX))]
    pub transactions: u64,
    /// Transactions of a generated block.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub block_size: u32,
    /// Questions of each kind.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub queries: u64,
    /// Seed of the generated transactions.
    #[arg(long, value_name = "SEED", default_value = "0")]
    pub seed: Seed,
}
