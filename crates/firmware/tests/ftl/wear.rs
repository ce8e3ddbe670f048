//! What the schemes of axis `wear` choose, and what comes of it over the life of a drive.

use firstread_core::params::Values;
use firstread_core::{CellMode, HostOp, Stream, SuperblockId};
use firstread_faulty_flash::{Faults, FaultyDrive, geometry, setup};
use firstread_firmware::observe::{ModeSet, Owner, PageHeat, SuperblockTable, SuperblockUse};
use firstread_firmware::policy::Setup;
use firstread_firmware::policy::wear::{AXIS, AnyWear, Wear};

use crate::build::full_drive;

/// Scheme `name` for a chip rated for 1,000 P/E cycles, with the defaults of its record but for `set`.
fn scheme(name: &str, set: &[(&str, i64)]) -> AnyWear {
    let record = AXIS.schemes.iter().find(|s| s.name == name).unwrap();
    let of = |key| set.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let params = record.params.iter();
    let values: Vec<i64> = params.map(|p| of(p.key).unwrap_or(p.default())).collect();
    let setup = Setup {
        rated_pe_cycles: 1000,
        ..setup(geometry(1, 1, 1, 16, 8), CellMode::Slc, 1, 3)
    };
    AnyWear::new(name, &setup, &values).unwrap()
}

/// Superblocks of these P/E cycles: full ones, then free ones.
fn worn(full: &[u32], free: &[u32]) -> SuperblockTable {
    let mut blocks = SuperblockTable::new((full.len() + free.len()) as u32, CellMode::Slc);
    for (i, &pe_cycles) in full.iter().chain(free).enumerate() {
        let info = blocks.info_mut(SuperblockId(i as u32));
        info.pe_cycles = pe_cycles;
        if i < full.len() {
            info.usage = SuperblockUse::Full;
        }
    }
    blocks.update_index(&geometry(1, 1, 1, 16, 8));
    blocks
}

/// The answer after the next erase that counts.
fn cold(scheme: &mut AnyWear, blocks: &SuperblockTable) -> Option<u32> {
    let mut blocks = blocks.clone();
    blocks.update_index(&geometry(1, 1, 1, 16, 8));
    (0..16).find_map(|_| scheme.cold(blocks.all())).map(|b| b.0)
}

fn modes() -> ModeSet {
    core::iter::once(CellMode::Slc).collect()
}

#[test]
fn formula_data_go_to_the_least_worn_and_cold_data_to_the_most_worn() {
    let blocks = worn(&[0, 99], &[5, 3, 9, 3, 9]);
    let open = |name: &str, cold| {
        let block = scheme(name, &[]).open(blocks.all(), modes(), cold);
        block.map(|b| b.0)
    };
    assert_eq!([open("none", false), open("none", true)], [Some(2); 2]);
    assert_eq!(
        [open("dynamic", false), open("dynamic", true)],
        [Some(3); 2]
    );
    for name in ["static", "progressive"] {
        assert_eq!(open(name, false), Some(3), "{name}");
        assert_eq!(open(name, true), Some(4), "{name}");
    }
    // `progressive-hot` leaves the least worn one to pages read often, if another is free.
    let mut hot = scheme("progressive-hot", &[]);
    let all = blocks.all();
    assert_eq!(hot.open(all, modes(), true), Some(SuperblockId(4)));
    assert_eq!(hot.open(all, modes(), false), Some(SuperblockId(5)));
    assert_eq!(hot.open_for_read_often(all, modes()), Some(SuperblockId(3)));
    let one = worn(&[0], &[8]);
    assert_eq!(hot.open(one.all(), modes(), false), Some(SuperblockId(1)));
    for record in AXIS.schemes {
        for cold in [false, true] {
            let mut scheme = scheme(record.name, &[]);
            assert_eq!(scheme.open(worn(&[1, 2], &[]).all(), modes(), cold), None);
            assert_eq!(scheme.open(blocks.all(), ModeSet::default(), cold), None);
        }
    }
}

/// Pages whose read heat is above the threshold, and only those.
#[test]
fn formula_pages_read_often_are_taken_along() {
    let heat = |reads| PageHeat { reads, writes: 9 };
    let hot = scheme("progressive-hot", &[]);
    assert!(!hot.takes_along(heat(5)) && hot.takes_along(heat(6)));
    let hot = scheme("progressive-hot", &[("reads", 0)]);
    assert!(!hot.takes_along(heat(0)) && hot.takes_along(heat(1)));
    for record in AXIS.schemes {
        let declares = scheme(record.name, &[]).streams().len();
        assert_eq!(declares, record.own_streams(), "{}", record.name);
        let takes = record.name == "progressive-hot";
        assert_eq!(scheme(record.name, &[]).takes_along(heat(255)), takes);
    }
}

/// Cold data have a stream of their own unless they are to lie among all data that move.
#[test]
fn formula_static_leveling_declares_a_stream_if_it_is_to_have_one() {
    let record = AXIS.schemes.iter().find(|s| s.name == "static").unwrap();
    let mut values: Vec<i64> = record.params.iter().map(|p| p.default()).collect();
    let stream = record
        .params
        .iter()
        .position(|p| p.key == "stream")
        .unwrap();
    for (choice, streams) in [(0, 1), (1, 0)] {
        values[stream] = choice;
        let scheme = scheme("static", &[("stream", choice)]);
        assert_eq!(scheme.streams().len(), streams);
        assert_eq!(Values::new(record, &values).own_streams(), streams);
    }
}

/// The coldest data lie in the least worn superblock that is full and at rest.
#[test]
fn formula_the_coldest_superblock_gives_its_data_away() {
    for name in ["static", "progressive", "progressive-hot"] {
        let mut blocks = worn(&[7, 4, 3, 3, 2], &[990, 1]);
        assert_eq!(cold(&mut scheme(name, &[]), &blocks), Some(4), "{name}");
        blocks.info_mut(SuperblockId(4)).evacuating = true;
        blocks.info_mut(SuperblockId(2)).usage = SuperblockUse::Open;
        assert_eq!(cold(&mut scheme(name, &[]), &blocks), Some(3), "{name}");
        blocks.info_mut(SuperblockId(3)).usage = SuperblockUse::Bad;
        assert_eq!(cold(&mut scheme(name, &[]), &blocks), Some(1), "{name}");
        let empty = worn(&[], &[990, 1]);
        assert_eq!(cold(&mut scheme(name, &[]), &empty), None, "{name}");
    }
}

/// `spread` of `static`: a number, or a tenth of the P/E cycles that are left of 1,000, one at least.
#[test]
fn formula_wear_may_spread_by_a_number_or_by_a_share_of_what_is_left() {
    let allows = |set: &[(&str, i64)], most: u32, spread: u32| {
        let ahead_of = |by| {
            cold(
                &mut scheme("static", set),
                &worn(&[most - by, most], &[most]),
            )
        };
        assert_eq!(ahead_of(spread), None, "{set:?} {most} {spread}");
        assert_eq!(ahead_of(spread + 1), Some(0), "{set:?} {most} {spread}");
    };
    for most in [150, 900, 2000] {
        allows(&[], most, 100);
        allows(&[("spread", 7), ("share", 900)], most, 7);
    }
    let adaptive = ("threshold", 1);
    for (most, spread) in [
        (100, 90),
        (500, 50),
        (985, 1),
        (995, 1),
        (1000, 1),
        (2000, 1),
    ] {
        allows(&[adaptive, ("spread", 7)], most, spread);
    }
    allows(&[adaptive, ("share", 500)], 400, 300);
    // The wear of a retired superblock says nothing of the others.
    let mut blocks = worn(&[0, 50, 900], &[50]);
    let mut adapts = scheme("static", &[adaptive]);
    assert_eq!(cold(&mut adapts, &blocks), Some(0));
    blocks.info_mut(SuperblockId(2)).usage = SuperblockUse::Bad;
    assert_eq!(cold(&mut adapts, &blocks), None);
}

/// Nine superblocks with data of `a` P/E cycles and a cleaned one of `p`: the mean is `(9a + p) / 10`, and the bar is
/// 750 and a quarter of that. So `p` is above the bar if `39p > 30,000 + 9a`.
#[test]
fn formula_the_bar_of_progressive_leveling_falls_to_the_mean_over_life() {
    let rests = |set: &[(&str, i64)], a: u32, p: u32| {
        cold(&mut scheme("progressive", set), &worn(&[a; 9], &[p])).is_some()
    };
    for (a, last_below) in [(0, 769), (300, 838), (900, 976), (999, 999), (1000, 1000)] {
        assert!(!rests(&[], a, last_below), "{a}: {last_below}");
        assert!(rests(&[], a, last_below + 1), "{a}: {last_below}");
    }
    // Beyond the rated life it is the mean.
    assert!(!rests(&[], 1200, 1200));
    assert!(rests(&[], 1200, 1201));
    // A bar that begins at 100, and one that stays at 1,000.
    assert!(!rests(&[("start", 100)], 0, 109) && rests(&[("start", 100)], 0, 110));
    assert!(!rests(&[("start", 1000)], 500, 1000) && rests(&[("start", 1000)], 500, 1001));
}

/// Only what was cleaned is compared with the bar, and only data that lie in a less worn superblock move.
#[test]
fn formula_progressive_leveling_looks_at_what_is_worn_next() {
    let mut scheme = scheme("progressive", &[]);
    // One with data far above the bar rests already.
    assert_eq!(cold(&mut scheme, &worn(&[0, 990], &[10])), None);
    // None is free: the cleaned one was taken.
    assert_eq!(cold(&mut scheme, &worn(&[0, 990], &[])), None);
    // All with data are worn more, so the cleaned one would be worn in place of one worn more.
    assert_eq!(cold(&mut scheme, &worn(&[990], &[980, 0, 0])), None);
    assert_eq!(cold(&mut scheme, &worn(&[970], &[980, 0, 0])), Some(0));
}

/// The erase of a superblock whose data moved away counts for the next one, and starts none.
#[test]
fn formula_leveling_is_paid_for_by_other_erases() {
    let blocks = worn(&[0; 8], &[990, 990]);
    for (name, set, every) in [
        ("progressive", &[][..], 2),
        ("progressive", &[("every", 5)], 5),
        ("static", &[], 16),
        ("static", &[("threshold", 1)], 16),
        ("static", &[("every", 1)], 1),
    ] {
        let mut scheme = scheme(name, set);
        let asked = (0..160).map(|_| scheme.cold(blocks.all()).is_some());
        let when: Vec<usize> = asked
            .enumerate()
            .filter(|(_, moves)| *moves)
            .map(|(i, _)| i)
            .collect();
        let expected: Vec<usize> = (1..=160 / every).map(|i| i * every - 1).collect();
        assert_eq!(when, expected, "{name} {set:?}");
    }
}

/// What a drive has come to at some time of its life.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// P/E cycles: of the least worn superblock, the mean, and of the most worn.
    least: u32,
    mean: f64,
    most: u32,
    /// Slots moved for wear leveling since the stage before.
    leveled: u64,
}

impl Stage {
    fn spread(&self) -> u32 {
        self.most - self.least
    }
}

/// Rated P/E cycles of [`drive`].
const RATED: u32 = 100;

/// Slots of the capacity of [`drive`].
const CAPACITY: u64 = 48 * 16;

/// A drive of 64 superblocks, 48 of them its capacity, which is full of data.
fn drive(schemes: &str, seed: u64) -> FaultyDrive {
    let g = geometry(1, 2, 1, 64, 4);
    assert_eq!(
        CAPACITY,
        48 * u64::from(g.slots_per_superblock(CellMode::Slc))
    );
    let config = full_drive(g, CellMode::Slc, (CAPACITY, RATED), schemes);
    FaultyDrive::new(&config, &Faults::default(), seed).unwrap()
}

/// Writes of a page, nine of ten in the first tenth of the drive.
fn write(drive: &mut FaultyDrive, draw: Stream) {
    let among = match draw.at(0).below(10) {
        0 => CAPACITY,
        _ => CAPACITY / 10,
    };
    let lpn = draw.at(1).below(among);
    drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
}

/// Ten stages in the life of a drive with `schemes`, at the end of which a superblock has had about its rated P/E cycles
/// on average.
fn life(schemes: &str, seed: u64) -> Vec<Stage> {
    let mut drive = drive(schemes, seed);
    let stream = Stream::new(seed);
    let mut before = 0;
    let stages = (0..10).map(|stage| {
        for i in stage * 4800..(stage + 1) * 4800 {
            write(&mut drive, stream.at(i));
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()));
        let leveled = drive.firmware.counters().slots_moved_by[Owner::Wear as usize];
        let pe = || {
            drive
                .firmware
                .blocks()
                .iter()
                .map(|(_, info)| info.pe_cycles)
        };
        let came_to = Stage {
            least: pe().min().unwrap(),
            mean: f64::from(pe().sum::<u32>()) / 64.0,
            most: pe().max().unwrap(),
            leveled: leveled - before,
        };
        before = leveled;
        came_to
    });
    stages.collect()
}

/// Slots moved for leveling in some stages.
fn leveled(stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.leveled).sum()
}

/// Wear spreads as far as the threshold says, and by what is erased meanwhile: a superblock in four erases is moved.
#[test]
fn sequence_static_leveling_keeps_its_threshold() {
    for seed in 1..3 {
        let dynamic = life("gc_victim=greedy wear=dynamic", seed);
        let last = |life: &[Stage]| life[9];
        assert!(last(&dynamic).spread() > 40, "{:?}", last(&dynamic));
        for (set, allows) in [
            ("wear.spread=4", |_| 4),
            ("wear.spread=20", |_| 20),
            ("wear.threshold=adaptive", |most: u32| {
                RATED.saturating_sub(most) / 10
            }),
            ("wear.threshold=adaptive wear.share=300", |most: u32| {
                RATED.saturating_sub(most) * 3 / 10
            }),
        ] as [(&str, fn(u32) -> u32); 4]
        {
            let life = life(&format!("gc_victim=greedy wear=static {set}"), seed);
            for stage in &life {
                let most = allows(stage.most) + 24;
                assert!(stage.spread() <= most, "seed {seed}, {set}: {stage:?}");
            }
            assert!(last(&life).spread() <= last(&dynamic).spread() / 2);
        }
        // A share of what is left is much at first and little in the end.
        let adaptive = life(
            "gc_victim=greedy wear=static wear.threshold=adaptive wear.share=300",
            seed,
        );
        let (young, old) = (leveled(&adaptive[..4]), leveled(&adaptive[6..]));
        assert!(3 * young < 2 * old, "seed {seed}: {young} {old}");
    }
}

/// While no superblock is above the bar, nothing is moved. Then ever more is: wear spreads by less from stage to stage,
/// and what that takes is a small part of what `static` takes.
#[test]
fn sequence_progressive_leveling_starts_late_and_tightens() {
    for seed in 1..3 {
        let dynamic = life("gc_victim=greedy wear=dynamic", seed);
        let fixed = life("gc_victim=greedy wear=static wear.spread=4", seed);
        let progressive = life("gc_victim=greedy wear=progressive wear.every=2", seed);
        let bar = |stage: &Stage| 0.75 * f64::from(RATED) + stage.mean / 4.0;
        let is_below = |stage: &&Stage| f64::from(stage.most) <= bar(stage);
        let young = dynamic.iter().take_while(is_below).count();
        assert!((3..8).contains(&young), "{young} stages below the bar");
        assert_eq!(leveled(&progressive[..young]), 0, "seed {seed}");
        let wear = |stage: &Stage| (stage.least, stage.most, stage.mean);
        for (one, other) in progressive.iter().zip(&dynamic).take(young) {
            assert_eq!(wear(one), wear(other), "seed {seed}");
        }
        let (young, old) = (&progressive[young - 1], &progressive[9]);
        assert!(old.spread() * 2 < young.spread(), "{young:?} {old:?}");
        assert!(
            old.spread() * 2 < dynamic[9].spread(),
            "{old:?} {:?}",
            dynamic[9]
        );
        assert!(leveled(&progressive[8..]) > 2 * leveled(&progressive[..8]));
        assert!(4 * leveled(&progressive) < leveled(&fixed), "seed {seed}");
        for stage in &progressive {
            assert!(f64::from(stage.most) <= bar(stage) + 12.0, "{stage:?}");
        }
    }
}

/// What each scheme takes and gives over the life of [`life`]: the spread of wear at its end, and slots moved for
/// leveling and moved at all.
#[test]
fn model_what_leveling_takes_and_gives() {
    println!("                              least   mean   most  leveled slots a superblock");
    let of = |schemes: &str| {
        let lives = (1..4).map(|seed| life(&format!("gc_victim=greedy {schemes}"), seed));
        let lives: Vec<Vec<Stage>> = lives.collect();
        let mean = |of: &dyn Fn(&[Stage]) -> f64| lives.iter().map(|l| of(l)).sum::<f64>() / 3.0;
        let (least, most) = (
            mean(&|l| f64::from(l[9].least)),
            mean(&|l| f64::from(l[9].most)),
        );
        let (pe, moved) = (mean(&|l| l[9].mean), mean(&|l| leveled(l) as f64 / 64.0));
        println!("{schemes:30} {least:4.0} {pe:6.1} {most:6.0} {moved:8.0}");
        (most - least, pe, moved)
    };
    let none = of("wear=none");
    let dynamic = of("wear=dynamic");
    let fixed = of("wear=static wear.spread=10");
    let adaptive = of("wear=static wear.threshold=adaptive");
    let among_moves = of("wear=static wear.spread=10 wear.stream=moves");
    let progressive = of("wear=progressive wear.every=2");
    let hot = of("wear=progressive-hot wear.every=2");
    assert!(none.0 > dynamic.0 && dynamic.0 > 2.0 * progressive.0);
    assert!(fixed.0 < dynamic.0 / 2.0 && adaptive.0 < dynamic.0 / 2.0);
    for late in [progressive, hot] {
        assert!(late.2 < fixed.2 / 3.0 && late.2 < adaptive.2 / 3.0);
    }
    // Without leveling, or late, cold data lie among others: that costs more erases than leveling does. Leveling without a
    // stream of its own spreads wear as little, and loses that gain.
    assert!(fixed.1 < none.1 && fixed.1 < progressive.1);
    assert!(among_moves.0 < dynamic.0 / 2.0);
    assert!((0.9..1.1).contains(&(among_moves.2 / fixed.2)));
    assert!(among_moves.1 > fixed.1 + 0.6 * (none.1 - fixed.1));
}

/// Where pages are that are read often.
#[derive(Clone, Copy, Debug)]
struct ReadOften {
    /// Superblocks that hold them.
    superblocks: usize,
    along: u64,
}

/// Pages of the second half of the drive, a fifth of them, are read often. Nine of ten writes go to the first tenth of the
/// drive. After 20,000 of them.
fn read_often(schemes: &str, seed: u64) -> ReadOften {
    let mut drive = drive(schemes, seed);
    let stream = Stream::new(seed);
    let hot = || (CAPACITY / 2..CAPACITY).step_by(5);
    for i in 0..20_000 {
        let draw = stream.at(i);
        write(&mut drive, draw);
        let nth = draw.at(2).below(hot().count() as u64);
        let lpn = hot().nth(nth as usize).unwrap();
        drive.submit(HostOp::Read, lpn * 4096, 4096).unwrap();
    }
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
    let senses = |drive: &FaultyDrive| -> Vec<u64> {
        let infos = drive.firmware.blocks().iter();
        infos.map(|(_, info)| info.reads).collect()
    };
    let before = senses(&drive);
    for lpn in hot() {
        drive.submit(HostOp::Read, lpn * 4096, 4096).unwrap();
        drive.settle().unwrap();
    }
    let after = senses(&drive);
    let reads = before.iter().zip(&after).map(|(b, a)| a - b);
    ReadOften {
        superblocks: reads.filter(|n| *n > 0).count(),
        along: drive.firmware.counters().slots_taken_along,
    }
}

/// Pages read often are taken along into superblocks of their own. With a threshold that no page reaches they are not.
#[test]
fn sequence_pages_read_often_gather() {
    for seed in 1..4 {
        let of = |wear: &str| {
            let found = read_often(&format!("gc_victim=greedy {wear} wear.every=2"), seed);
            println!("seed {seed}, {wear}: {found:?}");
            found
        };
        let mixed = of("wear=progressive");
        let never = of("wear=progressive-hot wear.reads=254");
        let apart = of("wear=progressive-hot wear.reads=2");
        assert_eq!((mixed.along, never.along), (0, 0));
        assert!(apart.along > 300, "{apart:?}");
        let most = mixed.superblocks.min(never.superblocks);
        assert!(3 * apart.superblocks < 2 * most, "{apart:?} of {most}");
    }
}
