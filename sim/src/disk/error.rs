//! Why an operation on a simulated file failed.

use std::io;
use std::sync::Arc;

/// The source of every [`io::Error`] that a simulated disk returns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// An armed fault: nothing was read.
    #[error("{file}: read {number} of the disk failed (armed), {len} bytes at {offset}")]
    Read {
        /// The file's name.
        file: Arc<str>,
        /// Where, in bytes.
        offset: u64,
        /// How many bytes were wanted.
        len: usize,
        /// Which read of the disk it was, from 1.
        number: u64,
    },
    /// An armed fault: the first sectors may have been written, or none.
    #[error("{file}: write {number} of the disk failed (armed), {len} bytes at {offset}")]
    Write {
        /// The file's name.
        file: Arc<str>,
        /// Where, in bytes.
        offset: u64,
        /// How many bytes were to be written.
        len: usize,
        /// Which write of the disk it was, from 1.
        number: u64,
    },
    /// An armed fault: what was not synced before may be durable or not, and a later sync does not change that.
    #[error("{file}: sync {number} of the disk failed (armed); the fate of what was not synced is unknown")]
    Sync {
        /// The file's name.
        file: Arc<str>,
        /// Which sync of the disk it was, from 1.
        number: u64,
    },
    /// The disk's capacity does not suffice. Nothing was changed.
    #[error("{file}: no space left on the disk: {wanted} bytes wanted, {capacity} bytes is its capacity")]
    Full {
        /// The file's name.
        file: Arc<str>,
        /// What all files would have needed together, in bytes.
        wanted: u64,
        /// The capacity in bytes.
        capacity: u64,
    },
    /// The bytes do not lie within the file.
    #[error("{file}: {len} bytes at {offset} are beyond the end; the file has {file_len}")]
    BeyondEnd {
        /// The file's name.
        file: Arc<str>,
        /// Where, in bytes.
        offset: u64,
        /// How many bytes were wanted.
        len: usize,
        /// The file's length in bytes.
        file_len: u64,
    },
    /// No file can be that long.
    #[error("{file}: {len} bytes at {offset} are beyond what a file can hold")]
    TooLarge {
        /// The file's name.
        file: Arc<str>,
        /// Where, in bytes.
        offset: u64,
        /// How many bytes.
        len: usize,
    },
    /// The disk has crashed: open what its image holds.
    #[error("{file}: the disk has lost power")]
    PowerLost {
        /// The file's name.
        file: Arc<str>,
    },
}

impl From<DiskError> for io::Error {
    fn from(error: DiskError) -> Self {
        let kind = match error {
            DiskError::Full { .. } => io::ErrorKind::StorageFull,
            DiskError::BeyondEnd { .. } => io::ErrorKind::UnexpectedEof,
            DiskError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
