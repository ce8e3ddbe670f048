//! Fills, wears and ages a drive before its host connects. The contents are computed; the firmware runs
//! through this history on the virtual clock.

use firstread_core::{Ns, SuperblockId};
use firstread_firmware::ftl::{MAP_ENTRY_BYTES, RESERVE};
use firstread_firmware::policy::gc_victim::GcVictim;
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_firmware::voltage::groups;

use super::{Drive, DriveError, StateError};
use crate::initial_contents::Preconditioned;
use crate::payload::Payload;
use crate::precondition::{self, Precondition, Steady};
use crate::state::{DriveState, Plan};

/// What a drive is filled with, and when.
struct Filling {
    /// Logical pages written.
    slots: u64,
    /// Superblocks that they take.
    blocks: u32,
    /// Wear of every superblock (P/E cycles).
    wear: Vec<u32>,
    plan: Plan,
    /// The steady state of overwrites, where one is asked for.
    steady: Option<Preconditioned>,
}

impl<P: Payload> Drive<P> {
    /// Fills and ages the drive.
    pub(super) fn prepare(&mut self, state: &DriveState) -> Result<(), DriveError> {
        let filling = self.filling(state)?;
        if let Some((at, celsius)) = state.temperature_step {
            let fill_ended = filling.plan.run.since(state.age.1);
            let cells = self.platform.hardware.cells_mut();
            cells
                .set_temperature(fill_ended + at, celsius)
                .map_err(StateError::Temperature)?;
        }
        let before = self.firmware.initial_contents_mut();
        match &filling.steady {
            Some(steady) => {
                before.precondition(steady.clone());
                self.platform.stamps.precondition(steady.clone());
            }
            None => before.fill(filling.slots),
        }
        self.fill(&filling);
        self.fill_map(filling.blocks, filling.slots, state.pe_cycles.0);
        self.wake_firmware();
        self.pass_time(filling.plan.run);
        if state.unpowered > Ns::ZERO {
            self.platform
                .hardware
                .cells_mut()
                .power_off(state.unpowered);
            self.firmware
                .power_on(self.platform.now, &mut self.platform);
            self.wake_firmware();
        }
        Ok(())
    }

    /// What `state` has the drive filled with. Its bad blocks are drawn.
    fn filling(&mut self, state: &DriveState) -> Result<Filling, DriveError> {
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode);
        let capacity = self.profile.capacity_bytes / geometry.slot_bytes as u64;
        let slots = (capacity as f64 * state.fill) as u64;
        let default_groups = groups::groups(0);
        let bins = self.firmware.levels().groups().unwrap_or(&default_groups);
        let used = match state.precondition {
            Precondition::None => slots.div_ceil(per_block as u64) as u32,
            _ => geometry.blocks_per_plane,
        };
        let mut wear = state.deal_wear(used, bins, self.seed);
        wear.resize(geometry.blocks_per_plane as usize, state.pe_cycles.0);
        let bad = self.find_bad_blocks(&wear)?;

        let steady = self.steady_state(state, slots, bad)?;
        let blocks = match &steady {
            Some(steady) => steady.state.blocks(),
            None => slots.div_ceil(per_block as u64) as u32,
        };
        if blocks > geometry.blocks_per_plane {
            return Err(DriveError::Capacity {
                needed: blocks,
                superblocks: geometry.blocks_per_plane,
            });
        }
        let block_bytes = per_block as u128 * geometry.slot_bytes as u128;
        let block_fill = Ns(
            (block_bytes * 1_000_000_000 / self.profile.fill_rate().bytes_per_s() as u128) as u64
        );
        let bins = self.firmware.levels().groups().unwrap_or(&default_groups);
        let in_order = || (0..blocks as u64).rev().collect::<Vec<u64>>();
        let since = steady.as_ref().map_or_else(in_order, |s| s.since.clone());
        // Theory knows slots of data; the parity of their stripes is programmed with them.
        let with_parity = f64::from(geometry.dies()) / f64::from(geometry.data_dies());
        self.theory = steady.as_ref().map(|s| s.amplification * with_parity);
        Ok(Filling {
            plan: state.plan(&since, &wear, block_fill, bins),
            slots,
            blocks,
            wear,
            steady: steady.map(|s| s.state),
        })
    }

    /// Superblocks are filled one after another, from power-on on with the firmware at work.
    fn fill(&mut self, filling: &Filling) {
        let Filling {
            slots,
            blocks,
            wear,
            plan,
            steady,
        } = filling;
        let mode = self.profile.mode;
        let per_block = self.profile.geometry.slots_per_superblock(mode);
        for free in *blocks..self.profile.geometry.blocks_per_plane {
            let (block, pe_cycles) = (SuperblockId(free), wear[free as usize]);
            self.firmware.set_pe_cycles(block, pe_cycles);
            let cells = self.platform.hardware.cells_mut();
            cells.erase(block, mode, pe_cycles);
        }
        let mut started = false;
        for (i, planned) in plan.blocks.iter().enumerate() {
            self.pass_time(planned.at);
            if !started && planned.at > plan.start {
                self.firmware.start(plan.start, &mut self.platform);
                started = true;
            }
            let (block, first) = (SuperblockId(i as u32), i as u64 * per_block as u64);
            let pages = match steady {
                Some(state) => state.valid(block),
                None => {
                    let pages = (slots - first).min(per_block as u64) as u32;
                    self.platform.stamps.fill(block, first, pages);
                    pages
                }
            };
            let cells = self.platform.hardware.cells_mut();
            cells.fill(planned.at, block, mode, planned.pe_cycles);
            self.firmware.mark_filled(
                planned.at,
                block,
                planned.pe_cycles,
                pages,
                &mut self.platform,
            );
            if !started && planned.at >= plan.start {
                self.firmware.start(planned.at, &mut self.platform);
                started = true;
            }
            self.wake_firmware();
        }
        if !started {
            self.firmware
                .start(plan.start.max(self.platform.now), &mut self.platform);
        }
    }

    /// Draws which blocks are bad, tells the firmware, and returns how many superblocks they cost.
    fn find_bad_blocks(&mut self, pe_cycles: &[u32]) -> Result<u32, StateError> {
        let geometry = &self.profile.geometry;
        let per_block = u64::from(geometry.slots_per_superblock(self.profile.mode));
        let mut bad = vec![0; geometry.dies() as usize];
        for (block, &pe_cycles) in (0..).map(SuperblockId).zip(pe_cycles) {
            let failures = &mut self.platform.hardware.failures;
            failures.make(block, pe_cycles, |die| bad[die.0 as usize] += 1);
        }
        let worst = bad.iter().copied().max().unwrap_or(0);
        if !self.firmware.set_bad_blocks(&bad) {
            let capacity_slots = self.profile.capacity_bytes / u64::from(geometry.slot_bytes);
            return Err(StateError::BadBlocks {
                bad: worst,
                superblocks: geometry.blocks_per_plane,
                needed: capacity_slots.div_ceil(per_block),
                spare: self.profile.least_spare_slots() / per_block,
            });
        }
        Ok(worst)
    }

    /// The steady state that `state` asks for with `pages` pages, if it asks for one. Only the
    /// reserve is free, as after a host that writes as fast as it can: garbage collection then
    /// never gets ahead. (On average one and a half superblocks are free then and two half full, which make one
    /// that is full and one that is free.)
    fn steady_state(
        &self,
        state: &DriveState,
        pages: u64,
        bad: u32,
    ) -> Result<Option<Steady>, StateError> {
        if state.precondition == Precondition::None || pages == 0 {
            return Ok(None);
        }
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode);
        let all = (geometry.blocks_per_plane - bad) as u64;
        let needed = pages.div_ceil(per_block as u64) + self.map_superblocks(pages);
        if needed + RESERVE >= all {
            return Err(StateError::Full {
                precondition: state.precondition,
                needed,
                superblocks: all,
            });
        }
        let blocks = (all - RESERVE - self.map_superblocks(pages)) as u32;
        let law = self.firmware.gc_victim().law();
        let law = law.ok_or(StateError::NoTheory {
            precondition: state.precondition,
        })?;
        let shape = (blocks, per_block, pages);
        let seeds = (self.seed, state.workload_seed);
        let steady = precondition::steady(state.precondition, shape, law, seeds)?;
        Ok(Some(steady))
    }

    /// Pages of the map that say where the first `slots` logical pages lie; none where the map lies
    /// in memory.
    fn map_pages_of(&self, slots: u64) -> u64 {
        let entries = (self.profile.geometry.slot_bytes / MAP_ENTRY_BYTES) as u64;
        match self.firmware.map_pages() {
            0 => 0,
            _ => slots.div_ceil(entries),
        }
    }

    /// Superblocks of these pages.
    fn map_superblocks(&self, slots: u64) -> u64 {
        let per_block = self
            .profile
            .geometry
            .slots_per_superblock(self.profile.mode);
        self.map_pages_of(slots).div_ceil(per_block as u64)
    }

    /// Writes the pages of the map that say where the first `slots` logical pages lie into the
    /// superblocks from `first` on, where the map does not lie in memory.
    fn fill_map(&mut self, first: u32, slots: u64, pe_cycles: u32) {
        let pages = self.map_pages_of(slots);
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode) as u64;
        let (now, platform) = (self.platform.now, &mut self.platform);
        for i in 0..pages.div_ceil(per_block) {
            let block = SuperblockId(first + i as u32);
            let here = (pages - i * per_block).min(per_block) as u32;
            let from = i * per_block;
            platform.stamps.fill_map(block, from, here);
            let cells = platform.hardware.cells_mut();
            cells.fill(now, block, self.profile.mode, pe_cycles);
            self.firmware
                .mark_filled_with_map(now, block, pe_cycles, from as u32, here, platform);
        }
    }
}
