//! Pools of another cell mode that the host writes to: they breathe with the data in use and with the load, and lose nothing.

use firstread_core::{CellMode, HostOp, Stream};
use firstread_faulty_flash::{Faults, FaultyDrive, TrialEnd, geometry};
use firstread_firmware::observe::{CopyRefused, SuperblockUse};
use firstread_firmware::policy::cell_mode;

use super::build::{Build, Chances, full_drive, kept_in_modes};
use super::cell_modes::drive;

const SLOT_BYTES: u32 = 4096;

/// The schemes with such a pool.
fn with_pool() -> impl Iterator<Item = usize> {
    let named = |name: &str| {
        let mut schemes = cell_mode::AXIS.schemes.iter();
        schemes
            .position(|scheme| scheme.name == name)
            .expect("a scheme of the axis")
    };
    ["hybrid-pools", "slc-cache"].into_iter().map(named)
}

/// Superblocks in SLC mode.
fn in_pool(drive: &FaultyDrive) -> usize {
    let blocks = drive.firmware.blocks().iter();
    let in_use = blocks.filter(|(_, info)| info.usage != SuperblockUse::Bad);
    in_use
        .filter(|(_, info)| info.mode == CellMode::Slc)
        .count()
}

/// A drive on which nothing has been written gives most of its superblocks to the pool, and takes them back while the host writes its
/// whole capacity, new page after new page, as fast as it can. No write is refused, then or later.
#[test]
fn sequence_a_young_drive_gives_its_pool_back_as_it_fills() {
    for (cell_mode, seed) in with_pool().flat_map(|scheme| (0..4).map(move |seed| (scheme, seed))) {
        let build = Build {
            depth: 24,
            ..drive(40, 4, 2, 0, cell_mode, seed)
        };
        let mut drive = build.trial(1, 0).faulty_drive().expect("a drive");
        let (slots, s) = (build.capacity, Stream::new(seed).named("load"));
        let write = |drive: &mut FaultyDrive, lpn: u64| {
            let written = drive.submit(HostOp::Write, lpn * u64::from(SLOT_BYTES), SLOT_BYTES);
            let is_taken =
                written.unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
            assert!(is_taken, "{cell_mode}, seed {seed}: page {lpn}");
        };
        // A quarter of the drive again and again: the pool is all that this leaves.
        for i in 0..4 * slots {
            write(&mut drive, s.at(i).below(slots / 4));
        }
        let young = in_pool(&drive);
        (0..slots).for_each(|lpn| write(&mut drive, lpn));
        drive
            .settle()
            .unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        let full = in_pool(&drive);
        for i in 0..2 * slots {
            write(&mut drive, s.at(slots + i).below(slots));
        }
        drive
            .settle()
            .unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        assert!(
            young >= 10 && 2 * full < young,
            "{cell_mode}, seed {seed}: {young}, then {full}"
        );
        for lpn in 0..slots {
            let read = drive.submit(HostOp::Read, lpn * u64::from(SLOT_BYTES), SLOT_BYTES);
            read.unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        }
        drive
            .settle()
            .unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
    }
}

/// Superblocks change between the pool and the drive's own mode a thousand times, and power fails meanwhile, again before the drive
/// has recovered from the last failure among them.
#[test]
fn powerloss_a_thousand_changes_of_the_pool() {
    let (mut changes, mut destaged, mut cuts) = (0, 0, 0);
    for (cell_mode, seed) in with_pool().flat_map(|scheme| (0..16).map(move |seed| (scheme, seed)))
    {
        let spare = 2 + seed as u32 % 5;
        let build = Build {
            faults: match seed % 4 {
                3 => Chances {
                    program: 2,
                    erase: 2,
                    sense: 20,
                },
                _ => Chances::default(),
            },
            ..drive(
                18 + kept_in_modes(cell_mode) + spare,
                3,
                spare,
                seed * 13 % 101,
                cell_mode,
                seed,
            )
        };
        let mut trial = build.trial(12_000, 4);
        trial.load.trims = [10, 60][seed as usize % 2];
        let summary = trial.run().unwrap_or_else(|found| panic!("{found}"));
        if build.faults.erase == 0 {
            assert_eq!(summary.end, TrialEnd::Done, "{cell_mode}, seed {seed}");
        }
        changes += summary.counters.conversions;
        destaged += summary.counters.superblocks_destaged;
        cuts += summary.power_cuts.cuts;
    }
    assert!(
        changes > 1_000 && destaged > 500 && cuts > 500,
        "{changes}, {destaged}, {cuts}"
    );
}

/// The pool of a drive is as large after a power cut as before: what it is to have is known again before anything is written.
#[test]
fn powerloss_a_pool_is_as_large_after_a_power_cut() {
    for (cell_mode, seed) in with_pool().flat_map(|scheme| (0..4).map(move |seed| (scheme, seed))) {
        let build = Build {
            depth: 24,
            ..drive(40, 4, 12, 50, cell_mode, seed)
        };
        let mut drive = build.trial(1, 0).faulty_drive().expect("a drive");
        let (slots, s) = (build.capacity, Stream::new(seed).named("load"));
        for i in 0..4 * slots {
            let lpn = s.at(i).below(slots / 8);
            let written = drive.submit(HostOp::Write, lpn * u64::from(SLOT_BYTES), SLOT_BYTES);
            written.unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        }
        let before = in_pool(&drive);
        drive
            .power_cut()
            .unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        drive
            .settle()
            .unwrap_or_else(|found| panic!("{cell_mode}, seed {seed}: {found}"));
        let after = in_pool(&drive);
        assert!(
            before >= 3 && after + 1 >= before,
            "{cell_mode}, seed {seed}: {before}, then {after}"
        );
    }
}

/// Pages that are promoted take no more of the pool than the writes leave.
#[test]
fn sequence_promoted_pages_take_what_writes_leave() {
    let cell_mode = with_pool().next().expect("hybrid-pools");
    let (mut promoted, mut written, mut refused) = (0, 0, 0);
    for seed in 0..6 {
        let build = Build {
            depth: 16,
            ..drive(40, 4, 8, 100, cell_mode, seed)
        };
        let mut drive = build.trial(1, 0).faulty_drive().expect("a drive");
        let (slots, s) = (build.capacity, Stream::new(seed).named("load"));
        for i in 0..30_000 {
            let (op, lpn) = match i % 3 {
                0 => (HostOp::Write, s.at(i).below(slots / 6)),
                _ => (HostOp::Read, slots / 2 + s.at(i).below(slots / 8)),
            };
            let done = drive.submit(op, lpn * u64::from(SLOT_BYTES), SLOT_BYTES);
            done.unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        }
        drive
            .settle()
            .unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        let counters = drive.firmware.counters();
        promoted += counters.slots_promoted.iter().sum::<u64>();
        written += counters.slots_written_to_pool;
        refused += counters.promotions_refused[CopyRefused::OverProvisioning as usize];
        // Pages that are read often do not go round: each is copied a few times.
        let moved = counters.slots_moved;
        assert!(moved < 4 * 30_000, "seed {seed}: {moved}");
    }
    assert!(
        promoted > 100 && written > 1_000 && refused > 100,
        "{promoted}, {written}, {refused}"
    );
}

/// Superblocks of the pool make place for others once they are worn by so much since they came into it, where the pool is levelled by that.
/// Levelled by the mean of the drive they stay, because that rises with them.
#[test]
fn sequence_a_pool_is_levelled_by_its_mean_or_since_the_switch() {
    const LEVEL: u32 = 3;
    let most_worn = |level_by: &str, seed: u64| {
        let g = geometry(2, 1, 1, 40, 4);
        let capacity = 18 * u64::from(g.slots_per_superblock(CellMode::Qlc));
        let schemes = format!(
            "cell_mode=hybrid-pools cell_mode.level={LEVEL} cell_mode.level_by={level_by} gc_victim=greedy"
        );
        let config = full_drive(g, CellMode::Qlc, (capacity, 1 << 20), &schemes);
        let mut drive = FaultyDrive::new(&config, &Faults::default(), seed).expect("a drive");
        let s = Stream::new(seed).named("load");
        let mut came_with = [None; 40];
        let mut most = 0;
        for i in 0..60_000 {
            let lpn = s.at(i).below(capacity / 8);
            let written = drive.submit(HostOp::Write, lpn * u64::from(SLOT_BYTES), SLOT_BYTES);
            written.unwrap_or_else(|found| panic!("{level_by}, seed {seed}: {found}"));
            for (block, info) in drive.firmware.blocks().iter() {
                let came = &mut came_with[block.0 as usize];
                match info.mode {
                    CellMode::Slc => {
                        let came = *came.get_or_insert(info.pe_cycles);
                        most = most.max(info.pe_cycles - came);
                    }
                    _ => *came = None,
                }
            }
        }
        most
    };
    for seed in 0..2 {
        let (since, mean) = (most_worn("switch", seed), most_worn("mean", seed));
        // The cycle that is under way when the level is passed, and the one that ends the stay.
        assert!(since <= LEVEL + 2, "seed {seed}: {since}");
        assert!(mean > 2 * LEVEL, "seed {seed}: {mean}");
    }
}
