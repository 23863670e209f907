//! What a pending operation will do to its object, and which two conflict.
//!
//! Two operations conflict if they are on one object and not both only read. Loads and read locks commute. A
//! `try_lock` of a lock that is held at this moment is known to fail and only reads. A compare-and-swap counts as a write,
//! although it only reads if it fails: what it expects is not announced. A wait is an operation on its condition variable
//! only: threads that want the mutex that it releases are blocked until then, so it makes no difference to them. Start,
//! join and end of threads and fences conflict with nothing.

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
}

/// What the operation would do if it ran now.
#[inline]
pub(crate) fn effect(pending: Pending) -> Effect {
    match pending.kind {
        OpKind::Load | OpKind::Read | OpKind::ReadUnlock | OpKind::TryRead => Effect::Reads,
        OpKind::InitRead | OpKind::InitWait => Effect::Reads,
        OpKind::TryLock | OpKind::TryWrite if is_held(pending) => Effect::Reads,
        kind if kind.gives_way() => Effect::Yields,
        OpKind::Park | OpKind::Unpark => Effect::Writes,
        OpKind::Start | OpKind::Join | OpKind::End | OpKind::Fence | OpKind::Choose => Effect::Nothing,
        _ => Effect::Writes,
    }
}

/// Whether two operations on the *same* object conflict.
#[inline]
pub(crate) fn conflict(a: Pending, b: Pending) -> bool {
    matches!((effect(a), effect(b)), (Effect::Writes, Effect::Writes | Effect::Reads) | (Effect::Reads, Effect::Writes))
}

/// Whether the lock that the operation tries is held.
#[cold]
fn is_held(pending: Pending) -> bool {
    debug_assert!(pending.at >= MAX_THREADS);
    // SAFETY: these kinds are announced by `LockCore` only, whose header is its first field; the announcing thread is
    // suspended inside the operation and borrows the lock. The reference does not outlive the call.
    unsafe { &*(pending.at as *const LockCore) }.holders() != 0
}
