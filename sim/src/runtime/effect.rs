//! What a pending operation will do to its object, and which two conflict.
//!
//! Two operations conflict if they are on one object and not both only read. Loads and read locks commute, and so do
//! updates of one kind, whose result nobody sees. A
//! `try_lock` of a lock that is held at this moment is known to fail and only reads. A compare-and-swap counts as a write,
//! although it only reads if it fails: what it expects is not announced. A wait is an operation on its condition variable
//! only: threads that want the mutex that it releases are blocked until then, so it makes no difference to them. Start,
//! join and end of threads and fences conflict with nothing.

use crate::exhaustive::class::Class;
use crate::monitor::OpKind;

use super::objects::lock::LockCore;
use super::rt::{MAX_THREADS, Pending};

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing that another thread's next operation could see.
    Nothing,
    /// It waits for somebody, whoever that is.
    Yields,
    Reads,
    Writes,
    /// A write that commutes with others of its kind.
    Updates(OpKind),
}

/// What the operation would do if it ran now.
#[inline]
pub(crate) fn effect(pending: Pending) -> Effect {
    match pending.kind {
        OpKind::Load | OpKind::Read | OpKind::ReadUnlock | OpKind::TryRead => Effect::Reads,
        OpKind::InitRead | OpKind::InitWait => Effect::Reads,
        OpKind::TryLock | OpKind::TryWrite if is_held(pending) => Effect::Reads,
        kind if kind.gives_way() => Effect::Yields,
        kind if Class::of_update(kind) != Class::Writes => Effect::Updates(kind),
        OpKind::Park | OpKind::Unpark => Effect::Writes,
        OpKind::Start
        | OpKind::Join
        | OpKind::IsFinished
        | OpKind::Queue
        | OpKind::End
        | OpKind::Fence
        | OpKind::Choose => Effect::Nothing,
        _ => Effect::Writes,
    }
}

/// Whether two operations on the *same* object conflict.
#[inline]
pub(crate) fn conflict(a: Pending, b: Pending) -> bool {
    let (a, b) = (effect(a), effect(b));
    let touches = |e| matches!(e, Effect::Reads | Effect::Writes | Effect::Updates(_));
    touches(a) && touches(b) && (a != b || a == Effect::Writes)
}

/// Whether the lock that the operation tries is held.
#[cold]
fn is_held(pending: Pending) -> bool {
    debug_assert!(pending.at >= MAX_THREADS);
    // SAFETY: these kinds are announced by `LockCore` only, whose header is its first field; the announcing thread is
    // suspended inside the operation and borrows the lock. The reference does not outlive the call.
    unsafe { &*(pending.at as *const LockCore) }.holders() != 0
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    #[test]
    fn updates_of_one_kind_commute_and_reads_do() {
        let pending = |kind| Pending { at: MAX_THREADS, location: Location::caller(), kind };
        let conflicts = |a, b| conflict(pending(a), pending(b));
        for update in [OpKind::Add, OpKind::And, OpKind::Or, OpKind::Xor, OpKind::Max, OpKind::Min] {
            assert!(!conflicts(update, update), "{update:?}");
            for other in [OpKind::Load, OpKind::Store, OpKind::Rmw, OpKind::Cas] {
                assert!(conflicts(update, other) && conflicts(other, update), "{update:?} {other:?}");
            }
            assert!(!conflicts(update, OpKind::Yield));
        }
        assert!(conflicts(OpKind::Add, OpKind::Or) && conflicts(OpKind::Store, OpKind::Store));
        assert!(!conflicts(OpKind::Load, OpKind::Load) && !conflicts(OpKind::Start, OpKind::Store));
    }
}
