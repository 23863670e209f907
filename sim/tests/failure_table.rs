//! The table of a failure shows who came between whom.

use interleaf::sync::Mutex;
use interleaf::trace::{Trace, table};
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
fn the_long_check_at_the_end_is_left_out_and_counted() {
    let trace = failing_trace(2, 1);
    let rows = table::rows(&trace, table::Style::default());
    let own: Vec<u32> = rows.iter().map(|e| e.thread).collect();
    assert_eq!(own.iter().filter(|&&t| t != 0).count(), 4, "two locks of each thread");
    assert_eq!(own.iter().filter(|&&t| t == 0).count(), 2, "the first operations after them");
    let text = table::render(&trace, table::Style::default());
    assert!(text.contains("main/0") && text.contains("main/1"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.trim_start().starts_with("...  (") && last.ends_with(" more)"), "{text}");
}

#[test]
fn a_dozen_rows_with_the_last_switches() {
    let trace = failing_trace(3, 20);
    let rows = table::rows(&trace, table::Style::default());
    assert_eq!(rows.len(), 12);
    assert!(rows.windows(2).any(|pair| pair[0].thread != pair[1].thread));
    assert!(rows.is_sorted_by_key(|e| e.step));
}

#[test]
fn the_whole_table_has_every_event() {
    let trace = failing_trace(2, 3);
    assert_eq!(table::rows(&trace, table::Style::whole()).len(), trace.events.len());
    assert_eq!(table::render(&trace, table::Style::whole()).lines().count(), trace.events.len() + 1);
}
