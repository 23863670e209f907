//! `interleaf explore`: every distinguishable interleaving of a scenario, once.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use interleaf::{Equivalence, MemoryModel};
use serde_json::{Value, json};

use super::args::{ExploreArgs, OUT};
use super::run::{merged, report_failure, unless_lost, write_json};
use super::{Refusal, interrupt};
use crate::campaign::exploration::{ESTIMATE_TIME, Ended, Exploration, Explored};
use crate::campaign::saved::{Bound, Estimated, Saved};
use crate::campaign::verdict::Verdict;
use crate::campaign::{Exit, Subject, selection};
use crate::report::campaign::smallest;
use crate::report::exploration::{Progress, details, estimated, lines, one, plural, runs, sentence, totals};
use crate::report::failure_block::{program, quoted};
use crate::report::json;
use crate::report::provenance::Provenance;
use crate::report::run_folder::{RunFolder, WriteError, check_writable};
use crate::report::table::{counted, grouped};
use crate::report::terminal::{Terminal, Tone};

/// What is left goes here in the folder of the run, unless a place was given.
const LEFT: &str = "exploration.json";

/// Samples unless a number is given.
const SAMPLES: u32 = 64;

/// Explores a scenario.
///
/// # Errors
/// If the scenario or the saved exploration are not as they must be, or files cannot be written.
pub fn explore(terminal: &Terminal, args: &ExploreArgs) -> Result<Exit, Refusal> {
    let subject = subject(args)?;
    let provenance = Provenance::of_this_tree();
    let read = |path: &PathBuf| Saved::read(path, &subject, &provenance).map_err(Refusal::bad_input);
    let earlier = args.resume.as_ref().map(read).transpose()?;
    if let Some(path) = &args.save {
        check_writable(path).map_err(Refusal::bad_input)?;
    }
    let exploration = Exploration {
        subject,
        seed: seed(args, earlier.as_ref())?,
        bound: bound(args, earlier.as_ref())?,
        memory_model: memory_model(args)?,
        equivalence: equivalence(args)?,
        most: args.max,
        jobs: args.jobs.0,
        max_failures: args.max_failures as usize,
        budget: args.budget.map(|budget| budget.0),
        earlier,
        interrupted: interrupt::listen(),
    };
    let folder = RunFolder::create(&args.out).map_err(Refusal::bad_input)?;
    let header = header(args, &exploration);
    let run_json = |more: Value| merged([&header, &json!({ "run": folder.id(), "provenance": provenance }), &more]);
    write_json(&folder, &run_json(json!({ "state": "running" })))?;
    terminal.message(&merged([&json!({ "type": "explore", "version": json::VERSION }), &header]));
    let explored = go(terminal, args, &exploration);
    let (exit, end) = finish(terminal, args, &explored, &folder, &provenance);
    Ok(unless_lost(terminal, exit, write_json(&folder, &run_json(merged([&json!({ "state": "finished" }), &end])))))
}

/// The scenario that was named.
fn subject(args: &ExploreArgs) -> Result<Subject, Refusal> {
    let found = selection::select(std::slice::from_ref(&args.scenario), args.plant)
        .map_err(|e| Refusal::NothingRan(e.to_string()))?;
    let exact = found.iter().find(|s| s.scenario.name == args.scenario);
    match (exact, &found[..]) {
        (Some(subject), _) | (None, [subject]) => Ok(*subject),
        (None, several) => {
            let names: Vec<_> = several.iter().map(|s| s.scenario.name).collect();
            Err(Refusal::BadInput(format!(
                "scenario: expected the name of one, found `{}`, which is in {}: {}",
                args.scenario,
                counted(names.len(), "name"),
                names.join(", ")
            )))
        }
    }
}

/// The seed that was given, else that of the saved exploration.
fn seed(args: &ExploreArgs, earlier: Option<&Saved>) -> Result<u64, Refusal> {
    match (args.seed, earlier, &args.resume) {
        (Some(given), Some(saved), Some(path)) if given.0 != saved.seed => Err(Refusal::BadInput(format!(
            "{}: seed: expected {}, found an exploration of seed {}",
            path.display(),
            given.0,
            saved.seed
        ))),
        (Some(given), ..) => Ok(given.0),
        (None, saved, _) => Ok(saved.map_or(0, |saved| saved.seed)),
    }
}

/// The memory model, if what is asked for can be done under it.
fn memory_model(args: &ExploreArgs) -> Result<MemoryModel, Refusal> {
    match for_traces(args).filter(|_| args.memory_model != MemoryModel::Sc) {
        Some(option) => Err(Refusal::BadInput(format!(
            "{option}: expected with --memory-model sc only, found --memory-model {}",
            args.memory_model
        ))),
        None => Ok(args.memory_model),
    }
}

/// The equivalence, if what is asked for can be done with it.
fn equivalence(args: &ExploreArgs) -> Result<Equivalence, Refusal> {
    let model = (args.memory_model != MemoryModel::Sc).then_some("--memory-model");
    match for_traces(args).or(model).filter(|_| args.equivalence != Equivalence::Traces) {
        Some("--memory-model") => Err(Refusal::BadInput(format!(
            "--memory-model: expected sc with --equivalence {}, found {}",
            args.equivalence, args.memory_model
        ))),
        Some(option) => Err(Refusal::BadInput(format!(
            "{option}: expected with --equivalence traces only, found --equivalence {}",
            args.equivalence
        ))),
        None => Ok(args.equivalence),
    }
}

/// An option that was given and belongs to the search of traces.
fn for_traces(args: &ExploreArgs) -> Option<&'static str> {
    let given = [
        ("--preemptions", args.preemptions.is_some()),
        ("--resume", args.resume.is_some()),
        ("--save", args.save.is_some()),
        ("--split", args.split.is_some()),
        ("--estimate", args.estimate.is_some_and(|samples| samples > 0)),
    ];
    given.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// The bound that was given, else that of the saved exploration.
fn bound(args: &ExploreArgs, earlier: Option<&Saved>) -> Result<Bound, Refusal> {
    let given =
        args.preemptions.map(|most| if args.iterative { Bound::InTurn(most) } else { Bound::Preemptions(most) });
    match (given, earlier, &args.resume) {
        (Some(given), Some(saved), Some(path)) if given != saved.bound => Err(Refusal::BadInput(format!(
            "{}: bound: expected `{}`, found an exploration by `{}`",
            path.display(),
            given.strategy(),
            saved.bound.strategy()
        ))),
        (None, Some(Saved { bound: Bound::InTurn(_), .. }), Some(path)) if args.split.is_some() => {
            Err(Refusal::BadInput(format!(
                "{}: --split: bounds in turn cannot be divided: each part would begin the next round",
                path.display()
            )))
        }
        (given, saved, _) => Ok(given.or(saved.map(|saved| saved.bound)).unwrap_or_default()),
    }
}

fn header(args: &ExploreArgs, exploration: &Exploration<'_>) -> Value {
    json!({
        "scenario": exploration.subject.scenario.name,
        "planted": args.plant.map(|bug| bug.name()),
        "seed": exploration.seed,
        "strategy": exploration.bound.strategy().to_string(),
        "memory_model": exploration.memory_model.to_string(),
        "equivalence": exploration.equivalence.to_string(),
        "jobs": exploration.jobs,
        "max": args.max,
        "max_failures": args.max_failures,
        "budget_ms": exploration.budget.map(|b| b.as_millis() as u64),
        "resumed": args.resume,
        "part": exploration.earlier.as_ref().and_then(|saved| saved.part),
    })
}

fn go(terminal: &Terminal, args: &ExploreArgs, exploration: &Exploration<'_>) -> Explored {
    let name = exploration.subject.token_name();
    terminal.status(
        Tone::Good,
        "Exploring",
        format_args!("all {} of {name}, {}", plural(exploration.equivalence), counted(exploration.jobs, "job")),
    );
    let before = exploration.earlier.as_ref().map_or(0, |saved| saved.totals.interleavings);
    if let (Some(path), Some(saved)) = (&args.resume, &exploration.earlier) {
        let part = saved.part.map_or_else(String::new, |p| format!(", part {} of {}", p.number, p.of));
        let left = counted(saved.left.len(), "part");
        terminal.status(
            Tone::Good,
            "Resuming",
            format_args!("{}{part}: {} interleavings so far, {left} of the tree left", path.display(), grouped(before)),
        );
        if saved.other_code {
            terminal.status(
                Tone::Warning,
                "Note",
                format_args!(
                    "{}: saved by other code; if the scenario has changed, the counts mean nothing",
                    path.display()
                ),
            );
        }
    }
    let estimate = estimate(terminal, args, exploration);
    let progress = Progress::new(*terminal, before, estimate);
    let explored = exploration.run(estimate, &|seen| progress.show(seen));
    progress.finish();
    explored
}

/// The estimate of the first session, or one of this.
fn estimate(terminal: &Terminal, args: &ExploreArgs, exploration: &Exploration<'_>) -> Option<Estimated> {
    let earlier = exploration.earlier.as_ref().and_then(|saved| saved.totals.estimate);
    let traces = exploration.memory_model == MemoryModel::Sc && exploration.equivalence == Equivalence::Traces;
    if exploration.bound != Bound::All || !traces {
        // It would be one of all interleavings.
        return None;
    }
    let estimate = earlier.filter(|_| args.estimate.is_none()).or_else(|| match args.estimate {
        Some(0) => None,
        Some(samples) => exploration.estimate(samples, None),
        None => exploration.estimate(SAMPLES, Some(ESTIMATE_TIME)),
    });
    if let Some(estimate) = estimate {
        let samples = counted(estimate.samples as usize, "sample");
        terminal.status(Tone::Good, "Estimate", format_args!("{} in all, from {samples}", estimated(estimate)));
    }
    estimate
}

/// Shows and stores what was found and what is left. The exit code, and the last message.
fn finish(
    terminal: &Terminal,
    args: &ExploreArgs,
    explored: &Explored,
    folder: &RunFolder,
    provenance: &Provenance,
) -> (Exit, Value) {
    let mut remarks = explored.verdict.reasons().to_vec();
    let mut exit = explored.verdict.exit();
    let whole = explored.ended == Ended::Complete && explored.part.is_none();
    if let Some(bug) = args.plant.filter(|_| whole && explored.totals.failures.is_empty()) {
        let other = one(explored.equivalence);
        remarks.push(format!("the planted bug {bug} was not found, and there is no other {other}"));
        exit = Exit::decisive([exit, Exit::Gate]);
    }
    for found in
        &smallest(&explored.subject, explored.seed, Some(explored.report.executions), &explored.report.failures)
    {
        report_failure(terminal, found, Some(folder), provenance);
    }
    let (saved, lost) = match save(args, explored, folder, provenance) {
        Ok(saved) => (saved, Ok(())),
        Err(error) => (Vec::new(), Err(error)),
    };
    exit = unless_lost(terminal, exit, lost);
    let mut about = details(explored);
    for path in &saved {
        about.push(("saved", path.display().to_string()));
    }
    for path in &saved {
        about.push(("go on", go_on(args, explored, path, saved.len() > 1)));
    }
    let text = format!("{}\n{}", sentence(explored), lines(&about));
    terminal.print(&text);
    exit = unless_lost(terminal, exit, folder.write(Path::new("summary.md"), &markdown(folder, explored, exit, &text)));
    if !matches!(explored.verdict, Verdict::Inconclusive(_)) {
        remarks.iter().for_each(|remark| terminal.status(Tone::Warning, "Note", remark));
    }
    last_line(terminal, explored, exit, folder);
    let end = json!({ "exit": exit.code(), "ended": explored.ended.name(), "verdict": explored.verdict.word(),
        "remarks": remarks, "interleavings": explored.report.executions, "totals": totals(&explored.totals),
        "complete": explored.report.complete, "part": explored.part,
        "left": explored.left.as_ref().map(|left| json!({ "parts": left.left.len(), "files": saved })),
        "folder": folder.path(), "seconds": explored.elapsed.as_secs_f64() });
    terminal.message(&merged([&json!({ "type": "end", "run": folder.id() }), &end]));
    (exit, end)
}

/// Saves what is left, in one file or in several; their paths.
fn save(
    args: &ExploreArgs,
    explored: &Explored,
    folder: &RunFolder,
    provenance: &Provenance,
) -> Result<Vec<PathBuf>, WriteError> {
    let Some(left) = &explored.left else { return Ok(Vec::new()) };
    let path = args.save.clone().unwrap_or_else(|| folder.path().join(LEFT));
    let Some(parts) = args.split else {
        left.write(&path, provenance)?;
        return Ok(vec![path]);
    };
    let mut paths = Vec::new();
    for (saved, number) in left.split(parts).iter().zip(1..) {
        let path = path_of_part(&path, number, parts);
        saved.write(&path, provenance)?;
        paths.push(path);
    }
    Ok(paths)
}

/// `left.json` as `left.2-of-4.json`.
fn path_of_part(path: &Path, number: u64, of: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}-of-{of}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The line that goes on with a file.
fn go_on(args: &ExploreArgs, explored: &Explored, path: &Path, divided: bool) -> String {
    let mut line = format!("{} explore {}", program(), explored.subject.scenario.name);
    if let Some(bug) = args.plant {
        let _ = write!(line, " --plant {bug}");
    }
    let _ = write!(line, " --resume {}", quoted(path));
    if args.save.is_some() || divided {
        let _ = write!(line, " --save {}", quoted(path));
    }
    if args.out != Path::new(OUT) {
        let _ = write!(line, " --out {}", quoted(&args.out));
    }
    line
}

fn markdown(folder: &RunFolder, explored: &Explored, exit: Exit, text: &str) -> String {
    let mut out = format!("# Run {}\n\n**{}** (exit code {})\n\n", folder.id(), exit.meaning(), exit.code());
    let _ = write!(out, "```\n{text}\n```\n");
    for failure in &explored.report.failures {
        let _ = write!(
            out,
            "\n## `{}`\n\n{}\n\n```\ninterleaf replay {}\n```\n",
            failure.signature(),
            failure.kind.headline(),
            failure.token
        );
    }
    out
}

fn last_line(terminal: &Terminal, explored: &Explored, exit: Exit, folder: &RunFolder) {
    let (tone, word) = match (exit, explored.ended) {
        (Exit::Passed, _) => (Tone::Good, "Finished"),
        (Exit::Inconclusive, Ended::Interrupted) => (Tone::Warning, "Interrupted"),
        (Exit::Inconclusive, ended) if ended != Ended::Complete && ended != Ended::Failed => {
            (Tone::Warning, "Unfinished")
        }
        _ => (Tone::Bad, "Failed"),
    };
    let seconds = explored.elapsed.as_secs_f64();
    let meaning = match (exit, explored.ended) {
        (Exit::Passed, Ended::Complete) if explored.totals.failures.is_empty() => match explored.bound {
            Bound::All if explored.equivalence == Equivalence::ReadsFrom => "every reads-from class holds",
            Bound::All => "every interleaving holds",
            _ => "every interleaving within the bound holds",
        },
        (Exit::Passed, _) => "breaks, as it must",
        (Exit::Inconclusive, Ended::Most | Ended::Budget | Ended::Interrupted) => explored.ended.reason(),
        _ => exit.meaning(),
    };
    terminal.status(
        tone,
        word,
        format_args!(
            "{}{} in {seconds:.1} s: {meaning} (exit code {}), files in {}",
            if word == "Failed" { "after " } else { "" },
            match explored.equivalence {
                Equivalence::ReadsFrom => runs(explored.report.executions, explored.equivalence),
                _ => counted(explored.report.executions as usize, "interleaving"),
            },
            exit.code(),
            folder.path().display()
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_before_the_extension() {
        let path = |text: &str| path_of_part(Path::new(text), 2, 4).display().to_string();
        assert_eq!(path("a/left.json"), "a/left.2-of-4.json");
        assert_eq!(path("left"), "left.2-of-4");
    }
}
