use std::sync::Arc;

use firstread_drive::profile::Override;
use firstread_drive::profile::drive::DriveProfile;

use super::live::live;
use super::lost::Losses;
use super::*;
use crate::{Simulation, profile};

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

/// A drive with cells and parity over four dies.
fn with_parity(scheme: &str) -> DriveProfile {
    let set = set(&[
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=2",
        "geometry.blocks_per_plane=64",
        "geometry.wordlines_per_block=2",
        "capacity=40 MiB",
        scheme,
    ]);
    profile("dc-qlc-15t", &set).unwrap()
}

/// A codeword is lost to the host where it fails and one of the stripe's other dies fails, too: of `n` dies there are
/// `n - 1` others. Of `lost` codewords that fail by themselves, a share of `1 - (1 - lost)^(n - 1)`.
#[test]
fn formula_parity_saves_what_no_other_die_of_the_stripe_loses() {
    let profile = with_parity("schemes.read_recovery=parity");
    let others = i32::from(profile.geometry.dies()) - 1;
    assert_eq!(others, 3);
    let user_bits = f64::from(profile.geometry.codeword_bytes) * 8.0;
    let mut losses = Losses::of(&profile, 1).unwrap().unwrap();
    let without = with_parity("schemes.read_recovery=none");
    let mut alone = Losses::of(&without, 1).unwrap().unwrap();
    let mut told = 0;
    for pe_cycles in (2_000..12_000).step_by(500) {
        let worn = || std::iter::once(pe_cycles);
        let rate = losses.rate(Class::CLIENT, worn()).unwrap();
        let lost = rate.hard * user_bits;
        let expected = lost * (1.0 - (1.0 - lost).powi(others));
        if (1e-6..0.5).contains(&lost) {
            told += 1;
            let host = rate.host * user_bits;
            assert!(
                (host / expected - 1.0).abs() < 1e-6,
                "{pe_cycles}: {host} for {expected}"
            );
        }
        let rate = alone.rate(Class::CLIENT, worn()).unwrap();
        assert_eq!(rate.host, rate.hard);
        assert!(
            (rate.hard * user_bits / lost - 1.0).abs() < 1e-9,
            "{pe_cycles}"
        );
    }
    assert!(told > 2, "{told} wears at which the share tells");
}

/// The mean over superblocks is that of each, and a curve between two points is straight in powers of ten.
#[test]
fn formula_the_rate_of_superblocks_is_the_mean_of_theirs() {
    let profile = with_parity("schemes.read_recovery=none");
    let mut losses = Losses::of(&profile, 1).unwrap().unwrap();
    let rated = profile.chip.mode(profile.mode).unwrap().endurance_pe_cycles;
    let step = rated / 40;
    let mut of = |worn: &[u32]| {
        let rate = losses.rate(Class::ENTERPRISE, worn.iter().copied());
        rate.unwrap().hard
    };
    let (low, high) = (of(&[60 * step]), of(&[61 * step]));
    assert!(0.0 < low && low < high);
    assert!((of(&[60 * step, 61 * step]) / ((low + high) / 2.0) - 1.0).abs() < 1e-12);
    let part = f64::from(step / 3) / f64::from(step);
    let between = low * libm::pow(high / low, part);
    assert!((of(&[60 * step + step / 3]) / between - 1.0).abs() < 1e-9);
    assert_eq!(of(&[]), 0.0);
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
                ..short.terms
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

/// A trace keeps its times: pass after pass begins where the one before has ended.
#[test]
fn formula_passes_of_a_trace_follow_one_another() {
    let mut asked = life(WRITES, "full");
    asked.terms.drive_writes_a_day = 1e9;
    let path = std::env::temp_dir().join(format!("firstread-life-{}.csv", std::process::id()));
    let text = "1,W,0,4096,1000000\n1,W,4096,4096,3000000\n1,W,8192,4096,6000000\n";
    std::fs::write(&path, text).unwrap();
    asked.setup.input = Arc::new(Input::open(path.to_str().unwrap()).unwrap());
    let mut load = load::Load::new(&asked, firstread_core::Ns(500)).unwrap();
    let times: Vec<u64> = (0..9).map(|_| load.next().unwrap().0.0).collect();
    let _ = std::fs::remove_file(&path);
    let after = times.iter().map(|t| t - 500).collect::<Vec<_>>();
    assert_eq!(after[1..3], [2_000_000_000, 5_000_000_000]);
    assert_eq!(after[4..6], [7_000_000_000, 10_000_000_000]);
    assert_eq!(after[7..9], [12_000_000_000, 15_000_000_000]);
}

/// Of three bytes moved by wear levelling in ten of flash, at a wear rate of four, three quarters are of the rate: a
/// quarter of the cycles stands for all.
#[test]
fn formula_corrected_amplification_takes_levelling_as_at_a_rate_of_one() {
    let mut lived = lived(&life(WRITES, "bytes=5MB"), 1);
    lived.write_amplification = 2.0;
    lived.moved = [0.5; firstread_firmware::observe::OWNERS];
    lived.moved[firstread_firmware::observe::Owner::Wear as usize] = 0.3;
    assert_eq!(lived.corrected_amplification(), 2.0);
    assert_eq!(lived.corrected(), 1.0);
    lived.rate = 4;
    assert!((lived.corrected_amplification() - 1.775).abs() < 1e-12);
    assert!((lived.corrected() - 2.0 / 1.775).abs() < 1e-12);
    let last = lived.samples.last_mut().unwrap();
    let n = last.blocks.pe_cycles.len();
    last.blocks.retired = vec![false; n];
    last.blocks.pe_cycles = (0..n as u32).collect();
    assert_eq!(mean_wear(last), (n - 1) as f64 / 2.0);
    // A superblock that is retired counts no more.
    last.blocks.retired[n - 1] = true;
    assert_eq!(mean_wear(last), (n - 2) as f64 / 2.0);
}
