//! An exploration that did not finish, as a file: what is left, and the totals so far, so that they go on.
//!
//! One line of JSON. A checksum over the totals and the rest finds what was damaged and still reads well.

use std::path::{Path, PathBuf};

use interleaf::{Estimate, Frontier, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::Subject;
use super::bounded::{SAVED_MAX, read_text};
use crate::report::provenance::Provenance;
use crate::report::run_folder::{WriteError, write_whole};

/// What the file says that it is.
const FORMAT: &str = "interleaf-exploration";

/// Version of the format.
pub const VERSION: u32 = 1;

/// What an exploration has counted, over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Sessions: the first, and one for each time that it was gone on with.
    pub sessions: u64,
    /// Distinguishable interleavings, one run each.
    pub interleavings: u64,
    /// Steps of those runs.
    pub steps: u64,
    /// Runs that had no interleaving of their own.
    pub redundant: u64,
    /// Beginnings of runs that turned out to be impossible or another's.
    pub probes: u64,
    /// Greatest depth of the search.
    pub depth: u64,
    /// Runs beyond a bound, made to find others.
    pub beyond: u64,
    /// Schedules that the interleavings stand for. `None` if they are too many to be counted.
    pub schedules: Option<u128>,
    /// That number is no estimate.
    pub schedules_are_exact: bool,
    /// A run that passed met a conflict. How many there were cannot be counted once for each interleaving: some runs are
    /// made again when an exploration goes on.
    pub conflicts: bool,
    /// Armed faults that fired.
    pub fired: [u64; 2],
    /// Real time in milliseconds.
    pub milliseconds: u64,
    /// The estimate of the first session.
    pub estimate: Option<Estimated>,
    /// What failed.
    pub failures: Vec<Failed>,
}

/// Which interleavings are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// All.
    #[default]
    All,
    /// Those that have a schedule with at most so many preemptions.
    Preemptions(u32),
    /// The same, those that need fewest first.
    InTurn(u32),
}

impl Bound {
    /// The strategy that explores them.
    #[must_use]
    pub const fn strategy(self) -> Strategy {
        match self {
            Self::All => Strategy::Exhaustive { preemptions: None },
            Self::Preemptions(most) => Strategy::Exhaustive { preemptions: Some(most) },
            Self::InTurn(most) => Strategy::Iterative { preemptions: most },
        }
    }
}

/// An estimate of the number of interleavings, in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimated {
    /// Interleavings in all.
    pub interleavings: u64,
    /// Standard error of that number.
    pub error: u64,
    /// Samples.
    pub samples: u32,
}

impl Estimated {
    /// The estimate, if there is one.
    #[must_use]
    pub fn of(estimate: Estimate) -> Option<Self> {
        let Estimate { traces, error, samples } = estimate;
        // Every program has an interleaving.
        let interleavings = (traces.round() as u64).max(1);
        (samples > 0).then_some(Self { interleavings, error: error.ceil() as u64, samples })
    }
}

/// A failure of an earlier session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// Equal for failures with the same cause.
    pub signature: String,
    /// The line that replays it.
    pub token: String,
    /// Its exit code; 0 if the scenario must fail like this.
    pub exit: u8,
}

/// Which part of an exploration that was divided among processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// From 1.
    pub number: u64,
    /// Number of parts.
    pub of: u64,
}

/// What the file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: String,
    version: u32,
    scenario: String,
    seed: u64,
    bound: Bound,
    program: Code,
    part: Option<Part>,
    totals: Totals,
    checksum: String,
    left: Value,
}

/// Which code was explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    version: String,
    commit: Option<String>,
    modified: Option<bool>,
}

impl Code {
    fn of(provenance: &Provenance) -> Self {
        let Provenance { version, commit, modified, .. } = provenance;
        Self { version: (*version).to_owned(), commit: commit.clone(), modified: *modified }
    }
}

/// An exploration that did not finish.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The seed of its runs.
    pub seed: u64,
    /// Which interleavings are explored.
    pub bound: Bound,
    /// The part that it is, if it was divided.
    pub part: Option<Part>,
    /// What it has counted.
    pub totals: Totals,
    /// What is left.
    pub left: Frontier,
    /// It was saved by other code than the present one: its totals may not go together with what is counted now.
    pub other_code: bool,
}

/// A file that is no saved exploration, or not one of this scenario.
#[derive(Debug, Error)]
pub enum SavedError {
    /// The file could not be read.
    #[error("{}: cannot be read: {error}; expected a file that `interleaf explore` saved", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It does not fit.
    #[error("{}: {problem}", path.display())]
    Unfit {
        /// Its path.
        path: PathBuf,
        /// Where and why.
        problem: String,
    },
}

impl Saved {
    /// Reads what was saved for `subject`.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, of another version, or of something else.
    pub fn read(path: &Path, subject: &Subject, provenance: &Provenance) -> Result<Self, SavedError> {
        let text = read_text(path, SAVED_MAX).map_err(|error| SavedError::Io { path: path.to_owned(), error })?;
        Self::parse(&text, subject, provenance).map_err(|problem| SavedError::Unfit { path: path.to_owned(), problem })
    }

    fn parse(text: &str, subject: &Subject, provenance: &Provenance) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let shape = |e: serde_json::Error| format!("{e}; expected a file that `interleaf explore` saved");
        let head: Head = serde_json::from_str(text).map_err(shape)?;
        if head.format != FORMAT {
            return Err(format!("format: expected `{FORMAT}`, found `{}`", head.format));
        }
        if head.version != VERSION {
            return Err(format!("version {}: expected {VERSION}, which this build reads", head.version));
        }
        let saved: Text = serde_json::from_str(text).map_err(shape)?;
        let name = subject.token_name();
        if saved.scenario != name {
            return Err(format!("scenario: expected `{name}`, found an exploration of `{}`", saved.scenario));
        }
        let checksum = checksum(&saved);
        if saved.checksum != checksum {
            return Err(format!(
                "checksum: expected `{checksum}`, found `{}`: the file was changed or is damaged",
                saved.checksum
            ));
        }
        if saved.part.is_some_and(|part| part.number == 0 || part.number > part.of) {
            return Err("part: expected a number from 1 to `of`".into());
        }
        let left = Frontier::from_json(&saved.left.to_string(), &name).map_err(|e| format!("left: {e}"))?;
        let other_code = saved.program != Code::of(provenance);
        Ok(Self { seed: saved.seed, bound: saved.bound, part: saved.part, totals: saved.totals, left, other_code })
    }

    /// Writes it.
    ///
    /// # Errors
    /// If the file cannot be written; an older one is then still there.
    pub fn write(&self, path: &Path, provenance: &Provenance) -> Result<(), WriteError> {
        write_whole(path, &self.render(provenance))
    }

    fn render(&self, provenance: &Provenance) -> String {
        let mut text = Text {
            format: FORMAT.to_owned(),
            version: VERSION,
            scenario: self.left.name().to_owned(),
            seed: self.seed,
            bound: self.bound,
            program: Code::of(provenance),
            part: self.part,
            totals: self.totals.clone(),
            checksum: String::new(),
            left: serde_json::from_str(&self.left.to_json()).unwrap_or_default(),
        };
        text.checksum = checksum(&text);
        format!("{}\n", json(&text))
    }

    /// Divides what is left among `parts` processes. The totals so far are the first one's, so that those of all parts
    /// add up. Parts may be empty.
    #[must_use]
    pub fn split(&self, parts: u64) -> Vec<Self> {
        let fresh = Totals { estimate: self.totals.estimate, ..Totals::default() };
        let part = |(left, number): (Frontier, u64)| Self {
            seed: self.seed,
            bound: self.bound,
            part: Some(Part { number, of: parts }),
            totals: if number == 1 { self.totals.clone() } else { fresh.clone() },
            left,
            other_code: self.other_code,
        };
        self.left.split(parts as usize).into_iter().zip(1..).map(part).collect()
    }
}

fn json(value: &impl Serialize) -> String {
    // Plain data with text keys.
    serde_json::to_string(value).unwrap_or_default()
}

/// FNV-1a over all that counts.
fn checksum(text: &Text) -> String {
    let all = json(&(&text.scenario, text.seed, text.bound, &text.part, &text.totals, &text.left));
    let sum =
        all.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{sum:016x}")
}

#[cfg(test)]
mod tests {
    use interleaf::Explorer;

    use super::*;

    const HERE: Provenance =
        Provenance { version: "1", build: "debug", platform: String::new(), commit: None, modified: None };

    fn subject() -> Subject {
        "fixture.canary".parse().unwrap()
    }

    /// The canary after two of its six interleavings.
    fn saved() -> Saved {
        let strategy = interleaf::Strategy::Exhaustive { preemptions: None };
        let explorer: Explorer<'_> = subject().explorer(strategy).seeds(0..2).max_failures(9);
        let tally = crate::scenario::Tally::default();
        let report = explorer.run(subject().world(0..1, true, &tally));
        let failed = Failed { signature: "s".into(), token: "il1:x:y".into(), exit: 1 };
        let totals = Totals { sessions: 1, interleavings: 2, failures: vec![failed], ..Totals::default() };
        Saved { seed: 0, bound: Bound::All, part: None, totals, left: report.frontier.unwrap(), other_code: false }
    }

    #[test]
    fn what_was_saved_is_read() {
        let text = saved().render(&HERE);
        let read = Saved::parse(&text, &subject(), &HERE).unwrap();
        assert_eq!((&read.totals, &read.left, read.other_code), (&saved().totals, &saved().left, false));
        let elsewhere = Provenance { commit: Some("c".into()), ..HERE };
        assert!(Saved::parse(&text, &subject(), &elsewhere).unwrap().other_code);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let text = saved().render(&HERE);
        let error = |text: &str| Saved::parse(text, &subject(), &HERE).unwrap_err();
        assert!(error("").contains("expected a file that `interleaf explore` saved"));
        assert!(error(&text[..text.len() / 2]).contains("EOF while parsing"));
        assert!(
            error(&text.replace(FORMAT, "other")).contains("format: expected `interleaf-exploration`, found `other`")
        );
        assert!(
            error(&text.replace("\"version\":1,\"scenario", "\"version\":7,\"scenario"))
                .contains("version 7: expected 1")
        );
        assert!(error(&text.replace("\"interleavings\":2", "\"interleavings\":3")).contains("checksum: expected"));
        assert!(error(&text.replace("\"part\":", "\"parts\":")).contains("unknown field `parts`"));
        let other: Subject = "fixture.passes".parse().unwrap();
        let other = Saved::parse(&text, &other, &HERE).unwrap_err();
        assert!(other.contains("expected `fixture.passes`, found an exploration of `fixture.canary`"), "{other}");
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let whole = saved();
        let parts = whole.split(3);
        assert_eq!(parts.iter().map(|p| p.left.len()).sum::<usize>(), whole.left.len());
        assert_eq!(parts.iter().map(|p| p.totals.interleavings).collect::<Vec<_>>(), [2, 0, 0]);
        assert_eq!(parts.iter().map(|p| p.totals.failures.len()).collect::<Vec<_>>(), [1, 0, 0]);
        assert_eq!(parts[2].part, Some(Part { number: 3, of: 3 }));
    }
}
