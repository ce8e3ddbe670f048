//! Drives whose superblocks are worn and retired where a life left them.

use std::sync::Arc;

use firstread_core::SuperblockId;
use firstread_drive::{Drive, DriveState, Precondition, WornBlocks};
use firstread_firmware::observe::{RegionId, SuperblockUse};
use firstread_testkit::{drive, profile, try_run};

/// 96 superblocks, of which the last 24 are a low wearing area where there are areas.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.planes=2",
    "geometry.page=8 KiB",
    "geometry.wordlines_per_block=16",
    "geometry.blocks_per_plane=96",
    "capacity=30 MiB",
];

const AREAS: &[&str] = &["schemes.area=differential", "area.low_share=25 %"];

/// Retired: the first one, two in a row, the last of the high wearing area, and two of the low wearing one.
const RETIRED: [u32; 6] = [0, 17, 18, 71, 80, 95];

/// The drive of `schemes`, of which superblock `i` has `100 + i` P/E cycles, and those in [`RETIRED`] are retired.
fn worn(schemes: &[&str], precondition: Precondition) -> Drive {
    without(&RETIRED, schemes, precondition)
}

/// The same with others `retired`.
fn without(retired: &[u32], schemes: &[&str], precondition: Precondition) -> Drive {
    let set = [SMALL, schemes].concat();
    let mut profile = profile("bench-4g", &set);
    profile.worn = Some(Arc::new(WornBlocks {
        pe_cycles: (100..196).collect(),
        retired: (0..96).map(|i| retired.contains(&i)).collect(),
        ..WornBlocks::default()
    }));
    let state = DriveState {
        precondition,
        ..DriveState::default()
    };
    drive(profile, &state, 1)
}

/// Superblocks that are retired in a life are retired in the run that goes on, with their wear; the others have theirs, none of
/// the data lies in a retired one, and reads and writes find what they should.
#[test]
fn model_a_drive_has_its_superblocks_where_a_life_left_them() {
    let job = "[j]\nrw=randrw\nbs=4k\niodepth=8\nnorandommap\nio_size=200m\nverify=crc32c\n";
    for schemes in [&[][..], AREAS, &["dram.map_cache=256 KiB"]] {
        for precondition in [
            Precondition::None,
            Precondition::Random,
            Precondition::Zipf(1.1),
        ] {
            let mut drive = worn(schemes, precondition);
            let of = format!("{schemes:?}, {precondition}");
            for (SuperblockId(number), info) in drive.blocks().iter() {
                assert_eq!(info.pe_cycles, 100 + number, "{of}, superblock {number}");
                let is_retired = info.usage == SuperblockUse::Bad;
                assert_eq!(is_retired, RETIRED.contains(&number), "{of}, {number}");
            }
            assert_eq!(drive.audit(), Ok(()), "{of}");
            if schemes == AREAS && precondition == Precondition::None {
                let low = drive.blocks().numbers_in(RegionId::DECLARED);
                let mut low = low.map(|number| drive.blocks().info(SuperblockId(number)));
                assert!(
                    low.any(|info| info.valid_slots > 0),
                    "{of}: the fill reaches the low wearing area"
                );
            }
            let stats = try_run(&mut drive, job, 1, None).unwrap();
            assert!(
                stats.counters.erases > 20,
                "{of}: {}",
                stats.counters.erases
            );
            assert_eq!(drive.audit(), Ok(()), "{of}");
            let retired = drive.blocks().iter();
            let retired = retired.filter(|(_, info)| info.usage == SuperblockUse::Bad);
            assert!(retired.map(|(block, _)| block.0).eq(RETIRED), "{of}");
        }
    }
}

/// Where the worst die has more bad blocks than superblocks are retired, the last ones of the others are retired too.
#[test]
fn model_more_bad_blocks_retire_the_last_superblocks() {
    let failing = &["chip.failures.factory_bad=6 %"];
    let drive = worn(failing, Precondition::Random);
    let retired = drive.blocks().iter();
    let retired = retired.filter(|(_, info)| info.usage == SuperblockUse::Bad);
    let retired: Vec<u32> = retired.map(|(block, _)| block.0).collect();
    let more = retired.len() - RETIRED.len();
    assert!(more > 0, "{retired:?}");
    let others = (0..96).rev().filter(|number| !RETIRED.contains(number));
    let mut expected: Vec<u32> = others.take(more).chain(RETIRED).collect();
    expected.sort_unstable();
    assert_eq!(retired, expected);
    assert_eq!(drive.audit(), Ok(()));
}

/// What each area holds depends on how many of its superblocks are retired, and not on which.
#[test]
fn model_areas_hold_alike_whichever_superblocks_are_retired() {
    for precondition in [
        Precondition::None,
        Precondition::Random,
        Precondition::Zipf(1.1),
    ] {
        // As many of each area: the last ones of each, and the first ones.
        let [some, last, first] =
            [RETIRED, [68, 69, 70, 71, 94, 95], [0, 1, 2, 3, 72, 73]].map(|retired| {
                let drive = without(&retired, AREAS, precondition);
                [RegionId::MAIN, RegionId::DECLARED].map(|area| {
                    let blocks = drive.blocks();
                    let infos = blocks.numbers_in(area);
                    let valid = infos.map(|number| blocks.info(SuperblockId(number)).valid_slots);
                    let mut valid: Vec<u32> = valid.filter(|valid| *valid > 0).collect();
                    valid.sort_unstable();
                    valid
                })
            });
        assert_eq!(some, last, "{precondition}");
        assert_eq!(some, first, "{precondition}");
        // Overwrites leave three superblocks free where the host writes, for cleaning, and one in the other area, for its
        // moves. A fill leaves two there, and all others that are free where the host writes.
        let filled = some.map(|area| area.len());
        match precondition {
            Precondition::None => assert_eq!(filled, [60 - 20, 24 - 2 - 2]),
            _ => assert_eq!(filled, [72 - 4 - 3, 24 - 2 - 1], "{precondition}"),
        }
    }
}

/// A drive with areas of which a life has left too few superblocks of the low wearing one is refused, and so is one that
/// cannot hold its capacity; superblocks retired in the high wearing area are none of the low one.
#[test]
fn smoke_too_few_superblocks_are_left() {
    let of = |schemes: &[&str], retired: fn(u32) -> bool| {
        let set = [SMALL, schemes].concat();
        let mut profile = profile("bench-4g", &set);
        profile.worn = Some(Arc::new(WornBlocks {
            pe_cycles: vec![100; 96],
            retired: (0..96).map(retired).collect(),
            ..WornBlocks::default()
        }));
        let tables = firstread_drive::tables::for_drive(&profile).unwrap();
        let state = DriveState::default();
        let made = Drive::new(profile, tables, &state, 1);
        made.map(drop).map_err(|error| error.to_string())
    };
    let low = of(AREAS, |i| i >= 74).unwrap_err();
    assert!(low.contains("low wearing area"), "{low}");
    assert_eq!(of(AREAS, |i| i < 22), Ok(()));
    let all = of(&[], |i| i % 2 == 0).unwrap_err();
    assert!(all.contains("48"), "{all}");
}
