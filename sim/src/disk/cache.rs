//! The volatile write cache of one file: what is durable, and every version of every sector since.
//!
//! A sector is written to the medium as a whole and as it was at some moment, so that what survives of it is one of its
//! versions, never a mixture. The length of a file is kept by a journal, which keeps the order of its changes: some
//! first ones survive. Data that was written into what a lost change of the length cut off or gave is lost with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::content::{Content, Geometry};

/// One page after an operation that has changed it.
#[derive(Clone, Debug)]
pub(super) struct Version {
    /// Number of the operation in the disk's log, from 1.
    pub(super) op: u64,
    /// The sectors that it has changed and that no sync has settled, as bits.
    pub(super) sectors: u64,
    /// `None`: all zero.
    pub(super) page: Option<Arc<[u8]>>,
    /// The file was cut off here: a matter of its length.
    pub(super) cut: bool,
    /// A sync failed on it.
    pub(super) doubtful: bool,
}

/// The length after an operation that has changed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) op: u64,
    pub(super) len: u64,
    shrinks: bool,
    doubtful: bool,
}

/// One file of a disk.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    geometry: Geometry,
    /// What a read sees.
    seen: Content,
    durable: Content,
    /// By page, in the order of the operations.
    pub(super) versions: BTreeMap<usize, Vec<Version>>,
    pub(super) lengths: Vec<Length>,
    /// Whether a sync has failed on something that is not settled since.
    doubts: bool,
    /// The furthest byte written since the last sync.
    written_to: u64,
}

impl Cache {
    /// A file whose content is durable.
    pub(super) fn new(geometry: Geometry, durable: Content) -> Self {
        let seen = durable.clone();
        Self { geometry, seen, durable, versions: BTreeMap::new(), lengths: Vec::new(), doubts: false, written_to: 0 }
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub(super) fn seen(&self) -> &Content {
        &self.seen
    }

    pub(super) fn durable(&self) -> &Content {
        &self.durable
    }

    /// Whether a crash can take something away.
    pub(super) fn is_settled(&self) -> bool {
        self.versions.is_empty() && self.lengths.is_empty()
    }

    /// Writes; the file grows if it has to.
    pub(super) fn write(&mut self, op: u64, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let range = offset..offset + data.len() as u64;
        if range.end > self.seen.len() {
            self.lengths.push(Length { op, len: range.end, shrinks: false, doubtful: false });
        }
        self.seen.write(offset, data);
        self.written_to = self.written_to.max(range.end);
        for page in self.seen.pages_of(range.clone()) {
            self.remember(op, page, self.geometry.sectors(page, range.clone()), false);
        }
    }

    /// Sets the length.
    pub(super) fn set_len(&mut self, op: u64, len: u64) {
        let old = self.seen.len();
        if len == old {
            return;
        }
        self.lengths.push(Length { op, len, shrinks: len < old, doubtful: false });
        let pages = self.seen.pages_of(len..old.max(len)).start..self.seen.page_count();
        self.seen.resize(len);
        for page in pages {
            self.remember(op, page, self.geometry.sectors(page, len..u64::MAX), true);
        }
    }

    fn remember(&mut self, op: u64, page: usize, sectors: u64, cut: bool) {
        let content = self.seen.page(page).cloned();
        let version = Version { op, sectors, page: content, cut, doubtful: false };
        self.versions.entry(page).or_default().push(version);
    }

    /// Makes everything durable, but for what a failed sync has left in doubt and what was not written again since.
    pub(super) fn sync(&mut self) {
        if self.doubts {
            self.sync_despite_doubts();
        } else {
            for &page in self.versions.keys() {
                let content = self.seen.page(page).cloned();
                if content.is_some() || self.durable.page(page).is_some() {
                    self.durable.set_page(page, content);
                }
            }
            self.durable.resize(self.seen.len());
            self.versions.clear();
            self.lengths.clear();
        }
        self.written_to = 0;
        self.doubts = !self.is_settled();
    }

    /// After a failed sync nobody knows what of the unsynced data is durable, and the system takes it for clean: a later
    /// sync does not write it again (what Linux does since 4.13 at the latest; PostgreSQL's «fsyncgate» of 2018).
    pub(super) fn fail_sync(&mut self) {
        self.versions.values_mut().flatten().for_each(|version| version.doubtful = true);
        self.lengths.iter_mut().for_each(|length| length.doubtful = true);
        self.doubts = !self.is_settled();
        self.written_to = 0;
    }

    fn sync_despite_doubts(&mut self) {
        // The lengths are in one journal: what needs the latest of them takes the earlier ones along.
        let settles = self.lengths.iter().any(|length| !length.doubtful)
            || self.written_to > self.durable.len()
            || (self.written_to > 0 && self.lengths.iter().any(|length| length.shrinks));
        let mut versions = std::mem::take(&mut self.versions);
        for (&page, versions) in &mut versions {
            for sector in 0..self.geometry.sectors_per_page() {
                let newest = newest(versions, sector, |version| !version.doubtful);
                let cut = newest_if(settles, versions, sector);
                if let Some(settled) = newest.max(cut) {
                    self.settle(page, sector, &mut versions[..=settled]);
                }
            }
            versions.retain(|version| version.sectors != 0);
        }
        versions.retain(|_, versions| !versions.is_empty());
        self.versions = versions;
        if settles {
            self.durable.resize(self.seen.len());
            self.lengths.clear();
        }
    }

    /// Makes the last of the versions durable for the sector, and forgets the ones before.
    fn settle(&mut self, page: usize, sector: usize, versions: &mut [Version]) {
        let bytes = sector * self.geometry.sector..(sector + 1) * self.geometry.sector;
        let content = versions.last().and_then(|version| version.page.as_ref());
        match content {
            Some(content) => self.durable.page_mut(page)[bytes.clone()].copy_from_slice(&content[bytes]),
            None if self.durable.page(page).is_some() => self.durable.page_mut(page)[bytes].fill(0),
            None => {}
        }
        versions.iter_mut().for_each(|version| version.sectors &= !(1 << sector));
    }
}

/// The newest version of the sector, if it is the newest of all that it has and passes.
fn newest(versions: &[Version], sector: usize, passes: impl Fn(&Version) -> bool) -> Option<usize> {
    let newest = versions.iter().rposition(|version| version.sectors >> sector & 1 == 1)?;
    passes(&versions[newest]).then_some(newest)
}

/// The newest version of the sector that is a cut, if cuts are settled.
fn newest_if(settles: bool, versions: &[Version], sector: usize) -> Option<usize> {
    let cut = |version: &Version| version.cut && version.sectors >> sector & 1 == 1;
    if settles { versions.iter().rposition(cut) } else { None }
}
