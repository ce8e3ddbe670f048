//! Whether what the schemes of a drive keep of its superblocks fits together.
//!
//! Each scheme keeps something for itself: a stream has a superblock open, a pool of another cell mode has one more free, and
//! `cell_mode.keep` leaves over-provisioning. Each fits a drive by itself, and together they may leave a scheme nothing.

use firstread_core::CellMode;
use firstread_core::params::Need;
use firstread_firmware::ftl::{MAP_ENTRY_BYTES, RESERVE};

use super::streams;
use crate::profile::DriveProfile;

/// Slots that superblocks in other modes may cost a drive, and what bounds them.
struct Cost {
    /// Slots that the drive has beyond what is kept.
    most: u64,
    /// What is kept.
    kept: String,
}

/// Slots of superblocks that are kept for data in other modes: an open one and a free one for each mode. Of a pool that the host writes
/// to they count as they would in the drive's own mode, as the firmware counts them.
pub(super) fn promoted_slots(drive: &DriveProfile) -> u64 {
    let modes = drive.scheme("cell_mode").map_or(&[][..], streams::modes);
    let is_pool = |choice: &crate::profile::SchemeChoice| choice.scheme.requires(Need::SlcAlone);
    let counts_whole = drive.scheme("cell_mode").is_some_and(is_pool);
    let slots = |mode: &CellMode| {
        let mode = if counts_whole { drive.mode } else { *mode };
        u64::from(drive.geometry.slots_per_superblock(mode))
    };
    2 * modes.iter().map(slots).sum::<u64>()
}

/// Slots of the map that lie on flash, with the superblock that its stream has open; none if the map lies in memory.
fn map_slots(drive: &DriveProfile) -> u64 {
    let g = &drive.geometry;
    if drive.dram.map_cache_bytes == 0 {
        return 0;
    }
    let entries = u64::from(g.slot_bytes / MAP_ENTRY_BYTES);
    let pages = (drive.capacity_bytes / u64::from(g.slot_bytes)).div_ceil(entries);
    pages + u64::from(g.slots_per_superblock(drive.mode))
}

/// Capacity and, beside it, reserve, map, open superblocks of streams and least spare, in slots.
fn needed_slots(drive: &DriveProfile) -> (u64, u64) {
    let slots = u64::from(drive.geometry.slots_per_superblock(drive.mode));
    let capacity = drive.capacity_bytes / u64::from(drive.geometry.slot_bytes);
    let streams = drive.axes_with_own_stream().count() as u64;
    let kept = (RESERVE + streams) * slots + promoted_slots(drive) + drive.least_spare_slots();
    (capacity, kept + map_slots(drive))
}

/// What superblocks in other modes may cost `drive`, whose superblocks that are not bad have `all` slots, where `cell_mode` has to
/// leave `keep` permille of over-provisioning.
fn cost(drive: &DriveProfile, all: u64, keep: i64) -> Cost {
    let (capacity, kept) = needed_slots(drive);
    let by_keep = capacity + capacity * keep as u64 / 1000;
    if by_keep > capacity + kept {
        let what = format!("capacity and `cell_mode.keep` = {keep} permille of it are {by_keep}");
        return Cost {
            most: all.saturating_sub(by_keep),
            kept: what,
        };
    }
    let axes: Vec<String> = drive
        .axes_with_own_stream()
        .map(|axis| format!("`{axis}`"))
        .collect();
    let streams = match axes.is_empty() {
        true => String::new(),
        false => format!("open superblocks of {}, ", axes.join(", ")),
    };
    let of_modes = promoted_slots(drive);
    let map = match map_slots(drive) {
        0 => String::new(),
        slots => format!("the map ({slots}), "),
    };
    let what = format!(
        "capacity ({capacity}), the reserve of cleaning, {map}{streams}those of `cell_mode` ({of_modes}) and the least spare are {}",
        capacity + kept
    );
    Cost {
        most: all.saturating_sub(capacity + kept),
        kept: what,
    }
}

/// Slots that a full drive of `all` slots has for a pool that the host writes to and that leaves `keep` permille, as the firmware
/// computes it.
pub(super) fn spare_of_pool(drive: &DriveProfile, all: u64, keep: i64) -> u64 {
    let (capacity, kept) = needed_slots(drive);
    let own = u64::from(drive.geometry.slots_per_superblock(drive.mode));
    all.saturating_sub(capacity + kept + own + capacity * keep as u64 / 1000)
}

/// Whether the scheme of axis `cell_mode` can ever have a superblock, and leaves the high wearing area what it needs.
pub(super) fn fit(drive: &DriveProfile) -> Result<(), (String, String)> {
    fit_without(drive, 0)
}

/// The same on a drive of which `bad` superblocks are retired.
pub(crate) fn fit_without(drive: &DriveProfile, bad: u32) -> Result<(), (String, String)> {
    let Some(choice) = drive.scheme("cell_mode") else {
        return Ok(());
    };
    if choice.scheme.requires(Need::SlcAlone) {
        // A pool that the host writes to has what the data in use leave, on a full drive perhaps nothing.
        return Ok(());
    }
    let modes = streams::modes(choice);
    let geometry = &drive.geometry;
    let own = u64::from(geometry.slots_per_superblock(drive.mode));
    let cost_of = |mode: &CellMode| own - u64::from(geometry.slots_per_superblock(*mode)).min(own);
    let Some(least) = modes.iter().min_by_key(|mode| cost_of(mode)) else {
        return Ok(());
    };
    let keep = choice.values().find("keep").unwrap_or(0);
    let all = own * u64::from(geometry.blocks_per_plane.saturating_sub(bad));
    let Cost { most, kept } = cost(drive, all, keep);
    if most < cost_of(least) {
        let message = format!(
            "`{}` takes {} mapping units of the drive with its first superblock in {} mode, and has {most}: of {all}, {kept}. Lower \
             `capacity`, or choose fixed",
            choice.scheme.name,
            cost_of(least),
            least.name(),
        );
        return Err(("schemes.cell_mode".into(), message));
    }
    let is_as_printed = |area: &crate::profile::SchemeChoice| area.values().find("rule") == Some(1);
    let (Some(area), Some(low)) = (drive.scheme("area"), drive.low_superblocks()) else {
        return Ok(());
    };
    let high = all.min(own * u64::from(geometry.blocks_per_plane.saturating_sub(low)));
    let (capacity, kept) = needed_slots(drive);
    if is_as_printed(area) && high < capacity + kept + most {
        let message = format!(
            "`{}` may take {most} mapping units of the high wearing area for superblocks in other modes, and `area.rule` is \
             `as-printed`, which has all data that are not read often fit in there: {high} mapping units, of which capacity, \
             reserve, streams and least spare need {}. Raise `cell_mode.keep`, lower `capacity` or `area.low_share`, or choose \
             `area.rule=balanced`",
            choice.scheme.name,
            capacity + kept
        );
        return Err(("schemes.cell_mode".into(), message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use firstread_firmware::policy::AXES;

    use crate::profile::{Library, Override, load_drive};

    fn loaded(set: &[&str]) -> Result<(), String> {
        let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
        let drive = load_drive(&Library::new(), "raro-femu", &set, AXES);
        drive.map(|_| ()).map_err(|e| e.to_string())
    }

    /// A drive that leaves superblocks in other modes nothing, or the high wearing area too little for the printed rule, is
    /// refused with both sides and the arithmetic.
    #[test]
    fn formula_schemes_that_leave_each_other_nothing_are_refused_with_the_arithmetic() {
        let small = [
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=32",
        ];
        let with = |own: &[&str]| loaded(&[&small, own].concat());
        let hotness = "schemes.cell_mode=hotness";
        let keep = "cell_mode.keep=1 permille";
        let text = with(&["capacity=455 MiB", hotness, keep, "schemes.refresh=hot"]).unwrap_err();
        assert!(
            text.contains("schemes.cell_mode: `hotness` takes 512 mapping units"),
            "{text}"
        );
        assert!(text.contains("open superblocks of `refresh`"), "{text}");
        with(&["capacity=440 MiB", hotness, keep, "schemes.refresh=hot"]).unwrap();
        let printed = [
            "schemes.area=differential",
            "area.rule=as-printed",
            "capacity=320 MiB",
        ];
        with(&printed).unwrap();
        let text = with(&[&printed[..], &[hotness, keep]].concat()).unwrap_err();
        assert!(text.contains("`hotness` may take"), "{text}");
        assert!(text.contains("Raise `cell_mode.keep`"), "{text}");
        with(&[&printed[..], &[hotness, "cell_mode.keep=500 permille"]].concat()).unwrap();
    }

    /// The map on flash and bad superblocks take of what superblocks in other modes may cost.
    #[test]
    fn formula_the_map_and_bad_superblocks_are_kept_too() {
        let set = [
            "geometry.blocks_per_plane=64",
            "geometry.wordlines_per_block=32",
            "capacity=440 MiB",
            "schemes.cell_mode=hotness",
            "cell_mode.keep=1 permille",
        ];
        let drive = |own: &[&str]| {
            let set: Vec<Override> = set
                .iter()
                .chain(own)
                .map(|t| Override::parse(t).unwrap())
                .collect();
            load_drive(&Library::new(), "raro-femu", &set, AXES)
        };
        let in_memory = drive(&[]).unwrap();
        let slots = u64::from(in_memory.geometry.slots_per_superblock(in_memory.mode));
        let left = |drive: &crate::profile::DriveProfile, bad: u32| {
            let all = slots * u64::from(64 - bad);
            super::cost(drive, all, 1).most
        };
        assert_eq!(left(&in_memory, 0) - left(&in_memory, 2), 2 * slots);
        let most_bad = (0..).find(|bad| super::fit_without(&in_memory, *bad).is_err());
        let least = slots / 4;
        assert_eq!(
            most_bad,
            Some(((left(&in_memory, 0) - least) / slots + 1) as u32)
        );
        let on_flash = drive(&["dram.map_cache=1 MiB"]).unwrap();
        let capacity = on_flash.capacity_bytes / u64::from(on_flash.geometry.slot_bytes);
        let entries = u64::from(on_flash.geometry.slot_bytes / super::MAP_ENTRY_BYTES);
        let map = slots + capacity.div_ceil(entries);
        assert_eq!(left(&in_memory, 0) - left(&on_flash, 0), map);
    }
}
