//! Bytes of a file in pages that copies share until one of them is written.

use std::sync::Arc;

/// Sector and page size in bytes. A sector reaches the medium as a whole or not at all; a page is what copies of a file share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) sector: usize,
    pub(super) page: usize,
}

/// The least page. A page has at most 64 sectors, so that a word has a bit for each.
const LEAST_PAGE: usize = 4_096;

/// Sector sizes that can be simulated: powers of two.
pub(super) const SECTOR_SIZES: std::ops::RangeInclusive<usize> = LEAST_PAGE / 64..=65_536;

impl Geometry {
    /// # Panics
    /// If the size is none of those that can be simulated.
    pub(super) fn new(sector: usize) -> Self {
        assert!(
            sector.is_power_of_two() && SECTOR_SIZES.contains(&sector),
            "interleaf: a sector has {sector} bytes; expected a power of two from {} to {}",
            SECTOR_SIZES.start(),
            SECTOR_SIZES.end()
        );
        Self { sector, page: sector.max(LEAST_PAGE) }
    }

    pub(super) fn sectors_per_page(self) -> usize {
        self.page / self.sector
    }

    /// The sectors of `page` that hold bytes of the range, as bits.
    pub(super) fn sectors(self, page: usize, range: std::ops::Range<u64>) -> u64 {
        let start = page as u64 * self.page as u64;
        let from = (range.start.max(start) - start) as usize / self.sector;
        let until = (range.end.min(start + self.page as u64) - start) as usize;
        let below = |n: usize| if n == 0 { 0 } else { u64::MAX >> (64 - n) };
        below(until.div_ceil(self.sector)) & !below(from)
    }
}

/// What a file holds. Bytes beyond its length are zero; a page that is absent is all zero.
#[derive(Clone, Debug)]
pub(super) struct Content {
    page: usize,
    len: u64,
    pages: Vec<Option<Arc<[u8]>>>,
}

impl Content {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self { page: geometry.page, len: 0, pages: Vec::new() }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The pages that the bytes lie in.
    pub(super) fn pages_of(&self, range: std::ops::Range<u64>) -> std::ops::Range<usize> {
        (range.start / self.page as u64) as usize..range.end.div_ceil(self.page as u64) as usize
    }

    pub(super) fn page(&self, index: usize) -> Option<&Arc<[u8]>> {
        self.pages.get(index).and_then(Option::as_ref)
    }

    pub(super) fn page_count(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn set_page(&mut self, index: usize, content: Option<Arc<[u8]>>) {
        if index >= self.pages.len() {
            self.pages.resize(index + 1, None);
        }
        self.pages[index] = content;
    }

    /// The page's bytes, to be written. The other copies keep theirs.
    pub(super) fn page_mut(&mut self, index: usize) -> &mut [u8] {
        if index >= self.pages.len() {
            self.pages.resize(index + 1, None);
        }
        let page = self.page;
        Arc::make_mut(self.pages[index].get_or_insert_with(|| vec![0; page].into()))
    }

    /// Fills `out` from `offset` on. Bytes beyond the length are zero.
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) {
        let mut done = 0;
        while done < out.len() {
            let at = offset + done as u64;
            let (index, within) = self.place(at);
            let n = (self.page - within).min(out.len() - done);
            match self.page(index) {
                Some(page) => out[done..done + n].copy_from_slice(&page[within..within + n]),
                None => out[done..done + n].fill(0),
            }
            done += n;
        }
    }

    /// Writes the bytes; the file grows if they reach beyond its end.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        let mut done = 0;
        while done < data.len() {
            let (index, within) = self.place(offset + done as u64);
            let n = (self.page - within).min(data.len() - done);
            let bytes = &data[done..done + n];
            if n == self.page {
                self.set_page(index, Some(bytes.into()));
            } else {
                self.page_mut(index)[within..within + n].copy_from_slice(bytes);
            }
            done += n;
        }
        if !data.is_empty() {
            self.len = self.len.max(offset + data.len() as u64);
        }
    }

    /// Sets the length. What is cut off is zero if the file grows again.
    pub(super) fn resize(&mut self, len: u64) {
        let (last, within) = self.place(len);
        if within != 0 && self.page(last).is_some_and(|page| page[within..].iter().any(|&byte| byte != 0)) {
            self.page_mut(last)[within..].fill(0);
        }
        self.pages.truncate(len.div_ceil(self.page as u64) as usize);
        self.len = len;
    }

    fn place(&self, offset: u64) -> (usize, usize) {
        ((offset / self.page as u64) as usize, (offset % self.page as u64) as usize)
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let blank = |page: &[u8]| page.iter().all(|&byte| byte == 0);
        self.len == other.len
            && self.page == other.page
            && (0..self.pages.len().max(other.pages.len())).all(|i| match (self.page(i), other.page(i)) {
                (None, None) => true,
                (Some(page), None) | (None, Some(page)) => blank(page),
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            })
    }
}

impl Eq for Content {}
