//! Unloaded latency and saturated bandwidth against closed form.

use firstread_drive::DriveState;
use firstread_drive::profile::DriveProfile;
use firstread_testkit::{IDEAL, aged, profile, run};

/// tR of the page, its transfer, its decode, and the way there and back.
fn unloaded_ns(p: &DriveProfile, valleys: u64, bytes: u64) -> u64 {
    let mode = p.chip.mode(p.mode).unwrap();
    let sense = mode.sense.pre_ns + mode.sense.eval_ns + mode.sense.disch_ns;
    let codewords = bytes / p.geometry.codeword_bytes as u64;
    let stored = codewords * (p.ecc.codeword_bits as u64).div_ceil(8);
    let link = (bytes * 1_000_000_000).div_ceil(p.link.bytes_per_s);
    p.link.fetch_ns
        + p.firmware.command_ns
        + p.firmware.command_interval_ns
        + p.channel.command_ns
        + mode.setup_ns
        + valleys * sense
        + p.channel.transfer_ns(stored)
        + p.ecc.timing.setup_ns as u64
        + link
        + p.link.completion_ns
}

#[test]
fn formula_unloaded_read_is_the_sum_of_its_steps() {
    for (kib, offset, valleys) in [(4, 0u64, 3), (16, 0, 3), (64, 0, 3), (4, 8 << 20, 4)] {
        let p = profile("ct-qlc", IDEAL);
        let expected = unloaded_ns(&p, valleys, kib << 10);
        let job = format!("[j]\nrw=read\nbs={kib}k\noffset={offset}\nsize={}k\n", kib);
        let stats = run(p, &DriveState::default(), &job, 1);
        assert_eq!(stats.all.read.count(), 1);
        let measured = stats.all.read.mean_ns() as u64;
        assert!(
            measured.abs_diff(expected) <= 2,
            "{kib} KiB at {offset}: {measured} ns, expected {expected} ns"
        );
    }
}

#[test]
fn formula_saturated_reads_fill_the_link() {
    let p = profile("ct-qlc", IDEAL);
    let rate = p.link.bytes_per_s as f64;
    let stats = run(
        p,
        &DriveState::default(),
        "[j]\nrw=randread\nbs=64k\niodepth=256\nnorandommap\n",
        40_000,
    );
    let measured = stats.all.read.bytes as f64 / (stats.all.runtime_ns as f64 * 1e-9);
    assert!(
        (measured / rate - 1.0).abs() < 0.02,
        "{measured:.3e} B/s, link {rate:.3e} B/s"
    );
}

#[test]
fn formula_sustained_writes_run_at_the_fill_rate() {
    let p = profile("ct-qlc", IDEAL);
    let rate = p.fill_rate().bytes_per_s() as f64;
    let state = DriveState {
        fill: 0.0,
        ..DriveState::default()
    };
    // Four wordlines over all dies, behind a write buffer of three.
    let stats = run(p, &state, "[j]\nrw=write\nbs=1m\niodepth=32\n", 400);
    let measured = stats.all.write.bytes as f64 / (stats.all.runtime_ns as f64 * 1e-9);
    assert!(
        measured / rate < 1.35 && measured / rate > 0.8,
        "{measured:.3e} B/s, fill rate {rate:.3e} B/s"
    );
}

#[test]
fn model_reads_return_the_last_version_written() {
    let p = profile("ct-qlc", IDEAL);
    let state = DriveState {
        fill: 0.01,
        ..DriveState::default()
    };
    let job = "[global]\nbs=4k\nsize=64m\niodepth=16\nnorandommap\n\
               [w]\nrw=randrw\nio_size=400m\nbssplit=512/20:4k/50:20k/30\nblockalign=512\nnumber_ios=20000\n\
               [r]\nstonewall\nrw=read\nbs=128k\n\
               [t]\nstonewall\nrw=randtrim\nnumber_ios=2000\n\
               [again]\nstonewall\nrw=randread\nnumber_ios=10000\n";
    // A stale read ends the run with an error.
    let stats = run(p, &state, job, u64::MAX);
    assert!(
        stats.all.write.count() > 5000,
        "{} writes",
        stats.all.write.count()
    );
    assert_eq!(stats.all.trim.count(), 2000);
    assert_eq!(stats.all.uncorrectable, 0);
}

#[test]
fn formula_time_is_charged_whole() {
    let p = profile("ct-qlc", &["schemes.read_levels=factory"]);
    let stats = run(
        p,
        &aged(28, 2500),
        "[j]\nrw=randread\nbs=64k\niodepth=64\nnorandommap\n",
        5_000,
    );
    let share = stats.all.read.tail.slowest(0.01).unwrap();
    assert!((share.share.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        stats.counters.retries[0] < 20_000,
        "an aged drive on factory levels retries"
    );
}
