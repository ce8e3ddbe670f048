//! Superblocks whose data have become cold: what RARO calls reclaim.
//!
//! The firmware knows the heat of a page by its number, and no superblock knows the numbers of its pages before
//! it is read. So the heat of a superblock is that of its reads: how often the host has read a valid page of it
//! during a period, on average. A superblock that is colder than warm data for two periods running is given back.
//! One period is not enough, or data on the edge would be promoted and given back in turn.

use alloc::boxed::Box;

use firstread_core::SuperblockId;
use firstread_core::params::Values;

use super::params::MODES;
use super::rounds::Rounds;
use crate::observe::{ModeSet, SuperblockTable, SuperblockUse};
use crate::policy::Setup;
use crate::policy::hot_pages::Thresholds;

/// Cold periods after which a superblock is given back.
const COLD_PERIODS: u8 = 2;

/// What is known of a superblock.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its number in the order of opening, which shows whether it was erased since.
    opened: u64,
    /// Its reads at the end of the last period.
    reads: u64,
    /// Cold periods, one after another.
    cold: u8,
}

/// The superblocks of a scheme's modes, and how cold they are.
#[derive(Clone, Debug)]
pub(super) struct ColdSuperblocks {
    modes: ModeSet,
    rounds: Rounds,
    /// Multi-plane pages read in a period, per valid slot, below which a superblock is cold.
    warm: u64,
    known: Box<[Known]>,
}

impl ColdSuperblocks {
    /// Superblocks in SLC and TLC mode on the drive of `setup`, with the parameters `values`.
    pub(super) fn new(setup: &Setup, values: &Values) -> ColdSuperblocks {
        let superblocks = setup.geometry.blocks_per_plane as usize;
        ColdSuperblocks {
            modes: MODES.into_iter().collect(),
            rounds: Rounds::new(values),
            warm: values.get(Thresholds::WARM.key) as u64,
            known: alloc::vec![Known::default(); superblocks].into(),
        }
    }

    /// The host has read a page.
    #[inline]
    pub(super) fn after_read(&mut self) {
        self.rounds.after_read();
    }

    /// The next superblock to be given back.
    pub(super) fn next(&mut self, blocks: &SuperblockTable) -> Option<SuperblockId> {
        while let Some(block) = self.rounds.next(blocks) {
            if self.is_cold(block, blocks) {
                return Some(block);
            }
        }
        None
    }

    /// Whether `block` has been cold for long enough. Counts the period that has ended.
    fn is_cold(&mut self, block: SuperblockId, blocks: &SuperblockTable) -> bool {
        let info = blocks.info(block);
        let known = &mut self.known[block.0 as usize];
        if info.usage != SuperblockUse::Full || info.evacuating || !self.modes.has(info.mode) {
            *known = Known::default();
            return false;
        }
        if known.opened != info.opened {
            *known = Known {
                opened: info.opened,
                reads: info.reads,
                cold: 0,
            };
            return false;
        }
        let reads = info.reads - known.reads;
        known.reads = info.reads;
        let cold = reads < self.warm * u64::from(info.valid_slots.max(1));
        known.cold = if cold {
            known.cold.saturating_add(1)
        } else {
            0
        };
        known.cold >= COLD_PERIODS
    }
}
