//! A simulated file as the storage of a redb database.

use std::io;
use std::ops::Bound;

use redb::{BackendError, StorageBackend};

use super::file::File;

/// A database on a simulated disk: `redb::Builder::new().create_with_backend(disk.open("ledger.redb"))`.
///
/// redb holds locks of std while it calls its storage. Each call is a scheduling point, so inside a run only one thread at
/// a time may be inside of redb, or none may be switched away there: put a mutex of [`crate::sync`] around the database
/// and everything that was got from it, or set [`Options::scheduling_points`](super::Options::scheduling_points) to false.
///
/// The whole file can be locked, as redb asks for when a database is opened; a second one on the same file is refused as
/// on a real one. The modes of redb that share a file between processes need byte ranges and are not supported.
impl StorageBackend for File {
    fn len(&self) -> io::Result<u64> {
        Self::len(self)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_at(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.unlock();
        Ok(())
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if is_whole((start, end)) { Ok(self.try_lock()) } else { Err(BackendError::Unsupported) }
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if !is_whole((start, end)) {
            return Err(BackendError::Unsupported);
        }
        self.unlock();
        Ok(())
    }
}

fn is_whole(range: (Bound<u64>, Bound<u64>)) -> bool {
    matches!(range, (Bound::Unbounded | Bound::Included(0), Bound::Unbounded))
}
