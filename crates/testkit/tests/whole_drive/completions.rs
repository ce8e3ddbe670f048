//! Runs whose every completion must stay what it is while the code around it moves: each drive, each scheme,
//! and what makes them clean, fail, lose power or page their map.

use std::collections::BTreeMap;
use std::fmt::Write;

use firstread_core::HostOp;
use firstread_core::params::Need;
use firstread_drive::precondition::Precondition;
use firstread_drive::profile::{Kind, Library};
use firstread_drive::{CutAt, Drive, DriveState, Host};
use firstread_firmware::policy::AXES;
use firstread_testkit::{FOUR_DIES, SMALL_BLOCKS, aged, profile, voltages};
use firstread_workload::{TraceRecord, fio};

const KIB: u64 = 1024;

/// Reads of a multi-plane page, 32 in flight.
const READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=32\nnorandommap\nnumber_ios=2000\n";
/// As many that a scheme of `retry` knows how many retries reads take.
const MANY_READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nnumber_ios=12000\n";
/// Reads of which a few pages have most, beside overwrites.
const HOT_READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n\
    random_distribution=zipf:1.2\nio_size=937m\n[w]\nrw=randwrite\nbs=64k\niodepth=1\nnorandommap\n\
    number_ios=3000\nthinktime=1000\n";
const MIXED: &str =
    "[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=16\nnorandommap\nnumber_ios=4000\n";
/// Overwrites that clean a drive of 256 MiB a hundred times and more.
const OVERWRITES: &str = "[j]\nrw=randrw\nrwmixread=20\nbs=64k\niodepth=16\nnorandommap\n\
    random_distribution=zipf:0.9\nio_size=1536m\n";
/// Reads and writes of the same few pages.
const STEEP_OVERWRITES: &str = "[j]\nrw=randwrite\nbs=64k\niodepth=16\nnorandommap\n\
    random_distribution=zipf:1.3\nio_size=1536m\n";
const HOT_MIXED: &str = "[j]\nrw=randrw\nrwmixread=60\nbs=16k\niodepth=8\nnorandommap\n\
    random_distribution=zipf:1.1\nnumber_ios=30000\n";
/// A few pages have most of the writes.
const HOT_WRITES: &str = "[j]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\nrandom_distribution=zipf:1.1\nnumber_ios=20000\n";
/// Overwrites between which the power is cut, with trims.
const CUT: &str = "[w]\nrw=randwrite\nbs=16k\niodepth=16\nnorandommap\nnumber_ios=12000\n\
    [t]\nrw=randtrim\nbs=64k\niodepth=1\nnorandommap\nnumber_ios=300\nthinktime=200\n\
    [r]\nrw=randread\nbs=4k\niodepth=2\nnorandommap\nnumber_ios=1000\n";
/// A sequential stream beside random reads.
const STREAM: &str = "[s]\nrw=read\nbs=16k\niodepth=2\nnumber_ios=2000\n\
    [r]\nrw=randread\nbs=4k\niodepth=2\nnorandommap\nnumber_ios=1000\n";

/// What a run is of.
struct Row {
    name: String,
    drive: String,
    set: Vec<String>,
    state: DriveState,
    job: &'static str,
    /// The power is cut after so many events of each part of the run.
    cuts: &'static [u64],
}

fn row(
    name: impl Into<String>,
    drive: &str,
    set: &[&[&str]],
    state: DriveState,
    job: &'static str,
) -> Row {
    Row {
        name: name.into(),
        drive: drive.to_owned(),
        set: set
            .iter()
            .copied()
            .flatten()
            .map(|s| s.to_string())
            .collect(),
        state,
        job,
        cuts: &[],
    }
}

/// Four dies of a TLC drive.
const SMALL_TLC: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.blocks_per_plane=24",
    "capacity=2 GiB",
    "chip.failures.factory_bad=0 %",
    "schemes.read_recovery=none",
];
/// A drive of 256 MiB whose cells never err.
const SMALL: &[&[&str]] = &[
    SMALL_BLOCKS,
    &["cells=ideal", "schemes.read_levels=factory"],
];
/// Programs and erases that fail: blocks live for 300 P/E cycles, and one in ten fails sooner.
const FAILING: &[&str] = &[
    "chip.failures.grown_bad=10 %",
    "chip.failures.shape=1 x",
    "chip.failures.erase_share=20 %",
    "chip.modes.qlc.endurance=300 P/E",
    "capacity=192 MiB",
];
/// Superblocks that change their mode, and pages of 16 KiB.
const MODES: &[&str] = &[
    "cells=formula",
    "geometry.blocks_per_plane=96",
    "chip.array.layers=2",
    "geometry.mapping_unit=16 KiB",
    "firmware.cell_modes=\"all\"",
    "capacity=192 MiB",
    "schemes.gc_victim=greedy",
];
/// Pages of 16 KiB.
const REFRESHED: &[&str] = &[
    "geometry.mapping_unit=16 KiB",
    "geometry.blocks_per_plane=96",
    "capacity=192 MiB",
    "schemes.gc_victim=greedy",
];
/// Room for the superblocks that streams have open.
const STREAMS: &[&str] = &[
    "geometry.blocks_per_plane=64",
    "schemes.gc_victim=greedy",
    "capacity=512 MiB",
];
/// Half of the map in memory.
const PAGED: &[&str] = &["dram.map_cache=256KiB"];

/// A run of [`SMALL`], changed by `own`, whose power is cut after `cuts`.
fn small(
    name: &str,
    own: &[&str],
    state: DriveState,
    job: &'static str,
    cuts: &'static [u64],
) -> Row {
    Row {
        cuts,
        ..row(name, "ct-qlc", &[SMALL[0], SMALL[1], own], state, job)
    }
}

/// Superblocks of different wear.
fn spread() -> DriveState {
    DriveState {
        pe_cycles: (0, 2_000),
        ..aged(28, 0)
    }
}

fn rows() -> Vec<Row> {
    let new = DriveState::default;
    let mut rows = Vec::new();
    for drive in Library::new().names(Kind::Drive) {
        let state = match drive.starts_with("bench") {
            true => new(),
            false => aged(28, 300),
        };
        rows.push(row(format!("drive {drive}"), drive, &[], state, READS));
    }
    for axis in AXES {
        for scheme in axis.schemes {
            let set = format!("schemes.{}={}", axis.name, scheme.name);
            let name = format!("{} {}", axis.name, scheme.name);
            let set: &[&str] = &[&set];
            rows.push(match axis.name {
                // Only where much of the drive is cold is there a victim that the guard leaves.
                "gc_victim" if scheme.name.ends_with("-guarded") => {
                    small(&name, set, new(), STEEP_OVERWRITES, &[])
                }
                "gc_victim" => small(&name, set, new(), OVERWRITES, &[]),
                "suspend" => {
                    let set = [set, &["capacity=240 MiB"]].concat();
                    small(&name, &set, new(), OVERWRITES, &[])
                }
                // Which superblock is worn how far shows in its errors.
                "wear" => {
                    // Progressive leveling rests superblocks late in the life of a drive.
                    let starts: &[&str] = match scheme.name.starts_with("progressive") {
                        true => &["wear.start=100 permille"],
                        false => &[],
                    };
                    row(
                        name,
                        "ct-qlc",
                        &[SMALL_BLOCKS, set, starts],
                        spread(),
                        OVERWRITES,
                    )
                }
                "retry" => row(
                    name,
                    "tlc-48l",
                    &[SMALL_TLC, set],
                    aged(48, 1_000),
                    MANY_READS,
                ),
                "read_ahead" => row(
                    name,
                    "ct-qlc",
                    &[FOUR_DIES, set, &["dram.read_cache=8MiB"]],
                    aged(2, 300),
                    STREAM,
                ),
                // Hot pages of a small drive move within a few thousand reads.
                "cell_mode" => row(
                    name,
                    "raro-femu",
                    &[
                        SMALL_BLOCKS,
                        MODES,
                        set,
                        match scheme.name {
                            // A page in SLC mode costs less than one of QLC.
                            "hybrid-pools" => &["cell_mode.wear_weight=0 permille"],
                            _ => &[],
                        },
                    ],
                    aged(0, 500),
                    match scheme.requires(Need::SlcAlone) {
                        true => HOT_MIXED,
                        false => HOT_READS,
                    },
                ),
                // Data of 28 days take retries, and a few pages have most of the reads.
                "refresh" => row(
                    name,
                    "raro-femu",
                    &[
                        SMALL_BLOCKS,
                        REFRESHED,
                        set,
                        match scheme.name {
                            "none" => &[],
                            _ => &["refresh.reads_qlc=2000 reads"],
                        },
                    ],
                    aged(28 * 24, 833),
                    HOT_READS,
                ),
                // A few pages have most of the reads and of the writes.
                "area" => row(
                    name,
                    "raro-femu",
                    &[
                        SMALL_BLOCKS,
                        REFRESHED,
                        set,
                        match scheme.name {
                            "differential" => &["area.new_reads=2 reads"],
                            "differential-fixed" => &["area.reads=4 reads"],
                            _ => &[],
                        },
                    ],
                    aged(28, 100),
                    HOT_MIXED,
                ),
                // A few pages have most of the reads, and each page type another time.
                "page_type" => row(
                    name,
                    "ibm-qlc-paca",
                    &[SMALL_BLOCKS, &["cells=ideal"], set],
                    new(),
                    HOT_MIXED,
                ),
                // A few pages have most of the writes.
                "stream" => {
                    let state = DriveState {
                        precondition: Precondition::Random,
                        ..new()
                    };
                    let ideal: &[&str] = &["cells=ideal"];
                    row(
                        name,
                        "ct-qlc",
                        &[SMALL_BLOCKS, ideal, STREAMS, set],
                        state,
                        HOT_WRITES,
                    )
                }
                "read_recovery" => row(
                    name,
                    "ct-qlc",
                    &[FOUR_DIES, &["ecc.code=ldpc-1k", "capacity=12 GiB"], set],
                    aged(168, 4_000),
                    READS,
                ),
                _ => row(name, "ct-qlc", &[FOUR_DIES, set], aged(28, 2_500), READS),
            });
        }
    }
    let preconditioned = |precondition| DriveState {
        precondition,
        ..new()
    };
    let random = || preconditioned(Precondition::Random);
    let zipf = || preconditioned(Precondition::Zipf(1.1));
    let worn = || aged(0, 120);
    const PARITY: &[&str] = &["schemes.read_recovery=parity", "capacity=192 MiB"];
    const ONCE: &[u64] = &[9_000];
    const TWICE: &[u64] = &[5_000, 7_000];
    let with = |parts: &[&[&'static str]]| -> Vec<&'static str> { parts.concat() };
    rows.extend([
        small("overwrites after random overwrites", &["schemes.gc_victim=greedy"], random(), OVERWRITES, &[]),
        small("steep overwrites, fifo", &["schemes.gc_victim=fifo"], new(), STEEP_OVERWRITES, &[]),
        small("steep overwrites, random", &["schemes.gc_victim=random"], new(), STEEP_OVERWRITES, &[]),
        small("overwrites after zipf", &["schemes.gc_victim=cost-benefit"], zipf(), OVERWRITES, &[]),
        small("overwrites under parity", PARITY, new(), OVERWRITES, &[]),
        small("map cache, reads", PAGED, new(), READS, &[]),
        small("map cache, overwrites", PAGED, new(), OVERWRITES, &[]),
        small("map cache, overwrites after random ones", PAGED, random(), OVERWRITES, &[]),
        small("map cache, static wear leveling", &with(&[PAGED, &["schemes.wear=static"]]), spread(), OVERWRITES, &[]),
        small("map cache, parity", &with(&[PAGED, PARITY]), new(), OVERWRITES, &[]),
        small("failures", FAILING, worn(), OVERWRITES, &[]),
        small("failures, greedy", &with(&[FAILING, &["schemes.gc_victim=greedy"]]), worn(), OVERWRITES, &[]),
        small("failures, parity", &with(&[FAILING, PARITY]), worn(), OVERWRITES, &[]),
        small("failures, map cache", &with(&[FAILING, PAGED]), worn(), OVERWRITES, &[]),
        small("failures, static wear leveling", &with(&[FAILING, &["schemes.wear=static"]]), worn(), OVERWRITES, &[]),
        small("cut", &[], new(), CUT, ONCE),
        small("cut twice", &[], new(), CUT, TWICE),
        small("cut, greedy after random overwrites", &["schemes.gc_victim=greedy"], random(), CUT, TWICE),
        small("cut, cost-benefit after zipf", &["schemes.gc_victim=cost-benefit"], zipf(), CUT, TWICE),
        small("cut, parity", PARITY, new(), CUT, TWICE),
        small("cut, map cache", PAGED, new(), CUT, TWICE),
        small("cut, failures", FAILING, worn(), CUT, TWICE),
        small("cut, failures and parity", &with(&[FAILING, PARITY]), worn(), CUT, ONCE),
        small("cut, static wear leveling", &["schemes.wear=static"], spread(), CUT, TWICE),
        small("cut, write-through", &["dram.write_cache=write-through"], new(), CUT, ONCE),
        small("cut, write heat", &with(&[STREAMS, &["schemes.stream=write-heat"]]), new(), CUT, TWICE),
        small(
            "cut, streams by their life, failures and parity",
            &with(&[STREAMS, FAILING, PARITY, &["schemes.stream=sepbit", "capacity=480 MiB"]]),
            worn(),
            CUT,
            TWICE,
        ),
        small(
            "volatile, flushes, streams",
            &with(&[STREAMS, &["dram.write_cache=volatile", "schemes.stream=write-heat", "stream.levels=4"]]),
            new(),
            "[j]\nrw=randwrite\nbs=4k\niodepth=8\nnorandommap\nrandom_distribution=zipf:1.1\nfsync=16\nnumber_ios=4000\n",
            &[],
        ),
        small(
            "write-through, streams",
            &with(&[STREAMS, &["dram.write_cache=write-through", "schemes.stream=write-heat", "stream.levels=4"]]),
            new(),
            OVERWRITES,
            &[],
        ),
        small("map cache, streams", &with(&[STREAMS, PAGED, &["schemes.stream=write-heat"]]), random(), OVERWRITES, &[]),
        small("cut, page types", &["schemes.page_type=read-heat"], new(), CUT, TWICE),
        small(
            "cut, page types, failures and parity",
            &with(&[FAILING, PARITY, &["schemes.page_type=read-heat", "page_type.promote=200"]]),
            worn(),
            CUT,
            TWICE,
        ),
        small("write-through", &["dram.write_cache=write-through"], new(), OVERWRITES, &[]),
        small(
            "volatile, flushes",
            &["dram.write_cache=volatile"],
            new(),
            "[j]\nrw=randwrite\nbs=4k\niodepth=8\nnorandommap\nfsync=16\nnumber_ios=4000\n",
            &[],
        ),
        small(
            "partial writes",
            &[],
            new(),
            "[j]\nrw=randrw\nbs=2560\noffset=1k\niodepth=16\nnorandommap\nsize=16m\nnumber_ios=6000\n",
            &[],
        ),
        small("planes apart", &["chip.timing.independent_plane_reads=true"], new(), MIXED, &[]),
        small("commands that do not occupy", &["channel.commands_occupy=false"], new(), MIXED, &[]),
        small("queues", &["queues.fetched=8", "firmware.command_interval=10us"], new(), CUT, &[]),
    ]);
    rows.push(Row {
        cuts: ONCE,
        ..row("cut, cells", "ct-qlc", &[FOUR_DIES], aged(28, 300), MIXED)
    });
    rows.push(row(
        "all of it",
        "ct-qlc",
        &[
            SMALL_BLOCKS,
            FAILING,
            PAGED,
            &[
                "dram.read_cache=4MiB",
                "schemes.suspend=program-erase",
                "schemes.wear=static",
                "schemes.read_recovery=soft-parity",
                "schemes.gc_victim=cost-benefit",
                "schemes.retry=pipelined-adaptive",
                "capacity=180 MiB",
            ],
        ],
        aged(28, 100),
        OVERWRITES,
    ));
    rows.push(row("trace", "ct-qlc", &[FOUR_DIES], aged(28, 300), ""));
    rows
}

/// Bursts of reads, writes and trims, as a trace has them.
fn trace() -> impl Iterator<Item = Result<TraceRecord, firstread_workload::WorkloadError>> {
    (0..3_000u64).map(|i| {
        let op = match i * 7 % 10 {
            0..=5 => HostOp::Read,
            6..=8 => HostOp::Write,
            _ => HostOp::Trim,
        };
        Ok(TraceRecord {
            time_ns: i / 40 * 5_000_000 + i % 40 * 3_000,
            op,
            offset_bytes: i * 2_654_435_761 % (4 << 20) * 4 * KIB,
            len_bytes: ((4 * KIB) << (i * 5 % 4)) as u32,
            device: 0,
            placement: 0,
        })
    })
}

#[test]
fn golden_every_completion_of_many_runs() {
    let mut out = String::from(
        "run                                         requests  lost  erases  failed  cuts     map  digest\n",
    );
    let mut digests = BTreeMap::new();
    let (mut cleaned, mut cut, mut paged, mut failed) = (0, 0, 0, 0);
    for row in rows() {
        let set: Vec<&str> = row.set.iter().map(String::as_str).collect();
        let profile = profile(&row.drive, &set);
        let tables = voltages(&profile);
        let mut drive = Drive::new(profile, tables, &row.state, 1)
            .unwrap_or_else(|e| panic!("{}: {e}", row.name));
        drive.digest_completions();
        let before = drive.counters().clone();
        let capacity = drive.capacity_bytes();
        let mut cuts = 0;
        let (mut requests, mut lost) = (0, 0);
        for part in 0..=row.cuts.len() as u64 {
            let mut host = match row.job {
                "" => Host::trace("trace", trace(), 64, None),
                job => {
                    let workload = fio::parse("completions.fio", job).unwrap();
                    Host::jobs(&workload, capacity, 1 + part, None).unwrap()
                }
            };
            if let Some(&events) = row.cuts.get(part as usize) {
                host.cut_power_at(CutAt::Events(events));
            }
            let stats = host
                .run(&mut drive, &mut |_| {})
                .unwrap_or_else(|e| panic!("{}: {e}", row.name));
            requests += stats.requests;
            lost += stats.all.uncorrectable();
            cuts += u32::from(stats.power_cut.is_some());
        }
        // An audit looks at every logical page.
        if capacity <= 1 << 28 {
            assert_eq!(drive.audit(), Ok(()), "{}", row.name);
        }
        let (c, digest) = (drive.counters().since(&before), drive.digest().unwrap());
        assert_eq!(digest.count, requests, "{}", row.name);
        let failures = c.replaced + c.retired;
        writeln!(
            out,
            "{:<42} {requests:>9} {lost:>5} {:>7} {failures:>7} {cuts:>5} {:>7}  {:016x}",
            row.name, c.erases, c.front.map_misses, digest.hash
        )
        .expect("writing to a string succeeds");
        let same = digests.insert(digest.hash, row.name.clone());
        assert_eq!(same, None, "{} is the same run", row.name);
        cleaned += u32::from(c.erases >= 100);
        cut += u32::from(cuts > 0);
        paged += u32::from(c.front.map_misses > 0);
        failed += u32::from(failures > 0);
    }
    assert!(
        cleaned >= 10 && cut >= 10 && paged >= 5 && failed >= 5,
        "{cleaned} runs with 100 erases, {cut} with power cuts, {paged} with a map cache, {failed} with failed \
         programs:\n{out}"
    );
    insta::assert_snapshot!("every_completion", out);
}
