//! Whether geometry, capacity, chip and the memory of heat go together.

use firstread_core::Geometry;
use firstread_core::voltage::MAX_FACTORY;
use firstread_firmware::ftl::{MAP_ENTRY_BYTES, MOST_SLOTS, RESERVE};

use super::wrong::{Wrong, wrong};
use crate::payload::MOST_PAGES;
use crate::profile::drive::LEAST_SPARE;
use crate::profile::{DriveProfile, keeps};

/// Dies of the drive: more than a geometry counts, where the profile is wrong.
fn dies(g: &Geometry) -> u64 {
    u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip)
}

/// How dies, wordlines, pages, mapping units and codewords go together.
pub(super) fn shape(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let (taken, there) = (u32::from(g.wordlines_per_block), drive.chip.wordlines());
    if taken > there {
        let message = format!(
            "is {taken}, and a block of chip `{}` has {there} wordlines",
            drive.chip.name
        );
        return wrong("geometry.wordlines_per_block", message);
    }
    let dies = dies(g);
    if dies > u64::from(u16::MAX) {
        return wrong(
            "geometry.channels",
            format!("{dies} dies are more than 65535"),
        );
    }
    if !g.page_bytes.is_multiple_of(g.slot_bytes) {
        return wrong(
            "geometry.mapping_unit",
            "does not divide `geometry.page`".into(),
        );
    }
    if !g.slot_bytes.is_multiple_of(g.codeword_bytes) {
        let message = format!("is not a multiple of the codeword, {} B", g.codeword_bytes);
        return wrong("geometry.mapping_unit", message);
    }
    let codewords = g.codewords_per_page() * u32::from(g.planes);
    // The codewords that a read wants are the bits of one word (`FlashKind::Read`).
    if codewords > 64 {
        let message = format!("one sense of all planes has {codewords} codewords, at most 64");
        return wrong("geometry.page", message);
    }
    Ok(())
}

/// Whether units of heat are made of mapping units, and whether the memory of heat can tell them apart.
pub(super) fn heat(drive: &DriveProfile) -> Result<(), Wrong> {
    let (unit, slot) = (drive.heat.unit_bytes, u64::from(drive.geometry.slot_bytes));
    let most = drive.heat.most_bytes;
    if unit != 0 && unit < slot {
        let message = format!(
            "is {unit} B, less than `geometry.mapping_unit`, {slot} B: the firmware counts no part of a mapping unit"
        );
        return wrong("heat.unit", message);
    }
    if unit != 0 && (!unit.is_multiple_of(slot) || !(unit / slot).is_power_of_two()) {
        let message =
            format!("is {unit} B, not `geometry.mapping_unit`, {slot} B, times a power of two");
        return wrong("heat.unit", message);
    }
    if let Some(least) = drive.heat_bytes().filter(|least| *least > most) {
        let units = drive.capacity_bytes.div_ceil(unit.max(slot));
        let message = format!(
            "is {most} B; to tell the {units} units of the drive apart takes {least} B at least"
        );
        return wrong("heat.most", message);
    }
    Ok(())
}

/// Whether the factory's retry table is long enough for cells that are known by their retries.
pub(super) fn retry_table(drive: &DriveProfile) -> Result<(), Wrong> {
    let Some(formula) = drive.retry_formula() else {
        return Ok(());
    };
    let retries = u32::from(formula.most_retries(drive.mode));
    let entries = drive.chip.factory_len(drive.mode) as u32;
    if retries < entries {
        return Ok(());
    }
    let message = format!(
        "`{}` has pages with up to {retries} retries, and the factory's retry table has {entries} entries, the first read \
         among them: `chip.factory_table.down` and `up` together have to be {retries} at least (most: {})",
        drive.cells,
        MAX_FACTORY - 1
    );
    wrong("cells", message)
}

/// Checks of planes that read independently.
pub(super) fn planes(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let dies = dies(g);
    if drive.chip.timing.independent_plane_reads {
        let lanes = dies * (1 + u64::from(g.planes)) + u64::from(g.channels);
        if lanes > u64::from(u16::MAX - 2) {
            let message = format!(
                "is true: {dies} dies with {} planes that read by themselves are too many",
                g.planes
            );
            return wrong("chip.timing.independent_plane_reads", message);
        }
        if !drive.chip.timing.plane_levels {
            let message = "is true, but planes that read by themselves need level registers of \
                           their own: set `chip.timing.plane_levels` too"
                .into();
            return wrong("chip.timing.independent_plane_reads", message);
        }
    }
    Ok(())
}

/// How large superblocks and the drive may be.
pub(super) fn size(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let dies = dies(g);
    let modes: Vec<&str> = drive.chip.modes.iter().map(|m| m.mode.name()).collect();
    if drive.chip.mode(drive.mode).is_none() {
        return wrong(
            "mode",
            format!("is not a mode of the chip: {}", modes.join(", ")),
        );
    }
    let widest = drive
        .chip
        .modes
        .iter()
        .map(|m| m.mode.bits())
        .max()
        .unwrap_or(1);
    let slots = u64::from(g.slots_per_mp_page()) * dies * u64::from(widest);
    if slots * u64::from(g.wordlines_per_block) > u64::from(u32::MAX) {
        return wrong(
            "geometry.channels",
            "a superblock has more than 2^32 slots".into(),
        );
    }
    let bytes = u128::from(slots)
        * u128::from(g.wordlines_per_block)
        * u128::from(g.blocks_per_plane)
        * u128::from(g.slot_bytes);
    if bytes > 1 << 53 {
        return wrong(
            "geometry.blocks_per_plane",
            format!("{bytes} B are more than 2^53"),
        );
    }
    let per_block = u64::from(g.slots_per_superblock(drive.mode));
    let slots = per_block * u64::from(g.blocks_per_plane);
    if slots > MOST_SLOTS {
        let message = format!(
            "the blocks hold {slots} mapping units, more than the {MOST_SLOTS} that the map can tell \
             apart; raise `geometry.mapping_unit`"
        );
        return wrong("geometry.blocks_per_plane", message);
    }
    if !drive.capacity_bytes.is_multiple_of(u64::from(g.slot_bytes)) {
        return wrong(
            "capacity",
            "is not a multiple of `geometry.mapping_unit`".into(),
        );
    }
    Ok(())
}

/// Whether the capacity leaves room for cleaning and the map.
pub(super) fn room(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let cached = drive.dram.map_cache_bytes;
    let (mut reserve, mut map_slots) = (RESERVE, 0);
    if cached > 0 {
        if cached < 64 * u64::from(g.slot_bytes) {
            let message = format!(
                "holds fewer than 64 pages of the map, {} B each; 0 is for the whole map",
                g.slot_bytes
            );
            return wrong("dram.map_cache", message);
        }
        // Superblocks of the map are cleaned once they are half garbage.
        reserve += 1;
        let entries = u64::from(g.slot_bytes / MAP_ENTRY_BYTES);
        map_slots = 2 * (drive.capacity_bytes / u64::from(g.slot_bytes)).div_ceil(entries);
        if map_slots > u64::from(u32::MAX) {
            let message = "the map has too many pages; raise `geometry.mapping_unit`".into();
            return wrong("dram.map_cache", message);
        }
    }
    let pages = drive.capacity_bytes / u64::from(g.slot_bytes) + map_slots / 2;
    if pages > MOST_PAGES {
        let message = format!(
            "{pages} mapping units, those of the map among them, are more than the {MOST_PAGES} that \
             can be simulated; raise `geometry.mapping_unit`"
        );
        return wrong("capacity", message);
    }
    // Cleaning needs some spare space in addition to its reserve.
    let superblock = u64::from(g.slots_per_superblock(drive.mode)) * u64::from(g.slot_bytes);
    let spare = drive.least_spare_slots() * u64::from(g.slot_bytes);
    let kept = reserve * superblock + spare + map_slots * u64::from(g.slot_bytes);
    let promoted = keeps::promoted_slots(drive) * u64::from(g.slot_bytes);
    let own = drive.axes_with_own_stream().count() as u64;
    let kept = kept + promoted + own * superblock;
    let usable = g.raw_bytes(drive.mode).saturating_sub(kept);
    if drive.capacity_bytes > usable {
        let mut others = match promoted {
            0 => String::new(),
            bytes => format!(", {bytes} B of superblocks in other modes"),
        };
        let axes: Vec<&str> = drive.axes_with_own_stream().collect();
        for axis in axes.chunk_by(|a, b| a == b) {
            others += &match axis {
                [axis] => format!(", one for the stream of axis `{axis}`"),
                axes => format!(", {} for the streams of axis `{}`", axes.len(), axes[0]),
            };
        }
        let message = format!(
            "{} B are more than the {} superblocks hold in {} mode, less {} that cleaning keeps, {} to \
             spare{}{others}: {usable} B",
            drive.capacity_bytes,
            g.blocks_per_plane,
            drive.mode.name(),
            reserve,
            g.blocks_per_plane.div_ceil(LEAST_SPARE),
            ["", " and twice the map"][usize::from(cached > 0)],
        );
        return wrong("capacity", message + &scaled_capacity(drive));
    }
    Ok(())
}

/// The capacity that keeps the over-provisioning of the profile, where fewer wordlines of a block are taken.
fn scaled_capacity(drive: &DriveProfile) -> String {
    let g = &drive.geometry;
    let (taken, there) = (u64::from(g.wordlines_per_block), drive.chip.wordlines());
    if taken == u64::from(there) {
        return String::new();
    }
    let slots = drive.capacity_bytes / u64::from(g.slot_bytes) * taken / u64::from(there);
    format!(
        ". With {taken} of {there} wordlines a block, `capacity={} B` keeps the over-provisioning",
        slots * u64::from(g.slot_bytes)
    )
}

/// Whether the chip keeps up with the channel.
pub(super) fn channel(drive: &DriveProfile) -> Result<(), Wrong> {
    if drive.channel.rate_mt_per_s > drive.chip.timing.io_mt_per_s {
        let message = format!(
            "is faster than the chip, whose `timing.io` is {} MT/s",
            drive.chip.timing.io_mt_per_s
        );
        return wrong("channel.rate", message);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use firstread_core::params::{Need, Role, Scheme};
    use firstread_firmware::observe::{Epoch, HeatConfig};
    use firstread_firmware::policy::AXES;

    use super::super::tests::loaded;
    use crate::profile::{Library, Override, ResolvedEntry, load_drive};

    /// Heat is counted where a scheme needs it or the profile says so, and takes the memory that it says.
    #[test]
    fn formula_heat_is_there_where_it_is_asked_for() {
        let mut drive = loaded(&[]).unwrap();
        assert_eq!((drive.heat_config(1), drive.heat_bytes()), (None, None));
        static HOT: Scheme = Scheme {
            name: "hot",
            summary: "",
            source: "",
            role: Role::Scheme,
            needs: &[Need::Heat],
            ordered: &[],
            params: &[],
        };
        drive.schemes[0].scheme = &HOT;
        let config = drive.heat_config(1);
        assert_eq!(
            config,
            Some(HeatConfig {
                seed: 1,
                ..HeatConfig::default()
            })
        );
        let set = [
            "heat.enabled=true",
            "heat.unit=64KiB",
            "heat.epoch=none",
            "heat.most=1MiB",
        ];
        let drive = loaded(&set).unwrap();
        let config = drive.heat_config(0).unwrap();
        let slots = 65_536 / drive.geometry.slot_bytes;
        assert_eq!((config.unit_slots, config.epoch), (slots, Epoch::Never));
        assert!(
            drive
                .heat_bytes()
                .is_some_and(|bytes| bytes > 1_000_000 && bytes <= 1 << 20)
        );
        let halved = loaded(&["heat.enabled=true", "heat.epoch=5000"]).unwrap();
        assert_eq!(halved.heat_config(0).unwrap().epoch, Epoch::Accesses(5_000));
        let by_reads = [
            "heat.enabled=true",
            "heat.epoch_times=4",
            "heat.epoch_counts=reads",
        ];
        let config = loaded(&by_reads).unwrap().heat_config(0).unwrap();
        assert_eq!(
            (config.epoch, config.epoch_counts_writes),
            (Epoch::Counters(4), false)
        );
        // What is listed as the default can be given.
        let listed = loaded(&[]).unwrap();
        let given: Vec<Override> = listed
            .resolved
            .iter()
            .filter(|e| e.path.starts_with("heat."))
            .map(ResolvedEntry::to_override)
            .collect();
        assert_eq!(given.len(), 10);
        let drive = load_drive(&Library::new(), "tlc-48l", &given, AXES).unwrap();
        assert_eq!(drive.heat, listed.heat);
    }

    #[test]
    fn formula_units_and_bits_of_heat_are_refused_where_nothing_counts_so() {
        for (set, what) in [
            (
                ["heat.unit=2 KiB", "geometry.mapping_unit=4 KiB"],
                "heat.unit: is 2048 B, less than `geometry.mapping_unit`, 4096 B",
            ),
            (
                ["heat.unit=12 KiB", "geometry.mapping_unit=4 KiB"],
                "heat.unit: is 12288 B, not `geometry.mapping_unit`, 4096 B, times a power of two",
            ),
            (
                ["heat.read_bits=5", "heat.write_bits=4"],
                "heat.read_bits: makes 9 bits",
            ),
            (
                ["heat.most=1023 B", "heat.epoch=7"],
                "heat.most: `1023 B` is outside",
            ),
            (
                // 469 M units are scattered over 2^30 numbers: with tags of 24 bits 64 sets tell them apart.
                ["heat.most=4095 B", "heat.enabled=true"],
                "heat.most: is 4095 B; to tell the 468750000 units of the drive apart takes 4096 B at least",
            ),
            (
                ["heat.units=4 KiB", "heat.epoch=7"],
                "the nearest is `heat.unit`",
            ),
        ] {
            let text = loaded(&set).unwrap_err();
            assert!(text.contains(what), "{set:?}: {text}");
        }
    }
}
