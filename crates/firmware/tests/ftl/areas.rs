//! Areas that wear apart, on a drive: which data come into the low wearing area, what it takes to keep them there, and that
//! the drive lives.

use firstread_core::{CellMode, HostOp, Lpn, Status, Stream};
use firstread_faulty_flash::{Faults, FaultyDrive, TrialEnd, When, geometry};
use firstread_firmware::WriteCache;
use firstread_firmware::observe::{
    CopyRefused, Counters, ENTRY_WAYS, RegionId, SuperblockInfo, SuperblockUse,
};
use firstread_firmware::policy::area::{AXIS, Entry, HIGH, LOW};
use firstread_firmware::policy::cell_mode;
use proptest::prelude::*;

use crate::build::{
    Build, Chances, full_drive, kept_by, kept_by_area, kept_in_modes, page_type, write_cache,
};

/// Superblocks, and slots of each.
const BLOCKS: u32 = 256;
const SLOTS: u64 = 16;
/// Bytes of a slot.
const SLOT: u64 = 4096;
/// Superblocks beyond the capacity: 7 % of it.
const SPARE: u32 = 17;

/// Pages of the host.
const fn capacity(spare: u32) -> u64 {
    (BLOCKS - spare) as u64 * SLOTS
}

/// A drive of 256 superblocks that is full of data, of which `spare` are beyond its capacity. One sense in ten fails, so
/// that reads are retried.
fn drive(schemes: &str, spare: u32, seed: u64) -> FaultyDrive {
    drive_in(CellMode::Slc, schemes, spare, seed)
}

/// The same with superblocks in `mode`.
fn drive_in(mode: CellMode, schemes: &str, spare: u32, seed: u64) -> FaultyDrive {
    let g = geometry(1, 2, 1, BLOCKS, 4);
    assert_eq!(SLOTS, u64::from(g.slots_per_superblock(CellMode::Slc)));
    let capacity = capacity(spare) * u64::from(mode.bits());
    let config = full_drive(g, mode, (capacity, 1000), schemes);
    let faults = Faults {
        failed_senses: When::permille(100),
        ..Faults::default()
    };
    FaultyDrive::new(&config, &faults, seed).unwrap()
}

fn read(drive: &mut FaultyDrive, capacity: u64, draw: Stream) {
    let lpn = match draw.at(0).below(10) {
        0 => draw.at(1).below(capacity),
        _ => capacity / 2 + 10 * draw.at(1).below(capacity / 20),
    };
    let ends = drive.submit(HostOp::Read, lpn * SLOT, SLOT as u32).unwrap();
    assert!(ends);
}

/// A write, nine of ten in the first tenth of the drive, and two reads, nine of ten of a tenth of the pages of its second
/// half.
fn step(drive: &mut FaultyDrive, capacity: u64, draw: Stream) {
    let among = match draw.at(0).below(10) {
        0 => capacity,
        _ => capacity / 10,
    };
    let lpn = draw.at(1).below(among);
    let ends = drive
        .submit(HostOp::Write, lpn * SLOT, SLOT as u32)
        .unwrap();
    assert!(ends);
    for i in 2..4 {
        read(drive, capacity, draw.at(i));
    }
}

/// What a drive came to.
#[derive(Debug)]
struct CameTo {
    counters: Counters,
    /// Mean P/E cycles, and the most less the least, of each area.
    wear: [(f64, u32); 2],
    /// Share of page reads from LWA.
    low_reads: f64,
    amplification: f64,
    statuses: Vec<Status>,
}

impl CameTo {
    fn entered(&self, entry: Entry) -> u64 {
        self.counters.slots_entered[entry.index()]
    }
}

/// A drive is written `writes` times with steps of the load. Heat, reads and wear are those of the end.
fn run(schemes: &str, spare: u32, seed: u64, writes: f64) -> CameTo {
    let mut drive = drive(&format!("gc_victim=greedy {schemes}"), spare, seed);
    let capacity = capacity(spare);
    let stream = Stream::new(seed);
    let steps = (writes * capacity as f64) as u64;
    let mut before = drive.firmware.counters().clone();
    for i in 0..steps {
        step(&mut drive, capacity, stream.at(i));
        if i == steps / 2 {
            before = drive.firmware.counters().clone();
        }
    }
    assert!(drive.settle().unwrap(), "no command stalls");
    assert_eq!(drive.audit(), Ok(()));
    let blocks = drive.firmware.blocks();
    let counters = drive.firmware.counters().clone();
    let last = counters.since(&before);
    let wear = |area: RegionId| {
        let pe = || {
            blocks
                .in_region(area)
                .iter()
                .map(|(_, info)| info.pe_cycles)
        };
        let spread = pe().max().unwrap_or(0) - pe().min().unwrap_or(0);
        let count = f64::from(blocks.in_region(area).len().max(1));
        (f64::from(pe().sum::<u32>()) / count, spread)
    };
    // Every erase had the slots of a superblock programmed before, but those of the fill; the rest are in open ones.
    let programmed = counters.slots_programmed;
    let erased = counters.erases * SLOTS;
    let filled = capacity;
    let free = |info: &SuperblockInfo| info.usage == SuperblockUse::Free;
    let held = blocks.iter().filter(|(_, info)| !free(info)).count() as u64 * SLOTS;
    let open = blocks
        .iter()
        .filter(|(_, info)| matches!(info.usage, SuperblockUse::Open | SuperblockUse::Erasing))
        .count() as u64;
    let off = (programmed + filled).abs_diff(erased + held);
    assert!(
        off <= open * SLOTS,
        "{off} slots in {open} open superblocks"
    );
    CameTo {
        wear: [HIGH, LOW].map(wear),
        low_reads: last.page_reads_by_region[LOW.index()] as f64
            / last.page_reads_by_mode.iter().sum::<u64>().max(1) as f64,
        amplification: programmed as f64 / counters.host_slots_written as f64,
        statuses: drive.platform.completed.iter().map(|(_, s)| *s).collect(),
        counters,
    }
}

/// With 7 % of over-provisioning and 20 % of LWA, twenty drive writes end well, whatever levels wear; and LWA is worn
/// less, holds what is read often, and amplification is that of a drive without areas, within a fifth.
#[test]
fn sequence_twenty_drive_writes_with_7_percent_to_spare() {
    for wear in [
        "none",
        "dynamic",
        "static wear.spread=10",
        "progressive wear.start=20",
    ] {
        let of = |area: &str| {
            let came = run(&format!("wear={wear} area={area}"), SPARE, 1, 20.0);
            println!(
                "{wear}, {area}: wear {:?}, of reads {:.3}, WA {:.2}, entered {:?}, refused {:?}, returned {}, \
                 compacted {}, elsewhere {}",
                came.wear,
                came.low_reads,
                came.amplification,
                came.counters.slots_entered,
                came.counters.entries_refused,
                came.counters.superblocks_emptied_for_room,
                came.counters.superblocks_compacted,
                came.counters.opened_elsewhere,
            );
            assert!(
                came.statuses
                    .iter()
                    .all(|s| *s == Status::Ok || *s == Status::Uncorrectable)
            );
            assert!(came.amplification >= 1.0);
            came
        };
        let one = of("one");
        assert_eq!(one.counters.slots_entered, [0; ENTRY_WAYS]);
        for area in ["differential", "differential-fixed"] {
            let came = of(area);
            let [high, low] = came.wear;
            assert!(2.0 * low.0 < high.0, "{:?}", came.wear);
            assert!(came.low_reads > 0.8, "{}", came.low_reads);
            assert!(came.amplification < 1.2 * one.amplification);
        }
    }
}

/// A way that is off lets no page in; the others still do.
#[test]
fn sequence_each_way_into_the_low_area_can_be_off() {
    let ways = [
        (Entry::Read, "by_read=false"),
        (Entry::Gc, "by_gc=false"),
        (Entry::Update, "by_update=false"),
        (Entry::Spill, "rule=as-printed"),
    ];
    // Half of the pages that are read often lie where pages are written.
    let schemes = "wear=static wear.spread=4 area=differential area.new_reads=2";
    let all = run(schemes, SPARE, 2, 4.0);
    for (off, set) in ways {
        let came = run(&format!("{schemes} area.{set}"), SPARE, 2, 4.0);
        for (entry, _) in ways {
            assert!(all.entered(entry) > 0, "{entry:?}");
            if entry == off {
                assert_eq!(came.entered(entry), 0, "{set}");
            }
        }
        assert!(came.counters.slots_entered.iter().sum::<u64>() > 0, "{set}");
    }
    assert!(all.entered(Entry::Wear) > 0);
    let none = run(&format!("{schemes} area.by_gc=false"), SPARE, 2, 4.0);
    assert_eq!(none.entered(Entry::Wear), 0);
}

/// Retries of reads are the same in both areas here, so what DWR changes is where reads go. A page that is read often is
/// found in LWA, and less of it is left to HWA with `N_R` 2 than with 14.
#[test]
fn sequence_more_is_read_from_the_low_area_with_a_smaller_threshold() {
    let of = |n_r: u8| {
        let schemes = format!("wear=dynamic area=differential-fixed area.reads={n_r}");
        run(&schemes, SPARE, 3, 4.0).low_reads
    };
    let (few, many) = (of(2), of(14));
    assert!(few > 0.8 && many < few, "{few} {many}");
}

/// Each area is leveled by an instance of its own: what static leveling allows holds within an area, and not between
/// them.
#[test]
fn sequence_each_area_is_leveled_by_itself() {
    let of = |wear: &str| run(&format!("wear={wear} area=differential"), SPARE, 1, 12.0);
    let leveled = of("static wear.spread=4 wear.every=4");
    let dynamic = of("dynamic");
    let [high, low] = leveled.wear;
    assert!(high.1 <= 20 && low.1 <= 12, "{:?}", leveled.wear);
    assert!(dynamic.wear[0].1 > 2 * high.1, "{:?}", dynamic.wear);
    assert!(high.0 - low.0 > 30.0, "{:?}", leveled.wear);
}

/// At the bound of its wear a drive either goes on, with updates in LWA until that is worn as much, or refuses writes and
/// is read.
#[test]
fn sequence_what_happens_at_the_bound() {
    let of = |set: &str| {
        run(
            &format!("wear=dynamic area=differential area.bound=30 {set}"),
            SPARE,
            1,
            12.0,
        )
    };
    let share = of("");
    assert!(
        share.entered(Entry::Bound) > 1000,
        "{:?}",
        share.counters.slots_entered
    );
    let [high, low] = share.wear;
    let [apart_high, apart_low] = run("wear=dynamic area=differential", SPARE, 1, 12.0).wear;
    assert!(
        high.0 < apart_high.0 && low.0 > 2.0 * apart_low.0,
        "{:?}",
        share.wear
    );
    let read_only = of("area.at_bound=read-only");
    assert_eq!(read_only.entered(Entry::Bound), 0);
    let refused = read_only.counters.writes_refused;
    assert!(refused > 10_000, "{refused}");
    let protected = read_only
        .statuses
        .iter()
        .filter(|s| **s == Status::WriteProtected);
    assert_eq!(protected.count() as u64, refused);
    let [high, _] = read_only.wear;
    assert!((30.0..32.0).contains(&high.0), "{high:?}");
    // Pages of the host are counted once, whether they were written or refused.
    let written = read_only.counters.host_slots_written;
    assert_eq!(written + refused, 12 * capacity(SPARE));
}

/// Pools of cell modes and areas side by side: pages are promoted and enter LWA, and LWA is emptied and has its superblocks
/// back. None of them leaves for a pool, where reads wear no less.
#[test]
fn sequence_pools_of_cell_modes_take_no_superblock_of_the_low_area() {
    let mode = CellMode::Qlc;
    let mut drive = drive_in(
        mode,
        "gc_victim=greedy wear=dynamic cell_mode=hotness area=differential area.budget=500",
        40,
        7,
    );
    let capacity = capacity(40) * u64::from(mode.bits());
    let mut in_pools = 0;
    for i in 0..3 * capacity {
        step(&mut drive, capacity, Stream::new(7).at(i));
        let blocks = drive.firmware.blocks();
        if i % 64 == 0 {
            let mut low = blocks.in_region(LOW).iter();
            assert!(low.all(|(_, info)| info.mode == mode), "write {i}");
            let high = blocks.in_region(HIGH).iter();
            in_pools += high.filter(|(_, info)| info.mode != mode).count();
        }
    }
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
    let counters = drive.firmware.counters();
    let emptied = counters.superblocks_compacted + counters.superblocks_emptied_for_room;
    assert!(in_pools > 0 && emptied > 10, "{in_pools} {emptied}");
    assert!(counters.slots_promoted.iter().sum::<u64>() > 100);
    assert!(counters.slots_entered.iter().sum::<u64>() > 1000);
}

/// A trim changes the medium, and is refused with the writes. What was read before is still there.
#[test]
fn sequence_trims_are_refused_at_the_bound() {
    let schemes = "wear=dynamic area=differential area.at_bound=read-only area.bound=2";
    let mut drive = drive(schemes, SPARE, 4);
    let capacity = capacity(SPARE);
    for i in 0..4 * capacity {
        step(&mut drive, capacity, Stream::new(4).at(i));
    }
    drive.settle().unwrap();
    assert!(drive.firmware.counters().writes_refused > 0);
    for (op, status) in [
        (HostOp::Trim, Status::WriteProtected),
        (HostOp::Write, Status::WriteProtected),
        (HostOp::Flush, Status::Ok),
        (HostOp::Read, Status::Ok),
    ] {
        let before = drive.firmware.counters().writes_refused;
        let bytes = if op == HostOp::Flush {
            0
        } else {
            4 * SLOT as u32
        };
        assert!(drive.submit(op, 5 * SLOT, bytes).unwrap());
        drive.settle().unwrap();
        assert_eq!(drive.platform.completed.last().unwrap().1, status, "{op:?}");
        let refused = drive.firmware.counters().writes_refused - before;
        assert_eq!(refused == 1, status == Status::WriteProtected);
    }
    assert!(drive.firmware.slot_of(Lpn(5)).is_some());
}

/// As printed, updates drain LWA, and what is left to write to is the rest: amplification is far above that of the
/// balanced rule.
#[test]
fn sequence_the_printed_rule_drains_the_low_area() {
    let of = |rule: &str| {
        let schemes = format!("wear=dynamic area=differential area.rule={rule}");
        run(&schemes, SPARE, 1, 10.0)
    };
    let (balanced, printed) = (of("balanced"), of("as-printed"));
    assert_eq!(
        printed.entered(Entry::Spill) + printed.entered(Entry::Stay),
        0
    );
    assert_eq!(printed.counters.superblocks_compacted, 0);
    assert!(printed.amplification > 1.4 * balanced.amplification);
}

/// What is refused has a reason, and a budget that is spent is counted.
#[test]
fn sequence_what_the_budget_does_not_allow_is_counted() {
    let came = run(
        "wear=dynamic area=differential area.budget=1",
        SPARE,
        1,
        2.0,
    );
    let most = came.counters.host_slots_written * 3 / 1000 + 1;
    assert!(came.entered(Entry::Read) <= most);
    assert!(came.counters.migrations_over_budget > 0);
    let reasons = [
        CopyRefused::NoSuperblock,
        CopyRefused::Buffer,
        CopyRefused::Reserve,
    ];
    let known: u64 = reasons
        .map(|r| came.counters.entries_refused[r as usize])
        .iter()
        .sum();
    assert_eq!(known, came.counters.entries_refused.iter().sum::<u64>());
}

/// What lies in LWA is found there after a power cut. Heat is lost, and comes back with the reads.
#[test]
fn powerloss_the_low_area_outlives_the_heat() {
    let schemes = "gc_victim=greedy wear=dynamic area=differential";
    let mut drive = drive(schemes, SPARE, 5);
    let capacity = capacity(SPARE);
    let stream = Stream::new(5);
    let share = |drive: &mut FaultyDrive, from: u64| {
        let before = drive.firmware.counters().clone();
        for i in from..from + 2_000 {
            read(drive, capacity, stream.at(i));
        }
        drive.settle().unwrap();
        let since = drive.firmware.counters().since(&before);
        since.page_reads_by_region[LOW.index()] as f64
            / since.page_reads_by_mode.iter().sum::<u64>() as f64
    };
    for i in 0..4 * capacity {
        step(&mut drive, capacity, stream.at(i));
    }
    drive.settle().unwrap();
    let before = share(&mut drive, 1 << 20);
    drive.power_cut().unwrap();
    let after = share(&mut drive, 1 << 21);
    assert!(
        before > 0.7 && (before - after).abs() < 0.1,
        "{before} {after}"
    );
    assert_eq!(drive.audit(), Ok(()));
}

/// A drive with areas, of which `spare` superblocks are beyond what it needs.
pub fn any_drive() -> impl Strategy<Value = Build> {
    let faults = prop_oneof![
        3 => Just(Chances::default()),
        1 => (0u32..4, 0u32..4, 0u32..300)
            .prop_map(|(program, erase, sense)| Chances { program, erase, sense }),
    ];
    let schemes = (1..AXIS.schemes.len(), 0usize..5, 0usize..5, 0usize..4);
    let shape = (20u32..40, 1u16..5, 0u32..5, 0u64..101, 1u32..40);
    let mode = prop::sample::select(vec![CellMode::Slc, CellMode::Qlc]);
    (shape, mode, schemes, faults, any::<u64>()).prop_map(|(shape, mode, schemes, faults, seed)| {
        let (blocks, wordlines, spare, fill, depth) = shape;
        let (area, victim, wear, refresh) = schemes;
        let geometry = geometry(2, 1, 1, blocks, wordlines);
        // A third of the QLC drives have pools of other modes, which keep an open and a free superblock each.
        let cell_mode = match mode {
            CellMode::Qlc if seed % 3 == 0 => {
                1 + seed as usize / 3 % (cell_mode::AXIS.schemes.len() - 1)
            }
            _ => 0,
        };
        let pools = 2 * kept_in_modes(cell_mode).min(3);
        let kept = 3 + kept_by(wear) + kept_by_area(area) + u32::from(refresh > 1) + pools + spare;
        let capacity = u64::from(blocks - kept) * u64::from(geometry.slots_per_superblock(mode));
        Build {
            fill: capacity * fill / 100,
            victim,
            wear,
            cell_mode,
            refresh,
            area,
            write_cache: write_cache(seed),
            faults,
            planes_apart: seed % 5 < 2,
            page_type: page_type(seed),
            seed,
            depth,
            ..Build::full(geometry, mode, capacity)
        }
        .with_streams()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn model_a_drive_with_areas_returns_the_last_version(build in any_drive()) {
        let summary = build.trial(4000, 0).run().unwrap_or_else(|found| panic!("{found}"));
        if (build.faults.program, build.faults.erase) == (0, 0) {
            assert_eq!(summary.end, TrialEnd::Done, "{build:?}");
        }
    }

    #[test]
    fn powerloss_every_acknowledged_write_survives_with_areas(build in any_drive(), cuts in 1u32..20) {
        build.trial(3000, cuts).run().unwrap_or_else(|found| panic!("{found}"));
    }
}

/// The low wearing area keeps its free superblocks only as long as the host can do without them.
#[test]
fn model_a_full_drive_without_faults_takes_every_write() {
    let build = Build {
        fill: 168,
        victim: 4,
        refresh: 1,
        area: 3,
        planes_apart: true,
        seed: 11_865_051_059_597_571_121,
        depth: 37,
        ..Build::full(geometry(2, 1, 1, 21, 1), CellMode::Qlc, 224)
    };
    let summary = build.trial(4000, 0).run();
    let summary = summary.unwrap_or_else(|found| panic!("{found}\n{build:?}"));
    assert_eq!(summary.end, TrialEnd::Done);
}

/// A program of the host has ended on flash when the power is cut, and the firmware was not told: a volatile cache has lost
/// its data, or flash holds them, and they are not read as zeros.
#[test]
fn powerloss_what_a_volatile_cache_has_lost_is_not_read_from_a_buffer() {
    let build = Build {
        fill: 0,
        victim: 0,
        area: 1,
        write_cache: WriteCache::Volatile,
        planes_apart: true,
        seed: 15_634_101_001_765_087_380,
        depth: 1,
        ..Build::full(geometry(2, 1, 1, 20, 1), CellMode::Slc, 64)
    };
    let summary = build.trial(3000, 5).run();
    summary.unwrap_or_else(|found| panic!("{found}\n{build:?}"));
}

/// Power is cut after every so many events of a small run, from each one on.
#[test]
fn powerloss_cuts_at_every_event() {
    let g = geometry(2, 1, 1, 24, 2);
    let build = Build {
        wear: 2,
        area: 1,
        ..Build::full(
            g,
            CellMode::Slc,
            17 * u64::from(g.slots_per_superblock(CellMode::Slc)),
        )
    };
    for every in 1..12 {
        let summary = build.trial_cut_every(400, every).run();
        let summary = summary.unwrap_or_else(|found| panic!("every {every}: {found}"));
        assert!(summary.power_cuts.cuts > 0);
    }
}
