//! Axis `refresh` on a whole drive with cells: what it cures, and that it is heat that tells which pages.

use firstread_core::Ns;
use firstread_drive::{DriveState, RunStats};
use firstread_testkit::{SMALL_BLOCKS, aged, drive, profile, run, try_run};

/// The emulated drive with four dies and 384 MiB of QLC, of which half is filled.
const SMALL: &[&str] = &[
    "geometry.blocks_per_plane=96",
    "geometry.mapping_unit=16 KiB",
    "capacity=192 MiB",
    "schemes.gc_victim=greedy",
];

fn settings<'a>(own: &[&'a str]) -> Vec<&'a str> {
    [SMALL_BLOCKS, SMALL, own].concat()
}

/// Retries of a page read, in the mean.
fn retries(stats: &RunStats) -> f64 {
    let pages: u64 = stats.counters.retries.iter().sum();
    let all = (0..).zip(&stats.counters.retries);
    all.map(|(step, pages)| step * pages).sum::<u64>() as f64 / pages as f64
}

/// Reads of 2 MiB, which lie in one superblock.
const HAMMERED: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nsize=2m\nio_size=1280m\nnorandommap\n";

/// The second of two runs of [`HAMMERED`] on a drive whose cells are ten times as easily disturbed, with a limit of reads
/// that is a tenth of the default. More than ten times would not do: a superblock is emptied no faster, and is read
/// meanwhile.
fn hammered(state: &DriveState, own: &[&str]) -> RunStats {
    let disturbed = [&["chip.disturb.onset=1 kreads"], own].concat();
    let mut drive = drive(profile("raro-femu", &settings(&disturbed)), state, 1);
    try_run(&mut drive, HAMMERED, 1, None).expect("a run");
    try_run(&mut drive, HAMMERED, 2, None).expect("a run")
}

const LIMIT: &str = "refresh.reads_qlc=6000 reads";

/// Reads of a hot superblock disturb it until none of its pages can be read. A superblock that is refreshed in time takes
/// no retries.
#[test]
fn model_reads_disturb_a_superblock_without_end_unless_it_is_refreshed() {
    let new = aged(0, 833);
    let without = hammered(&new, &["schemes.refresh=none"]);
    assert_eq!(without.counters.superblocks_refreshed, 0);
    let reads = without.requests;
    assert!(
        without.all.read.lost() > reads / 2,
        "{}",
        without.all.read.lost()
    );
    for scheme in ["read-count", "lightweight", "hot"] {
        let with = hammered(&new, &[&format!("schemes.refresh={scheme}"), LIMIT]);
        let refreshed = with.counters.superblocks_refreshed;
        let found = (with.all.read.lost(), retries(&with));
        assert!(refreshed > 2, "{scheme}: {refreshed} superblocks");
        assert!(found.0 == 0 && found.1 < 0.1, "{scheme}: {found:?}");
    }
}

/// Pages that are refreshed one by one gather in a superblock that is open as long as no more of them come. It is closed
/// when reads have disturbed it, and refreshed.
#[test]
fn model_an_open_superblock_of_hot_pages_is_closed_and_refreshed() {
    for scheme in ["lightweight", "hot"] {
        let with = hammered(&old(), &[&format!("schemes.refresh={scheme}"), LIMIT]);
        let c = &with.counters;
        let found = (c.superblocks_closed_early, c.superblocks_refreshed);
        assert!(found.0 > 0 && found.1 > 0, "{scheme}: {found:?}");
        let lost = with.all.read.lost();
        assert!(
            lost == 0 && retries(&with) < 0.5,
            "{scheme}: {lost} lost, {}",
            retries(&with)
        );
    }
}

/// Reads of which a few pages have most.
const HOT_READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n\
    random_distribution=zipf:1.2\nio_size=2343m\n";

fn old() -> DriveState {
    DriveState {
        temperature_c: 40.0,
        ..aged(90 * 24, 833)
    }
}

fn mean_us(own: &[&str]) -> f64 {
    let profile = profile("raro-femu", &settings(own));
    run(profile, &old(), HOT_READS, u64::MAX).all.read.mean_ns() / 1e3
}

/// Data of 90 days take nine retries by the factory's levels, and data that were rewritten none: so a rewrite of hot
/// pages cures most of it. It is their heat that does: where each page is shown the heat of another, little is left.
#[test]
fn model_a_rewrite_of_hot_pages_makes_an_aged_drive_faster_by_their_heat() {
    let none = mean_us(&["schemes.refresh=none"]);
    assert_eq!(
        mean_us(&["schemes.refresh=read-count"]),
        none,
        "too few reads"
    );
    for scheme in ["lightweight", "hot"] {
        let set = format!("schemes.refresh={scheme}");
        let gain = |shuffle| 1.0 - mean_us(&[&set, shuffle]) / none;
        let (gained, by_chance) = (gain("heat.shuffle=false"), gain("heat.shuffle=true"));
        println!("{scheme}: {gained:.3} gained, {by_chance:.3} with the heat of other pages");
        assert!(gained > 0.5, "{scheme}: {gained:.3} of {none:.0} us");
        assert!(
            by_chance.abs() < gained / 5.0,
            "{scheme}: {by_chance:.3} with the heat of other pages, {gained:.3} with its own"
        );
    }
}

/// `trigger=computed` sees no age: without a least age hot pages are rewritten again whenever the superblock of their
/// copies is full. With it each page is rewritten once.
#[test]
fn formula_a_page_is_rewritten_once_a_day() {
    let rewritten = |age: &str| {
        let own = ["schemes.refresh=hot", "refresh.trigger=computed", age];
        let profile = profile("raro-femu", &settings(&own));
        let stats = run(profile, &old(), HOT_READS, u64::MAX);
        let pages = stats.counters.slots_refreshed;
        (pages, stats.simulated)
    };
    let (once, took) = rewritten("refresh.age=1 d");
    let (again, _) = rewritten("refresh.age=0 s");
    let pages = 192 * 64;
    assert!(took < Ns::from_h(24), "{took:?}");
    assert!((100..=pages).contains(&once), "{once} of {pages} pages");
    assert!(
        again > 2 * once,
        "{again} with no least age, {once} with one"
    );
}
