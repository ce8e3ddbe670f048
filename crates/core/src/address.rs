//! Addresses. An index is never a count; a slot is one mapping unit (4 or 16 KiB by profile).

/// Logical page: index of a mapping unit in the host's address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Lpn(pub u64);

/// Physical slot: a superblock and the index of a slot in it, in fill order. 64 bits wide, because
/// 15.36 TB has 4.7e9 slots of 4 KiB.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Ppa(pub u64);

impl Ppa {
    /// The slot at `slot` of superblock `block`.
    pub const fn new(block: BlockId, slot: u32) -> Ppa {
        Ppa(((block.0 as u64) << 32) | slot as u64)
    }
    /// Its superblock.
    pub const fn block(self) -> BlockId {
        BlockId((self.0 >> 32) as u32)
    }
    /// Its index within the superblock, in fill order.
    pub const fn slot(self) -> u32 {
        self.0 as u32
    }
}

/// A die of the drive. `die % channels` is its channel, so that neighbours lie on other channels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct DieId(pub u16);

/// A superblock, and the index of its block within every plane of every die.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct BlockId(pub u32);

/// One page row of a die: the same wordline and page type on each of its planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct PageAddr {
    /// The die.
    pub die: DieId,
    /// The block, on every plane.
    pub block: BlockId,
    /// Wordline within the block.
    pub wordline: u16,
    /// Page of the wordline.
    pub page: crate::PageType,
}
