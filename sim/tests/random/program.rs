//! Programs as data.

use std::fmt;

/// What a thread does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) ops: Vec<Op>,
    /// It owns a sender of the channel, if its parent does.
    pub(crate) sends: bool,
    /// It is given the receiver, if its parent has it.
    pub(crate) receives: bool,
    /// Locks that it holds at its end stay locked.
    pub(crate) forgets: bool,
    /// It does not join the children that are left at its end.
    pub(crate) detaches: bool,
}

/// Kinds of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Max,
    Min,
}

/// One operation. Results are logged; so are the values that branches look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Load(usize),
    Store(usize, i64),
    Add(usize, i64),
    Swap(usize, i64),
    Cas(usize, i64, i64),
    WeakCas(usize, i64, i64),
    /// An update whose result nobody sees.
    Update(Change, usize, i64),
    /// Only if the last result is this one.
    If(i64, Vec<Op>),
    /// Looks at most so many times whether the atomic has the value; yields in between.
    Await(usize, i64, u32),
    Lock(usize),
    TryLock(usize),
    /// Only if the thread holds nothing: see [`Op::ReadAnyway`].
    Read(usize),
    /// Looks whether a writer waits, if the thread holds something.
    ReadAnyway(usize),
    Write(usize),
    TryRead(usize),
    TryWrite(usize),
    /// Releases the lock of this kind that was taken last.
    Unlock,
    Release,
    /// Waits on the condition variable of the mutex, if the thread holds that.
    Wait(usize),
    WaitTimeout(usize, u64),
    NotifyOne(usize),
    NotifyAll(usize),
    Send(i64),
    CloneSender,
    DropSender,
    Recv,
    TryRecv,
    DropReceiver,
    Park,
    /// Unparks the parent, an elder sibling or a child.
    Unpark(usize),
    Spawn(Body),
    /// Joins a child.
    Join(usize),
    Finished(usize),
    Yield,
    Sleep(u64),
    Now,
}

impl Body {
    pub(crate) fn any(&self, wanted: &dyn Fn(&Op) -> bool) -> bool {
        any(&self.ops, wanted)
    }

    /// Whether the program needs a channel: without one no sender is dropped.
    pub(crate) fn has_channel(&self) -> bool {
        self.any(&|op| {
            matches!(op, Op::Send(_) | Op::CloneSender | Op::DropSender | Op::Recv | Op::TryRecv | Op::DropReceiver)
        })
    }

    /// Operations on read-write locks.
    pub(crate) fn has_rwlock(&self) -> bool {
        self.any(&|op| matches!(op, Op::Read(_) | Op::ReadAnyway(_) | Op::Write(_) | Op::TryRead(_) | Op::TryWrite(_)))
    }

    fn lines(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        lines(&self.ops, f, depth)
    }
}

fn any(ops: &[Op], wanted: &dyn Fn(&Op) -> bool) -> bool {
    ops.iter().any(|op| {
        wanted(op)
            || match op {
                Op::Spawn(body) => body.any(wanted),
                Op::If(_, ops) => any(ops, wanted),
                _ => false,
            }
    })
}

fn lines(ops: &[Op], f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    for op in ops {
        let space = "  ".repeat(depth);
        match op {
            Op::Spawn(body) => {
                let flags = [(body.sends, "sends"), (body.receives, "receives"), (body.forgets, "forgets")];
                let flags = flags.iter().filter(|f| f.0).map(|f| f.1).collect::<Vec<_>>().join(" ");
                let detaches = if body.detaches { " detaches" } else { "" };
                writeln!(f, "{space}Spawn {flags}{detaches}")?;
                body.lines(f, depth + 1)?;
            }
            Op::If(value, ops) => {
                writeln!(f, "{space}If {value}")?;
                lines(ops, f, depth + 1)?;
            }
            op => writeln!(f, "{space}{op:?}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(f, 0)
    }
}
