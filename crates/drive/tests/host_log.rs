//! A log of the host above a drive: what is written adds up, the tables outlive a run, and what cannot be is refused.

use firstread_drive::{BurnIn, BurnInEnd, CutAt, Drive, DriveState, Host, RunError, RunStats};
use firstread_testkit::{digest_of, drive, profile, try_run};
use firstread_workload::fio;

/// Superblocks of 512 slots, 160 of them, of which the drive offers 150.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=300 MiB",
    "schemes.gc_victim=greedy",
];

/// The jobs see 240 of the 300 MiB.
const LOG: &str =
    "[global]\n; firstread: host_log=240m\n[w]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\n";

fn small(set: &[&str]) -> Drive {
    let set = [SMALL, set].concat();
    drive(profile("bench-4g", &set), &DriveState::default(), 1)
}

fn run(drive: &mut Drive, job: &str, requests: u64) -> RunStats {
    try_run(drive, job, 1, Some(requests)).unwrap()
}

/// Every byte that the drive is given is one of an application or of cleaning, and what flash is programmed with follows from both.
#[test]
fn formula_the_bytes_of_a_log_add_up() {
    for (set, log) in [
        (&[][..], "; firstread: host_log_moves=with-writes\n"),
        (&["schemes.stream=fdp", "stream.handles=2"], ""),
    ] {
        let job = LOG.replace("[w]", &format!("{log}[w]"));
        let mut drive = small(set);
        let warm = run(&mut drive, &job, 150_000);
        let stats = run(&mut drive, &job, 100_000);
        for stats in [&warm, &stats] {
            let counts = stats.host_log.unwrap().counts;
            let all = counts.application_bytes + counts.moved_bytes;
            assert_eq!(all, stats.counters.host_bytes_written);
            assert_eq!(counts.application_bytes, stats.requests * 4096);
            assert_eq!(
                counts.read_bytes,
                counts.moved_bytes + counts.overtaken_bytes
            );
            assert_eq!(counts.lost_bytes, 0);
        }
        let counts = stats.host_log.unwrap().counts;
        let of_log = 1.0 + counts.moved_bytes as f64 / counts.application_bytes as f64;
        let programmed = stats.counters.slots_programmed * 4096;
        let of_drive = programmed as f64 / stats.counters.host_bytes_written as f64;
        println!("{log}: log {of_log:.3}, drive {of_drive:.3}");
        // Random overwrites of 240 MiB with 60 to spare, less what is free and open.
        assert!((2.0..4.0).contains(&of_log), "{of_log}");
        assert!((0.999..1.05).contains(&of_drive), "{of_drive}");
        // A run judges the writes of applications.
        let both = stats.amplification.estimate.unwrap().mean;
        assert!((both / (of_log * of_drive) - 1.0).abs() < 0.05, "{both}");
        drive.audit().unwrap();
    }
}

/// Reads go where the log has put the page, and two runs are one.
#[test]
fn formula_a_run_through_a_log_repeats() {
    let job = LOG
        .replace("rw=randwrite", "rw=randrw")
        .replace("bs=4k", "bs=4k,8k");
    let both = [(); 2].map(|()| {
        let mut drive = small(&[]);
        let stats = run(&mut drive, &job, 60_000);
        assert!(stats.all.read.count() > 20_000);
        (digest_of(&stats), stats.host_log.unwrap().counts)
    });
    assert_eq!(both[0], both[1]);
}

/// The log that has burnt a drive in goes on in the run that follows, on the drive and on its clone; another log begins anew, and so does one
/// after a run without.
#[test]
fn sequence_a_log_outlives_a_run() {
    let cleaned = |drive: &mut Drive, job: &str| {
        let stats = run(drive, job, 2_000);
        stats.host_log.map(|log| log.counts.zones_cleaned)
    };
    let mut drive = small(&[]);
    // A new log has 30 free zones of 512 pages, so that 2,000 pages need no cleaning.
    assert_eq!(cleaned(&mut drive, LOG), Some(0));
    run(&mut drive, LOG, 100_000);
    let mut clone = drive.clone();
    let of_drive = cleaned(&mut drive, LOG).unwrap();
    assert!(of_drive > 4);
    // A log that is refused leaves the drive its own.
    let refused = try_run(&mut clone, &LOG.replace("240m", "296m"), 1, Some(10));
    assert!(refused.is_err());
    assert_eq!(cleaned(&mut clone, LOG), Some(of_drive));
    let other = LOG.replace("240m", "232m");
    assert_eq!(cleaned(&mut clone, &other), Some(0));
    assert_eq!(cleaned(&mut drive, "[r]\nrw=randread\n"), None);
    assert_eq!(cleaned(&mut drive, LOG), Some(0));
}

/// The limit of a burn-in, and what it tells, go by the bytes of applications, and not by those that the log has written.
#[test]
fn formula_a_burn_in_ends_by_the_bytes_of_applications() {
    let workload = fio::parse("log.fio", LOG).unwrap();
    let mut drive = small(&[]);
    // The log has counted bytes before.
    run(&mut drive, LOG, 100_000);
    let capacity = drive.capacity_bytes();
    let before = drive.counters().host_bytes_written;
    let pass =
        |pass| -> Result<Host<'_>, RunError> { Ok(Host::pass(&workload, capacity, 1, pass)?) };
    let burnt = BurnIn::run(&mut drive, 0.2, pass, &mut |_| {}).unwrap();
    assert_eq!(burnt.ended, BurnInEnd::Limit, "{:?}", burnt.amplification);
    // The first pass is not stopped before.
    assert_eq!(burnt.passes, 1);
    // It is noticed at the next erase of a superblock that the limit is reached.
    assert!(
        (0.2..0.22).contains(&burnt.drive_writes),
        "{}",
        burnt.drive_writes
    );
    let by_log = (drive.counters().host_bytes_written - before) as f64 / capacity as f64;
    assert!(by_log > 0.4, "{by_log}");
}

/// A log of more than one head gives each its superblocks, where the drive has handles.
#[test]
fn formula_zones_of_several_heads_need_handles() {
    let job = LOG.replace("[w]", "; firstread: host_log_heads=2\n[w]\nfdp=1");
    let of_drive = |set: &[&str]| {
        let mut drive = small(set);
        run(&mut drive, &job, 120_000);
        let stats = run(&mut drive, &job, 60_000);
        stats.counters.slots_programmed as f64 / stats.counters.host_slots_written as f64
    };
    let with = of_drive(&["schemes.stream=fdp", "stream.handles=3"]);
    let without = of_drive(&[]);
    println!("with handles {with:.3}, without {without:.3}");
    assert!(with < 1.05 && without > 1.2, "{with} {without}");
}

#[test]
fn golden_what_a_log_refuses() {
    let refused = |set: &[&str], job: &str| {
        let error = try_run(&mut small(set), job, 1, Some(10)).unwrap_err();
        error.to_string()
    };
    let trim = LOG.replace("[w]", "[t]\nrw=trim\n[w]");
    let cut = LOG.replace("[w]", "; firstread: power_cut=1\n[w]");
    let differs = format!("{LOG}[x]\nrw=read\n; firstread: host_log=20m\n");
    let all = [
        refused(&[], &LOG.replace("randwrite", "randread")),
        refused(&[], &trim),
        refused(&[], &cut),
        refused(&[], &differs),
        refused(&[], &LOG.replace("host_log=240m", "host_log_zone=2m")),
        refused(&[], &LOG.replace("bs=4k", "bs=6k")),
        refused(&[], &LOG.replace("240m", "296m")),
        refused(
            &[],
            &LOG.replace(
                "[w]",
                "; firstread: host_log_heads=9\n; firstread: host_log_moves=by-handle\n[w]",
            ),
        ),
        refused(&[], &LOG.replace("[w]", "[w]\nfdp=1\nplids=0-2")),
        refused(
            &["schemes.stream=fdp", "stream.handles=2"],
            &LOG.replace("[w]", "; firstread: host_log_heads=2\n[w]"),
        ),
        refused(
            &["schemes.stream=clairvoyant", "capacity=280 MiB"],
            &LOG.replace("240m", "200m"),
        ),
        refused(&[], &LOG.replace("bs=4k", "bs=4k\nrw=write:512")),
    ];
    assert_eq!(
        all.join("\n"),
        "test.fio:3: job `w`: host_log: no job writes, and a log that is only read is a plain drive: leave it out
test.fio:3: job `t`: host_log: the log takes reads, writes and flushes, and this job trims
test.fio:4: job `w`: host_log: how a log of the host recovers after a power cut is not modelled: leave out `power_cut` or `host_log`
test.fio:8: job `x`: host_log: its options are not those of job `w`, and a drive has one log: write them in `[global]`
test.fio:3: job `w`: host_log_zone, host_log_heads, host_log_moves and host_log_victim need host_log, how much of the drive the log offers
test.fio:3: job `w`: host_log: a length or an offset of 6144 bytes is no whole number of the 4096 bytes that the drive maps at a time, and \
the log takes no parts of pages
test.fio:3: job `w`: host_log: of 150 zones 2 are left to clean with, and a log with 2 heads needs 4: host_log=306184192 would do
test.fio:5: job `w`: host_log_heads: with the heads of moves a log has 16 heads at most: 15 with host_log_moves=apart, 8 with by-handle
test.fio:3: job `w`: host_log_heads: the log has 1, for placement handles from 0 on, and the job names handle 1: host_log_heads=2 would do
test.fio:4: job `w`: host_log_heads: each of 3 heads has a placement handle, and the drive has 2: `stream.handles=3` would do
`stream=clairvoyant` has to know all requests of the load before they are issued: a log of the host (`host_log`) decides only as it goes \
on where what a job asks for lies
test.fio:3: job `w`: host_log: a length or an offset of 4608 bytes is no whole number of the 4096 bytes that the drive maps at a time, and \
the log takes no parts of pages"
    );
    let workload = fio::parse("t.fio", LOG).unwrap();
    let mut drive = small(&[]);
    let mut host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(10)).unwrap();
    host.cut_power_at(CutAt::Events(3));
    let error: RunError = host.run(&mut drive, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("power cut"), "{error}");
}
