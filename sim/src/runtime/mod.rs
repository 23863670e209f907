//! The controlled runtime: every thread of a run is a stackful coroutine on one OS thread.
//!
//! * [`rt`]: the state of one run, reached through one thread-local pointer
//! * [`point`]: the scheduling point: announce, choose, switch
//! * [`threads`]: start, end and join of controlled threads; the tree of their names
//! * [`clock`]: virtual time, sleepers
//! * [`entry`]: the safe entrances that the façade uses
//! * [`execution`]: one run from start to tear-down
//! * [`locals`]: values of which each controlled thread has its own
//! * [`teardown`]: unwinding what a failed run left behind
//! * [`deadlock`]: cycles of waiting threads, and who holds what
//! * [`record`]: what is noted of an operation when somebody looks: trace, happens-before hash, monitors
//! * [`weak`]: what is noted of operations that the memory model decides on
//! * [`ask`]: strategies that are not inlined
//! * [`inlined`]: strategies between those of the scheduling point and those behind a trait; [`effect`]: what conflicts
//! * [`claim`]: which simulation an object belongs to; sharing one between two is refused
//! * [`packet`]: where a thread leaves its result for `join`
//! * [`panic_hook`]: panics inside a run are caught, located and kept quiet
//! * [`watchdog`]: names the thread that blocks the OS thread for ever
//! * [`real_thread`]: scoped threads outside simulations
//! * [`signal`]: signals whose handlers the two below replace
//! * [`stack`], [`context`]: pooled stacks with guard pages, and the switch between them
//! * [`abort`]: a destructor that panics during tear-down costs its thread, not the process
//! * [`overflow`]: names the thread that ran over its stack
//! * [`objects`]: the models of the sync objects
//!
//! This is the only module of the workspace that may contain `unsafe`. The rules that all of it rests on:
//!
//! 1. A run lives on one OS thread. Its [`rt::Rt`] is reached by raw pointer only; no reference into it is held
//!    across a switch.
//! 2. A thread announces its next operation *before* it lets others run, and the announcement says whether it can
//!    run now (`enabled`). Whoever is chosen therefore always makes progress.
//! 3. Between two scheduling points exactly one thread runs, so model state needs no synchronisation.
#![allow(unsafe_code)]

pub(crate) mod abort;
pub(crate) mod ask;
pub(crate) mod claim;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod deadlock;
pub(crate) mod effect;
pub(crate) mod entry;
pub(crate) mod execution;
pub(crate) mod inlined;
pub(crate) mod locals;
pub(crate) mod objects;
pub(crate) mod overflow;
pub(crate) mod packet;
pub(crate) mod panic_hook;
pub(crate) mod point;
pub(crate) mod real_thread;
pub(crate) mod record;
pub(crate) mod rt;
#[cfg(unix)]
pub(crate) mod signal;
pub(crate) mod stack;
pub(crate) mod teardown;
pub(crate) mod threads;
pub(crate) mod watchdog;
pub(crate) mod weak;

pub(crate) use entry::seed;
