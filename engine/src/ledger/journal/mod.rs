//! The write-ahead log (decision O11): what is acknowledged is on disk, also between two batches.
//!
//! Every change of the chain is one record (`frame`, `entry`), written and synced before anybody sees the change. The
//! journal is two files that take turns. After each batch a new *generation* begins in the other file with the blocks
//! that are still in memory only; the file before it stays as it is until the generation after the next begins, so there
//! is a whole one at every moment.
//!
//! The files are whatever implements redb's [`StorageBackend`]: real files, or a simulated disk.

use std::path::Path;

use interleaf::sync::Arc;
use redb::StorageBackend;
use redb::backends::FileBackend;
use thiserror::Error;

use super::genesis::LedgerId;

mod entry;
mod frame;
mod read;

pub(super) use self::entry::{Change, Window};
pub(super) use self::read::Found;

use self::entry::{Begin, VERSION};

/// Why the journal cannot be read, or not be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JournalError {
    /// The disk failed.
    #[error("journal: {operation} of file {file}: {reason}")]
    Io {
        /// What was attempted.
        operation: &'static str,
        /// Which of the two files.
        file: char,
        /// What the disk said.
        reason: String,
    },
    /// An earlier write failed: what is on disk is not known. Opening the ledger anew finds out.
    #[error("journal: an earlier write failed ({reason}); close the ledger and open it again")]
    Broken {
        /// What the disk said then.
        reason: String,
    },
    /// A record in the middle does not read back, though later ones do.
    #[error(
        "journal: file {file} is damaged at byte {offset}: record {sequence} does not read back, but record {later} does"
    )]
    Damaged {
        /// Which of the two files.
        file: char,
        /// Where the damaged record begins.
        offset: u64,
        /// Its number.
        sequence: u64,
        /// The number of a later one that is whole.
        later: u64,
    },
    /// A record is whole but says what no journal says.
    #[error("journal: file {file}, record {sequence}: {what}")]
    Nonsense {
        /// Which of the two files.
        file: char,
        /// The record's number.
        sequence: u64,
        /// What is wrong with it.
        what: String,
    },
    /// It was written by another version of the program.
    #[error("journal: format {found}, this program reads {expected}")]
    Version {
        /// What the journal has.
        found: u32,
        /// What is read.
        expected: u32,
    },
    /// It belongs to a ledger with another genesis.
    #[error("journal: belongs to ledger {found:?}, not to {expected:?}")]
    OtherLedger {
        /// Whose it is.
        found: LedgerId,
        /// Whose it should be.
        expected: LedgerId,
    },
    /// A change is too large for one record.
    #[error("journal: a change of {bytes} bytes does not fit into one record")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// A journal on two files.
#[derive(Debug)]
pub struct Journal {
    files: [Box<dyn StorageBackend>; 2],
    /// The generation that is written to; generation `n` is in file `n % 2`.
    generation: u64,
    /// The number of the next record.
    sequence: u64,
    /// Where it goes.
    end: u64,
    /// Why nothing can be written any more.
    broken: Option<String>,
    /// Records are written but not synced (planted bug `ack-before-sync`).
    unsynced: bool,
}

impl Journal {
    /// The journal on these two files, empty ones or those of an earlier run.
    #[must_use]
    pub fn on(first: impl StorageBackend, second: impl StorageBackend) -> Self {
        Self {
            files: [Box::new(first), Box::new(second)],
            generation: 0,
            sequence: 0,
            end: 0,
            broken: None,
            unsynced: false,
        }
    }

    /// The journal on `journal.a` and `journal.b` in `folder`, which are created if they are missing.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn in_folder(folder: &Path) -> Result<Self, JournalError> {
        let open = |file: char| {
            let path = folder.join(format!("journal.{file}"));
            let opened = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let failed = |reason: String| JournalError::Io { operation: "open", file, reason };
            let opened = opened.map_err(|error| failed(format!("{}: {error}", path.display())))?;
            FileBackend::new(opened).map_err(|error| failed(error.to_string()))
        };
        Ok(Self::on(open('a')?, open('b')?))
    }

    #[cfg(feature = "planted")]
    pub(super) fn leave_unsynced(&mut self) {
        self.unsynced = true;
    }

    /// Reads what is there and gets ready to go on behind the last whole record. `None` if there is nothing.
    pub(super) fn read(&mut self, ledger: LedgerId) -> Result<Option<Found>, JournalError> {
        let found = read::newest([&*self.files[0], &*self.files[1]], ledger)?;
        if let Some(found) = &found {
            (self.generation, self.sequence, self.end) = (found.generation, found.sequence, found.end);
        }
        Ok(found)
    }

    /// Writes `change` and syncs it. Whoever comes back from here with `Ok` may acknowledge it.
    pub(super) fn append(&mut self, change: &Change) -> Result<(), JournalError> {
        let bytes = self.encode(self.generation, self.sequence, change)?;
        self.write(self.generation, self.end, &bytes)?;
        if !self.unsynced {
            self.sync(self.generation)?;
        }
        self.sequence += 1;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Begins the next generation with `window`.
    pub(super) fn begin(&mut self, ledger: LedgerId, window: Window) -> Result<(), JournalError> {
        let generation = self.generation + 1;
        let bytes = self.encode(generation, 0, &Begin { version: VERSION, ledger, window })?;
        self.attempt("shorten", generation, |file| file.set_len(0))?;
        self.write(generation, 0, &bytes)?;
        self.sync(generation)?;
        (self.generation, self.sequence, self.end) = (generation, 1, bytes.len() as u64);
        Ok(())
    }

    fn encode(&self, generation: u64, sequence: u64, said: &impl serde::Serialize) -> Result<Vec<u8>, JournalError> {
        if let Some(reason) = &self.broken {
            return Err(JournalError::Broken { reason: reason.clone() });
        }
        // Writing to memory does not fail.
        let payload = postcard::to_stdvec(said).unwrap_or_default();
        frame::encode(generation, sequence, &payload).ok_or(JournalError::TooLarge { bytes: payload.len() })
    }

    fn write(&mut self, generation: u64, at: u64, bytes: &[u8]) -> Result<(), JournalError> {
        self.attempt("extend", generation, |file| {
            let end = at + bytes.len() as u64;
            if file.len()? < end { file.set_len(end) } else { Ok(()) }
        })?;
        self.attempt("write", generation, |file| file.write(at, bytes))
    }

    fn sync(&mut self, generation: u64) -> Result<(), JournalError> {
        self.attempt("sync", generation, |file| file.sync_data())
    }

    /// After a failure nothing is known of what is on disk, so nothing more is written.
    fn attempt(
        &mut self,
        operation: &'static str,
        generation: u64,
        step: impl FnOnce(&dyn StorageBackend) -> std::io::Result<()>,
    ) -> Result<(), JournalError> {
        step(&*self.files[place(generation)]).map_err(|error| {
            self.broken = Some(error.to_string());
            JournalError::Io { operation, file: name(place(generation)), reason: error.to_string() }
        })
    }
}

/// The file of a generation.
fn place(generation: u64) -> usize {
    usize::from(generation % 2 == 1)
}

fn name(place: usize) -> char {
    if place == 0 { 'a' } else { 'b' }
}

impl Window {
    /// The window above the block `base`.
    pub(super) fn above<'a>(
        base: &super::block_meta::BlockMeta,
        blocks: impl Iterator<Item = &'a Arc<super::block::Block>>,
    ) -> Self {
        Self { base: base.id, base_height: base.height, blocks: blocks.map(Arc::clone).collect() }
    }
}
