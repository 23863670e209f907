//! What a crash leaves of what was not synced.

use std::collections::BTreeMap;

use crate::choice::finalise;

use super::cache::{Cache, Length, Version};
use super::content::Content;

/// What a crash leaves of everything that no sync has made durable. What a sync has made durable is always left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing: the cache was empty when power failed.
    AllLost,
    /// Everything, as after the end of a process whose system goes on.
    AllKept,
    /// A disk that keeps the order: everything up to some write, of which the first or the last sectors are left, and
    /// nothing after it. In half of all seeds it is the last write.
    Torn {
        /// Which write, and where it is torn.
        seed: u64,
    },
    /// A disk that keeps no order: each write is left as a whole or not at all. A sector that is left is as it was after
    /// that write, so it also holds what was written to it before.
    Subset {
        /// Which writes, and how many.
        seed: u64,
    },
    /// A disk that keeps nothing together: each sector is as it was at some moment since the last sync.
    Scattered {
        /// Which moments.
        seed: u64,
    },
}

impl Outcome {
    /// One of the five kinds, each as likely as the others.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        match finalise(seed) % 5 {
            0 => Self::AllLost,
            1 => Self::AllKept,
            2 => Self::Torn { seed },
            3 => Self::Subset { seed },
            _ => Self::Scattered { seed },
        }
    }

    /// One of each kind.
    #[must_use]
    pub fn all(seed: u64) -> [Self; 5] {
        [Self::AllLost, Self::AllKept, Self::Torn { seed }, Self::Subset { seed }, Self::Scattered { seed }]
    }
}

/// An outcome, decided for what is not synced at one moment.
pub(super) enum Fate {
    AllLost,
    AllKept,
    Torn(Tear),
    Subset { seed: u64 },
    Scattered { seed: u64 },
}

/// Where a disk that keeps the order has stopped.
pub(super) struct Tear {
    /// The write that is left in part; everything before it is left.
    op: u64,
    /// Its sectors that are left, counted from the start of the file.
    sectors: std::ops::Range<u64>,
    /// Whether the length that it has given the file is left.
    length: bool,
}

impl Fate {
    pub(super) fn of(outcome: Outcome, files: &[Cache]) -> Self {
        match outcome {
            Outcome::AllLost => Self::AllLost,
            Outcome::AllKept => Self::AllKept,
            Outcome::Torn { seed } => Tear::of(seed, files).map_or(Self::AllKept, Self::Torn),
            Outcome::Subset { seed } => Self::Subset { seed },
            Outcome::Scattered { seed } => Self::Scattered { seed },
        }
    }

    /// Whether the operation's version of a sector of the file is left, if no later one is.
    fn keeps(&self, file: usize, op: u64, sector: u64) -> bool {
        match self {
            Self::AllLost => false,
            Self::AllKept => true,
            Self::Torn(tear) => op < tear.op || (op == tear.op && tear.sectors.contains(&sector)),
            &Self::Subset { seed } => likely(seed, mix(seed, &[op])),
            &Self::Scattered { seed } => likely(seed, mix(seed, &[op, file as u64, sector])),
        }
    }

    /// How many of the changes of the file's length are left: the first ones.
    fn lengths(&self, file: usize, lengths: &[Length]) -> usize {
        match self {
            Self::AllLost => 0,
            Self::AllKept => lengths.len(),
            Self::Torn(tear) => lengths.iter().filter(|l| l.op < tear.op || (l.op == tear.op && tear.length)).count(),
            &(Self::Subset { seed } | Self::Scattered { seed }) => {
                (mix(seed, &[file as u64]) % (lengths.len() as u64 + 1)) as usize
            }
        }
    }

    /// What is left of a file, and how many of its sectors (and whether its length) are not as they were seen last.
    pub(super) fn leaves(&self, file: usize, cache: &Cache) -> (Content, u64) {
        if matches!(self, Self::AllKept) {
            return (cache.seen().clone(), 0);
        }
        let kept = self.lengths(file, &cache.lengths);
        let (len, kept_op) =
            cache.lengths[..kept].last().map_or((cache.durable().len(), 0), |length| (length.len, length.op));
        let mut content = cache.durable().clone();
        let mut lost = u64::from(kept < cache.lengths.len());
        for (&page, versions) in &cache.versions {
            lost += self.leave_page((file, page), versions, kept_op, cache, &mut content);
        }
        content.resize(len);
        (content, lost)
    }

    /// As [`Self::leaves`], for one page.
    fn leave_page(
        &self,
        (file, page): (usize, usize),
        versions: &[Version],
        kept_op: u64,
        cache: &Cache,
        content: &mut Content,
    ) -> u64 {
        let geometry = cache.geometry();
        let (mut lost, mut left) = (0, Vec::with_capacity(geometry.sectors_per_page()));
        for within in 0..geometry.sectors_per_page() {
            let sector = (page * geometry.sectors_per_page() + within) as u64;
            let of = |version: &&Version| version.sectors >> within & 1 == 1;
            // Data of a file that was cut off has its place only if the cut is left.
            let reachable = versions.iter().filter(of).take_while(|version| !version.cut || version.op <= kept_op);
            let reachable: Vec<&Version> = reachable.collect();
            let version = reachable.iter().rev().find(|v| v.cut || self.keeps(file, v.op, sector)).copied();
            let latest = versions.iter().rfind(of);
            lost += u64::from(version.map(|v| v.op) != latest.map(|v| v.op));
            left.push(version);
        }
        let first = left.first().copied().flatten();
        if let Some(version) = first
            && left.iter().all(|other| other.is_some_and(|other| other.op == version.op))
        {
            content.set_page(page, version.page.clone());
            return lost;
        }
        for (within, version) in left.into_iter().enumerate() {
            let bytes = within * geometry.sector..(within + 1) * geometry.sector;
            match version.map(|version| &version.page) {
                None => {}
                Some(Some(page_then)) => {
                    content.page_mut(page)[bytes.clone()].copy_from_slice(&page_then[bytes]);
                }
                Some(None) if content.page(page).is_some() => content.page_mut(page)[bytes].fill(0),
                Some(None) => {}
            }
        }
        lost
    }
}

impl Tear {
    /// `None` if nothing is unsynced.
    fn of(seed: u64, files: &[Cache]) -> Option<Self> {
        let mut writes = BTreeMap::<u64, (u64, u64)>::new();
        let mut last = 0;
        for cache in files {
            last = cache.lengths.last().map_or(last, |length| last.max(length.op));
            let per_page = cache.geometry().sectors_per_page() as u64;
            for (&page, versions) in &cache.versions {
                for version in versions {
                    last = last.max(version.op);
                    if !version.cut {
                        let start = page as u64 * per_page;
                        let first = start + u64::from(version.sectors.trailing_zeros());
                        let end = start + 64 - u64::from(version.sectors.leading_zeros());
                        let write = writes.entry(version.op).or_insert((first, end));
                        *write = (write.0.min(first), write.1.max(end));
                    }
                }
            }
        }
        if last == 0 {
            return None;
        }
        writes.retain(|_, (first, end)| *end - *first > 1);
        let (choice, at) = (mix(seed, &[1]), mix(seed, &[2]));
        let chosen = if choice & 1 == 1 { writes.len().saturating_sub(1) } else { pick(choice >> 1, writes.len()) };
        let length = at & 1 == 1;
        let Some((&op, &(first, end))) = writes.iter().nth(chosen) else {
            // No write can be torn: the disk stops between two operations.
            return Some(Self { op: pick(choice, last as usize + 1) as u64, sectors: 0..0, length });
        };
        let between = first + 1 + pick(at >> 2, (end - first - 1) as usize) as u64;
        let sectors = if at & 2 == 2 { between..end } else { first..between };
        Some(Self { op, sectors, length })
    }
}

/// A number below `n`, or 0.
fn pick(chance: u64, n: usize) -> usize {
    if n == 0 { 0 } else { (chance % n as u64) as usize }
}

/// A number that depends on all of these and on nothing else.
fn mix(seed: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(finalise(seed), |hash, &part| finalise(hash ^ part))
}

/// True in one, four or seven of eight cases: which of them is the seed's. Else all but one of many would never be left.
fn likely(seed: u64, chance: u64) -> bool {
    chance & 7 < [1, 4, 7][(finalise(!seed) % 3) as usize]
}
