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
//!
//! # What depends on what
//!
//! All this needs that an announced operation says what it accesses, whatever others did before: so an `unpark` writes
//! the token of an ended thread too, the drop of a sender and a look at the clock are steps, and whether a fault fires
//! counts as a write even if it does not. The relation is that of [`class::Class`] on the objects of
//! [`record::Object`]; the hash that counts traces uses the same accesses. Besides, a new thread comes after its start, a join after the
//! end, a woken thread after the notification that chose it.
//!
//! Two things come along with a step that may as well be left out when other values are read: that a thread ends (seen
//! by `is_finished`), and that a thread begins to wait for writing (seen by `try_read`, and by `read` of who holds
//! something). Where somebody looks, they are steps of their own: see [`apart`]. **Traces can be missed** where a reader
//! that holds something has queued behind a writer, is let go, and finds another reader before it while the writer waits
//! still.
//!
//! # Loops that wait
//!
//! A round ends with `yield_now` or `spin_loop`. If a round finds what the one before had found and has changed nothing,
//! the thread waits until something is written that it had read. It goes round once more only if it is made to (to see
//! what happens if the write comes later still), or if nobody else can run; then it goes on alone. If it leaves the
//! loop within 64 rounds, all interleavings of all its rounds are explored, so bounded retries lose nothing. If it does
//! not, it counts as one that never gives up, and of runs in which it goes round in vain more than twice in a row only
//! one is made, where nobody else can run. If then all go round for ever the run fails as a livelock
//! ([`crate::FailureKind::StepLimit`]). Loops without `yield_now` or `spin_loop`, and those that write in each round,
//! are not recognised: they end at the step limit.

pub(crate) mod apart;
pub(crate) mod bounds;
pub(crate) mod candidates;
pub(crate) mod class;
pub(crate) mod estimate;
pub(crate) mod frontier;
pub(crate) mod guide;
pub(crate) mod item;
pub(crate) mod model;
pub(crate) mod orders;
pub(crate) mod queues;
pub(crate) mod record;
pub(crate) mod reversal;
pub(crate) mod search;
pub(crate) mod shape;
pub(crate) mod tally;
pub(crate) mod watch;
