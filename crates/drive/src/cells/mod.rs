//! The medium joined with the code: outcomes of senses and their decoding.

mod by_retries;
mod group_oracle;
mod sense;
mod sensed;
mod verdicts;

use std::collections::BTreeMap;
use std::fmt;

use firstread_core::flash::planes_of;
use firstread_core::voltage::BlockGroups;
use firstread_core::{
    BlockId, CellMode, CycleDamage, Damage, DieId, Ns, PageType, SenseMode, SenseTiming,
    SuperblockId,
};
use firstread_ecc::{Code, DecodeTiming};
use firstread_nand::{BlockState, CachedCondition, Medium};

use group_oracle::GroupOracle;
use verdicts::Checks;

pub(crate) use by_retries::ByRetries;
pub use by_retries::ShortTable;
pub(crate) use sensed::Sensed;

/// Where the errors of cells come from.
#[derive(Clone)]
pub(crate) enum Errors {
    /// From their voltages: the medium.
    OfVoltages,
    None,
    /// From a formula of retries.
    ByRetries(Box<ByRetries>),
}

/// A spare in a superblock.
#[derive(Clone, Copy, Debug)]
struct Joined {
    superblock: SuperblockId,
    /// Cycles of the superblock minus those of the spare.
    less: i64,
    /// Cached condition of its cells, and the number of the look at those of the superblock after which it was cached.
    cached_condition: Option<(u32, CachedCondition)>,
}

/// The cells of a drive, with their code.
#[derive(Clone)]
pub(crate) struct Cells {
    medium: Medium,
    code: Code,
    checks: Checks,
    decode: DecodeTiming,
    /// Bytes of a codeword in flash.
    codeword_bytes: u64,
    /// Spare cells of each of their states per wordline, by mode.
    spare_cells: [u16; 4],
    /// Bytes that spare cells add to the transfer of a page.
    spare_bytes: u64,
    errors: Errors,
    blocks: Vec<BlockState>,
    /// Damage by a cycle in each mode.
    cycle_damage: CycleDamage,
    /// Spares in superblocks, by block and die.
    joined: BTreeMap<(u32, u16), Joined>,
    /// Cached condition of each superblock's cells, dropped by any change other than time and reads.
    cached_condition: Vec<Option<CachedCondition>>,
    /// How often the condition of each superblock's cells was looked at.
    looks: Vec<u32>,
    /// Codewords per page.
    per_page: u32,
    /// `per_page` one bits.
    page_mask: u64,
    /// The plane of each codeword that an operation can want.
    plane_of: [u8; 64],
    /// Planes sensed of each superblock since it was programmed. The medium needs the mean per block: this
    /// count divided by the number of blocks. The count is kept as an integer, because adding up the small
    /// quotients as floats would stop at some size.
    planes_sensed: Vec<u64>,
    /// One divided by the number of blocks per superblock.
    per_block: f64,
    /// When each superblock that holds data was programmed, by the firmware's clock.
    programmed_at: Vec<Option<Ns>>,
    /// Number of senses so far, which identifies the noise of each.
    senses: u64,
    /// How far the cells' clock is ahead of the firmware's, which stands still without power.
    unpowered: Ns,
    /// Array time of a hard read at default timing, by mode and page type (ns).
    read_ns: [[u64; 4]; 4],
    oracle: GroupOracle,
}

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells")
            .field("senses", &self.senses)
            .finish_non_exhaustive()
    }
}

impl Cells {
    pub(crate) fn new(
        medium: Medium,
        code: Code,
        decode: DecodeTiming,
        errors: Errors,
        mode: CellMode,
        groups: Option<BlockGroups>,
    ) -> Cells {
        let geometry = *medium.geometry();
        let per_page = geometry.codewords_per_page();
        let fresh = medium.programmed(mode, 0, 0, Ns::ZERO);
        let mut read_ns = [[0; 4]; 4];
        for (m, row) in CellMode::ALL.into_iter().zip(&mut read_ns) {
            for (page, ns) in (0..m.bits()).zip(row.iter_mut()) {
                // The drive never erases into a mode that the chip lacks, so the zero is never used.
                *ns = medium
                    .read_ns(m, PageType(page), SenseMode::Hard, SenseTiming::DEFAULT)
                    .unwrap_or(0);
            }
        }
        Cells {
            cycle_damage: CycleDamage::ALIKE,
            blocks: vec![fresh; geometry.blocks_per_plane as usize],
            joined: BTreeMap::new(),
            looks: vec![0; geometry.blocks_per_plane as usize],
            cached_condition: vec![None; geometry.blocks_per_plane as usize],
            per_page,
            page_mask: u64::MAX >> (64 - per_page),
            plane_of: core::array::from_fn(|codeword| (codeword as u32 / per_page) as u8),
            planes_sensed: vec![0; geometry.blocks_per_plane as usize],
            per_block: 1.0 / (geometry.dies() as f64 * geometry.planes as f64),
            programmed_at: vec![None; geometry.blocks_per_plane as usize],
            oracle: GroupOracle::new(groups, code.clone()),
            medium,
            codeword_bytes: (code.codeword_bits() as u64).div_ceil(8),
            checks: Checks::new(&code),
            code,
            decode,
            spare_cells: [0; 4],
            spare_bytes: 0,
            errors,
            senses: 0,
            unpowered: Ns::ZERO,
            read_ns,
        }
    }

    /// These cells are to hold the fill before the first one: version 0, with noise of its own.
    pub(crate) fn before_first_fill(&mut self) {
        self.blocks.iter_mut().for_each(|b| b.version = u32::MAX);
        self.senses = 1 << 63;
    }

    /// Sets the damage by a cycle in each mode.
    pub(crate) fn set_cycle_damage(&mut self, damage: CycleDamage) {
        self.cycle_damage = damage;
    }

    /// Sets the groups by which a group oracle reads.
    pub(crate) fn set_groups(&mut self, groups: Option<BlockGroups>, code: Code) {
        self.oracle = GroupOracle::new(groups, code);
    }

    /// `ppm` millionths of the cells of every wordline are programmed to states known to the firmware.
    pub(crate) fn set_spare(&mut self, ppm: u32) {
        for (mode, cells) in CellMode::ALL.into_iter().zip(&mut self.spare_cells) {
            *cells = self.medium.spare_cells(mode, ppm).unwrap_or(0);
        }
        self.spare_bytes = (self.medium.cells() as u64 * ppm as u64 / 1_000_000).div_ceil(8);
    }

    /// The drive is at `celsius` from `now` on.
    pub(crate) fn set_temperature(
        &mut self,
        now: Ns,
        celsius: f64,
    ) -> Result<(), firstread_nand::ProfileError> {
        self.cached_condition.fill(None);
        self.medium.set_temperature(now + self.unpowered, celsius)
    }

    /// Temperature at `now` (°C), as far as is planned.
    pub(crate) fn temperature_c(&self, now: Ns) -> f64 {
        self.medium.history().temperature_c(now + self.unpowered)
    }

    /// When the temperature changes last, as far as is planned; not before zero.
    pub(crate) fn last_change(&self) -> Ns {
        let last = self.medium.history().last_change();
        Ns(last.0.saturating_sub(self.unpowered.0))
    }

    /// The cells age by `time`, during which the firmware has no power.
    pub(crate) fn power_off(&mut self, time: Ns) {
        self.unpowered += time;
    }

    /// `block` was programmed completely at `now`.
    pub(crate) fn fill(&mut self, now: Ns, block: SuperblockId, mode: CellMode, pe_cycles: u32) {
        let version = self.blocks[block.0 as usize].version.wrapping_add(1);
        self.programmed_at[block.0 as usize] = Some(now);
        self.cached_condition[block.0 as usize] = None;
        self.planes_sensed[block.0 as usize] = 0;
        self.blocks[block.0 as usize] =
            self.medium
                .programmed(mode, pe_cycles, version, now + self.unpowered);
    }

    /// `block` was erased into `mode`, at `pe_cycles`.
    pub(crate) fn erase(&mut self, block: SuperblockId, mode: CellMode, pe_cycles: u32) {
        let state = &mut self.blocks[block.0 as usize];
        state.mode = mode;
        (state.pe_cycles, state.pe_milli) = (pe_cycles, 0);
        self.cached_condition[block.0 as usize] = None;
        self.programmed_at[block.0 as usize] = None;
    }

    /// `block` was erased into `mode` by the firmware: one more cycle in the mode that it leaves.
    pub(crate) fn erased(&mut self, block: SuperblockId, mode: CellMode) {
        let state = &self.blocks[block.0 as usize];
        let damage = Damage {
            cycles: state.pe_cycles,
            milli: state.pe_milli,
        };
        let damage = damage.after_cycle(state.mode, self.cycle_damage);
        self.erase(block, mode, damage.cycles);
        self.blocks[block.0 as usize].pe_milli = damage.milli;
    }

    /// Superblock `block` has block `on` of `die`, which was in a superblock that is retired. If it is `made` so, the drive has had it
    /// since it was made.
    pub(crate) fn join(&mut self, block: SuperblockId, die: DieId, on: BlockId, made: bool) {
        let cycles = |block: SuperblockId| i64::from(self.blocks[block.0 as usize].pe_cycles);
        let known = self.joined.get(&(on.0, die.0)).filter(|_| !made);
        let own = match known {
            Some(known) if known.superblock == block => return,
            Some(known) => cycles(known.superblock) - known.less,
            None => cycles(SuperblockId(on.0)),
        };
        let joined = Joined {
            superblock: block,
            less: cycles(block) - own,
            cached_condition: None,
        };
        self.joined.insert((on.0, die.0), joined);
    }

    /// The state of block `on` of `die`, which superblock `block` has.
    fn state_of(&self, block: SuperblockId, die: DieId, on: BlockId) -> BlockState {
        let state = self.blocks[block.0 as usize];
        let joined = self.joined.get(&(on.0, die.0));
        let less = joined.map_or(0, |joined| joined.less);
        let pe_cycles = (i64::from(state.pe_cycles) - less).clamp(0, u32::MAX.into()) as u32;
        BlockState { pe_cycles, ..state }
    }

    /// How often `block` was written, which decides its data.
    #[cfg(test)]
    pub(crate) fn version(&self, block: SuperblockId) -> u32 {
        self.blocks[block.0 as usize].version
    }

    /// P/E cycles of `block`, and thousandths of one beyond.
    #[cfg(test)]
    pub(crate) fn pe_cycles(&self, block: SuperblockId) -> (u32, u16) {
        let state = &self.blocks[block.0 as usize];
        (state.pe_cycles, state.pe_milli)
    }

    /// A die's part of `wordline` of `block` was programmed. The first program starts the age of the
    /// superblock.
    pub(crate) fn program(&mut self, now: Ns, block: SuperblockId, wordline: u16) {
        if self.programmed_at[block.0 as usize].is_none() {
            let BlockState {
                mode,
                pe_cycles,
                pe_milli,
                ..
            } = self.blocks[block.0 as usize];
            self.fill(now, block, mode, pe_cycles);
            // `fill` is for whole cycles, of a drive that is filled by arithmetic.
            self.blocks[block.0 as usize].pe_milli = pe_milli;
            self.blocks[block.0 as usize].written_wordlines = 0;
        }
        self.cached_condition[block.0 as usize] = None;
        let written = &mut self.blocks[block.0 as usize].written_wordlines;
        *written = (*written).max(wordline + 1);
    }

    pub(crate) fn medium(&self) -> &Medium {
        &self.medium
    }
    /// Whether the cells never err.
    #[inline]
    pub(crate) fn are_ideal(&self) -> bool {
        matches!(self.errors, Errors::None)
    }
    pub(crate) fn mode(&self, block: SuperblockId) -> CellMode {
        self.blocks[block.0 as usize].mode
    }
    /// Bytes that spare cells add to the transfer of codewords `wanted`: each plane's page comes with its
    /// spare cells.
    #[inline]
    pub(crate) fn spare_bytes(&self, wanted: u64) -> u64 {
        if self.spare_bytes == 0 {
            return 0;
        }
        let planes =
            (0..64 / self.per_page).filter(|p| wanted >> (p * self.per_page) & self.page_mask != 0);
        planes.count() as u64 * self.spare_bytes
    }
    /// Bytes of a codeword in flash, including parity.
    pub(crate) fn codeword_bytes(&self) -> u64 {
        self.codeword_bytes
    }

    /// Array time of a read of `page` in a block of `mode` (ns).
    #[inline]
    pub(crate) fn read_ns(
        &self,
        mode: CellMode,
        page: PageType,
        sense: SenseMode,
        timing: SenseTiming,
    ) -> u64 {
        if sense == SenseMode::Hard && timing == SenseTiming::DEFAULT {
            return self.read_ns[mode.bits() as usize - 1][page.0 as usize];
        }
        self.medium
            .read_ns(mode, page, sense, timing)
            .expect("the firmware reads pages that the mode has")
    }
    pub(crate) fn program_ns(&self, block: SuperblockId) -> u64 {
        self.medium
            .program_ns(self.mode(block))
            .expect("a block's mode is one of the chip's")
    }
    pub(crate) fn erase_ns(&self, mode: CellMode) -> u64 {
        self.medium
            .erase_ns(mode)
            .expect("a block's mode is one of the chip's")
    }

    /// `planes` more planes of `block` have been sensed, which disturbs cells that err.
    #[inline]
    fn count(&mut self, block: SuperblockId, planes: u64) {
        if self.are_ideal() {
            return;
        }
        let all = &mut self.planes_sensed[block.0 as usize];
        *all += planes;
        self.blocks[block.0 as usize].reads = (*all as i64 as f64 * self.per_block) as f32;
    }

    /// Number of planes that `codewords` lie on.
    pub(crate) fn planes(&self, codewords: u64) -> u64 {
        planes_of(codewords, self.per_page).count_ones() as u64
    }

    /// The planes with codewords in `wanted` were sensed, but only those in `output` are used.
    pub(crate) fn count_unused_sense(&mut self, block: SuperblockId, wanted: u64, output: u64) {
        self.count(block, self.planes(wanted) - self.planes(output));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Library, load_drive};
    use firstread_core::{Buf, FlashKind, FlashOp, Levels, OpClass, Tag};
    use firstread_firmware::policy::AXES;
    use firstread_nand::ReadLevels;

    /// A fill before the first one is of other data with other noise: what is learned from it is not learned from the
    /// cells that are measured.
    #[test]
    fn what_an_earlier_fill_writes_is_not_what_is_measured() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let medium = Medium::new(profile.chip.clone(), profile.geometry, 1).unwrap();
        let code = Code::named(&profile.ecc.code).unwrap();
        let (timing, mode) = (profile.ecc.timing, profile.mode);
        let mut cells = Cells::new(medium, code, timing, Errors::OfVoltages, mode, None);
        let mut earlier = cells.clone();
        earlier.before_first_fill();
        for cells in [&mut cells, &mut earlier] {
            cells.fill(Ns::ZERO, SuperblockId(7), mode, 300);
        }
        let version = |cells: &Cells| cells.version(SuperblockId(7));
        assert_eq!((version(&earlier), version(&cells)), (0, 1));
        assert!(earlier.senses > u64::MAX / 2 && cells.senses == 0);
    }

    /// A block that was cycled in SLC mode errs, as QLC, like one with as many QLC cycles as these have damaged it.
    #[test]
    fn formula_errors_follow_the_damage_of_cycles_in_another_mode() {
        let rate = |slc_milli: u32, slc_cycles: u32, pe_cycles: u32| {
            let profile = load_drive(&Library::new(), "raro-femu", &[], AXES).unwrap();
            let medium = Medium::new(profile.chip.clone(), profile.geometry, 1).unwrap();
            let code = Code::named(&profile.ecc.code).unwrap();
            let (timing, mode) = (profile.ecc.timing, profile.mode);
            let mut cells = Cells::new(medium, code, timing, Errors::OfVoltages, mode, None);
            cells.set_cycle_damage(CycleDamage::new([slc_milli, 1000, 1000, 1000]));
            let block = SuperblockId(3);
            cells.erase(block, CellMode::Qlc, pe_cycles);
            for _ in 0..slc_cycles {
                cells.erased(block, CellMode::Slc);
            }
            if slc_cycles > 0 {
                cells.erased(block, CellMode::Qlc);
            }
            cells.program(Ns::ZERO, block, 0);
            let state = cells.blocks[3];
            let (month, levels) = (Ns::from_h(24 * 30), ReadLevels::Ideal);
            let rate = cells
                .medium
                .nominal_rber(PageType(1), &state, month, &levels);
            (state.cycles(), rate.unwrap())
        };
        // 300 cycles, then one of QLC and 1,500 of SLC.
        let (alike, least, between) = (
            rate(1000, 1500, 300),
            rate(10, 1500, 300),
            rate(101, 1500, 300),
        );
        let at = |cycles| rate(1000, 0, cycles);
        assert_eq!(alike, at(1801));
        assert_eq!(least, at(316));
        assert_eq!(between.0, 301.0 + 151.5);
        assert!(
            at(452).1 < between.1 && between.1 < at(453).1,
            "{between:?}"
        );
        assert!(alike.1 > 1.5 * least.1, "{alike:?}, {least:?}");
    }

    /// The read count of a block follows the number of planes sensed, for any number of them.
    #[test]
    fn formula_reads_of_a_block_never_stop_counting() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let geometry = profile.geometry;
        let mut medium = Medium::new(profile.chip.clone(), geometry, 1).unwrap();
        medium.set_temperature(Ns::ZERO, 25.0).unwrap();
        let mut cells = Cells::new(
            medium,
            Code::named(&profile.ecc.code).unwrap(),
            profile.ecc.timing,
            Errors::OfVoltages,
            profile.mode,
            None,
        );
        cells.fill(Ns::ZERO, SuperblockId(0), profile.mode, 0);
        let per_page = geometry.codewords_per_page();
        let mut sense = |planes: u32, times: u64| {
            let op = FlashOp {
                tag: Tag(0),
                die: DieId(3),
                after: None,
                class: OpClass::HostRead,
                queued: Ns::ZERO,
                kind: FlashKind::Read {
                    block: SuperblockId(0),
                    on: BlockId(0),
                    wordline: 0,
                    page: PageType(0),
                    cell_mode: profile.mode,
                    wanted: u64::MAX >> (64 - planes * per_page),
                    levels: Levels::DEFAULT,
                    timing: SenseTiming::DEFAULT,
                    mode: SenseMode::Hard,
                    buf: Buf::NONE,
                },
            };
            (0..times).for_each(|_| {
                cells.sense(Ns::ZERO, &op);
            });
            cells.blocks[0].reads
        };
        let blocks = geometry.dies() as f32 * geometry.planes as f32;
        assert_eq!(sense(1, 3), 3.0 / blocks, "one plane is one block");
        assert_eq!(sense(4, 1), 7.0 / blocks, "four planes are four");
        let blocks = blocks as u64;
        cells.count(SuperblockId(0), 40_000 * blocks - 7);
        assert_eq!(cells.blocks[0].reads, 40_000.0);
        // A single-precision sum would have stopped growing here.
        (0..100 * blocks).for_each(|_| cells.count(SuperblockId(0), 1));
        assert_eq!(cells.blocks[0].reads, 40_100.0);
    }

    /// A page of a superblock is read from the block that the superblock has: a spare has its own cells, and the cycles that it
    /// came with.
    #[test]
    fn formula_a_spare_has_its_own_cells_and_cycles() {
        let profile = load_drive(&Library::new(), "dc-qlc-15t", &[], AXES).unwrap();
        let medium = Medium::new(profile.chip.clone(), profile.geometry, 1).unwrap();
        let code = Code::named(&profile.ecc.code).unwrap();
        let (timing, mode) = (profile.ecc.timing, profile.mode);
        let errors = |worn: u32, spare_worn: u32, block: u32, on: u32, joined: bool| {
            let mut medium = medium.clone();
            medium.set_temperature(Ns::ZERO, 40.0).unwrap();
            let mut cells =
                Cells::new(medium, code.clone(), timing, Errors::OfVoltages, mode, None);
            let (own, spare) = (SuperblockId(1), SuperblockId(7));
            cells.erase(spare, mode, spare_worn);
            cells.fill(Ns::ZERO, own, mode, worn);
            if block == spare.0 {
                cells.fill(Ns::ZERO, spare, mode, spare_worn);
            }
            if joined {
                cells.join(own, DieId(3), BlockId(spare.0), false);
            }
            let read = |wordline: u16| FlashOp {
                tag: Tag(0),
                die: DieId(3),
                after: None,
                class: OpClass::HostRead,
                queued: Ns::ZERO,
                kind: FlashKind::Read {
                    block: SuperblockId(block),
                    on: BlockId(on),
                    wordline,
                    page: PageType(2),
                    cell_mode: mode,
                    wanted: 1,
                    levels: Levels::DEFAULT,
                    timing: SenseTiming::DEFAULT,
                    mode: SenseMode::Hard,
                    buf: Buf(0),
                },
            };
            let at = Ns::from_s(60);
            let errors = (0..40).map(|w| cells.sense(at, &read(w * 7)).sum_errors);
            errors.collect::<Vec<u32>>()
        };
        let sum = |errors: &[u32]| errors.iter().sum::<u32>();
        let own = errors(2500, 2500, 1, 1, false);
        let spare = errors(2500, 2500, 1, 7, true);
        assert_ne!(own, spare);
        assert_eq!(
            spare,
            errors(2500, 2500, 7, 7, false),
            "the cells of block 7"
        );
        let young = errors(2500, 100, 1, 7, true);
        assert_eq!(young, errors(2500, 100, 7, 7, false), "with its own cycles");
        assert!(2 * sum(&young) < sum(&spare), "{young:?} {spare:?}");
    }
}
