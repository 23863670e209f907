//! What the replay tokens of equivalence checks are called.

use std::fmt;
use std::str::FromStr;

use interleaf_engine::planted::UnknownPlanted;
use interleaf_engine::schedule::Policy;
use thiserror::Error;

use super::{Case, Source, WORKERS_MAX};
use crate::blocks::spec::Spec;

/// What a replay token of an equivalence check is called: source, policy, workers and bug, in characters that a token may
/// contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenName {
    /// Where the block comes from.
    pub source: Source,
    /// What was compared.
    pub case: Case,
}

/// A name that is none of an equivalence check.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoTokenName {
    /// It does not begin with `equiv/` or has not the right parts.
    #[error("`{0}` is no equivalence check: expected `equiv/BLOCK/POLICY/WORKERS`")]
    Shape(String),
    /// A part cannot be read.
    #[error("`{name}`: {problem}")]
    Part {
        /// The whole name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// No such planted bug.
    #[error(transparent)]
    Planted(#[from] UnknownPlanted),
}

impl TokenName {
    /// What the names of all equivalence checks begin with.
    pub const PREFIX: &'static str = "equiv/";
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        match &self.source {
            Source::Mainnet => f.write_str("mainnet")?,
            Source::Generated { spec, seed } => write!(f, "{}@{seed}", escape(&spec.to_string()))?,
            Source::File(path) => write!(f, "file={}", escape(&path.to_string_lossy()))?,
        }
        write!(f, "/{}/{}", escape(&self.case.policy.to_string()), self.case.workers)?;
        if let Some(bug) = self.case.planted {
            write!(f, "+{bug}")?;
        }
        Ok(())
    }
}

impl FromStr for TokenName {
    type Err = NoTokenName;

    fn from_str(name: &str) -> Result<Self, NoTokenName> {
        let shape = || NoTokenName::Shape(name.to_owned());
        let part = |problem: String| NoTokenName::Part { name: name.to_owned(), problem };
        let body = name.strip_prefix(Self::PREFIX).ok_or_else(shape)?;
        let (body, planted) = match body.split_once('+') {
            Some((body, bug)) => (body, Some(bug.parse()?)),
            None => (body, None),
        };
        let [source, policy, workers] = body.split('/').collect::<Vec<_>>()[..] else { return Err(shape()) };
        let source = match source.strip_prefix("file=") {
            Some(path) => Source::File(unescape(path).ok_or_else(shape)?.into()),
            None if source == "mainnet" => Source::Mainnet,
            None => {
                let (spec, seed) = source.rsplit_once('@').ok_or_else(shape)?;
                let spec = unescape(spec).ok_or_else(shape)?.parse::<Spec>().map_err(|e| part(e.to_string()))?;
                Source::Generated { spec, seed: seed.parse().map_err(|_| shape())? }
            }
        };
        let policy = unescape(policy).ok_or_else(shape)?.parse::<Policy>().map_err(|e| part(e.to_string()))?;
        let workers = workers.parse().map_err(|_| shape())?;
        if !(1..=WORKERS_MAX).contains(&workers) {
            return Err(part(format!("{workers} workers: expected 1 to {WORKERS_MAX}")));
        }
        Ok(Self { source, case: Case { policy, workers, planted } })
    }
}

/// `:` as `~`, and what is special in a token or shell as `%XX`.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b':' => out.push('~'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'=' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'~' => out.push(b':'),
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use interleaf_engine::planted::Planted;

    use super::*;

    #[test]
    fn token_names_are_read_back() {
        let file = Source::File("a b/c:d+é.hex".into());
        for source in
            [Source::Mainnet, file, Source::Generated { spec: "chain:100:25%:last".parse().unwrap(), seed: 7 }]
        {
            let planted = Some(Planted::ReadyBeforePublish);
            let name = TokenName {
                source,
                case: Case { policy: "ready-queue:fifo:shrinking=8".parse().unwrap(), workers: 3, planted },
            };
            let text = name.to_string();
            assert!(text.bytes().all(|b| b.is_ascii_graphic() && b != b':'), "{text}");
            assert_eq!(text.parse(), Ok(name));
        }
        for workers in [0, 65, 1_u64 << 40] {
            let error = format!("equiv/mainnet/wave/{workers}").parse::<TokenName>().unwrap_err().to_string();
            assert!(error.contains("workers: expected 1 to 64"), "{error}");
        }
        for bad in ["equiv/", "equiv/mainnet/wave", "equiv/x/wave/2", "equiv/mainnet/wafe/2", "equiv/mainnet/wave/2+x"]
        {
            assert!(bad.parse::<TokenName>().is_err(), "{bad}");
        }
    }
}
