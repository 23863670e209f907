//! A partial execution graph that stands by itself: one work item of the exhaustive search.
//!
//! It names threads by their place in the tree of threads, and events by thread and place in it, so it means the same in
//! every run of the program. Values are not part of it: the program computes them again.

/// Place in the tree of threads: which child of its parent each thread on the way is. The first thread has the empty
/// path. Threads are ordered by path, a parent before its children.
pub(crate) type Path = Vec<u32>;

/// Whom an event reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It reads nothing.
    None,
    /// The first value of its location.
    Initial,
    /// The event at that place of [`Item::events`].
    Event(u32),
}

/// An event of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Index into [`Item::threads`].
    pub(crate) thread: u32,
    /// Place among the events of the thread.
    pub(crate) index: u32,
    pub(crate) source: Source,
    /// For the acquisition of a mutex: which later acquisition came before it, in the end.
    pub(crate) displaced_by: Option<u32>,
    /// It is still to come: an acquisition that waits for the one that displaced it to be released.
    pub(crate) is_hole: bool,
    /// A read-modify-write whose read was revisited: its write is new, so it comes last and has alternatives.
    pub(crate) is_fresh: bool,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) threads: Vec<Path>,
    /// In the order of addition.
    pub(crate) events: Vec<Planned>,
    /// The modification order of each location, without the first values, as places in `events`.
    pub(crate) orders: Vec<Vec<u32>>,
}

impl Item {
    /// The stores that come before `event` in its modification order, the nearest first.
    pub(crate) fn before(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let at = self.orders.iter().find_map(|order| order.iter().position(|&e| e == event).map(|at| &order[..at]));
        at.unwrap_or(&[]).iter().rev().copied()
    }
}
