//! What the schemes come to, by age and wear: a table to be reviewed when it changes.

use std::fmt::Write;

use firstread_drive::Drive;
use firstread_testkit::{FOUR_DIES, aged, profile, try_run, voltages};

/// A page at a time, four dies of them in flight.
const JOB: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nnumber_ios=3000\n";
const SCHEMES: &[&str] = &[
    "factory",
    "frozen",
    "ct-qlc",
    "similar-page",
    "block-calibration",
    "sentinel-cells",
    "on-die",
    "retention-model",
    "optimal-group",
    "optimal",
];
/// Hours at 55 °C.
const AGES_H: &[u64] = &[0, 2, 10, 28, 168];

#[test]
fn golden_schemes_by_age_and_wear() {
    let mut out = String::from(
        "scheme            age_h    pe  first_try_%  retries_mean   p99_us  p99.99_us  uncorrectable  background\n",
    );
    let set = |scheme: &str| -> Vec<String> {
        // The drive's own code, which `FOUR_DIES` replaces.
        let own = FOUR_DIES.iter().filter(|s| !s.starts_with("ecc."));
        let mut set: Vec<String> = own.map(|s| s.to_string()).collect();
        set.push(format!("schemes.read_levels={scheme}"));
        set
    };
    let tables = voltages(&profile("dc-qlc-15t", &[]));
    for pe in [300, 2500] {
        for scheme in SCHEMES {
            for &age_h in AGES_H {
                let set = set(scheme);
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                let profile = profile("dc-qlc-15t", &set);
                let mut drive = Drive::new(profile, tables.clone(), &aged(age_h, pe), 1).unwrap();
                let stats = try_run(&mut drive, JOB, 1, None).unwrap();
                let c = &stats.counters;
                let rows: u64 = c.retries.iter().sum();
                let steps: u64 = c.retries.iter().zip(0u64..).map(|(n, k)| n * k).sum();
                let of_rows = |n: u64| n as f64 / rows as f64;
                writeln!(
                    out,
                    "{scheme:<17} {age_h:>5} {pe:>5} {:>12.2} {:>13.3} {:>8} {:>10} {:>14} {:>11}",
                    100.0 * of_rows(c.retries[0]),
                    of_rows(steps),
                    stats.all.read.percentile(99.0).ns / 1000,
                    stats.all.read.percentile(99.99).ns / 1000,
                    c.uncorrectable,
                    drive.counters().background_reads,
                )
                .expect("writing to a string succeeds");
            }
        }
    }
    // 3,000 reads: P99.99 is the slowest of them. Reads that are lost count with the time until their error: where
    // about one in a hundred is lost, P99 lies among walks to the end of the table.
    insta::assert_snapshot!("schemes_by_age_and_wear", out);
}
