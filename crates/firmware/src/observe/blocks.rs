//! Block monitor: one row a superblock.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{BlockId, CellMode, Ns};

/// What a superblock is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockUse {
    /// Erased, ready to be opened.
    Free,
    /// Being programmed.
    Open,
    /// Programmed to its end.
    Full,
    /// Being erased.
    Erasing,
    /// Retired: a program or an erase has failed.
    Bad,
}

/// One superblock: a line of a cache, as every read looks at another one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct BlockRow {
    /// What it is used for.
    pub usage: BlockUse,
    /// Cell mode since its last erase.
    pub mode: CellMode,
    /// Program/erase cycles.
    pub pe_cycles: u32,
    /// When its data were programmed: the first program since the erase.
    pub programmed_at: Ns,
    /// Slots that hold the last version of a logical page.
    pub valid_slots: u32,
    /// Page rows sensed since the erase.
    pub reads: u64,
    /// Place in the order in which superblocks were opened.
    pub opened: u64,
    /// Reads queued or in flight: it is not erased before they have ended.
    pub pins: u32,
    /// Whether its data are on the move: it is erased, or retired, once they are gone.
    pub leaving: bool,
    /// Whether a program in it has failed: it is retired, not erased.
    pub failed: bool,
    /// Whether a part of one of its wordlines, data or parity, was not programmed since the erase: its
    /// stripes are not relied upon.
    pub stripe_broken: bool,
    /// Whether it holds pages of the map.
    pub holds_map: bool,
}

/// The table of superblocks.
#[derive(Clone, Debug)]
pub struct BlockMonitor {
    rows: Box<[BlockRow]>,
}

impl BlockMonitor {
    /// `blocks` free superblocks of `mode`.
    pub fn new(blocks: u32, mode: CellMode) -> BlockMonitor {
        let row = BlockRow {
            usage: BlockUse::Free,
            mode,
            pe_cycles: 0,
            programmed_at: Ns::ZERO,
            valid_slots: 0,
            reads: 0,
            opened: 0,
            pins: 0,
            leaving: false,
            failed: false,
            stripe_broken: false,
            holds_map: false,
        };
        BlockMonitor {
            rows: vec![row; blocks as usize].into_boxed_slice(),
        }
    }
    /// Superblocks of the drive.
    pub fn len(&self) -> u32 {
        self.rows.len() as u32
    }
    /// Whether the drive has none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The row of `block`.
    pub fn row(&self, block: BlockId) -> &BlockRow {
        &self.rows[block.0 as usize]
    }
    /// Whether `block` is full, of the data that it held when they had been programmed at
    /// `programmed_at`.
    pub fn still_holds(&self, block: BlockId, programmed_at: Ns) -> bool {
        let row = self.row(block);
        row.usage == BlockUse::Full && row.programmed_at == programmed_at
    }
    /// The row of `block`, to change.
    pub fn row_mut(&mut self, block: BlockId) -> &mut BlockRow {
        &mut self.rows[block.0 as usize]
    }
    /// Every superblock with its row.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, &BlockRow)> {
        self.rows
            .iter()
            .enumerate()
            .map(|(i, row)| (BlockId(i as u32), row))
    }
    /// Superblocks that hold data, with their rows.
    pub fn with_data(&self) -> impl Iterator<Item = (BlockId, &BlockRow)> {
        self.iter()
            .filter(|(_, row)| matches!(row.usage, BlockUse::Open | BlockUse::Full))
    }
}
