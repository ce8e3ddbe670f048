//! The door of oracles: whether it tells the load that is run, what it refuses, and what is left of it after a power cut.

use firstread_core::{CellMode, HostOp, Lpn, Ns};
use firstread_drive::{BurnIn, CutAt, Drive, Host, RunError, RunStats};
use firstread_testkit::{SMALL_BLOCKS, aged, drive, profile, try_run};
use firstread_workload::{TraceRecord, fio};

use crate::promotion::FORMULA;

const CLAIRVOYANT: &str = "schemes.cell_mode=clairvoyant";

fn drive_of(scheme: &'static str) -> Drive {
    let set = [SMALL_BLOCKS, FORMULA, &[scheme]].concat();
    drive(profile("raro-femu", &set), &aged(0, 1_000), 1)
}

fn run(drive: &mut Drive, job: &str) -> RunStats {
    try_run(drive, job, 1, None).expect("a run")
}

/// Readers and writers beside each other, trims and flushes, requests across pages, a second phase, a ramp.
const LOAD: &str = "[global]\nsize=64m\nnorandommap\n\
    [r]\nrw=randread\nbs=16k\niodepth=4\nrandom_distribution=zipf:1.1\nnumber_ios=6000\n\
    [rw]\nrw=randrw\nbs=24k\noffset=4k\niodepth=2\nnumber_ios=900\nfsync=16\nthinktime=100\n\
    [t]\nrw=trimwrite\nbs=64k\nnumber_ios=100\n\
    [late]\nstonewall\nrw=randread\nbs=4k\nnumjobs=3\nramp_time=1ms\nnumber_ios=700\n";

/// What was told is what came, to the last read and write, whatever the order in which jobs have issued it.
#[test]
fn model_the_door_tells_the_load_that_is_run() {
    let mut drive = drive_of(CLAIRVOYANT);
    let stats = run(&mut drive, LOAD);
    assert!(stats.requests > 7_000);
    assert!(drive.future().bytes() > 0);
    assert_eq!(drive.future().to_come(), (0, 0));
    // The same drive is told of the next run at its start, a limited one too.
    let job = "[j]\nrw=randrw\nbs=16k\nnorandommap\nloops=9\n";
    let stats = try_run(&mut drive, job, 2, Some(1_234)).expect("a run");
    assert_eq!((stats.requests, drive.future().to_come()), (1_234, (0, 0)));
    // A burn-in is told of each of its passes, and the run after it of the run.
    let workload = fio::parse(
        "test.fio",
        "[j]\nrw=randrw\nbs=64k\nnorandommap\nio_size=256m\n",
    );
    let (workload, capacity) = (workload.expect("a job file"), drive.capacity_bytes());
    let pass = |pass| Ok::<_, RunError>(Host::pass(&workload, capacity, 1, pass)?);
    let burnt = BurnIn::run(&mut drive, 3.0, pass, &mut |_| {}).expect("a burn-in");
    assert!(burnt.passes > 1);
    run(&mut drive, LOAD);
    assert_eq!(drive.future().to_come(), (0, 0));
}

fn trace() -> impl Iterator<Item = Result<TraceRecord, firstread_workload::WorkloadError>> {
    (0..400u64).map(|i| {
        Ok(TraceRecord {
            time_ns: i * 20_000,
            op: if i % 9 == 0 {
                HostOp::Write
            } else {
                HostOp::Read
            },
            offset_bytes: i * i % 31 * 16_384,
            len_bytes: 16_384,
            device: 0,
            placement: 0,
        })
    })
}

/// A trace is told by a second reading of it, as far as it is run.
#[test]
fn model_a_trace_is_told_by_its_second_reading() {
    for limit in [None, Some(150)] {
        let mut drive = drive_of(CLAIRVOYANT);
        let mut host = Host::trace("trace", trace(), 8, limit);
        host.foretell_by(trace());
        host.run(&mut drive, &mut |_| {}).expect("a run");
        assert_eq!(drive.future().to_come(), (0, 0), "{limit:?}");
    }
    let mut drive = drive_of(CLAIRVOYANT);
    let once = Host::trace("trace", trace(), 8, None).run(&mut drive, &mut |_| {});
    let message = once.map(|_| ()).expect_err("an unknown future").to_string();
    assert!(message.contains("given once"), "{message}");
}

/// A load of which it is not known beforehand where it ends is refused, with the job and what ends it.
#[test]
fn golden_a_load_without_an_end_is_refused() {
    let refused = |job: &str, limit| {
        let mut drive = drive_of(CLAIRVOYANT);
        let stats = try_run(&mut drive, job, 1, limit);
        stats
            .map(|_| ())
            .expect_err("an unknown future")
            .to_string()
    };
    let told: Vec<String> = [
        ("[a]\nrw=randread\ntime_based\nruntime=1\n", None),
        ("[a]\nrw=read\n[b]\nrw=randread\nruntime=1\n", Some(10)),
        ("[a]\nrw=read\n[b]\nrw=read\nnumber_ios=9\nexitall\n", None),
        (
            "[a]\nrw=randread\nlatency_target=1ms\nlatency_window=1s\nlatency_percentile=99\niodepth=9\n",
            None,
        ),
    ]
    .map(|(job, limit)| refused(job, limit))
    .into();
    // No job file says so, but who makes a job by hand may.
    let mut workload = fio::parse("test.fio", "[a]\nrw=randread\nbs=16k\n").expect("a job file");
    workload.jobs[0].time_based = true;
    let by_hand = |limit| {
        let mut drive = drive_of(CLAIRVOYANT);
        let host = Host::jobs(&workload, drive.capacity_bytes(), 1, limit).expect("a host");
        host.run(&mut drive, &mut |_| {})
            .map(|stats| stats.requests)
    };
    assert_eq!(by_hand(Some(99)).expect("an end"), 99);
    let endless = by_hand(None).expect_err("no end").to_string();
    let told = format!("{}\n{endless}", told.join("\n"));
    insta::assert_snapshot!(told);
    // Nobody asks on other drives.
    let stats = try_run(
        &mut drive_of("schemes.cell_mode=hotness"),
        "[a]\nrw=randread\nbs=16k\ntime_based\nruntime=10ms\n",
        1,
        None,
    );
    assert!(stats.is_ok());
}

/// The door is open to oracles alone, and forgets nothing at a power cut: what the host will do is no memory of the
/// drive.
#[test]
fn powerloss_an_oracle_still_knows_what_is_to_come() {
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:1.2\nnumber_ios=30000\n";
    let mut plain = drive_of("schemes.cell_mode=hotness");
    run(&mut plain, job);
    assert!(!plain.future().is_known());

    let mut cut = drive_of(CLAIRVOYANT);
    let workload = fio::parse("test.fio", job).expect("a job file");
    let mut host = Host::jobs(&workload, cut.capacity_bytes(), 1, None).expect("a host");
    host.cut_power_at(CutAt::Events(2_000));
    let stats = host.run(&mut cut, &mut |_| {}).expect("a run");
    let power = stats.power_cut.expect("the power was cut");
    // Requests on their way to the drive are lost, and it never hears of them.
    let (reads, writes) = cut.future().to_come();
    assert!((0..=i64::from(power.lost_requests)).contains(&reads) && writes == 0);
    let whole = run(&mut drive_of(CLAIRVOYANT), job);
    let promoted = |stats: &RunStats| stats.counters.slots_promoted.iter().sum::<u64>();
    assert!(promoted(&whole) > 500, "{}", promoted(&whole));
    assert!(promoted(&stats) * 10 > promoted(&whole) * 9);

    // An oracle that is activated knows nothing until a run tells it; another scheme forgets.
    plain
        .activate(Ns::ZERO, cut.profile().clone())
        .expect("the same streams");
    assert!(!plain.future().is_known());
    assert!(promoted(&run(&mut plain, job)) > 0 && plain.future().is_known());
    let hotness = drive_of("schemes.cell_mode=hotness").profile().clone();
    plain.activate(Ns::ZERO, hotness).expect("the same streams");
    assert_eq!(plain.future().of(Lpn(0)), Default::default());
    assert!(!plain.future().is_known());
}

/// Superblocks are given back once no page of them will be read again, and not before. A page that is never read twice is
/// not copied.
#[test]
fn sequence_superblocks_come_back_when_their_last_read_has_passed() {
    let hot = "[hot]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nsize=4m\nio_size=144m\n";
    let once = "[once]\nstonewall\nrw=randread\nbs=16k\noffset=16m\nsize=32m\nnumber_ios=2000\n";
    let set = [
        SMALL_BLOCKS,
        FORMULA,
        &[CLAIRVOYANT, "cell_mode.reclaim_period=500 reads"],
    ]
    .concat();
    let mut drive = drive(profile("raro-femu", &set), &aged(0, 1_000), 1);
    let stats = run(&mut drive, hot);
    let pages = 4 << 20 >> 14;
    let promoted = stats.counters.slots_promoted.iter().sum::<u64>();
    assert!(promoted <= pages && promoted > pages * 9 / 10, "{promoted}");
    assert_eq!(stats.counters.superblocks_given_back, 0);
    assert!(stats.modes.end.capacity.lost_slots > 0);
    let stats = run(&mut drive, once);
    assert_eq!(stats.counters.slots_promoted, [0; 4]);
    assert!(stats.counters.superblocks_given_back > 0);
    let left: Vec<CellMode> = drive
        .blocks()
        .iter()
        .filter(|(_, info)| info.mode != CellMode::Qlc && info.valid_slots > 0)
        .map(|(_, info)| info.mode)
        .collect();
    // The open superblock of a stream stays.
    assert!(left.len() <= 1, "{left:?}");
}
