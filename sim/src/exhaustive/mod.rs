//! Every distinguishable interleaving, once.
//!
//! Two runs are the same *trace* (Mazurkiewicz 1977) if they order all conflicting operations in the same way. This
//! module makes one run for each trace and no other. It is of the family of optimal dynamic partial-order reductions
//! (Abdulla et al., POPL 2014; TruSt, POPL 2022; POP, CAV 2024): like the latter two it keeps nothing but the path of
//! the search, and each item of work carries all that is needed to go on with it.
//!
//! # How
//!
//! The *default* run always takes the first thread that can go on. Take any trace `T` and follow the default run as
//! long as its events belong to `T`. Let `e` be its first event that does not. In `T` other events come before what
//! `e` does and conflict with it; the minimal ones among them are the *heads* `F`. They do not depend on `e`, so there
//! is a run in which `e` and everything that the heads need have happened and the heads are still to come, and the
//! default way to it is unique. That run finds `F`: it *displaces* `e`. So each trace has exactly one parent, the
//! parents form a tree with the default run as root, and an item is an edge of that tree: the run up to `e`, what the
//! heads need, the heads. All of it is *forced* (may not be displaced again), and until the displaced thread has made
//! up for `e` nobody else may come before it who does not depend on one of the heads: otherwise `F` would be another.
//!
//! From one run all its children are found by looking at each event `j` that was made by default and each earlier `i`
//! of another thread on the same object (see [`candidates`]). The conditions under which a pair stands for a child are
//! conditions on that run alone. A thread that cannot go on is disabled, and what it waits for in vain at the end of a
//! deadlocked run is looked at like an event.
//!
//! Where read locks or other operations that commute can *block*, an item may turn out to have no trace of its own;
//! such a run is counted in [`crate::Exhaustive::redundant`]. For atomics, mutexes, condition variables, channels and
//! `park` there are none.

pub(crate) mod bounds;
pub(crate) mod candidates;
pub(crate) mod estimate;
pub(crate) mod frontier;
pub(crate) mod guide;
pub(crate) mod item;
pub(crate) mod model;
pub(crate) mod orders;
pub(crate) mod record;
pub(crate) mod reversal;
pub(crate) mod search;
pub(crate) mod tally;
pub(crate) mod watch;
