//! What a scheme is told of a page that the host has read.

use firstread_core::{CellMode, Ns, SuperblockId};

use crate::observe::{PageFuture, PageHeat};

/// A page that the host has read from flash.
#[derive(Clone, Copy, Debug)]
pub struct PageRead {
    /// The superblock that it was read from.
    pub block: SuperblockId,
    /// Cell mode of the superblock.
    pub mode: CellMode,
    /// Program/erase cycles of the superblock.
    pub pe_cycles: u32,
    /// Page type: the index of the page within its wordline.
    pub page: u8,
    /// Multi-plane pages of the superblock that were read since its erase.
    pub block_reads: u64,
    /// Retries that the read took.
    pub retries: u8,
    /// Time since the first program in the superblock since its erase: its data are at most so old.
    pub age: Ns,
    /// Heat of the page.
    pub heat: PageHeat,
    /// What is to come of the page, if an oracle was told.
    pub future: PageFuture,
}
