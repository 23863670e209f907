//! An exploration of all interleavings: its progress, and what it showed, for people and programs.
#![allow(clippy::disallowed_methods, reason = "shows real time, outside of simulated runs")]

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use interleaf::Equivalence;
use serde_json::{Value, json};

use super::table::{counted, grouped};
use super::terminal::{Format, Terminal, Tone};
use crate::campaign::Exit;
use crate::campaign::exploration::{Ended, Explored, Seen};
use crate::campaign::saved::{Bound, Estimated, Totals};
use crate::campaign::verdict::Verdict;

/// How often a plain line is written.
const PLAIN_LINE: Duration = Duration::from_secs(10);

/// `about 3,600 ± 210 interleavings`.
#[must_use]
pub fn estimated(estimate: Estimated) -> String {
    let Estimated { interleavings, error, .. } = estimate;
    format!("about {} ± {} interleavings", grouped(interleavings), grouped(error))
}

/// Shows how far an exploration is: a line that changes on a terminal, plain lines otherwise.
pub struct Progress {
    terminal: Terminal,
    /// Interleavings of earlier sessions.
    before: u64,
    estimate: Option<Estimated>,
    start: Instant,
    line: Option<ProgressBar>,
    lines: AtomicU64,
}

impl Progress {
    /// The progress of an exploration that has run `before` interleavings earlier.
    #[must_use]
    pub fn new(terminal: Terminal, before: u64, estimate: Option<Estimated>) -> Self {
        let line = terminal.is_watched().then(spinner);
        Self { terminal, before, estimate, start: Instant::now(), line, lines: AtomicU64::new(0) }
    }

    /// Shows it.
    pub fn show(&self, seen: Seen) {
        let elapsed = self.start.elapsed();
        if let Some(line) = &self.line {
            line.set_message(self.text(seen, elapsed));
            line.tick();
            return;
        }
        let due = elapsed.as_secs() / PLAIN_LINE.as_secs();
        if self.terminal.format() == Format::Human && self.lines.fetch_max(due, Ordering::Relaxed) < due {
            self.terminal.status(Tone::Good, "Exploring", self.text(seen, elapsed));
        }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }

    fn text(&self, seen: Seen, elapsed: Duration) -> String {
        let done = self.before + seen.interleavings;
        let rate = (seen.interleavings as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        let of = self.estimate.map_or_else(String::new, |all| {
            let percent = done.saturating_mul(100) / all.interleavings.max(1);
            // An estimate that was passed was too low: it says nothing about what is left.
            let share = if percent <= 100 { format!(" ({percent} %)") } else { " (passed)".into() };
            format!(" of about {} ± {}{share}", grouped(all.interleavings), grouped(all.error))
        });
        let (depth, seconds) = (seen.depth, elapsed.as_secs());
        format!("{}{of} interleavings, {}/s, {depth} deep, {seconds} s", grouped(done), grouped(rate))
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The template is fixed; were it wrong, the library's own style would do.
    let style = ProgressStyle::with_template("{prefix:>12.bold.cyan} {spinner} {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())).with_prefix("Exploring")
}

/// What was shown, in a sentence.
#[must_use]
pub fn sentence(explored: &Explored) -> String {
    let Explored { subject, totals, ended, verdict, .. } = explored;
    let name = match subject.scenario.draws {
        true => format!("{}, drawn from seed {}", subject.token_name(), explored.seed),
        false => subject.token_name(),
    };
    let part = explored.part.map_or_else(String::new, |p| format!(", part {} of {}", p.number, p.of));
    let (runs, failures) = (
        format!("{}{}", runs(totals.interleavings, explored.equivalence), within(explored.bound)),
        totals.failures.len(),
    );
    if *verdict == Verdict::Failed(Exit::Nondeterministic) {
        return format!("{name}: the same seed gave another run, so no count means anything");
    }
    match (ended, failures) {
        (Ended::Complete, 0) if part.is_empty() && totals.interleavings == 1 && explored.bound == Bound::All => {
            format!("{name}: its only {} holds", one(explored.equivalence))
        }
        (Ended::Complete, 0) if part.is_empty() => format!("{name}: all {runs} hold"),
        (Ended::Complete, 0) => format!("{name}{part}: its {runs} hold; the counts of all parts add up"),
        (Ended::Complete, _) => format!("{name}{part}: {} of all its {runs} fail", grouped(failures as u64)),
        (_, 0) => format!("{name}{part}: {runs} hold, but they are not all: {}", ended.reason()),
        _ => {
            let must = if *verdict == Verdict::Breaks { ", as it must" } else { "" };
            format!("{name}{part}: {} in {runs}{must}; {}", counted(failures, "failure"), ended.reason())
        }
    }
}

/// What a bound leaves.
fn within(bound: Bound) -> String {
    match bound {
        Bound::All => String::new(),
        Bound::Preemptions(most) | Bound::InTurn(most) => {
            format!(" with at most {}", counted(most as usize, "preemption"))
        }
    }
}

/// What one run of an exploration stands for.
#[must_use]
pub const fn one(equivalence: Equivalence) -> &'static str {
    match equivalence {
        Equivalence::ReadsFrom => "reads-from class",
        _ => "interleaving",
    }
}

/// What the runs of an exploration stand for.
#[must_use]
pub const fn plural(equivalence: Equivalence) -> &'static str {
    match equivalence {
        Equivalence::ReadsFrom => "reads-from classes",
        _ => "distinguishable interleavings",
    }
}

/// `1 distinguishable interleaving`, `6 distinguishable interleavings`, `2 reads-from classes`.
#[must_use]
pub fn runs(n: u64, equivalence: Equivalence) -> String {
    match (n, equivalence) {
        (1, Equivalence::ReadsFrom) => "1 reads-from class".to_owned(),
        (1, _) => "1 distinguishable interleaving".to_owned(),
        _ => format!("{} {}", grouped(n), plural(equivalence)),
    }
}

/// What was covered and what is left, as labels and texts.
#[must_use]
pub fn details(explored: &Explored) -> Vec<(&'static str, String)> {
    let Explored { report, totals, .. } = explored;
    let mut details = Vec::new();
    let session = match totals.sessions {
        0 | 1 => String::new(),
        n => format!("; {} of them in this session, the {}", grouped(report.executions), ordinal(n)),
    };
    details.push((
        "covered",
        format!("{}, {} steps{session}", runs(totals.interleavings, explored.equivalence), grouped(totals.steps)),
    ));
    if let Some(schedules) = totals.schedules {
        let about = if totals.schedules_are_exact { "" } else { "about " };
        let number = u64::try_from(schedules).map_or_else(|_| format!("{:.1e}", schedules as f64), grouped);
        details.push(("stand", format!("for {about}{number} schedules, which a search without reduction would run")));
    }
    let redundant = match (totals.redundant, totals.probes) {
        (0, 0) => "no run more".to_owned(),
        (redundant, probes) => format!(
            "{} without an interleaving of their own, {} given up early",
            counted(redundant as usize, "run"),
            grouped(probes)
        ),
    };
    let beyond = match totals.beyond {
        0 => String::new(),
        n => format!(", {} beyond the bound", counted(n as usize, "run")),
    };
    let blocked = match report.blocked {
        0 => String::new(),
        n => format!(", {} blocked in loops that wait", counted(n as usize, "run")),
    };
    details.push(("search", format!("{} deep, {redundant}{beyond}{blocked}", totals.depth)));
    if let Some(saved) = &explored.left {
        let guess = totals.estimate.map_or_else(
            || "how many interleavings are in them is not known".to_owned(),
            |all| format!("{} were estimated in all, from {} samples", estimated(all), all.samples),
        );
        details.push(("left", format!("{} of the search tree; {guess}", counted(saved.left.len(), "part"))));
    }
    details
}

/// `2nd`, `3rd`, `4th`.
fn ordinal(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// Labels and texts as lines.
#[must_use]
pub fn lines(details: &[(&'static str, String)]) -> String {
    let mut out = String::new();
    for (label, text) in details {
        let _ = writeln!(out, "  {label:<7} {text}");
    }
    out.truncate(out.trim_end().len());
    out
}

/// What all sessions counted, for programs.
#[must_use]
pub fn totals(totals: &Totals) -> Value {
    json!({
        "sessions": totals.sessions,
        "interleavings": totals.interleavings,
        "steps": totals.steps,
        "redundant": totals.redundant,
        "probes": totals.probes,
        "depth": totals.depth,
        "beyond": totals.beyond,
        // As text: it may be more than numbers of JSON hold.
        "schedules": totals.schedules.map(|n| n.to_string()),
        "schedules_are_exact": totals.schedules_are_exact,
        "conflicts": totals.conflicts,
        "fired": totals.fired,
        "failures": totals.failures.len(),
        "estimate": totals.estimate.map(|e| json!({ "interleavings": e.interleavings, "error": e.error,
            "samples": e.samples })),
        "seconds": totals.milliseconds as f64 / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::terminal::Color;

    #[test]
    fn the_progress_says_how_much_of_the_estimate_is_done() {
        let estimate = Some(Estimated { interleavings: 3_000, error: 120, samples: 64 });
        let progress = Progress::new(Terminal::new(Format::Json, Color::Never), 1_000, estimate);
        let text = |runs| progress.text(Seen { interleavings: runs, depth: 7 }, Duration::from_secs(10));
        assert_eq!(text(500), "1,500 of about 3,000 ± 120 (50 %) interleavings, 50/s, 7 deep, 10 s");
        assert_eq!(text(2_500), "3,500 of about 3,000 ± 120 (passed) interleavings, 250/s, 7 deep, 10 s");
    }

    #[test]
    fn ordinals() {
        assert_eq!(
            [2, 3, 4, 11, 12, 13, 21, 22, 111].map(ordinal).join(" "),
            "2nd 3rd 4th 11th 12th 13th 21st 22nd 111th"
        );
    }
}
