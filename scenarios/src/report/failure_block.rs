//! A failure for people: what broke, where, under which interleaving, how to replay it, whether it is known.

use std::fmt::Write as _;
use std::path::Path;

use interleaf::trace::table;
use interleaf::{Failure, FailureKind};

use super::failure_file::{Found, steps};
use super::interleaving;
use super::table::{counted, grouped};
use super::terminal::{Terminal, Tone};
use crate::cli::args::OUT;

/// The longest token that is printed. For a longer one the path of its file is.
const TOKEN_MAX: usize = 400;

/// Threads of which the last place is shown.
const PLACES_MAX: usize = 4;

/// What a failure block says besides the failure.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Where its files are.
    pub folder: Option<&'a Path>,
    /// An earlier failure with the same signature.
    pub known: Option<&'a Path>,
}

/// Renders the block, without a line feed at its end.
#[must_use]
pub fn render(terminal: &Terminal, found: &Found<'_>, context: Context<'_>) -> String {
    let failure = found.failure;
    let bug = found.planted.map_or_else(String::new, |bug| format!("+{bug}"));
    let signature = failure.signature();
    let fail = terminal.paint(Tone::Bad, "FAIL");
    let seed = if found.searched.is_some() { String::new() } else { format!("  seed {}", failure.seed) };
    let mut out = format!("{fail} {signature}  {}{bug}{seed}\n", found.scenario);
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "  {label:<7} {text}");
    };
    for (at, text) in failure.kind.headline().lines().enumerate() {
        line(if at == 0 { "what" } else { "" }, text);
    }
    for text in failure.kind.details() {
        line("", &text);
    }
    for (at, text) in places(failure).iter().enumerate() {
        line(if at == 0 { "where" } else { "" }, text);
    }
    line("found", &how(found));
    if let Some(reversal) = &failure.reversal {
        line("passes", &format!("if {} comes before {}", reversal.later, reversal.earlier));
    }
    out.push('\n');
    for row in table::render(&failure.trace, table::Style::default()).lines() {
        let _ = writeln!(out, "  {row}");
    }
    let mut line = |label: &str, text: &str| {
        let _ = write!(out, "\n  {label:<7} {text}");
    };
    line("replay", &replay_line(failure, context.folder));
    if let Some(folder) = context.folder {
        line("files", &folder.display().to_string());
    }
    match context.known {
        Some(path) => line("known", &format!("yes: {}", path.display())),
        None => line("known", "no: no stored failure has this signature"),
    }
    out
}

fn how(found: &Found<'_>) -> String {
    let failure = found.failure;
    let runs = match found.searched {
        None => format!("run {}", grouped(failure.seed.saturating_sub(found.first_seed) + 1)),
        Some(runs) => format!("in {}", counted(runs as usize, "run")),
    };
    let what = if found.searched.is_some() { "interleavings" } else { "seeds" };
    let times = if found.times > 1 { format!(", {} failing {what} in all", found.times) } else { String::new() };
    format!(
        "{runs} ({}), {} preemptions, {} steps{times}",
        failure.strategy,
        failure.trace.preemptions(),
        grouped(steps(&failure.trace)),
    )
}

/// The source lines of the failure: those of a panic or of the blocked threads are in its details; otherwise where each
/// thread is at the end of the rows that are shown.
fn places(failure: &Failure) -> Vec<String> {
    match &failure.kind {
        FailureKind::Panic { panic, .. } => vec![panic.location.clone()],
        FailureKind::Deadlock { .. } | FailureKind::StepLimit { .. } => Vec::new(),
        _ => interleaving::places(&failure.trace).into_iter().take(PLACES_MAX).collect(),
    }
}

/// One line to paste.
#[must_use]
pub fn replay_line(failure: &Failure, folder: Option<&Path>) -> String {
    let what = match folder {
        Some(folder) if failure.token.len() > TOKEN_MAX => quoted(folder),
        // With it, `replay` finds the stored trace.
        Some(folder) => format!("{}{}", failure.token, out_of(folder)),
        None => failure.token.clone(),
    };
    format!("{} replay {what}", program())
}

/// `--out` with the folder of the runs in which `<run-id>/failures/<signature>` is, unless it is the default.
fn out_of(folder: &Path) -> String {
    match folder.ancestors().nth(3) {
        Some(root) if root != Path::new(OUT) => format!(" --out {}", quoted(root)),
        _ => String::new(),
    }
}

/// A path that can be pasted into a shell.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@=,:".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// How this program was called, so that a line with it can be pasted.
#[must_use]
pub fn program() -> String {
    let called = std::env::args().next().filter(|name| !name.is_empty() && !name.contains(char::is_whitespace));
    called.unwrap_or_else(|| "interleaf".to_owned())
}
