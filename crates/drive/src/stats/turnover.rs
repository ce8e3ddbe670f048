//! Turnover of superblocks: how much is left of what they held at some time.
//!
//! A fill leaves superblocks whose pages are hot and cold in the order of their addresses. Cleaning sorts pages by how long they stay
//! valid, and has done so once each of these superblocks has been emptied. That takes as long as the coldest of them need to
//! become victims: as the share of garbage at which cleaning takes a superblock is reached, at the rate at which cold pages
//! are overwritten. Until then garbage gathers in them that the other superblocks lack, and write amplification is that of another
//! drive.
//!
//! Pages that are never written leave superblocks that are never emptied, and need not be. What such superblocks take is
//! measured: the slots that they have lost since, for each drive write. If in [`HORIZON`] further drive writes they lose less than
//! [`SMALL`] of the garbage of the drive, they count as at rest. At least one drive write has to pass before that, because what
//! overwrites pages in the order of their addresses comes to each within one.

use firstread_core::Geometry;
use firstread_firmware::observe::{SuperblockTable, SuperblockUse};

/// Drive writes for which superblocks at rest must stay so.
pub const HORIZON: f64 = 10.0;
/// The share of a drive's garbage that superblocks at rest may take in that time.
pub const SMALL: f64 = 0.01;

/// What superblocks held at a time.
#[derive(Clone, Debug)]
pub(crate) struct Turnover {
    /// Number of the last superblock that had become full.
    last: u64,
    /// Valid slots of each superblock.
    valid_slots: Vec<u32>,
    /// Bytes that the host had written.
    host_bytes: u64,
}

/// What is left of that.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Left {
    /// Superblocks that were full then and have not been erased since.
    pub superblocks: u32,
    /// Slots that these will lose in [`HORIZON`] drive writes, as a share of the drive's garbage.
    pub share: f64,
}

impl Left {
    /// Whether each superblock has been emptied, or is at rest.
    pub fn is_small(self) -> bool {
        self.share <= SMALL
    }
}

impl Turnover {
    /// From the state of `blocks`, when the host has written `host_bytes`.
    pub(crate) fn new(blocks: &SuperblockTable, host_bytes: u64) -> Turnover {
        let closed = blocks.iter().filter_map(|(_, info)| info.closed);
        Turnover {
            last: closed.map(u64::from).max().unwrap_or(0),
            valid_slots: blocks.iter().map(|(_, info)| info.valid_slots).collect(),
            host_bytes,
        }
    }

    /// What is left in the state of `blocks`, when the host has written `host_bytes`, of a drive of `capacity_bytes`.
    pub(crate) fn left(
        &self,
        blocks: &SuperblockTable,
        geometry: &Geometry,
        host_bytes: u64,
        capacity_bytes: u64,
    ) -> Left {
        let (mut superblocks, mut lost, mut valid, mut garbage) = (0, 0u64, 0u64, 0u64);
        for ((_, info), &then) in blocks.iter().zip(&self.valid_slots) {
            if info.usage != SuperblockUse::Full {
                continue;
            }
            let slots = geometry.slots_per_superblock(info.mode);
            garbage += u64::from(slots.saturating_sub(info.valid_slots));
            if info.closed.is_some_and(|n| n.get() <= self.last) {
                superblocks += 1;
                lost += u64::from(then.saturating_sub(info.valid_slots));
                valid += u64::from(info.valid_slots);
            }
        }
        let drive_writes = (host_bytes - self.host_bytes) as f64 / capacity_bytes.max(1) as f64;
        let will_lose = match drive_writes < 1.0 {
            true => valid as f64,
            false => (lost as f64 * HORIZON / drive_writes).min(valid as f64),
        };
        Left {
            superblocks,
            share: will_lose / garbage.max(1) as f64,
        }
    }
}
