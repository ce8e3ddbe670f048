//! Fills, wears and ages a drive before its host connects. The contents are computed; the firmware runs
//! through this history on the virtual clock.
//!
//! A drive may have had an earlier fill. It is lived through on the same chips by a drive of its own, whose clock
//! ends where that of the measured fill begins at zero. Only what its firmware has learned goes on
//! ([`firstread_firmware::Learned`]): everything else of it ends with the erase.

use firstread_core::{DieId, Ns, SuperblockId};
use firstread_firmware::ftl::MAP_ENTRY_BYTES;
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::area::AfterOverwrites;
use firstread_firmware::policy::gc_victim::GcVictim;
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_firmware::voltage::groups;
use firstread_firmware::{Learned, SteadyLow};

use super::firmware_builder::FirmwareBuilder;
use super::{Drive, DriveError, StateError};
use crate::initial_contents::{FillOrder, Preconditioned};
use crate::payload::Payload;
use crate::precondition::{self, Filled, FilledLow, LowShape, Precondition, Steady};
use crate::profile::DriveProfile;
use crate::state::{DriveState, EarlierFill, Plan};

/// What a drive is filled with, and when.
struct Filling {
    slots: u64,
    /// Superblocks that they take.
    blocks: u32,
    /// Number of each of them in the order of filling, and then of those of the map.
    numbers: Vec<u32>,
    /// The order of a fill in address order.
    order: FillOrder,
    /// Superblocks whose data had moved there: [`Steady::moved`].
    moved: Vec<SuperblockId>,
    /// Wear of every superblock (P/E cycles).
    wear: Vec<u32>,
    plan: Plan,
    /// The steady state of overwrites, where one is asked for.
    steady: Option<Preconditioned>,
    /// Whether it is the fill before the one that is measured.
    is_earlier: bool,
}

impl Drive {
    /// What the firmware has learned in the life of an earlier fill, where `state` has one and the schemes keep
    /// anything of it.
    pub(super) fn learned_before(
        profile: &DriveProfile,
        builder: &FirmwareBuilder,
        state: &DriveState,
        seed: u64,
    ) -> Result<Option<Learned>, DriveError> {
        let Some(lived) = state.earlier_fill(profile) else {
            return match (state.earlier_fill, state.pe_cycles.1) {
                (EarlierFill::Lived(_), 0) => Err(StateError::NeverErased.into()),
                (EarlierFill::Lived(_), _) => Err(StateError::NothingFilled.into()),
                _ => Ok(None),
            };
        };
        if !builder.schemes(profile).read_levels.outlives_erase() {
            return Ok(None);
        }
        let mut drive = Drive::empty(profile.clone(), builder.clone(), state, seed, ())?;
        drive.live(state, lived)?;
        Ok(Some(drive.firmware.learned()))
    }

    /// The drive is filled once in address order, to the share that `state` says, and lives for `lived`. Each
    /// superblock has one cycle less than `state` says: one that has never been erased holds nothing yet.
    fn live(&mut self, state: &DriveState, lived: Ns) -> Result<(), DriveError> {
        let state = DriveState {
            age: (lived, lived),
            temperature_step: None,
            precondition: Precondition::None,
            ..*state
        };
        self.platform.hardware.cells_mut().before_first_fill();
        let mut filling = self.filling(&state)?;
        filling.is_earlier = true;
        for planned in &mut filling.plan.blocks {
            planned.pe_cycles = planned.pe_cycles.saturating_sub(1);
        }
        let contents = self.firmware.initial_contents_mut();
        contents.fill(filling.slots, &filling.order);
        self.fill(&filling, None);
        self.fill_map(&filling);
        self.wake_firmware();
        self.pass_time(filling.plan.run);
        Ok(())
    }
}

/// The superblocks that overwrites of `needed` superblocks of data have filled in the low wearing area `low`. `ends` are
/// the numbers behind the last superblock of the high wearing area and of the drive, bad ones left out.
fn filled_low(
    low: SteadyLow,
    (high, all): (u32, u32),
    needed: u64,
    precondition: Precondition,
) -> Result<Option<FilledLow>, StateError> {
    let usable = all - high;
    // Whether the rest of the data, and what is kept, fit into the high wearing area. If not, its free superblocks are for
    // everyone: the areas are one drive to host and cleaning.
    let fits = |in_low: u64| needed - in_low + u64::from(low.kept_in_high) <= u64::from(high);
    let filled = |free: u32, spills| FilledLow {
        first: low.first,
        blocks: usable.saturating_sub(free),
        spills,
    };
    match low.holds {
        AfterOverwrites::Spilled { free, spare } => {
            let alike = needed * u64::from(usable) / u64::from(all);
            let settled = alike.min(u64::from(usable.saturating_sub(spare)));
            let shape = LowShape {
                usable: (usable, high),
                free,
                spare,
            };
            Ok(Some(filled(free, fits(settled).then_some(shape))))
        }
        AfterOverwrites::Nothing { .. } if fits(0) => Ok(None),
        AfterOverwrites::Nothing { free } => Ok(Some(filled(free, None))),
        AfterOverwrites::Shared => Err(StateError::AtBound { precondition }),
    }
}

impl<P: Payload> Drive<P> {
    /// Fills and ages the drive, whose firmware has `learned` that before.
    pub(super) fn prepare(
        &mut self,
        state: &DriveState,
        learned: Option<Learned>,
    ) -> Result<(), DriveError> {
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
            None => before.fill(filling.slots, &filling.order),
        }
        self.fill(&filling, learned);
        self.fill_map(&filling);
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
        state.wear_of_last(&mut wear);
        let mut retired = Vec::new();
        if let Some(worn) = &self.profile.worn {
            wear.clone_from(&worn.pe_cycles);
            retired = worn.retired();
        }
        let retired = self.find_bad_blocks(&wear, &retired)?;

        let steady = self.steady_state(state, slots, (&wear, &retired))?;
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
        let with_map = blocks + self.map_superblocks(slots) as u32;
        let left_out = match steady {
            Some(_) => 0..0,
            None => self.firmware.left_out_by_fill(with_map),
        };
        let order = FillOrder::new(&retired, &left_out);
        let numbers: Vec<u32> = match &steady {
            Some(steady) => {
                let of_map = steady.first_of_map..steady.first_of_map + (with_map - blocks);
                let of_map = of_map.map(|place| order.number(place));
                let of_data = (0..blocks).map(|i| steady.state.number(i).0);
                of_data.chain(of_map).collect()
            }
            None => (0..with_map).map(|i| order.number(i)).collect(),
        };
        let of_filled = |number: &u32| wear[*number as usize];
        let wear_of_filled: Vec<u32> = numbers[..blocks as usize].iter().map(of_filled).collect();
        let bins = self.firmware.levels().groups().unwrap_or(&default_groups);
        let in_order = || (0..blocks as u64).rev().collect::<Vec<u64>>();
        let since = steady.as_ref().map_or_else(in_order, |s| s.since.clone());
        // Theory knows slots of data; the parity of their stripes is programmed with them.
        let with_parity = f64::from(geometry.dies()) / f64::from(geometry.data_dies());
        self.is_approximated = steady.as_ref().is_some_and(|s| s.is_approximated);
        self.theory = steady.as_ref().map(|s| s.amplification * with_parity);
        Ok(Filling {
            plan: state.plan(&since, &wear_of_filled, block_fill, bins),
            slots,
            blocks,
            numbers,
            order,
            wear,
            moved: steady.as_ref().map_or(Vec::new(), |s| s.moved.clone()),
            steady: steady.map(|s| s.state),
            is_earlier: false,
        })
    }

    /// Superblocks are filled one after another, from power-on on with the firmware at work.
    fn fill(&mut self, filling: &Filling, mut learned: Option<Learned>) {
        let Filling {
            slots,
            blocks,
            numbers,
            order: _,
            wear,
            moved,
            plan,
            steady,
            is_earlier,
        } = filling;
        let mode = self.profile.mode;
        let per_block = self.profile.geometry.slots_per_superblock(mode);
        let superblocks = self.profile.geometry.blocks_per_plane;
        let numbers = &numbers[..*blocks as usize];
        let mut is_free = vec![true; superblocks as usize];
        numbers
            .iter()
            .for_each(|number| is_free[*number as usize] = false);
        for free in (0..superblocks).filter(|number| is_free[*number as usize]) {
            let (block, pe_cycles) = (SuperblockId(free), wear[free as usize]);
            self.firmware.set_pe_cycles(block, pe_cycles);
            let cells = self.platform.hardware.cells_mut();
            cells.erase(block, mode, pe_cycles);
        }
        for free in (0..superblocks).filter(|number| is_free[*number as usize]) {
            self.assemble(SuperblockId(free));
        }
        let mut started = false;
        for (i, planned) in plan.blocks.iter().enumerate() {
            self.pass_time(planned.at);
            if !started && planned.at > plan.start {
                self.start(plan.start, learned.take());
                started = true;
            }
            let block = SuperblockId(numbers[i]);
            // The fill before this one has one cycle less, and a superblock that was never erased held nothing.
            if *is_earlier && wear[block.0 as usize] == 0 {
                continue;
            }
            let first = i as u64 * per_block as u64;
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
            self.assemble(block);
            self.firmware.mark_filled(
                planned.at,
                block,
                planned.pe_cycles,
                pages,
                &mut self.platform,
            );
            if !started && planned.at >= plan.start {
                self.start(planned.at, learned.take());
                started = true;
            }
            self.wake_firmware();
        }
        for block in moved {
            self.firmware.mark_moved(*block);
        }
        if !started {
            self.start(plan.start.max(self.platform.now), learned);
        }
    }

    /// The hardware learns which spares superblock `block` has, whose cells have their cycles.
    fn assemble(&mut self, block: SuperblockId) {
        let blocks = self.firmware.blocks();
        if blocks.info(block).usage == SuperblockUse::Bad {
            return;
        }
        for die in (0..self.profile.geometry.dies()).map(DieId) {
            let on = blocks.block_of(block, die);
            self.platform.hardware.assemble(block, die, on, true);
        }
    }

    /// Power is on at `at`, and the firmware has `learned` that before.
    fn start(&mut self, at: Ns, learned: Option<Learned>) {
        let platform = &mut self.platform;
        match learned {
            Some(learned) => self.firmware.start_again(at, learned, platform),
            None => self.firmware.start(at, platform),
        }
    }

    /// Draws which blocks are bad, tells the firmware, and returns the superblocks that are retired: `retired`, and as many more
    /// as the bad blocks cost.
    fn find_bad_blocks(
        &mut self,
        pe_cycles: &[u32],
        retired: &[u32],
    ) -> Result<Vec<u32>, StateError> {
        let mut bad = Vec::new();
        for (block, &pe_cycles) in (0..).map(SuperblockId).zip(pe_cycles) {
            let failures = &mut self.platform.hardware.failures;
            failures.make(block, pe_cycles, |die, _| bad.push((block, die)));
        }
        let before: Vec<SuperblockId> = retired.iter().copied().map(SuperblockId).collect();
        if !self.firmware.set_bad_blocks(&bad, &before) {
            let too_many = StateError::too_many_bad(&self.profile, &bad, before.len());
            return Err(too_many);
        }
        let retired: Vec<u32> = self.firmware.retired().collect();
        StateError::of_retired(&self.profile, &retired)?;
        Ok(retired)
    }

    /// The steady state that `state` asks for with `pages` pages, if it asks for one, where superblocks are worn as `wear`
    /// says and those in `retired` are retired. Only the reserve is free, as after a host that writes as fast as it can: garbage
    /// collection then never gets ahead. (On average one and a half superblocks are free then and two half full, which make
    /// one that is full and one that is free.) Each stream of a scheme takes part in that with a superblock.
    fn steady_state(
        &self,
        state: &DriveState,
        pages: u64,
        (wear, retired): (&[u32], &[u32]),
    ) -> Result<Option<Steady>, StateError> {
        let precondition = state.precondition;
        if precondition == Precondition::None || pages == 0 {
            return Ok(None);
        }
        let geometry = self.profile.geometry;
        let slots = geometry.slots_per_superblock(self.profile.mode);
        let per_block = u64::from(slots);
        let order = FillOrder::new(retired, &(0..0));
        let all = geometry.blocks_per_plane - retired.len() as u32;
        let of_map = self.map_superblocks(pages) as u32;
        let mut space = self.firmware.steady_space(wear);
        if let Some(low) = &mut space.low {
            low.first = order.taken_below(low.first);
        }
        let law = self.firmware.gc_victim().law();
        let law = law.ok_or(StateError::NoTheory { precondition })?;
        // Superblocks for data outside the low wearing area, and in it.
        let end = space.low.map_or(all, |low| low.first.min(all));
        let high = end.saturating_sub(space.free + of_map);
        let low = match space.low {
            Some(low) => filled_low(low, (end, all), pages.div_ceil(per_block), precondition)?,
            None => None,
        };
        let free = all - of_map - high - low.map_or(0, |low| low.blocks);
        let needed = pages.div_ceil(per_block) + u64::from(of_map);
        if needed + u64::from(free) >= u64::from(all) {
            return Err(StateError::Full {
                precondition,
                needed,
                superblocks: u64::from(all),
                free: u64::from(free),
            });
        }
        let filled = Filled {
            blocks: high,
            slots,
            pages,
            low,
        };
        let seeds = (self.seed, state.workload_seed);
        let mut steady = precondition::steady(precondition, &filled, law, seeds)?;
        if retired.iter().any(|number| *number < all) {
            steady.lies_in(&order);
        }
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

    /// Writes the pages of the map that say where the pages of `filling` lie into the superblocks behind these, where the
    /// map does not lie in memory.
    fn fill_map(&mut self, filling: &Filling) {
        let pages = self.map_pages_of(filling.slots);
        let geometry = self.profile.geometry;
        let per_block = geometry.slots_per_superblock(self.profile.mode) as u64;
        for i in 0..pages.div_ceil(per_block) {
            let (now, platform) = (self.platform.now, &mut self.platform);
            let block = SuperblockId(filling.numbers[filling.blocks as usize + i as usize]);
            let pe_cycles =
                filling.wear[block.0 as usize].saturating_sub(filling.is_earlier.into());
            let here = (pages - i * per_block).min(per_block) as u32;
            let from = i * per_block;
            platform.stamps.fill_map(block, from, here);
            let cells = platform.hardware.cells_mut();
            cells.fill(now, block, self.profile.mode, pe_cycles);
            self.firmware
                .mark_filled_with_map(now, block, pe_cycles, from as u32, here, platform);
            self.assemble(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use firstread_firmware::observe::SuperblockUse;
    use firstread_firmware::policy::AXES;

    use super::*;
    use crate::profile::{Library, load_drive};
    use crate::tables;

    /// Each superblock of an earlier fill has one cycle less than it is stated to have when it is measured, and is as
    /// old as the fill lived, with data of its own. What has never been erased held nothing.
    #[test]
    fn what_an_earlier_fill_wears() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let tables = tables::for_drive(&profile).unwrap();
        let state = DriveState {
            pe_cycles: (0, 2),
            age: (Ns::from_h(1), Ns::from_h(9)),
            temperature_c: 40.0,
            temperature_step: Some((Ns::from_h(2), 80.0)),
            ..DriveState::default()
        };
        let lived = Ns::from_h(3);
        let code = firstread_ecc::Code::named(&profile.ecc.code).unwrap();
        let builder = FirmwareBuilder::new(&profile, tables, &code, state.hottest_c(), 1).unwrap();
        let new = || Drive::empty(profile.clone(), builder.clone(), &state, 1, ()).unwrap();
        let (mut drive, mut earlier) = (new(), new());
        drive.prepare(&state, None).unwrap();
        earlier.live(&state, lived).unwrap();
        let mut wears = BTreeSet::new();
        let mut youngest = Ns::MAX;
        for (block, info) in drive.blocks().with_data() {
            let before = earlier.blocks().info(block);
            wears.insert(info.pe_cycles);
            if info.pe_cycles == 0 {
                assert_eq!(before.usage, SuperblockUse::Free, "{block:?}");
                continue;
            }
            assert_eq!(before.usage, SuperblockUse::Full, "{block:?}");
            let version = |drive: &Drive| drive.platform.hardware.cells().version(block);
            assert_ne!(version(&earlier), version(&drive), "{block:?}");
            assert_eq!(before.pe_cycles, info.pe_cycles - 1, "{block:?}");
            youngest = youngest.min(earlier.now() - before.programmed_at);
        }
        assert_eq!(wears, BTreeSet::from([0, 1, 2]));
        let longer = youngest - lived;
        assert!(longer < Ns::from_s(300), "{youngest:?}");
        assert_eq!(earlier.temperature_c(earlier.now()), 40.0);
    }
}
