//! A drive made from a profile: its firmware, its hardware and the link to its host.

use firstread_core::params::Need;
use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, Divisor, Ns};
use firstread_ecc::{Code, DecodeTiming};
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_nand::Medium;

use super::firmware_builder::FirmwareBuilder;
use super::{Drive, DriveError, StateError};
use crate::cells::{ByRetries, Cells, Errors};
use crate::hardware::failures::Failures;
use crate::hardware::suspend::SuspendTimes;
use crate::hardware::{Hardware, Times};
use crate::payload::{Payload, Stamps};
use crate::platform::{LinkTimes, Platform};
use crate::profile::DriveProfile;
use crate::profile::drive::Cells as CellModel;
use crate::queues::Queues;
use crate::state::DriveState;
use crate::tables::DriveTables;

impl Drive {
    /// A drive whose data are known by their stamps alone, as a simulation wants them:
    /// [`Drive::with_payload`] of `()`.
    ///
    /// # Errors
    /// [`DriveError`] where `profile` cannot be simulated or the drive cannot be in `state`.
    pub fn new(
        profile: DriveProfile,
        tables: DriveTables,
        state: &DriveState,
        seed: u64,
    ) -> Result<Drive, DriveError> {
        Drive::with_payload(profile, tables, state, seed, ())
    }
}

impl<P: Payload> Drive<P> {
    /// A drive in `state`, ready for its host. Filling and ageing are computed; the firmware's
    /// background work meanwhile is simulated. `seed` draws its chips and what its
    /// firmware draws. `payload` sees the host's data from the first command on; what the drive was filled
    /// with has version 0.
    ///
    /// # Errors
    /// [`DriveError`] where `profile` cannot be simulated or the drive cannot be in `state`.
    pub fn with_payload(
        profile: DriveProfile,
        tables: DriveTables,
        state: &DriveState,
        seed: u64,
        payload: P,
    ) -> Result<Drive<P>, DriveError> {
        let code = Code::named(&profile.ecc.code)?;
        let builder = FirmwareBuilder::new(&profile, tables, &code, state.hottest_c(), seed)?;
        let learned = Drive::learned_before(&profile, &builder, state, seed)?;
        let mut drive = Drive::empty(profile, builder, state, seed, payload)?;
        drive.prepare(state, learned)?;
        Ok(drive)
    }

    /// The same, not yet filled.
    pub(super) fn empty(
        profile: DriveProfile,
        firmware_builder: FirmwareBuilder,
        state: &DriveState,
        seed: u64,
        payload: P,
    ) -> Result<Drive<P>, DriveError> {
        let geometry = profile.geometry;
        let code = Code::named(&profile.ecc.code)?;
        let schemes = firmware_builder.schemes(&profile);
        let groups = schemes.read_levels.groups().copied();
        let mut cells = cells(&profile, firmware_builder.tables(), code, groups, seed)?;
        cells.set_cycle_damage(profile.cycle_damage());
        cells.set_spare(schemes.read_levels.spare_ppm());
        cells
            .set_temperature(Ns::ZERO, state.temperature_c)
            .map_err(StateError::Temperature)?;

        let firmware = firmware_builder.firmware(&profile, schemes);
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
        let hardware = Hardware::new(
            geometry,
            times(&profile),
            cells,
            failures,
            firmware.tags(),
            firmware.jobs(),
            profile.link.max_outstanding,
        );
        let stamps = Stamps::new(
            geometry.blocks_per_plane,
            firmware.buffer_slots(),
            profile.capacity_bytes / u64::from(geometry.slot_bytes),
            firmware.map_pages(),
        );
        let timers = hardware.resources();
        let platform = Platform::new(
            hardware,
            (stamps, payload),
            link_times(&profile),
            geometry.slot_bytes,
            timers,
            profile.link.max_outstanding,
            Queues::new(&profile.queues, profile.link.max_outstanding),
        );
        Ok(Drive {
            profile,
            firmware,
            platform,
            firmware_builder: Box::new(firmware_builder),
            seed,
            wake: Ns::MAX,
            cut_recovery: None,
            theory: None,
            is_approximated: false,
            host_log: None,
        })
    }
}

/// The cells of a drive of `profile` with their code, read by `tables`; `groups` are those that an oracle of groups reads by.
fn cells(
    profile: &DriveProfile,
    tables: DriveTables,
    code: Code,
    groups: Option<BlockGroups>,
    seed: u64,
) -> Result<Cells, DriveError> {
    let mut medium = Medium::new(profile.chip.clone(), profile.geometry, seed)?;
    medium.set_codeword_bits(code.codeword_bits());
    let errors = match profile.retry_formula() {
        Some(formula) => {
            let superblocks = profile.geometry.blocks_per_plane;
            let by = ByRetries::new(formula, &tables, superblocks)?;
            Errors::ByRetries(Box::new(by))
        }
        None if profile.cells == CellModel::Ideal => Errors::None,
        None => Errors::OfVoltages,
    };
    // A decoder has a fixed width, so an iteration over a longer codeword takes longer.
    let kib = code.data_bytes().div_ceil(1024);
    let decode = DecodeTiming {
        iteration_ns: profile.ecc.timing.iteration_ns * kib,
        ..profile.ecc.timing
    };
    Ok(Cells::new(
        medium,
        code,
        decode,
        errors,
        profile.mode,
        groups,
    ))
}

/// Durations of the hardware of `profile` outside the chip.
fn times(profile: &DriveProfile) -> Times {
    let chip = profile.chip.timing;
    Times {
        command_ns: profile.channel.command_ns,
        commands_occupy: profile.channel.commands_occupy && profile.channel.command_ns > 0,
        channel_fs_per_byte: 1_000_000_000 / profile.channel.rate_mt_per_s as u64,
        decoder_lanes: Divisor::new(profile.ecc.engines_per_channel as u64),
        decode_streams: profile.ecc.streams,
        suspend: match profile.needs(Need::FreeSuspends) {
            true => SuspendTimes::FREE,
            false => SuspendTimes::of(&chip),
        },
        cache_busy_ns: chip.cache_busy_ns,
        reset_ns: chip.reset_ns,
        set_feature_ns: chip.set_feature_ns,
        set_levels_ns: chip.set_levels_ns,
        shared_levels: !chip.plane_levels,
        independent_planes: chip.independent_plane_reads,
    }
}

/// Durations of the link of `profile` and of the processing of its commands.
fn link_times(profile: &DriveProfile) -> LinkTimes {
    LinkTimes {
        fetch_ns: profile.link.fetch_ns + profile.firmware.command_ns,
        command_ns: profile.firmware.command_interval_ns,
        completion_ns: profile.link.completion_ns,
        fs_per_byte: 1_000_000_000_000_000 / profile.link.bytes_per_s,
    }
}
