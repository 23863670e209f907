//! The progress: a bar on a terminal, plain lines otherwise.
#![allow(clippy::disallowed_methods, reason = "shows real time, outside of simulated runs")]

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::table::grouped;
use super::terminal::{Format, Terminal, Tone};

/// How often a plain line is written.
const PLAIN_LINE: Duration = Duration::from_secs(10);

/// Shows how far something long is.
pub struct Progress {
    terminal: Terminal,
    total: Option<u64>,
    /// What is counted.
    what: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
    lines: AtomicU64,
}

impl Progress {
    /// A progress towards `total` runs, if the number is limited.
    #[must_use]
    pub fn new(terminal: Terminal, total: Option<u64>) -> Self {
        Self::counting(terminal, total, "interleavings")
    }

    /// A progress towards `total` of `what`, if the number is limited.
    #[must_use]
    pub fn counting(terminal: Terminal, total: Option<u64>, what: &'static str) -> Self {
        let bar = terminal.is_watched().then(|| bar(total, what));
        Self { terminal, total, what, start: Instant::now(), bar, lines: AtomicU64::new(0) }
    }

    /// Shows that `done` runs were made.
    pub fn show(&self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            return;
        }
        let due = self.start.elapsed().as_secs() / PLAIN_LINE.as_secs();
        if self.terminal.format() == Format::Human && self.lines.fetch_max(due, Ordering::Relaxed) < due {
            let of = self.total.map_or_else(String::new, |total| format!(" of {}", grouped(total)));
            let seconds = self.start.elapsed().as_secs();
            self.terminal.status(
                Tone::Good,
                "Running",
                format_args!("{}{of} {}, {seconds} s", grouped(done), self.what),
            );
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>, what: &str) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()),
            format!("{{prefix:>12.bold.cyan}} [{{bar:25}}] {{human_pos}}/{{human_len}} {what}, {{rate}}, {{elapsed}}"),
        ),
        None => (
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
            format!("{{prefix:>12.bold.cyan}} {{spinner}} {{human_pos}} {what}, {{rate}}, {{elapsed}}"),
        ),
    };
    // The templates are fixed; were one wrong, the library's own style would do.
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // The library's own rate has four decimals.
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{}/s", grouped(state.per_sec() as u64));
    };
    bar.with_style(style.with_key("rate", rate).progress_chars("=> ")).with_prefix("Running")
}
