//! Promotion into SLC and TLC mode, on drives that are cleaned, whose flash fails and whose power is cut.

use firstread_core::params::Need;
use firstread_core::{CellMode, HostOp, Lpn};
use firstread_faulty_flash::{FaultyDrive, Summary, Trial, TrialEnd, geometry};
use firstread_firmware::policy::{cell_mode, gc_victim, read_recovery, suspend, wear};
use proptest::prelude::*;

use crate::build::{Build, Chances, kept_by, kept_in_modes, page_type};

/// `hotness` of axis `cell_mode`.
const HOTNESS: usize = 1;

/// Bytes of a mapping unit.
const SLOT_BYTES: u64 = 4096;

/// A drive of QLC superblocks; `spare` more of them than the capacity, cleaning and the pools take.
pub fn drive(
    blocks: u32,
    wordlines: u16,
    spare: u32,
    fill_percent: u64,
    cell_mode: usize,
    seed: u64,
) -> Build {
    let mode = CellMode::Qlc;
    let g = geometry(2, 1, 1, blocks, wordlines);
    let kept = 4 + kept_in_modes(cell_mode) + spare;
    let capacity = u64::from(blocks - kept) * u64::from(g.slots_per_superblock(mode));
    Build {
        fill: capacity * fill_percent / 100,
        cell_mode,
        seed,
        depth: 16,
        ..Build::full(g, mode, capacity)
    }
}

pub fn any_drive() -> impl Strategy<Value = Build> {
    let faults = prop_oneof![
        3 => Just(Chances::default()),
        1 => (0u32..4, 0u32..4, 0u32..300)
            .prop_map(|(program, erase, sense)| Chances { program, erase, sense }),
    ];
    let schemes = (
        1..cell_mode::AXIS.schemes.len(),
        0..gc_victim::AXIS.schemes.len(),
        0..wear::AXIS.schemes.len(),
        0..suspend::AXIS.schemes.len(),
        0..read_recovery::AXIS.schemes.len(),
    );
    let shape = (11u32..28, 1u16..6, 0u32..3, 0u64..101, 1u32..40);
    (shape, schemes, faults, any::<u64>()).prop_map(|(shape, schemes, faults, seed)| {
        let (blocks, wordlines, spare, fill, depth) = shape;
        let (cell_mode, victim, wear, suspend, read_recovery) = schemes;
        let in_modes = kept_in_modes(cell_mode);
        let blocks = blocks.max(9 + in_modes);
        let mut build = drive(blocks, wordlines, spare, fill, cell_mode, seed);
        let scheme = read_recovery::AXIS.schemes[read_recovery];
        build.geometry.stripe_parity = scheme.requires(Need::StripeParity);
        let slots = u64::from(build.geometry.slots_per_superblock(build.mode));
        build.capacity = u64::from(blocks - 4 - in_modes - kept_by(wear) - spare) * slots;
        build.fill = build.capacity * fill / 100;
        // A third of the drives have a map that is not in memory as a whole.
        if seed % 3 == 0 && blocks > 14 + in_modes {
            let g = &mut build.geometry;
            (g.slot_bytes, g.codeword_bytes) = (1024, 1024);
            let slots = u64::from(g.slots_per_superblock(build.mode));
            build.capacity = u64::from(blocks - 7 - in_modes - kept_by(wear) - spare) * slots;
            build.fill = build.capacity * fill / 100;
            build.map_cache = 8 + (seed % 5) as u32 * 8;
        }
        Build {
            victim,
            wear,
            suspend,
            read_recovery,
            faults,
            depth,
            read_cache: (seed % 4) as u32 * 10,
            planes_apart: seed % 5 < 2,
            page_type: page_type(seed),
            ..build
        }
        .with_streams()
    })
}

fn passes(trial: &Trial) -> Summary {
    trial.run().unwrap_or_else(|found| panic!("{found}"))
}

/// A drive on which nothing fails takes writes to the end.
fn lives(build: &Build, summary: &Summary) {
    let Chances { program, erase, .. } = build.faults;
    if (program, erase) == (0, 0) {
        assert_eq!(summary.end, TrialEnd::Done, "{build:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn model_reads_return_the_last_version_in_any_mode(build in any_drive()) {
        lives(&build, &passes(&build.trial(4000, 0)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn powerloss_every_acknowledged_write_survives_in_any_mode(build in any_drive(), cuts in 1u32..20) {
        passes(&build.trial(3000, cuts));
    }
}

/// Pages go into both modes, the superblocks of these are given back, and their cold pages go back too. A full drive
/// is overwritten all the while, but seldom: cleaning would take most superblocks before they have been cold for long.
#[test]
fn sequence_pages_are_promoted_and_come_back() {
    let mut all = [0u64; 4];
    for seed in 0..24 {
        let build = drive(28, 5, 2, 100, HOTNESS, seed);
        let mut trial = build.trial(20_000, 0);
        trial.load.writes = 20;
        let summary = passes(&trial);
        lives(&build, &summary);
        let c = &summary.counters;
        let [slc, _, tlc, _] = c.slots_promoted;
        let found = [slc, tlc, c.superblocks_given_back, c.slots_demoted];
        all.iter_mut().zip(found).for_each(|(all, n)| *all += n);
    }
    assert!(all.iter().all(|n| *n > 100), "{all:?}");
}

/// A free superblock is erased into another mode while an emptied one is erased, and a power cut repeats both erases.
#[test]
fn powerloss_two_erases_side_by_side_are_repeated() {
    let mut two = 0;
    for seed in 0..12 {
        let build = drive(28, 5, 8, 60, HOTNESS, seed);
        two += passes(&build.trial(6_000, 60)).power_cuts.erasing_two;
    }
    assert!(two > 0, "no power cut met two erases");
}

/// Superblocks that are asked to change to the mode of a pool are refused: the host cannot have what is in the pool, and
/// would wait for ever once the pool held what was left free. This drive did.
#[test]
fn sequence_only_the_scheme_fills_its_pools() {
    let mut schemes = cell_mode::AXIS.schemes.iter();
    let clairvoyant = schemes.position(|scheme| scheme.name == "clairvoyant");
    let clairvoyant = clairvoyant.expect("a scheme of the axis");
    let mut build = drive(19, 1, 0, 95, clairvoyant, 2_932_131_177_250_739_630);
    build.geometry.stripe_parity = true;
    build.capacity = 88;
    build.fill = 84;
    let build = Build {
        victim: 2,
        suspend: 3,
        read_recovery: 2,
        read_cache: 20,
        planes_apart: true,
        depth: 36,
        ..build
    };
    lives(&build, &passes(&build.trial(4000, 0)));
}

/// A drive made for no scheme of the axis has none of this.
#[test]
fn sequence_nothing_is_promoted_where_modes_are_fixed() {
    let summary = passes(&drive(28, 5, 2, 100, 0, 1).trial(5_000, 0));
    assert_eq!(summary.counters.slots_promoted, [0; 4]);
    assert_eq!(summary.counters.promotions_refused, [0; 10]);
}

/// Where the newest copy of each page lies, after a power cut, is where it lay before: promotions are not undone.
#[test]
fn powerloss_the_newest_copy_of_a_page_is_found_again() {
    let mut promoted = 0;
    for seed in 0..6 {
        let build = drive(28, 5, 2, 100, HOTNESS, seed);
        let trial = build.trial(6_000, 0);
        let mut drive: FaultyDrive = trial.faulty_drive().expect("a drive");
        let slots = build.capacity;
        for i in 0..20_000u64 {
            let lpn = (i * 7919 + i / 13) % slots.min(40);
            let read = drive.submit(HostOp::Read, lpn * SLOT_BYTES, SLOT_BYTES as u32);
            read.unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        }
        drive.settle().expect("everything ends");
        let places = |drive: &FaultyDrive| -> Vec<_> {
            (0..slots)
                .map(|lpn| drive.firmware.place_of(Lpn(lpn)))
                .collect()
        };
        let before = places(&drive);
        promoted += drive.firmware.counters().slots_promoted.iter().sum::<u64>();
        drive.power_cut().expect("the power comes back");
        assert_eq!(before, places(&drive), "seed {seed}");
    }
    assert!(promoted > 50, "{promoted} pages");
}
