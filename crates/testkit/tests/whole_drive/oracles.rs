//! No scheme of an axis does better than its oracle, on the same cells and requests. Oracles are bounds, but for that of axis
//! `cell_mode`, which is the best scheme known.

use crate::promotion::FORMULA;
use firstread_core::CellMode;
use firstread_core::params::Role;
use firstread_drive::{DriveState, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{FOUR_DIES, SMALL_BLOCKS, aged, drive, profile, try_run};

/// What a run came to.
#[derive(Clone, Copy, Debug)]
struct Came {
    lost: u64,
    mean_us: f64,
    p99_us: f64,
    erases: u64,
}

fn run(drives: &[&str], set: &[&str], state: &DriveState, seed: u64, job: &str) -> Came {
    let set: Vec<&str> = drives.iter().chain(set).copied().collect();
    let mut drive = drive(profile("dc-qlc-15t", &set), state, seed);
    let stats: RunStats = try_run(&mut drive, job, seed, None).unwrap();
    let read = &stats.all.read;
    Came {
        lost: stats.counters.uncorrectable,
        mean_us: read.mean_ns() / 1e3,
        p99_us: read.percentile(99.0).ns as f64 / 1e3,
        erases: stats.counters.erases,
    }
}

/// Holds what the oracle came to against a scheme. The noise of a sense is another one once senses are numbered
/// differently: it moves a mean by less than a hundredth.
fn check(oracle: &str, bound: Came, scheme: &str, came: Came, seed: u64) {
    let holds = bound.lost <= came.lost
        && bound.mean_us <= 1.01 * came.mean_us
        && bound.p99_us <= 1.02 * came.p99_us;
    assert!(holds, "{oracle} {bound:?}, {scheme} {came:?}, seed {seed}");
}

/// The schemes of an axis that are no oracles.
fn schemes(axis: &str) -> impl Iterator<Item = &'static str> {
    let axis = AXES.iter().find(|a| a.name == axis).expect("an axis");
    let known = axis.schemes.iter().filter(|s| s.role != Role::Oracle);
    known.map(|s| s.name)
}

/// Ages (h at 55 C) and P/E cycles of a drive, its seed and its code: from young to past what levels can do.
const DRIVES: [(u64, u32, u64, &str); 5] = [
    (28, 300, 1, "ecc.code=threshold"),
    (28, 2500, 2, "ecc.code=threshold"),
    (168, 2500, 3, "ecc.code=threshold"),
    (300, 3000, 4, "ecc.code=threshold"),
    (300, 3000, 4, "ecc.code=ldpc-1k"),
];

const READS: &str = "[j]\nrw=randread\nbs=4k\niodepth=2\nnorandommap\nnumber_ios=3000\n";

#[test]
fn model_no_levels_are_better_than_the_oracles() {
    for (age_h, pe_cycles, seed, code) in DRIVES {
        let state = aged(age_h, pe_cycles);
        let of = |levels: &str| {
            let levels = format!("schemes.read_levels={levels}");
            run(FOUR_DIES, &[code, &levels], &state, seed, READS)
        };
        let (page, group) = (of("optimal"), of("optimal-group"));
        println!("{age_h} h, {pe_cycles} P/E, {code}: optimal {page:?}, optimal-group {group:?}");
        // Both end at the valleys of the page: which of the codewords at the edge are lost there, or after how
        // many attempts, is noise, and only the mean tells them apart.
        let noise = (group.lost as f64).sqrt() as u64;
        let group_at_most = Came {
            lost: group.lost + 2 * noise,
            p99_us: f64::INFINITY,
            ..group
        };
        check("optimal", page, "optimal-group", group_at_most, seed);
        for scheme in schemes("read_levels") {
            let came = of(scheme);
            println!("    {scheme} {came:?}");
            check("optimal-group", group, scheme, came, seed);
            check("optimal", page, scheme, came, seed);
        }
    }
}

#[test]
fn model_no_way_to_retry_is_better_than_the_oracle() {
    for (age_h, pe_cycles, seed, code) in DRIVES {
        let state = aged(age_h, pe_cycles);
        for levels in ["factory", "ct-qlc"] {
            let levels = format!("schemes.read_levels={levels}");
            let of = |retry: &str| {
                let retry = format!("schemes.retry={retry}");
                run(FOUR_DIES, &[code, &levels, &retry], &state, seed, READS)
            };
            let bound = of("single-step");
            println!("{age_h} h, {pe_cycles} P/E, {code}, {levels}: {bound:?}");
            for scheme in schemes("retry") {
                let came = of(scheme);
                println!("    {scheme} {came:?}");
                check("single-step", bound, scheme, came, seed);
            }
        }
    }
}

/// Reads behind programs and erases: the axis is about these.
#[test]
fn model_no_way_to_suspend_is_better_for_reads_than_the_oracle() {
    let job = "[j]\nrw=randrw\nrwmixread=50\nbs=16k\niodepth=4\nnorandommap\nnumber_ios=16000\n";
    for seed in 1..=3 {
        let state = aged(28, 300);
        let of = |suspend: &str| {
            let suspend = format!("schemes.suspend={suspend}");
            run(SMALL_BLOCKS, &[&suspend], &state, seed, job)
        };
        let bound = of("free");
        println!("seed {seed}: free {bound:?}");
        for scheme in schemes("suspend") {
            let came = of(scheme);
            println!("    {scheme} {came:?}");
            assert!(
                came.erases > 2,
                "{scheme}: {} erases, seed {seed}",
                came.erases
            );
            check("free", bound, scheme, came, seed);
        }
    }
}

/// A drive of 192 MiB: its settings and its state.
type ModeDrive = (&'static str, &'static [&'static str], DriveState);

/// Holds the oracle of cell modes against `schemes` of its axis: with no more capacity than each of them has lost, it takes
/// no longer. No bound is proven, so this says that none of them is better than the best that is known.
fn check_modes((cells, own, state): &ModeDrive, schemes: &[&str], job: &str, seed: u64) {
    let of = |scheme: &str, lost: &str| {
        let scheme = format!("schemes.cell_mode={scheme}");
        let set = [SMALL_BLOCKS, FORMULA, own, &[&scheme, lost]].concat();
        let mut drive = drive(profile("raro-femu", &set), state, seed);
        let stats = try_run(&mut drive, job, seed, None).expect("a run");
        let all = drive.modes().superblocks.iter().sum::<u32>();
        let slots = drive.profile().geometry.slots_per_superblock(CellMode::Qlc);
        let all = u64::from(all) * u64::from(slots);
        (
            stats.all.read.mean_ns() / 1e3,
            stats.modes.worst.lost_slots,
            all,
        )
    };
    for scheme in schemes {
        let (mean_us, lost, all) = of(scheme, "heat.enabled=false");
        // Rounded down: the oracle never has more than the scheme.
        let permille = format!("cell_mode.lost={} permille", lost * 1000 / all);
        let (best_us, lost_by_oracle, _) = of("clairvoyant", &permille);
        println!(
            "{cells}, {scheme}, seed {seed}: {mean_us:.1} us for {lost} slots, clairvoyant {best_us:.1} for {lost_by_oracle}"
        );
        assert!(lost_by_oracle <= lost);
        assert!(best_us <= mean_us, "{cells}, {scheme}, seed {seed}");
    }
}

/// Reads of which a few pages have most, by RARO's formula, and of cells that are old.
#[test]
fn model_no_modes_for_pages_are_better_than_the_oracle_at_equal_capacity() {
    let job = "[j]\nrw=randread\nbs=16k\nnumjobs=4\nnorandommap\nrandom_distribution=zipf:1.2\nsize=128m\nnumber_ios=15000\n\
        group_reporting\n";
    let drives: [ModeDrive; 3] = [
        ("formula", &[], aged(0, 1_000)),
        ("formula, young", &[], aged(0, 333)),
        ("modelled", &["cells=modelled"], aged(2_160, 833)),
    ];
    let schemes: Vec<&str> = schemes("cell_mode").collect();
    for (of_drive, seed) in drives.iter().flat_map(|d| [(d, 1), (d, 2)]) {
        check_modes(of_drive, &schemes, job, seed);
    }
}

/// `regions` of 32 MiB one after another, each with so many reads of which a few pages have most.
fn moving(regions: u64, reads: u64) -> String {
    let mut job = "[global]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nrandom_distribution=zipf:1.2\nsize=32m\n".to_string();
    for region in 0..regions {
        let offset = 32 * region;
        let io_size = 16 * reads;
        job += &format!("[r{region}]\nstonewall\noffset={offset}m\nio_size={io_size}k\n");
    }
    job
}

/// The pages that are read most change, and they are read so often that their reads disturb them: reads do so four times as
/// soon as by the drive's cells, as if each were four. A plan for the whole load keeps a superblock open for
/// the hot pages of regions to come, and its pages take many retries.
#[test]
fn model_no_modes_for_pages_that_move_are_better_than_the_oracle() {
    let worn: ModeDrive = (
        "modelled, disturbed",
        &["cells=modelled", "chip.disturb.onset=2.5 kreads"],
        aged(2_160, 833),
    );
    check_modes(&worn, &["raro"], &moving(4, 75_000), 1);
}

#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored millions_of_reads"]
fn model_no_modes_are_better_than_the_oracle_over_millions_of_reads() {
    let steady = "[j]\nrw=randread\nbs=16k\nnumjobs=4\nnorandommap\nrandom_distribution=zipf:1.2\nsize=128m\n\
        io_size=6000m\ngroup_reporting\n";
    let drives: [ModeDrive; 3] = [
        ("formula", &[], aged(0, 1_000)),
        ("modelled", &["cells=modelled"], aged(2_160, 833)),
        (
            "modelled, refreshed",
            &["cells=modelled", "schemes.refresh=read-count"],
            aged(2_160, 833),
        ),
    ];
    let schemes: Vec<&str> = schemes("cell_mode").collect();
    for of_drive in &drives {
        for job in [steady, &moving(4, 375_000)] {
            (1..=3).for_each(|seed| check_modes(of_drive, &schemes, job, seed));
        }
    }
}
