//! The last version of each page.

use firstread_firmware::ftl::{REGION_PAGES, SparseTable, VALUE_BITS, is_large};

use crate::growing_memory::GrowingMemory;

/// Maximum number of logical pages of a drive, including map pages: 64 TB of 4 KiB pages.
pub(crate) const MOST_PAGES: u64 = (1 << 34) - 1;

/// Last version of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Version {
    /// Number of the write or trim that made it, as far as its bits are kept; 0 is the fill.
    pub(super) number: u64,
    pub(super) trimmed: bool,
}

/// The last version of each page that was written or trimmed since the fill.
#[derive(Clone, Debug)]
pub(super) enum Versions {
    /// One word per page, in memory that is allocated on first touch: twice the version, plus one if it is a
    /// trim. 0 for the fill.
    All(Vec<u64>),
    /// Only the pages written.
    Some(Box<Written>),
}

/// The pages written, in a table of the same kind as the map's. (On a small drive the map is checked by a
/// plain table.) Regions trimmed as a whole are kept separately.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// Version, and whether it is a trim, below a bit that is always set. Entries are later than the last
    /// trim of their whole region.
    pages: SparseTable<GrowingMemory>,
    /// Number of the last trim of each whole region; 0 for none.
    regions: Vec<u64>,
}

/// Bits kept of a page's version on a large drive. A version that is wrong by a multiple of 17 thousand
/// million writes would go unnoticed.
const KEPT_BITS: u32 = VALUE_BITS - 2;
const KEPT: u64 = (1 << KEPT_BITS) - 1;
const WRITTEN: u64 = 1 << (KEPT_BITS + 1);

impl Written {
    fn set(&mut self, lpn: u64, version: Version) {
        if !self.pages.has_room(1) {
            self.pages.grow(GrowingMemory::grow);
        }
        let low = (version.number & KEPT) << 1 | version.trimmed as u64;
        self.pages.set(lpn, WRITTEN | low);
    }

    /// The region of `lpn` was trimmed as a whole.
    fn trim_region(&mut self, lpn: u64, number: u64) {
        self.pages.clear_region(lpn);
        self.regions[(lpn / REGION_PAGES) as usize] = number;
    }

    fn get(&self, lpn: u64) -> Option<Version> {
        let word = self.pages.get(lpn);
        if word != 0 {
            return Some(Version {
                number: word >> 1 & KEPT,
                trimmed: word & 1 != 0,
            });
        }
        let number = self.regions[(lpn / REGION_PAGES) as usize];
        let trimmed = true;
        (number != 0).then_some(Version { number, trimmed })
    }
}

/// Whether `a` is the later of two versions, provided that they are less than half the range of the kept bits
/// apart.
pub(super) const fn is_later(a: u64, b: u64) -> bool {
    let ahead = a.wrapping_sub(b) & KEPT;
    ahead != 0 && ahead <= KEPT / 2
}

/// Whether two versions are equal in the kept bits.
pub(super) const fn is_same(a: u64, b: u64) -> bool {
    (a ^ b) & KEPT == 0
}

impl Versions {
    pub(super) fn new(capacity: u64) -> Versions {
        if !is_large(capacity) {
            return Versions::All(vec![0; capacity as usize]);
        }
        assert!(capacity <= MOST_PAGES, "the slots can name the page");
        Versions::Some(Box::new(Written {
            pages: SparseTable::new(capacity, GrowingMemory::new()),
            regions: vec![0; capacity.div_ceil(REGION_PAGES) as usize],
        }))
    }

    #[inline]
    pub(super) fn get(&self, lpn: u64) -> Option<Version> {
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
    pub(super) fn set(&mut self, lpn: u64, version: Version) {
        match self {
            Versions::All(words) => {
                words[lpn as usize] = version.number << 1 | version.trimmed as u64;
            }
            Versions::Some(written) => written.set(lpn, version),
        }
    }

    /// Trims pages `first` to `end` with version `number`.
    pub(super) fn trim(&mut self, first: u64, end: u64, number: u64) {
        let trimmed = true;
        let mut lpn = first;
        while lpn < end {
            let region = lpn / REGION_PAGES * REGION_PAGES;
            if let Versions::Some(written) = self
                && lpn == region
                && end - lpn >= REGION_PAGES
            {
                written.trim_region(lpn, number);
                lpn += REGION_PAGES;
            } else {
                self.set(lpn, Version { number, trimmed });
                lpn += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use firstread_core::Stream;
    use firstread_firmware::ftl::SMALL_PAGES;

    use super::*;

    /// Both forms against a map of pages: writes, trims of parts of regions, and of ranges with whole regions in them.
    #[test]
    fn model_versions_are_those_of_the_last_writes_and_trims() {
        // Region boundaries of the end of a large drive, whose last region is not whole.
        let large = SMALL_PAGES + 3 * REGION_PAGES + 100;
        for (capacity, first) in [(5 * REGION_PAGES, 0), (large, SMALL_PAGES - REGION_PAGES)] {
            assert_eq!(is_large(capacity), capacity == large);
            let pages = capacity - first;
            for seed in 0..6 {
                let draw = Stream::new(seed).named("versions");
                let mut versions = Versions::new(capacity);
                let mut model = BTreeMap::new();
                for number in 1..400u64 {
                    let draw = draw.at(number);
                    let lpn = first + draw.at(0).below(pages);
                    if draw.at(1).below(3) > 0 {
                        let version = Version {
                            number,
                            trimmed: draw.at(2).below(4) == 0,
                        };
                        versions.set(lpn, version);
                        model.insert(lpn, version);
                    } else {
                        let most =
                            [3, REGION_PAGES, 3 * REGION_PAGES][draw.at(3).below(3) as usize];
                        // Half of them begin where a region does.
                        let start = match draw.at(4).below(2) {
                            0 => lpn,
                            _ => lpn / REGION_PAGES * REGION_PAGES,
                        };
                        let end = (start + 1 + draw.at(5).below(most)).min(capacity);
                        let end = if draw.at(6).below(2) == 0 {
                            end
                        } else {
                            end.next_multiple_of(REGION_PAGES).min(capacity)
                        };
                        versions.trim(start, end, number);
                        let trimmed = true;
                        model.extend((start..end).map(|lpn| (lpn, Version { number, trimmed })));
                    }
                    for i in 0..20 {
                        let near = (lpn + i).saturating_sub(10).clamp(first, capacity - 1);
                        let any = first + draw.at(100 + i).below(pages);
                        for lpn in [near, any] {
                            let right = model.get(&lpn).copied();
                            assert_eq!(
                                versions.get(lpn),
                                right,
                                "seed {seed}, step {number}, page {lpn}"
                            );
                        }
                    }
                }
                for lpn in first..capacity {
                    let right = model.get(&lpn).copied();
                    assert_eq!(versions.get(lpn), right, "seed {seed}, page {lpn}");
                }
            }
        }
    }

    /// 34 bits are kept: of two versions the later one is the one that is less than 2^33 ahead.
    #[test]
    fn formula_the_later_of_two_versions() {
        const RANGE: u64 = 1 << 34;
        for base in [0, 5, RANGE - 3, RANGE, 7 * RANGE + 9] {
            for ahead in [1, 2, 1000, RANGE / 2 - 1] {
                let later = base + ahead;
                assert!(
                    is_later(later, base) && !is_later(base, later),
                    "{base} {ahead}"
                );
                assert!(
                    is_later(later % RANGE, base % RANGE),
                    "{base} {ahead}, kept bits"
                );
                assert!(!is_same(later, base), "{base} {ahead}");
            }
            assert!(!is_later(base, base) && is_same(base, base));
            assert!(is_same(base, base + RANGE) && !is_later(base + RANGE, base));
        }
    }
}
