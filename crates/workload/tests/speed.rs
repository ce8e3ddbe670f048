//! How long one request takes to make. Run with
//! `cargo test --release -p firstread-workload --test speed -- --ignored --nocapture`.
#![allow(clippy::disallowed_methods)] // A measurement looks at the clock.

use std::hint::black_box;
use std::time::Instant;

use firstread_workload::{JobStream, StandIn, TraceOptions, TraceReader, fio};

#[test]
#[ignore = "a measurement, not a check"]
fn nanoseconds_per_request() {
    let cases = [
        ("sequential read", "rw=read"),
        ("uniform random, no map", "rw=randread norandommap"),
        ("random map", "rw=randread"),
        ("mixed 70/30, random map", "rw=randrw rwmixread=70"),
        (
            "split sizes",
            "rw=randread norandommap bssplit=4k/50:16k/50",
        ),
        ("zipf 0.99", "rw=randread random_distribution=zipf:0.99"),
        ("pareto 0.2", "rw=randread random_distribution=pareto:0.2"),
        ("normal 10", "rw=randread random_distribution=normal:10"),
        ("zoned", "rw=randread random_distribution=zoned:80/20:20/80"),
        ("linear rate", "rw=randread norandommap rate_iops=100000"),
        (
            "poisson rate",
            "rw=randread norandommap rate_iops=100000 rate_process=poisson",
        ),
    ];
    for (name, options) in cases {
        let text = format!(
            "[j]\ntime_based\nruntime=1\n{}\n",
            options.replace(' ', "\n")
        );
        let jobs = fio::parse("speed", &text).expect("a valid job").jobs;
        let mut stream = JobStream::new(&jobs[0], 15_360_000_000_000, 1).expect("it fits");
        let n = 3_000_000u32;
        let (mut best, mut sum) = (f64::MAX, 0u64);
        for _ in 0..3 {
            let start = Instant::now();
            for request in stream.by_ref().take(n as usize) {
                sum = sum.wrapping_add(black_box(request).offset_bytes);
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(n));
        }
        println!("{name:28} {best:6.1} ns a request ({sum:x})");
    }
}

#[test]
#[ignore = "a measurement, not a check"]
fn nanoseconds_per_record() {
    let n = 1_000_000u64;
    let mut ssdsim = String::new();
    let mut msr = String::new();
    let mut vscsi = Vec::new();
    for i in 0..n {
        let lba = i * 7919 % 100_000_000;
        ssdsim += &format!("{} 0 {lba} 16 1\n", i * 1000);
        msr += &format!(
            "{},node,1,Read,{},8192,100\n",
            128_166_000_000_000_000 + i,
            lba * 512
        );
        for part in [1u32, 8192, 1, 0x0100_0028] {
            vscsi.extend(part.to_le_bytes());
        }
        vscsi.extend(lba.to_le_bytes());
        vscsi.extend(i.to_le_bytes());
    }
    for (name, bytes) in [
        ("ssdsim", ssdsim.as_bytes()),
        ("msr", msr.as_bytes()),
        ("vscsi", &vscsi),
    ] {
        let start = Instant::now();
        let reader = TraceReader::open(name, bytes, TraceOptions::default()).expect("a trace");
        let mut sum = 0u64;
        for record in reader {
            sum = sum.wrapping_add(black_box(record.expect("a record")).offset_bytes);
        }
        let ns = start.elapsed().as_secs_f64() * 1e9 / n as f64;
        println!("{name:28} {ns:6.1} ns a record ({sum:x})");
    }
    let row = StandIn::find("synthetic-msr-hm_0").expect("a stand-in");
    let start = Instant::now();
    let stream = row.stream(1 << 40, 1).expect("it fits");
    let sum = stream.fold(0u64, |sum, r| sum.wrapping_add(black_box(r).offset_bytes));
    let ns = start.elapsed().as_secs_f64() * 1e9 / row.requests() as f64;
    println!("{:28} {ns:6.1} ns a record ({sum:x})", row.name);
}
