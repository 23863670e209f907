//! Why an operation could have another outcome than the latest one.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::graph::{Event, Graph, INIT, Id, Kind, acquires, releases};

/// What is not known to the graph: the names of threads.
pub(crate) type Names<'a> = &'a dyn Fn(u32) -> String;

/// Says which older store an event has read, or which stores it was put before, and why that was allowed; `None` if it
/// did what sequential consistency would have done. `id` is the event added last.
pub(crate) fn explain(graph: &Graph, id: Id, names: Names<'_>) -> Option<String> {
    let e = graph.event(id);
    let mo = graph.mo.get(e.loc as usize)?;
    let mut text = String::new();
    let newer = match e.rf {
        Some(store) => {
            let after = &mo[graph.place_of(store) + 1..];
            let newer: Vec<Id> = after.iter().copied().filter(|&s| s != id).collect();
            let _ = write!(text, "reads {} from {}", value(graph.event(store)), described(graph, store, names));
            newer
        }
        None if e.kind == Kind::Store => {
            let _ = write!(text, "stores {} in the past", value(e));
            mo[graph.place_of(id) + 1..].to_vec()
        }
        None => return None,
    };
    let last = *newer.last()?;
    let _ = match newer.len() {
        1 => write!(text, ", although there is a newer one, {}", described(graph, last, names)),
        n => write!(text, ", although there are {n} newer ones, the last {}", described(graph, last, names)),
    };
    let _ = write!(text, ": {}", why(graph, e, &newer, names));
    Some(text)
}

fn value(e: &Event) -> i64 {
    e.value as i64
}

fn described(graph: &Graph, id: Id, names: Names<'_>) -> String {
    let e = graph.event(id);
    if e.thread == INIT {
        return format!("the first value, made at {}", e.place);
    }
    format!("{} by {} at {} ({:?})", value(e), names(e.thread), e.place, e.order)
}

/// Nothing that happens before the event forces a newer store on it. If the thread has read something that was stored
/// after a newer store, that would have forced it, had the two synchronised.
fn why(graph: &Graph, e: &Event, newer: &[Id], names: Names<'_>) -> String {
    let is_known = |id: Id| e.hb.includes(graph.event(id).thread, graph.event(id).position);
    debug_assert!(!newer.iter().any(|&s| is_known(s)), "coherence");
    let mut text = String::from("none of them happens before this, nor is read by anything that does");
    let mine = &graph.views[e.thread as usize].events;
    let missing = mine.iter().rev().filter(|&&r| graph.event(r).position < e.position).find_map(|&read| {
        let (r, store) = (graph.event(read), graph.event(read).rf?);
        let s = graph.event(store);
        let later = |n: &&Id| {
            let n = graph.event(**n);
            n.thread == s.thread && n.position < s.position
        };
        (s.thread != INIT && s.thread != e.thread && newer.iter().any(|n| later(&n))).then_some((r, s))
    });
    if let Some((r, s)) = missing {
        let _ = write!(
            text,
            "; the {} at {} had read what {} stored after it at {}, but does not synchronise with that ({})",
            if r.kind == Kind::Rmw { "read-modify-write" } else { "load" },
            r.place,
            names(s.thread),
            s.place,
            orders(s.order, r.order)
        );
    }
    text
}

fn orders(store: Ordering, load: Ordering) -> String {
    match (releases(store), acquires(load)) {
        (false, false) => format!("the store is {store:?}, the load {load:?}"),
        (false, true) => format!("the store is {store:?}"),
        (true, false) => format!("the load is {load:?}"),
        (true, true) => String::from("through another store"),
    }
}
