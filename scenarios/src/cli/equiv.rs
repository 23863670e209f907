//! `interleaf equiv`: the block schedulers against sequential execution.
#![allow(clippy::disallowed_methods, reason = "shows real time, outside of simulated runs")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interleaf_engine::planted::Planted;
use interleaf_engine::schedule::{Policy, SchedulerBug};
use serde_json::json;

use super::args::EquivArgs;
use super::run::{found_of, report_failure};
use super::{Refusal, interrupt};
use crate::campaign::Exit;
use crate::campaign::equivalence::{Case, CaseReport, Effort, Source, Subject};
use crate::report::failure_file::Found;
use crate::report::json::VERSION;
use crate::report::progress::Progress;
use crate::report::provenance::Provenance;
use crate::report::run_folder::RunFolder;
use crate::report::table::{Align, Table, counted, grouped};
use crate::report::terminal::{Terminal, Tone};

/// Compares the block schedulers with sequential execution.
///
/// # Errors
/// If the block cannot be read, the bug is none of the schedulers', or the run's files cannot be written.
pub fn equiv(terminal: &Terminal, args: &EquivArgs) -> Result<Exit, Refusal> {
    if args.plant.is_some_and(|bug| SchedulerBug::of(bug).is_none()) {
        let known: Vec<&str> =
            Planted::ALL.iter().filter(|bug| SchedulerBug::of(**bug).is_some()).map(|bug| bug.name()).collect();
        let known = known.join(" or ");
        return Err(Refusal::BadInput(format!("--plant: this bug is none of the schedulers'; expected {known}")));
    }
    let subject = Subject::load(source(args)).map_err(Refusal::bad_input)?;
    RunFolder::check(&args.out).map_err(Refusal::bad_input)?;
    let cases = cases(args);
    describe(terminal, args, &subject, &cases);
    let interrupted = interrupt::listen();
    let start = Instant::now();
    let reports = compare(terminal, args, &subject, &cases, interrupted);
    let stopped = interrupted.load(Ordering::Relaxed);
    let mut exit = exit(&reports, stopped);
    let unseen = args.plant.filter(|_| exit == Exit::Passed);
    if unseen.is_some() {
        exit = Exit::Gate;
    }
    report_failures(terminal, args, &subject, &reports);
    terminal.print(&matrix(&reports, &args.workers.0).plain());
    terminal.print(&vacuity(&subject, &reports, stopped));
    if let Some(bug) = unseen {
        terminal.status(Tone::Warning, "Note", format_args!("the planted bug {bug} was not found"));
    }
    conclude(terminal, &reports, exit, stopped, start.elapsed());
    Ok(exit)
}

fn source(args: &EquivArgs) -> Source {
    match (&args.block, args.generate) {
        (Some(path), _) => Source::File(path.clone()),
        (None, Some(spec)) => Source::Generated { spec, seed: args.generate_seed.0 },
        (None, None) => Source::Mainnet,
    }
}

fn cases(args: &EquivArgs) -> Vec<Case> {
    let policies = args.policies.as_ref().map_or_else(Policy::representatives, |p| p.0.clone());
    let case = |policy, workers| Case { policy, workers, planted: args.plant };
    policies.iter().flat_map(|p| args.workers.0.iter().map(move |w| case(*p, *w))).collect()
}

fn describe(terminal: &Terminal, args: &EquivArgs, subject: &Subject, cases: &[Case]) {
    let (txs, dependent, failing) = (subject.txs(), subject.dependent(), subject.failing());
    let block = format!("{}: {txs} transactions, {dependent} depend on others, {failing} fail", subject.name());
    terminal.status(Tone::Good, "Block", block);
    let seeds = args.seeds.0.end - args.seeds.0.start;
    let each =
        format!("{} simulated and {} real runs each, {}", grouped(seeds), args.real_runs, counted(args.jobs.0, "job"));
    terminal.status(Tone::Good, "Running", format_args!("{}, {each}", counted(cases.len(), "combination")));
    terminal.message(&json!({
        "type": "equiv", "version": VERSION, "block": subject.name(), "transactions": txs, "dependent": dependent,
        "failing": failing, "combinations": cases.len(), "seeds": [args.seeds.0.start, args.seeds.0.end],
        "real_runs": args.real_runs, "jobs": args.jobs.0,
    }));
}

fn compare(
    terminal: &Terminal,
    args: &EquivArgs,
    subject: &Subject,
    cases: &[Case],
    interrupted: &AtomicBool,
) -> Vec<CaseReport> {
    let seeds = args.seeds.0.clone();
    let progress = Progress::new(*terminal, (seeds.end - seeds.start).checked_mul(cases.len() as u64));
    let effort = Effort { seeds, strategy: args.strategy.clone(), real_runs: args.real_runs, jobs: args.jobs.0 };
    let done = AtomicU64::new(0);
    let mut reports = Vec::new();
    for case in cases {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let report = subject.compare(*case, &effort, interrupted, &done);
        terminal.message(&message(&report));
        reports.push(report);
        progress.show(done.load(Ordering::Relaxed));
    }
    progress.finish();
    reports
}

fn message(report: &CaseReport) -> serde_json::Value {
    json!({
        "type": "combination",
        "policy": report.case.policy.to_string(),
        "workers": report.case.workers,
        "planted": report.case.planted.map(|bug| bug.name()),
        "interleavings": report.simulated.executions,
        "distinct": report.simulated.distinct,
        "real_runs": report.real_runs,
        "conflicts": report.conflicts,
        "difference": report.simulated.first_failure().map(|f| f.kind.headline()),
        "real_difference": report.real_difference.as_ref().map(ToString::to_string),
        "exit": report.exit().code(),
    })
}

fn exit(reports: &[CaseReport], interrupted: bool) -> Exit {
    let conflicts: u64 = reports.iter().map(|r| r.conflicts).sum();
    let own = if interrupted {
        Exit::Inconclusive
    } else if conflicts == 0 {
        Exit::Gate
    } else {
        Exit::Passed
    };
    Exit::decisive(reports.iter().map(CaseReport::exit).chain([own]))
}

/// Shows the first failure of each signature, and each difference on real threads.
fn report_failures(terminal: &Terminal, args: &EquivArgs, subject: &Subject, reports: &[CaseReport]) {
    let mut found: Vec<Found<'_>> = Vec::new();
    for report in reports {
        let Some(failure) = report.simulated.first_failure() else { continue };
        if found.iter().any(|f| f.failure.signature() == failure.signature()) {
            continue;
        }
        found.push(Found {
            scenario: subject.token_name(&Case { planted: None, ..report.case }),
            planted: report.case.planted,
            first_seed: args.seeds.0.start,
            times: 1,
            searched: None,
            failure,
        });
    }
    if !found.is_empty() {
        let folder = RunFolder::create(&args.out).map_err(|error| terminal.error(error)).ok();
        let provenance = Provenance::of_this_tree();
        for found in &found {
            report_failure(terminal, found, folder.as_ref(), &provenance);
        }
    }
    for report in reports {
        if let Some(difference) = &report.real_difference {
            let (policy, workers) = (report.case.policy, report.case.workers);
            terminal.status(Tone::Bad, "Differs", format_args!("on real threads: {policy}, {workers} workers"));
            terminal.print(&format!("  {difference}"));
        }
    }
}

/// A row per policy, a column per number of workers.
fn matrix(reports: &[CaseReport], workers: &[usize]) -> Table {
    let titles: Vec<String> = workers.iter().map(|w| format!("{w}w")).collect();
    let mut header = vec![("policy", Align::Left)];
    header.extend(titles.iter().map(|t| (t.as_str(), Align::Right)));
    header.extend(["interleavings", "distinct", "real runs", "conflicts met"].map(|t| (t, Align::Right)));
    let mut table = Table::new(&header);
    for of_policy in reports.chunk_by(|a, b| a.case.policy == b.case.policy) {
        let sum = |of: fn(&CaseReport) -> u64| grouped(of_policy.iter().map(of).sum());
        let mut row = vec![of_policy[0].case.policy.to_string()];
        row.extend(
            workers.iter().map(|w| of_policy.iter().find(|r| r.case.workers == *w).map_or("?", sign).to_owned()),
        );
        row.push(sum(|r| r.simulated.executions));
        row.push(sum(|r| r.simulated.distinct));
        row.push(sum(|r| r.real_runs));
        row.push(sum(|r| r.conflicts));
        table.row(row);
    }
    table
}

fn sign(report: &CaseReport) -> &'static str {
    match report.exit() {
        Exit::Passed if report.cut => "?",
        Exit::Passed => "=",
        Exit::Violated => "differs",
        Exit::NotSettled => "stuck",
        Exit::Panicked => "panics",
        _ => "?",
    }
}

/// Says whether the comparison could have shown anything.
fn vacuity(subject: &Subject, reports: &[CaseReport], stopped: bool) -> String {
    let conflicts: u64 = reports.iter().map(|r| r.conflicts).sum();
    let runs: u64 = reports.iter().map(|r| r.simulated.executions + r.real_runs).sum();
    let share = 100.0 * subject.dependent() as f64 / (subject.txs() as f64).max(1.0);
    let verdict = if reports.iter().any(|r| r.exit() != Exit::Passed) {
        "not equivalent"
    } else if stopped {
        "interrupted"
    } else if !reports.iter().any(|r| r.case.is_concurrent()) {
        "this comparison shows nothing: no two transactions can run at the same time; expected a policy other than \
         sequential with more than one worker"
    } else if conflicts == 0 {
        "this comparison shows nothing"
    } else {
        "ok"
    };
    format!(
        "\nconflicts met: {} in {} runs ({} of {} transactions depend on others, {share:.0} %): {verdict}",
        grouped(conflicts),
        grouped(runs),
        subject.dependent(),
        subject.txs(),
    )
}

fn conclude(terminal: &Terminal, reports: &[CaseReport], exit: Exit, stopped: bool, elapsed: Duration) {
    let conflicts: u64 = reports.iter().map(|r| r.conflicts).sum();
    let seconds = elapsed.as_secs_f64();
    terminal.message(&json!({ "type": "end", "exit": exit.code(), "conflicts": conflicts, "seconds": seconds }));
    let (tone, word) = match exit {
        Exit::Passed => (Tone::Good, "Equivalent"),
        Exit::Inconclusive if stopped => (Tone::Warning, "Interrupted"),
        _ => (Tone::Bad, "Failed"),
    };
    let meaning = if exit == Exit::Passed { "every combination equals sequential execution" } else { exit.meaning() };
    let runs = grouped(reports.iter().map(|r| r.simulated.executions + r.real_runs).sum());
    let failures = reports.iter().map(|r| r.simulated.failures.len() + usize::from(r.real_difference.is_some())).sum();
    let combinations = counted(reports.len(), "combination");
    terminal.status(
        tone,
        word,
        format_args!(
            "{}{runs} interleavings{} of {combinations} in {seconds:.1} s: {meaning} (exit code {})",
            if word == "Failed" { "after " } else { "" },
            found_of(failures),
            exit.code()
        ),
    );
}
