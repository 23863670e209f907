//! What a checker sees of a run while it runs: one event per operation on a sync object.

use std::panic::Location;
use std::time::Duration;

use crate::violation::Violation;

/// What an operation does to its object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[non_exhaustive]
pub enum OpKind {
    /// The thread begins to run.
    Start,
    /// `Mutex::lock`, also the re-acquisition after a condition variable.
    Lock,
    /// `Mutex::try_lock`.
    TryLock,
    /// Release of a mutex.
    Unlock,
    /// `RwLock::read`.
    Read,
    /// `RwLock::try_read`.
    TryRead,
    /// Release of a read lock.
    ReadUnlock,
    /// `RwLock::write`.
    Write,
    /// A thread that wants to write begins to wait, if it must. A step only where an exploration needs it to be one.
    Queue,
    /// `RwLock::try_write`.
    TryWrite,
    /// Release of a write lock.
    WriteUnlock,
    /// `Condvar::wait`: release of the mutex and start of the wait.
    Wait,
    /// `Condvar::notify_one`.
    NotifyOne,
    /// `Condvar::notify_all`.
    NotifyAll,
    /// Load of an atomic or snapshot cell.
    Load,
    /// Store to an atomic or snapshot cell.
    Store,
    /// Read-modify-write that wrote.
    Rmw,
    /// Compare-and-swap: it writes if it succeeds and only reads if it fails.
    Cas,
    /// `Update::add` and `sub` of an atomic: nobody sees the result, so it commutes with others of its kind.
    Add,
    /// `Update::and`, likewise.
    And,
    /// `Update::or`, likewise.
    Or,
    /// `Update::xor`, likewise.
    Xor,
    /// `Update::max`, likewise.
    Max,
    /// `Update::min`, likewise.
    Min,
    /// A memory fence.
    Fence,
    /// Send on a channel.
    Send,
    /// Receive from a channel.
    Recv,
    /// On a channel without buffer: begin (or, if it failed, end by a timeout) of the wait for the other side.
    Meet,
    /// `Barrier::wait`: the thread arrives.
    Barrier,
    /// The barrier has opened and lets the thread pass.
    Pass,
    /// Begin of a `Once`, `OnceLock` or `LazyLock`'s initialisation.
    Init,
    /// End of an initialisation; it failed if the initialiser panicked.
    InitEnd,
    /// Look at a `Once`, `OnceLock` or `LazyLock`: whether it is initialised.
    InitRead,
    /// `Once::wait`, `OnceLock::wait`.
    InitWait,
    /// `JoinHandle::join`.
    Join,
    /// `JoinHandle::is_finished`.
    IsFinished,
    /// `thread::park`.
    Park,
    /// `Thread::unpark`.
    Unpark,
    /// `thread::yield_now`, `hint::spin_loop`.
    Yield,
    /// `thread::sleep`.
    Sleep,
    /// The thread has ended. A step only where an exploration needs it to be one.
    End,
    /// A choice that is not between threads: which waiter wakes, whether an armed fault fires.
    Choose,
    /// Read of a plain cell. No scheduling point.
    CellRead,
    /// Write of a plain cell. No scheduling point.
    CellWrite,
}

impl OpKind {
    /// Whether a thread that is about to do this waits for others without being blocked.
    pub(crate) const fn gives_way(self) -> bool {
        matches!(self, Self::Yield | Self::Sleep)
    }

    /// Whether it is an event of an execution graph: atomics, fences and mutexes.
    pub(crate) const fn is_event(self) -> bool {
        use OpKind::{Cas, Fence, Load, Lock, Rmw, Store, TryLock, Unlock};
        matches!(self, Load | Store | Rmw | Cas | Fence | Lock | TryLock | Unlock) || self.is_update()
    }

    /// Whether it changes an atomic and gives nothing back.
    pub(crate) const fn is_update(self) -> bool {
        matches!(self, Self::Add | Self::And | Self::Or | Self::Xor | Self::Max | Self::Min)
    }
}

/// When, relative to the operation, the event is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The thread is about to try; it may have to wait. Only for operations that take a lock or wait for a message.
    Announced,
    /// The operation has taken effect.
    Executed,
}

/// One operation of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Scheduling step of the run, from 0.
    pub step: u64,
    /// Virtual time.
    pub time: Duration,
    /// Number of the thread in the order of creation; 0 is the closure that was given to the explorer.
    pub thread: u32,
    /// The thread's name: its own, or its place in the tree of threads (`main`, `main/0`, `main/0/1`).
    pub thread_name: &'a str,
    /// What it does.
    pub kind: OpKind,
    /// Before or after.
    pub phase: Phase,
    /// Number of the object in the order of first use in this run.
    pub object: u32,
    /// The object's name given with [`crate::name`], or `""`.
    pub object_name: &'a str,
    /// For operations that may fail (`try_lock`, compare-and-swap): whether it succeeded. `true` for the others.
    pub success: bool,
    /// Where in the code.
    pub location: &'static Location<'static>,
}

/// A checker that watches every operation of a run.
///
/// Made anew for each run, so it needs no reset. It must not use the façade itself.
pub trait Monitor {
    /// One operation. An error ends the run with that violation.
    ///
    /// # Errors
    /// The rule that this operation breaks.
    fn step(&mut self, event: &Event<'_>) -> Result<(), Violation>;

    /// The run has ended by itself.
    ///
    /// # Errors
    /// The rule that the run as a whole breaks.
    fn end(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}
