//! What must not run out: free superblocks that are lent, and what a superblock's row remembers.

use std::collections::BTreeMap;

use firstread_core::{CellMode, HostOp, Lpn, Stream, SuperblockId};
use firstread_firmware::ftl::{Busy, Owner};
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::gc_victim;

use crate::build::Build;
use firstread_faulty_flash::{FaultyDrive, When, geometry};

/// A full drive with blocks of `wordlines`, and `spare` superblocks beyond those that every drive keeps.
fn tight(wordlines: u16, spare: u64) -> Build {
    let g = geometry(2, 1, 2, 16, wordlines);
    let capacity = (13 - spare) * g.slots_per_superblock(CellMode::Tlc) as u64;
    Build::full(g, CellMode::Tlc, capacity)
}

fn free(drive: &FaultyDrive) -> Vec<SuperblockId> {
    let blocks = drive.firmware.blocks().iter();
    let free = blocks.filter(|(_, info)| info.usage == SuperblockUse::Free);
    free.map(|(block, _)| block).collect()
}

/// Reads are counted from the erase on: what disturbed the data of before disturbs nothing any more.
#[test]
fn sequence_an_erase_forgets_the_reads_of_a_superblock() {
    let build = tight(4, 0);
    let mut drive = build.drive();
    let stream = Stream::new(build.seed);
    let mut cycles = vec![0; build.geometry.blocks_per_plane as usize];
    let (mut erases, mut read) = (0, 0);
    for i in 0..8_000 {
        let s = stream.at(i);
        let op = match s.at(0).below(2) {
            0 => HostOp::Write,
            _ => HostOp::Read,
        };
        drive
            .submit(op, s.at(1).below(build.capacity) * 4096, 4096)
            .unwrap();
        drive.step().unwrap();
        for (block, info) in drive.firmware.blocks().iter() {
            let before = std::mem::replace(&mut cycles[block.0 as usize], info.pe_cycles);
            if info.pe_cycles > before && info.usage == SuperblockUse::Free {
                assert_eq!(info.reads, 0, "{block:?} has just been erased");
                erases += 1;
            }
            read += u32::from(info.reads > 0);
        }
    }
    assert!(erases > 5 && read > 5, "{erases} erases, {read} rows read");
}

/// A free superblock is erased into another mode only if cleaning keeps one; and one at a time.
#[test]
fn sequence_cleaning_keeps_its_free_superblock_from_a_change_of_mode() {
    let build = tight(4, 0);
    let mut drive = build.drive();
    let ask = |drive: &mut FaultyDrive, block, mode| {
        let now = drive.now();
        drive
            .firmware
            .ask_mode(now, block, mode, &mut drive.platform)
    };
    let at_rest = free(&drive);
    assert_eq!(at_rest.len(), 3);
    assert_eq!(
        ask(&mut drive, at_rest[0], CellMode::Slc),
        Err(Busy::NoHeadroom),
        "the capacity needs it as it is"
    );
    assert_eq!(
        ask(&mut drive, at_rest[0], CellMode::Qlc),
        Err(Busy::NoHeadroom),
        "the drive was made for less"
    );
    assert_eq!(ask(&mut drive, at_rest[0], CellMode::Tlc), Ok(()));
    assert_eq!(
        ask(&mut drive, at_rest[1], CellMode::Tlc),
        Err(Busy::NotAtRest),
        "one erase at a time"
    );
    drive.settle().unwrap();
    assert_eq!(free(&drive), at_rest);

    // Overwrites leave one free superblock again and again.
    let stream = Stream::new(build.seed);
    let mut refused = 0;
    for i in 0..4_000 {
        let lpn = stream.at(i).below(build.capacity);
        drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
        let blocks = drive.firmware.blocks().iter();
        let erases = blocks.filter(|(_, info)| info.usage == SuperblockUse::Erasing);
        if erases.count() == 0
            && let [last] = free(&drive)[..]
        {
            assert_eq!(
                ask(&mut drive, last, CellMode::Tlc),
                Err(Busy::NoHeadroom),
                "after {i} writes"
            );
            refused += 1;
        }
    }
    assert!(refused > 20, "asked {refused} times for the last one");
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
}

/// A drive without a spare superblock, whose power is cut after every tenth write: what a cut tears is
/// written again from a reserve of its own, and writes wait until that is whole. So the drive lives on.
#[test]
fn powerloss_cuts_after_few_writes_do_not_end_a_tight_drive() {
    for victim in 0..gc_victim::AXIS.schemes.len() {
        let build = Build {
            victim,
            seed: victim as u64 + 1,
            ..tight(16, 0)
        };
        let mut drive = build.drive();
        let stream = Stream::new(build.seed);
        let mut torn = 0;
        for i in 0..4_000 {
            let s = stream.at(i);
            let lpn = s.at(0).below(build.capacity);
            drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
            if i % 10 == 9 {
                (0..s.at(1).below(20)).for_each(|_| {
                    drive.step().unwrap();
                });
                torn += drive.power_cut().unwrap().0.torn_programs;
            }
            assert!(
                !drive.firmware.is_read_only(),
                "victim {victim}: after {i} writes"
            );
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()));
        assert!(torn > 20, "{torn} programs were torn");
    }
}

/// Cuts in a row may take more than there is in reserve. Then a drive lives on, or takes no more writes;
/// it does not look for a victim for ever, and what it holds can be read.
#[test]
fn powerloss_cuts_in_a_row_leave_a_drive_that_answers() {
    let mut torn = 0;
    for seed in 1..=10 {
        let build = Build {
            seed,
            victim: seed as usize % 5,
            ..tight(4, 0)
        };
        let mut drive = build.drive();
        let stream = Stream::new(seed);
        for i in 0..4_000 {
            let s = stream.at(i);
            let lpn = s.at(0).below(build.capacity);
            drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
            if s.at(1).below(100) == 0 {
                for cut in 0..1 + s.at(2).below(4) {
                    (0..s.at(3).at(cut).below(20)).for_each(|_| {
                        drive.step().unwrap();
                    });
                    torn += drive.power_cut().unwrap().0.torn_programs;
                }
            }
        }
        drive.settle().unwrap();
        assert_eq!(drive.firmware.audit(), Ok(()), "seed {seed}");
        for lpn in 0..build.capacity {
            drive.submit(HostOp::Read, lpn * 4096, 4096).unwrap();
        }
        drive.finish().unwrap();
    }
    assert!(torn > 200, "{torn} programs were torn");
}

/// Pages that are moved alone take more than they give back: they wait while cleaning needs what is
/// left, however many are asked for.
#[test]
fn sequence_pages_that_move_alone_leave_what_cleaning_needs() {
    for victim in 0..gc_victim::AXIS.schemes.len() {
        let build = Build {
            victim,
            ..tight(4, 0)
        };
        let mut drive = build.drive();
        let stream = Stream::new(build.seed);
        let mut moved = 0;
        for i in 0..4_000 {
            let s = stream.at(i);
            let lpn = s.at(0).below(build.capacity);
            drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
            for k in 0..4 {
                let lpn = Lpn(s.at(1).at(k).below(build.capacity));
                let now = drive.now();
                let asked = drive
                    .firmware
                    .ask_move(now, Owner::Refresh, lpn, &mut drive.platform);
                moved += u32::from(asked.is_ok());
            }
            assert!(
                !drive.firmware.is_read_only(),
                "victim {victim}: after {i} writes"
            );
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()));
        assert!(moved > 100, "victim {victim}: {moved} pages moved");
    }
}

/// A change of mode is asked of the data that a superblock holds. Where cleaning erases the superblock
/// first, the request is forgotten, and what is written there next stays in the drive's mode.
#[test]
fn sequence_a_change_of_mode_is_forgotten_where_cleaning_comes_first() {
    let (mut changed, mut overtaken) = (0, 0);
    for seed in 1..=3 {
        let build = Build {
            seed,
            victim: seed as usize,
            ..tight(4, 5)
        };
        let mut drive = build.drive();
        let stream = Stream::new(seed);
        // What was asked of each superblock: in its how many-eth use.
        let mut asked: BTreeMap<SuperblockId, u64> = BTreeMap::new();
        for i in 0..8_000 {
            let s = stream.at(i);
            let lpn = s.at(0).below(build.capacity);
            drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
            // Pages that move keep cleaning busy, so that requests wait.
            let (now, lpn) = (drive.now(), Lpn(s.at(1).below(build.capacity)));
            let _ = drive
                .firmware
                .ask_move(now, Owner::Refresh, lpn, &mut drive.platform);
            let block = SuperblockId(s.at(2).below(16) as u32);
            let info = *drive.firmware.blocks().info(block);
            if s.at(3).below(4) == 0
                && (info.usage, info.mode) == (SuperblockUse::Full, CellMode::Tlc)
                && drive
                    .firmware
                    .ask_mode(now, block, CellMode::Slc, &mut drive.platform)
                    .is_ok()
            {
                asked.insert(block, info.opened);
            }
            let infos: Vec<_> = drive.firmware.blocks().iter().collect();
            for (block, info) in infos {
                let Some(&opened) = asked.get(&block) else {
                    continue;
                };
                if info.mode == CellMode::Slc {
                    // Once it is open again, its row tells no more what it held.
                    if matches!(info.usage, SuperblockUse::Erasing | SuperblockUse::Free) {
                        assert_eq!(
                            info.opened, opened,
                            "seed {seed}: {block:?} held other data than when its mode was asked for"
                        );
                        changed += 1;
                    }
                    asked.remove(&block);
                } else if info.opened != opened && info.usage == SuperblockUse::Full {
                    overtaken += 1;
                }
            }
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()));
    }
    assert!(
        changed > 3 && overtaken > 3,
        "{changed} changed, {overtaken} times cleaned first"
    );
}

/// Programs fail in two superblocks of a drive, one soon after the other, while it is being cleaned. Whether
/// it lives on; none where they failed in more.
fn lives_on(seed: u64, victim: usize) -> Option<bool> {
    let build = Build {
        seed,
        victim,
        ..tight(16, 5)
    };
    let mut drive = build.drive();
    let stream = Stream::new(seed);
    let failed = |drive: &FaultyDrive| {
        let infos = drive.firmware.blocks().iter();
        infos.filter(|(_, info)| info.failed).count()
    };
    let begins = 3 * build.capacity + stream.at(0).below(build.capacity);
    for i in 0..5 * build.capacity {
        if i == begins {
            drive.platform.flash.faults.failed_programs = When::permille(60);
        }
        while drive.platform.model.in_flight() == build.depth {
            assert!(drive.step().unwrap());
            if failed(&drive) >= 2 {
                drive.platform.flash.faults.failed_programs = When::never();
            }
        }
        let lpn = stream.at(i + 1).below(build.capacity);
        drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
        if failed(&drive) > 2 {
            return None;
        }
        if drive.firmware.is_read_only() {
            return Some(false);
        }
    }
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
    Some(true)
}

/// The reserve is two superblocks, and five more are spare. What two failures take of it, cleaning makes up
/// for: with the scheme's own choice of victims, and without the room in the superblock of the host, one
/// drive in eighteen came to its end.
#[test]
fn sequence_two_failures_in_a_row_do_not_end_a_drive_with_spare() {
    for victim in 0..3 {
        let ends: Vec<u64> = (0..25)
            .filter(|seed| lives_on(*seed, victim) == Some(false))
            .collect();
        assert!(ends.is_empty(), "victim {victim}: seeds {ends:?} end");
    }
}

/// Whoever asks first that a page move owns the move: until it has moved nobody else is let ask for it.
#[test]
fn sequence_a_page_on_the_move_is_asked_for_once() {
    let build = tight(4, 2);
    let mut drive = build.drive();
    let ask = |drive: &mut FaultyDrive, owner| {
        let now = drive.now();
        drive
            .firmware
            .ask_move(now, owner, Lpn(0), &mut drive.platform)
    };
    let moved =
        |drive: &FaultyDrive, owner| drive.firmware.counters().slots_moved_by[owner as usize];
    assert_eq!(ask(&mut drive, Owner::Refresh), Ok(()));
    let mut refused = 0;
    while moved(&drive, Owner::Refresh) == 0 {
        assert_eq!(ask(&mut drive, Owner::Wear), Err(Busy::Moving));
        refused += 1;
        assert!(drive.step().unwrap(), "the move comes to an end");
    }
    drive.settle().unwrap();
    assert!(refused > 1, "the page was asked for while it was read");
    assert_eq!(moved(&drive, Owner::Wear), 0);
    assert_eq!(drive.audit(), Ok(()));
}
