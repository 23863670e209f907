//! The replay token: one line that holds a failing run.
//!
//! ```text
//! il1:<name>:<base64url of the payload>
//! ```
//!
//! The payload is a sequence of LEB128 numbers: seed, settings, number of deviations, then per deviation the distance
//! from the previous one and the option taken; at its end four bytes of a checksum. A run is stored as its deviations
//! from the run without preemptions, so simple failures have short tokens. It does not depend on the strategy.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::choice::finalise;
use crate::memory::MemoryModel;
use crate::runtime::rt::{Apart, Settings};
use crate::strategy::replay::Deviations;
use crate::trace::Trace;

const PREFIX: &str = "il1";

/// A run in a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Name of the scenario or test. May not contain `:` or white space; those are replaced.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// The decisions.
    pub deviations: Deviations,
    pub(crate) settings: Settings,
}

/// A text that is no replay token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It does not begin with the version that this build reads.
    #[error("not a replay token: expected `{PREFIX}:<name>:<payload>`, got `{0}`")]
    Shape(String),
    /// The payload is not base64url.
    #[error("replay token: the payload is not base64url: {0}")]
    Encoding(#[from] base64::DecodeError),
    /// The payload ends too early or has bytes left over.
    #[error("replay token: the payload is cut short or damaged (at byte {0}); was it copied whole?")]
    Damaged(usize),
    /// The checksum does not match.
    #[error("replay token: the checksum does not match; it was not copied whole, or the name was changed")]
    Checksum,
}

impl Token {
    /// The token of a run that was recorded in full.
    pub(crate) fn of(name: &str, seed: u64, settings: Settings, trace: &Trace) -> Self {
        let free = trace.decisions.iter().filter(|d| !d.forced());
        let list = free.zip(0u32..).filter(|(d, _)| d.chosen != d.default).map(|(d, i)| (i, d.chosen)).collect();
        Self { name: plain_name(name), seed, deviations: Deviations { list }, settings }
    }

    fn payload(&self) -> Vec<u8> {
        let s = &self.settings;
        let weak = s.memory_model != MemoryModel::Sc;
        let flags = u64::from(s.every_operation)
            | u64::from(s.time_when_idle) << 1
            | u64::from(s.whole_deadlocks) << 2
            | u64::from(weak) << 3
            | u64::from(!s.queues) << 4
            | u64::from(s.steps_apart.ends) << 5
            | u64::from(s.steps_apart.queues) << 6;
        let mut out = Vec::new();
        for n in [
            self.seed,
            flags,
            u64::from(s.max_steps),
            u64::from(s.spurious_wakeups),
            u64::from(s.weak_cas_failures),
            self.deviations.list.len() as u64,
        ] {
            put(&mut out, n);
        }
        let mut last = 0;
        for &(at, value) in &self.deviations.list {
            put(&mut out, u64::from(at - last));
            out.push(value);
            last = at;
        }
        let sum = checksum(&self.name, &out);
        out.extend_from_slice(&sum);
        out
    }
}

/// A name as it stands in tokens: a Rust path has dots for its colons, and white space is a dot too.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace("::", ".").chars().map(|c| if c == ':' || c.is_whitespace() { '.' } else { c }).collect()
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}:{}:{}", self.name, URL_SAFE_NO_PAD.encode(self.payload()))
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let shape = || TokenError::Shape(text.chars().take(40).collect());
        let mut parts = text.splitn(3, ':');
        let (Some(PREFIX), Some(name), Some(payload)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(shape());
        };
        let bytes = URL_SAFE_NO_PAD.decode(payload)?;
        let body = bytes.len().checked_sub(4).ok_or(TokenError::Damaged(bytes.len()))?;
        let (body, sum) = bytes.split_at(body);
        if checksum(name, body) != sum {
            return Err(TokenError::Checksum);
        }
        let mut reader = Reader { bytes: body, at: 0 };
        let seed = reader.number()?;
        let flags = reader.number()?;
        if flags > 127 {
            // A setting of a later version: running without it would be another run.
            return Err(TokenError::Damaged(reader.at));
        }
        let settings = Settings {
            every_operation: flags & 1 == 1,
            time_when_idle: flags & 2 == 2,
            whole_deadlocks: flags & 4 == 4,
            queues: flags & 16 == 0,
            steps_apart: Apart { ends: flags & 32 == 32, queues: flags & 64 == 64 },
            memory_model: if flags & 8 == 8 { MemoryModel::Rc11 } else { MemoryModel::Sc },
            max_steps: reader.small()?,
            spurious_wakeups: reader.small()?,
            weak_cas_failures: reader.small()?,
        };
        let count = reader.small()?;
        let mut list = Vec::new();
        let mut last = 0u32;
        for _ in 0..count {
            last = last.checked_add(reader.small()?).ok_or(TokenError::Damaged(reader.at))?;
            list.push((last, reader.byte()?));
        }
        if reader.at != body.len() {
            return Err(TokenError::Damaged(reader.at));
        }
        Ok(Self { name: name.to_owned(), seed, deviations: Deviations { list }, settings })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, TokenError> {
        let byte = *self.bytes.get(self.at).ok_or(TokenError::Damaged(self.at))?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, TokenError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(TokenError::Damaged(self.at))
    }

    fn small(&mut self) -> Result<u32, TokenError> {
        u32::try_from(self.number()?).map_err(|_| TokenError::Damaged(self.at))
    }
}

fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn checksum(name: &str, body: &[u8]) -> [u8; 4] {
    let hash = name.bytes().chain([0]).chain(body.iter().copied()).fold(1u64, |h, b| finalise(h ^ u64::from(b)));
    (hash as u32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token {
            name: "ledger.x".into(),
            seed: 0xDEAD_BEEF_0123_4567,
            deviations: Deviations { list: vec![(0, 3), (2, 1), (500, 63)] },
            settings: Settings {
                max_steps: 100_000,
                every_operation: true,
                spurious_wakeups: 2,
                weak_cas_failures: 0,
                time_when_idle: false,
                whole_deadlocks: false,
                queues: true,
                steps_apart: Apart::default(),
                memory_model: MemoryModel::Sc,
            },
        }
    }

    #[test]
    fn round_trip() {
        let text = token().to_string();
        assert_eq!(text.parse(), Ok(token()), "{text}");
        assert_eq!(format!("  {text}\n").parse(), Ok(token()));
        let mut other = token();
        other.settings.every_operation = false;
        other.settings.time_when_idle = true;
        other.settings.weak_cas_failures = 7;
        assert_eq!(other.to_string().parse(), Ok(other.clone()));
        other.settings.memory_model = MemoryModel::Rc11;
        assert_eq!(other.to_string().parse(), Ok(other));
    }

    #[test]
    fn every_damage_is_noticed() {
        let text = token().to_string();
        assert!(matches!("hello".parse::<Token>(), Err(TokenError::Shape(_))));
        assert!(matches!("il2:a:AAAA".parse::<Token>(), Err(TokenError::Shape(_))));
        assert!(matches!("il1:a:".parse::<Token>(), Err(TokenError::Damaged(0))));
        assert!(matches!("il1:a:AA*A".parse::<Token>(), Err(TokenError::Encoding(_))));
        for cut in 12..text.len() {
            assert!(text[..cut].parse::<Token>().is_err(), "{}", &text[..cut]);
        }
        assert_eq!(text.replace("ledger.x", "ledger.y").parse::<Token>(), Err(TokenError::Checksum));
    }
}
