//! `interleaf replay`: a stored failure once more.

use std::fs;
use std::path::{Path, PathBuf};

use interleaf::trace::choices::ChoiceLog;
use interleaf::trace::{Trace, jsonl, table};
use interleaf::{Failure, Replay, Token};
use serde_json::json;

use super::Refusal;
use super::args::ReplayArgs;
use crate::campaign::bounded::{FAILURE_MAX, TRACE_MAX, read_text};
use crate::campaign::equivalence::{self, TokenName};
use crate::campaign::{Exit, Subject};
use crate::report::failure_file::{CHOICES, FAILURE, FailureFile, ReadError, TRACE};
use crate::report::json::VERSION;
use crate::report::run_folder;
use crate::report::terminal::{Terminal, Tone};

/// Where a replay comes from.
struct Stored {
    token: Token,
    /// What was stored with it.
    file: Option<(PathBuf, FailureFile)>,
}

/// How a replayed trace compares with the stored one.
enum Comparison {
    /// There is no stored trace.
    Nothing,
    Equal,
    Differs(Difference),
}

/// Where two traces part.
struct Difference {
    /// Number of the first line that differs, from 1.
    line: usize,
    /// That line of the stored trace, clipped.
    before: String,
    /// That line of the new trace, clipped.
    now: String,
}

/// Most characters that are shown of a line of a trace.
const LINE_MAX: usize = 160;

/// Runs a stored failure once more.
///
/// # Errors
/// If token or file are malformed, name a scenario that does not exist, or the trace cannot be written.
pub fn replay(terminal: &Terminal, args: &ReplayArgs) -> Result<Exit, Refusal> {
    let stored = find(args)?;
    let named = Named::find(&stored.token)?;
    let before = stored_trace(&stored)?;
    terminal.status(Tone::Good, "Replaying", format_args!("{}, seed {}", stored.token.name, stored.token.seed));
    let replay = run(terminal, &named, &stored)?;
    let (trace, failure, exit) = match &replay {
        Replay::Failed(failure) => (&failure.trace, Some(failure), Exit::of(&failure.kind)),
        Replay::Diverged(failure) => (&failure.trace, Some(failure), Exit::Diverged),
        Replay::Passed(trace) => (&**trace, None, Exit::Passed),
    };
    let text = jsonl::render(trace);
    if let Some(path) = &args.trace {
        let failed = |e| Refusal::BadInput(format!("{}: cannot be written: {e}", path.display()));
        fs::write(path, &text).map_err(failed)?;
    }
    let comparison = before.map_or(Comparison::Nothing, |before| compare(&before, &text));
    show(terminal, args, trace, failure.map(|f| &**f));
    conclude(terminal, &stored, failure.map(|f| &**f), &comparison, exit);
    Ok(exit)
}

/// Reads what was given: a token, a folder or a file.
fn find(args: &ReplayArgs) -> Result<Stored, Refusal> {
    if args.what.starts_with("il1:") {
        let token: Token = args.what.parse().map_err(Refusal::bad_input)?;
        let text = token.to_string();
        return Ok(Stored { token, file: stored_with(&args.out, &text) });
    }
    let mut path = PathBuf::from(&args.what);
    if path.is_dir() {
        path.push(FAILURE);
    }
    if path.extension().is_some_and(|e| e == "toml") {
        let file = FailureFile::read(&path).map_err(Refusal::bad_input)?;
        let token = file.parse_token(&path).map_err(Refusal::bad_input)?;
        return Ok(Stored { token, file: Some((path, file)) });
    }
    let text = read_text(&path, FAILURE_MAX)
        .map_err(|error| Refusal::bad_input(ReadError::Io { path: path.clone(), error }))?;
    let token = text.parse().map_err(|e| Refusal::BadInput(format!("{}: {e}", path.display())))?;
    Ok(Stored { token, file: None })
}

/// What the last run stored with this token.
fn stored_with(out: &Path, token: &str) -> Option<(PathBuf, FailureFile)> {
    let failures = run_folder::latest(out)?.join("failures");
    let mut paths: Vec<PathBuf> = fs::read_dir(failures).ok()?.flatten().map(|e| e.path().join(FAILURE)).collect();
    paths.sort_unstable();
    let files = paths.into_iter().filter_map(|path| FailureFile::read(&path).ok().map(|file| (path, file)));
    files.into_iter().find(|(_, file)| file.token == token)
}

/// What a token names.
enum Named {
    Scenario(Subject),
    Equivalence(Box<equivalence::Subject>, equivalence::Case),
}

impl Named {
    fn find(token: &Token) -> Result<Self, Refusal> {
        if !token.name.starts_with(TokenName::PREFIX) {
            let subject = token.name.parse();
            return subject.map(Self::Scenario).map_err(|e| Refusal::BadInput(format!("replay token: {e}")));
        }
        let name: TokenName = token.name.parse().map_err(Refusal::bad_input)?;
        let subject = equivalence::Subject::load(name.source).map_err(Refusal::bad_input)?;
        Ok(Self::Equivalence(Box::new(subject), name.case))
    }

    fn replay(&self, token: &Token) -> Replay {
        match self {
            Self::Scenario(subject) => subject.replay(token),
            Self::Equivalence(subject, case) => subject.replay(case, token),
        }
    }

    fn replay_choices(&self, log: &ChoiceLog) -> Replay {
        match self {
            Self::Scenario(subject) => subject.replay_choices(log),
            Self::Equivalence(subject, case) => subject.replay_choices(case, log),
        }
    }
}

/// Runs the token. If the program has changed so that it does not give the stored failure, follows the labelled choices,
/// which outlive changes; if those give a failure, that is the result.
fn run(terminal: &Terminal, named: &Named, stored: &Stored) -> Result<Replay, Refusal> {
    let replay = named.replay(&stored.token);
    let Some((path, file)) = &stored.file else { return Ok(replay) };
    if matches!(&replay, Replay::Failed(failure) if failure.signature() == file.signature) {
        return Ok(replay);
    }
    let path = path.with_file_name(CHOICES);
    let Some(text) = if_there(&path, FAILURE_MAX, "labelled choices")? else { return Ok(replay) };
    let malformed = |e| Refusal::BadInput(format!("{}: {e}", path.display()));
    let log = ChoiceLog::parse(&text).map_err(malformed)?;
    terminal.status(
        Tone::Warning,
        "Changed",
        "the token does not give the stored failure; following the labelled choices",
    );
    Ok(match named.replay_choices(&log) {
        Replay::Failed(failure) => Replay::Failed(failure),
        Replay::Passed(_) | Replay::Diverged(_) => replay,
    })
}

/// The trace that was stored with the token.
fn stored_trace(stored: &Stored) -> Result<Option<String>, Refusal> {
    let Some((path, _)) = &stored.file else { return Ok(None) };
    if_there(&path.with_file_name(TRACE), TRACE_MAX, "stored trace")
}

/// The text of a file that may be missing, but not unreadable.
fn if_there(path: &Path, limit: u64, what: &str) -> Result<Option<String>, Refusal> {
    match read_text(path, limit) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Refusal::BadInput(format!("{}: the {what} cannot be read: {error}", path.display()))),
    }
}

fn compare(before: &str, now: &str) -> Comparison {
    if before == now {
        return Comparison::Equal;
    }
    let same = before.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    let clipped = |text: &str| match text.lines().nth(same) {
        None => "(the end)".to_owned(),
        Some(line) if line.chars().count() <= LINE_MAX => line.to_owned(),
        Some(line) => line.chars().take(LINE_MAX).chain("...".chars()).collect(),
    };
    Comparison::Differs(Difference { line: same + 1, before: clipped(before), now: clipped(now) })
}

fn show(terminal: &Terminal, args: &ReplayArgs, trace: &Trace, failure: Option<&Failure>) {
    let rows_max = if args.rows == 0 { usize::MAX } else { args.rows };
    let style = table::Style { rows_max, ..table::Style::default() };
    terminal.print(table::render(trace, style).trim_end());
    let Some(failure) = failure else { return };
    terminal.print(&format!("\n{}", failure.kind.headline()));
    for detail in failure.kind.details() {
        terminal.print(&format!("  {detail}"));
    }
    if let Some(backtrace) = &failure.backtrace {
        terminal.print(backtrace);
    }
}

fn conclude(terminal: &Terminal, stored: &Stored, failure: Option<&Failure>, comparison: &Comparison, exit: Exit) {
    let signature = failure.map(Failure::signature);
    let before = stored.file.as_ref().map(|(_, file)| file.signature.clone());
    let trace = match comparison {
        Comparison::Nothing => None,
        Comparison::Equal => Some(json!({ "equal": true })),
        Comparison::Differs(at) => {
            Some(json!({ "equal": false, "first_different_line": at.line, "stored": at.before, "replayed": at.now }))
        }
    };
    terminal.message(&json!({
        "type": "replay", "version": VERSION, "scenario": stored.token.name, "seed": stored.token.seed,
        "headline": failure.map(|f| f.kind.headline()), "signature": signature, "stored_signature": before,
        "trace": trace, "exit": exit.code(),
    }));
    match comparison {
        Comparison::Nothing => {}
        Comparison::Equal => terminal.status(Tone::Good, "Trace", "byte-equal to the stored one"),
        Comparison::Differs(Difference { line, before, now }) => {
            terminal.status(Tone::Warning, "Trace", format_args!("differs from the stored one, first in line {line}"));
            terminal.status(Tone::Warning, "stored", before);
            terminal.status(Tone::Warning, "replayed", now);
        }
    }
    let (tone, word, text) = match (exit, signature, before) {
        (Exit::Passed, ..) => (Tone::Good, "Passed", "it does not fail any more".to_owned()),
        (Exit::Diverged, ..) => {
            (Tone::Bad, "Diverged", "the program has changed: it came to a choice that the record does not fit".into())
        }
        (_, Some(now), Some(before)) if now != before => {
            (Tone::Bad, "Failed", format!("differently: {now}; the stored failure is {before}"))
        }
        (_, now, _) if matches!(comparison, Comparison::Differs(_)) => {
            (Tone::Bad, "Reproduced,", format!("but the trace differs: {}", now.unwrap_or_default()))
        }
        (_, now, _) => (Tone::Bad, "Reproduced", now.unwrap_or_default()),
    };
    terminal.status(tone, word, format_args!("{text} (exit code {})", exit.code()));
}
