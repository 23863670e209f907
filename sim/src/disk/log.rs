//! The record of a disk's changes, and the crash after each of them.

use std::fmt;
use std::sync::Arc;

use super::cache::Cache;
use super::content::Content;
use super::image::Image;
use super::outcome::{Fate, Outcome};

/// One operation that changes what a crash would leave.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write {
        offset: u64,
        data: Arc<[u8]>,
    },
    SetLen(u64),
    Sync,
    /// The sync failed.
    FailedSync,
    /// The sync claimed to have succeeded and did nothing.
    LyingSync,
}

/// A change and the number of its file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) file: usize,
    pub(super) change: Change,
}

/// All files of a disk with their caches, and how many operations they have seen.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) names: Vec<Arc<str>>,
    pub(super) files: Vec<Cache>,
    pub(super) operations: u64,
    base: Image,
}

impl Caches {
    pub(super) fn new(base: Image) -> Self {
        let files = base.files.values().map(|content| Cache::new(base.geometry, content.clone())).collect();
        Self { names: base.files.keys().cloned().collect(), files, operations: 0, base }
    }

    /// The number of the file, which is made if there is none.
    pub(super) fn file(&mut self, name: &Arc<str>) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(Arc::clone(name));
            self.files.push(Cache::new(self.base.geometry, Content::new(self.base.geometry)));
            self.files.len() - 1
        })
    }

    pub(super) fn apply(&mut self, entry: &Entry) {
        self.operations += 1;
        let (op, cache) = (self.operations, &mut self.files[entry.file]);
        match &entry.change {
            Change::Write { offset, data } => cache.write(op, *offset, data),
            Change::SetLen(len) => cache.set_len(op, *len),
            Change::Sync => cache.sync(),
            Change::FailedSync => cache.fail_sync(),
            Change::LyingSync => {}
        }
    }

    pub(super) fn image(&self, outcome: Outcome) -> Image {
        let fate = Fate::of(outcome, &self.files);
        let mut image = Image { geometry: self.base.geometry, files: std::collections::BTreeMap::new(), lost: 0 };
        for (file, (name, cache)) in self.names.iter().zip(&self.files).enumerate() {
            let (content, lost) = fate.leaves(file, cache);
            image.files.insert(Arc::clone(name), content);
            image.lost += lost;
        }
        image
    }
}

/// Everything that has changed a disk since it was made, in order: writes, changes of a length, syncs.
///
/// A *crash point* is the number of the last operation before a crash: 0 is before the first, [`Log::len`] after the last.
#[derive(Clone)]
pub struct Log {
    pub(super) base: Image,
    pub(super) names: Arc<[Arc<str>]>,
    pub(super) entries: Arc<[Entry]>,
}

impl Log {
    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A walk over all crash points, from 0 on. Its images cost what is unsynced at the point, and one pointer a page
    /// of the files.
    #[must_use]
    pub fn walk(&self) -> Walk<'_> {
        let mut caches = Caches::new(self.base.clone());
        for name in &*self.names {
            caches.file(name);
        }
        Walk { log: self, caches }
    }

    /// The disk as it is found after a crash right after operation `point`. To look at many points use [`Log::walk`]:
    /// this goes through the operations from the first on.
    ///
    /// # Panics
    /// If there are fewer operations.
    #[must_use]
    pub fn image_at(&self, point: u64, outcome: Outcome) -> Image {
        let mut walk = self.walk();
        walk.go_to(point);
        walk.image(outcome)
    }

    /// The operation with this number, counted from 1, as `write ledger.redb 512 bytes at 4096`.
    #[must_use]
    pub fn describe(&self, operation: u64) -> Option<String> {
        let entry = self.entries.get(usize::try_from(operation.checked_sub(1)?).ok()?)?;
        Some(entry.change.describe(&self.names[entry.file]))
    }
}

impl Change {
    pub(super) fn describe(&self, file: &str) -> String {
        match self {
            Self::Write { offset, data } => format!("write {file} {} bytes at {offset}", data.len()),
            Self::SetLen(len) => format!("set_len {file} {len}"),
            Self::Sync => format!("sync {file}"),
            Self::FailedSync => format!("sync {file} (failed)"),
            Self::LyingSync => format!("sync {file} (a lie)"),
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((1..=self.len()).filter_map(|n| self.describe(n))).finish()
    }
}

/// A disk that goes through a [`Log`] operation by operation.
#[derive(Clone)]
pub struct Walk<'a> {
    log: &'a Log,
    caches: Caches,
}

impl Walk<'_> {
    /// The crash point: how many operations have been done.
    #[must_use]
    pub fn point(&self) -> u64 {
        self.caches.operations
    }

    /// Does the next operation. False if there is none.
    pub fn advance(&mut self) -> bool {
        let next = self.log.entries.get(self.caches.operations as usize);
        if let Some(entry) = next {
            self.caches.apply(entry);
        }
        next.is_some()
    }

    /// Goes forward to a crash point.
    ///
    /// # Panics
    /// If the walk is beyond it, or there are fewer operations.
    pub fn go_to(&mut self, point: u64) {
        let (now, all) = (self.point(), self.log.len());
        assert!((now..=all).contains(&point), "interleaf: crash point {point}; expected one from {now} to {all}");
        while self.point() < point {
            self.advance();
        }
    }

    /// The disk as it is found after a crash here.
    #[must_use]
    pub fn image(&self, outcome: Outcome) -> Image {
        self.caches.image(outcome)
    }

    /// Whether a crash here takes something away: if not, all outcomes are the same.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.caches.files.iter().all(Cache::is_settled)
    }
}

impl fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("point", &self.point()).finish_non_exhaustive()
    }
}
