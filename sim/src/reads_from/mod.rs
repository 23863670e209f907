//! Every reads-from class, once.
//!
//! Two complete runs are of the same *reads-from class* if every thread does the same operations and every read (load,
//! read-modify-write, acquisition of a mutex) reads from the same write. Writes that nobody reads may come in any order,
//! so there are at most as many classes as traces (see [`crate::exhaustive`]) and often far fewer. Nobody in the program
//! can tell two runs of a class apart, but what is left in memory at the end may differ.
//!
//! Others do the same for stateless model checking (Abdulla, Atig, Jonsson, Lång, Ngo, Sagonas: Optimal stateless model
//! checking for reads-from equivalence under sequential consistency, OOPSLA 2019; Agarwal, Chatterjee, Pathak,
//! Pavlogiannis, Toman, CAV 2021), or enumerate execution graphs (TruSt, POPL 2022). Here it is a *reverse search* (Avis
//! and Fukuda, 1996), as the search of traces is: nothing is kept but the path, and each item carries all that is needed.
//!
//! # How
//!
//! *A class determines its items.* The run of an item repeats its schedule and then goes on by default: the thread that
//! ran last, else the first one that can. Take any class `C` and follow the run of the empty item as long as its events
//! belong to `C`, that is, read from the same writes there. The first event `e` that does not belong is a read; in `C` it
//! reads from another write `w`. Let `G` be the events before it. The next item is `G`, all that `w` needs in `C` (by
//! program order, starts, joins and reads) and `e` reading from `w`, in any order in which that can be run. Follow its
//! run, and so on, until a run is of class `C`. So the items are the nodes of a tree, and each class has exactly one node,
//! and each node exactly one class, that of its run.
//!
//! *A class determines its parent.* If `w` is in `G`, the run of the item before finds `C`: `e` could read something else
//! that was there. If not, let `K` be `G` and what `w` needs, without `w`. There is one order of `K` that depends on
//! nothing else ([`order`]); after it `e` comes, then the others by a fixed rule. That run has `w` too, since its thread
//! is about to do it. Its class is the parent. There `e` reads by default, or something that was there, or something that
//! needs less than `w`, so going from parent to parent comes to an end.
//!
//! So in the execution of a run ([`execution`]) one looks for each `e` and `w`, and for each source of `w` if that reads
//! too, whether the run is the parent, and whether all of it has an order ([`candidates`]). No run is made for that, and
//! no class is found twice.
//!
//! *Mutexes.* An acquisition reads from the release before it; if it is to come after another acquisition, whether and
//! when that one is released is seen only later. So it is *promised* the mutex next: the item ends with the other
//! acquisition, and the run keeps the mutex for it ([`course`]). If it is never released, that is the class of a
//! deadlock. A `try_lock` of a mutex that is kept waits until it has been taken, so that the events before it say what
//! it can find.
//!
//! # Limits
//!
//! Atomics, snapshot cells, fences, mutexes, start and join of threads, `yield_now`; no choices of values and no faults.
//! Anything else is refused by name. So are two threads that `try_lock` mutexes which are promised to others, if nobody else can go on.
//!
//! A loop that waits (with `yield_now` or `spin_loop`) and finds the same in two rounds in a row either gives up by itself
//! within 64 rounds if nothing changes: then it is a loop like any other. Or it does not: then the thread is taken out of
//! the run there, which is counted as blocked unless what the loop found was the last there is: then it fails as a
//! livelock. What the thread would have found later, it finds after fewer rounds in another class. Which of the two it is
//! must depend on the class alone, so it is learned from a run of what the thread needs and nothing else, and handed on
//! with the items that contain those rounds.

pub(crate) mod candidates;
pub(crate) mod course;
pub(crate) mod execution;
pub(crate) mod item;
pub(crate) mod order;
pub(crate) mod search;

use std::fmt;
use std::str::FromStr;

/// Which runs an exhaustive exploration takes for the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Equivalence {
    /// Those with the same order of conflicting operations (Mazurkiewicz traces).
    #[default]
    Traces,
    /// Those in which every read reads from the same write. Never more than traces. What is left in memory at the end is
    /// seen only by what reads it: threads, not a check after all runs.
    ReadsFrom,
}

impl fmt::Display for Equivalence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Traces => "traces",
            Self::ReadsFrom => "reads-from",
        })
    }
}

/// An equivalence that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown equivalence `{0}`: expected traces or reads-from")]
pub struct UnknownEquivalence(String);

impl FromStr for Equivalence {
    type Err = UnknownEquivalence;

    fn from_str(text: &str) -> Result<Self, UnknownEquivalence> {
        match text {
            "traces" => Ok(Self::Traces),
            "reads-from" => Ok(Self::ReadsFrom),
            _ => Err(UnknownEquivalence(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for equivalence in [Equivalence::Traces, Equivalence::ReadsFrom] {
            assert_eq!(equivalence.to_string().parse(), Ok(equivalence));
        }
        let error = "observers".parse::<Equivalence>().expect_err("no such equivalence");
        assert_eq!(error.to_string(), "unknown equivalence `observers`: expected traces or reads-from");
    }
}
