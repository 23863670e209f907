//! What a disk holds at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::content::{Content, Geometry};

/// The files of a disk at one moment: as a crash leaves them, or as they are seen. Copies share their pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub(super) geometry: Geometry,
    pub(super) files: BTreeMap<Arc<str>, Content>,
    pub(super) lost: u64,
}

impl Image {
    /// An image of an empty disk.
    ///
    /// # Panics
    /// If no sector can have so many bytes: see [`Options::sector_size`](super::Options::sector_size).
    #[must_use]
    pub fn empty(sector_size: usize) -> Self {
        Self { geometry: Geometry::new(sector_size), files: BTreeMap::new(), lost: 0 }
    }

    /// The files' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name)
    }

    /// The bytes of a file; `None` if there is no such file.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let content = self.files.get(name)?;
        let mut bytes = vec![0; usize::try_from(content.len()).ok()?];
        content.read(0, &mut bytes);
        Some(bytes)
    }

    /// Overwrites bytes of a file, which is made or grows if it has to: for damage, such as flipped bits, and for disks
    /// that do not begin empty.
    pub fn overwrite(&mut self, name: &str, offset: u64, bytes: &[u8]) {
        let geometry = self.geometry;
        self.files.entry(name.into()).or_insert_with(|| Content::new(geometry)).write(offset, bytes);
    }

    /// Sets the length of a file, which is made if it has to.
    pub fn set_len(&mut self, name: &str, len: u64) {
        let geometry = self.geometry;
        self.files.entry(name.into()).or_insert_with(|| Content::new(geometry)).resize(len);
    }

    /// How much the crash took away: sectors (and lengths of files) that are not as they were seen last. 0 says that the
    /// crash changed nothing.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A digest of names, lengths and bytes (FNV-1a), the same on every platform.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        let mut add = |bytes: &[u8]| {
            for &byte in bytes {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
            }
        };
        for name in self.files.keys() {
            add(name.as_bytes());
            let bytes = self.read(name).unwrap_or_default();
            add(&(bytes.len() as u64).to_le_bytes());
            add(&bytes);
        }
        hash
    }
}
