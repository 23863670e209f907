//! `interleaf selftest --programs`: explorations of programs with known numbers of interleavings.
#![allow(clippy::disallowed_methods, reason = "shows real time, outside of simulated runs")]

use std::sync::atomic::Ordering;
use std::time::Instant;

use interleaf_programs::measure;
use serde_json::json;

use super::args::SelftestArgs;
use super::{Refusal, interrupt};
use crate::campaign::Exit;
use crate::campaign::programs::{Instance, built_in, of_folder};
use crate::report::json::VERSION;
use crate::report::table::{Align, Table, counted, grouped};
use crate::report::terminal::{Terminal, Tone};

/// Explores each program and compares the number of runs with the known one.
///
/// # Errors
/// If the programs cannot be read.
pub fn programs(terminal: &Terminal, args: &SelftestArgs) -> Result<Exit, Refusal> {
    let instances = match &args.dir {
        Some(folder) => of_folder(folder, args.table.as_deref()),
        None => built_in(),
    };
    let instances = instances.map_err(Refusal::bad_input)?;
    let (start, interrupted) = (Instant::now(), interrupt::listen());
    terminal
        .message(&json!({ "type": "selftest", "version": VERSION, "jobs": args.jobs.0, "programs": instances.len() }));
    let programs = counted(instances.len(), "program");
    terminal.status(Tone::Good, "Exploring", format_args!("{programs} with a known number of interleavings"));
    let mut table = Table::new(&[
        ("program", Align::Left),
        ("parameters", Align::Left),
        ("interleavings", Align::Right),
        ("runs", Align::Right),
        ("redundant", Align::Right),
        ("rf classes", Align::Right),
        ("ms", Align::Right),
        ("", Align::Left),
    ]);
    let (mut runs, mut problems, mut cut) = (0, Vec::new(), false);
    for instance in &instances {
        let one = one(terminal, args, instance)?;
        cut = interrupted.load(Ordering::Relaxed);
        if cut {
            break;
        }
        runs += one.runs;
        table.row(one.cells);
        problems.extend(one.problem);
    }
    terminal.print(&table.plain());
    problems.iter().for_each(|problem| terminal.status(Tone::Bad, "Problem", problem));
    let exit = match (problems.is_empty(), cut) {
        (false, _) => Exit::Gate,
        (true, true) => Exit::Inconclusive,
        (true, false) => Exit::Passed,
    };
    let seconds = start.elapsed().as_secs_f64();
    terminal.message(&json!({ "type": "end", "exit": exit.code(), "interleavings": runs, "problems": problems,
        "seconds": seconds }));
    let (tone, word) = match exit {
        Exit::Passed => (Tone::Good, "Finished"),
        Exit::Inconclusive => (Tone::Warning, "Interrupted"),
        _ => (Tone::Bad, "Failed"),
    };
    let meaning = match exit {
        Exit::Passed => "each interleaving took one run, and there was no other".to_owned(),
        Exit::Gate => format!("{} differ from what is known", counted(problems.len(), "program")),
        _ => exit.meaning().to_owned(),
    };
    let runs = grouped(runs);
    terminal.status(tone, word, format_args!("{runs} runs in {seconds:.1} s: {meaning} (exit code {})", exit.code()));
    Ok(exit)
}

/// What one program gave.
struct One {
    runs: u64,
    cells: Vec<String>,
    problem: Option<String>,
}

fn one(terminal: &Terminal, args: &SelftestArgs, instance: &Instance) -> Result<One, Refusal> {
    let Instance { name, text, known } = instance;
    let start = Instant::now();
    let measured = measure(text, known, args.jobs.0, interrupt::listen())
        .map_err(|error| Refusal::BadInput(format!("program {name}: {error}")))?;
    let elapsed = start.elapsed();
    let difference = measured.difference(known);
    terminal.message(&json!({ "type": "program", "program": name, "parameters": known.to_string(),
        "interleavings": known.distinct, "runs": measured.executions, "redundant": measured.redundant,
        "probes": measured.probes, "classes": measured.classes, "complete": measured.complete, "problem": difference,
        "seconds": elapsed.as_secs_f64() }));
    let parameters = known.to_string();
    let cells = vec![
        name.clone(),
        parameters.clone(),
        grouped(known.distinct),
        grouped(measured.executions),
        grouped(measured.redundant),
        measured.classes.map_or_else(|| "-".to_owned(), grouped),
        format!("{:.1}", elapsed.as_secs_f64() * 1e3),
        if difference.is_some() { "DIFFERS".to_owned() } else { String::new() },
    ];
    let problem = difference.map(|difference| format!("{} {difference}", format!("{name} {parameters}").trim_end()));
    Ok(One { runs: measured.executions, cells, problem })
}
