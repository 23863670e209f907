//! Panics inside a run are caught, located and kept quiet: the run's report tells of them.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::Once;

use crate::violation::Violation;

use super::rt::{MAX_THREADS, try_current};
use super::threads;

/// What is known of a panic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at {location}")]
pub struct Caught {
    /// The panic's message.
    pub message: String,
    /// `file:line:column` of the panic.
    pub location: String,
    /// The stack at the panic, if it was asked for.
    pub backtrace: Option<String>,
}

impl Caught {
    /// From a payload alone (a panic that did not go through the hook, e.g. `resume_unwind`).
    pub(crate) fn from_payload(payload: &(dyn Any + Send)) -> Self {
        Self { message: message(payload), location: String::from("unknown place"), backtrace: None }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else if let Some(violation) = payload.downcast_ref::<Violation>() {
        violation.to_string()
    } else {
        String::from("a panic whose payload is not text")
    }
}

static INSTALL: Once = Once::new();

/// Installs the hook, once per process. Panics outside simulations go to the hook that was there before.
pub(crate) fn install() {
    INSTALL.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !note(info) {
                before(info);
            }
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) -> bool {
    let r = try_current();
    if r.is_null() {
        return false;
    }
    // SAFETY: non-null means this OS thread's runtime; nothing switches here.
    let r = unsafe { &mut *r };
    if r.cur >= MAX_THREADS {
        return false;
    }
    // SAFETY: `r` is this OS thread's runtime.
    if r.cancel && unsafe { threads::is_unwinding(r) } {
        // A destructor panics while its thread is unwound because the run is over. If it does not catch that itself, Rust
        // is going to abort the process: see `abort`.
        r.panicked_in_drop |= 1 << r.cur;
        return true;
    }
    let caught = Caught {
        message: message(info.payload()),
        location: info.location().map_or_else(|| String::from("unknown place"), ToString::to_string),
        backtrace: r.capture_backtraces.then(|| Backtrace::force_capture().to_string()),
    };
    r.panics.push((r.cur, caught));
    true
}
