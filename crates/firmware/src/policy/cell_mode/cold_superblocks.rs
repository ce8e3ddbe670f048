//! Superblocks whose data have become cold: what RARO calls reclaim.
//!
//! The firmware knows the heat of a page by its number, and no superblock knows the numbers of its pages before
//! it is read. So the heat of a superblock is that of its reads, in the window of the observer of heat: how often the host
//! has read a valid slot of it during the last whole epoch, twice, on average. A slot that is read so often in each epoch
//! has that heat at the end of one. Reads of a page that the observer no longer counts, because its counter is full, do not
//! count here either: or one page alone would keep a superblock. A superblock below what pages need to stay (`stay`) is cold.
//!
//! A cold superblock is given back when that is worth the moves that it takes to empty it. RARO names what decides: the
//! space that remains, the efficiency of cleaning, and the writes of the host. Each epoch in which a superblock is cold adds to
//! a charge, in moves: the slots that its mode costs, times
//!
//! - the share of the over-provisioning that superblocks in other modes may cost and do cost (space), and
//! - the slots that cleaning has moved in the epoch for each spare slot of the drive: about what one more spare slot
//!   would have saved (efficiency of cleaning; without writes there is none).
//!
//! It is given back once the charge reaches its valid slots. If pages could not be promoted for want of
//! over-provisioning, the coldest superblock is given back without that. One superblock at most is given back in a period
//! of the host's reads.

use alloc::boxed::Box;

use firstread_core::params::Values;
use firstread_core::{CellMode, SuperblockId};

use super::plan::Slots;
use super::rounds::PERIOD;
use super::stay::Stay;
use super::{GiveBack, ReclaimState};
use crate::observe::{SuperblockInfo, SuperblockUse};
use crate::policy::Setup;
use crate::policy::hot_pages::PageRead;

/// What is known of a superblock.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its number in the order of opening, which shows whether it was erased since; zero if it was not full and at rest when
    /// the epoch began.
    opened: u64,
    /// Slots of it that the host has read in this epoch.
    reads: u64,
    /// Its heat in the last epoch, in thousandths; none if it was not cold.
    cold_milli: Option<u64>,
    /// Moves that it has been charged with.
    charged: u64,
}

/// The superblocks of a scheme's modes, and how cold they are.
#[derive(Clone, Debug)]
pub(super) struct ColdSuperblocks {
    stay: Stay,
    slots: Slots,
    own: CellMode,
    /// Host reads of flash pages in a period; zero if nothing is given back.
    period: u64,
    /// Reads that are left of this one.
    left: u64,
    epoch: u32,
    /// The most reads that the observer of heat counts of a page.
    most_heat: u8,
    /// Slots that cleaning had moved when this epoch began.
    cleaned: u64,
    /// Promotions that had been refused for room when this period began.
    refused: u64,
    known: Box<[Known]>,
}

impl ColdSuperblocks {
    /// Superblocks in SLC and TLC mode on the drive of `setup`, with the parameters `values`.
    pub(super) fn new(setup: &Setup, values: &Values) -> ColdSuperblocks {
        let superblocks = setup.geometry.blocks_per_plane as usize;
        let period = values.get(PERIOD.key) as u64;
        ColdSuperblocks {
            stay: Stay::new(values),
            slots: Slots::new(&setup.geometry, setup.tables.mode),
            own: setup.tables.mode,
            period,
            left: period,
            epoch: 0,
            most_heat: 0,
            cleaned: 0,
            refused: 0,
            known: alloc::vec![Known::default(); superblocks].into(),
        }
    }

    /// The host has read a page.
    #[inline]
    pub(super) fn after_read(&mut self, read: &PageRead) {
        self.left = self.left.saturating_sub(1);
        // What the observer no longer counts of a page does not count here either.
        if read.mode != self.own && read.heat.reads < self.most_heat {
            self.known[read.block.0 as usize].reads += 1;
        }
    }

    /// The superblock to be given back, if any.
    #[inline]
    pub(super) fn next(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        if self.period == 0 {
            return None;
        }
        if state.heat_epoch != self.epoch {
            self.end_epoch(state);
        }
        if self.left > 0 {
            return None;
        }
        self.left = self.period;
        self.coldest(state)
    }

    /// An epoch of the observer of heat has ended: each superblock is cold or not, and cold ones are charged.
    #[cold]
    fn end_epoch(&mut self, state: &ReclaimState<'_>) {
        (self.epoch, self.most_heat) = (state.heat_epoch, state.most_heat);
        let cleaned = state.slots_cleaned - self.cleaned;
        self.cleaned = state.slots_cleaned;
        let good = state.blocks.iter();
        let good = good.filter(|(_, info)| info.usage != SuperblockUse::Bad);
        let lost: u64 = good.map(|(_, info)| self.loses(info.mode)).sum();
        for (block, info) in state.blocks.iter() {
            let loses = self.loses(info.mode);
            let stays = u64::from(self.stay.least(info.mode));
            let known = &mut self.known[block.0 as usize];
            let opened = if is_at_rest(info) { info.opened } else { 0 };
            // What became full in this epoch was not there for all of it.
            if known.opened != opened || opened == 0 || loses == 0 {
                *known = Known {
                    opened,
                    ..Known::default()
                };
                continue;
            }
            let heat_milli = 2_000 * known.reads / u64::from(info.valid_slots.max(1));
            known.reads = 0;
            known.cold_milli = (heat_milli < 1_000 * stays).then_some(heat_milli);
            known.charged = match known.cold_milli {
                Some(_) => {
                    let for_space = loses * lost / (lost + state.left_slots).max(1);
                    let for_cleaning = loses * cleaned / state.spare_slots.max(1);
                    known.charged + for_space + for_cleaning
                }
                None => 0,
            };
        }
    }

    /// Slots that a superblock in `mode` costs.
    fn loses(&self, mode: CellMode) -> u64 {
        self.slots.of(mode).map_or(0, |(_, loses)| loses)
    }

    /// A period has ended: the coldest superblock that is worth it, or the coldest one if pages wait for room.
    #[cold]
    fn coldest(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        let for_room = state.refused_for_room > self.refused;
        self.refused = state.refused_for_room;
        let cold = state.blocks.iter().filter_map(|(block, info)| {
            let known = &self.known[block.0 as usize];
            let heat_milli = known.cold_milli?;
            let is_same = known.opened == info.opened && is_at_rest(info);
            let is_worth_it = for_room || known.charged >= u64::from(info.valid_slots);
            (is_same && is_worth_it).then_some((heat_milli, block))
        });
        let (_, block): (u64, SuperblockId) = cold.min_by_key(|(heat_milli, _)| *heat_milli)?;
        Some(match for_room {
            true => GiveBack::ForRoom(block),
            false => GiveBack::Now(block),
        })
    }
}

/// Whether the superblock of `info` is full and may be emptied.
fn is_at_rest(info: &SuperblockInfo) -> bool {
    info.usage == SuperblockUse::Full && !info.evacuating
}
