//! The full record of one run, made when a failing run is executed again with everything on.
//!
//! * [`Trace`]: threads, objects, events, decisions
//! * [`choices`]: the decisions as text that survives changes of the program
//! * [`jsonl`]: one JSON object a line
//! * [`table`]: a column per thread, for people

pub mod choices;
pub mod jsonl;
pub mod table;

use std::panic::Location;
use std::time::Duration;

use crate::monitor::OpKind;

/// One operation of one thread, or a note of the program under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Scheduling step, from 0.
    pub step: u64,
    /// Virtual time since the start of the run.
    pub time: Duration,
    /// Number of the thread in the order of creation.
    pub thread: u32,
    /// What was done.
    pub kind: OpKind,
    /// On which object: an index into [`Trace::objects`].
    pub object: Option<u32>,
    /// Whether a `try_` operation or compare-and-swap succeeded.
    pub success: bool,
    /// Where in the code.
    pub location: &'static Location<'static>,
    /// Text given to [`crate::note`], for events that are notes.
    pub note: Option<String>,
}

/// One decision of the strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The options: thread slots that could go on, or values, as bits.
    pub options: u64,
    /// The option taken.
    pub chosen: u8,
    /// The option that a run without preemptions takes here.
    pub default: u8,
    /// A switch away from a thread that could have gone on.
    pub preemption: bool,
    /// A choice of a value, not of a thread.
    pub data: bool,
    /// Number of the chosen thread (of the choosing thread, if a value was chosen).
    pub thread: u32,
    /// What the thread is about to do.
    pub kind: OpKind,
    /// On which object.
    pub object: Option<u32>,
    /// Where in the code.
    pub location: &'static Location<'static>,
}

impl Decision {
    /// Whether there was no alternative.
    #[must_use]
    pub fn forced(&self) -> bool {
        self.options & self.options.wrapping_sub(1) == 0
    }
}

/// A sync object of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceObject {
    /// Name given with [`crate::name`], or empty.
    pub name: &'static str,
    /// Where the object was made.
    pub created: &'static Location<'static>,
}

/// The full record of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Names of the threads in the order of creation.
    pub threads: Vec<String>,
    /// The objects in the order of first use.
    pub objects: Vec<TraceObject>,
    /// What happened, in order.
    pub events: Vec<TraceEvent>,
    /// What the strategy decided, in order.
    pub decisions: Vec<Decision>,
    /// The operations of atomics that had another outcome than the latest one, in order.
    pub stale: Vec<Stale>,
}

/// An operation of an atomic that did not read the latest store, or whose own store is not the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The operation: an index into [`Trace::events`].
    pub event: usize,
    /// What it read from where, which newer stores there were, and why it was allowed.
    pub why: String,
}

impl Trace {
    /// A short name for an object: its own, or kind of file and line where it was made.
    #[must_use]
    pub fn object_label(&self, object: u32) -> String {
        match self.objects.get(object as usize) {
            Some(o) if !o.name.is_empty() => o.name.to_owned(),
            Some(o) => format!("{}:{}#{object}", file_name(o.created.file()), o.created.line()),
            None => format!("#{object}"),
        }
    }

    /// The operations that did not see the latest store, one line each.
    pub fn stale_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.stale.iter().filter_map(|s| {
            let e = self.events.get(s.event)?;
            let object = e.object.map_or_else(String::new, |o| self.object_label(o));
            let (thread, place) = (self.thread_label(e.thread), e.location);
            Some(format!("{thread}: {} {object} at {place} {}", verb(e.kind), s.why))
        })
    }

    /// The thread's name.
    #[must_use]
    pub fn thread_label(&self, thread: u32) -> &str {
        self.threads.get(thread as usize).map_or("?", String::as_str)
    }

    /// Position of the first event in which two traces differ; `None` if they are equal.
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let common = self.events.len().min(other.events.len());
        (0..common)
            .find(|&i| self.events[i] != other.events[i])
            .or_else(|| (self.events.len() != other.events.len()).then_some(common))
    }

    /// Number of preemptions: switches away from a thread that could have gone on.
    #[must_use]
    pub fn preemptions(&self) -> usize {
        self.decisions.iter().filter(|d| d.preemption).count()
    }
}

/// The last component of a source path, whatever the separator.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The word for an operation in reports.
#[must_use]
pub fn verb(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Start => "start",
        OpKind::Lock => "lock",
        OpKind::TryLock => "try_lock",
        OpKind::Unlock => "unlock",
        OpKind::Read => "read",
        OpKind::TryRead => "try_read",
        OpKind::ReadUnlock => "unlock(r)",
        OpKind::Write => "write",
        OpKind::Queue => "queue(w)",
        OpKind::TryWrite => "try_write",
        OpKind::WriteUnlock => "unlock(w)",
        OpKind::Wait => "wait",
        OpKind::NotifyOne => "notify_one",
        OpKind::NotifyAll => "notify_all",
        OpKind::Load => "load",
        OpKind::Store => "store",
        OpKind::Rmw => "rmw",
        OpKind::Cas => "cas",
        OpKind::Add => "add",
        OpKind::And => "and",
        OpKind::Or => "or",
        OpKind::Xor => "xor",
        OpKind::Max => "max",
        OpKind::Min => "min",
        OpKind::Fence => "fence",
        OpKind::Send => "send",
        OpKind::Recv => "recv",
        OpKind::Meet => "meet",
        OpKind::Barrier => "barrier",
        OpKind::Pass => "pass",
        OpKind::Init => "init",
        OpKind::InitEnd => "init_end",
        OpKind::InitRead => "init_read",
        OpKind::InitWait => "init_wait",
        OpKind::Join => "join",
        OpKind::IsFinished => "is_finished",
        OpKind::Park => "park",
        OpKind::Unpark => "unpark",
        OpKind::Yield => "yield",
        OpKind::Sleep => "sleep",
        OpKind::End => "end",
        OpKind::Choose => "choose",
        OpKind::CellRead => "get",
        OpKind::CellWrite => "set",
    }
}
