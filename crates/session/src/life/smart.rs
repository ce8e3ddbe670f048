//! What a drive says of itself: the SMART log of NVMe (Base Specification, log page 02h), with its names, units and caps.

use firstread_drive::UntimedDrive;
use firstread_firmware::ftl::RESERVE;

use super::bounds::YEAR_S;

/// Available Spare below which a warning is raised (%): assumed, as many drives have it.
pub const SPARE_THRESHOLD: u8 = 10;

/// The SMART log. What a drive without time cannot know is not in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Smart {
    /// Bit 0: spare below its threshold; bit 2: reliability degraded, as the rated endurance is used up; bit 3: read only.
    pub critical_warning: u8,
    /// Spare superblocks left (%): 100 at the beginning of the life, 0 of a drive that cannot hold its capacity.
    pub available_spare: u8,
    /// The threshold of that warning (%).
    pub available_spare_threshold: u8,
    /// Mean wear of the rated endurance (%): may pass 100, at most 255.
    pub percentage_used: u8,
    /// Units of 1,000 x 512 bytes, rounded up.
    pub data_units_read: u64,
    /// Units of 1,000 x 512 bytes, rounded up.
    pub data_units_written: u64,
    pub host_read_commands: u64,
    pub host_write_commands: u64,
    /// Hours since the beginning of the life.
    pub power_on_hours: u64,
    /// Mapping units whose data were lost. Reads without time never fail, so these are data lost to failed blocks.
    pub media_errors: u64,
}

/// What the host has asked of a drive in a life, as often as a wear rate stands for.
pub(super) struct Traffic {
    pub(super) read_bytes: f64,
    pub(super) reads: f64,
    pub(super) written_bytes: f64,
    pub(super) writes: f64,
    pub(super) years: f64,
}

impl Smart {
    /// Of `drive`, whose host has asked for `traffic` in a life: with so many superblocks retired at its beginning and
    /// its end, and so much wear on average.
    pub(super) fn of(
        drive: &UntimedDrive,
        traffic: &Traffic,
        retired: (u32, u32),
        mean_pe_cycles: f64,
    ) -> Smart {
        let profile = drive.profile();
        let geometry = &profile.geometry;
        let per_superblock = u64::from(geometry.slots_per_superblock(profile.mode));
        let capacity = profile.capacity_bytes / u64::from(geometry.slot_bytes);
        let held = (capacity + profile.least_spare_slots()).div_ceil(per_superblock);
        let needed = held + RESERVE + profile.axes_with_own_stream().count() as u64;
        let spare = |retired: u32| {
            let in_use = u64::from(geometry.blocks_per_plane - retired);
            in_use.saturating_sub(needed) as f64
        };
        let left = match spare(retired.0) {
            none if none <= 0.0 => 0.0,
            new => 100.0 * spare(retired.1) / new,
        };
        let left = match drive.is_read_only() {
            true => 0,
            false => left.round().min(100.0) as u8,
        };
        let rated = profile
            .chip
            .mode(profile.mode)
            .map_or(1, |m| m.endurance_pe_cycles);
        let used = 100.0 * mean_pe_cycles / f64::from(rated);
        let units = |bytes: f64| (bytes / 512_000.0).ceil() as u64;
        Smart {
            critical_warning: u8::from(left < SPARE_THRESHOLD)
                | u8::from(used > 100.0) << 2
                | u8::from(drive.is_read_only()) << 3,
            available_spare: left,
            available_spare_threshold: SPARE_THRESHOLD,
            percentage_used: used.round().min(255.0) as u8,
            data_units_read: units(traffic.read_bytes),
            data_units_written: units(traffic.written_bytes),
            host_read_commands: traffic.reads as u64,
            host_write_commands: traffic.writes as u64,
            power_on_hours: (traffic.years * YEAR_S / 3600.0) as u64,
            media_errors: drive.counters().slots_lost,
        }
    }

    /// The names and values of the log.
    pub fn rows(&self) -> [(&'static str, u64, &'static str); 10] {
        [
            ("Critical Warning", self.critical_warning.into(), "bits"),
            ("Available Spare", self.available_spare.into(), "%"),
            (
                "Available Spare Threshold",
                self.available_spare_threshold.into(),
                "%",
            ),
            ("Percentage Used", self.percentage_used.into(), "%"),
            ("Data Units Read", self.data_units_read, "x 1000 x 512 B"),
            (
                "Data Units Written",
                self.data_units_written,
                "x 1000 x 512 B",
            ),
            ("Host Read Commands", self.host_read_commands, ""),
            ("Host Write Commands", self.host_write_commands, ""),
            ("Power On Hours", self.power_on_hours, "h"),
            ("Media and Data Integrity Errors", self.media_errors, ""),
        ]
    }
}
