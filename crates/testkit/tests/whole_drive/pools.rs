//! Pools that the host writes to, under loads that change: how long requests take while pools grow and shrink, and what a cache that
//! was erased ahead gives.

use firstread_core::{CellMode, HostOp};
use firstread_drive::{Drive, DriveState, Precondition};
use firstread_testkit::profile;

use crate::paced::{PROGRAMS, Request, further_programs, queues_ns, requests_of};
use crate::partial_writes::SKEWED;

/// 160 superblocks of 2 MiB on two dies of QLC. A cycle in SLC mode damages little, so that pools are worth having.
const DRIVE: &[&str] = &[
    "cells=ideal",
    "chip.failures.grown_bad=0 %",
    "chip.failures.factory_bad=0 %",
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.mapping_unit=4 KiB",
    "chip.array.layers=4",
    "geometry.planes=1",
    "geometry.blocks_per_plane=160",
    "firmware.cell_modes=all",
    "chip.modes.slc.cycle_damage=0.015 x",
    "heat.enabled=true",
    "schemes.wear=none",
    "schemes.suspend=none",
    "schemes.refresh=none",
];

/// Capacities that are 20, 50 and 80 % of a logical capacity with 25 % of over-provisioning.
const USED: [(u32, &str); 3] = [(20, "51 MiB"), (50, "128 MiB"), (80, "204 MiB")];

/// Reads of a drive with a pool may take so many times as long as with `cell_mode=fixed` (P99.99). Erases for the pool and its moves come on
/// top of those of cleaning, and a read waits for one of them at most, as it does for those of cleaning.
const MOST_READS: f64 = 2.0;

/// Wordlines over all dies that the write buffer of the pool holds, of one slot of a page each.
const POOL_WORDLINES: u32 = 3;

/// Writes in flight of loads that have a rate, and of bursts.
const PACED: u64 = 4;
const BURST: u64 = 32;

/// An hour of a load: its job, and the writes that it has in flight at most.
#[derive(Clone, Copy)]
struct Hour {
    what: &'static str,
    job: &'static str,
    depth: u64,
    /// Requests each second; none of a burst, which is `requests` as fast as the drive takes them, at the end of its hour.
    rate: Option<u64>,
    requests: u64,
}

/// Hours of unlike loads. Those with a rate last for an hour by their number of requests.
fn hours(per_s: u64, burst: u64) -> Vec<Hour> {
    let paced = |what, job| Hour {
        what,
        job,
        depth: PACED,
        rate: Some(per_s),
        requests: 3_600 * per_s,
    };
    let burst = |what, job| Hour {
        what,
        job,
        depth: BURST,
        rate: None,
        requests: burst,
    };
    vec![
        paced(
            "skewed writes",
            "rw=randwrite\nrandom_distribution=zipf:1.2\n",
        ),
        paced("uniform writes", "rw=randwrite\n"),
        burst("a burst", "rw=randwrite\nrandom_distribution=zipf:1.1\n"),
        paced(
            "reads and writes",
            "rw=randrw\nrwmixread=50\nrandom_distribution=zipf:1.1\n",
        ),
        // The drive rests for the whole hour before it.
        burst("a burst of uniform writes after a rest", "rw=randwrite\n"),
        paced("writes to a tenth", "rw=randwrite\nsize=10%\n"),
        burst(
            "reads beside a burst",
            "rw=randrw\nrwmixread=50\nrandom_distribution=zipf:1.1\n",
        ),
        paced(
            "skewed writes elsewhere",
            "rw=randwrite\nrandom_distribution=zipf:1.2\noffset=50%\nsize=40%\n",
        ),
    ]
}

/// What an hour came to.
struct Came {
    hour: Hour,
    writes: Vec<Request>,
    reads: Vec<Request>,
    /// Superblocks in SLC mode at its end.
    in_slc: u32,
}

/// Runs `hours` on a drive with `schemes`, filled and overwritten, of `capacity`.
fn lived(schemes: &[&str], capacity: &str, hours: &[Hour], seed: u64) -> (Drive, Vec<Came>) {
    let capacity = format!("capacity={capacity}");
    let set = [DRIVE, &[&capacity], schemes].concat();
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    let mut drive = firstread_testkit::drive(profile("ibm-qlc", &set), &state, seed);
    let mut came = Vec::new();
    for (nth, hour) in (0..).zip(hours) {
        let pace = match hour.rate {
            Some(rate) => format!("rate_iops={rate}\nrate_process=poisson\n"),
            None => "startdelay=3500s\n".into(),
        };
        // The rate of a job with reads is one for each direction.
        let pace = match hour.rate {
            Some(rate) if hour.job.contains("rwmixread") => {
                pace.replace(&format!("={rate}\n"), &format!("={}\n", rate / 2))
            }
            _ => pace,
        };
        let job = format!(
            "[h]\nbs=4k\nnorandommap\niodepth={}\nnumber_ios={}\nio_size=64g\n{pace}{}",
            hour.depth, hour.requests, hour.job
        );
        drive.log_ports();
        let stats = firstread_testkit::try_run(&mut drive, &job, 100 * seed + nth, None)
            .unwrap_or_else(|e| panic!("{schemes:?} {capacity}, seed {seed}, {}: {e}", hour.what));
        assert!(
            stats.simulated.0 > 3_000_000_000_000,
            "{}: {:?}",
            hour.what,
            stats.simulated
        );
        came.push(Came {
            hour: *hour,
            writes: requests_of(&drive, HostOp::Write),
            reads: requests_of(&drive, HostOp::Read),
            in_slc: drive.modes().superblocks[CellMode::Slc.index()],
        });
    }
    drive
        .audit()
        .unwrap_or_else(|e| panic!("{schemes:?} {capacity}, seed {seed}: {e:?}"));
    (drive, came)
}

fn took_ns((_, from, to): &Request) -> u64 {
    to.since(*from).0
}

/// The latency that all but one in 10,000 of the reads of `came` do not exceed (ns).
fn reads_p9999_ns(came: &[Came]) -> u64 {
    let reads = came.iter().flat_map(|hour| &hour.reads);
    let mut reads: Vec<u64> = reads.map(took_ns).collect();
    reads.sort_unstable();
    reads[reads.len() - 1 - reads.len() / 10_000]
}

/// What breaks the bound on the longest write in `came` on `drive`: the queue at the rate of the superblock that the host fills, `SKEWED` times,
/// an erase and some programs. Where the load has a rate of its own, what the queue takes is that of the slowest superblock
/// of a burst. The write buffer of the pool is smaller than a deep queue, so a write may wait until the buffer has been programmed several times.
/// Each time the buffer waits in the queue of a die behind those programs.
fn beyond_bound(drive: &Drive, came: &[Came], what: &str) -> Vec<String> {
    let profile = drive.profile();
    let mode = profile.mode;
    let erase_ns = profile.chip.mode(mode).unwrap().erase_ns;
    let program_ns = drive.medium().program_ns(mode).unwrap();
    let programs = PROGRAMS + further_programs(drive);
    let pool = profile.geometry.slots_per_stripe() * POOL_WORDLINES;
    let beside = |depth: u64| erase_ns + (1 + depth / u64::from(pool)) * programs * program_ns;
    let superblock = u64::from(profile.geometry.slots_per_superblock(mode));
    let slot_bytes = u64::from(profile.geometry.slot_bytes);
    let of_bursts = came.iter().filter(|hour| hour.hour.rate.is_none());
    let of_bursts = of_bursts.map(|hour| queues_ns(&hour.writes, BURST, superblock, slot_bytes));
    let of_bursts: Vec<Vec<u64>> = of_bursts.collect();
    let slowest = *of_bursts
        .iter()
        .flatten()
        .max()
        .expect("bursts fill superblocks");
    let mut of_bursts = of_bursts.into_iter();
    let mut beyond = Vec::new();
    for hour in came {
        let queues = match hour.hour.rate {
            Some(_) => vec![slowest * hour.hour.depth / BURST; hour.writes.len()],
            None => of_bursts.next().expect("one a burst"),
        };
        let longest = hour.writes.iter().map(took_ns).max().unwrap_or(0);
        println!(
            "{what}, {}: {} superblocks in SLC mode, longest write {:.1} ms",
            hour.hour.what,
            hour.in_slc,
            longest as f64 / 1e6
        );
        for (nth, (write, queue_ns)) in hour.writes.iter().zip(queues).enumerate() {
            let bound = (SKEWED * queue_ns as f64) as u64 + beside(hour.hour.depth);
            if took_ns(write) > bound {
                beyond.push(format!(
                    "{what}, {}: write {nth} took {} ns, bound {bound} ns with a queue of {queue_ns} ns",
                    hour.hour.what,
                    took_ns(write)
                ));
                break;
            }
        }
    }
    beyond
}

/// Schemes with a pool that changes while the load does.
const POOLS: &[(&str, &[&str])] = &[
    ("alone", &["schemes.cell_mode=hybrid-pools"]),
    (
        "with promotion",
        &[
            "schemes.cell_mode=hybrid-pools",
            "cell_mode.promote=hotness",
        ],
    ),
    (
        "with suspended programs",
        &[
            "schemes.cell_mode=hybrid-pools",
            "schemes.suspend=program-erase",
        ],
    ),
    (
        "with RARO's promotion",
        &[
            "schemes.cell_mode=hybrid-pools",
            "cell_mode.promote=raro",
            "cell_mode.trigger=slow",
        ],
    ),
];

/// Whether `hours` keep the bounds with each of `pools` on drives of which so much is used, and whether the pools change.
fn keep_bounds(
    pools: &[(&str, &[&str])],
    used: &[(u32, &str)],
    hours: &[Hour],
    seeds: std::ops::Range<u64>,
) {
    let (mut beyond, mut changes) = (Vec::new(), 0);
    for &(percent, capacity) in used {
        for seed in seeds.clone() {
            for &(name, schemes) in pools {
                let what = format!("{name}, {percent} % used, seed {seed}");
                let mut null = schemes.to_vec();
                null.retain(|word| !word.contains("cell_mode"));
                let (_, without) = lived(&null, capacity, hours, seed);
                let (drive, with) = lived(schemes, capacity, hours, seed);
                beyond.extend(beyond_bound(&drive, &with, &what));
                let [null_ns, ns] = [&without, &with].map(|came| reads_p9999_ns(came));
                println!("{what}: reads P99.99 {ns} ns, {null_ns} ns without a pool");
                if ns as f64 > MOST_READS * null_ns as f64 {
                    beyond.push(format!(
                        "{what}: reads P99.99 {ns} ns, {null_ns} ns without"
                    ));
                }
                let sizes = with.windows(2);
                changes += sizes
                    .filter(|pair| pair[0].in_slc.abs_diff(pair[1].in_slc) > 1)
                    .count();
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
    assert!(changes > 0, "no pool has changed its size");
}

/// While the load changes each simulated hour and pools change with it, no write takes longer than the bound that every drive keeps, and
/// reads take no more than `MOST_READS` times as long as without a pool.
#[test]
fn formula_requests_are_bounded_while_pools_change_with_the_load() {
    keep_bounds(POOLS, &USED[1..2], &hours(12, 9_000), 1..2);
    keep_bounds(&POOLS[..1], &[USED[0], USED[2]], &hours(12, 9_000), 2..3);
}

/// The same for more requests, all fill levels and three drives.
#[test]
#[ignore = "many minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored hours_of_unlike_loads"]
fn formula_requests_are_bounded_over_hours_of_unlike_loads() {
    keep_bounds(POOLS, &USED, &hours(30, 30_000), 1..4);
}

/// MiB.
const MIB: u64 = 1 << 20;

/// Bandwidth (MiB/s) of each MiB of a burst of `mib` MiB into a drive with `schemes` that was filled and overwritten at random, had half of
/// its pages trimmed if it `is_young`, and has rested for a minute. Superblocks in SLC mode when the burst begins.
fn burst(schemes: &[&str], is_young: bool, mib: u64, seed: u64) -> (Vec<f64>, u32) {
    let set = [DRIVE, &["capacity=204 MiB"], schemes].concat();
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    let mut drive = firstread_testkit::drive(profile("ibm-qlc", &set), &state, seed);
    if is_young {
        let trims = "[t]\nrw=trim\nbs=1m\nsize=102m\n";
        firstread_testkit::try_run(&mut drive, trims, seed, None).unwrap();
    }
    // A rest begins after a command.
    let read = "[r]\nrw=randread\nbs=4k\nnumber_ios=1\n";
    firstread_testkit::try_run(&mut drive, read, seed, None).unwrap();
    let rest = "[r]\nrw=randread\nbs=4k\nstartdelay=60s\nnumber_ios=1\n";
    firstread_testkit::try_run(&mut drive, rest, seed, None).unwrap();
    let in_slc = drive.modes().superblocks[CellMode::Slc.index()];
    let job = format!("[b]\nrw=randwrite\nbs=64k\niodepth=16\nio_size={mib}m\n");
    drive.log_ports();
    firstread_testkit::try_run(&mut drive, &job, seed, None).unwrap();
    let writes = requests_of(&drive, HostOp::Write);
    let (mut speeds, mut bytes, mut began) = (Vec::new(), 0, writes[0].1);
    for (command, _, ended) in &writes {
        bytes += u64::from(command.len_bytes);
        if bytes >= MIB {
            let s = ended.since(began).0 as f64 / 1e9;
            speeds.push(bytes as f64 / MIB as f64 / s);
            (bytes, began) = (0, *ended);
        }
    }
    drive.audit().unwrap();
    (speeds, in_slc)
}

/// The mean bandwidth of parts of the same size.
fn mean(speeds: &[f64]) -> f64 {
    speeds.len() as f64 / speeds.iter().map(|speed| 1.0 / speed).sum::<f64>()
}

/// A cache that the host finds erased takes a burst at the speed of SLC mode until it is full, and a cache that is full makes the drive no slower
/// than one without a cache is then. On a drive of which half is trimmed the cache is larger.
#[test]
fn model_a_burst_finds_the_cache_erased_and_then_its_end() {
    // A program in SLC mode takes 75 us and one of four pages 10 ms: 33 times as long for a page.
    let cache = [
        "schemes.cell_mode=slc-cache",
        "cell_mode.share=100 permille",
    ];
    for (is_young, seed) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        let mib = if is_young { 60 } else { 40 };
        let (null, _) = burst(&["schemes.cell_mode=fixed"], is_young, mib, seed);
        let (speeds, in_slc) = burst(&cache, is_young, mib, seed);
        let holds = u64::from(in_slc) / 2;
        println!("young {is_young}, seed {seed}: {in_slc} superblocks erased ahead, {holds} MiB");
        println!("  cache {speeds:.0?}\n  null {null:.0?}");
        // 16 superblocks of half a MiB. On a young drive also what is trimmed: each lends three quarters of two MiB, so 68 more.
        let least = if is_young { 80 } else { 16 };
        assert!(in_slc >= least, "young {is_young}, seed {seed}: {in_slc}");
        // Half of the writes of a young drive are of new pages, and take from the cache what they add to the data.
        let within = if is_young { 3 * holds / 4 } else { holds - 1 } as usize;
        let after = holds as usize + 2;
        let before = mean(&speeds[..within]) / mean(&null[..within]);
        assert!(
            before > 10.0,
            "young {is_young}, seed {seed}: {before:.2} times as fast"
        );
        let then = mean(&speeds[after..]) / mean(&null[after..]);
        println!("  {before:.2} times as fast, then {then:.2}");
        assert!(
            then > 0.95,
            "young {is_young}, seed {seed}: then {then:.2} times as fast"
        );
    }
}
