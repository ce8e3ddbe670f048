//! Refresh of pages and of superblocks, on drives that are cleaned, whose flash fails and whose power is cut.

use firstread_core::params::Need;
use firstread_core::{CellMode, HostOp, Lpn, Stream};
use firstread_faulty_flash::{FaultyDrive, Summary, Trial, TrialEnd, geometry};
use firstread_firmware::ftl::Owner;
use firstread_firmware::policy::{cell_mode, gc_victim, read_recovery, refresh, suspend, wear};
use proptest::prelude::*;

use crate::build::{Build, Chances, kept_by, kept_in_modes, page_type};

/// Schemes of axis `refresh`.
const READ_COUNT: usize = 1;
const LIGHTWEIGHT: usize = 2;
const HOT: usize = 3;

/// Bytes of a mapping unit.
const SLOT_BYTES: u64 = 4096;

/// A full drive; `spare` more superblocks than the capacity, cleaning and the stream of refreshed pages take.
fn drive(mode: CellMode, blocks: u32, wordlines: u16, spare: u32, refresh: usize) -> Build {
    let g = geometry(2, 1, 1, blocks, wordlines);
    let capacity = u64::from(blocks - 4 - spare) * u64::from(g.slots_per_superblock(mode));
    Build {
        refresh,
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
        1..refresh::AXIS.schemes.len(),
        0..2 * cell_mode::AXIS.schemes.len(),
        0..gc_victim::AXIS.schemes.len(),
        0..wear::AXIS.schemes.len(),
        0..suspend::AXIS.schemes.len(),
        0..read_recovery::AXIS.schemes.len(),
    );
    let mode = prop::sample::select(vec![CellMode::Slc, CellMode::Tlc, CellMode::Qlc]);
    // Over-provisioning beyond what any such drive keeps, from none on.
    let shape = (16u32..28, 1u16..6, 0u32..3, 0u64..101, 1u32..40);
    (shape, mode, schemes, faults, any::<u64>()).prop_map(|(shape, mode, schemes, faults, seed)| {
        let (blocks, wordlines, spare, fill, depth) = shape;
        let (refresh, cell_mode, victim, wear, suspend, read_recovery) = schemes;
        // Half of the drives and more keep their mode.
        let cell_mode = if cell_mode < cell_mode::AXIS.schemes.len() {
            cell_mode
        } else {
            0
        };
        let mode = if cell_mode > 0 { CellMode::Qlc } else { mode };
        let mut build = drive(mode, blocks, wordlines, spare, refresh);
        let scheme = read_recovery::AXIS.schemes[read_recovery];
        let g = &mut build.geometry;
        g.stripe_parity = scheme.requires(Need::StripeParity);
        // A third of the drives have a map that is not in memory as a whole.
        let cached = seed % 3 == 0 && blocks > 16;
        if cached {
            (g.slot_bytes, g.codeword_bytes) = (1024, 1024);
            build.map_cache = 8 + (seed % 5) as u32 * 8;
        }
        let kept = 4 + kept_by(wear) + 3 * u32::from(cached) + kept_in_modes(cell_mode) + spare;
        build.capacity = u64::from(blocks - kept) * u64::from(g.slots_per_superblock(mode));
        build.fill = build.capacity * fill / 100;
        Build {
            victim,
            wear,
            suspend,
            read_recovery,
            cell_mode,
            faults,
            seed,
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
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn model_reads_return_the_last_version_under_refresh(build in any_drive()) {
        lives(&build, &passes(&build.trial(4000, 0)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn powerloss_every_acknowledged_write_survives_under_refresh(build in any_drive(), cuts in 1u32..20) {
        passes(&build.trial(3000, cuts));
    }
}

/// On a full drive with no superblock beyond those that it needs, refresh goes on beside overwrites, is refused where it
/// would take what cleaning needs, and neither ends the life of the drive.
#[test]
fn sequence_a_full_drive_without_spare_is_refreshed_and_overwritten() {
    let (mut slots, mut refused, mut superblocks) = (0, 0, 0);
    for seed in 0..12 {
        for scheme in [READ_COUNT, LIGHTWEIGHT, HOT] {
            let spare = (seed % 3) as u32;
            let build = Build {
                seed,
                ..drive(CellMode::Tlc, 20, 4, spare, scheme)
            };
            let summary = passes(&build.trial(20_000, 0));
            lives(&build, &summary);
            let c = &summary.counters;
            let moved = c.slots_moved_by[Owner::Refresh as usize];
            assert!(moved >= c.slots_refreshed, "{moved} moves for refresh");
            assert_eq!(c.slots_refreshed > 0, scheme != READ_COUNT, "{build:?}");
            slots += c.slots_refreshed;
            refused +=
                c.refreshes_refused[firstread_firmware::observe::CopyRefused::Reserve as usize];
            superblocks += c.superblocks_refreshed;
        }
    }
    assert!(
        slots > 1_000 && refused > 100 && superblocks > 100,
        "{slots} {refused} {superblocks}"
    );
}

/// A drive made for the baseline has none of this.
#[test]
fn sequence_nothing_is_refreshed_without_a_scheme() {
    let c = passes(&drive(CellMode::Tlc, 20, 4, 0, 0).trial(5_000, 0)).counters;
    let found = (
        c.slots_refreshed,
        c.superblocks_refreshed,
        c.refreshes_refused,
    );
    assert_eq!(found, (0, 0, [0; 10]));
}

/// Where the newest copy of each page lies, after a power cut, is where it lay before: pages that are refreshed again
/// and again leave copies of one version in many superblocks.
#[test]
fn powerloss_the_newest_copy_of_a_refreshed_page_is_found_again() {
    const HOT_PAGES: u64 = 150;
    let (mut refreshed, mut superblocks) = (0, 0);
    for seed in 0..6 {
        let build = Build {
            seed,
            ..drive(CellMode::Tlc, 20, 6, 5, HOT)
        };
        let mut drive: FaultyDrive = build.trial(0, 0).faulty_drive().expect("a drive");
        let slots = build.capacity;
        let stream = Stream::new(seed);
        for i in 0..20_000u64 {
            let s = stream.at(i);
            // Overwrites make room for refreshes.
            let (op, lpn) = match s.at(0).below(2) {
                0 => (HostOp::Write, HOT_PAGES + s.at(1).below(slots - HOT_PAGES)),
                _ => (HostOp::Read, s.at(1).below(HOT_PAGES)),
            };
            let done = drive.submit(op, lpn * SLOT_BYTES, SLOT_BYTES as u32);
            done.unwrap_or_else(|found| panic!("seed {seed}: {found}"));
            if i % 500 != 499 {
                continue;
            }
            drive.settle().expect("everything ends");
            let places = |drive: &FaultyDrive| -> Vec<_> {
                (0..slots)
                    .map(|lpn| drive.firmware.place_of(Lpn(lpn)))
                    .collect()
            };
            let before = places(&drive);
            drive.power_cut().expect("the power comes back");
            assert_eq!(before, places(&drive), "seed {seed}, after {i} commands");
        }
        refreshed += drive.firmware.counters().slots_refreshed;
        superblocks += drive.firmware.counters().superblocks_refreshed;
    }
    assert!(
        refreshed > 1_000 && superblocks > 10,
        "{refreshed} pages, {superblocks} superblocks"
    );
}
