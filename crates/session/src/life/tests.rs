use std::sync::Arc;

use firstread_drive::profile::Override;
use firstread_firmware::observe::Owner;

use super::live::live;
use super::*;
use crate::input::TraceArgs;
use crate::{Profile, Simulation, profile};

/// 64 superblocks of 512 KiB.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.planes=2",
    "geometry.page=8 KiB",
    "geometry.wordlines_per_block=16",
    "capacity=26 MiB",
    "chip.modes.slc.endurance=2000 P/E",
    "schemes.gc_victim=greedy",
    "schemes.wear=static",
    "wear.static.spread=100 P/E",
];

const WRITES: &str = "[w]\nrw=randwrite\nbs=64k\nnorandommap\n";

fn set(texts: &[&str]) -> Vec<Override> {
    let read = |text: &&str| Override::parse(text).unwrap();
    texts.iter().map(read).collect()
}

fn life(job: &str, until: &str) -> Life {
    let mut simulation = Simulation {
        drive: "bench-4g".into(),
        set: set(SMALL),
        ..Simulation::of(Input::job_file("load", job.to_owned()).unwrap())
    };
    simulation.state.pe_cycles = (0, 0);
    Life {
        setup: simulation.setup().unwrap(),
        terms: Terms {
            until: until.parse().unwrap(),
            probe_requests: 0,
            ..Terms::default()
        },
    }
}

fn lived(life: &Life, rate: u32) -> Lived {
    live(life, rate, &mut |_| {}).unwrap()
}

/// Wear levelling is told in bytes: a write of half a slot has a slot moved, twice as many bytes as it wrote. What
/// it programmed is no more than what all programs are.
#[test]
fn formula_levelling_is_told_in_bytes() {
    let of = |kib: u32| {
        let job = format!("[w]\nrw=randwrite\nbs={kib}k\nnorandommap\nsize=20%\n");
        let mut life = life(&job, "bytes=400MB");
        let coarse = set(&["geometry.mapping_unit=8 KiB", "wear.static.spread=4 P/E"]);
        life.setup.profile = Profile::read("bench-4g", &[set(SMALL), coarse].concat()).unwrap();
        lived(&life, 1)
    };
    for (kib, slots_a_write) in [(4, 0.5), (8, 1.0), (64, 8.0)] {
        let lived = of(kib);
        let moved = lived.moved[Owner::Wear as usize];
        assert!(moved > 0.0, "{kib}");
        // `moved` is for each slot that a write touches, and a write of 64 KiB touches eight.
        let bytes = moved * f64::max(slots_a_write, 1.0) / slots_a_write;
        let levelling = lived.levelling;
        // Writes that meet in the buffer touch their slot once.
        assert!(
            (levelling / bytes - 1.0).abs() < 0.01,
            "{kib}: {levelling} {bytes}"
        );
        assert!(lived.levelling < lived.write_amplification.unwrap());
    }
}

/// While the write buffer holds much of what was written, nothing is said of write amplification.
#[test]
fn formula_amplification_is_told_once_little_is_buffered() {
    let of = |bytes: &str| lived(&life(WRITES, bytes), 1);
    let short = of("bytes=200kB");
    assert_eq!(short.write_amplification, None);
    let long = of("bytes=100MB");
    assert!(long.samples[0].write_amplification.is_none());
    let told = long.samples.iter().filter_map(|s| s.write_amplification);
    assert!(told.count() > 90 * long.samples.len() / 100);
    assert!(long.write_amplification.unwrap() > 0.9);
}

/// The drive that is probed has whole blocks, and a capacity in proportion; one whose cells have no layers stays as it is.
#[test]
fn formula_a_probe_reads_whole_blocks() {
    let small = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=64",
        "geometry.wordlines_per_block=1",
        "geometry.mapping_unit=16 KiB",
        "capacity=12 MiB",
    ];
    let mut cells = profile("dc-qlc-15t", &set(&small)).unwrap();
    probe::with_whole_blocks(&mut cells);
    assert_eq!(cells.geometry.wordlines_per_block, 1408);
    assert_eq!(cells.capacity_bytes, 1408 * (12 << 20));
    let before = profile("bench-4g", &set(SMALL)).unwrap();
    let mut constant = before.clone();
    probe::with_whole_blocks(&mut constant);
    assert_eq!(constant.geometry, before.geometry);
    assert_eq!(constant.capacity_bytes, before.capacity_bytes);
}

/// Probes of lives on one wordline and on many tell the same latencies: those of the chip's block.
#[test]
fn formula_probes_do_not_hang_on_wordlines() {
    let of = |wordlines: u32| {
        let sets = [
            "geometry.channels=2".to_owned(),
            "geometry.chips_per_channel=1".into(),
            "geometry.dies_per_chip=1".into(),
            "geometry.blocks_per_plane=64".into(),
            "geometry.mapping_unit=16 KiB".into(),
            format!("geometry.wordlines_per_block={wordlines}"),
            format!("capacity={} MiB", 12 * wordlines),
        ];
        let sets = sets.map(|text| Override::parse(&text).unwrap());
        let simulation = Simulation {
            set: sets.to_vec(),
            ..Simulation::of(Input::job_file("load", WRITES.to_owned()).unwrap())
        };
        let setup = simulation.setup().unwrap();
        let blocks = firstread_drive::WornBlocks {
            pe_cycles: vec![2_400; 64],
            retired: vec![false; 64],
            ..Default::default()
        };
        let job = probe::standard(20_000).unwrap().unwrap();
        probe::at_last(&setup, &job, &[sample_of(blocks)])
            .unwrap()
            .unwrap()
            .0
    };
    let (one, many) = (of(1), of(8));
    assert_eq!(one, many);
    assert!(one.p999_ns > one.p99_ns, "{one:?}");
}

fn sample_of(blocks: firstread_drive::WornBlocks) -> Sample {
    Sample {
        host_bytes: 0.0,
        years: 0.0,
        bad_share: 0.0,
        bad_blocks: 0,
        factory_bad_blocks: 0,
        retired: 0,
        write_amplification: None,
        program_ns_per_page: None,
        totals: Totals::default(),
        other_modes_share: None,
        wear: Vec::new(),
        lost: None,
        blocks,
    }
}

/// However long a life is, its samples are as many bytes apart from one another: every other one goes where there are too
/// many, and from then on they are taken half as often. The last one is at the end.
#[test]
fn formula_samples_of_a_long_life_are_evenly_apart() {
    let life = life(WRITES, "bytes=700MB");
    let look = (life.setup.profile.capacity_bytes / 32) as f64;
    let samples = lived(&life, 1).samples;
    // 821 looks: kept are 256 at most, so every fourth.
    let looks = 700e6 / look;
    assert!((512.0..1024.0).contains(&looks), "{looks}");
    assert!(
        (looks / 4.0 - samples.len() as f64).abs() < 3.0,
        "{} samples",
        samples.len()
    );
    for (i, sample) in samples.iter().enumerate().take(samples.len() - 1) {
        let after = sample.host_bytes - 4.0 * look * i as f64;
        assert!(
            (0.0..65_536.0).contains(&after),
            "sample {i}: {after} bytes after its look"
        );
    }
}

/// What the drive says of itself stands for as many commands, bytes and hours as its wear rate makes of those simulated.
#[test]
fn formula_the_smart_log_counts_as_the_wear_rate_says() {
    let mixed = "[m]\nrw=randrw\nrwmixread=25\nbs=32k,64k\nnorandommap\n";
    for rate in [1, 2, 5] {
        let mut life = life(mixed, "bytes=300MB");
        life.terms.drive_writes_a_day = 3.0;
        let lived = lived(&life, rate);
        let (smart, last) = (lived.smart, lived.last());
        let commands = smart.host_read_commands + smart.host_write_commands;
        assert_eq!(commands, lived.requests * u64::from(rate), "rate {rate}");
        let units = |commands: u64, bytes: u64| (commands * bytes).div_ceil(512_000);
        assert_eq!(
            smart.data_units_read,
            units(smart.host_read_commands, 32 << 10)
        );
        assert_eq!(
            smart.data_units_written,
            units(smart.host_write_commands, 64 << 10)
        );
        assert!(smart.data_units_read > 0);
        assert_eq!(last.host_bytes, (smart.host_write_commands << 16) as f64);
        let hours = last.host_bytes / (life.setup.profile.capacity_bytes as f64 * 3.0) * 24.0;
        assert!(
            (smart.power_on_hours as f64 - hours).abs() < 2.0,
            "{hours}: {smart:?}"
        );
        assert!((last.years * 8_760.0 - hours).abs() < 1.0);
        assert_eq!(
            smart.percentage_used,
            (mean_wear(last) / 20.0).round() as u8
        );
    }
}

/// A life at a wear rate is held against the same life at half of it: by its wear where its end is told in bytes or years,
/// and otherwise by the bytes that it was written.
#[test]
fn formula_lives_are_compared_by_what_their_end_leaves_open() {
    let short = life(WRITES, "bytes=5MB");
    let one = lived(&short, 1);
    let with = |pe_cycles: u32, host_bytes: f64| {
        let mut lived = one.clone();
        let last = lived.samples.last_mut().unwrap();
        last.blocks.pe_cycles.fill(pe_cycles);
        last.host_bytes = host_bytes;
        lived
    };
    let rate = Lived {
        rate: 4,
        ..with(1_000, 1e12)
    };
    for (until, pe_cycles, host_bytes, agrees) in [
        ("bytes=1TB", 1_000, 1e12, true),
        ("bytes=1TB", 985, 1e12, true),
        ("bytes=1TB", 975, 1e12, false),
        ("bytes=1TB", 1_030, 1e12, false),
        ("years=5", 975, 1e12, false),
        ("years=5", 1_000, 1e12, true),
        ("full", 1_000, 0.985e12, true),
        ("full", 1_000, 0.975e12, false),
        ("bad=2%", 1_000, 1.03e12, false),
        // Wear is then no result of its own.
        ("full", 975, 1e12, true),
    ] {
        let life = Life {
            terms: Terms {
                until: until.parse().unwrap(),
                wear_rate: 4,
                ..short.terms.clone()
            },
            ..short.clone()
        };
        let half = Lived {
            rate: 2,
            ..with(pe_cycles, host_bytes)
        };
        let compared = life.compare(&rate, &half);
        assert_eq!(
            compared.is_ok(),
            agrees,
            "{until} {pe_cycles} {host_bytes}: {compared:?}"
        );
        if let Err(why) = compared {
            let unit = if until.starts_with("by") || until.starts_with("y") {
                "P/E"
            } else {
                "bytes"
            };
            assert!(why.to_string().contains(unit), "{why}");
        }
    }
}

/// A job of each group takes its turn, a request at a time; a group begins where the one before has ended.
#[test]
fn sequence_jobs_of_a_life_take_turns() {
    let jobs = "[a]\nrw=write\nbs=4k\nnumber_ios=3\n[b]\nrw=write\nbs=8k\noffset=1m\nnumber_ios=2\n\
                [c]\nstonewall\nrw=write\nbs=16k\nnumber_ios=2\n";
    let life = life(jobs, "full");
    let mut load = load::Load::new(&life, firstread_core::Ns::ZERO).unwrap();
    let lengths: Vec<u32> = (0..14)
        .map(|_| load.next().unwrap().1.len_bytes >> 10)
        .collect();
    let pass = [4, 8, 4, 8, 4, 16, 16];
    assert_eq!(lengths, [pass, pass].concat());
}

/// A load that is the trace `text`, of `name`, in a life with `a_day` drive writes a day; its requests from 500 ns on.
fn times_of(name: &str, text: &str, columns: Option<&str>, a_day: f64) -> Vec<u64> {
    let mut asked = life(WRITES, "full");
    asked.terms.drive_writes_a_day = a_day;
    let name = format!("firstread-life-{name}-{}.csv", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let args = TraceArgs {
        columns: columns.map(str::to_owned),
        ..TraceArgs::default()
    };
    asked.setup.input = Arc::new(Input::open_as(path.to_str().unwrap(), &args).unwrap());
    let mut load = load::Load::new(&asked, firstread_core::Ns(500)).unwrap();
    let times = (0..9).map(|_| load.next().unwrap().0.0 - 500).collect();
    let _ = std::fs::remove_file(&path);
    times
}

/// A trace keeps its times, that of its first request at zero among them, however fast it writes: pass after pass begins where
/// the one before has ended.
#[test]
fn formula_passes_of_a_trace_follow_one_another() {
    let text = "1,W,0,4096,1000000\n1,W,4096,4096,3000000\n1,W,8192,4096,6000000\n";
    for a_day in [1.0, 1e9] {
        let passes = [0, 2, 5, 5, 7, 10, 10, 12, 15].map(|s| s * 1_000_000_000);
        assert_eq!(times_of("times", text, None, a_day), passes, "{a_day}");
    }
}

/// A trace that has no times is written as fast as is asked for.
#[test]
fn formula_a_trace_without_times_goes_by_drive_writes() {
    let text = "W,0,13631488\nW,13631488,13631488\n";
    let times = times_of("no-times", text, Some("op,offset:B,size:B"), 2.0);
    // Half of 26 MiB each: a quarter of a day.
    for (i, at) in times.iter().enumerate() {
        let expected = 86_400e9 / 4.0 * i as f64;
        assert!(
            (*at as f64 - expected).abs() < 1e3 * i as f64 + 1.0,
            "{i}: {at}"
        );
    }
}

/// Requests of a job with a rate come as its rate says, the first of them at zero.
#[test]
fn formula_a_job_with_a_rate_has_times_of_its_own() {
    let mut life = life(
        "[w]\nrw=write\nbs=64k\nrate_iops=10\nnumber_ios=3\n",
        "full",
    );
    life.terms.drive_writes_a_day = 1e-3;
    let mut load = load::Load::new(&life, firstread_core::Ns(500)).unwrap();
    let times: Vec<u64> = (0..6).map(|_| load.next().unwrap().0.0 - 500).collect();
    assert_eq!(times, [0, 1, 2, 2, 3, 4].map(|tenth| tenth * 100_000_000));
}

/// What an earlier life has written or worn hides nothing of how far a life and its check are apart.
#[test]
fn formula_a_wear_rate_is_checked_by_what_a_life_adds() {
    for until in ["full", "bytes=1TB"] {
        let mut life = life(WRITES, "bytes=5MB");
        let short = lived(&life, 1);
        life.terms.until = until.parse().unwrap();
        let ended = |added: f64, wear: u32| {
            let mut lived = short.clone();
            let (first, last) = (lived.samples[0].clone(), lived.samples.last_mut().unwrap());
            last.host_bytes = first.host_bytes + 3e9 + added;
            for pe_cycles in &mut last.blocks.pe_cycles {
                *pe_cycles = 1_000 + wear;
            }
            lived.samples[0].host_bytes += 3e9;
            for pe_cycles in &mut lived.samples[0].blocks.pe_cycles {
                *pe_cycles = 1_000;
            }
            lived
        };
        let refused = life.compare(&ended(1e6, 100), &ended(1.05e6, 105));
        assert!(refused.is_err(), "{until}");
        let near = life.compare(&ended(1e6, 100), &ended(1.01e6, 101));
        assert!(near.is_ok(), "{until}");
    }
}

/// Of two bytes programmed for each of the host, 0.3 of wear levelling: at a wear rate of four three quarters of these are of
/// the rate, since a quarter of the cycles stands for all.
#[test]
fn formula_corrected_amplification_takes_levelling_as_at_a_rate_of_one() {
    let mut lived = lived(&life(WRITES, "bytes=5MB"), 1);
    lived.write_amplification = Some(2.0);
    lived.levelling = 0.3;
    assert_eq!(lived.corrected_amplification(), Some(2.0));
    assert_eq!(lived.corrected(), 1.0);
    lived.rate = 4;
    let corrected = lived.corrected_amplification().unwrap();
    assert!((corrected - 1.775).abs() < 1e-12);
    assert!((lived.corrected() - 2.0 / 1.775).abs() < 1e-12);
    // What an earlier life has written was not written at this rate.
    lived.samples[0].host_bytes = 100.0;
    assert!((lived.corrected_bytes(300.0) - (100.0 + 400.0 / 1.775)).abs() < 1e-9);
    lived.write_amplification = None;
    assert_eq!(lived.corrected(), 1.0);
    let last = lived.samples.last_mut().unwrap();
    let n = last.blocks.pe_cycles.len();
    last.blocks.retired = vec![false; n];
    last.blocks.pe_cycles = (0..n as u32).collect();
    assert_eq!(mean_wear(last), (n - 1) as f64 / 2.0);
    // A superblock that is retired counts no more.
    last.blocks.retired[n - 1] = true;
    assert_eq!(mean_wear(last), (n - 2) as f64 / 2.0);
}

/// A life has no log of the host: one that is asked for is refused, of the load and of a probe.
#[test]
fn golden_a_life_has_no_log_of_the_host() {
    let log = |job: &str| format!("[global]\n; firstread: host_log=10m\n{job}");
    let refused = |life: &Life| life.check().unwrap_err().to_string();
    let why = "a life has no log of the host, and the drive would be written as if `host_log` were not there: take it out of the job file";
    let mut of_load = life(&log(WRITES), "bytes=1GB");
    assert_eq!(refused(&of_load), format!("load: {why}"));
    assert!(of_load.live(&mut |_| {}).is_err());
    of_load = life(WRITES, "bytes=1GB");
    assert!(of_load.check().is_ok());
    let probe = log("[p]\nrw=randrw\nbs=4k\nnorandommap\n");
    of_load.terms.probe_job = Some(ProbeJob {
        input: Arc::new(Input::job_file("probe", probe).unwrap()),
        requests: 100,
        precondition: firstread_drive::Precondition::None,
    });
    assert_eq!(refused(&of_load), format!("--probe probe: {why}"));
}
