//! A destructor that panics during tear-down costs its thread, not the process.
//!
//! When a run has failed, its other threads are made to unwind. A destructor that panics then is a panic during an
//! unwind, and Rust aborts, although the program itself might never have met it: it was the runtime that started the
//! unwind. The abort cannot be prevented, but it ends in `SIGABRT`, whose handler need not return: it switches to the
//! runner, like a `longjmp` out of the handler (which abort(3) provides for), and the runner abandons the thread. At
//! that moment std has released the lock on its panic hook and left the hook, so the process goes on as before.

#[cfg(unix)]
mod imp {
    use std::sync::Once;

    use super::super::context;
    use super::super::rt::{MAX_THREADS, RUNNER, try_current};
    use super::super::signal::Replaced;

    static INSTALL: Once = Once::new();
    static BEFORE: Replaced = Replaced::new();

    pub(crate) fn install() {
        INSTALL.call_once(|| {
            // SAFETY: the handler may leave by switching stacks, so the signal must not stay blocked (`SA_NODEFER`), and
            // it must run on the thread's own stack (no `SA_ONSTACK`).
            unsafe { BEFORE.replace(libc::SIGABRT, handler as *const (), libc::SA_NODEFER) }
        });
    }

    extern "C" fn handler(signal: libc::c_int) {
        let r = try_current();
        // SAFETY: non-null means this OS thread's runtime, and abort(3) raises the signal on the thread that called it.
        // The thread is never switched to again: `aborted` makes the runner abandon it.
        unsafe {
            if !r.is_null() && (*r).cur < MAX_THREADS && (*r).cancel && (*r).panicked_in_drop >> (*r).cur & 1 == 1 {
                (*r).aborted |= 1 << (*r).cur;
                context::switch(r, RUNNER);
            }
            // Not ours: put the old handler back and let it happen.
            BEFORE.put_back(signal);
            libc::raise(signal);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    pub(crate) fn install() {}
}

pub(crate) use imp::install;
