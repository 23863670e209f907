//! Deterministic simulation of threads, time and faults.
//!
//! Write `use interleaf::sync::Mutex` where you wrote `use std::sync::Mutex`, put [`#[interleaf::test]`](macro@test)
//! on a test or call [`check`], and the code runs under thousands of schedules. What fails is replayed exactly from one
//! line of text.
//!
//! The map:
//!
//! * [`sync`], [`thread`], [`thread_local!`], [`time`], [`hint`], [`arc_swap`], [`rand`](mod@rand): the façade, std's paths and signatures
//! * [`Explorer`], [`check`], [`replay()`]: running a closure many times, and once more
//! * [`MemoryModel`]: what atomics mean; [`cell`]: plain data whose races are found
//! * [`strategy`]: how schedules are chosen; [`choice`]: where chance comes from
//! * [`monitor`], [`Violation`]: checkers that watch a run, and what they say
//! * [`trace`]: the full record of a failed run
//! * [`fault`]: faults that can be armed
//! * [`disk`]: a simulated disk that loses, tears and reorders what was not synced
//! * `runtime` (private): coroutines, scheduling points, models of the sync objects
//!
//! # Limits
//!
//! * Code under test must be deterministic apart from scheduling: no wall clock, no ambient randomness, no iteration
//!   over maps with std's random hasher. A sample of the runs is made twice and compared, to find what was overlooked.
//! * Sequential consistency unless the explorer is given another [`MemoryModel`]; none of them has load buffering.
//! * All threads of a run share one OS thread. `std::thread_local!` is therefore shared by them and survives the run: a
//!   `RefCell` in one that is borrowed across a scheduling point gives false borrow errors. [`thread_local!`](crate::thread_local)
//!   is per controlled thread. Statics survive the run, except that [`sync::Once`], [`sync::OnceLock`] and [`sync::LazyLock`]
//!   are fresh in each; if one survives, the first run may differ from the others, which the comparison finds.
//! * A std lock held across a scheduling point, a real sleep or real I/O blocks everything. A watchdog notices that no
//!   step is made for ten seconds and names the thread.
//! * At most 64 threads of a run are alive at once; each has 256 KiB of stack.
//! * Threads of a run that has failed are unwound. If a destructor panics there, or waits for something that will never
//!   come, the thread is abandoned with what it owns; [`Report::abandoned`] counts them. (Elsewhere than on Unix a panic
//!   in a destructor during tear-down aborts the process.)
#![deny(unsafe_code)]

#[cfg(feature = "simulation")]
mod simulation {
    pub use crate::exhaustive::estimate::Estimate;
    pub use crate::exhaustive::frontier::{Frontier, FrontierError};
    pub use crate::exhaustive::watch::Watch;
    pub use crate::explore::check::{EXECUTIONS_VARIABLE, REPLAY_VARIABLE, TestResult, check, run_test};
    pub use crate::explore::coverage::{Coverage, NewClass};
    pub use crate::explore::explorer::{Exhaustive, Explorer, Report};
    pub use crate::explore::failure::{Blocked, Failure, FailureKind, Operation, Reversal, Waited};
    pub use crate::explore::replay::{Replay, replay, replay_choices, replay_with};
    pub use crate::explore::token::{Token, TokenError};
    pub use crate::fault::Faults;
    pub use crate::memory::{MemoryModel, UnknownMemoryModel};
    pub use crate::named::{Named, name, note, seed};
    pub use crate::reads_from::{Equivalence, UnknownEquivalence};
    pub use crate::runtime::panic_hook::Caught;
    pub use crate::runtime::watchdog::set_patience;
    pub use crate::strategy::Strategy;
    pub use crate::time::Time;
    pub use interleaf_macros::test;
}

#[cfg(feature = "simulation")]
pub mod arc_swap;
#[cfg(feature = "simulation")]
pub mod cell;
#[cfg(feature = "simulation")]
pub mod choice;
#[cfg(feature = "simulation")]
pub mod disk;
#[cfg(feature = "simulation")]
mod exhaustive;
#[cfg(feature = "simulation")]
mod explore;
#[cfg(feature = "simulation")]
pub mod fault;
#[cfg(feature = "simulation")]
pub mod hint;
#[cfg(feature = "simulation")]
mod memory;
#[cfg(feature = "simulation")]
pub mod monitor;
#[cfg(feature = "simulation")]
mod named;
#[cfg(feature = "simulation")]
pub mod rand;
#[cfg(feature = "simulation")]
mod reads_from;
#[cfg(feature = "simulation")]
mod runtime;
#[cfg(feature = "simulation")]
pub mod strategy;
#[cfg(feature = "simulation")]
pub mod sync;
#[cfg(feature = "simulation")]
pub mod thread;
#[cfg(feature = "simulation")]
pub mod time;
#[cfg(feature = "simulation")]
pub mod trace;
#[cfg(feature = "simulation")]
pub use simulation::*;

#[cfg(not(feature = "simulation"))]
mod plain;
mod update;
#[cfg(not(feature = "simulation"))]
pub use plain::*;

mod violation;
pub use violation::Violation;
