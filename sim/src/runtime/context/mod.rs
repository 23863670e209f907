//! The switch between stacks, behind four functions.
//!
//! | function | does |
//! |---|---|
//! | `spawn` | puts a closure on the stack of a slot; it runs when first switched to |
//! | `switch` | from the running thread to another, or to the runner |
//! | `run` | from the runner into a thread; returns when some thread switches to the runner |
//! | `abandon` | forgets a thread that cannot be unwound, and its stack |
//!
//! The end of a thread is the fifth way to switch and belongs to `spawn`: the closure returns the slot to go on with.
//! Two backends: [`symmetric`], hand-written for x86-64 Unix, switches from thread to thread directly; the other goes
//! through corosensei and exists for every platform that corosensei supports.

#[cfg(not(all(target_arch = "x86_64", unix, not(feature = "portable-switch"))))]
mod portable;
#[cfg(all(target_arch = "x86_64", unix, not(feature = "portable-switch")))]
mod symmetric;

#[cfg(not(all(target_arch = "x86_64", unix, not(feature = "portable-switch"))))]
pub(crate) use portable::{Contexts, abandon, run, spawn, switch};
#[cfg(all(target_arch = "x86_64", unix, not(feature = "portable-switch")))]
pub(crate) use symmetric::{Contexts, abandon, run, spawn, switch};
