//! Descriptions of generated blocks and their text form.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The most transactions that a generated block may have.
pub const MAX_TXS: u32 = 1_000_000;

/// Where the members of the chain stand in the block (decision O2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Before all independent transactions.
    #[default]
    First,
    /// After all independent transactions.
    Last,
    /// At even distances, beginning with the first transaction.
    Spread,
}

/// Which block to generate. Together with a seed it determines the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spec {
    /// Direct transactions that do not wait for each other (items N2, N29).
    Independent {
        /// How many.
        txs: u32,
    },
    /// Direct transactions of which some form one chain and the others are independent (item N37).
    Chain {
        /// How many in all.
        txs: u32,
        /// Share of the chain, rounded down to whole transactions.
        percent: u32,
        /// Where the chain stands.
        place: Place,
    },
    /// Transactions with up to three inputs and outputs that depend on random earlier ones. All succeed.
    Random {
        /// How many.
        txs: u32,
        /// How likely an input is an output of the block rather than an older record.
        percent: u32,
    },
    /// Random transactions of which some break a rule: second spenders, overspends, missing inputs, duplicates, inputs
    /// of strangers, none at all, overflows, children that stand before their parents, repeated transactions. What depends on them
    /// fails too (decision O4).
    Conflicts {
        /// How many.
        txs: u32,
        /// How likely a transaction breaks a rule.
        percent: u32,
    },
}

impl Spec {
    /// Number of transactions.
    #[must_use]
    pub const fn txs(&self) -> u32 {
        match *self {
            Self::Independent { txs }
            | Self::Chain { txs, .. }
            | Self::Random { txs, .. }
            | Self::Conflicts { txs, .. } => txs,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Spread => "spread",
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Independent { txs } => write!(f, "independent:{txs}"),
            Self::Chain { txs, percent, place } => write!(f, "chain:{txs}:{percent}%:{place}"),
            Self::Random { txs, percent } => write!(f, "random:{txs}:{percent}%"),
            Self::Conflicts { txs, percent } => write!(f, "conflicts:{txs}:{percent}%"),
        }
    }
}

/// A description that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("block {text:?}: {part}: expected {expected}, found {found}")]
pub struct ParseSpecError {
    text: String,
    part: &'static str,
    expected: String,
    found: String,
}

impl FromStr for Spec {
    type Err = ParseSpecError;

    /// Reads `independent:TXS` (or `direct:TXS`), `chain:TXS:SHARE%[:first|last|spread]`, `random:TXS:SHARE%` or
    /// `conflicts:TXS:SHARE%`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = Parts { text, rest: text.split(':') };
        let kind = parts.rest.next().unwrap_or_default();
        let spec = match kind {
            "independent" | "direct" => Self::Independent { txs: parts.txs()? },
            "chain" => Self::Chain { txs: parts.txs()?, percent: parts.percent()?, place: parts.place()? },
            "random" => Self::Random { txs: parts.txs()?, percent: parts.percent()? },
            "conflicts" => Self::Conflicts { txs: parts.txs()?, percent: parts.percent()? },
            _ => {
                let kinds = "`independent`, `direct`, `chain`, `random` or `conflicts`";
                return Err(parts.error("kind", kinds, Some(kind)));
            }
        };
        match parts.rest.next() {
            None => Ok(spec),
            surplus => Err(parts.error("end", "nothing more", surplus)),
        }
    }
}

/// The parts of a description, one after the other.
struct Parts<'t> {
    text: &'t str,
    rest: std::str::Split<'t, char>,
}

impl Parts<'_> {
    fn txs(&mut self) -> Result<u32, ParseSpecError> {
        let part = self.rest.next();
        part.and_then(|p| p.parse().ok())
            .filter(|&n| n <= MAX_TXS)
            .ok_or_else(|| self.error("number of transactions", &format!("a number up to {MAX_TXS}"), part))
    }

    fn percent(&mut self) -> Result<u32, ParseSpecError> {
        let part = self.rest.next();
        part.and_then(|p| p.strip_suffix('%'))
            .and_then(|p| p.parse().ok())
            .filter(|&n| n <= 100)
            .ok_or_else(|| self.error("share", "a whole number from 0% to 100%", part))
    }

    fn place(&mut self) -> Result<Place, ParseSpecError> {
        let places = [Place::First, Place::Last, Place::Spread];
        match self.rest.next() {
            None => Ok(Place::default()),
            Some(part) => places
                .into_iter()
                .find(|place| place.to_string() == part)
                .ok_or_else(|| self.error("place of the chain", "`first`, `last` or `spread`", Some(part))),
        }
    }

    fn error(&self, part: &'static str, expected: &str, found: Option<&str>) -> ParseSpecError {
        let found = found.map_or_else(|| "nothing".to_owned(), |f| format!("{f:?}"));
        ParseSpecError { text: self.text.to_owned(), part, expected: expected.to_owned(), found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_read_back() {
        for text in ["independent:1000", "chain:1000:25%:last", "random:7:100%", "conflicts:0:0%"] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        assert_eq!("direct:3".parse(), Ok(Spec::Independent { txs: 3 }));
        assert_eq!("chain:8:50%".parse(), Ok(Spec::Chain { txs: 8, percent: 50, place: Place::First }));
    }

    #[test]
    fn errors_name_the_part_and_what_was_expected() {
        let message = |text: &str| text.parse::<Spec>().unwrap_err().to_string();
        assert_eq!(
            message("chian:8:5%"),
            "block \"chian:8:5%\": kind: expected `independent`, `direct`, `chain`, `random` or `conflicts`, found \"chian\""
        );
        assert!(message("").contains("kind: expected `independent`"));
        assert!(
            message("independent").contains("number of transactions: expected a number up to 1000000, found nothing")
        );
        assert!(message("independent:1000001").contains("found \"1000001\""));
        assert!(message("independent:-1").contains("found \"-1\""));
        assert!(message("chain:8:25").contains("share: expected a whole number from 0% to 100%, found \"25\""));
        assert!(message("chain:8:101%").contains("share"));
        assert!(message("chain:8:5%:middle").contains("place of the chain: expected `first`, `last` or `spread`"));
        assert!(message("random:8:5%:first").contains("end: expected nothing more, found \"first\""));
    }
}
