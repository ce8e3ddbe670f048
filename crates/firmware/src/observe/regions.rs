//! Regions: ranges of superblocks, each of which is worn and cleaned by itself.

use core::ops::Range;

use firstread_core::SuperblockId;

/// A region, by the index of its row. A region has an instance of its own of the schemes of axes `wear` and
/// `gc_victim`, which see its superblocks alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionId(pub u8);

impl RegionId {
    /// The drive's own region, to which the host writes. A drive whose schemes declare no region has this one alone.
    pub const MAIN: RegionId = RegionId(0);
    /// The region that a scheme of axis `area` declares.
    pub const DECLARED: RegionId = RegionId(1);

    /// Its index in a table of rows by region.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Maximum number of regions of a drive.
pub const MOST_REGIONS: usize = 4;

/// Ways in which pages enter the region that a scheme declares, with a counter each: those of axis `area`.
pub const ENTRY_WAYS: usize = 7;

/// A region that a scheme declares beside the drive's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionRow {
    /// Number of its first superblock; the region goes on to the last one of the drive.
    pub first: u32,
    /// Superblocks of it that a fill of the whole drive leaves free; none if a fill goes by address alone.
    pub free_after_fill: Option<u32>,
}

/// How the superblocks of a drive are divided into regions. The division follows from the numbers of superblocks alone,
/// so a power cut dumps nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regions {
    /// The first superblock of each region. Entries behind the last region are the number of superblocks.
    first: [u32; MOST_REGIONS],
    /// Superblocks of the drive, where the last region ends.
    blocks: u32,
}

impl Regions {
    /// `blocks` superblocks, of which a further region begins at each of `first`, in rising order. A last region
    /// that has no superblock is none.
    ///
    /// # Panics
    /// If there are more than [`MOST_REGIONS`].
    pub fn new(blocks: u32, first: impl IntoIterator<Item = u32>) -> Regions {
        let mut regions = Regions {
            first: [blocks; MOST_REGIONS],
            blocks,
        };
        regions.first[0] = 0;
        for (i, first) in first.into_iter().enumerate() {
            regions.first[1 + i] = first.min(blocks);
        }
        regions
    }

    /// Whether there is another region beside the drive's own.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.first[1] < self.blocks
    }

    /// The regions, the drive's own first.
    pub fn ids(&self) -> impl Iterator<Item = RegionId> + use<> {
        let further = self.first[1..].iter().filter(|first| **first < self.blocks);
        (0..=further.count() as u8).map(RegionId)
    }

    /// The region of `block`.
    #[inline]
    pub fn of(&self, block: SuperblockId) -> RegionId {
        let further = self.first[1..].iter().filter(|first| **first <= block.0);
        RegionId(further.count() as u8)
    }

    /// Numbers of the superblocks of `region`; none of a region that the drive does not have.
    pub fn numbers(&self, region: RegionId) -> Range<u32> {
        let end = self.first.get(region.index() + 1);
        self.first[region.index()]..end.copied().unwrap_or(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Each superblock is of one region, and a region without superblocks is none.
    #[test]
    fn formula_regions_divide_the_superblocks() {
        for (first, sizes) in [
            (&[][..], &[10][..]),
            (&[7], &[7, 3]),
            (&[7, 9], &[7, 2, 1]),
            (&[1, 2, 3], &[1, 1, 1, 7]),
            (&[10], &[10]),
            (&[12], &[10]),
        ] {
            let regions = Regions::new(10, first.iter().copied());
            assert_eq!(regions.are_many(), sizes.len() > 1, "{first:?}");
            let numbers = |region| regions.numbers(region);
            let found: Vec<usize> = regions.ids().map(|region| numbers(region).len()).collect();
            assert_eq!(found, sizes, "{first:?}");
            for region in regions.ids() {
                let all = numbers(region).map(SuperblockId);
                assert!(all.into_iter().all(|block| regions.of(block) == region));
            }
        }
        let one = Regions::new(10, None);
        assert!(one.numbers(RegionId::DECLARED).is_empty());
    }
}
