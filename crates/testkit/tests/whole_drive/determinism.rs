//! Whether a run is a function of its version, configuration and seed.

use firstread_testkit::{FOUR_DIES, aged, digest_of, drive, profile, try_run};

const JOB: &str = "[global]\niodepth=16\nnorandommap\nnumber_ios=1500\n\
                   [a]\nrw=randrw\nbs=4k\nsize=1g\nrandom_distribution=zipf:1.1\n\
                   [b]\nrw=randread\nbsrange=4k-128k\noffset=1g\n";

/// Digest of a run, and all that the firmware logged.
fn run(scheme: &str, seed: u64) -> (u64, String) {
    let scheme = format!("schemes.read_levels={scheme}");
    let set: Vec<&str> = FOUR_DIES.iter().copied().chain([scheme.as_str()]).collect();
    let mut drive = drive(profile("dc-qlc-15t", &set), &aged(28, 2500), seed);
    let stats = try_run(&mut drive, JOB, seed, None).unwrap();
    let buckets: Vec<_> = stats.all.read.buckets().collect();
    (
        digest_of(&stats),
        format!("{:?} {:?} {buckets:?}", stats.counters, drive.log()),
    )
}

#[test]
fn same_seed_same_run_other_seed_another() {
    for scheme in ["factory", "ct-qlc", "optimal-group"] {
        let first = run(scheme, 7);
        assert_eq!(first, run(scheme, 7), "{scheme}: the same seed");
        assert_ne!(first.0, run(scheme, 8).0, "{scheme}: another seed");
    }
}
