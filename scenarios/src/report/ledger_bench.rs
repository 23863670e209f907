//! What `bench ledger` measured, for people and programs.

use std::time::Duration;

use serde_json::{Value, json};

use super::table::{Align, Table, grouped};
use super::terminal::Terminal;
use crate::bench::import::Measured;
use crate::bench::meter::{Latencies, Phase, Spread, peak_rss};
use crate::bench::questions::Answered;

/// What item U40 gives each cache, in megabytes.
const BUDGET_MB: [(&str, u64); 4] =
    [("VolatileCache", 50), ("ConfirmedCache", 10), ("TxCurrent", 100), ("BlockPool", 100)];

/// Throughput, latencies and memory of an import.
pub fn import(terminal: &Terminal, measured: &Measured, commits: &Latencies) {
    let both = both(measured);
    let phases = [("add_tx", &measured.add_tx), ("add_block", &measured.add_block), ("both", &both)];
    let mut table = Table::new(&[
        ("throughput", Align::Left),
        ("transactions", Align::Right),
        ("a second", Align::Right),
        ("a CPU second", Align::Right),
    ]);
    for (name, phase) in phases {
        let per_cpu = phase.per_cpu_second().map_or_else(|| "-".to_owned(), |rate| grouped(rate as u64));
        table.row([name.to_owned(), grouped(phase.count), grouped(phase.per_second() as u64), per_cpu]);
    }
    terminal.print(&format!("{}\n", table.plain()));
    let spreads = [("block", measured.blocks.spread()), ("batch of the database", commits.spread())];
    let mut table = latency_table("latency");
    spreads.iter().for_each(|(name, spread)| table.row([vec![(*name).to_owned()], latency(spread)].concat()));
    terminal.print(&format!("{}\n", table.plain()));
    memory(terminal, measured);
    terminal.message(&json!({
        "type": "import", "add_tx": phase(&measured.add_tx), "add_block": phase(&measured.add_block),
        "both": phase(&both), "block_latency": spread(&spreads[0].1), "commit_latency": spread(&spreads[1].1),
        "caches_bytes": {
            "volatile_cache": measured.memory.volatile_cache, "confirmed_cache": measured.memory.confirmed_cache,
            "tx_current": measured.memory.tx_current, "block_pool": measured.memory.block_pool,
        },
        "peak_rss_bytes": peak_rss(),
    }));
}

/// The transactions went through both phases.
fn both(measured: &Measured) -> Phase {
    let (a, b) = (&measured.add_tx, &measured.add_block);
    Phase { count: a.count, wall: a.wall + b.wall, cpu: a.cpu.zip(b.cpu).map(|(a, b)| a + b) }
}

fn memory(terminal: &Terminal, measured: &Measured) {
    let of = &measured.memory;
    let used = [of.volatile_cache, of.confirmed_cache, of.tx_current, of.block_pool];
    let mut table = Table::new(&[("memory", Align::Left), ("most, MB", Align::Right), ("budget, MB", Align::Right)]);
    for ((name, budget), used) in BUDGET_MB.iter().zip(used) {
        table.row([(*name).to_owned(), megabytes(used as u64), grouped(*budget)]);
    }
    let budget = BUDGET_MB.iter().map(|(_, budget)| budget).sum();
    table.row(["all caches".to_owned(), megabytes(of.total() as u64), grouped(budget)]);
    let process = peak_rss().map_or_else(|| "not known here".to_owned(), megabytes);
    table.row(["process (peak)".to_owned(), process]);
    terminal.print(&format!("{}\n", table.plain()));
}

/// What was asked.
pub fn questions(terminal: &Terminal, answered: &[Answered]) {
    let mut table = latency_table("question");
    for one in answered {
        let per = |n: u64| format!("{:.2}", n as f64 / one.spread.count.max(1) as f64);
        let own = vec![grouped(one.found), per(one.reads.calls), per(one.reads.keys)];
        table.row([vec![one.question.to_owned()], latency(&one.spread), own].concat());
        terminal.message(&json!({
            "type": "question", "question": one.question, "latency": spread(&one.spread), "found": one.found,
            "database_calls": one.reads.calls, "database_keys": one.reads.keys,
        }));
    }
    terminal.print(&format!("{}\n", table.plain()));
}

/// The files of a ledger.
pub fn files(terminal: &Terminal, files: &[(String, u64)]) {
    let mut table = Table::new(&[("file", Align::Left), ("MB", Align::Right)]);
    files.iter().for_each(|(name, bytes)| table.row([name.clone(), megabytes(*bytes)]));
    terminal.print(&table.plain());
    let files: serde_json::Map<String, Value> =
        files.iter().map(|(name, bytes)| (name.clone(), json!(bytes))).collect();
    terminal.message(&json!({ "type": "files", "bytes": files }));
}

fn latency_table(title: &str) -> Table {
    let columns = ["count", "min, µs", "median, µs", "99 %, µs", "max, µs"].map(|column| (column, Align::Right));
    let mut header = vec![(title, Align::Left)];
    header.extend(columns);
    if title == "question" {
        header.extend(["found", "reads", "of records"].map(|column| (column, Align::Right)));
    }
    Table::new(&header)
}

fn latency(spread: &Spread) -> Vec<String> {
    let times = [spread.min, spread.median, spread.p99, spread.max].map(micros);
    [vec![grouped(spread.count as u64)], times.to_vec()].concat()
}

fn micros(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 100.0 { format!("{micros:.1}") } else { grouped(micros as u64) }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn phase(phase: &Phase) -> Value {
    json!({
        "transactions": phase.count, "seconds": phase.wall.as_secs_f64(),
        "cpu_seconds": phase.cpu.map(|cpu| cpu.as_secs_f64()),
    })
}

fn spread(spread: &Spread) -> Value {
    let seconds = |time: Duration| time.as_secs_f64();
    json!({
        "count": spread.count, "min": seconds(spread.min), "median": seconds(spread.median),
        "p99": seconds(spread.p99), "max": seconds(spread.max),
    })
}
