//! Where a thread leaves its result for `join`.
//!
//! Two owners, the thread and its handle, share one allocation. An `Arc` would do, but its four locked operations cost
//! as much as the thread's stack switches, and both owners live on one OS thread. The flag is loaded and stored, never
//! exchanged: should a handle be dropped on another OS thread at the very same moment, the allocation leaks; it is
//! never freed twice.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

struct Shared<T> {
    result: UnsafeCell<Option<std::thread::Result<T>>>,
    /// One of the two owners is gone.
    alone: AtomicBool,
}

/// One of two owners of a thread's result.
pub(crate) struct Packet<T>(NonNull<Shared<T>>);

// SAFETY: the result is written by the thread before it ends and read by the joiner after that, both on the run's OS
// thread; `T: Send` lets a handle drop it elsewhere.
unsafe impl<T: Send> Send for Packet<T> {}
// SAFETY: as for Send; a shared handle gives no access to the result.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Packet<T> {
    /// Both owners of a new, empty packet.
    pub(crate) fn pair() -> (Self, Self) {
        let shared = Box::new(Shared { result: UnsafeCell::new(None), alone: AtomicBool::new(false) });
        let shared = NonNull::from(Box::leak(shared));
        (Self(shared), Self(shared))
    }

    /// Leaves the result.
    pub(crate) fn put(&self, value: std::thread::Result<T>) {
        // SAFETY: the allocation lives while an owner does; only the thread calls `put`, before it ends.
        unsafe { *self.0.as_ref().result.get() = Some(value) }
    }

    /// Takes the result, if the thread has left one.
    pub(crate) fn take(&self) -> Option<std::thread::Result<T>> {
        // SAFETY: as in `put`; the joiner calls this after the thread has ended.
        unsafe { (*self.0.as_ref().result.get()).take() }
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        // SAFETY: the allocation lives while an owner does; whoever finds the other gone frees it.
        unsafe {
            if self.0.as_ref().alone.load(Ordering::Acquire) {
                drop(Box::from_raw(self.0.as_ptr()));
            } else {
                self.0.as_ref().alone.store(true, Ordering::Release);
            }
        }
    }
}
