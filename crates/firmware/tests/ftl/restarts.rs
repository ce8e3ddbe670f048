//! Shutdowns that the host has asked for, and power cuts after them.

use std::collections::BTreeMap;

use firstread_core::{HostOp, Lpn, Ppa, Stream};
use firstread_faulty_flash::FaultyDrive;
use firstread_firmware::WriteCache;
use firstread_firmware::policy::gc_victim;

use crate::build::{Build, tight};

/// Where each page lies that lies on flash or in a buffer.
fn places(drive: &FaultyDrive, capacity: u64) -> BTreeMap<u64, Ppa> {
    let place = |lpn| Some((lpn, drive.firmware.slot_of(Lpn(lpn))?));
    (0..capacity).filter_map(place).collect()
}

/// The number of the superblock that became full last.
fn last_full(drive: &FaultyDrive) -> u64 {
    let closed = drive
        .firmware
        .blocks()
        .iter()
        .filter_map(|(_, info)| info.closed);
    closed.map(u64::from).max().unwrap_or(0)
}

/// What a mount reads is enough. After a shutdown it is the image of the map alone. After a cut it is that image, and the
/// tables of contents of superblocks that became full later or are still open: each page whose place is not that of the image
/// lies in one of these or in a buffer of the dump. All data are there.
#[test]
fn powerloss_an_image_and_what_is_later_are_the_map() {
    let (mut moved, mut cuts) = (0, 0);
    for seed in 0..10 {
        let build = Build {
            seed,
            victim: seed as usize % gc_victim::AXIS.schemes.len(),
            write_cache: [
                WriteCache::Protected,
                WriteCache::Volatile,
                WriteCache::WriteThrough,
            ][seed as usize % 3],
            ..tight(16, 0)
        };
        let mut drive = build.drive();
        let stream = Stream::new(seed).named("restarts");
        let write = |drive: &mut FaultyDrive, i: u64| {
            let lpn = stream.at(i).below(build.capacity);
            drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
        };
        for round in 0..20 {
            (0..stream.at(round).at(1).below(200)).for_each(|i| write(&mut drive, round << 32 | i));
            let before = last_full(&drive);
            let shut = drive.shut_down().unwrap();
            let lost = (shut.superblocks, shut.torn_programs, shut.lost_slots);
            assert_eq!(lost, (0, 0, 0), "seed {seed}, {round}");
            let image = places(&drive, build.capacity);
            let imaged = last_full(&drive);
            assert!(imaged >= before);
            for cut in 0..stream.at(round).at(2).below(4) {
                let writes = stream.at(round).at(3).at(cut).below(150);
                (0..writes).for_each(|i| write(&mut drive, round << 32 | cut << 16 | i));
                drive.power_cut().unwrap();
                cuts += 1;
                for (lpn, ppa) in places(&drive, build.capacity) {
                    let info = drive.firmware.blocks().info(ppa.block());
                    let is_read = info.closed.is_none_or(|closed| closed.get() > imaged);
                    let is_as_in_image = image.get(&lpn) == Some(&ppa);
                    assert!(
                        is_as_in_image || is_read,
                        "seed {seed}, {round}: page {lpn} at {ppa:?}"
                    );
                    moved += u64::from(!is_as_in_image);
                }
            }
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()), "seed {seed}");
        for lpn in 0..build.capacity {
            drive.submit(HostOp::Read, lpn * 4096, 4096).unwrap();
        }
        drive.finish().unwrap();
    }
    assert!(
        moved > 10_000 && cuts > 100,
        "{moved} pages moved, {cuts} cuts"
    );
}
