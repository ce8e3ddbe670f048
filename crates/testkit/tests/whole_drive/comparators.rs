//! What the other ways to keep read levels come to on a whole drive.

use firstread_core::HostOp;
use firstread_drive::RunStats;
use firstread_testkit::{FOUR_DIES, aged, drive, play, profile, try_run};

/// Reads of a page, four at a time, 28 h at 55 °C after the fill: the run, and background reads.
fn run(scheme: &str, set: &[&str]) -> (RunStats, u64) {
    let scheme = format!("schemes.read_levels={scheme}");
    let own = [scheme.as_str()];
    let set: Vec<&str> = FOUR_DIES.iter().chain(&own).chain(set).copied().collect();
    let mut drive = drive(profile("dc-qlc-15t", &set), &aged(28, 300), 1);
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nnumber_ios=4000\n";
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    (stats, drive.counters().background_reads)
}

/// Share of rows read at once, and mean retries.
fn reads((stats, _): &(RunStats, u64)) -> (f64, f64) {
    let retries = &stats.counters.retries;
    let rows: u64 = retries.iter().sum();
    let steps: u64 = retries.iter().zip(0u64..).map(|(n, k)| n * k).sum();
    (retries[0] as f64 / rows as f64, steps as f64 / rows as f64)
}

/// Who knows more retries less: nothing, what once worked for pages alike, the cells of the very page
/// after a failure, levels kept true in the background.
#[test]
fn retries_fall_with_what_a_scheme_knows() {
    let schemes = [
        "factory",
        "similar-page",
        "sentinel-cells",
        "block-calibration",
    ];
    let budget: &[&str] = &["read_levels.background_reads=2000"];
    let runs = schemes.map(|scheme| match scheme {
        "block-calibration" => run(scheme, budget),
        _ => run(scheme, &[]),
    });
    let all = [0, 1, 2, 3].map(|i| reads(&runs[i]));
    for (scheme, (first, retries)) in schemes.iter().zip(&all) {
        println!("{scheme}: {first:.3} at once, {retries:.3} retries");
    }
    let [factory, similar, sentinel, block] = all.map(|r| r.1);
    assert!(similar < 0.9 * factory && sentinel < 0.5 * similar && block < 0.1 * sentinel);
    // One retry is what an inference takes.
    assert!((1.0..1.3).contains(&(sentinel / (1.0 - all[2].0))));
    // The budget of 28 h, to the read; spare cells cost none.
    assert_eq!(runs.map(|r| r.1), [0, 11_200, 0, 11_200]);
}

/// What the chip finds itself reads nearly every page that failed, in one search.
#[test]
fn model_a_search_of_the_chip_takes_one_retry() {
    let (first, retries) = reads(&run("on-die", &[]));
    let (factory, _) = reads(&run("factory", &[]));
    println!("{first:.3} at once, {retries:.3} retries");
    // Both begin with the default, with noise of their own.
    assert!((first - factory).abs() < 0.005, "{first}, {factory}");
    let after_failure = retries / (1.0 - first);
    assert!((1.0..1.05).contains(&after_failure), "{after_failure}");
    let (at_once, _) = reads(&run("on-die", &["read_levels.first=on-die"]));
    assert!(at_once > 0.95, "{at_once}");
}

/// A search takes its share of tR longer than a plain sense, and a read of it nothing else.
#[test]
fn formula_a_search_takes_a_multiple_of_the_sense() {
    let latency = |set: &[&str]| {
        let set: Vec<&str> = FOUR_DIES.iter().chain(set).copied().collect();
        let mut drive = drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1);
        let stats = play(&mut drive, &[(0, HostOp::Read, 0, 4 << 10)]).unwrap();
        let profile = drive.profile();
        let mode = profile.chip.mode(profile.mode).unwrap();
        (stats.all.read.mean_ns(), mode.read_ns(0) as f64)
    };
    let (plain, sense) = latency(&["schemes.read_levels=factory"]);
    for percent in [120, 200, 350] {
        let share = format!("read_levels.on_die_sense={percent}");
        let own = [
            "schemes.read_levels=on-die",
            "read_levels.first=on-die",
            &share,
        ];
        let (searched, _) = latency(&own);
        let more = sense * f64::from(percent - 100) / 100.0;
        assert!(
            (searched - plain - more).abs() <= 2.0,
            "{plain} and {searched} ns, {more:.0} more"
        );
    }
}

/// Reads that had to walk teach those that follow, of other superblocks and layers too.
#[test]
fn model_a_regression_spares_most_retries() {
    let (first, retries) = reads(&run("retention-model", &[]));
    let (factory, walked) = reads(&run("factory", &[]));
    println!("{first:.3} at once, {retries:.3} retries; factory {factory:.3}, {walked:.3}");
    assert!(first > 0.5 && retries < 0.5 * walked);
}

/// A superblock's first reads teach those that follow.
#[test]
fn kept_inferences_spare_the_first_retry() {
    let kept = reads(&run("sentinel-cells", &["read_levels.start=superblock"]));
    let published = reads(&run("sentinel-cells", &[]));
    println!(
        "at once: {:.3} as published, {:.3} kept",
        published.0, kept.0
    );
    assert!(published.0 < 0.1 && kept.0 > 0.8);
}

/// Spare cells are transferred with their page: 37 bytes of it more, and nothing else differs.
#[test]
fn formula_spare_cells_cost_their_transfer() {
    let latency = |scheme: &str, bytes: u32| {
        let scheme = format!("schemes.read_levels={scheme}");
        let set: Vec<&str> = FOUR_DIES.iter().copied().chain([scheme.as_str()]).collect();
        let profile = profile("dc-qlc-15t", &set);
        let ns_per_byte = 1e3 / profile.channel.rate_mt_per_s as f64;
        let mut drive = drive(profile, &aged(0, 0), 1);
        let stats = play(&mut drive, &[(0, HostOp::Read, 0, bytes)]).unwrap();
        (stats.all.read.mean_ns(), ns_per_byte)
    };
    for (bytes, planes) in [(4 << 10, 1), (64 << 10, 4)] {
        let ((plain, ns_per_byte), (spare, _)) =
            (latency("factory", bytes), latency("sentinel-cells", bytes));
        let more = planes as f64 * 37.0 * ns_per_byte;
        assert!(
            (spare - plain - more).abs() <= 2.0,
            "{plain} and {spare} ns, {more:.1} more"
        );
    }
}
