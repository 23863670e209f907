//! The trace as a table: a column per thread, a row per operation.
//!
//! What matters in an interleaving is who came between whom. So the table keeps notes of the program and the rows next
//! to a change of hands, the last first; releases of locks, which are consequences, and what the main thread does alone
//! before and after the others are left out. Rows that are left out are counted where they were.

use std::cmp::Reverse;
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

/// Notes that come before rows of operations.
const NOTES_MAX: usize = 5;

/// Renders the rows that show the interleaving, one column for each thread that has one.
#[must_use]
pub fn render(trace: &Trace, style: Style) -> String {
    let rows = select(trace, style.rows_max);
    let event = |i: usize| &trace.events[i];
    let mut columns: Vec<u32> = rows.iter().map(|&i| event(i).thread).collect();
    columns.sort_unstable();
    columns.dedup();
    let cells: Vec<String> = rows.iter().map(|&i| clip(&cell(trace, i), style.column_max)).collect();
    let width = |column: u32| {
        let own = rows.iter().zip(&cells).filter(|(i, _)| event(**i).thread == column).map(|(_, t)| t.chars().count());
        own.chain([trace.thread_label(column).chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().map(|&c| width(c)).collect();

    let mut out = String::new();
    push_row(&mut out, "step", columns.iter().map(|&c| trace.thread_label(c)), &widths);
    let mut next = 0;
    for (&i, text) in rows.iter().zip(&cells) {
        push_gap(&mut out, i - next);
        next = i + 1;
        let cells = columns.iter().map(|&c| if event(i).thread == c { text.as_str() } else { "." });
        push_row(&mut out, &event(i).step.to_string(), cells, &widths);
    }
    push_gap(&mut out, trace.events.len() - next);
    out
}

/// The events that the table shows, in order.
#[must_use]
pub fn rows(trace: &Trace, style: Style) -> Vec<&TraceEvent> {
    select(trace, style.rows_max).into_iter().map(|i| &trace.events[i]).collect()
}

/// The indices of the events to show.
fn select(trace: &Trace, rows_max: usize) -> Vec<usize> {
    if rows_max == usize::MAX {
        return (0..trace.events.len()).collect();
    }
    let event = |i: usize| &trace.events[i];
    let all: Vec<usize> =
        (0..trace.events.len()).filter(|&i| event(i).note.is_some() || !is_bookkeeping(event(i).kind)).collect();
    let rows = concurrent_part(trace, &all);
    if rows.len() <= rows_max {
        return rows.to_vec();
    }
    // The last notes, which say what an operation means; then rows next to a switch; among equals the later one.
    let notes: Vec<usize> =
        (0..rows.len()).rev().filter(|&at| event(rows[at]).note.is_some()).take(NOTES_MAX).collect();
    let beside_switch = |at: usize| {
        let other = |neighbour: Option<&usize>| neighbour.is_some_and(|&n| event(n).thread != event(rows[at]).thread);
        other(at.checked_sub(1).and_then(|before| rows.get(before))) || other(rows.get(at + 1))
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // What did not see the latest store is what a weak memory model is looked at for.
    let stale = |at: usize| trace.stale.iter().any(|s| s.event == rows[at]);
    order.sort_by_key(|&at| Reverse((notes.contains(&at), stale(at), beside_switch(at), at)));
    order.truncate(rows_max);
    order.sort_unstable();
    order.into_iter().map(|at| rows[at]).collect()
}

/// Operations that are consequences of others: they never explain anything.
fn is_bookkeeping(kind: OpKind) -> bool {
    use OpKind::{End, Join, ReadUnlock, Start, Unlock, WriteUnlock};
    matches!(kind, Start | End | Join | Unlock | ReadUnlock | WriteUnlock)
}

/// Without what the main thread does long before the first and long after the last operation of the others.
fn concurrent_part<'a>(trace: &Trace, rows: &'a [usize]) -> &'a [usize] {
    let others = |&i: &usize| trace.events[i].thread != 0;
    match (rows.iter().position(others), rows.iter().rposition(others)) {
        // The main thread may be an actor too: keep what it did next to the others.
        (Some(first), Some(last)) => &rows[first.saturating_sub(1)..rows.len().min(last + 3)],
        _ => rows,
    }
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

fn cell(trace: &Trace, at: usize) -> String {
    let e = &trace.events[at];
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
    if trace.stale.iter().any(|s| s.event == at) {
        text.push_str(" (stale)");
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
