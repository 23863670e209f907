//! The files of a failure: everything that is needed to see it again, read it and compare it.

use std::path::{Path, PathBuf};

use interleaf::trace::{Trace, jsonl};
use interleaf::{Failure, Token};
use interleaf_engine::planted::Planted;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::provenance::Provenance;
use super::run_folder::{RunFolder, WriteError, folder_name};
use crate::campaign::bounded::{FAILURE_MAX, read_text};

/// Version of the format of `failure.toml`.
pub const VERSION: u32 = 1;

/// The file that describes a failure.
pub const FAILURE: &str = "failure.toml";

/// Its labelled choices.
pub const CHOICES: &str = "choices.log";

/// Its trace.
pub const TRACE: &str = "trace.jsonl";

/// A failure that was found, with what its report says besides the failure itself.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// The scenario, or the equivalence check.
    pub scenario: String,
    /// The bug that is switched on.
    pub planted: Option<Planted>,
    /// The first seed of the campaign.
    pub first_seed: u64,
    /// Failed runs with the same signature.
    pub times: usize,
    /// It was found by a search that goes by no seed, in so many runs.
    pub searched: Option<u64>,
    /// The failure.
    pub failure: &'a Failure,
}

/// What `failure.toml` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureFile {
    /// [`VERSION`].
    pub format: u32,
    /// The scenario, or the equivalence check.
    pub scenario: String,
    /// The bug that was switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planted: Option<String>,
    /// Equal for failures with the same cause.
    pub signature: String,
    /// What broke, with its numbers.
    pub headline: String,
    /// Seed of the run.
    pub seed: u64,
    /// The strategy that found it.
    pub strategy: String,
    /// The line that replays it.
    pub token: String,
    /// Switches away from a thread that could have gone on.
    pub preemptions: u64,
    /// Steps of the run.
    pub steps: u64,
    /// Version of Interleaf.
    pub version: String,
    /// Commit of the code, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the code had changes that are not in the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<bool>,
}

/// A stored failure that could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("{}: cannot be read: {error}; expected a replay token, a failure folder, `{FAILURE}` or a file with a token", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is not in the format.
    #[error("{}: {problem}", path.display())]
    Malformed {
        /// Its path.
        path: PathBuf,
        /// Where and why.
        problem: String,
    },
}

impl Found<'_> {
    /// Writes the failure's files into the folder of a run; the path of its own folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn store(&self, run: &RunFolder, provenance: &Provenance) -> Result<PathBuf, WriteError> {
        let place = self.place(run);
        let trace = &self.failure.trace;
        // The description comes last: a folder that has it is complete.
        run.write(&place.join(TRACE), &jsonl::render(trace))?;
        run.write(&place.join(CHOICES), &self.failure.choices().render())?;
        let file = self.file(provenance);
        let text = toml::to_string(&file).unwrap_or_else(|error| format!("# cannot be shown: {error}\n"));
        run.write(&place.join(FAILURE), &text)?;
        Ok(run.path().join(place))
    }

    /// `failures/<signature>`, and the scenario as well if another one has failed with the same signature.
    fn place(&self, run: &RunFolder) -> PathBuf {
        let failures = Path::new("failures");
        let place = failures.join(folder_name(&self.failure.signature()));
        if !run.path().join(&place).exists() {
            return place;
        }
        failures.join(folder_name(&format!("{}@{}", self.failure.signature(), self.scenario)))
    }

    fn file(&self, provenance: &Provenance) -> FailureFile {
        let failure = self.failure;
        FailureFile {
            format: VERSION,
            scenario: self.scenario.clone(),
            planted: self.planted.map(|bug| bug.to_string()),
            signature: failure.signature(),
            headline: failure.kind.headline(),
            seed: failure.seed,
            strategy: failure.strategy.clone(),
            token: failure.token.clone(),
            preemptions: failure.trace.preemptions() as u64,
            steps: steps(&failure.trace),
            version: provenance.version.to_owned(),
            commit: provenance.commit.clone(),
            modified: provenance.modified,
        }
    }
}

impl FailureFile {
    /// Reads a `failure.toml`.
    ///
    /// # Errors
    /// If it cannot be read, is not in the format, or in another version of it.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = read_text(path, FAILURE_MAX).map_err(|error| ReadError::Io { path: path.to_owned(), error })?;
        let malformed = |problem: String| ReadError::Malformed { path: path.to_owned(), problem };
        let file: Self = toml::from_str(&text).map_err(|e| malformed(e.to_string().trim_end().to_owned()))?;
        if file.format != VERSION {
            return Err(malformed(format!("format {}: expected {VERSION}, which this version reads", file.format)));
        }
        Ok(file)
    }

    /// The token.
    ///
    /// # Errors
    /// If it is malformed, or the fields beside it are not those of its run.
    pub fn parse_token(&self, path: &Path) -> Result<Token, ReadError> {
        let malformed = |problem: String| ReadError::Malformed { path: path.to_owned(), problem };
        let token: Token = self.token.parse().map_err(|e: interleaf::TokenError| malformed(format!("token: {e}")))?;
        match self.first_contradiction(&token) {
            None => Ok(token),
            Some((field, own, of_token)) => {
                Err(malformed(format!("{field}: found `{own}`; expected `{of_token}`, which its token says")))
            }
        }
    }

    /// The first field that does not agree with the token: its name, what it says and what the token says.
    fn first_contradiction(&self, token: &Token) -> Option<(&'static str, String, String)> {
        let (scenario, planted) = match token.name.split_once('+') {
            Some((scenario, bug)) => (scenario, Some(bug)),
            None => (token.name.as_str(), None),
        };
        let shown = |bug: Option<&str>| bug.unwrap_or("none").to_owned();
        [
            ("scenario", self.scenario.clone(), scenario.to_owned()),
            ("planted", shown(self.planted.as_deref()), shown(planted)),
            ("seed", self.seed.to_string(), token.seed.to_string()),
        ]
        .into_iter()
        .find(|(_, own, of_token)| own != of_token)
    }
}

/// Steps of a recorded run.
#[must_use]
pub fn steps(trace: &Trace) -> u64 {
    trace.events.last().map_or(0, |e| e.step + 1)
}
