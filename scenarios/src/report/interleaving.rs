//! Where each thread is in the rows that show the interleaving.

use interleaf::trace::{Trace, table};

/// Where each thread is in the last of its shown rows, the latest first.
#[must_use]
pub fn places(trace: &Trace) -> Vec<String> {
    let mut seen = Vec::new();
    let mut places = Vec::new();
    for event in table::rows(trace, table::Style::default()).into_iter().rev().filter(|e| e.note.is_none()) {
        if !seen.contains(&event.thread) {
            seen.push(event.thread);
            places.push(format!("{} at {}", trace.thread_label(event.thread), event.location));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use interleaf::sync::Mutex;
    use interleaf::{Explorer, thread};

    #[test]
    fn each_thread_is_named_once_at_its_last_shown_operation() {
        let report = Explorer::new().run(|| {
            let sum = Mutex::new(0);
            let add = || {
                let before = *sum.lock().unwrap();
                *sum.lock().unwrap() = before + 1;
            };
            thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(add))));
            assert_eq!(*sum.lock().unwrap(), 2);
        });
        let places = places(&report.failures[0].trace);
        let names: Vec<&str> = places.iter().filter_map(|p| p.split(" at ").next()).collect();
        assert_eq!(names.len(), 3);
        assert_eq!(names[0], "main", "{places:?}");
    }
}
