//! Files in memory that outlive whoever has them open, and fail when told to.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::disallowed_types, reason = "a lock inside the file, which nothing simulated waits for")]

use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// What a crash leaves.
    synced: Vec<u8>,
    /// Operations left until all fail; counted down by writes, changes of length and syncs.
    fails_in: Option<u32>,
    operations: u32,
}

/// One file. Clones are the same file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File(Arc<Mutex<State>>);

impl File {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(State { synced: bytes.clone(), bytes, ..State::default() })))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }

    /// From the operation after so many on, nothing works any more.
    pub(crate) fn fail_in(&self, operations: u32) {
        self.0.lock().unwrap().fails_in = Some(operations);
    }

    /// Writes, changes of length and syncs so far.
    pub(crate) fn operations(&self) -> u32 {
        self.0.lock().unwrap().operations
    }

    /// The file after a crash that took all that was not synced, or nothing.
    pub(crate) fn after_crash(&self, lost: bool) -> Self {
        let state = self.0.lock().unwrap();
        Self::of(if lost { state.synced.clone() } else { state.bytes.clone() })
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.fails_in == Some(0) {
            return Err(io::Error::other("the disk is gone"));
        }
        state.fails_in = state.fails_in.map(|left| left - 1);
        state.operations += 1;
        change(&mut state);
        Ok(())
    }
}

impl StorageBackend for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        let from = offset as usize;
        let found = state.bytes.get(from..from + out.len());
        out.copy_from_slice(found.ok_or_else(|| io::Error::other("behind the end"))?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|state| state.bytes.resize(len as usize, 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|state| state.synced = state.bytes.clone())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let from = offset as usize;
        if self.0.lock().unwrap().bytes.len() < from + data.len() {
            return Err(io::Error::other("behind the end"));
        }
        self.change(|state| state.bytes[from..from + data.len()].copy_from_slice(data))
    }
}
