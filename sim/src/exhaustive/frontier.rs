//! What an exploration has left to do, to go on with it later or elsewhere.

use serde::{Deserialize, Serialize};

use crate::runtime::rt::Settings;

use super::item::Item;

/// The version of the format that this build writes and reads.
const VERSION: u32 = 2;

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) item: Item,
    /// The run of the item has been counted, and so many of its own items were given out. `None`: it is still to be
    /// made.
    pub(crate) given: Option<u64>,
}

/// What an exhaustive exploration that was stopped has left to do. It holds the path of the search, not what was
/// explored, so its size does not depend on how much that was.
///
/// It fits one program: exploring another with it, or the same after a change, gives meaningless counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frontier {
    version: u32,
    name: String,
    max_steps: u32,
    spurious_wakeups: u32,
    weak_cas_failures: u32,
    time_when_idle: bool,
    /// Readers queue behind writers.
    pub(crate) queues: bool,
    /// Ends of threads are steps.
    pub(crate) ends: bool,
    /// The bound on preemptions, if bounds are tried in turn.
    pub(crate) turn: u32,
    /// In this turn traces were beyond the bound.
    pub(crate) missed: bool,
    pub(crate) work: Vec<Work>,
}

/// Why a text is no frontier, or not one for this exploration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// Not JSON of the expected shape.
    #[error("not a saved exploration: {0}")]
    Shape(#[from] serde_json::Error),
    /// Written by another version.
    #[error("the saved exploration has version {0}; this build reads version {VERSION}")]
    Version(u32),
    /// Saved by an exploration of something else.
    #[error("the saved exploration is one of `{saved}`, not of `{wanted}`")]
    Name {
        /// Name in the file.
        saved: String,
        /// Name of the present exploration.
        wanted: String,
    },
    /// Numbers that cannot be.
    #[error("the saved exploration is damaged: part {0} refers to a thread, group or step that it does not have")]
    Damaged(usize),
}

impl Frontier {
    pub(crate) fn new(name: &str, settings: Settings, (turn, missed): (u32, bool), work: Vec<Work>) -> Self {
        Self {
            version: VERSION,
            name: name.to_owned(),
            max_steps: settings.max_steps,
            spurious_wakeups: settings.spurious_wakeups,
            weak_cas_failures: settings.weak_cas_failures,
            time_when_idle: settings.time_when_idle,
            queues: settings.queues,
            ends: settings.steps_apart.ends,
            turn,
            missed,
            work,
        }
    }

    /// The name of the exploration that it belongs to.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of parts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.work.len()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.work.is_empty()
    }

    /// Divides the work among `parts` processes. Each explores its own with [`crate::Explorer::resume`]; their counts
    /// add up to those of one. Parts may be empty.
    #[must_use]
    pub fn split(&self, parts: usize) -> Vec<Self> {
        let parts = parts.max(1);
        let mut all: Vec<Self> = (0..parts).map(|_| Self { work: Vec::new(), ..self.clone() }).collect();
        for (n, work) in self.work.iter().enumerate() {
            all[n % parts].work.push(work.clone());
        }
        all
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all of it can be written.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| panic!("a frontier is plain data: {error}"))
    }

    /// Reads what [`Self::to_json`] wrote, for the exploration called `name`.
    ///
    /// # Errors
    /// What does not fit.
    pub fn from_json(text: &str, name: &str) -> Result<Self, FrontierError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.version != VERSION {
            return Err(FrontierError::Version(head.version));
        }
        let frontier: Self = serde_json::from_str(text)?;
        if frontier.name != name {
            return Err(FrontierError::Name { saved: frontier.name, wanted: name.to_owned() });
        }
        match frontier.work.iter().position(|w| !w.item.is_sound()) {
            Some(part) => Err(FrontierError::Damaged(part)),
            None => Ok(frontier),
        }
    }
}
