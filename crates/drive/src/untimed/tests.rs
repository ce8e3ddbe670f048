//! Tests: a drive without time is the timed drive, without its time.

use firstread_core::{Lpn, Ns, Status};
use firstread_firmware::observe::{Counters, Owner, SuperblockInfo};
use firstread_firmware::policy::AXES;
use firstread_workload::{JobStream, fio};

use super::UntimedDrive;
use crate::profile::{DriveProfile, Library, Override, load_drive};
use crate::{Drive, DriveState, Ended, Host, tables};

/// Two dies of two planes and 64 superblocks of 2 MiB: few moves are under way at a time, as on a drive whose superblocks
/// are large.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.planes=2",
    "geometry.page=8 KiB",
    "geometry.blocks_per_plane=64",
    "geometry.wordlines_per_block=64",
    "capacity=105 MiB",
    "schemes.gc_victim=greedy",
];

fn profile(set: &[&str]) -> DriveProfile {
    let set = SMALL.iter().chain(set);
    let set: Vec<Override> = set.map(|s| Override::parse(s).unwrap()).collect();
    load_drive(&Library::new(), "bench-4g", &set, AXES).unwrap()
}

fn timed(profile: &DriveProfile) -> Drive {
    let tables = tables::for_drive(profile).unwrap();
    Drive::new(profile.clone(), tables, &DriveState::default(), 1).unwrap()
}

fn untimed(profile: &DriveProfile) -> UntimedDrive {
    let tables = tables::for_drive(profile).unwrap();
    UntimedDrive::new(profile.clone(), tables, &DriveState::default(), 1).unwrap()
}

/// The first `requests` of the job on a drive without time, a request each `gap`; how many it took.
fn live(drive: &mut UntimedDrive, job: &str, requests: u64, gap: Ns) -> u64 {
    let workload = fio::parse("test.fio", job).unwrap();
    let stream = JobStream::new(&workload.jobs[0], drive.profile().capacity_bytes, 1).unwrap();
    let began = drive.now();
    for (n, request) in (0..requests).zip(stream) {
        let at = Ns(began.0 + gap.0 * n);
        let (offset, len) = (request.offset_bytes, request.len_bytes);
        let status = drive.command(at, request.op, offset, len, request.placement);
        match status.unwrap() {
            Status::Ok => {}
            Status::ReadOnly => return n,
            status => panic!("request {n}: {status:?}"),
        }
    }
    requests
}

/// The same on a timed drive; how it ended.
fn run(drive: &mut Drive, job: &str, requests: u64) -> Ended {
    let workload = fio::parse("test.fio", job).unwrap();
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(requests)).unwrap();
    host.run(drive, &mut |_| {}).unwrap().ended
}

/// Slots programmed for each that the host wrote.
fn amplification(counters: &Counters) -> f64 {
    counters.slots_programmed as f64 / counters.host_slots_written as f64
}

fn quantiles(mut wear: Vec<u32>) -> Vec<f64> {
    wear.sort_unstable();
    let at = |share: f64| f64::from(wear[((wear.len() - 1) as f64 * share).round() as usize]);
    [0.05, 0.25, 0.5, 0.75, 0.95].map(at).to_vec()
}

/// Under one load, both write and wear alike, whatever takes time in one of them: write amplification within 1 %,
/// quantiles of wear within 2 % of the mean.
#[test]
fn model_writes_and_wear_are_those_of_the_timed_drive() {
    let uniform = "[j]\nrw=randwrite\nbs=4k\niodepth=4\nnorandommap\nio_size=1t\n";
    let zipf = "[j]\nrw=randrw\nrwmixread=30\nbs=8k\niodepth=4\nnorandommap\nio_size=1t\nrandom_distribution=zipf:0.9\n";
    let parity: &[&str] = &[
        "schemes.wear=static",
        "wear.spread=8 P/E",
        "schemes.read_recovery=parity",
        "capacity=52 MiB",
    ];
    let levelled: &[&str] = &["schemes.wear=static", "wear.spread=8 P/E"];
    for (set, job, requests) in [
        (&["schemes.wear=dynamic"][..], uniform, 1_200_000),
        (levelled, zipf, 1_500_000),
        (parity, zipf, 1_000_000),
    ] {
        let profile = profile(set);
        let (mut with, mut without) = (timed(&profile), untimed(&profile));
        assert_eq!(run(&mut with, job, requests), Ended::Completed);
        assert_eq!(live(&mut without, job, requests, Ns(20_000)), requests);
        let (a, b) = (
            amplification(with.counters()),
            amplification(without.counters()),
        );
        assert!(
            (b / a - 1.0).abs() < 0.01,
            "{set:?}: {a} timed, {b} untimed"
        );
        let wear = |rows: &firstread_firmware::observe::SuperblockTable| {
            quantiles(rows.iter().map(|(_, info)| info.pe_cycles).collect())
        };
        let (a, b) = (wear(with.blocks()), wear(without.blocks()));
        let mean = a[2];
        assert!(mean > 25.0, "{set:?}: too short to tell, {mean} P/E");
        for (a, b) in a.iter().zip(&b) {
            let close = (0.02 * mean).max(1.0);
            assert!(
                (a - b).abs() <= close,
                "{set:?}: {a} P/E timed, {b} untimed"
            );
        }
    }
}

/// Blocks fail by one law in both: a drive that wears out does so after as many writes, and as many of its superblocks
/// are retired.
#[test]
fn model_a_drive_wears_out_when_the_timed_one_does() {
    let profile = profile(&[
        "schemes.wear=static",
        "wear.spread=4 P/E",
        "chip.modes.slc.endurance=40 P/E",
        "chip.failures.factory_bad=0.5 %",
        "chip.failures.grown_bad=20 %",
        "chip.failures.shape=8 x",
    ]);
    let job = "[j]\nrw=randwrite\nbs=16k\niodepth=4\nnorandommap\nio_size=1t\n";
    let (mut with, mut without) = (timed(&profile), untimed(&profile));
    let most = 10_000_000;
    assert!(matches!(run(&mut with, job, most), Ended::EndOfLife(_)));
    assert!(live(&mut without, job, most, Ns(50_000)) < most);
    assert!(without.is_read_only());
    let written = |counters: &Counters| counters.host_slots_written as f64;
    let (a, b) = (written(with.counters()), written(without.counters()));
    assert!((b / a - 1.0).abs() < 0.02, "{a} slots timed, {b} untimed");
    let (a, b) = (with.counters().retired, without.counters().retired);
    assert!(
        a > 0 && a.abs_diff(b) <= 1,
        "{a} retired timed, {b} untimed"
    );
    let (factory, grown) = without.bad_blocks();
    assert!(
        factory + grown >= b,
        "each is retired for a block that failed"
    );
}

/// At a wear rate superblocks begin at a point of their own between two erases, each as likely as any other, and keep it: so
/// no two that are erased as often need have the same wear. At a rate of one all begin alike.
#[test]
fn formula_superblocks_of_a_wear_rate_are_not_in_step() {
    let wears = |rate: u32| -> Vec<u32> {
        let profile = profile(&[
            "schemes.wear=static",
            "geometry.blocks_per_plane=600",
            "capacity=900 MiB",
        ]);
        let drive = untimed(&profile.at_wear_rate(rate).unwrap());
        drive.wear().map(|(_, pe_cycles, _)| pe_cycles).collect()
    };
    assert!(wears(1).iter().all(|wear| *wear == 0));
    let wears = wears(8);
    for phase in 0..8 {
        let n = wears.iter().filter(|wear| **wear == phase).count();
        assert!((40..110).contains(&n), "{n} of 600 begin at {phase}");
    }
    assert!(wears.iter().all(|wear| *wear < 8));
}

/// At a wear rate of ten, a tenth of the erases make as many cycles, and schemes that are not scale-free are refused by
/// name.
#[test]
fn formula_a_wear_rate_multiplies_cycles() {
    let job = "[j]\nrw=randwrite\nbs=4k\nnorandommap\nio_size=1t\n";
    let profile = profile(&["schemes.wear=static"]);
    let cycles = |rate: u32| {
        let mut drive = untimed(&profile.clone().at_wear_rate(rate).unwrap());
        let all =
            |drive: &UntimedDrive| drive.wear().map(|(_, pe_cycles, _)| pe_cycles).sum::<u32>();
        let before = all(&drive);
        live(&mut drive, job, 200_000, Ns(20_000));
        let cycles = all(&drive) - before;
        assert_eq!(u64::from(cycles), drive.counters().erases * u64::from(rate));
        cycles
    };
    assert!(cycles(10) > 8 * cycles(1));
    for scheme in ["none", "dynamic"] {
        let profile = self::profile(&[&format!("schemes.wear={scheme}")]);
        let why = profile.at_wear_rate(10).unwrap_err().to_string();
        let expected = format!("`{scheme}` spreads wear");
        assert!(
            why.contains(&expected) && why.contains("choose static"),
            "{why}"
        );
    }
    assert!(profile.at_wear_rate(0).is_err());
}

/// Where the host asks so rarely that whatever one request leads to has ended before the next, flash is instant in both
/// drives. Then every page lies in the same slot, and every superblock is worn and filled alike. One die: several work side
/// by side where they take time, so that moves arrive in another order.
#[test]
fn model_the_map_is_that_of_the_timed_drive_if_flash_is_instant() {
    const REQUESTS: u64 = 40_000;
    let uniform = "[j]\nrw=randwrite\nbs=4k\nnorandommap\nio_size=1t\nthinktime=100ms\n";
    let zipf = "[j]\nrw=randrw\nrwmixread=30\nbs=8k\nnorandommap\nio_size=1t\nthinktime=100ms\nrandom_distribution=zipf:0.9\n";
    let one_die = ["geometry.channels=1", "capacity=52 MiB"];
    let none: &[&str] = &["schemes.wear=none"];
    let levelled: &[&str] = &["schemes.wear=static", "wear.spread=8 P/E"];
    let areas: &[&str] = &["schemes.area=differential", "area.trigger=any"];
    for (schemes, job) in [
        (none, uniform),
        (none, zipf),
        (levelled, zipf),
        (areas, zipf),
    ] {
        let profile = profile(&[&one_die, schemes].concat());
        let (mut with, mut without) = (timed(&profile), untimed(&profile));
        assert_eq!(run(&mut with, job, REQUESTS), Ended::Completed);
        while with.step().is_some() {}
        let gap = Ns(100_000_000);
        assert_eq!(live(&mut without, job, REQUESTS, gap), REQUESTS);

        let (a, b) = (with.counters(), without.counters());
        assert_eq!(a.slots_programmed, b.slots_programmed, "{schemes:?}");
        let acts = match schemes {
            _ if schemes == levelled => a.slots_moved_by[Owner::Wear as usize] > 0,
            _ if schemes == areas => a.slots_entered.iter().sum::<u64>() > 0,
            _ => true,
        };
        assert!(acts, "{schemes:?}: the scheme did nothing");
        assert!(
            a.erases > 500,
            "{schemes:?}: too short to tell, {} erases",
            a.erases
        );
        for ((block, a), (_, b)) in with.blocks().iter().zip(without.blocks().iter()) {
            let of =
                |info: &SuperblockInfo| (info.usage, info.pe_cycles, info.valid_slots, info.opened);
            assert_eq!(of(a), of(b), "{schemes:?}: {block:?}");
        }
        for page in (0..profile.capacity_bytes / 4096).map(Lpn) {
            let (a, b) = (with.firmware.slot_of(page), without.firmware.slot_of(page));
            assert_eq!(a, b, "{schemes:?}: {page:?}");
        }
    }
}
