//! Real threads of a scope, outside simulations.
//!
//! [`crate::thread::scope`] hands out a scope of its own type, which cannot wrap std's; so its real threads are started
//! here, and the scope waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A real thread of a scope outside simulations.
pub(crate) struct RealThread {
    handle: Mutex<Option<std::thread::JoinHandle<()>>>,
    thread: std::thread::Thread,
    /// It ended by a panic that nobody has taken.
    panicked: Arc<AtomicBool>,
}

/// Where a scoped real thread leaves its result.
pub(crate) type RealResult<T> = Arc<Mutex<Option<std::thread::Result<T>>>>;

/// Starts a real thread that may borrow. Only for [`crate::thread::scope`], which waits for it.
pub(crate) fn spawn_real_scoped<'scope, F, T>(
    builder: std::thread::Builder,
    f: F,
) -> std::io::Result<(RealResult<T>, Arc<RealThread>)>
where
    F: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    let result: RealResult<T> = Arc::new(Mutex::new(None));
    let panicked = Arc::new(AtomicBool::new(false));
    let (slot, flag) = (Arc::clone(&result), Arc::clone(&panicked));
    let body = move || {
        let value = catch_unwind(AssertUnwindSafe(f));
        flag.store(value.is_err(), Ordering::SeqCst);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    // SAFETY: the scope joins the thread before what it borrows ends (`thread::scope` waits in a drop guard). The
    // closure returns `()`, and the result is dropped by the thread or by a holder of the handle, inside the scope.
    let handle = unsafe { builder.spawn_unchecked(body) }?;
    let thread = handle.thread().clone();
    Ok((result, Arc::new(RealThread { handle: Mutex::new(Some(handle)), thread, panicked })))
}

impl RealThread {
    /// Waits for the end. True if the thread panicked and nobody has taken that.
    pub(crate) fn wait(&self) -> bool {
        let mut handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = handle.take() {
            drop(handle.join());
        }
        self.panicked.load(Ordering::SeqCst)
    }

    pub(crate) fn taken(&self) {
        self.panicked.store(false, Ordering::SeqCst);
    }

    pub(crate) fn thread(&self) -> &std::thread::Thread {
        &self.thread
    }

    pub(crate) fn is_finished(&self) -> bool {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_none_or(std::thread::JoinHandle::is_finished)
    }
}
