//! The trace as a table: a column per thread, a row per operation.
//!
//! What matters in an interleaving is where it changes hands. The table therefore shows notes of the program and, of
//! each stretch that one thread runs alone, the first and the last operation; the end of the run, where usually one
//! thread checks what the others have done, is folded too. Rows that are left out are counted where they were.

use std::fmt::Write as _;

use super::{Trace, TraceEvent, file_name, verb};
use crate::monitor::OpKind;

/// Which rows to show.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Most rows, those that count left-out ones apart.
    pub rows_max: usize,
    /// Widest a column may be, in characters.
    pub column_max: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { rows_max: 12, column_max: 44 }
    }
}

impl Style {
    /// Every operation.
    #[must_use]
    pub fn whole() -> Self {
        Self { rows_max: usize::MAX, ..Self::default() }
    }
}

/// Renders the operations of all threads that do something, one column each.
#[must_use]
pub fn render(trace: &Trace, style: Style) -> String {
    let shown: Vec<&TraceEvent> =
        trace.events.iter().filter(|e| !matches!(e.kind, OpKind::End | OpKind::Join)).collect();
    let rows = select(&shown, style.rows_max);
    let mut columns: Vec<u32> = rows.iter().map(|&i| shown[i].thread).collect();
    columns.sort_unstable();
    columns.dedup();
    let cells: Vec<String> = rows.iter().map(|&i| clip(&cell(trace, shown[i]), style.column_max)).collect();
    let width = |column: u32| {
        let own = rows.iter().zip(&cells).filter(|(i, _)| shown[**i].thread == column).map(|(_, t)| t.chars().count());
        own.chain([trace.thread_label(column).chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().map(|&c| width(c)).collect();

    let mut out = String::new();
    push_row(&mut out, "step", columns.iter().map(|&c| trace.thread_label(c)), &widths);
    let mut next = 0;
    for (&i, text) in rows.iter().zip(&cells) {
        push_gap(&mut out, i - next);
        next = i + 1;
        let cells = columns.iter().map(|&c| if shown[i].thread == c { text.as_str() } else { "." });
        push_row(&mut out, &shown[i].step.to_string(), cells, &widths);
    }
    push_gap(&mut out, shown.len() - next);
    out
}

/// The indices of the rows to show.
fn select(events: &[&TraceEvent], rows_max: usize) -> Vec<usize> {
    if events.len() <= rows_max {
        return (0..events.len()).collect();
    }
    let mut telling: Vec<usize> = (0..events.len()).filter(|&i| is_telling(events, i)).collect();
    if telling.len() > rows_max {
        telling.drain(..telling.len() - rows_max);
    }
    telling
}

/// Whether a row says something: a note, or an operation next to a change of hands, or the first or last of all.
fn is_telling(events: &[&TraceEvent], i: usize) -> bool {
    let hands_over = |a: usize, b: usize| match (events.get(a), events.get(b)) {
        (Some(a), Some(b)) => a.thread != b.thread,
        _ => true,
    };
    events[i].note.is_some() || hands_over(i.wrapping_sub(1), i) || hands_over(i, i + 1)
}

fn push_row<'a>(out: &mut String, step: &str, cells: impl Iterator<Item = &'a str>, widths: &[usize]) {
    let _ = write!(out, "{step:>6}");
    for (text, width) in cells.zip(widths) {
        let _ = write!(out, "  {text:width$}", width = *width);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
}

fn push_gap(out: &mut String, left_out: usize) {
    if left_out > 0 {
        let _ = writeln!(out, "{:>6}  ({left_out} more)", "...");
    }
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
