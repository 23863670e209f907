//! `interleaf selftest`: tests of the tests.
#![allow(clippy::disallowed_methods, reason = "shows real time, outside of simulated runs")]

use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::json;

use super::args::SelftestArgs;
use super::run::found_of;
use super::{Refusal, interrupt};
use crate::campaign::Exit;
use crate::campaign::runner::Outcome;
use crate::campaign::selftest::{Check, SelfTest};
use crate::report::failure_block::{self, Context};
use crate::report::json::VERSION;
use crate::report::progress::Progress;
use crate::report::table::{Align, Table, grouped};
use crate::report::terminal::{Terminal, Tone};
use crate::report::{campaign as summary, json};

/// Tests the tests.
///
/// # Errors
/// Never; the type is that of the other commands.
pub fn selftest(terminal: &Terminal, args: &SelftestArgs) -> Result<Exit, Refusal> {
    let start = Instant::now();
    let test = SelfTest { jobs: args.jobs.0, clean_runs: args.interleavings, interrupted: interrupt::listen() };
    terminal.message(&json!({ "type": "selftest", "version": VERSION, "jobs": test.jobs }));
    let checks = find_all(terminal, &test);
    let unclaimed = SelfTest::unclaimed();
    terminal.print(&table(&checks).plain());
    terminal.print("");
    let problems = checks
        .iter()
        .filter(|c| !c.is_interrupted())
        .filter_map(|c| Some(format!("{}: {}", c.subject, c.problem.as_ref()?)));
    let unclaimed_lines =
        unclaimed.iter().map(|bug| format!("no scenario says that it can find the planted bug {bug}"));
    problems.chain(unclaimed_lines).for_each(|line| terminal.status(Tone::Bad, "Problem", line));
    let clean = run_clean(terminal, &test, args.interleavings);
    let own = if unclaimed.is_empty() { Exit::Passed } else { Exit::Gate };
    let exit = Exit::decisive(checks.iter().map(Check::exit).chain([own, clean.exit()]));
    let seconds = start.elapsed().as_secs_f64();
    terminal.message(&json!({ "type": "end", "exit": exit.code(), "seconds": seconds,
        "unclaimed": unclaimed.iter().map(|bug| bug.name()).collect::<Vec<_>>() }));
    let (tone, word) = match exit {
        Exit::Passed => (Tone::Good, "Finished"),
        Exit::Inconclusive if test.interrupted.load(Ordering::Relaxed) => (Tone::Warning, "Interrupted"),
        _ => (Tone::Bad, "Failed"),
    };
    let found = checks.iter().filter(|c| c.problem.is_none()).count();
    terminal.status(
        tone,
        word,
        format_args!(
            "{}{} interleavings without a bug{}, {found} of {} bugs found and replayed, in {seconds:.1} s: {} (exit code {})",
            if word == "Failed" { "after " } else { "" },
            grouped(clean.executions()),
            found_of(clean.rows.iter().map(|row| row.unexpected().count()).sum()),
            checks.len(),
            exit.meaning(),
            exit.code()
        ),
    );
    Ok(exit)
}

fn find_all(terminal: &Terminal, test: &SelfTest<'_>) -> Vec<Check> {
    let subjects = SelfTest::subjects();
    terminal.status(Tone::Good, "Finding", format_args!("{} bugs in their scenarios", subjects.len()));
    let checks = subjects.into_iter().map(|(subject, budget)| {
        let check = test.find(subject, budget);
        terminal.message(&json!({
            "type": "check", "subject": check.subject, "budget": check.budget, "found_after": check.found_after,
            "signature": check.signature, "problem": check.problem, "exit": check.exit().code(),
        }));
        check
    });
    checks.collect()
}

fn table(checks: &[Check]) -> Table {
    let mut table = Table::new(&[
        ("planted bug", Align::Left),
        ("found after", Align::Right),
        ("budget", Align::Right),
        ("signature", Align::Left),
        ("", Align::Left),
    ]);
    for check in checks {
        table.row([
            check.subject.clone(),
            check.found_after.map_or_else(|| "-".to_owned(), grouped),
            grouped(check.budget),
            check.signature.clone().unwrap_or_default(),
            match &check.problem {
                None => "replays",
                Some(_) if check.is_interrupted() => "not run",
                Some(_) => "PROBLEM",
            }
            .to_owned(),
        ]);
    }
    table
}

fn run_clean(terminal: &Terminal, test: &SelfTest<'_>, runs: u64) -> Outcome {
    let text = format!("{} interleavings without any bug, in which nothing may be found", grouped(runs));
    terminal.status(Tone::Good, "Running", text);
    let progress = Progress::new(*terminal, Some(runs));
    let outcome = test.clean(&|done| progress.show(done));
    progress.finish();
    outcome.rows.iter().for_each(|row| terminal.message(&json::row(row)));
    for found in &summary::found(&outcome) {
        terminal.message(&json::failure(found, None, None));
        let block = failure_block::render(terminal, found, Context { folder: None, known: None });
        terminal.print(&format!("{block}\n"));
    }
    terminal.print(&summary::table(&outcome).plain());
    summary::remarks(&outcome).iter().for_each(|remark| terminal.status(Tone::Warning, "Note", remark));
    outcome
}
