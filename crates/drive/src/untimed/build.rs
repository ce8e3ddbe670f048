//! A drive without time, made from a profile and filled and worn as a timed drive is.

use firstread_core::{CellMode, Ns, Stream, SuperblockId};
use firstread_ecc::{Code, CodeError};
use firstread_firmware::ftl::MAP_ENTRY_BYTES;
use firstread_firmware::voltage::groups;
use thiserror::Error;

use super::UntimedDrive;
use super::flash::InstantFlash;
use crate::drive::firmware_builder::FirmwareBuilder;
use crate::drive::{DriveError, StateError};
use crate::hardware::failures::{BadPlanes, Failures};
use crate::initial_contents::FillOrder;
use crate::profile::{DriveProfile, SchemeChoice};
use crate::state::DriveState;
use crate::tables::DriveTables;

/// Why a drive without time cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum UntimedError {
    /// The drive cannot be made, or not in the state asked for.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// More pages than a slot can name.
    #[error(
        "{pages} mapping units, those of the map among them, are more than the {} that a life can be simulated with; raise \
         `geometry.mapping_unit`, or take fewer wordlines (`geometry.wordlines_per_block`) and less `capacity`",
        InstantFlash::MOST_PAGES
    )]
    Pages {
        /// Pages of host and map.
        pages: u64,
    },
}

/// Axes of what happens within a read or between operations of a die: where nothing takes time, their baselines.
const TIMED_AXES: [&str; 4] = ["read_levels", "retry", "read_recovery", "suspend"];

impl UntimedDrive {
    /// A drive of `profile` that was filled in address order to the share that `state` says, with the P/E cycles of
    /// `state`, or those where the profile says that a life left them. Nothing else of `state` is used: it is just filled. `seed`
    /// draws its bad blocks and what its firmware draws.
    ///
    /// # Errors
    /// [`UntimedError`] where `profile` cannot be simulated or the drive cannot be in `state`.
    pub fn new(
        profile: DriveProfile,
        tables: DriveTables,
        state: &DriveState,
        seed: u64,
    ) -> Result<UntimedDrive, UntimedError> {
        let profile = without_reads(profile);
        let code = |e: CodeError| DriveError::from(e);
        let code = Code::named(&profile.ecc.code).map_err(code)?;
        let builder = FirmwareBuilder::new(&profile, tables, &code, state.hottest_c(), seed);
        let builder = builder.map_err(DriveError::from)?;
        let firmware = builder.firmware(&profile, builder.schemes(&profile));
        let geometry = profile.geometry;
        let capacity = profile.capacity_bytes / u64::from(geometry.slot_bytes);
        let pages = capacity + u64::from(firmware.map_pages());
        if pages > InstantFlash::MOST_PAGES {
            return Err(UntimedError::Pages { pages });
        }
        let endurance = CellMode::ALL.map(|mode| {
            let mode = profile.chip.mode(mode);
            mode.map_or(1, |m| m.endurance_pe_cycles)
        });
        let failures = Failures::new(
            profile.chip.failures,
            endurance,
            (profile.mode, profile.cycle_damage()),
            &geometry,
            seed,
        );
        let buffers = firmware.buffer_slots();
        let mut drive = UntimedDrive {
            flash: InstantFlash::new(geometry, profile.mode, buffers, failures),
            profile,
            firmware,
        };
        drive.fill(state, seed)?;
        Ok(drive)
    }

    /// Fills the drive in address order at its sustained rate.
    fn fill(&mut self, state: &DriveState, seed: u64) -> Result<(), DriveError> {
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode);
        let capacity = self.profile.capacity_bytes / u64::from(geometry.slot_bytes);
        let slots = (capacity as f64 * state.fill) as u64;
        let blocks = slots.div_ceil(u64::from(per_block)) as u32;
        let bins = groups::groups(0);
        let mut wear = state.deal_wear(blocks, &bins, seed);
        wear.resize(geometry.blocks_per_plane as usize, state.pe_cycles.0);
        state.wear_of_last(&mut wear);
        let mut retired = Vec::new();
        if let Some(worn) = &self.profile.worn {
            wear.clone_from(&worn.pe_cycles);
            retired = worn.retired();
        }
        if self.profile.worn.is_none() {
            self.spread_by_rate(&mut wear, seed);
        }
        self.find_bad_blocks(&wear, &retired)?;

        let with_map = blocks + self.map_superblocks(slots);
        let retired: Vec<u32> = self.firmware.retired().collect();
        let order = FillOrder::new(&retired, &self.firmware.left_out_by_fill(with_map));
        let of_filled = |i: u32| wear[order.number(i) as usize];
        let wear_of_filled: Vec<u32> = (0..blocks).map(of_filled).collect();
        let block_bytes = u128::from(per_block) * u128::from(geometry.slot_bytes);
        let rate = u128::from(self.profile.fill_rate().bytes_per_s());
        let block_fill = Ns((block_bytes * 1_000_000_000 / rate) as u64);
        let since: Vec<u64> = (0..u64::from(blocks)).rev().collect();
        let just_filled = DriveState {
            age: (Ns::ZERO, Ns::ZERO),
            ..*state
        };
        let plan = just_filled.plan(&since, &wear_of_filled, block_fill, &bins);
        self.firmware.initial_contents_mut().fill(slots, &order);
        let is_filled = |number: &u32| order.place(*number).is_some_and(|i| i < blocks);
        for free in (0..geometry.blocks_per_plane).filter(|number| !is_filled(number)) {
            let pe_cycles = wear[free as usize];
            self.firmware.set_pe_cycles(SuperblockId(free), pe_cycles);
        }
        for (i, planned) in (0..blocks).zip(&plan.blocks) {
            let first = u64::from(i) * u64::from(per_block);
            let pages = (slots - first).min(u64::from(per_block)) as u32;
            let block = SuperblockId(order.number(i));
            self.flash.fill(block, first, pages);
            let at = self.flash.advance(planned.at);
            let pe_cycles = planned.pe_cycles;
            let ports = &mut self.flash;
            self.firmware
                .mark_filled(at, block, pe_cycles, pages, ports);
        }
        let now = self.flash.advance(plan.run);
        self.firmware.start(now, &mut self.flash);
        self.fill_map((blocks, &order), slots, &wear);
        self.settle();
        Ok(())
    }

    /// Where each erase stands for several cycles, each superblock is at a point of its own between two erases: otherwise
    /// those that wear alike would all reach a bound, and fail, in the same step. Superblocks that a life has worn are apart already.
    fn spread_by_rate(&self, wear: &mut [u32], seed: u64) {
        let rate = u64::from(self.profile.wear_rate);
        let phase = Stream::new(seed).named("phase of a superblock at a wear rate");
        for (block, wear) in (0..).zip(wear) {
            *wear += phase.at(block).below(rate) as u32;
        }
    }

    /// Draws which blocks are bad, and tells the firmware; superblocks `retired` are retired.
    fn find_bad_blocks(&mut self, pe_cycles: &[u32], retired: &[u32]) -> Result<(), StateError> {
        let mut bad = Vec::new();
        let mut planes = BadPlanes::default();
        for (block, &pe_cycles) in (0..).map(SuperblockId).zip(pe_cycles) {
            let failures = &mut self.flash.failures;
            failures.make(block, pe_cycles, |die, of_block| {
                bad.push((block, die));
                planes.factory += of_block.factory;
                planes.grown += of_block.grown;
            });
        }
        self.flash.count_bad(planes);
        let before: Vec<SuperblockId> = retired.iter().copied().map(SuperblockId).collect();
        match self.firmware.set_bad_blocks(&bad, &before) {
            true => {
                let retired: Vec<u32> = self.firmware.retired().collect();
                StateError::of_retired(&self.profile, &retired)
            }
            false => Err(StateError::too_many_bad(&self.profile, &bad, before.len())),
        }
    }

    /// Pages of the map that say where the first `slots` logical pages lie; none where the map lies in memory.
    fn map_pages_of(&self, slots: u64) -> u64 {
        let entries = u64::from(self.profile.geometry.slot_bytes / MAP_ENTRY_BYTES);
        match self.firmware.map_pages() {
            0 => 0,
            _ => slots.div_ceil(entries),
        }
    }

    /// Superblocks of these pages.
    fn map_superblocks(&self, slots: u64) -> u32 {
        let geometry = &self.profile.geometry;
        let per_block = u64::from(geometry.slots_per_superblock(self.profile.mode));
        self.map_pages_of(slots).div_ceil(per_block) as u32
    }

    /// Writes these pages into the superblocks behind the `filled` ones.
    fn fill_map(&mut self, filled: (u32, &FillOrder), slots: u64, wear: &[u32]) {
        let geometry = self.profile.geometry;
        let per_block = u64::from(geometry.slots_per_superblock(self.profile.mode));
        let capacity = self.profile.capacity_bytes / u64::from(geometry.slot_bytes);
        let pages = self.map_pages_of(slots);
        for i in 0..pages.div_ceil(per_block) {
            let block = SuperblockId(filled.1.number(filled.0 + i as u32));
            let from = i * per_block;
            let here = (pages - from).min(per_block) as u32;
            self.flash.fill(block, capacity + from, here);
            let pe_cycles = wear[block.0 as usize];
            let (now, ports) = (self.flash.now(), &mut self.flash);
            self.firmware
                .mark_filled_with_map(now, block, pe_cycles, from as u32, here, ports);
        }
    }
}

/// `profile` with the baselines of the axes that act within reads or on the time of a die.
fn without_reads(mut profile: DriveProfile) -> DriveProfile {
    profile.chip.timing.independent_plane_reads = false;
    for choice in &mut profile.schemes {
        if TIMED_AXES.contains(&choice.axis.name) {
            let baseline = &choice.axis.schemes[0];
            *choice = SchemeChoice {
                axis: choice.axis,
                scheme: baseline,
                values: baseline
                    .params
                    .iter()
                    .map(|param| param.default())
                    .collect(),
            };
        }
    }
    profile
}
