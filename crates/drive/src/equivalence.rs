//! Tests: work that is batched for speed gives the same results as work done one by one.

use firstread_core::Ns;
use firstread_firmware::policy::AXES;
use firstread_workload::fio;

use crate::profile::{Library, Override, load_drive};
use crate::{CutAt, Drive, DriveState, Host, RunStats, tables};

/// Four dies with blocks of 32 wordlines: a superblock is 16 MiB.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.planes=2",
    "geometry.blocks_per_plane=24",
    "chip.array.layers=4",
    "capacity=256 MiB",
    "chip.failures.factory_bad=0 %",
    // One mechanism is tested at a time: the baseline of each axis where the drive has another scheme.
    "schemes.suspend=none",
    "schemes.wear=none",
    "schemes.read_recovery=none",
    "schemes.gc_victim=fifo",
];

fn drive(set: &[&str]) -> Drive {
    drive_of_age(Ns::from_h(28), set)
}

fn drive_of_age(age: Ns, set: &[&str]) -> Drive {
    let set = SMALL.iter().chain(set);
    let set: Vec<Override> = set.map(|s| Override::parse(s).unwrap()).collect();
    let profile = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES).unwrap();
    let tables = tables::for_drive(&profile).unwrap();
    let state = DriveState {
        age: (age, age),
        pe_cycles: (2_000, 2_000),
        temperature_c: 55.0,
        ..DriveState::default()
    };
    Drive::new(profile, tables, &state, 1).unwrap()
}

fn run(drive: &mut Drive, job: &str) -> RunStats {
    run_until(drive, job, None)
}

/// The same, until the power cut.
fn run_until(drive: &mut Drive, job: &str, cut: Option<CutAt>) -> RunStats {
    let workload = fio::parse("test.fio", job).unwrap();
    let mut host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(2_000)).unwrap();
    cut.into_iter().for_each(|cut| host.cut_power_at(cut));
    host.run(drive, &mut |_| {}).unwrap()
}

/// Every latency of a run with its causes, and when the run ended.
fn seen_by_the_host(stats: &RunStats) -> String {
    format!("{} {:?}", stats.simulated.0, stats.reports)
}

/// Jobs that end, wait, wake and depend on each other in all possible ways.
const JOBS: [&str; 5] = [
    "[a]\nrw=randrw\nbs=4k\niodepth=32\nnorandommap\n[b]\nrw=randtrim\nbs=64k\nrate_iops=2000\n",
    "[a]\nrw=randread\nbs=4k\niodepth=8\nthinktime=70\nnumber_ios=300\nexitall\n\
     [b]\nrw=randread\nbs=16k\niodepth=4\nrate=50m\n",
    "[a]\nrw=randread\nbs=4k\niodepth=16\nruntime=3ms\ntime_based\nramp_time=1ms\n\
     [b]\nstonewall\nrw=randwrite\nbs=16k\niodepth=4\nnumber_ios=200\n\
     [c]\nstartdelay=2ms\nrw=read\nbs=64k\nnumber_ios=100\n",
    "[a]\nrw=randread\nbs=4k\niodepth=16\nflow=2\n[b]\nrw=randwrite\nbs=4k\niodepth=16\nflow=1\n",
    "[a]\nrw=randread\nbs=4k\niodepth=64\nlatency_target=900us\nlatency_window=3ms\n\
     latency_percentile=95\nnorandommap\n",
];

#[test]
fn model_a_host_that_lags_behind_does_what_one_that_does_not_does() {
    let queues: &[&str] = &["queues.count=4", "queues.arbitration=weighted-round-robin"];
    for set in [&[], queues, &["link.max_outstanding=8"]] {
        for job in JOBS {
            let (mut lags, mut does_not) = (drive(set), drive(set));
            assert!(lags.platform.host_lag > Ns::ZERO);
            does_not.platform.host_lag = Ns::ZERO;
            let (lags, does_not) = (run(&mut lags, job), run(&mut does_not, job));
            assert!(
                seen_by_the_host(&lags) == seen_by_the_host(&does_not),
                "{set:?}\n{job}"
            );
            assert!(lags.events <= does_not.events, "{set:?}\n{job}");
        }
    }
}

/// A sense has no event of its own, a decode only if it takes time, and several completions share one event.
#[test]
fn sequence_a_read_is_few_events() {
    let ideal = ["cells=ideal", "schemes.read_levels=factory"];
    for (ecc, each) in [("ecc.setup=100ns", 3), ("ecc.setup=0ns", 2)] {
        let stats = run(
            &mut drive(&[ideal[0], ideal[1], ecc]),
            "[j]\nrw=randread\nbs=4k\niodepth=64\nnorandommap\n",
        );
        // All of the first 64 requests but one come as events.
        let (events, most) = (stats.events, each * stats.requests + 64);
        assert!(events <= most, "{ecc}: {events} events, {most} expected");
    }
}

#[test]
fn model_senses_worked_out_together_are_those_worked_out_alone() {
    let pipelined: &[&str] = &[
        "schemes.retry=pipelined-adaptive",
        "schemes.read_levels=factory",
    ];
    for set in [&[], pipelined] {
        // All jobs but the depth search, which such a drive does not support.
        for job in &JOBS[..4] {
            let (mut together, mut alone) = (drive(set), drive(set));
            alone.platform.hardware.one_by_one = true;
            for run_of in 0..2 {
                let cut = Some(CutAt::Events(400 + 300 * run_of));
                let a = run_until(&mut together, job, cut);
                let b = run_until(&mut alone, job, cut);
                assert!(a.power_cut.is_some(), "{} events", a.events);
                assert!(
                    seen_by_the_host(&a) == seen_by_the_host(&b),
                    "{set:?}\n{job}"
                );
                assert_eq!(a.counters.retries, b.counters.retries);
            }
        }
    }
}

/// A background read that a host read has ended before its outcome was worked out leaves that of the next read under its tag
/// as it is.
#[test]
fn model_senses_that_are_ended_change_no_other() {
    let set = [
        "schemes.read_levels=block-calibration",
        "read_levels.interval=1min",
        "read_levels.background_reads=10000000",
    ];
    let job = "[a]\nrw=randread\nbs=4k\niodepth=2\nnorandommap\nthinktime=100\n";
    let new = || drive_of_age(Ns::ZERO, &set);
    let (mut together, mut alone) = (new(), new());
    alone.platform.hardware.one_by_one = true;
    let (a, b) = (run(&mut together, job), run(&mut alone, job));
    let ended = a.counters.background_reads_given_up;
    assert!(ended > 100, "{ended}");
    assert!(seen_by_the_host(&a) == seen_by_the_host(&b));
    let levels = |drive: &Drive| format!("{:?}", drive.firmware.levels());
    assert_eq!(levels(&together), levels(&alone));
}

#[test]
fn powerloss_after_the_last_completion_is_not_in_the_run() {
    let job = JOBS[0];
    let whole = run(&mut drive(&[]), job);
    let cut_after = |after: Ns| run_until(&mut drive(&[]), job, Some(CutAt::Time(after)));
    let ended = cut_after(whole.simulated);
    assert!(ended.power_cut.is_none());
    assert_eq!(seen_by_the_host(&ended), seen_by_the_host(&whole));
    let cut = cut_after(Ns(whole.simulated.0 - 1));
    let lost = cut.power_cut.expect("the last request was on its way");
    assert!(lost.lost_requests > 0);
    assert_eq!(cut.requests + u64::from(lost.lost_requests), whole.requests);
}
