//! Turnover of superblocks: how much is left of what they held at some time.
//!
//! A fill leaves superblocks whose pages are hot and cold in the order of their addresses. Cleaning sorts pages by how long they stay
//! valid, and has done so once each of these superblocks has been emptied. That takes as long as the coldest of them need to
//! become victims: as the share of garbage at which cleaning takes a superblock is reached, at the rate at which cold pages
//! are overwritten. Until then garbage gathers in them that the other superblocks lack, and write amplification is that of another
//! drive.
//!
//! Pages that are never written leave superblocks that are never emptied, and need not be. What such superblocks take is
//! measured: the slots that they have lost in the last whole drive write. If in [`HORIZON`] further ones they lose less than
//! [`SMALL`] of the garbage of the drive, they count as at rest. At least one drive write has to pass before that, because what
//! overwrites pages in the order of their addresses comes to each within one.

use firstread_core::Geometry;
use firstread_firmware::observe::{SuperblockInfo, SuperblockTable, SuperblockUse};

/// Drive writes for which superblocks at rest must stay so.
pub const HORIZON: f64 = 10.0;
/// The share of a drive's garbage that superblocks at rest may take in that time.
pub const SMALL: f64 = 0.01;

/// What superblocks held at a time.
#[derive(Clone, Debug)]
pub(crate) struct Turnover {
    /// Number of the last superblock that had become full.
    last: u64,
    /// Valid slots of each superblock when a drive write began.
    valid_slots: Vec<u32>,
    /// Bytes that the host had written then.
    host_bytes: u64,
    /// Slots that what is left lost in the drive write before; none if there was none.
    lost_each: Option<f64>,
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
            valid_slots: valid_slots(blocks).collect(),
            host_bytes,
            lost_each: None,
        }
    }

    /// Superblocks of `blocks` have been erased; the host has written `host_bytes` to a drive of `capacity_bytes`.
    pub(crate) fn note(&mut self, blocks: &SuperblockTable, host_bytes: u64, capacity_bytes: u64) {
        let written = host_bytes.saturating_sub(self.host_bytes);
        if written < capacity_bytes.max(1) {
            return;
        }
        let lost = |((_, info), &then): ((_, &SuperblockInfo), &u32)| match self.is_left(info) {
            true => u64::from(then.saturating_sub(info.valid_slots)),
            false => 0,
        };
        let lost: u64 = blocks.iter().zip(&self.valid_slots).map(lost).sum();
        self.lost_each = Some(lost as f64 * capacity_bytes as f64 / written as f64);
        self.valid_slots.clear();
        self.valid_slots.extend(valid_slots(blocks));
        self.host_bytes = host_bytes;
    }

    /// Whether a superblock has been full since then.
    fn is_left(&self, info: &SuperblockInfo) -> bool {
        info.usage == SuperblockUse::Full && info.closed.is_some_and(|n| n.get() <= self.last)
    }

    /// What is left in the state of `blocks`.
    pub(crate) fn left(&self, blocks: &SuperblockTable, geometry: &Geometry) -> Left {
        let (mut superblocks, mut valid, mut garbage) = (0, 0u64, 0u64);
        for (_, info) in blocks.iter() {
            if info.usage == SuperblockUse::Full {
                let slots = geometry.slots_per_superblock(info.mode);
                garbage += u64::from(slots.saturating_sub(info.valid_slots));
            }
            if self.is_left(info) {
                superblocks += 1;
                valid += u64::from(info.valid_slots);
            }
        }
        let valid = valid as f64;
        let will_lose = self
            .lost_each
            .map_or(valid, |lost| (lost * HORIZON).min(valid));
        Left {
            superblocks,
            share: will_lose / garbage.max(1) as f64,
        }
    }
}

fn valid_slots(blocks: &SuperblockTable) -> impl Iterator<Item = u32> {
    blocks.iter().map(|(_, info)| info.valid_slots)
}
