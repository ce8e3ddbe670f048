//! Whether what a drive keeps in memory fits the memory of its controller, where that is stated.

use firstread_firmware::ftl::MAP_ENTRY_BYTES;

use super::streams;
use crate::profile::DriveProfile;

/// Wordlines over all dies in the write buffer of a stream that every drive has, and those for programs that all declared streams share.
const OWN_LINES: u64 = 3;
const SHARED_LINES: u64 = 2;

/// Streams that every such drive has, and those that its schemes declare.
fn streams_of(drive: &DriveProfile) -> (u64, u64) {
    let own = if drive.dram.map_cache_bytes > 0 { 3 } else { 2 };
    let declared = drive.schemes.iter();
    let declared =
        declared.map(|choice| choice.values().own_streams() + streams::modes(choice).len());
    (own, declared.sum::<usize>() as u64)
}

/// Bytes of a wordline over all dies in the mode of the drive.
fn line_bytes(drive: &DriveProfile) -> u64 {
    let g = &drive.geometry;
    u64::from(g.slots_per_stripe()) * u64::from(drive.mode.bits()) * u64::from(g.slot_bytes)
}

/// Bytes of the write buffers of all streams, at most: a declared stream whose superblocks are in another mode has shorter wordlines.
pub(super) fn write_buffer_bytes(drive: &DriveProfile) -> u64 {
    let (own, declared) = streams_of(drive);
    let shared = if declared > 0 {
        declared + SHARED_LINES
    } else {
        0
    };
    (OWN_LINES * own + shared) * line_bytes(drive)
}

/// The key, and what is wrong, where the memory does not hold what the drive keeps there.
pub(super) fn fits(drive: &DriveProfile) -> Result<(), (String, String)> {
    let dram = &drive.dram;
    if dram.size_bytes == 0 {
        return Ok(());
    }
    let entries = drive.capacity_bytes / u64::from(drive.geometry.slot_bytes);
    let map = match dram.map_cache_bytes {
        0 => entries * u64::from(MAP_ENTRY_BYTES),
        part => part,
    };
    let buffers = 2 * write_buffer_bytes(drive);
    let heat = drive.heat_bytes().unwrap_or(0);
    let all = map + buffers + dram.read_cache_bytes + heat;
    if all <= dram.size_bytes {
        return Ok(());
    }
    let (own, declared) = streams_of(drive);
    let message = format!(
        "is {} B, and the drive takes {all} B: {map} B of the map, {buffers} B of write buffers ({own} streams with {OWN_LINES} \
         wordlines over all dies each, {declared} of schemes with one each{}, {} B a wordline, and as much again for data whose program \
         failed), {} B of the read cache, {heat} B of heat",
        dram.size_bytes,
        if declared > 0 {
            " and 2 that they share"
        } else {
            ""
        },
        line_bytes(drive),
        dram.read_cache_bytes,
    );
    Err(("dram.size".into(), message))
}

#[cfg(test)]
mod tests {
    use firstread_firmware::policy::AXES;

    use super::*;
    use crate::profile::{Library, Override, load_drive};
    use crate::{DriveState, UntimedDrive, tables};

    fn loaded(set: &[&str]) -> Result<DriveProfile, String> {
        let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
        load_drive(&Library::new(), "bench-4g", &set, AXES).map_err(|e| e.to_string())
    }

    /// The memory of write buffers is that of the firmware, whatever streams there are.
    #[test]
    fn formula_write_buffers_take_what_the_firmware_takes() {
        let streams = "schemes.stream=write-heat";
        for set in [
            &[][..],
            &["dram.map_cache=1 MiB"],
            &[streams, "capacity=3 GiB"],
            &[
                "schemes.stream=fdp",
                "stream.persistent=true",
                "stream.handles=3",
                "capacity=3 GiB",
            ],
            &[
                streams,
                "schemes.refresh=hot",
                "dram.map_cache=1 MiB",
                "capacity=2 GiB",
            ],
        ] {
            let drive = loaded(set).unwrap();
            let bytes = write_buffer_bytes(&drive);
            let tables = tables::for_drive(&drive).unwrap();
            let made = UntimedDrive::new(drive, tables, &DriveState::default(), 1).unwrap();
            assert_eq!(made.write_buffer_bytes(), bytes, "{set:?}");
        }
    }

    /// The least memory that holds a drive is told, and a byte less is refused.
    #[test]
    fn formula_a_memory_that_is_too_small_is_refused_with_the_arithmetic() {
        let streams = "schemes.stream=write-heat";
        let with = |size: u64| loaded(&[streams, "capacity=3 GiB", &format!("dram.size={size} B")]);
        let drive = with(0).unwrap();
        let all = 3 * (1 << 30) / u64::from(drive.geometry.slot_bytes) * u64::from(MAP_ENTRY_BYTES)
            + 2 * write_buffer_bytes(&drive);
        assert!(with(all).is_ok());
        let refused = with(all - 1).unwrap_err();
        assert!(
            refused.contains("dram.size") && refused.contains("8 of schemes"),
            "{refused}"
        );
    }
}
