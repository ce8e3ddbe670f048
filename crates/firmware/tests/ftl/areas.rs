//! Areas that wear apart: which data enter the low wearing area, what it takes to keep them there, and that the drive
//! lives.

use firstread_core::{CellMode, HostOp, Ns, Stream};
use firstread_firmware::ftl::Owner;
use firstread_firmware::observe::{Area, Counters, LowEntry};
use firstread_testkit::faulty_flash::{
    DriveConfig, Faults, FaultyDrive, SchemeChoices, When, geometry,
};

/// Superblocks, and slots of each.
const BLOCKS: u32 = 256;
const SLOTS: u64 = 16;
/// Bytes of a slot.
const SLOT: u64 = 4096;

/// A drive of 64 superblocks that is full of data, of which `spare` are beyond its capacity. One sense in ten fails, so
/// that reads are retried.
fn drive(schemes: &str, spare: u32, seed: u64) -> FaultyDrive {
    let g = geometry(1, 2, 1, BLOCKS, 4);
    assert_eq!(SLOTS, u64::from(g.slots_per_superblock(CellMode::Slc)));
    let capacity = u64::from(BLOCKS - spare) * SLOTS;
    let config = DriveConfig {
        geometry: g,
        mode: CellMode::Slc,
        capacity_slots: capacity,
        filled_slots: capacity,
        rated_pe_cycles: 1000,
        read_cache_slots: 0,
        queue_depth: 8,
        max_wait_ns: 1 << 40,
        ..DriveConfig::for_schemes(schemes.parse::<SchemeChoices>().unwrap())
    };
    let faults = Faults {
        failed_senses: When::permille(100),
        ..Faults::default()
    };
    FaultyDrive::new(&config, &faults, seed).unwrap()
}

/// A load: nine of ten writes go to the first tenth of the drive, nine of ten reads to a tenth of its second half.
fn step(drive: &mut FaultyDrive, capacity: u64, draw: Stream, reads: u64) {
    let hot = draw.at(0).below(10) != 0;
    let among = if hot { capacity / 10 } else { capacity };
    let lpn = draw.at(1).below(among);
    drive.submit(HostOp::Write, lpn * SLOT, SLOT as u32).unwrap();
    for i in 0..reads {
        let draw = draw.at(2 + i);
        let lpn = match draw.at(0).below(10) {
            0 => draw.at(1).below(capacity),
            _ => capacity / 2 + 10 * draw.at(1).below(capacity / 20),
        };
        drive.submit(HostOp::Read, lpn * SLOT, SLOT as u32).unwrap();
    }
}

/// What a drive came to.
#[derive(Debug)]
struct CameTo {
    counters: Counters,
    /// Mean P/E cycles of each area.
    wear: [f64; 2],
    valid: [f64; 2],
    amplification: f64,
    /// The longest time of a command.
    longest: Ns,
}

fn run(schemes: &str, spare: u32, seed: u64, writes: f64) -> CameTo {
    let mut drive = drive(schemes, spare, seed);
    let capacity = u64::from(BLOCKS - spare) * SLOTS;
    let stream = Stream::new(seed);
    for i in 0..(writes * capacity as f64) as u64 {
        step(&mut drive, capacity, stream.at(i), 2);
    }
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
    let blocks = drive.firmware.blocks();
    let mean = |area, of: &dyn Fn(&firstread_firmware::observe::SuperblockRow) -> u32| {
        let rows = blocks.in_area(area);
        let sum: u32 = rows.iter().map(|(_, row)| of(row)).sum();
        f64::from(sum) / f64::from(rows.len())
    };
    let counters = drive.firmware.counters().clone();
    CameTo {
        wear: Area::ALL.map(|area| mean(area, &|row| row.pe_cycles)),
        valid: Area::ALL.map(|area| mean(area, &|row| row.valid_slots)),
        amplification: 1.0 + counters.slots_moved as f64 / counters.host_slots_written as f64,
        longest: Ns(0),
        counters,
    }
}

fn tell(name: &str, c: &CameTo) {
    let n = &c.counters;
    let low = n.page_reads_in_low as f64 / n.page_reads_by_mode.iter().sum::<u64>() as f64;
    println!(
        "{name:52} wear {:5.1} {:5.1} valid {:4.1} {:4.1} WA {:.2} low {:.3} into {:?} refused {:?} returned {} compacted {} elsewhere {} moved {:?}",
        c.wear[0], c.wear[1], c.valid[0], c.valid[1], c.amplification, low, n.slots_into_low, n.low_refused,
        n.superblocks_returned, n.superblocks_compacted, n.opened_elsewhere, n.slots_moved_by,
    );
}

#[test]
fn explore() {
    for spare in [14, 18, 26, 70] {
        for s in ["wear=dynamic area=one", "wear=dynamic area=differential", "wear=dynamic area=differential area.rule=as-printed", "wear=static wear.spread=10 area=one", "wear=static wear.spread=10 area=differential"] {
            let s = format!("gc_victim=greedy {s}");
            tell(&format!("{spare} {s}"), &run(&s, spare, 1, 20.0));
        }
    }
    let _ = (Owner::Gc, LowEntry::Gc);
}
