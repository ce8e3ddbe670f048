//! What the slots hold, in place of real bytes: a tag of logical page and version. Every read is
//! checked to return the last version written.
//!
//! The version of a page is the number of the write or trim that made it, counted over the drive.
//! Memory grows with what was written: eight bytes a slot programmed, or four on a large drive (`slots`),
//! and at most sixteen a page written to know its last version.

use firstread_core::{BlockId, Buf, Lpn, Ppa, Spare};
use firstread_firmware::ftl::{Preconditioned, Slot};

use crate::slots::Slots;

/// Logical page and version of a slot's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

/// Bits of a tag that hold the logical page: 64 TB of 4 KiB pages.
const LPN_BITS: u32 = 34;
/// Bits that hold the version, which wraps: a version that is wrong by a multiple of 537 million
/// writes would go unnoticed.
const VERSION_BITS: u32 = 29;
const VERSION: u64 = (1 << VERSION_BITS) - 1;

impl Tag {
    /// No data: zeros.
    pub(crate) const ZERO: Tag = Tag(u64::MAX);

    pub(crate) const fn new(lpn: u64, version: u64) -> Tag {
        Tag((version & VERSION) << LPN_BITS | lpn)
    }
    pub(crate) const fn lpn(self) -> u64 {
        self.0 & ((1 << LPN_BITS) - 1)
    }
    pub(crate) const fn version(self) -> u32 {
        (self.0 >> LPN_BITS) as u32
    }
    /// The spare area that goes with it.
    fn spare(self) -> Option<Spare> {
        (self != Tag::ZERO).then(|| Spare {
            lpn: Lpn(self.lpn()),
            sequence: self.version() as u64,
        })
    }
}

/// Version of what was overwritten before the first write that is counted.
const STALE: u64 = VERSION;

/// What a superblock holds.
#[derive(Debug)]
enum Contents {
    /// Version 0 of so many consecutive logical pages from the first on.
    Filled(u64, u32),
    /// What the preconditioned state tells: version 0 where it is the last.
    Preconditioned,
    /// What was programmed since the erase, in slot order.
    Programmed(Vec<Tag>),
    /// The same, on a large drive.
    Compact(Slots),
}

impl Contents {
    fn erased(is_compact: bool) -> Contents {
        match is_compact {
            true => Contents::Compact(Slots::default()),
            false => Contents::Programmed(Vec::new()),
        }
    }
}

/// Data of all superblocks and buffers.
#[derive(Debug)]
pub(crate) struct Payload {
    blocks: Vec<Contents>,
    /// Whether memory counts for more than time.
    is_compact: bool,
    buffers: Vec<Tag>,
    versions: Versions,
    /// Writes and trims so far.
    written: u64,
    /// Logical pages below this one were filled.
    filled: u64,
    preconditioned: Option<Preconditioned>,
    /// Logical pages of the host; those past it are the map's.
    capacity: u64,
}

/// A read returned something else than the last version written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleRead {
    /// Logical page read.
    pub lpn: u64,
    /// Version it should have returned; none for zeros.
    pub expected_version: Option<u32>,
    /// Logical page and version of what it returned; none for zeros.
    pub returned: Option<(u64, u32)>,
}

/// Last version of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Version {
    /// The write or trim that made it, as far as its bits are kept; 0 is the fill.
    number: u64,
    trimmed: bool,
}

/// Slots that the list of a superblock grows by at least.
const LEAST_GROWTH: usize = 1 << 10;

/// Drives of up to this many pages keep the last version of every page, in memory that is taken
/// when it is first touched.
const SMALL_PAGES: u64 = 1 << 25;
/// Logical pages of a region that is trimmed as a whole.
const REGION_PAGES: u64 = 4096;

/// The last version of each page that was written or trimmed since the fill.
#[derive(Debug)]
enum Versions {
    /// One word a page: twice the version, plus one when it is a trim. 0 for the fill.
    All(Vec<u64>),
    /// Those written.
    Some(Written),
}

/// An open-addressing table of the pages written: page plus one, version, whether it is a trim, in a
/// word. Regions trimmed as a whole are kept apart.
#[derive(Debug)]
struct Written {
    table: Vec<u64>,
    entries: usize,
    /// Number of the last trim of each whole region; 0 for none.
    regions: Vec<u32>,
}

impl Written {
    fn home(&self, lpn: u64) -> usize {
        // Multiplicative hashing (Knuth, TAOCP 6.4): the table's size is a power of two.
        let h = lpn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (h >> (64 - self.table.len().trailing_zeros())) as usize
    }

    /// Where `lpn` is, or would be put.
    fn position(&self, lpn: u64) -> usize {
        let mut i = self.home(lpn);
        while self.table[i] != 0 && self.table[i] >> (VERSION_BITS + 1) != lpn + 1 {
            i = (i + 1) & (self.table.len() - 1);
        }
        i
    }

    fn set(&mut self, lpn: u64, version: Version) {
        let i = self.position(lpn);
        self.entries += (self.table[i] == 0) as usize;
        let low = (version.number & VERSION) << 1 | version.trimmed as u64;
        self.table[i] = (lpn + 1) << (VERSION_BITS + 1) | low;
        if self.entries > self.table.len() / 8 * 7 {
            let old = std::mem::take(&mut self.table);
            self.table = vec![0; 2 * old.len()];
            for word in old.into_iter().filter(|&w| w != 0) {
                let i = self.position((word >> (VERSION_BITS + 1)) - 1);
                self.table[i] = word;
            }
        }
    }

    fn get(&self, lpn: u64) -> Option<Version> {
        let word = self.table[self.position(lpn)];
        let page = (word != 0).then_some(Version {
            number: word >> 1 & VERSION,
            trimmed: word & 1 != 0,
        });
        let region = self.regions[(lpn / REGION_PAGES) as usize] as u64;
        if region == 0 {
            return page;
        }
        let region = Version {
            number: region,
            trimmed: true,
        };
        // Of the two the later one counts.
        page.filter(|p| is_later(p.number, region.number))
            .or(Some(region))
    }
}

/// Whether of two versions, less than 268 million writes apart, `a` is the later one.
const fn is_later(a: u64, b: u64) -> bool {
    let ahead = a.wrapping_sub(b) & VERSION;
    ahead != 0 && ahead <= VERSION / 2
}

impl Versions {
    fn new(capacity: u64) -> Versions {
        if capacity <= SMALL_PAGES {
            return Versions::All(vec![0; capacity as usize]);
        }
        assert!(capacity < 1 << LPN_BITS, "a tag has room for the page");
        Versions::Some(Written {
            table: vec![0; 1 << 12],
            entries: 0,
            regions: vec![0; capacity.div_ceil(REGION_PAGES) as usize],
        })
    }

    #[inline]
    fn get(&self, lpn: u64) -> Option<Version> {
        match self {
            Versions::All(words) => match words[lpn as usize] {
                0 => None,
                word => Some(Version {
                    number: word >> 1,
                    trimmed: word & 1 != 0,
                }),
            },
            Versions::Some(written) => written.get(lpn),
        }
    }

    #[inline]
    fn set(&mut self, lpn: u64, version: Version) {
        match self {
            Versions::All(words) => {
                words[lpn as usize] = version.number << 1 | version.trimmed as u64;
            }
            Versions::Some(written) => written.set(lpn, version),
        }
    }
}

impl Payload {
    /// For a drive of `capacity` logical pages, and `map_pages` more for its map.
    pub(crate) fn new(blocks: u32, buffers: u32, capacity: u64, map_pages: u32) -> Payload {
        let pages = capacity + map_pages as u64;
        let is_compact = (SMALL_PAGES..Slots::MOST_PAGES).contains(&pages);
        Payload {
            blocks: (0..blocks).map(|_| Contents::erased(is_compact)).collect(),
            is_compact,
            buffers: vec![Tag::ZERO; buffers as usize],
            versions: Versions::new(pages),
            written: 0,
            filled: 0,
            preconditioned: None,
            capacity,
        }
    }

    /// Superblocks hold what `state` tells.
    pub(crate) fn precondition(&mut self, state: Preconditioned) {
        let blocks = &mut self.blocks[..state.blocks() as usize];
        blocks.fill_with(|| Contents::Preconditioned);
        self.filled = state.pages();
        self.preconditioned = Some(state);
    }

    /// `block` was filled with version 0 of `pages` logical pages from `first` on.
    pub(crate) fn fill(&mut self, block: BlockId, first: u64, pages: u32) {
        self.blocks[block.0 as usize] = Contents::Filled(first, pages);
        self.filled = first + pages as u64;
    }

    /// `block` was filled with version 0 of `pages` pages of the map from `first` on.
    pub(crate) fn fill_map(&mut self, block: BlockId, first: u64, pages: u32) {
        self.blocks[block.0 as usize] = Contents::Filled(self.capacity + first, pages);
    }

    /// `block` was erased.
    pub(crate) fn erase(&mut self, block: BlockId) {
        let contents = &mut self.blocks[block.0 as usize];
        match contents {
            // The next writes need the memory again.
            Contents::Programmed(slots) => slots.clear(),
            Contents::Compact(slots) => slots.clear(),
            Contents::Filled(..) | Contents::Preconditioned => {
                *contents = Contents::erased(self.is_compact);
            }
        }
    }

    /// Writes and trims so far: what a read submitted now may miss came later.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The host writes `lpn` into `buf`.
    #[inline]
    pub(crate) fn data_in(&mut self, lpn: u64, buf: Buf) {
        self.written += 1;
        let number = self.written;
        let trimmed = false;
        self.versions.set(lpn, Version { number, trimmed });
        self.buffers[buf.0 as usize] = Tag::new(lpn, number);
    }

    /// Pages `first` to `end` were trimmed: they read as zeros from now on.
    pub(crate) fn trim(&mut self, first: u64, end: u64) {
        self.written += 1;
        let number = self.written;
        let trimmed = true;
        let mut lpn = first;
        while lpn < end {
            let region = lpn / REGION_PAGES * REGION_PAGES;
            if let Versions::Some(written) = &mut self.versions
                && lpn == region
                && end - lpn >= REGION_PAGES
                && number & VERSION != 0
            {
                written.regions[(lpn / REGION_PAGES) as usize] = (number & VERSION) as u32;
                lpn += REGION_PAGES;
            } else {
                self.versions.set(lpn, Version { number, trimmed });
                lpn += 1;
            }
        }
    }

    pub(crate) fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }

    /// The spare area of the slot in `buf`.
    #[inline]
    pub(crate) fn buffered_spare(&self, buf: Buf) -> Option<Spare> {
        self.buffers[buf.0 as usize].spare()
    }

    /// The spare area of slot `ppa`.
    #[inline]
    pub(crate) fn stored_spare(&self, ppa: Ppa) -> Option<Spare> {
        self.stored(ppa).spare()
    }

    /// Whether `block` holds what it was filled with, or what the preconditioned state tells.
    pub(crate) fn is_filled(&self, block: BlockId) -> bool {
        let contents = &self.blocks[block.0 as usize];
        matches!(contents, Contents::Filled(..) | Contents::Preconditioned)
    }

    /// Whether the versions of slots are their whole sequence numbers: none has wrapped yet.
    pub(crate) fn has_whole_sequence(&self) -> bool {
        self.written <= VERSION
    }

    #[inline]
    fn stored(&self, ppa: Ppa) -> Tag {
        match &self.blocks[ppa.block().0 as usize] {
            Contents::Filled(first, pages) if ppa.slot() < *pages => {
                Tag::new(first + ppa.slot() as u64, 0)
            }
            Contents::Filled(..) => Tag::ZERO,
            Contents::Preconditioned => match self.preconditioned.as_ref().map(|p| p.slot(ppa)) {
                Some(Slot::Valid(Lpn(lpn))) => Tag::new(lpn, 0),
                Some(Slot::Stale(Lpn(lpn))) => Tag::new(lpn, STALE),
                None => Tag::ZERO,
            },
            Contents::Programmed(slots) => {
                slots.get(ppa.slot() as usize).copied().unwrap_or(Tag::ZERO)
            }
            Contents::Compact(slots) => match slots.get(ppa.slot() as usize) {
                Some((lpn, version)) => Tag::new(lpn, u64::from(version)),
                None => Tag::ZERO,
            },
        }
    }

    /// Slot `ppa` is programmed from `buf`. Slots of a die come in rising order, dies in any.
    pub(crate) fn program(&mut self, ppa: Ppa, buf: Buf) {
        let contents = &mut self.blocks[ppa.block().0 as usize];
        let slot = ppa.slot() as usize;
        let slots = match contents {
            Contents::Programmed(slots) => slots,
            Contents::Compact(slots) => {
                let tag = self.buffers[buf.0 as usize];
                let data = (tag != Tag::ZERO).then(|| (tag.lpn(), tag.version()));
                return slots.set(slot, data);
            }
            Contents::Filled(..) | Contents::Preconditioned => {
                unreachable!("a filled superblock is erased before it is programmed")
            }
        };
        if slots.len() <= slot {
            if slots.capacity() <= slot {
                // Not twice as much, as a vector would: it is most of what a long run holds.
                slots.reserve_exact((slots.len() / 8).max(LEAST_GROWTH) + slot - slots.len());
            }
            slots.resize(slot + 1, Tag::ZERO);
        }
        slots[slot] = self.buffers[buf.0 as usize];
    }

    /// Slot `ppa` is read into `buf`.
    #[inline]
    pub(crate) fn read(&mut self, ppa: Ppa, buf: Buf) {
        self.buffers[buf.0 as usize] = self.stored(ppa);
    }

    /// Checks that a read of `lpn`, submitted when there were `seen` writes and trims, may return
    /// what is in `buf`.
    #[inline]
    pub(crate) fn check(&self, lpn: u64, seen: u64, buf: Buf) -> Result<(), StaleRead> {
        self.check_tag(lpn, seen, self.buffers[buf.0 as usize])
    }

    /// Checks that a read of `lpn`, submitted when there were `seen` writes and trims, may return
    /// zeros.
    pub(crate) fn check_zeros(&self, lpn: u64, seen: u64) -> Result<(), StaleRead> {
        self.check_tag(lpn, seen, Tag::ZERO)
    }

    #[inline]
    fn check_tag(&self, lpn: u64, seen: u64, tag: Tag) -> Result<(), StaleRead> {
        let written = match self.written {
            0 => None,
            _ => self.versions.get(lpn),
        };
        let last = written.unwrap_or(Version {
            number: 0,
            trimmed: (self.filled..self.capacity).contains(&lpn),
        });
        let expected = (!last.trimmed).then_some((last.number & VERSION) as u32);
        let returned = (tag != Tag::ZERO).then(|| (tag.lpn(), tag.version()));
        // A write or trim that came after the read may or may not be seen by it.
        let overtaken = written.is_some() && is_later(last.number, seen);
        let fine = match returned {
            Some((there, version)) => there == lpn && (expected == Some(version) || overtaken),
            None => expected.is_none() || overtaken,
        };
        if fine {
            Ok(())
        } else {
            Err(StaleRead {
                lpn,
                expected_version: expected,
                returned,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_old_versions_are_caught() {
        for capacity in [1000, SMALL_PAGES + 1] {
            let mut payload = Payload::new(2, 4, capacity, 0);
            payload.fill(BlockId(0), 0, 8);
            payload.read(Ppa::new(BlockId(0), 3), Buf(0));
            assert_eq!(payload.check(3, 0, Buf(0)), Ok(()));
            assert!(payload.check(4, 0, Buf(0)).is_err(), "another page's data");
            payload.data_in(3, Buf(1));
            assert_eq!(
                payload.check(3, 0, Buf(0)),
                Ok(()),
                "the write came after the read"
            );
            assert!(payload.check(3, 1, Buf(0)).is_err(), "the old version");
            assert_eq!(payload.check(3, 1, Buf(1)), Ok(()));
            payload.trim(3, 4);
            assert!(payload.check(3, 2, Buf(1)).is_err(), "trimmed");
            assert_eq!(payload.check_zeros(3, 2), Ok(()));
            assert!(payload.check_zeros(2, 2).is_err(), "filled, never trimmed");
            assert_eq!(payload.check_zeros(100, 2), Ok(()));
        }
    }

    #[test]
    fn model_whole_regions_are_trimmed_and_written_again() {
        let mut payload = Payload::new(2, 4, SMALL_PAGES + 1, 0);
        payload.data_in(5000, Buf(0));
        payload.trim(4000, 3 * REGION_PAGES);
        let seen = payload.written();
        assert!(payload.check(5000, seen, Buf(0)).is_err(), "trimmed");
        for lpn in [4000, 5000, 12_287] {
            assert_eq!(payload.check_zeros(lpn, seen), Ok(()));
        }
        payload.data_in(5000, Buf(1));
        let seen = payload.written();
        assert!(payload.check_zeros(5000, seen).is_err(), "written again");
        assert_eq!(payload.check(5000, seen, Buf(1)), Ok(()));
    }

    #[test]
    fn model_table_grows() {
        let mut payload = Payload::new(1, 1, SMALL_PAGES + 1, 0);
        let pages = || (0..20_000u64).map(|i| i * 1_677);
        for lpn in pages() {
            payload.data_in(lpn, Buf(0));
        }
        for (i, lpn) in pages().enumerate() {
            payload.buffers[0] = Tag::new(lpn, i as u64 + 1);
            assert_eq!(payload.check(lpn, payload.written(), Buf(0)), Ok(()));
        }
    }
}
