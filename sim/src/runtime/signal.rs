//! A signal whose action is replaced, and can be put back by its handler.

use std::sync::atomic::{AtomicPtr, Ordering};

/// The action that a signal had before.
pub(crate) struct Replaced(AtomicPtr<libc::sigaction>);

impl Replaced {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Replaces the action of `signal`.
    ///
    /// # Safety
    /// `handler` is the address of a handler of the kind that `flags` say, and does what a handler may do. Called once.
    pub(crate) unsafe fn replace(&self, signal: libc::c_int, handler: *const (), flags: libc::c_int) {
        // SAFETY: an all-zero sigaction is valid; the rest is the caller's contract. The old action is leaked on
        // purpose: it may be needed until the process ends.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = flags;
            libc::sigemptyset(&raw mut action.sa_mask);
            let old = Box::into_raw(Box::new(std::mem::zeroed::<libc::sigaction>()));
            self.0.store(old, Ordering::SeqCst);
            libc::sigaction(signal, &raw const action, old);
        }
    }

    /// Puts the old action back.
    pub(crate) fn put_back(&self, signal: libc::c_int) {
        // SAFETY: null or the pointer stored by `replace`, which is never freed; null changes nothing.
        unsafe { libc::sigaction(signal, self.0.load(Ordering::SeqCst), std::ptr::null_mut()) };
    }
}
