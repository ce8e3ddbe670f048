//! Axis `area` on a whole drive: what it gives where low wear means few retries, and that it is heat that gives it.

use firstread_drive::{Drive, DriveError, DriveState, LastSuperblocks, RunStats, StateError};
use firstread_firmware::observe::RegionId;
use firstread_firmware::policy::area::{HIGH, LOW};
use firstread_testkit::{SMALL_BLOCKS, profile, run, voltages};

/// The paper's cells: retries by wear alone.
const STAGES: &[&str] = &[
    "geometry.blocks_per_plane=96",
    "geometry.wordlines_per_block=9",
    "geometry.mapping_unit=16 KiB",
    "schemes.gc_victim=greedy",
    "schemes.wear=dynamic",
    "chip.failures.factory_bad=0 %",
    "chip.failures.grown_bad=0 %",
];
/// Reads and writes under Zipf's law, each of pages of its own order.
const ZIPF: &str = "[r]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:1.2\nnumber_ios=40000\n\
    [w]\nrw=randwrite\nbs=16k\niodepth=1\nnorandommap\nnumber_ios=8000\n";

const DWR: &str = "schemes.area=differential";
const FDWR: &str = "schemes.area=differential-fixed";
const ORACLE: &str = "schemes.area=clairvoyant";

/// Seven hundred P/E cycles, and three hundred in the last fifth: 23 and 7 retries.
fn worn_apart() -> DriveState {
    DriveState {
        pe_cycles: (700, 700),
        last: Some(LastSuperblocks {
            permille: 200,
            pe_cycles: 300,
        }),
        ..DriveState::default()
    }
}

fn of(own: &[&str]) -> RunStats {
    let set = [SMALL_BLOCKS, STAGES, own].concat();
    run(profile("dwr-256g", &set), &worn_apart(), ZIPF, u64::MAX)
}

/// Mean retries of a page read, and the share of page reads of LWA.
fn retries(stats: &RunStats) -> (f64, f64) {
    let c = &stats.counters;
    let pages = c.page_reads_by_mode.iter().sum::<u64>() as f64;
    let retries = c.page_retries_by_mode.iter().sum::<u64>() as f64;
    (
        retries / pages,
        c.page_reads_by_region[LOW.index()] as f64 / pages,
    )
}

/// Reads take fewer retries, because most of them are of the low wearing area. Where each page is shown the heat of
/// another one, nearly nothing is left of that. An oracle gains more.
#[test]
fn model_areas_gain_by_the_heat_of_their_pages() {
    let (one, in_low) = retries(&of(&[]));
    assert_eq!(in_low, 0.0);
    let gain = |own: &[&str]| {
        let stats = of(own);
        let [high, low] = [HIGH, LOW].map(|area| stats.regions[area.index()]);
        let (high, low) = (high.wear.unwrap(), low.wear.unwrap());
        assert!(high.mean >= 700.0 && low.mean < 330.0, "{high:?} {low:?}");
        let (few, share) = retries(&stats);
        println!("{own:?}: {few:.2} of {one:.2} retries, {share:.3} of reads in LWA");
        1.0 - few / one
    };
    let oracle = gain(&[ORACLE]);
    for own in [DWR, FDWR] {
        let (gained, by_chance) = (gain(&[own]), gain(&[own, "heat.shuffle=true"]));
        assert!(gained > 0.15, "{own}: {gained:.3}");
        assert!(
            by_chance.abs() < gained / 4.0,
            "{own}: {by_chance:.3} {gained:.3}"
        );
        assert!(oracle > gained, "{oracle:.3} {gained:.3}");
    }
}

/// A drive of a fill has its low wearing area full but for two superblocks, and its free ones in the high wearing one.
#[test]
fn formula_a_fill_fills_the_low_area() {
    use firstread_firmware::observe::SuperblockUse;
    let set = [SMALL_BLOCKS, STAGES, &[DWR]].concat();
    let drive = firstread_testkit::drive(profile("dwr-256g", &set), &worn_apart(), 1);
    let blocks = drive.blocks();
    let free = |area: RegionId| {
        let infos = blocks.in_region(area).iter();
        infos
            .filter(|(_, info)| info.usage == SuperblockUse::Free)
            .count()
    };
    assert_eq!(free(LOW), 2);
    assert!(free(HIGH) >= 3, "{}", free(HIGH));
    let wear = |area: RegionId| {
        blocks
            .in_region(area)
            .iter()
            .map(|(_, info)| info.pe_cycles)
            .max()
    };
    assert_eq!((wear(HIGH), wear(LOW)), (Some(700), Some(300)));
}

/// Superblocks that are bad from the factory are the last ones, and the low wearing area has to be large enough without
/// them.
#[test]
fn formula_the_low_area_is_large_enough_without_bad_superblocks() {
    let made = |scheme: &str, share: &str| {
        let bad = [scheme, share, "chip.failures.factory_bad=2 %"];
        let profile = profile("dwr-256g", &[SMALL_BLOCKS, STAGES, &bad].concat());
        let tables = voltages(&profile);
        Drive::new(profile, tables, &DriveState::default(), 1).map(|drive| drive.counters().retired)
    };
    let retired = made(DWR, "area.low_share=200 permille").unwrap();
    assert!((2..10).contains(&retired), "{retired}");
    for scheme in [DWR, FDWR, ORACLE] {
        match made(scheme, "area.low_share=50 permille") {
            Err(DriveError::State(StateError::LowArea { bad, low })) => {
                assert_eq!((u64::from(bad), low), (retired, 5));
            }
            other => panic!("{other:?}"),
        }
    }
}
