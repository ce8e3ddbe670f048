//! Short senses under load: what a step costs where reads wait for the decoder.

use firstread_core::Ns;
use firstread_drive::DriveState;
use firstread_testkit::{drive, profile, try_run};

/// A drive, and the state that its reads are retried in.
struct Case {
    drive: &'static str,
    geometry: &'static [&'static str],
    set: &'static [&'static str],
    age_h: u64,
    pe_cycles: u32,
    bs: &'static str,
}

/// Eight dies on two channels.
const GEOMETRY: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=4",
    "geometry.dies_per_chip=1",
    "schemes.read_levels=factory",
    "schemes.read_recovery=none",
];

/// TLC whose walks are long and end near the edge of the code, TLC whose walks are short, and QLC whose multi-plane pages
/// keep a decoder for longer than a sense takes.
const CASES: [Case; 3] = [
    Case {
        drive: "tlc-48l",
        geometry: GEOMETRY,
        set: &["capacity=4 GiB"],
        age_h: 48,
        pe_cycles: 1000,
        bs: "16k",
    },
    Case {
        drive: "tlc-48l",
        geometry: GEOMETRY,
        set: &["capacity=4 GiB"],
        age_h: 24,
        pe_cycles: 0,
        bs: "64k",
    },
    Case {
        drive: "dc-qlc-15t",
        geometry: GEOMETRY,
        set: &["capacity=4 GiB", "history.earlier_fill=none"],
        age_h: 28,
        pe_cycles: 2500,
        bs: "64k",
    },
];

/// Mean latency of random reads (us).
fn mean_us(case: &Case, engines: u32, depth: u32, retry: &str, seed: u64, reads: u64) -> f64 {
    let engines = format!("ecc.engines_per_channel={engines}");
    let retry = format!("schemes.retry={retry}");
    let set: Vec<&str> = [case.geometry, case.set, &[&engines, &retry]].concat();
    let age = Ns::from_h(case.age_h);
    let state = DriveState {
        age: (age, age),
        pe_cycles: (case.pe_cycles, case.pe_cycles),
        temperature_c: 55.0,
        ..DriveState::default()
    };
    let mut drive = drive(profile(case.drive, &set), &state, seed);
    let bs = case.bs;
    let job = format!("[j]\nrw=randread\nbs={bs}\niodepth={depth}\nnorandommap\n");
    let stats = try_run(&mut drive, &job, seed, Some(reads)).unwrap();
    stats.all.read.mean_ns() / 1e3
}

/// What short senses add to the mean latency, over `drives` drives, each against itself: the mean of the shares, and
/// how far from it the true mean may be (95 %, Student's t).
fn loss(case: &Case, engines: u32, depth: u32, of: [&str; 2], drives: u64, reads: u64) -> [f64; 2] {
    let share = |seed| {
        let [plain, short] = of.map(|retry| mean_us(case, engines, depth, retry, seed, reads));
        short / plain - 1.0
    };
    let shares: Vec<f64> = (1..=drives).map(share).collect();
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = match drives {
        3 => 4.303,
        5 => 2.776,
        _ => unreachable!("a quantile that is known here"),
    };
    [mean, t * (variance / n).sqrt()]
}

const PAIRS: [[&str; 2]; 2] = [
    ["sequential", "adaptive"],
    ["pipelined", "pipelined-adaptive"],
];

/// What short senses cost at most without pipelined steps, where two reads share one decoder: a sense that is shorter is hidden behind the
/// decoding of the other read there, and the price of a step foresees that in part. It was 1.25 ± 0.31 % over 16 other drives.
const ONE_DECODER_FOR_TWO: f64 = 0.02;

/// Short senses never cost more than drives differ, whatever reads wait for. Where they wait for nothing they gain. Without pipelined steps
/// they may cost `unpipelined` more, a share.
fn check(engines: &[u32], depths: &[u32], drives: u64, reads: u64, unpipelined: f64) {
    let mut losses = Vec::new();
    for case in &CASES {
        for &engines in engines {
            for &depth in depths {
                for of in PAIRS {
                    let [mean, within] = loss(case, engines, depth, of, drives, reads);
                    let place = format!(
                        "{} {} {} h, {} P/E, {engines} decoders, QD{depth}, {}",
                        case.drive, case.bs, case.age_h, case.pe_cycles, of[1]
                    );
                    println!("{place}: {:+.2} ± {:.2} %", 100.0 * mean, 100.0 * within);
                    let most = match of[0] {
                        "sequential" => unpipelined,
                        _ => 0.0,
                    };
                    if mean > within + most {
                        losses.push(place);
                    }
                }
            }
        }
    }
    assert!(losses.is_empty(), "{losses:#?}");
}

#[test]
fn model_short_senses_cost_nothing_where_reads_wait_for_the_decoder() {
    check(&[1, 4], &[1, 32], 3, 1_500, 0.0);
}

#[test]
#[ignore = "takes minutes: one to eight decoders, QD1 to QD128"]
fn model_short_senses_cost_nothing_at_any_depth() {
    check(
        &[1, 2, 4, 8],
        &[1, 2, 8, 32, 128],
        5,
        8_000,
        ONE_DECODER_FOR_TWO,
    );
}

/// On levels that are tracked hardly any read is retried, and one that misses its entry walks the whole table: short senses that
/// make reads miss are given up. Without that reads of these drives take a hundredth longer.
#[test]
fn model_short_senses_are_given_up_on_tracked_levels() {
    let case = Case {
        drive: "dc-qlc-15t",
        geometry: &[],
        // A read that walks keeps its die, so others wait for it.
        set: &[
            "schemes.read_recovery=none",
            "retry.pipelined.hold=255 steps",
            "retry.pipelined-adaptive.hold=255 steps",
        ],
        age_h: 28,
        pe_cycles: 2500,
        bs: "64k",
    };
    let seeds = [1, 2, 4, 5];
    let shares = seeds.map(|seed| {
        let [plain, short] = PAIRS[1].map(|retry| mean_us(&case, 4, 32, retry, seed, 10_000));
        short / plain - 1.0
    });
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    println!("{shares:.4?}");
    assert!(mean < 0.003, "seeds {seeds:?}: {shares:.4?}");
}
