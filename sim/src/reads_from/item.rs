//! A work item: a part of an execution that stands for a part of all reads-from classes.

use std::sync::Arc;

/// An event, named so that it is the same in every run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Spot {
    /// Index into the threads of the item or execution.
    pub(crate) thread: u16,
    /// How many events the thread has before it.
    pub(crate) index: u32,
}

/// Whose write an event reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source<E> {
    /// It reads nothing.
    Nothing,
    /// What was there from the beginning.
    Initial,
    Event(E),
}

/// How an event came to be part of its item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// By default: it reads what was there when its turn came. It may be made to read something else.
    Default,
    /// It was made to read something else than by default.
    Chosen,
    /// Likewise, of the acquisition of a mutex: it comes right after another acquisition, whenever that one is released,
    /// if ever. The event itself is still to come.
    Promised { index: u32 },
    /// Something chosen needs it.
    Needed,
}

/// An event in the order in which the search came by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) thread: u16,
    pub(crate) origin: Origin,
}

/// A step of the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) thread: u16,
    /// What it reads then.
    pub(crate) source: Source<Spot>,
}

/// The end of a round of a loop that found the same as the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Round {
    /// The thread's place in the tree of threads.
    pub(crate) thread: u64,
    /// How many events the thread has had.
    pub(crate) index: u32,
}

/// See the module. It carries all that another worker needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    /// Threads by their place in the tree of threads, in that order.
    pub(crate) threads: Arc<[u64]>,
    pub(crate) stamps: Vec<Stamp>,
    /// The same events in an order in which they can be run.
    pub(crate) schedule: Vec<Step>,
    /// Rounds, and whether their loops end by themselves if nothing changes.
    pub(crate) loops: Vec<(Round, bool)>,
}

impl Default for Item {
    /// All classes.
    fn default() -> Self {
        Self { threads: Arc::new([]), stamps: Vec::new(), schedule: Vec::new(), loops: Vec::new() }
    }
}
