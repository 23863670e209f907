//! The trace as a table: a column per thread, a row per operation.

use std::fmt::Write as _;

use super::{Trace, TraceEvent, file_name, verb};
use crate::monitor::OpKind;

/// Which rows to show.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Most rows; the last ones are kept, since the failure is at the end. The omitted ones are counted.
    pub rows_max: usize,
    /// Widest a column may be, in characters.
    pub column_max: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { rows_max: 12, column_max: 44 }
    }
}

/// Renders the operations of all threads that do something, one column each.
#[must_use]
pub fn render(trace: &Trace, style: Style) -> String {
    let shown: Vec<&TraceEvent> =
        trace.events.iter().filter(|e| !matches!(e.kind, OpKind::End | OpKind::Join)).collect();
    let skipped = shown.len().saturating_sub(style.rows_max);
    let rows = &shown[skipped..];
    let mut columns: Vec<u32> = rows.iter().map(|e| e.thread).collect();
    columns.sort_unstable();
    columns.dedup();
    let cells: Vec<String> = rows.iter().map(|e| clip(&cell(trace, e), style.column_max)).collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|&c| {
            let own = rows.iter().zip(&cells).filter(|(e, _)| e.thread == c).map(|(_, t)| t.chars().count());
            own.chain([trace.thread_label(c).chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    let _ = write!(out, "{:>6}", "step");
    for (c, w) in columns.iter().zip(&widths) {
        let _ = write!(out, "  {:w$}", trace.thread_label(*c), w = *w);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    if skipped > 0 {
        let _ = writeln!(out, "{:>6}  ({skipped} earlier operations are in the trace file)", "...");
    }
    for (e, text) in rows.iter().zip(&cells) {
        let _ = write!(out, "{:>6}", e.step);
        for (c, w) in columns.iter().zip(&widths) {
            let shown = if e.thread == *c { text.as_str() } else { "." };
            let _ = write!(out, "  {shown:w$}", w = *w);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn cell(trace: &Trace, e: &TraceEvent) -> String {
    if let Some(note) = &e.note {
        return format!("[{note}]");
    }
    let mut text = verb(e.kind).to_owned();
    if let Some(object) = e.object {
        let _ = write!(text, " {}", trace.object_label(object));
    }
    if !e.success {
        text.push_str(" (failed)");
    }
    let _ = write!(text, "  {}:{}", file_name(e.location.file()), e.location.line());
    text
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}
