//! Axis `cell_mode` on a whole drive: what promotion gives, what it costs, and that it is heat that gives it.

use firstread_core::CellMode;
use firstread_drive::{CutAt, DriveState, Host, RunStats};
use firstread_firmware::policy::cell_mode::CopyRefused;
use firstread_testkit::{SMALL_BLOCKS, aged, drive, profile, run, try_run};
use firstread_workload::fio;

/// The emulated drive with four dies and 384 MiB of QLC, a page a mapping unit, and the retries of RARO's formula.
pub(crate) const FORMULA: &[&str] = &[
    "cells=formula",
    "geometry.blocks_per_plane=96",
    "chip.array.layers=2",
    "geometry.mapping_unit=16 KiB",
    "firmware.cell_modes=\"all\"",
    "capacity=192 MiB",
    "schemes.gc_victim=greedy",
];
/// Reads of which a few pages have most.
const HOT_READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n\
    random_distribution=zipf:1.2\nio_size=2343m\n";

fn old() -> DriveState {
    aged(0, 1_000)
}

fn settings<'a>(own: &[&'a str]) -> Vec<&'a str> {
    [SMALL_BLOCKS, FORMULA, own].concat()
}

fn reads(own: &[&str]) -> RunStats {
    run(
        profile("raro-femu", &settings(own)),
        &old(),
        HOT_READS,
        u64::MAX,
    )
}

fn mean_us(stats: &RunStats) -> f64 {
    stats.all.read.mean_ns() / 1e3
}

const HOTNESS: &str = "schemes.cell_mode=hotness";
const RARO: &[&str] = &["schemes.cell_mode=raro", "cell_mode.r2=11"];
const SHUFFLED: &str = "heat.shuffle=true";

/// Promotion takes most retries away. It is the heat of a page that does it: where each page is shown the heat of another
/// one, nearly nothing is left of the gain.
#[test]
fn model_promotion_gains_by_the_heat_of_its_pages() {
    let fixed = mean_us(&reads(&[]));
    for own in [&[HOTNESS][..], RARO] {
        let gain = |own: &[&str]| 1.0 - mean_us(&reads(own)) / fixed;
        let (gained, by_chance) = (gain(own), gain(&[own, &[SHUFFLED]].concat()));
        assert!(gained > 0.5, "{own:?}: {gained:.3} of {fixed:.0} us");
        assert!(
            by_chance.abs() < gained / 5.0,
            "{own:?}: {by_chance:.3} with the heat of other pages, {gained:.3} with its own"
        );
    }
}

/// RARO's finding: with the condition on retries, warm pages go to TLC mode and show no retries there, so they stay.
/// `hotness` moves them on to SLC mode. So RARO loses less capacity for about the same latency.
#[test]
fn model_raro_loses_less_capacity_than_hotness() {
    let (hotness, raro) = (reads(&[HOTNESS]), reads(RARO));
    let lost = |stats: &RunStats| stats.modes.worst.lost_slots;
    let promoted = |stats: &RunStats, mode: CellMode| stats.counters.slots_promoted[mode as usize];
    assert!(
        lost(&raro) < lost(&hotness),
        "{} slots against {}",
        lost(&raro),
        lost(&hotness)
    );
    assert!(promoted(&raro, CellMode::Slc) < promoted(&hotness, CellMode::Slc));
    assert!(mean_us(&raro) < 1.3 * mean_us(&hotness));
}

/// Pages whose codewords take several steps to read, each for the codewords that failed before, are whole all the same.
#[test]
fn sequence_a_page_that_was_read_in_several_steps_is_promoted() {
    let set = settings(&[RARO[0], "cell_mode.warm=2 reads", "cells=modelled"]);
    let stats = run(
        profile("raro-femu", &set),
        &aged(2_160, 833),
        "[j]\nrw=randread\nbs=16k\nnorandommap\nrandom_distribution=zipf:1.2\nnumber_ios=6000\n",
        u64::MAX,
    );
    let refused = &stats.counters.promotions_refused;
    assert_eq!(refused[CopyRefused::Part as usize], 0, "{refused:?}");
    let promoted: u64 = stats.counters.slots_promoted.iter().sum();
    assert!(promoted > 100, "{promoted}");
}

/// What is lost is what superblocks by mode hold less, to the slot.
#[test]
fn formula_capacity_lost_is_that_of_the_superblocks_in_each_mode() {
    for own in [&[HOTNESS][..], RARO] {
        let mut drive = drive(profile("raro-femu", &settings(own)), &old(), 1);
        let stats = try_run(&mut drive, HOT_READS, 1, None).expect("a run");
        let geometry = &drive.profile().geometry;
        let own_slots = u64::from(geometry.slots_per_superblock(CellMode::Qlc));
        let less = |mode| own_slots - u64::from(geometry.slots_per_superblock(mode));
        let lost: u64 = drive.blocks().iter().map(|(_, info)| less(info.mode)).sum();
        assert!(lost > 0);
        assert_eq!(stats.modes.end.capacity.lost_slots, lost);
    }
}

/// What a run lost before a power cut stays the most that it lost. A cut gives no superblock back.
#[test]
fn powerloss_the_least_capacity_of_a_run_outlives_a_power_cut() {
    let mut drive = drive(profile("raro-femu", &settings(&[HOTNESS])), &old(), 1);
    let workload = fio::parse("test.fio", HOT_READS).expect("a job file");
    let mut host = Host::jobs(&workload, drive.capacity_bytes(), 1, None).expect("a host");
    host.cut_power_at(CutAt::Events(300_000));
    let stats = host.run(&mut drive, &mut |_| {}).expect("a run");
    assert!(stats.power_cut.is_some());
    let (start, end) = (stats.modes.start.capacity, stats.modes.end.capacity);
    let worst = stats.modes.worst;
    assert!(end.lost_slots > 0 && worst.lost_slots >= end.lost_slots);
    assert_eq!(worst.slots + worst.lost_slots, start.slots);
}

/// A page of several codewords is promoted whole after a read that was retried, though only some of its codewords were
/// read again.
#[test]
fn model_a_page_that_was_retried_in_part_is_promoted() {
    let cells = ["cells=modelled", "schemes.read_levels=factory"];
    let own = [&[HOTNESS][..], &cells].concat();
    let state = aged(28, 800);
    let load = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:1.2\nio_size=312m\n";
    let stats = run(
        profile("raro-femu", &settings(&own)),
        &state,
        load,
        u64::MAX,
    );
    let (tries, pages) = (
        &stats.counters.first_tries_by_mode,
        &stats.counters.page_reads_by_mode,
    );
    let qlc = CellMode::Qlc as usize;
    assert!(
        tries[qlc] < pages[qlc] / 2,
        "most reads are retried: {tries:?} of {pages:?}"
    );
    let refused = stats.counters.promotions_refused[CopyRefused::Part as usize];
    let promoted: u64 = stats.counters.slots_promoted.iter().sum();
    assert!(
        promoted > 100 && refused == 0,
        "{promoted} promoted, {refused} refused"
    );
}

/// A drive whose free superblocks are those that cleaning keeps still promotes: cleaning makes room for one more when a
/// stream of another mode has found none. It begins no sooner than the host needs a superblock otherwise. The change of mode
/// gives way to the host, so pages that are read often are refused many times before there is a superblock for them.
#[test]
fn model_a_drive_in_a_steady_state_of_writes_still_promotes() {
    let overwrites = "[j]\nrw=randwrite\nbs=16k\niodepth=8\nnorandommap\nio_size=960m\n";
    let mixed = "[j]\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=8\nnorandommap\nrandom_distribution=zipf:1.2\n\
        io_size=937m\n";
    for own in [&[HOTNESS][..], RARO] {
        let own = [own, &["capacity=240 MiB"]].concat();
        let mut drive = drive(profile("raro-femu", &settings(&own)), &old(), 1);
        try_run(&mut drive, overwrites, 1, None).expect("overwrites");
        let stats = try_run(&mut drive, mixed, 1, None).expect("a run");
        let promoted: u64 = stats.counters.slots_promoted.iter().sum();
        assert!(
            promoted > 1_000,
            "{own:?}: {promoted} promoted, {:?}",
            stats.counters.promotions_refused
        );
        assert_eq!(stats.all.write.lost() + stats.all.read.lost(), 0);
        drive.audit().expect("consistent");
    }
}

/// A full drive that is overwritten while its hot pages are promoted keeps the over-provisioning that `keep` asks for,
/// and writes go on to the end.
#[test]
fn model_a_full_drive_keeps_its_over_provisioning() {
    let load = "[j]\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=8\nnorandommap\nrandom_distribution=zipf:1.1\n\
        io_size=1875m\n";
    for (scheme, keep) in [&[HOTNESS][..], RARO]
        .into_iter()
        .flat_map(|scheme| [70, 200, 400].map(|keep| (scheme, keep)))
    {
        let keep_key = format!("cell_mode.keep={keep} permille");
        let own = [scheme, &["capacity=240 MiB", &keep_key]].concat();
        let profile = profile("raro-femu", &settings(&own));
        let capacity = profile.capacity_bytes / u64::from(profile.geometry.slot_bytes);
        let stats = run(profile, &old(), load, u64::MAX);
        assert_eq!(stats.all.write.lost() + stats.all.read.lost(), 0, "{own:?}");
        assert_eq!(stats.requests, 120_000);
        assert!(
            stats.counters.slots_promoted.iter().sum::<u64>() > 0,
            "{own:?}"
        );
        let least = stats.modes.worst.slots;
        assert!(
            least * 1000 >= capacity * (1000 + keep),
            "{own:?}: {least} slots for {capacity} pages"
        );
    }
}
