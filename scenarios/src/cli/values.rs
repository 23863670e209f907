//! Values on the command line and their text forms.
#![allow(
    clippy::disallowed_methods,
    reason = "the number of processors sets the number of jobs, on which no result depends"
)]

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::str::FromStr;

use interleaf_engine::schedule::Policy;
use thiserror::Error;

use crate::campaign::equivalence::WORKERS_MAX;

/// Seeds are below this, so that every format can hold them.
const SEEDS_END: u64 = 1 << 63;

/// Most OS threads.
const JOBS_MAX: usize = 1_024;

/// A text that is no such value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected {expected}, found `{found}`")]
pub struct NoValue {
    expected: &'static str,
    found: String,
}

fn no_value(expected: &'static str, found: &str) -> NoValue {
    NoValue { expected, found: found.to_owned() }
}

/// One seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl FromStr for Seed {
    type Err = NoValue;

    fn from_str(text: &str) -> Result<Self, NoValue> {
        let seed = text.parse().ok().filter(|seed| *seed < SEEDS_END);
        seed.map(Self).ok_or_else(|| no_value("a number from 0 to 2^63 - 1", text))
    }
}

/// Consecutive seeds, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Range<u64>);

impl FromStr for Seeds {
    type Err = NoValue;

    /// Reads `A..B`, `A..=B` or `N`.
    fn from_str(text: &str) -> Result<Self, NoValue> {
        let expected = "`A..B` with A below B (B is not run), `A..=B`, or the number N of seeds from 0, all below 2^63";
        let error = || no_value(expected, text);
        let number = |part: &str| part.parse::<u64>().ok().filter(|n| *n < SEEDS_END).ok_or_else(error);
        let range = match text.split_once("..") {
            None => 0..number(text)?,
            Some((first, end)) => match end.strip_prefix('=') {
                Some(last) => number(first)?..number(last)? + 1,
                None => number(first)?..number(end)?,
            },
        };
        if range.is_empty() { Err(error()) } else { Ok(Self(range)) }
    }
}

/// Numbers of workers, ascending, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workers(pub Vec<usize>);

impl FromStr for Workers {
    type Err = NoValue;

    /// Reads `A..B`, both included, or a list.
    fn from_str(text: &str) -> Result<Self, NoValue> {
        let error = || no_value("`A..B` (both included) or a list such as `2,4`, each from 1 to 64", text);
        let number =
            |part: &str| part.parse::<usize>().ok().filter(|n| (1..=WORKERS_MAX).contains(n)).ok_or_else(error);
        let mut list = match text.split_once("..") {
            Some((first, last)) => (number(first)?..=number(last.strip_prefix('=').unwrap_or(last))?).collect(),
            None => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        };
        list.sort_unstable();
        list.dedup();
        if list.is_empty() { Err(error()) } else { Ok(Self(list)) }
    }
}

/// Policies, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies(pub Vec<Policy>);

impl FromStr for Policies {
    type Err = String;

    /// Reads `all` or a list.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(Policy::all()));
        }
        text.split(',').map(|p| p.parse().map_err(|e| format!("{e} (or `all`)"))).collect::<Result<_, _>>().map(Self)
    }
}

/// Number of OS threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs(pub usize);

impl Default for Jobs {
    /// As many as there are processors.
    fn default() -> Self {
        Self(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }
}

impl fmt::Display for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Jobs {
    type Err = NoValue;

    fn from_str(text: &str) -> Result<Self, NoValue> {
        let jobs = text.parse().ok().filter(|jobs| (1..=JOBS_MAX).contains(jobs));
        jobs.map(Self).ok_or_else(|| no_value("a number from 1 to 1024", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds() {
        for (text, range) in [("5", 0..5), ("3..7", 3..7), ("3..=7", 3..8)] {
            assert_eq!(text.parse(), Ok(Seeds(range)));
        }
        for bad in ["", "0", "7..3", "3..3", "..", "a..b", "-1..3", "1..2..3", "9223372036854775808"] {
            assert!(bad.parse::<Seeds>().is_err(), "{bad}");
        }
    }

    #[test]
    fn workers() {
        for (text, list) in [("1..3", vec![1, 2, 3]), ("1..=3", vec![1, 2, 3]), ("4,2,4", vec![2, 4]), ("64", vec![64])]
        {
            assert_eq!(text.parse(), Ok(Workers(list)));
        }
        for bad in ["", "0", "65", "3..1", "0..2", "1,,2", "x"] {
            assert!(bad.parse::<Workers>().is_err(), "{bad}");
        }
    }

    #[test]
    fn policies() {
        assert_eq!("all".parse(), Ok(Policies(Policy::all())));
        assert_eq!("sequential,wave".parse::<Policies>().map(|p| p.0.len()), Ok(2));
        assert!("wave,wafe".parse::<Policies>().unwrap_err().contains("wafe"));
    }
}
