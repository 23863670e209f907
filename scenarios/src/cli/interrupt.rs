//! Ctrl-C, SIGTERM and SIGHUP: the first ends the command cleanly, with what was done so far; the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a process that a second Ctrl-C ended at once: what shells give for it.
const AT_ONCE: i32 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen. The flag is set by the first Ctrl-C, SIGTERM or SIGHUP.
///
/// Where no handler can be installed, they end the process as usual.
pub fn listen() -> &'static AtomicBool {
    drop(ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(AT_ONCE);
        }
    }));
    &INTERRUPTED
}
