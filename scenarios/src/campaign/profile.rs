//! How much a campaign runs, from a TOML file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use interleaf::Strategy;
use serde::Deserialize;
use thiserror::Error;

use super::bounded::{PROFILE_MAX, read_text};
use crate::registry;

/// The profile that is used without `--profile`, and the values of what a profile leaves out.
const DEFAULT: &str = include_str!("default.toml");

/// How much a campaign runs.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, for reports.
    pub name: String,
    /// Runs in all, dealt out by weight.
    pub runs: u64,
    /// The campaign ends after this time whatever was run.
    pub budget: Budget,
    /// The strategy of scenarios that have none of their own.
    pub strategy: Strategy,
    /// A scenario ends after this many failures.
    pub max_failures: usize,
    /// Only scenarios that one of these selects; all if there are none.
    pub filters: Vec<String>,
    /// Weights in place of the scenarios' own.
    pub weights: BTreeMap<String, u32>,
    /// Scenarios that get so many runs, besides those that are dealt out by weight: dear ones, and those that must fail.
    pub fixed: BTreeMap<String, u64>,
}

/// A profile that could not be read.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file could not be read.
    #[error("profile {path}: cannot be read: {error}; expected `default` or the path of a TOML file")]
    Io {
        /// Its path.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// It is no valid profile.
    #[error("profile {path}: {problem}")]
    Malformed {
        /// Its path.
        path: String,
        /// Where and why.
        problem: String,
    },
}

/// The text form. What is left out is taken from the default profile.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: Option<String>,
    runs: Option<u64>,
    budget: Option<String>,
    strategy: Option<String>,
    max_failures: Option<usize>,
    #[serde(default)]
    filters: Vec<String>,
    #[serde(default)]
    weights: BTreeMap<String, u32>,
    fixed: Option<BTreeMap<String, u64>>,
}

impl Profile {
    /// Reads the profile called `name`: `default`, or the path of a TOML file.
    ///
    /// # Errors
    /// If there is no such file, or a key or value in it is not known; the message says which.
    pub fn load(name: &str) -> Result<Self, ProfileError> {
        if name == "default" {
            return Self::parse("default", "");
        }
        match read_text(Path::new(name), PROFILE_MAX) {
            Ok(text) => Self::parse(name, &text),
            Err(error) => Err(ProfileError::Io { path: name.to_owned(), error }),
        }
    }

    fn parse(path: &str, text: &str) -> Result<Self, ProfileError> {
        let malformed = |problem: String| ProfileError::Malformed { path: path.to_owned(), problem };
        let read =
            |text: &str| toml::from_str::<Text>(text).map_err(|e| malformed(e.to_string().trim_end().to_owned()));
        let (own, default) = (read(text)?, read(DEFAULT)?);
        let value = |own: Option<String>, default: Option<String>| own.or(default).unwrap_or_default();
        let fixed = own.fixed.or(default.fixed).unwrap_or_default();
        let tables = [("weights", own.weights.keys().collect::<Vec<_>>()), ("fixed", fixed.keys().collect())];
        for (table, names) in tables {
            if let Some(unknown) = names.into_iter().find(|name| registry::by_name(name).is_none()) {
                return Err(malformed(format!(
                    "{table}: there is no scenario `{unknown}`; `interleaf list` shows all"
                )));
            }
        }
        let runs = own.runs.or(default.runs).unwrap_or_default();
        if runs == 0 {
            return Err(malformed("runs: expected at least 1".into()));
        }
        let max_failures = own.max_failures.or(default.max_failures).unwrap_or_default();
        if max_failures == 0 {
            return Err(malformed("max_failures: expected at least 1".into()));
        }
        Ok(Self {
            name: own.name.unwrap_or_else(|| path.to_owned()),
            runs,
            budget: value(own.budget, default.budget).parse().map_err(|e| malformed(format!("budget: {e}")))?,
            strategy: value(own.strategy, default.strategy).parse().map_err(|e| malformed(format!("strategy: {e}")))?,
            max_failures,
            filters: own.filters,
            weights: own.weights,
            fixed,
        })
    }
}

/// A limit of real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub Duration);

/// A text that is no budget.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a time above zero such as `30s`, `500ms`, `10m` or `2h`, found `{0}`")]
pub struct NoBudget(String);

impl FromStr for Budget {
    type Err = NoBudget;

    fn from_str(text: &str) -> Result<Self, NoBudget> {
        let error = || NoBudget(text.to_owned());
        let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(error)?;
        let (number, unit) = text.split_at(digits);
        let unit_ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(error()),
        };
        let ms = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit_ms)).filter(|ms| *ms > 0);
        ms.map(|ms| Self(Duration::from_millis(ms))).ok_or_else(error)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        if ms.is_multiple_of(1_000) { write!(f, "{}s", ms / 1_000) } else { write!(f, "{ms}ms") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_complete() {
        let profile = Profile::load("default").unwrap();
        assert_eq!((profile.runs, profile.budget.to_string()), (4_000_000, "60s".to_owned()));
        assert_eq!((profile.strategy.to_string(), profile.max_failures), ("portfolio".to_owned(), 1));
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let profile = Profile::parse("x.toml", "runs = 5\nstrategy = \"pct:2\"").unwrap();
        assert_eq!((profile.runs, profile.strategy.to_string()), (5, "pct:2".to_owned()));
        assert_eq!((profile.budget.to_string(), profile.name), ("60s".to_owned(), "x.toml".to_owned()));
    }

    #[test]
    fn errors_say_where_and_what() {
        let error = |text: &str| Profile::parse("x.toml", text).unwrap_err().to_string();
        let unknown = error("runs = 5\nrunz = 6");
        assert!(unknown.contains("x.toml") && unknown.contains("line 2") && unknown.contains("`runz`"), "{unknown}");
        assert!(error("runs = \"many\"").contains("line 1"));
        assert!(error("runs = 0").contains("runs: expected at least 1"));
        assert!(error("max_failures = 0").contains("max_failures: expected at least 1"));
        assert!(error("budget = \"60\"").contains("budget: expected a time above zero such as `30s`"));
        assert!(error("strategy = \"best\"").contains("unknown strategy `best`"));
        assert!(error("[weights]\n\"no.such\" = 3").contains("no scenario `no.such`"));
        assert!(Profile::load("no-such-file.toml").unwrap_err().to_string().contains("no-such-file.toml"));
    }

    #[test]
    fn budgets() {
        for (text, ms) in [("30s", 30_000), ("500ms", 500), ("10m", 600_000), ("2h", 7_200_000)] {
            assert_eq!(text.parse(), Ok(Budget(Duration::from_millis(ms))));
        }
        for bad in ["", "30", "s", "-3s", "0s", "3 s", "3d", "99999999999999999999h"] {
            assert!(bad.parse::<Budget>().is_err(), "{bad}");
        }
    }
}
