//! Whether jobs pace themselves, and depend on one another, as fio says they do.

use firstread_drive::stats::DepthFound;
use firstread_drive::{Drive, RunStats};
use firstread_testkit::{FOUR_DIES, IDEAL, aged, drive, profile, try_run};

fn four_dies() -> Drive {
    let set: Vec<&str> = FOUR_DIES.iter().chain(IDEAL).copied().collect();
    drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1)
}

fn run(job: &str) -> RunStats {
    try_run(&mut four_dies(), job, 1, None).unwrap_or_else(|e| panic!("{e}"))
}

/// Share of reads in time (%) at a queue depth.
fn in_time(depth: u32, target_us: u64) -> f64 {
    let job = format!("[j]\nrw=randread\nbs=4k\nnorandommap\niodepth={depth}\nnumber_ios=60000\n");
    let read = run(&job).all.read;
    let late = read.buckets().filter(|(ns, _)| *ns > target_us * 1_000);
    100.0 - late.map(|(_, n)| n).sum::<u64>() as f64 * 100.0 / read.count() as f64
}

#[test]
fn formula_latency_target_finds_the_highest_depth_that_keeps_it() {
    let target_us = 600;
    let job = format!(
        "[j]\nrw=randread\nbs=4k\nnorandommap\niodepth=128\nlatency_target={target_us}\n\
         latency_window=200ms\nlatency_percentile=99\n"
    );
    let stats = run(&job);
    let DepthFound { depth, settled } = stats.reports[0].depth.unwrap();
    assert!(settled, "the job ends when the depth is found");
    let around: Vec<f64> = [depth - 1, depth, depth + 2]
        .map(|d| in_time(d, target_us))
        .to_vec();
    println!("depth {depth}; in time below, at and above it: {around:?} %");
    // Windows are short, so a depth on the edge may pass in one and fail in another.
    assert!(around[0] > 99.0 && around[2] < 99.0, "{depth}: {around:?}");
    // What is reported is the last window alone.
    let read = &stats.all.read;
    let p99 = read.percentile(99.0);
    let (low, _) = p99.interval_ns.unwrap_or_else(|| panic!("{p99:?}"));
    assert!(low <= target_us * 1_000, "{p99:?}");
    assert!(stats.all.runtime_ns >= 190_000_000 && stats.all.runtime_ns <= 210_000_000);
    assert!(stats.requests > 2 * read.count(), "the search took more");
}

#[test]
fn formula_a_latency_target_out_of_reach_is_an_error_that_says_how_far() {
    let job = "[j]\nrw=randread\nbs=4k\niodepth=8\nlatency_target=10us\nlatency_window=1ms\n";
    let error = try_run(&mut four_dies(), job, 1, None).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("latency_target=10000 ns cannot be met"),
        "{text}"
    );
    assert!(text.contains("test.fio:1"), "{text}");
}

#[test]
fn formula_a_latency_target_that_goes_on_follows_the_drive() {
    let job = "[j]\nrw=randread\nbs=4k\nnorandommap\niodepth=128\nlatency_target=600us\n\
               latency_window=20ms\nlatency_percentile=99\nlatency_run=1\ntime_based\nruntime=4\n";
    let stats = run(job);
    assert_eq!(stats.all.runtime_ns / 100_000_000, 40, "it runs to its end");
    let late = stats.all.read.buckets().filter(|(ns, _)| *ns > 600_000);
    let late = late.map(|(_, n)| n).sum::<u64>() as f64 / stats.all.read.count() as f64;
    println!(
        "{:.2} % late, at {:?}",
        late * 100.0,
        stats.reports[0].depth
    );
    assert!(late < 0.03, "{late}");
}

#[test]
fn formula_jobs_of_a_flow_keep_their_weights() {
    for more in ["", "flow_sleep=100\n"] {
        let job = format!(
            "[global]\nrw=randread\nbs=4k\nnorandommap\niodepth=16\nflow_id=7\n{more}\
             [a]\nflow=3\nnumber_ios=30000\n[b]\nflow=2\n[c]\nflow=1\n[free]\nflow=0\n"
        );
        let mut drive = four_dies();
        let stats = try_run(&mut drive, &job, 1, Some(40_000)).unwrap();
        let counts: Vec<u64> = stats.reports.iter().map(|r| r.all_requests()).collect();
        println!("{counts:?}");
        let unit = counts[2] as f64;
        assert!((counts[0] as f64 / unit - 3.0).abs() < 0.05, "{counts:?}");
        assert!((counts[1] as f64 / unit - 2.0).abs() < 0.05, "{counts:?}");
        assert!(counts[3] > 0, "{counts:?}");
    }
}

#[test]
fn formula_the_end_of_one_of_a_flow_sets_the_others_free() {
    let stats = run("[global]\nrw=randread\nbs=4k\nnorandommap\n\
                     [short]\nflow=1\nnumber_ios=100\n[long]\nflow=1\nnumber_ios=1000\n");
    let counts: Vec<u64> = stats.reports.iter().map(|r| r.all_requests()).collect();
    assert_eq!(counts, [100, 1000]);
}

#[test]
fn sequence_exitall_ends_whom_exit_what_names() {
    // `short` ends long before the others would; `later` runs behind a stonewall.
    for (what, together, later) in [
        ("group", true, true),
        ("stonewall", false, true),
        ("all", false, false),
    ] {
        let stats = run(&format!(
            "[global]\nrw=randread\nbs=4k\nnorandommap\nnumber_ios=2000\n\
             [short]\nnumber_ios=10\nexitall\nexit_what={what}\n[same]\n\
             [other]\nnew_group\n[later]\nstonewall\n"
        ));
        let counts: Vec<u64> = stats.reports.iter().map(|r| r.all_requests()).collect();
        assert_eq!(counts[0], 10, "{what}");
        assert!(counts[1] < 20, "{what}: {counts:?}");
        assert_eq!(counts[2] == 2000, together, "{what}: {counts:?}");
        assert_eq!(
            counts[3],
            if later { 2000 } else { 0 },
            "{what}: {counts:?}"
        );
    }
}

#[test]
fn sequence_wait_for_starts_behind_the_named_job() {
    let mut drive = four_dies();
    drive.log_ports();
    let job = "[global]\nbs=4k\nnumber_ios=50\n[writers]\nrw=write\nnumjobs=2\nsize=1m\n\
               [free]\nrw=randtrim\nsize=1m\noffset=8m\n[readers]\nrw=randread\nwait_for=writers\noffset=1g\n";
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    assert_eq!(stats.requests, 200);
    use firstread_core::HostOp;
    use firstread_drive::port_log::PortCallKind;
    let of = |op: HostOp| {
        let log = drive.port_calls().iter();
        log.filter(move |c| matches!(&c.what, PortCallKind::Submitted(s) if s.op == op))
            .map(|c| c.at)
    };
    let (last_write, first_read) = (of(HostOp::Write).max(), of(HostOp::Read).min());
    assert!(first_read > last_write, "{first_read:?} {last_write:?}");
    assert!(of(HostOp::Trim).min() < last_write);
}
