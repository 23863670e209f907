//! Memory models: what a load may read.
//!
//! Under [`MemoryModel::Sc`] an atomic is a variable and orderings mean nothing. Under [`MemoryModel::Rc11`] the run
//! keeps its execution graph, and each load, store and read-modify-write has as many outcomes as keep the graph
//! consistent with RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017),
//! with the release sequences of C++20. That is the memory model of Rust's atomics without load buffering.
//!
//! * [`graph`]: events, reads-from, modification orders, and what may be added
//! * [`psc`]: the axiom of SC accesses and SC fences
//! * [`state`]: the graph of the run that goes on; [`sync`]: synchronisation by everything that is no atomic
//! * [`search`]: every consistent graph of a program exactly once; [`item`], [`guide`], [`revisit`], [`rebuild`]: its
//!   work items, its runs, its alternatives and whether they are consistent
//! * [`race`]: data races on plain cells, in both models
//! * [`explain`]: why an operation could have another outcome than the latest
//! * [`clock`], [`bits`]: vector clocks, sets
#![forbid(unsafe_code)]

#[cfg(test)]
mod axioms;
pub(crate) mod bits;
pub(crate) mod clock;
pub(crate) mod explain;
pub(crate) mod graph;
pub(crate) mod guide;
pub(crate) mod item;
pub(crate) mod psc;
pub(crate) mod race;
mod rebuild;
mod revisit;
pub(crate) mod search;
pub(crate) mod state;
mod sync;

use std::fmt;
use std::str::FromStr;

/// What atomics mean inside a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum MemoryModel {
    /// Sequential consistency: every load reads the latest store; orderings and fences have no effect.
    #[default]
    Sc,
    /// RC11: a load may read every store that the orderings, fences and synchronisation of the program leave to it.
    Rc11,
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sc => "sc",
            Self::Rc11 => "rc11",
        })
    }
}

/// A memory model that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown memory model `{0}`: expected sc or rc11")]
pub struct UnknownMemoryModel(String);

impl FromStr for MemoryModel {
    type Err = UnknownMemoryModel;

    fn from_str(text: &str) -> Result<Self, UnknownMemoryModel> {
        match text {
            "sc" => Ok(Self::Sc),
            "rc11" => Ok(Self::Rc11),
            _ => Err(UnknownMemoryModel(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for model in [MemoryModel::Sc, MemoryModel::Rc11] {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        let error = "tso".parse::<MemoryModel>().expect_err("no such model");
        assert_eq!(error.to_string(), "unknown memory model `tso`: expected sc or rc11");
    }
}
