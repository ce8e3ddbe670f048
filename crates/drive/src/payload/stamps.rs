//! Contents of all slots, without real bytes: a stamp of logical page and version. Every read is checked to
//! return the last version written.
//!
//! The version of a page is the number of the write or trim that made it, counted over the drive up to
//! [`MOST_VERSIONS`]. Memory grows with the data written. On a drive of more than 2^24 pages a programmed
//! slot takes slightly more than four bytes (five from 2^32 pages on), or two if its data were moved out of
//! the preconditioned state (`slots`). On a smaller drive it takes eight, in which the page uses as few bits
//! as possible. The last version of a written page takes slightly more than six bytes on a drive of more than
//! 2^25 pages, and eight on a smaller one.

use firstread_core::{Buf, Lpn, Ppa, Spare, SuperblockId};

use super::Stamp;
use super::slots::{Held, Slots};
use super::versions::{MOST_PAGES, Version, Versions, is_later, is_same};
use crate::initial_contents::{Preconditioned, Slot};

/// Number of writes and trims that versions can count: 4.5 PB in slots of 4 KiB.
pub(crate) const MOST_VERSIONS: u64 = (1 << VERSION_BITS) - 2;
const VERSION_BITS: u32 = 40;
/// Maximum number of pages with which a programmed slot takes eight bytes: page and version fit into a word.
const MOST_IN_WORDS: u64 = 1 << (64 - VERSION_BITS);

impl Stamp {
    /// No data: zeros.
    const ZERO: Stamp = Stamp::new(u64::MAX, 0);

    const fn new(page: u64, version: u64) -> Stamp {
        Stamp { page, version }
    }

    /// The spare area of the slot.
    fn spare(self) -> Option<Spare> {
        (self != Stamp::ZERO).then_some(Spare {
            lpn: Lpn(self.page),
            sequence: self.version,
        })
    }

    /// The stamp as a word, on a drive of at most [`MOST_IN_WORDS`] pages.
    fn word(self) -> u64 {
        match self == Stamp::ZERO {
            true => u64::MAX,
            false => self.page << VERSION_BITS | self.version,
        }
    }

    fn of_word(word: u64) -> Stamp {
        match word {
            u64::MAX => Stamp::ZERO,
            _ => Stamp::new(word >> VERSION_BITS, word & ((1 << VERSION_BITS) - 1)),
        }
    }
}

/// Version of data that were overwritten before the first counted write.
const STALE: u64 = MOST_VERSIONS + 1;

/// Contents of a superblock.
#[derive(Clone, Debug)]
enum Contents {
    /// Version 0 of consecutive logical pages: the first page, and their number.
    Filled(u64, u32),
    /// As the preconditioned state says: version 0 if it is the last version.
    Preconditioned,
    /// Stamps programmed since the erase, as words in slot order.
    Programmed(Vec<u64>),
    /// The same, on a drive of more than [`MOST_IN_WORDS`] pages.
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

/// Contents of all superblocks and buffers.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    blocks: Vec<Contents>,
    /// Whether memory matters more than speed.
    is_compact: bool,
    buffers: Vec<Stamp>,
    /// Original slot of each buffer's data in the preconditioned state; used on large drives.
    origins: Vec<Option<Ppa>>,
    versions: Versions,
    /// Number of writes and trims so far.
    written: u64,
    /// Logical pages below this one were filled.
    filled: u64,
    preconditioned: Option<Preconditioned>,
    /// Logical pages of the host; higher ones are map pages.
    capacity: u64,
}

/// A read that did not return the last version written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleRead {
    /// The logical page that was read.
    pub lpn: u64,
    /// Version it should have returned; none for zeros.
    pub expected_version: Option<u64>,
    /// Logical page and version of the data it returned; none for zeros.
    pub returned: Option<(u64, u64)>,
}

/// Minimum number of slots by which the list of a superblock grows.
const LEAST_GROWTH: usize = 1 << 10;

impl Stamps {
    /// For a drive of `capacity` logical pages, and `map_pages` map pages.
    pub(crate) fn new(blocks: u32, buffers: u32, capacity: u64, map_pages: u32) -> Stamps {
        let pages = capacity + map_pages as u64;
        let is_compact = pages > MOST_IN_WORDS;
        const { assert!(MOST_PAGES <= Slots::MOST_PAGES) };
        Stamps {
            blocks: (0..blocks).map(|_| Contents::erased(is_compact)).collect(),
            is_compact,
            buffers: vec![Stamp::ZERO; buffers as usize],
            origins: Vec::new(),
            versions: Versions::new(pages),
            written: 0,
            filled: 0,
            preconditioned: None,
            capacity,
        }
    }

    /// Superblocks hold the data given by `state`.
    pub(crate) fn precondition(&mut self, state: Preconditioned) {
        let blocks = &mut self.blocks[..state.blocks() as usize];
        blocks.fill_with(|| Contents::Preconditioned);
        self.filled = state.pages();
        self.preconditioned = Some(state);
        if self.is_compact {
            self.origins = vec![None; self.buffers.len()];
        }
    }

    /// `block` was filled with version 0 of `pages` logical pages from `first` on.
    pub(crate) fn fill(&mut self, block: SuperblockId, first: u64, pages: u32) {
        self.blocks[block.0 as usize] = Contents::Filled(first, pages);
        self.filled = first + pages as u64;
    }

    /// `block` was filled with version 0 of `pages` map pages from `first` on.
    pub(crate) fn fill_map(&mut self, block: SuperblockId, first: u64, pages: u32) {
        self.blocks[block.0 as usize] = Contents::Filled(self.capacity + first, pages);
    }

    pub(crate) fn erase(&mut self, block: SuperblockId) {
        let contents = &mut self.blocks[block.0 as usize];
        match contents {
            // The next writes will need the memory again.
            Contents::Programmed(slots) => slots.clear(),
            Contents::Compact(slots) => slots.clear(),
            Contents::Filled(..) | Contents::Preconditioned => {
                *contents = Contents::erased(self.is_compact);
            }
        }
    }

    /// Number of writes and trims so far. A read submitted now may miss later ones.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The host writes `lpn` into `buf`. Returns the stamp.
    #[inline]
    pub(crate) fn data_in(&mut self, lpn: u64, buf: Buf) -> Stamp {
        self.written += 1;
        let number = self.written;
        let trimmed = false;
        self.versions.set(lpn, Version { number, trimmed });
        let stamp = Stamp::new(lpn, number);
        self.buffers[buf.0 as usize] = stamp;
        if let Some(origin) = self.origins.get_mut(buf.0 as usize) {
            *origin = None;
        }
        stamp
    }

    /// The stamp in `buf`; none for zeros.
    #[inline]
    pub(crate) fn buffered(&self, buf: Buf) -> Option<Stamp> {
        let stamp = self.buffers[buf.0 as usize];
        (stamp != Stamp::ZERO).then_some(stamp)
    }

    /// Pages `first` to `end` were trimmed: they read as zeros from now on.
    pub(crate) fn trim(&mut self, first: u64, end: u64) {
        self.written += 1;
        self.versions.trim(first, end, self.written);
    }

    /// A power cut has lost the last version of `lpn`, and `left` is what it is now.
    pub(crate) fn go_back(&mut self, lpn: u64, left: Option<Spare>) {
        let version = match left {
            Some(spare) => Version {
                number: spare.sequence,
                trimmed: false,
            },
            None => Version {
                number: self.written,
                trimmed: true,
            },
        };
        self.versions.set(lpn, version);
    }

    /// The slot in `buf` no longer holds data.
    pub(crate) fn pad(&mut self, buf: Buf) {
        self.buffers[buf.0 as usize] = Stamp::ZERO;
        if let Some(origin) = self.origins.get_mut(buf.0 as usize) {
            *origin = None;
        }
    }

    pub(crate) fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
        if let Some(&origin) = self.origins.get(from.0 as usize) {
            self.origins[to.0 as usize] = origin;
        }
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

    /// Whether versions are complete sequence numbers.
    pub(crate) fn has_whole_sequence(&self) -> bool {
        self.written <= MOST_VERSIONS
    }

    /// Advances the count as if `writes` writes had been made.
    #[cfg(test)]
    pub(crate) fn pass(&mut self, writes: u64) {
        self.written += writes;
    }

    #[inline]
    fn stored(&self, ppa: Ppa) -> Stamp {
        match &self.blocks[ppa.block().0 as usize] {
            Contents::Filled(first, pages) if ppa.slot() < *pages => {
                Stamp::new(first + ppa.slot() as u64, 0)
            }
            Contents::Filled(..) => Stamp::ZERO,
            Contents::Preconditioned => self.preconditioned_at(ppa),
            Contents::Programmed(slots) => {
                let word = slots.get(ppa.slot() as usize);
                word.map_or(Stamp::ZERO, |&word| Stamp::of_word(word))
            }
            Contents::Compact(slots) => match slots.get(ppa.slot() as usize) {
                Some(Held::Page(lpn, version)) => Stamp::new(lpn, version),
                Some(Held::From(origin)) => self.preconditioned_at(origin),
                None => Stamp::ZERO,
            },
        }
    }

    /// Stamp at `ppa` in the preconditioned state.
    fn preconditioned_at(&self, ppa: Ppa) -> Stamp {
        match self.preconditioned.as_ref().map(|p| p.slot(ppa)) {
            Some(Slot::Valid(Lpn(lpn))) => Stamp::new(lpn, 0),
            Some(Slot::Stale(Lpn(lpn))) => Stamp::new(lpn, STALE),
            None => Stamp::ZERO,
        }
    }

    /// Original slot in the preconditioned state of the data at `ppa`.
    fn origin(&self, ppa: Ppa) -> Option<Ppa> {
        match &self.blocks[ppa.block().0 as usize] {
            Contents::Preconditioned => Some(ppa),
            Contents::Compact(slots) => match slots.get(ppa.slot() as usize) {
                Some(Held::From(origin)) => Some(origin),
                _ => None,
            },
            _ => None,
        }
    }

    /// Slot `ppa` is programmed from `buf`. The slots of a die come in ascending order, dies in any order.
    pub(crate) fn program(&mut self, ppa: Ppa, buf: Buf) {
        let contents = &mut self.blocks[ppa.block().0 as usize];
        let slot = ppa.slot() as usize;
        let slots = match contents {
            Contents::Programmed(slots) => slots,
            Contents::Compact(slots) => {
                let stamp = self.buffers[buf.0 as usize];
                let held = match self.origins.get(buf.0 as usize) {
                    Some(&Some(origin)) => Some(Held::From(origin)),
                    _ => (stamp != Stamp::ZERO).then_some(Held::Page(stamp.page, stamp.version)),
                };
                let state = self.preconditioned.as_ref();
                let page_at = |origin| match state.map(|p| p.slot(origin)) {
                    Some(Slot::Valid(Lpn(lpn))) => (lpn, 0),
                    Some(Slot::Stale(Lpn(lpn))) => (lpn, STALE),
                    None => unreachable!("origins are of the preconditioned state"),
                };
                return slots.set(slot, held, page_at);
            }
            Contents::Filled(..) | Contents::Preconditioned => {
                unreachable!("a filled superblock is erased before it is programmed")
            }
        };
        if slots.len() <= slot {
            if slots.capacity() <= slot {
                // Grows by less than a vector would, because this is most of the memory of a long run.
                slots.reserve_exact((slots.len() / 8).max(LEAST_GROWTH) + slot - slots.len());
            }
            slots.resize(slot + 1, Stamp::ZERO.word());
        }
        slots[slot] = self.buffers[buf.0 as usize].word();
    }

    /// Slot `ppa` is read into `buf`.
    #[inline]
    pub(crate) fn read(&mut self, ppa: Ppa, buf: Buf) {
        self.buffers[buf.0 as usize] = self.stored(ppa);
        if !self.origins.is_empty() {
            self.note_origin(ppa, buf);
        }
    }

    #[inline(never)]
    fn note_origin(&mut self, ppa: Ppa, buf: Buf) {
        self.origins[buf.0 as usize] = self.origin(ppa);
    }

    /// Checks that a read of `lpn`, submitted after `seen` writes and trims, may return the contents of
    /// `buf`.
    #[inline]
    pub(crate) fn check(&self, lpn: u64, seen: u64, buf: Buf) -> Result<(), StaleRead> {
        self.check_stamp(lpn, seen, self.buffers[buf.0 as usize])
    }

    /// Checks that a read of `lpn`, submitted after `seen` writes and trims, may return zeros.
    pub(crate) fn check_zeros(&self, lpn: u64, seen: u64) -> Result<(), StaleRead> {
        self.check_stamp(lpn, seen, Stamp::ZERO)
    }

    #[inline]
    fn check_stamp(&self, lpn: u64, seen: u64, stamp: Stamp) -> Result<(), StaleRead> {
        let written = match self.written {
            0 => None,
            _ => self.versions.get(lpn),
        };
        let last = written.unwrap_or(Version {
            number: 0,
            trimmed: (self.filled..self.capacity).contains(&lpn),
        });
        let expected = (!last.trimmed).then_some(last.number);
        let returned = (stamp != Stamp::ZERO).then_some((stamp.page, stamp.version));
        // The read may or may not see a write or trim that came after it.
        let overtaken = written.is_some() && is_later(last.number, seen);
        let fine = match returned {
            Some((there, version)) => {
                let is_last = expected.is_some_and(|last| is_same(last, version));
                there == lpn && (is_last || overtaken)
            }
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
    use firstread_firmware::ftl::{REGION_PAGES, SMALL_PAGES};

    #[test]
    fn model_old_versions_are_caught() {
        for capacity in [1000, SMALL_PAGES + 1] {
            let mut stamps = Stamps::new(2, 4, capacity, 0);
            stamps.fill(SuperblockId(0), 0, 8);
            stamps.read(Ppa::new(SuperblockId(0), 3), Buf(0));
            assert_eq!(stamps.check(3, 0, Buf(0)), Ok(()));
            assert!(stamps.check(4, 0, Buf(0)).is_err(), "another page's data");
            stamps.data_in(3, Buf(1));
            assert_eq!(
                stamps.check(3, 0, Buf(0)),
                Ok(()),
                "the write came after the read"
            );
            assert!(stamps.check(3, 1, Buf(0)).is_err(), "the old version");
            assert_eq!(stamps.check(3, 1, Buf(1)), Ok(()));
            stamps.trim(3, 4);
            assert!(stamps.check(3, 2, Buf(1)).is_err(), "trimmed");
            assert_eq!(stamps.check_zeros(3, 2), Ok(()));
            assert!(stamps.check_zeros(2, 2).is_err(), "filled, never trimmed");
            assert_eq!(stamps.check_zeros(100, 2), Ok(()));
        }
    }

    #[test]
    fn model_whole_regions_are_trimmed_and_written_again() {
        let mut stamps = Stamps::new(2, 4, SMALL_PAGES + 1, 0);
        stamps.data_in(5000, Buf(0));
        stamps.trim(4000, 3 * REGION_PAGES);
        let seen = stamps.written();
        assert!(stamps.check(5000, seen, Buf(0)).is_err(), "trimmed");
        for lpn in [4000, 5000, 12_287] {
            assert_eq!(stamps.check_zeros(lpn, seen), Ok(()));
        }
        stamps.data_in(5000, Buf(1));
        let seen = stamps.written();
        assert!(stamps.check_zeros(5000, seen).is_err(), "written again");
        assert_eq!(stamps.check(5000, seen, Buf(1)), Ok(()));
    }

    /// Versions from before and after any number of writes can be told apart and ascend, as recovery
    /// requires. The test passes two limits: 2^29 was once the largest number, and on a large drive 34 bits
    /// are kept per page.
    #[test]
    fn model_versions_rise_over_the_life_of_a_drive() {
        for capacity in [1000, MOST_IN_WORDS, SMALL_PAGES + 1] {
            let mut stamps = Stamps::new(2, 9, capacity, 0);
            let block = SuperblockId(0);
            let last = capacity - 1;
            for (slot, passed) in (0..).zip([0, 1 << 29, 1 << 32, (1 << 34) + 5, (1 << 39) + 11]) {
                stamps.pass(passed - stamps.written().min(passed));
                stamps.data_in(last, Buf(slot));
                stamps.program(Ppa::new(block, slot), Buf(slot));
                let sequence = |slot| stamps.stored_spare(Ppa::new(block, slot)).unwrap().sequence;
                assert!((1..=slot).all(|slot| sequence(slot) > sequence(slot - 1)));
                assert_eq!(sequence(slot), stamps.written());
                for old in 0..slot {
                    stamps.read(Ppa::new(block, old), Buf(8));
                    let checked = stamps.check(last, stamps.written(), Buf(8));
                    assert!(
                        checked.is_err(),
                        "{capacity} pages, version {old} at {passed}"
                    );
                }
                stamps.read(Ppa::new(block, slot), Buf(8));
                assert_eq!(stamps.check(last, stamps.written(), Buf(8)), Ok(()));
                assert!(stamps.has_whole_sequence());
            }
            stamps.pass(1 << 39);
            assert!(!stamps.has_whole_sequence(), "then power cuts are refused");
        }
    }

    /// A region trimmed as a whole holds none of its earlier data, however old, and holds data written
    /// afterwards.
    #[test]
    fn model_a_trimmed_region_stays_trimmed() {
        let mut stamps = Stamps::new(1, 2, SMALL_PAGES + 1, 0);
        stamps.data_in(5000, Buf(0));
        stamps.pass(1 << 33);
        stamps.trim(4096, 2 * REGION_PAGES);
        for _ in 0..5 {
            assert_eq!(stamps.check_zeros(5000, stamps.written()), Ok(()));
            assert!(stamps.check(5000, stamps.written(), Buf(0)).is_err());
            stamps.pass(1 << 33);
        }
        stamps.data_in(5000, Buf(1));
        assert_eq!(stamps.check(5000, stamps.written(), Buf(1)), Ok(()));
        assert!(stamps.check_zeros(5000, stamps.written()).is_err());
    }

    #[test]
    fn model_what_is_moved_stays_what_it_was() {
        // Three superblocks in the steady state are emptied into two others, one after another.
        let (slots, valid) = (20_000_000u32, [9_000_000, 12_000_000, 20_000_000]);
        let key = |name| firstread_core::Stream::new(3).named(name);
        let state = Preconditioned::new(slots, 1, &valid, key("pages"), key("places")).unwrap();
        let mut stamps = Stamps::new(6, 8, state.pages(), 0);
        stamps.precondition(state.clone());
        assert!(stamps.is_compact);
        let mut to = 0;
        let mut held = Vec::new();
        for from in
            (0..3u32).flat_map(|block| (0..6_000).map(move |s| Ppa::new(SuperblockId(block), s)))
        {
            let Some(Lpn(lpn)) = state.valid_at(from) else {
                continue;
            };
            let place = Ppa::new(SuperblockId(3), to);
            stamps.read(from, Buf(0));
            stamps.copy(Buf(0), Buf(1));
            // Occasionally the host writes in between, or a slot is skipped.
            match to % 1_000 {
                77 => drop(stamps.data_in(lpn, Buf(1))),
                78 => drop(stamps.data_in(lpn, Buf(2))),
                _ => {}
            }
            stamps.program(place, Buf(1));
            held.push((lpn, to % 1_000 != 78));
            to += 1;
        }
        for again in [3, 4] {
            for (slot, &(lpn, is_last)) in held.iter().enumerate() {
                let place = |block| Ppa::new(SuperblockId(block), slot as u32);
                stamps.read(place(again), Buf(5));
                let checked = stamps.check(lpn, stamps.written(), Buf(5));
                assert_eq!(checked.is_ok(), is_last, "slot {slot}");
                assert_eq!(stamps.stored_spare(place(again)).unwrap().lpn, Lpn(lpn));
                stamps.program(place(again + 1), Buf(5));
            }
        }
        stamps.erase(SuperblockId(3));
        stamps.read(Ppa::new(SuperblockId(3), 0), Buf(5));
        assert!(stamps.check_zeros(held[0].0, stamps.written()).is_err());
        assert_eq!(stamps.stored_spare(Ppa::new(SuperblockId(3), 0)), None);
    }

    #[test]
    fn model_table_grows() {
        let mut stamps = Stamps::new(1, 1, SMALL_PAGES + 1, 0);
        let pages = || (0..20_000u64).map(|i| i * 1_677);
        for lpn in pages() {
            stamps.data_in(lpn, Buf(0));
        }
        for (i, lpn) in pages().enumerate() {
            stamps.buffers[0] = Stamp::new(lpn, i as u64 + 1);
            assert_eq!(stamps.check(lpn, stamps.written(), Buf(0)), Ok(()));
        }
    }
}
