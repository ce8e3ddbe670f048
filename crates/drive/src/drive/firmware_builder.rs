//! What a firmware is made from: its configuration and schemes, as a profile has them. A drive makes
//! one at first, and a new one each time that power comes back.

use firstread_core::CellMode;
use firstread_core::params::Need;
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::VoltageTables;
use firstread_ecc::Code;
use firstread_ecc::ldpc::MAX_ITERATIONS;
use firstread_firmware::format::checksum;
use firstread_firmware::ftl::JOURNAL_ENTRY_BYTES;
use firstread_firmware::policy::{ModeSetup, ReadTime, Setup};
use firstread_firmware::{Config, Firmware, Schemes};
use firstread_nand::place::layers;

use crate::initial_contents::FilledMemory;
use crate::profile::DriveProfile;
use crate::tables::{self, DriveTables, TableError};

/// Page rows in flight at most: more than any queue depth of interest keeps busy.
const MAX_READS: u32 = 4096;

/// What tells a drive of `profile` and `seed` from others in its dumps: all keys of the profile but those of schemes, which
/// another firmware may change.
fn identity(profile: &DriveProfile, seed: u64) -> u64 {
    let mut fixed: Vec<(&str, &str)> = profile.fixed().collect();
    fixed.sort_unstable();
    let half = |salt: u8| {
        let first = [[salt; 8], seed.to_le_bytes()].concat();
        let rows = fixed
            .iter()
            .flat_map(|(path, literal)| [path.as_bytes(), b"=", literal.as_bytes(), b"\n"]);
        u64::from(checksum(std::iter::once(&first[..]).chain(rows)))
    };
    half(1) << 32 | half(2)
}

/// What a firmware is made from, but for its memory.
#[derive(Clone, Debug)]
pub(crate) struct FirmwareBuilder(Setup);

impl FirmwareBuilder {
    /// For drives of `profile` with these voltage tables and this code, never hotter than `hottest_c`.
    pub(crate) fn new(
        profile: &DriveProfile,
        tables: DriveTables,
        code: &Code,
        hottest_c: f64,
        seed: u64,
    ) -> Result<FirmwareBuilder, TableError> {
        let geometry = profile.geometry;
        Ok(FirmwareBuilder(Setup {
            geometry,
            capacity_slots: profile.capacity_bytes / u64::from(geometry.slot_bytes),
            rated_pe_cycles: profile.rated_pe_cycles(),
            tables: tables.own,
            layer_of: layers::of_wordlines(&profile.chip.array, geometry.wordlines_per_block),
            sensing: sensing(profile, profile.mode, code)?,
            correctable_bits: tables::strength(code).capability_bits,
            read_time: read_time(profile, profile.mode, code),
            program: profile.change_times().program,
            cycle_damage: profile.cycle_damage(),
            temperature_c: libm::ceil(hottest_c) as i16,
            seed,
            other_modes: other_modes(profile, tables.others, code)?,
        }))
    }

    /// The same for `profile`, which is of the same drive with other schemes.
    pub(crate) fn of(
        &self,
        profile: &DriveProfile,
        code: &Code,
    ) -> Result<FirmwareBuilder, TableError> {
        Ok(FirmwareBuilder(Setup {
            sensing: sensing(profile, profile.mode, code)?,
            other_modes: {
                let others = self.0.other_modes.iter();
                other_modes(profile, others.map(|of| of.tables.clone()), code)?
            },
            ..self.0.clone()
        }))
    }

    /// The voltage tables, in each mode that superblocks may have.
    pub(crate) fn tables(&self) -> DriveTables {
        let others = self.0.other_modes.iter();
        DriveTables {
            own: self.0.tables.clone(),
            others: others.map(|of| of.tables.clone()).collect(),
        }
    }

    /// The temperature that the drive is never hotter than (°C).
    pub(crate) fn temperature_c(&self) -> i16 {
        self.0.temperature_c
    }

    /// A firmware for `profile` that knows nothing, as it is when power comes on.
    pub(crate) fn firmware(
        &self,
        profile: &DriveProfile,
        schemes: Schemes,
    ) -> Firmware<FilledMemory> {
        let config = self.config(profile);
        let per_block = config.geometry.slots_per_superblock(config.mode);
        Firmware::new(config, schemes, FilledMemory::new(per_block))
    }

    /// The configuration of a firmware for `profile`.
    pub(crate) fn config(&self, profile: &DriveProfile) -> Config {
        let (geometry, chip) = (profile.geometry, &profile.chip.timing);
        let slots = |bytes: u64| bytes / u64::from(geometry.slot_bytes);
        Config {
            identity: identity(profile, self.0.seed),
            geometry,
            mode: profile.mode,
            cycle_damage: profile.cycle_damage(),
            capacity_slots: slots(profile.capacity_bytes),
            max_commands: profile.link.max_outstanding,
            max_reads: MAX_READS,
            least_spare_slots: profile.least_spare_slots(),
            most_journal_pages: profile.firmware.journal_bytes / JOURNAL_ENTRY_BYTES,
            independent_planes: chip.independent_plane_reads,
            turns: profile.turns(),
            change_times: profile.change_times(),
            map_cache_pages: slots(profile.dram.map_cache_bytes) as u32,
            write_cache: profile.dram.write_cache,
            read_cache_slots: slots(profile.dram.read_cache_bytes) as u32,
            heat: profile.heat_config(self.0.seed),
        }
    }

    /// The schemes of `profile`, as they are before their first read.
    pub(crate) fn schemes(&self, profile: &DriveProfile) -> Schemes {
        let schemes = Schemes::new(&self.0, |axis| {
            let choice = profile.scheme(axis.name);
            let choice = choice.expect("every profile has a scheme for every axis");
            (choice.scheme.name, &choice.values)
        });
        schemes.expect("the profile's schemes are those of the axes")
    }
}

/// What differs by cell mode on a drive of `profile`, for each mode of `tables`.
fn other_modes(
    profile: &DriveProfile,
    tables: impl IntoIterator<Item = VoltageTables>,
    code: &Code,
) -> Result<Box<[ModeSetup]>, TableError> {
    let in_mode = |tables: VoltageTables| {
        Ok(ModeSetup {
            sensing: sensing(profile, tables.mode, code)?,
            read_time: read_time(profile, tables.mode, code),
            tables,
        })
    };
    tables.into_iter().map(in_mode).collect()
}

/// How short a sense may be in `mode` on a drive of `profile`, where a scheme asks.
fn sensing(
    profile: &DriveProfile,
    mode: CellMode,
    code: &Code,
) -> Result<SensingTable, TableError> {
    match profile.needs(Need::SafeSenses) {
        true => tables::sensing(profile, mode, code),
        false => Ok(SensingTable::NOTHING),
    }
}

/// Durations of a step of a read on a drive of `profile`, in `mode`.
fn read_time(profile: &DriveProfile, mode: CellMode, code: &Code) -> ReadTime {
    let whole = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX);
    let geometry = &profile.geometry;
    let iterations = match code {
        Code::Threshold(_) => 0,
        Code::Ldpc(_) => u64::from(MAX_ITERATIONS) * u64::from(code.data_bytes().div_ceil(1024)),
    };
    let timing = &profile.ecc.timing;
    let codewords = u64::from(geometry.page_bytes / geometry.codeword_bytes);
    let bytes = codewords * u64::from(code.codeword_bits() / 8);
    let mut time = ReadTime {
        transfer_ns: whole(profile.channel.transfer_ns(bytes)),
        decode_ns: whole(u64::from(timing.setup_ns) + iterations * u64::from(timing.iteration_ns)),
        set_feature_ns: whole(profile.chip.timing.set_feature_ns),
        ..ReadTime::default()
    };
    let Some(mode) = profile.chip.mode(mode) else {
        return time;
    };
    let pages = time.sense_ns.iter_mut().zip(&mut time.precharge_ns);
    for (page, (sense_ns, precharge_ns)) in pages.take(mode.pages.len()).enumerate() {
        *precharge_ns = whole(mode.precharge_ns(page));
        *sense_ns = whole(mode.read_ns(page));
    }
    time
}
