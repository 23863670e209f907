//! `interleaf run`: scenarios under many schedules.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interleaf::MemoryModel;
use serde_json::{Value, json};

use super::args::RunArgs;
use super::{Refusal, interrupt};
use crate::campaign::profile::Profile;
use crate::campaign::rounds::part;
use crate::campaign::runner::{Campaign, Entry, Outcome, Stopped};
use crate::campaign::{Exit, Subject, selection};
use crate::report::failure_block::{self, Context};
use crate::report::failure_file::Found;
use crate::report::progress::Progress;
use crate::report::provenance::Provenance;
use crate::report::run_folder::{RunFolder, WriteError, folder_name};
use crate::report::table::{counted, grouped};
use crate::report::terminal::{Terminal, Tone};
use crate::report::{campaign as summary, coverage, json};

/// Checked-in failures.
const CORPUS: &str = "scenarios/corpus";

/// More runs than any budget of time allows.
const UNLIMITED: u64 = 1 << 62;

/// Runs a campaign.
///
/// # Errors
/// If the profile is malformed, nothing is selected, or the run's files cannot be written.
pub fn run(terminal: &Terminal, args: &RunArgs) -> Result<Exit, Refusal> {
    let profile = Profile::load(&args.profile).map_err(Refusal::bad_input)?;
    let filters = if args.filters.is_empty() { &profile.filters } else { &args.filters };
    let entries = entries(args, &profile, filters)?;
    let interrupted = interrupt::listen();
    let campaign = Campaign {
        strategy: args.strategy.clone(),
        otherwise: profile.strategy.clone(),
        memory_model: args.memory_model,
        jobs: args.jobs.0,
        max_failures: args.max_failures.map_or(profile.max_failures, |n| n as usize),
        budget: budget(args, &profile),
        gates: args.seed.is_none(),
        interrupted,
        entries,
    };
    let folder = RunFolder::create(&args.out).map_err(Refusal::bad_input)?;
    let provenance = Provenance::of_this_tree();
    let header = header(args, &profile, &campaign);
    let run_json = |more: Value| merged([&header, &json!({ "run": folder.id(), "provenance": provenance }), &more]);
    write_json(&folder, &run_json(json!({ "state": "running" })))?;
    terminal.message(&merged([&json!({ "type": "run", "version": json::VERSION }), &header]));
    let outcome = explore(terminal, &campaign);
    let exit = finish(terminal, args, &outcome, &folder, &provenance);
    let end = json!({ "state": "finished", "exit": exit.code(), "totals": summary::totals(&outcome),
        "seconds": outcome.elapsed.as_secs_f64(), "scenarios": outcome.rows.iter().map(json::row).collect::<Vec<_>>() });
    Ok(unless_lost(terminal, exit, write_json(&folder, &run_json(end))))
}

/// Deals seeds to the scenarios: those that were given; otherwise runs by weight.
fn entries(args: &RunArgs, profile: &Profile, filters: &[String]) -> Result<Vec<Entry>, Refusal> {
    let nothing = |e: selection::NothingSelected| Refusal::NothingRan(e.to_string());
    let mut subjects = selection::select(filters, args.plant).map_err(nothing)?;
    let given = args.seed.map(|s| s.0..s.0 + 1).or_else(|| args.seeds.as_ref().map(|s| s.0.clone()));
    if filters.is_empty() && args.plant.is_none() && given.is_none() {
        let missing = |name: &&String| !subjects.iter().any(|s| s.scenario.name == **name);
        let fixed: Vec<Subject> = profile.fixed.keys().filter(missing).filter_map(|name| name.parse().ok()).collect();
        subjects.extend(fixed);
    }
    let weight = |s: &Subject| {
        let own = profile.weights.get(s.scenario.name).copied().unwrap_or(s.scenario.weight);
        u64::from(own.max(1))
    };
    let fixed = |s: &Subject| profile.fixed.get(s.scenario.name).copied().filter(|_| given.is_none());
    // All interleavings, where there are few enough, show more than any number of seeds.
    let all = |s: &Subject| {
        let usual = given.is_none() && args.strategy.is_none() && args.memory_model == MemoryModel::Sc;
        s.scenario.exhaustive.filter(|_| usual && s.planted.is_none())
    };
    let total: u64 = subjects.iter().filter(|s| fixed(s).is_none() && all(s).is_none()).map(weight).sum();
    let entry = |subject: Subject| {
        let weight = weight(&subject);
        if let Some(interleavings) = all(&subject) {
            return Entry::exhaustive(subject, weight, interleavings);
        }
        let (runs, at_once) = match (&given, fixed(&subject)) {
            (Some(seeds), _) => (seeds.end - seeds.start, false),
            (None, Some(runs)) => (runs, true),
            (None, None) if args.budget.is_some() => (UNLIMITED, false),
            (None, None) => (part(profile.runs, weight, total), false),
        };
        Entry { subject, weight, first_seed: given.as_ref().map_or(0, |s| s.start), runs, at_once, exhaustive: None }
    };
    Ok(subjects.into_iter().map(entry).collect())
}

/// Seeds that were given are all run, unless a budget was given as well.
fn budget(args: &RunArgs, profile: &Profile) -> Option<Duration> {
    let given = args.seed.is_some() || args.seeds.is_some();
    args.budget.or_else(|| (!given).then_some(profile.budget)).map(|budget| budget.0)
}

fn header(args: &RunArgs, profile: &Profile, campaign: &Campaign<'_>) -> Value {
    let entry = |e: &Entry| {
        json!({ "scenario": e.subject.token_name(), "first_seed": e.first_seed,
            "runs": e.exhaustive.or((e.runs < UNLIMITED).then_some(e.runs)), "exhaustive": e.exhaustive.is_some() })
    };
    json!({
        "memory_model": args.memory_model.to_string(),
        "profile": profile.name,
        "strategy": campaign.strategy.as_ref().unwrap_or(&campaign.otherwise).to_string(),
        "planted": args.plant.map(|bug| bug.name()),
        "jobs": campaign.jobs,
        "max_failures": campaign.max_failures,
        "budget_ms": campaign.budget.map(|b| b.as_millis() as u64),
        "seeds": campaign.entries.iter().map(entry).collect::<Vec<_>>(),
    })
}

fn explore(terminal: &Terminal, campaign: &Campaign<'_>) -> Outcome {
    let limited = campaign.entries.iter().all(|e| e.runs < UNLIMITED);
    let total = limited.then(|| campaign.entries.iter().map(|e| e.exhaustive.unwrap_or(e.runs)).sum());
    let runs = total.map_or_else(String::new, |total| format!("up to {} interleavings of ", grouped(total)));
    let budget = campaign.budget.map_or_else(String::new, |b| format!(", at most {:.0?}", b));
    let (scenarios, jobs) = (campaign.entries.len(), campaign.jobs);
    terminal.status(
        Tone::Good,
        "Running",
        format_args!("{runs}{}, {}{budget}", counted(scenarios, "scenario"), counted(jobs, "job")),
    );
    let progress = Progress::new(*terminal, total);
    let outcome = campaign.run(&|done| progress.show(done));
    progress.finish();
    outcome
}

/// Shows and stores what the campaign found.
fn finish(terminal: &Terminal, args: &RunArgs, outcome: &Outcome, folder: &RunFolder, provenance: &Provenance) -> Exit {
    let mut remarks = summary::remarks(outcome);
    let mut exit = outcome.exit();
    if let Some(bug) = args.plant.filter(|_| args.seed.is_none() && nothing_found(outcome)) {
        remarks.push(format!("the planted bug {bug} was not found in {} runs", grouped(outcome.executions())));
        exit = Exit::decisive([exit, Exit::Gate]);
    }
    outcome.rows.iter().for_each(|row| terminal.message(&json::row(row)));
    for found in &summary::found(outcome) {
        report_failure(terminal, found, Some(folder), provenance);
    }
    exit = unless_lost(terminal, exit, store_summary(outcome, exit, &remarks, folder));
    terminal.print(&summary::table(outcome).plain());
    if args.verbose {
        terminal.print("");
        terminal.print(&coverage::table(outcome).plain());
    }
    remarks.iter().for_each(|remark| terminal.status(Tone::Warning, "Note", remark));
    let totals = json!({ "type": "end", "exit": exit.code(), "remarks": remarks,
        "run": folder.id(), "folder": folder.path(), "seconds": outcome.elapsed.as_secs_f64() });
    terminal.message(&merged([&totals, &summary::totals(outcome)]));
    last_line(terminal, outcome, exit, folder);
    exit
}

fn nothing_found(outcome: &Outcome) -> bool {
    outcome.stopped != Some(Stopped::Interrupted) && outcome.rows.iter().all(|row| row.report.failures.is_empty())
}

/// Stores a failure, if there is a folder, and shows its block. A failure that cannot be stored is shown all the same.
pub fn report_failure(terminal: &Terminal, found: &Found<'_>, folder: Option<&RunFolder>, provenance: &Provenance) {
    let stored = folder.map(|folder| found.store(folder, provenance)).transpose();
    let stored = stored.unwrap_or_else(|error| {
        terminal.error(error);
        None
    });
    let signature = found.failure.signature();
    let known = in_corpus(&signature).or_else(|| folder?.earlier(&signature));
    terminal.message(&json::failure(found, stored.as_deref(), known.as_deref()));
    let context = Context { folder: stored.as_deref(), known: known.as_deref() };
    terminal.print(&failure_block::render(terminal, found, context));
    terminal.print("");
}

/// The exit code after files were written: a failure's own even if they could not be.
pub(super) fn unless_lost(terminal: &Terminal, exit: Exit, written: Result<(), impl Display>) -> Exit {
    match written {
        Ok(()) => exit,
        Err(error) => {
            terminal.error(error);
            if exit == Exit::Passed { Exit::BadInput } else { exit }
        }
    }
}

/// A checked-in failure with this signature: `scenarios/corpus/<scenario>/<name>/`.
fn in_corpus(signature: &str) -> Option<PathBuf> {
    use crate::report::failure_file::{FAILURE, FailureFile};
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    let mut stored: Vec<PathBuf> = folders(Path::new(CORPUS)).flat_map(|scenario| folders(&scenario)).collect();
    stored.sort_unstable();
    let same = |path: &PathBuf| FailureFile::read(&path.join(FAILURE)).is_ok_and(|f| f.signature == signature);
    stored.into_iter().find(|path| path.ends_with(folder_name(signature)) || same(path))
}

fn store_summary(outcome: &Outcome, exit: Exit, remarks: &[String], folder: &RunFolder) -> Result<(), WriteError> {
    folder.write(Path::new("seeds.jsonl"), &summary::seed_lines(outcome))?;
    let markdown = summary::markdown(&format!("Run {}", folder.id()), outcome, exit, remarks);
    folder.write(Path::new("summary.md"), &markdown)
}

fn last_line(terminal: &Terminal, outcome: &Outcome, exit: Exit, folder: &RunFolder) {
    let (tone, word) = match exit {
        Exit::Passed => (Tone::Good, "Finished"),
        Exit::Inconclusive if outcome.stopped == Some(Stopped::Interrupted) => (Tone::Warning, "Interrupted"),
        _ => (Tone::Bad, "Failed"),
    };
    let (runs, seconds) = (grouped(outcome.executions()), outcome.elapsed.as_secs_f64());
    let cut = if outcome.stopped == Some(Stopped::Budget) { ", the budget was spent" } else { "" };
    let failures: usize = outcome.rows.iter().map(|row| row.unexpected().count()).sum();
    terminal.status(
        tone,
        word,
        format_args!(
            "{}{runs} interleavings{} in {seconds:.1} s{cut}: {} (exit code {}), files in {}",
            if word == "Failed" { "after " } else { "" },
            found_of(failures),
            exit.meaning(),
            exit.code(),
            folder.path().display()
        ),
    );
}

/// How many failures there were, in parentheses.
pub fn found_of(failures: usize) -> String {
    match failures {
        0 => String::new(),
        1 => " (1 failure)".into(),
        n => format!(" ({} failures)", grouped(n as u64)),
    }
}

/// The members of several JSON objects in one.
pub(super) fn merged<const N: usize>(objects: [&Value; N]) -> Value {
    Value::Object(
        objects.into_iter().filter_map(Value::as_object).flatten().map(|(k, v)| (k.clone(), v.clone())).collect(),
    )
}

pub(super) fn write_json(folder: &RunFolder, value: &Value) -> Result<(), Refusal> {
    folder.write(Path::new("run.json"), &format!("{value:#}\n")).map_err(Refusal::bad_input)
}
