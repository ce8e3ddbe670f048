//! What must not run out: free superblocks that are lent, and what a superblock's row remembers.

use firstread_core::{BlockId, CellMode, HostOp, Stream};
use firstread_firmware::ftl::Busy;
use firstread_firmware::observe::BlockUse;

use crate::world::{Build, Drive, Faults, geometry};

/// A full drive with `spare` superblocks beyond those that every drive keeps.
fn full(spare: u32) -> Build {
    let g = geometry(2, 1, 2, 16, 4);
    let capacity = (13 - spare as u64) * g.slots_per_superblock(CellMode::Tlc) as u64;
    Build {
        geometry: g,
        mode: CellMode::Tlc,
        capacity,
        fill: capacity,
        victim: 1,
        wear: 0,
        suspend: 0,
        recovery: 0,
        faults: Faults::default(),
        read_cache: 0,
        read_ahead: false,
        map_cache: 0,
        planes_apart: false,
        seed: 1,
        depth: 8,
        max_wait_ns: 20_000,
    }
}

fn free(drive: &Drive) -> Vec<BlockId> {
    let blocks = drive.firmware.blocks().iter();
    let free = blocks.filter(|(_, row)| row.usage == BlockUse::Free);
    free.map(|(block, _)| block).collect()
}

/// Reads are counted from the erase on: what disturbed the data of before disturbs nothing any more.
#[test]
fn sequence_an_erase_forgets_the_reads_of_a_superblock() {
    let build = full(0);
    let mut drive = Drive::new(&build);
    let stream = Stream::new(build.seed);
    let mut cycles = vec![0; build.geometry.blocks_per_plane as usize];
    let (mut erases, mut read) = (0, 0);
    for i in 0..8_000 {
        let s = stream.at(i);
        let op = match s.at(0).below(2) {
            0 => HostOp::Write,
            _ => HostOp::Read,
        };
        drive.submit(op, s.at(1).below(build.capacity) * 4096, 4096);
        drive.step();
        for (block, row) in drive.firmware.blocks().iter() {
            let before = std::mem::replace(&mut cycles[block.0 as usize], row.pe_cycles);
            if row.pe_cycles > before && row.usage == BlockUse::Free {
                assert_eq!(row.reads, 0, "{block:?} has just been erased");
                erases += 1;
            }
            read += u32::from(row.reads > 0);
        }
    }
    assert!(erases > 5 && read > 5, "{erases} erases, {read} rows read");
}

/// A free superblock is erased into another mode only if cleaning keeps one; and one at a time.
#[test]
fn sequence_cleaning_keeps_its_free_superblock_from_a_change_of_mode() {
    let build = full(0);
    let mut drive = Drive::new(&build);
    let ask = |drive: &mut Drive, block, mode| {
        let now = drive.now;
        drive.firmware.ask_mode(now, block, mode, &mut drive.world)
    };
    let at_rest = free(&drive);
    assert_eq!(at_rest.len(), 3);
    assert_eq!(
        ask(&mut drive, at_rest[0], CellMode::Slc),
        Err(Busy::NoRoom),
        "the capacity needs it as it is"
    );
    assert_eq!(
        ask(&mut drive, at_rest[0], CellMode::Qlc),
        Err(Busy::NoRoom),
        "the drive was made for less"
    );
    assert_eq!(ask(&mut drive, at_rest[0], CellMode::Tlc), Ok(()));
    assert_eq!(
        ask(&mut drive, at_rest[1], CellMode::Tlc),
        Err(Busy::NotAtRest),
        "one erase at a time"
    );
    drive.settle();
    assert_eq!(free(&drive), at_rest);

    // Overwrites leave one free superblock again and again.
    let stream = Stream::new(build.seed);
    let mut refused = 0;
    for i in 0..4_000 {
        let lpn = stream.at(i).below(build.capacity);
        drive.submit(HostOp::Write, lpn * 4096, 4096);
        let blocks = drive.firmware.blocks().iter();
        let erases = blocks.filter(|(_, row)| row.usage == BlockUse::Erasing);
        if erases.count() == 0
            && let [last] = free(&drive)[..]
        {
            assert_eq!(
                ask(&mut drive, last, CellMode::Tlc),
                Err(Busy::NoRoom),
                "after {i} writes"
            );
            refused += 1;
        }
    }
    assert!(refused > 20, "asked {refused} times for the last one");
    drive.settle();
    assert_eq!(drive.firmware.audit(), Ok(()));
}
