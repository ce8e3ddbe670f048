//! Superblocks in SLC and TLC mode: when pages get one, when it is given back, and what becomes of its pages when reads have
//! disturbed it.

use firstread_core::CellMode;
use firstread_drive::{Drive, DriveState, RunStats};
use firstread_firmware::observe::{CopyRefused, SuperblockUse};
use firstread_testkit::{SMALL_BLOCKS, aged, drive, profile, try_run};

use crate::promotion::FORMULA;

/// Pages of the drive, and so accesses of an epoch of heat.
const PAGES: u64 = 192 * 64;

fn settings<'a>(own: &[&'a str]) -> Vec<&'a str> {
    [SMALL_BLOCKS, FORMULA, own].concat()
}

/// `reads` reads of which a few pages have most. Each seed has hot pages of its own.
fn hot_reads(drive: &mut Drive, theta: &str, reads: u64, seed: u64) -> RunStats {
    let load = format!(
        "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:{theta}\nio_size={}k\n",
        16 * reads
    );
    try_run(drive, &load, seed, None).expect("a run")
}

/// Superblocks in other modes than QLC, by their number and that of their opening.
fn in_other_modes(drive: &Drive) -> Vec<(u32, u64)> {
    let all = drive.blocks().iter();
    let all = all.filter(|(_, info)| {
        info.mode != CellMode::Qlc && matches!(info.usage, SuperblockUse::Full)
    });
    all.map(|(block, info)| (block.0, info.opened)).collect()
}

fn old() -> DriveState {
    aged(0, 1_000)
}

const HOTNESS: &[&str] = &["schemes.cell_mode=hotness"];
const RARO: &[&str] = &["schemes.cell_mode=raro", "cell_mode.r2=11"];
const NEVER: &str = "cell_mode.reclaim_period=0 reads";

/// When other pages have become hot, the superblocks of those that were hot are given back: at least nine of ten of them
/// within 40 epochs of heat. With no reclaim they stay.
#[test]
fn model_superblocks_are_given_back_when_the_hot_pages_change() {
    for own in [HOTNESS, RARO] {
        let left = |reclaim: &str| {
            let set = settings(&[own, &[reclaim]].concat());
            let mut drive = drive(profile("raro-femu", &set), &old(), 1);
            hot_reads(&mut drive, "1.2", 6 * PAGES, 1);
            let before = in_other_modes(&drive);
            let stats = hot_reads(&mut drive, "1.2", 40 * PAGES, 2);
            drive.audit().expect("consistent");
            let now = in_other_modes(&drive);
            let stay = before.iter().filter(|old| now.contains(old)).count();
            println!(
                "{own:?} {reclaim}: {stay} of {} stay, {} given back, {} at the end",
                before.len(),
                stats.counters.superblocks_given_back,
                now.len()
            );
            (stay, before.len(), stats.counters.superblocks_given_back)
        };
        let (stay, before, given) = left("cell_mode.reclaim_period=2000 reads");
        assert!(
            before >= 4 && stay * 10 <= before,
            "{own:?}: {stay} of {before}"
        );
        assert!(
            given as usize >= before - stay,
            "{own:?}: {given} given back"
        );
        let (stay, before, given) = left(NEVER);
        assert!(
            stay == before && given == 0,
            "{own:?}: {stay} of {before}, {given} given back"
        );
    }
}

/// Where the same pages stay hot, reclaim makes reads no slower: few superblocks are given back, and few pages come again.
#[test]
fn model_reclaim_costs_reads_nothing_while_the_same_pages_stay_hot() {
    for own in [HOTNESS, RARO] {
        let with = |reclaim: &str| {
            let set = settings(&[own, &[reclaim]].concat());
            let mut drive = drive(profile("raro-femu", &set), &old(), 1);
            let stats = hot_reads(&mut drive, "0.9", 24 * PAGES, 1);
            let promoted: u64 = stats.counters.slots_promoted.iter().sum();
            (
                stats.all.read.mean_ns(),
                promoted,
                stats.counters.superblocks_given_back,
            )
        };
        let (reclaimed, never) = (with("cell_mode.reclaim_period=2000 reads"), with(NEVER));
        println!("{own:?}: {reclaimed:?} against {never:?}");
        assert!(
            reclaimed.0 <= 1.01 * never.0,
            "{own:?}: {reclaimed:?} against {never:?}"
        );
    }
}

/// A few hot pages are not worth a superblock. Without a demand, the first of them gets one.
#[test]
fn model_a_superblock_is_converted_for_pages_enough() {
    let found = |pages: u64, demand: &str| {
        let set = settings(&[HOTNESS, &[demand]].concat());
        let mut drive = drive(profile("raro-femu", &set), &old(), 1);
        let load = format!(
            "[j]\nrw=randread\nbs=16k\nnorandommap\nsize={}k\nio_size=64000k\n",
            16 * pages
        );
        let stats = try_run(&mut drive, &load, 1, None).expect("a run");
        let c = &stats.counters;
        (
            c.conversions,
            c.promotions_refused[CopyRefused::Demand as usize],
        )
    };
    // A superblock holds 64 pages in SLC mode, and 192 in TLC mode: an eighth are 8 and 24.
    let (conversions, refused) = found(4, "cell_mode.demand=125 permille");
    assert!(
        conversions == 0 && refused > 3_000,
        "{conversions} conversions, {refused} refused"
    );
    let (conversions, refused) = found(12, "cell_mode.demand=125 permille");
    assert!(
        conversions == 1 && refused > 0,
        "{conversions} conversions, {refused} refused"
    );
    let (conversions, refused) = found(4, "cell_mode.demand=0 permille");
    assert!(
        conversions > 0 && refused == 0,
        "{conversions} conversions, {refused} refused"
    );
}

/// Reads of QLC superblocks in parts of a long load on a drive that is worn and aged, as shares of the reads of the part. Hardly
/// a read is lost: at that age 0 to 6 of 100,000 over eight drives, and 0 to 2 without disturb; without a limit of reads it is
/// one of fifty after 0.8 million.
fn shares_of_qlc(name: &str, set: &[&str], parts: u64, reads: u64) -> Vec<f64> {
    let state = DriveState {
        temperature_c: 40.0,
        ..aged(90 * 24, 833)
    };
    let mut drive = drive(profile(name, set), &state, 1);
    let shares = (0..parts).map(|part| {
        let stats = hot_reads(&mut drive, "1.2", reads, 1);
        let lost = stats.all.read.lost();
        assert!(lost * 10_000 <= reads, "{lost} lost in part {part}");
        let by_mode = &stats.counters.page_reads_by_mode;
        let all: u64 = by_mode.iter().sum();
        println!(
            "{by_mode:?}, {} refreshed, {} demoted",
            stats.counters.superblocks_refreshed, stats.counters.slots_demoted
        );
        by_mode[CellMode::Qlc as usize] as f64 / all as f64
    });
    shares.collect()
}

/// The emulated drive, on cells and with calibrated levels.
const ON_CELLS: &[&str] = &["cells=modelled", "schemes.read_levels=ct-qlc"];
const REFRESHED: &str = "schemes.refresh=read-count";

/// Hot pages whose superblock is refreshed stay in its mode: QLC has no larger share of the reads later than at first.
#[test]
fn model_refreshed_pages_stay_in_their_mode() {
    let limits = [
        REFRESHED,
        "refresh.reads_slc=3000 reads",
        "refresh.reads_tlc=3000 reads",
    ];
    let set = settings(&[HOTNESS, ON_CELLS, &limits].concat());
    let shares = shares_of_qlc("raro-femu", &set, 8, 40_000);
    let (early, late) = (shares[2], shares[7]);
    assert!(late <= early * 1.05, "{shares:?}");
}

/// Hot pages stay in their mode at the limits that drives have, over four million reads.
#[test]
#[ignore = "four million reads: a minute"]
fn model_refreshed_pages_stay_in_their_mode_long() {
    let set = settings(&[HOTNESS, ON_CELLS, &[REFRESHED]].concat());
    let shares = shares_of_qlc("raro-femu", &set, 8, 500_000);
    let (early, late) = (shares[1], shares[7]);
    assert!(late <= early * 1.05, "{shares:?}");
}

/// A drive that stands for a product loses none of ten million hot reads, though promotion concentrates them, and QLC's share of them
/// does not grow. The drive has its shipped schemes and limits beside the promotion, and few and small superblocks, so that each
/// is refreshed often.
#[test]
#[ignore = "twenty million reads: minutes"]
fn model_ten_million_hot_reads_of_a_product_lose_nothing() {
    let shipped = [
        "schemes.suspend=program-erase",
        "schemes.wear=static",
        "schemes.read_recovery=soft-parity",
        "schemes.gc_victim=cost-benefit",
    ];
    let [formula, small @ .., _] = FORMULA else {
        unreachable!()
    };
    assert_eq!(*formula, "cells=formula");
    let small = [SMALL_BLOCKS, small, &shipped].concat();
    let slow: &[&str] = &["schemes.cell_mode=raro", "cell_mode.trigger=slow"];
    for own in [HOTNESS, slow] {
        let shares = shares_of_qlc("ct-qlc", &[&small, own].concat(), 10, 1_000_000);
        let (early, late) = (shares[1], shares[9]);
        assert!(late <= early * 1.05, "{own:?}: {shares:?}");
    }
}
