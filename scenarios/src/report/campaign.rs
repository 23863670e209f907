//! The summary of a campaign, as a table, as lines of `seeds.jsonl` and as Markdown.

use std::fmt::Write as _;

use interleaf::Failure;
use serde_json::{Value, json};

use super::coverage;
use super::failure_file::Found;
use super::table::{Align, Table, grouped};
use crate::campaign::exploration::is_exploration;
use crate::campaign::runner::{Outcome, Row, Stopped};
use crate::campaign::{Exit, Subject};

/// One row per scenario and their sum.
#[must_use]
pub fn table(outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("interleavings", Align::Right),
        ("distinct", Align::Right),
        ("next is new", Align::Right),
        ("steps/s", Align::Right),
        ("conflicts met", Align::Right),
        ("verdict", Align::Left),
    ]);
    for row in &outcome.rows {
        let distinct = grouped(row.report.distinct);
        table.row([
            row.subject.token_name(),
            runs(row),
            if row.report.distinct_is_exact { distinct } else { format!("~{distinct}") },
            coverage::clause(&row.report.coverage),
            grouped(row.steps_per_second()),
            grouped(row.conflicts),
            row.verdict.word().to_owned(),
        ]);
    }
    let sum = |of: fn(&Row) -> u64| grouped(outcome.rows.iter().map(of).sum());
    let exact = outcome.rows.iter().all(|row| row.report.distinct_is_exact);
    let steps: u64 = outcome.rows.iter().map(|row| row.report.steps).sum();
    table.row([
        format!("total of {}", outcome.rows.len()),
        sum(|row| row.report.executions),
        format!("{}{}", if exact { "" } else { "~" }, sum(|row| row.report.distinct)),
        String::new(),
        grouped((steps as f64 / outcome.elapsed.as_secs_f64().max(1e-9)) as u64),
        sum(|row| row.conflicts),
        String::new(),
    ]);
    table
}

/// Runs made; `all …` if there is no other interleaving.
fn runs(row: &Row) -> String {
    let all = if row.is_exhaustive() && row.report.complete { "all " } else { "" };
    format!("{all}{}", grouped(row.report.executions))
}

/// What went wrong without a failure: gates, undecided scenarios. One line each.
#[must_use]
pub fn remarks(outcome: &Outcome) -> Vec<String> {
    let of = |row: &Row| {
        let name = row.subject.token_name();
        row.verdict.reasons().iter().map(|why| format!("{name}: {why}")).collect::<Vec<_>>()
    };
    outcome.rows.iter().flat_map(of).collect()
}

/// The failures that should not be: of each scenario and signature the smallest, with how many there were.
#[must_use]
pub fn found(outcome: &Outcome) -> Vec<Found<'_>> {
    outcome.rows.iter().flat_map(found_in).collect()
}

fn found_in(row: &Row) -> Vec<Found<'_>> {
    let searched = is_exploration(&row.strategy).then_some(row.report.executions);
    smallest(&row.subject, row.first_seed, searched, row.unexpected())
}

/// Of each signature the smallest failure, with how many there were.
#[must_use]
pub fn smallest<'a>(
    subject: &Subject,
    first_seed: u64,
    searched: Option<u64>,
    failures: impl IntoIterator<Item = &'a Failure>,
) -> Vec<Found<'a>> {
    let mut found: Vec<Found<'a>> = Vec::new();
    for failure in failures {
        let size = |f: &Failure| (f.trace.preemptions(), f.trace.events.len());
        match found.iter_mut().find(|other| other.failure.signature() == failure.signature()) {
            Some(other) => {
                other.times += 1;
                if size(failure) < size(other.failure) {
                    other.failure = failure;
                }
            }
            None => found.push(Found {
                scenario: subject.scenario.name.to_owned(),
                planted: subject.planted,
                first_seed,
                times: 1,
                searched,
                failure,
            }),
        }
    }
    found
}

/// `seeds.jsonl`: one line per batch of consecutive seeds and one per failed seed.
#[must_use]
pub fn seed_lines(outcome: &Outcome) -> String {
    let mut out = String::new();
    for row in &outcome.rows {
        let scenario = row.subject.token_name();
        for batch in &row.batches {
            let line = json!({
                "scenario": scenario,
                "seeds": (!row.is_exhaustive()).then_some([batch.seeds.start, batch.seeds.end]),
                "exhaustive": row.is_exhaustive(),
                "runs": batch.executions,
                "steps": batch.steps,
                "failed": batch.failed,
            });
            let _ = writeln!(out, "{line}");
        }
        for failure in &row.report.failures {
            let line = json!({
                "scenario": scenario,
                "seed": failure.seed,
                "signature": failure.signature(),
                "strategy": failure.strategy,
                "token": failure.token,
            });
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// `summary.md`: for the page of a CI job.
#[must_use]
pub fn markdown(title: &str, outcome: &Outcome, exit: Exit, remarks: &[String]) -> String {
    let mut out = format!("# {title}\n\n**{}** (exit code {})\n\n", exit.meaning(), exit.code());
    out.push_str(&table(outcome).markdown());
    for remark in remarks {
        let _ = write!(out, "\n- {remark}");
    }
    for found in found(outcome) {
        let failure = found.failure;
        let _ = write!(
            out,
            "\n## `{}` in {}\n\n{}\n\n```\ninterleaf replay {}\n```\n",
            failure.signature(),
            found.scenario,
            failure.kind.headline(),
            failure.token
        );
    }
    if outcome.rows.iter().any(|row| !row.report.coverage.is_empty()) {
        let _ = write!(out, "\n## Coverage\n\n{}", coverage::table(outcome).markdown());
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The sums, for `run.json` and the last message.
#[must_use]
pub fn totals(outcome: &Outcome) -> Value {
    let sum = |of: fn(&Row) -> u64| outcome.rows.iter().map(of).sum::<u64>();
    json!({
        "scenarios": outcome.rows.len(),
        "interleavings": outcome.executions(),
        "distinct": sum(|row| row.report.distinct),
        "steps": sum(|row| row.report.steps),
        "conflicts": sum(|row| row.conflicts),
        "failures": sum(|row| row.unexpected().count() as u64),
        "stopped": outcome.stopped.map(|stopped| match stopped {
            Stopped::Interrupted => "interrupted",
            Stopped::Budget => "budget",
        }),
    })
}
