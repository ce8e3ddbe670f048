//! What the schemes choose, and what comes of it.

use firstread_core::{CellMode, Geometry, HostOp, Stream, SuperblockId};
use firstread_firmware::observe::{Owner, SuperblockTable, SuperblockUse};
use firstread_firmware::policy::gc_victim::{AXIS, AnyGcVictim, GcVictim, Outlook, Victims};

use crate::build::Build;
use firstread_faulty_flash::{geometry, setup};

fn choose(name: &str, blocks: &SuperblockTable) -> Option<SuperblockId> {
    let scheme = AXIS.schemes.iter().find(|s| s.name == name).unwrap();
    let values: Vec<i64> = scheme.params.iter().map(|p| p.default()).collect();
    let g = geometry(1, 1, 1, blocks.len(), 8);
    let blocks = indexed(blocks.clone(), &g);
    AnyGcVictim::new(name, &setup(g, CellMode::Slc, 1, 3), &values)
        .unwrap()
        .choose(Victims::new(blocks.all(), &g, Outlook::default()), 0)
}

/// Superblocks at rest, opened and valid; one more is free.
fn full(rows: &[(u64, u32)]) -> SuperblockTable {
    let mut blocks = SuperblockTable::new(rows.len() as u32 + 1, CellMode::Slc);
    for (i, &(opened, valid)) in rows.iter().enumerate() {
        let info = blocks.info_mut(SuperblockId(i as u32));
        (info.usage, info.opened, info.valid_slots) = (SuperblockUse::Full, opened, valid);
    }
    blocks
}

/// The table `blocks`, ready to be searched on a drive of `geometry`.
fn indexed(mut blocks: SuperblockTable, geometry: &Geometry) -> SuperblockTable {
    blocks.update_index(geometry);
    blocks
}

/// The schemes that choose any superblock at rest.
const OF_ANY: [&str; 2] = ["fifo", "random"];

/// Whatever the guarded scheme: a superblock that frees next to nothing is left while a better one is there.
#[test]
fn formula_no_guarded_scheme_chooses_what_frees_next_to_nothing() {
    // Of 256 slots: the oldest frees one in seventeen of what the emptiest does, or one in sixteen.
    let g = geometry(1, 1, 1, 4, 128);
    for (frees, is_candidate) in [(14, false), (15, true)] {
        let blocks = indexed(full(&[(1, 256 - frees), (1_000_000, 16), (3, 256)]), &g);
        let victims = Victims::new(blocks.all(), &g, Outlook::default());
        assert_eq!(victims.best_gain(), 240);
        let may_choose = |i| {
            let block = SuperblockId(i);
            victims.is_candidate(block, blocks.info(block))
        };
        assert_eq!(may_choose(0), is_candidate, "frees {frees}");
        assert!(may_choose(1) && !may_choose(2));
        let guarded = AXIS.schemes.iter().filter(|s| !OF_ANY.contains(&s.name));
        for scheme in guarded.filter(|_| !is_candidate) {
            let values: Vec<i64> = scheme.params.iter().map(|p| p.default()).collect();
            for seed in 0..20 {
                let setup = setup(g, CellMode::Slc, 1, seed);
                let scheme = AnyGcVictim::new(scheme.name, &setup, &values).unwrap();
                assert_eq!(
                    scheme.choose(victims, 0),
                    Some(SuperblockId(1)),
                    "{scheme:?}"
                );
            }
        }
    }
}

/// `fifo` takes the oldest superblock and `random` any, also one that frees nothing; and none where no superblock frees a slot.
#[test]
fn formula_fifo_and_random_choose_from_all_superblocks() {
    let g = geometry(1, 1, 1, 4, 128);
    let all_full = indexed(full(&[(1, 256), (2, 256), (3, 256)]), &g);
    let one_frees = indexed(full(&[(1, 256), (2, 256), (3, 255)]), &g);
    let of = |name: &str, blocks: &SuperblockTable, seed| {
        let scheme = AnyGcVictim::new(name, &setup(g, CellMode::Slc, 1, seed), &[]).unwrap();
        assert!(scheme.takes_any(), "{name}");
        scheme.choose(Victims::new(blocks.all(), &g, Outlook::default()), 0)
    };
    let mut drawn = [0; 3];
    for seed in 0..300 {
        assert_eq!(of("fifo", &one_frees, seed), Some(SuperblockId(0)));
        drawn[of("random", &one_frees, seed).unwrap().0 as usize] += 1;
        for name in OF_ANY {
            assert_eq!(of(name, &all_full, seed), None, "{name}, seed {seed}");
        }
    }
    assert!(drawn.iter().all(|n| (60..140).contains(n)), "{drawn:?}");
    for scheme in AXIS.schemes.iter().filter(|s| !OF_ANY.contains(&s.name)) {
        let values: Vec<i64> = scheme.params.iter().map(|p| p.default()).collect();
        let scheme = AnyGcVictim::new(scheme.name, &setup(g, CellMode::Slc, 1, 3), &values);
        assert!(!scheme.unwrap().takes_any());
    }
}

#[test]
fn formula_each_scheme_chooses_its_victim() {
    // Sixteen slots a superblock: opened, valid.
    let blocks = full(&[(3, 9), (1, 12), (9, 4), (10, 16)]);
    assert_eq!(choose("fifo", &blocks), Some(SuperblockId(1)));
    assert_eq!(choose("greedy", &blocks), Some(SuperblockId(2)));
    // Opened 8, 10, 2 and 1 superblocks ago: 8 * 7/18, 10 * 4/24, 2 * 12/8.
    assert_eq!(choose("cost-benefit", &blocks), Some(SuperblockId(0)));
    assert_eq!(choose("d-choices", &blocks), Some(SuperblockId(2)));
    for scheme in AXIS.schemes {
        let victim = choose(scheme.name, &blocks).unwrap();
        assert!(
            victim.0 < 3 || OF_ANY.contains(&scheme.name),
            "{} chose what it gains nothing from",
            scheme.name
        );
        let nothing = SuperblockTable::new(4, CellMode::Slc);
        assert_eq!(choose(scheme.name, &nothing), None, "{}", scheme.name);
    }
}

/// P/E cycles of the least and the most worn superblock after `writes` writes to a tenth of the drive, and slots moved by
/// cleaning and by wear leveling.
fn spread(wear: usize, seed: u64, writes: u64) -> (u32, u32, [u64; 2]) {
    let g = geometry(1, 2, 1, 32, 4);
    let capacity = 24 * g.slots_per_superblock(CellMode::Slc) as u64;
    let build = Build {
        wear,
        max_wait_ns: 1 << 40,
        ..Build::full(g, CellMode::Slc, capacity)
    };
    let mut drive = build.drive();
    let stream = Stream::new(seed);
    for i in 0..writes {
        let lpn = stream.at(i).below(capacity / 10);
        drive.submit(HostOp::Write, lpn * 4096, 4096).unwrap();
    }
    drive.settle().unwrap();
    let pe = || {
        drive
            .firmware
            .blocks()
            .iter()
            .map(|(_, info)| info.pe_cycles)
    };
    let moved = |owner| drive.firmware.counters().slots_moved_by[owner as usize];
    let moved = [moved(Owner::Gc), moved(Owner::Wear)];
    (pe().min().unwrap(), pe().max().unwrap(), moved)
}

#[test]
fn sequence_static_leveling_holds_wear_together() {
    let [none, dynamic, leveled] = [0, 1, 2].map(|wear| spread(wear, 2, 20_000));
    assert_eq!(none.0, 0, "cold superblocks never wear: {none:?}");
    assert_eq!(dynamic.0, 0, "nor when the free are leveled: {dynamic:?}");
    assert!(dynamic.1 < none.1, "{dynamic:?} {none:?}");
    // The spread asked for is four cycles; moves take their time, and the superblock that cold data fill rests. Over
    // eight seeds and 10,000 to 160,000 writes the spread is 4 to 11 cycles, and no larger after more writes.
    assert!(leveled.1 - leveled.0 <= 12, "{leveled:?}");
    for seed in 1..4 {
        let long = spread(2, seed, 80_000);
        assert!(long.1 - long.0 <= 10, "seed {seed}: {long:?}");
        assert!(long.0 > 190, "seed {seed}: {long:?}");
    }
    assert!(leveled.0 > 0, "{leveled:?}");
    // Cold data have a stream of their own. Beside what cleaning moves, they would be moved again and again: by cleaning
    // alone then, twice as many slots as by leveling.
    let [by_cleaning, by_leveling] = leveled.2;
    assert!(2 * by_cleaning < by_leveling, "{leveled:?}");
}
