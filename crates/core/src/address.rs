//! Addresses. An index is never a count. A *slot* is the physical place of one mapping unit (4 or 16 KiB, by
//! profile).

/// Logical page: index of a mapping unit in the host's address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Lpn(pub u64);

/// Physical slot: a superblock, and the index of a slot in the superblock in fill order. It is 64 bits wide
/// because 15.36 TB has 4.7e9 slots of 4 KiB.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Ppa(pub u64);

impl Ppa {
    /// The slot at `slot` of superblock `block`.
    pub const fn new(block: SuperblockId, slot: u32) -> Ppa {
        Ppa(((block.0 as u64) << 32) | slot as u64)
    }
    /// The superblock that the slot lies in.
    pub const fn block(self) -> SuperblockId {
        SuperblockId((self.0 >> 32) as u32)
    }
    /// Its index within the superblock, in fill order.
    pub const fn slot(self) -> u32 {
        self.0 as u32
    }
}

/// A die of the drive. Its channel is `die % channels`, so consecutive dies lie on different channels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct DieId(pub u16);

/// A block of a die: the blocks with this index on all its planes, which are operated together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct BlockId(pub u32);

/// A superblock. The superblock consists of a block of each die: of the one with this index, or of a spare that has replaced
/// it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct SuperblockId(pub u32);

/// A multi-plane page of a die: the same wordline and page type on each plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct PageAddr {
    /// The die that senses or programs the page, on all its planes at once.
    pub die: DieId,
    /// The superblock.
    pub block: SuperblockId,
    /// Wordline within the block.
    pub wordline: u16,
    /// Page of the wordline.
    pub page: crate::PageType,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_slot_is_found_again_in_its_address() {
        for (block, slot) in [
            (0, 0),
            (1, 0),
            (0, 1),
            (77, 1_000_003),
            (u32::MAX, u32::MAX),
        ] {
            let ppa = Ppa::new(SuperblockId(block), slot);
            assert_eq!((ppa.block(), ppa.slot()), (SuperblockId(block), slot));
        }
        // The order of addresses is the order of filling: by superblock, then by slot.
        let last_of_first = Ppa::new(SuperblockId(1), u32::MAX);
        assert!(last_of_first < Ppa::new(SuperblockId(2), 0));
    }
}
