//! The few rows of a trace that show the interleaving.
//!
//! The end of a trace is seldom what matters: there the main thread joins the others and checks what they left. What
//! matters is who came between whom. So notes and the rows next to switches between threads are kept, the last first, and
//! what the main thread does alone before and after the others is left out.

use std::cmp::Reverse;

use interleaf::monitor::OpKind;
use interleaf::trace::{Trace, TraceEvent, table};

/// Most rows.
const ROWS_MAX: usize = 12;

/// Notes that come before rows of operations.
const NOTES_MAX: usize = 5;

/// The rows that show the interleaving, in order.
#[must_use]
pub fn rows(trace: &Trace) -> Vec<&TraceEvent> {
    let all: Vec<&TraceEvent> = trace.events.iter().filter(|e| e.note.is_some() || !is_bookkeeping(e.kind)).collect();
    let rows = concurrent_part(&all);
    if rows.len() <= ROWS_MAX {
        return rows.to_vec();
    }
    // The last notes, which say what an operation means; then rows next to a switch; among equals the later one.
    let notes: Vec<usize> = (0..rows.len()).rev().filter(|&at| rows[at].note.is_some()).take(NOTES_MAX).collect();
    let beside_switch = |at: usize| {
        let other = |neighbour: Option<&&TraceEvent>| neighbour.is_some_and(|n| n.thread != rows[at].thread);
        other(at.checked_sub(1).and_then(|before| rows.get(before))) || other(rows.get(at + 1))
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&at| Reverse((notes.contains(&at), beside_switch(at), at)));
    order.truncate(ROWS_MAX);
    order.sort_unstable();
    order.into_iter().map(|at| rows[at]).collect()
}

/// The rows as a table with a column per thread, and how many operations it leaves out.
#[must_use]
pub fn table(trace: &Trace) -> String {
    let rows = rows(trace);
    let left_out = trace.events.len() - rows.len();
    let shown = Trace { events: rows.into_iter().cloned().collect(), ..trace.clone() };
    let mut text = table::render(&shown, table::Style { rows_max: ROWS_MAX, ..table::Style::default() });
    if left_out > 0 {
        text.push_str(&format!("{:>6}  ({left_out} other operations are in the trace file)\n", "..."));
    }
    text
}

/// Where each thread is in the last of its rows, the latest first.
#[must_use]
pub fn places(trace: &Trace) -> Vec<String> {
    let mut seen = Vec::new();
    let mut places = Vec::new();
    for event in rows(trace).into_iter().rev().filter(|e| e.note.is_none()) {
        if !seen.contains(&event.thread) {
            seen.push(event.thread);
            places.push(format!("{} at {}", trace.thread_label(event.thread), event.location));
        }
    }
    places
}

/// Operations that are consequences of others: they never explain anything.
fn is_bookkeeping(kind: OpKind) -> bool {
    use OpKind::{End, Join, ReadUnlock, Start, Unlock, WriteUnlock};
    matches!(kind, Start | End | Join | Unlock | ReadUnlock | WriteUnlock)
}

/// Without what the main thread does before the first and after the last operation of the others.
fn concurrent_part<'a, 't>(rows: &'a [&'t TraceEvent]) -> &'a [&'t TraceEvent] {
    let others = |e: &&TraceEvent| e.thread != 0;
    let threads = rows.iter().map(|e| e.thread).filter(|t| *t != 0).collect::<std::collections::BTreeSet<_>>().len();
    let (Some(first), Some(last)) = (rows.iter().position(others), rows.iter().rposition(others)) else { return rows };
    // With one other thread, the main thread is the second actor: keep what it did next to the other's.
    if threads > 1 { &rows[first..=last] } else { &rows[first.saturating_sub(1)..rows.len().min(last + 2)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interleaf::sync::Mutex;
    use interleaf::{Explorer, thread};

    fn failing_trace(threads: u32, locks: u32) -> Trace {
        let report = Explorer::new().run(|| {
            let sum = Mutex::new(0);
            let add = || {
                (1..locks).for_each(|_| drop(sum.lock()));
                let before = *sum.lock().unwrap();
                *sum.lock().unwrap() = before + 1;
            };
            thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(add))));
            (0..20).for_each(|_| drop(sum.lock()));
            assert_eq!(*sum.lock().unwrap(), threads);
        });
        report.failures[0].trace.clone()
    }

    #[test]
    fn the_check_at_the_end_is_left_out() {
        let trace = failing_trace(2, 1);
        let rows = rows(&trace);
        assert_eq!(rows.len(), 4, "two locks of each thread");
        assert!(rows.iter().all(|e| e.thread != 0 && e.kind == OpKind::Lock));
        let text = table(&trace);
        assert!(text.contains("main/0") && text.contains("main/1") && text.contains("other operations"), "{text}");
        assert_eq!(places(&trace).len(), 2);
    }

    #[test]
    fn a_dozen_rows_with_the_last_switches() {
        let trace = failing_trace(3, 20);
        let rows = rows(&trace);
        assert_eq!(rows.len(), ROWS_MAX);
        assert!(rows.windows(2).any(|pair| pair[0].thread != pair[1].thread));
        assert!(rows.is_sorted_by_key(|e| e.step));
    }
}
