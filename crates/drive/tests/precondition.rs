//! A drive preconditioned by theory against one that was really overwritten: what its superblocks
//! hold, which of them are cleaned and how full they are then, how many are free, and what the next
//! writes are amplified by.

use firstread_core::{HostOp, Permutation, Stream};
use firstread_drive::{Drive, DriveState, Host, Precondition};
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::gc_victim::AXIS;
use firstread_testkit::{drive, profile, try_run};
use firstread_workload::TraceRecord;
use firstread_workload::stream::{Zipf, hot_page_order};

/// 320 MiB with constant latencies: 160 superblocks of 512 slots.
const SMALL: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=160",
    "capacity=272 MiB",
];

fn small(victim: &str, precondition: Precondition, fill: f64, seed: u64) -> Drive {
    let scheme = format!("schemes.gc_victim={victim}");
    let set: Vec<&str> = SMALL.iter().copied().chain([scheme.as_str()]).collect();
    let state = DriveState {
        fill,
        precondition,
        ..DriveState::default()
    };
    drive(profile("bench-4g", &set), &state, seed)
}

/// Overwrites `times` the capacity by a job of single pages.
fn overwrite(drive: &mut Drive, precondition: Precondition, times: f64, seed: u64) {
    let distribution = match precondition {
        Precondition::Zipf(theta) => format!("random_distribution=zipf:{theta}"),
        _ => String::new(),
    };
    let bytes = (drive.capacity_bytes() as f64 * times) as u64 / PAGE * PAGE;
    let job = format!(
        "[j]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\nio_size={bytes}\n{distribution}\n"
    );
    try_run(drive, &job, seed, None).unwrap();
}

const PAGE: u64 = 4096;
const SLOTS: f64 = 512.0;

/// What the next writes meet.
#[derive(Debug)]
struct Course {
    amplification: f64,
    /// Valid shares of the superblocks cleaned, in rising order.
    victims: Vec<f64>,
    /// Free superblocks, on average.
    free: f64,
    /// The same within the first eighth of the writes.
    amplification_at_first: f64,
}

impl Course {
    /// One standard deviation of the write amplification that so many victims as a `part` of these come
    /// to, as a share of it, if they are drawn at random: it is one over the mean share of their slots
    /// that is not valid.
    fn scatter(&self, part: f64) -> f64 {
        let n = self.victims.len() as f64;
        let mean = self.victims.iter().sum::<f64>() / n;
        let square = self.victims.iter().map(|v| (v - mean).powi(2));
        (square.sum::<f64>() / n).sqrt() / (1.0 - mean) / (n * part).sqrt()
    }

    /// The share of victims that `part` of them are emptier than.
    fn victim(&self, part: f64) -> f64 {
        self.victims[((self.victims.len() - 1) as f64 * part) as usize]
    }
}

/// Overwrites once the capacity, so many pages at a time that hardly two superblocks are cleaned
/// in between, and looks at every superblock after each.
fn watch(drive: &mut Drive, precondition: Precondition, seed: u64, draws: Stream) -> Course {
    const AT_ONCE: u64 = 16;
    let pages = drive.capacity_bytes() / PAGE;
    let zipf = match precondition {
        Precondition::Zipf(theta) => Some(Zipf::new(pages, theta)),
        _ => None,
    };
    let page_of_rank = Permutation::new(pages, hot_page_order(seed));
    let page = |draw: Stream| match &zipf {
        Some(zipf) => page_of_rank.at(zipf.draw(draw)),
        None => draw.below(pages),
    };
    let at_rest = |drive: &Drive| -> Vec<Option<(u64, u32)>> {
        let info = |(_, info): (_, &firstread_firmware::observe::SuperblockInfo)| {
            let rests = info.usage == SuperblockUse::Full && !info.evacuating;
            rests.then_some((info.opened, info.valid_slots))
        };
        drive.blocks().iter().map(info).collect()
    };
    let (mut host, mut moved) = (0, 0);
    let (mut victims, mut free) = (Vec::new(), 0);
    let mut at_first = 0.0;
    let mut before = at_rest(drive);
    let steps = pages / AT_ONCE;
    for step in 0..steps {
        let records = (step * AT_ONCE..(step + 1) * AT_ONCE).map(|i| {
            Ok(TraceRecord {
                time_ns: 0,
                op: HostOp::Write,
                offset_bytes: page(draws.at(i)) * PAGE,
                len_bytes: PAGE as u32,
                device: 0,
                placement: 0,
            })
        });
        let stats = Host::trace("w", records, 64, None).run(drive, &mut |_| {});
        let counters = stats.unwrap().counters;
        host += counters.host_slots_written;
        moved += counters.slots_moved;
        let now = at_rest(drive);
        for (before, now) in before.iter().zip(&now) {
            if let Some((opened, valid)) = before
                && now.is_none_or(|(o, _)| o != *opened)
            {
                victims.push(f64::from(*valid) / SLOTS);
            }
        }
        before = now;
        let infos = drive.blocks().iter();
        free += infos
            .filter(|(_, info)| info.usage == SuperblockUse::Free)
            .count();
        if step == steps / 8 {
            at_first = 1.0 + moved as f64 / host as f64;
        }
    }
    victims.sort_by(f64::total_cmp);
    Course {
        amplification: 1.0 + moved as f64 / host as f64,
        victims,
        free: free as f64 / steps as f64,
        amplification_at_first: at_first,
    }
}

/// Valid shares of the superblocks at rest at the seven inner octiles.
fn octiles(drive: &Drive) -> [f64; 7] {
    let at_rest = drive.blocks().iter().map(|(_, info)| info);
    let at_rest = at_rest.filter(|info| info.usage == SuperblockUse::Full && !info.evacuating);
    let mut valid: Vec<f64> = at_rest
        .map(|info| info.valid_slots as f64 / SLOTS)
        .collect();
    valid.sort_by(f64::total_cmp);
    core::array::from_fn(|i| valid[(valid.len() - 1) * (i + 1) / 8])
}

/// Times of the capacity that the drive is really overwritten.
const OVERWRITES: f64 = 5.0;

/// Compares the two drives: `scatter` is what shares of valid slots may differ by, of superblocks at
/// rest and of victims; `amplifies` what the ratio of the write amplifications of the next
/// capacity's worth of writes may.
fn compare(victim: &str, precondition: Precondition, scatter: f64, amplifies: f64) {
    // The hot pages are the workload's, whatever the chips: `small` leaves the state's workload seed at 1.
    let (chips, seed) = (2, 1);
    let what = format!("{precondition} {victim}, seed {chips}, workload seed {seed}");
    let mut written = small(victim, Precondition::None, 1.0, chips);
    overwrite(&mut written, precondition, OVERWRITES, seed);
    let mut made = small(victim, precondition, 1.0, chips);
    made.audit().unwrap();
    let (a, b) = (octiles(&written), octiles(&made));
    println!("{what}: written {a:.3?}\n  made {b:.3?}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let off = (a - b).abs();
        assert!(
            off < scatter,
            "{what}: octile {i} is {b:.4}, of the written drive {a:.4}"
        );
    }
    let draws = Stream::new(seed).named("next");
    let a = watch(&mut written, precondition, seed, draws);
    let b = watch(&mut made, precondition, seed, draws);
    made.audit().unwrap();
    for part in [0.1, 0.25, 0.5, 0.75, 0.9] {
        let (a, b) = (a.victim(part), b.victim(part));
        println!("  victims at {part}: written {a:.3}, made {b:.3}");
        assert!(
            (a - b).abs() < scatter,
            "{what}: of the victims {part} have fewer valid slots than {b:.4}, of the written drive's {a:.4}"
        );
    }
    println!("  free: written {:.3}, made {:.3}", a.free, b.free);
    assert!((a.free - b.free).abs() < 0.25, "{what}: free superblocks");
    // An eighth is some seventy victims, and the made drive begins with none half moved where the
    // written one has one or two. Of victims drawn at random the mean of so many is drawn too.
    let drawn = |part| match is_drawn(victim) {
        true => 3.0 * a.scatter(part).hypot(b.scatter(part)),
        false => 0.0,
    };
    let at_first = (a.amplification_at_first, b.amplification_at_first);
    let in_all = (a.amplification, b.amplification);
    for (when, (a, b), within) in [
        ("at first", at_first, drawn(0.125).max(2.0 * amplifies)),
        ("in all", in_all, amplifies),
    ] {
        println!("  amplifies {when}: written {a:.3}, made {b:.3}, within {within:.3}");
        assert!(
            (b / a - 1.0).abs() < within,
            "{what}: amplifies {b:.3} {when}, the written drive {a:.3}"
        );
    }
}

/// Whether victims are drawn one by one.
fn is_drawn(victim: &str) -> bool {
    matches!(victim, "random" | "random-guarded")
}

#[test]
fn model_random_is_what_fifo_leaves() {
    compare("fifo", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_greedy_leaves() {
    compare("greedy", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_cost_benefit_leaves() {
    compare("cost-benefit", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_random_is_what_d_choices_leave() {
    compare("d-choices", Precondition::Random, 0.02, 0.02);
}

#[test]
fn model_zipf_is_what_fifo_leaves() {
    compare("fifo", Precondition::Zipf(0.9), 0.05, 0.03);
}

#[test]
fn model_zipf_is_what_greedy_leaves() {
    compare("greedy", Precondition::Zipf(0.9), 0.05, 0.03);
}

#[test]
fn model_zipf_is_what_cost_benefit_leaves() {
    compare("cost-benefit", Precondition::Zipf(0.9), 0.05, 0.05);
}

/// Wider skew, and victims drawn at random: one course of many.
#[test]
#[ignore = "half a minute: cargo test -p firstread-drive --test all precondition -- --ignored"]
fn model_other_skews_and_schemes() {
    for victim in AXIS.schemes.iter().map(|scheme| scheme.name) {
        // What a random victim holds spreads over a fifth of its slots.
        let amplifies = if is_drawn(victim) { 0.06 } else { 0.03 };
        compare(victim, Precondition::Random, 0.04, amplifies);
        compare(victim, Precondition::Zipf(0.6), 0.06, 0.06);
        compare(victim, Precondition::Zipf(1.2), 0.15, 0.10);
    }
}

/// Reads, writes, trims and garbage collection on a preconditioned drive: a stale read ends the run
/// with an error.
#[test]
fn model_every_version_is_found_after_preconditioning() {
    for (victim, precondition, fill) in [
        ("fifo", Precondition::Random, 1.0),
        ("greedy", Precondition::Zipf(0.9), 1.0),
        ("d-choices", Precondition::Random, 0.4),
        ("cost-benefit", Precondition::Zipf(1.1), 0.7),
    ] {
        let mut drive = small(victim, precondition, fill, 3);
        let mapped = |drive: &Drive| (0..272 * 256).filter(|&lpn| drive.is_mapped(lpn)).count();
        assert_eq!(mapped(&drive), (272.0 * 256.0 * fill) as usize);
        let job = "[all]\nrw=read\nbs=64k\niodepth=8\n\
                   [j]\nstonewall\nrw=randrw\nrwmixread=30\nbssplit=4k/70:12k/20:6k/10\nblockalign=512\n\
                   iodepth=32\nnorandommap\nrandom_distribution=zipf:0.9\nio_size=300m\n\
                   [t]\nrw=randtrim\nbs=64k\nnumber_ios=500\n\
                   [again]\nstonewall\nrw=read\nbs=64k\niodepth=8\n";
        let stats = try_run(&mut drive, job, 3, None)
            .unwrap_or_else(|e| panic!("{victim} {precondition}, seed 3: {e}"));
        assert_eq!(stats.all.uncorrectable(), 0);
        assert!(
            stats.counters.slots_moved > 1000,
            "{victim}: {:?}",
            stats.counters
        );
        drive
            .audit()
            .unwrap_or_else(|e| panic!("{victim} {precondition}, seed 3: {e:?}"));
    }
}

/// Of four dies one holds the parity of each wordline: a superblock is smaller, more is moved, and a third is
/// programmed on top. What theory expects counts all of it.
#[test]
fn model_theory_counts_the_parity_of_stripes() {
    let amplification = |recovery: &str| {
        let recovery = format!("schemes.read_recovery={recovery}");
        let dies = ["geometry.dies_per_chip=2", "geometry.blocks_per_plane=80"];
        let more = ["capacity=180 MiB", &recovery];
        let set: Vec<&str> = SMALL.iter().chain(&dies).chain(&more).copied().collect();
        let state = DriveState {
            precondition: Precondition::Random,
            ..DriveState::default()
        };
        let mut drive = drive(profile("bench-4g", &set), &state, 1);
        overwrite_and_report(&mut drive)
    };
    let ((measured, expected), (with_parity, with_expected)) =
        (amplification("none"), amplification("parity"));
    println!(
        "measured {measured:.3}, expected {expected:.3}; with parity {with_parity:.3}, {with_expected:.3}"
    );
    assert!(
        (measured / expected - 1.0).abs() < 0.03,
        "{measured} {expected}"
    );
    assert!(
        (with_parity / with_expected - 1.0).abs() < 0.03,
        "{with_parity} {with_expected}"
    );
    assert!(
        with_parity > 4.0 / 3.0 * measured,
        "{with_parity} {measured}"
    );
}

/// Write amplification of random overwrites, measured and expected.
fn overwrite_and_report(drive: &mut Drive) -> (f64, f64) {
    let job = "[j]\nrw=randwrite\nbs=4k\niodepth=64\nnorandommap\nio_size=400m\n";
    let amplification = try_run(drive, job, 1, None).unwrap().amplification;
    (
        amplification.estimate.unwrap().mean,
        amplification.theory.unwrap(),
    )
}

/// A drive that is as full as it may be is put into a steady state too.
#[test]
fn model_the_largest_capacity_can_be_preconditioned() {
    // Of 160 superblocks of 2 MiB cleaning keeps three, and three are to spare.
    let set: Vec<&str> = SMALL.iter().copied().chain(["capacity=308 MiB"]).collect();
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    drive(profile("bench-4g", &set), &state, 1).audit().unwrap();
}
