//! The cases of the benchmark, one row each.

use firstread_drive::Precondition;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in the table and for `--only`.
    pub name: &'static str,
    /// The case whose requests per second its ratio refers to.
    pub against: &'static str,
    /// A shipped drive, and what is changed of its profile.
    pub drive: &'static str,
    pub set: &'static [&'static str],
    /// Share of the capacity that is written before the run.
    pub fill: f64,
    /// How that share was overwritten since.
    pub precondition: Precondition,
    /// Age (h at 55 °C) and wear.
    pub age_h: u64,
    pub pe_cycles: u32,
    /// A fio job file; none where only the time until the drive is ready counts.
    pub job: Option<&'static str>,
    pub requests: u64,
    /// Independent runs at the same time, a thread each.
    pub runs: u32,
    /// Takes minutes or gigabytes: only with `--long`.
    pub long: bool,
    /// Also run by MQSim, from the same profile and job.
    pub mqsim: bool,
    /// On a drive without time, as lives are run.
    pub untimed: bool,
}

/// The row that others are compared with unless they say otherwise.
pub const REFERENCE: &str = "reads, 512 GiB";

/// What every case is measured with unless it says otherwise: the baseline of the axes on which drives that
/// stand for products have more, so that rows compare with those of earlier versions and with simulators
/// that have none of it.
pub const BASELINES: &[&str] = &[
    "schemes.suspend=none",
    "schemes.wear=none",
    "schemes.read_recovery=none",
    "schemes.gc_victim=fifo",
];

const BASE: Case = Case {
    name: "",
    against: REFERENCE,
    drive: "dc-qlc-15t",
    set: &[],
    fill: 1.0,
    precondition: Precondition::None,
    age_h: 0,
    pe_cycles: 0,
    job: None,
    requests: 0,
    runs: 1,
    long: false,
    mqsim: false,
    untimed: false,
};

/// The constant-latency drives, whose cells never err.
const CONSTANT: Case = Case {
    drive: "bench-512g",
    ..BASE
};

/// Cells as they are after 28 h at 55 °C.
const CELLS: Case = Case {
    age_h: 28,
    pe_cycles: 300,
    ..BASE
};

/// The drive by which the speed of lives is measured: 2,048 superblocks of 8 MiB, 15 % over-provisioned.
const LIFE: &[&str] = &[
    "geometry.channels=8",
    "geometry.chips_per_channel=2",
    "geometry.dies_per_chip=1",
    "geometry.planes=2",
    "geometry.blocks_per_plane=2048",
    "geometry.wordlines_per_block=16",
    "geometry.page=16 KiB",
    "capacity=13924 MiB",
    "schemes.gc_victim=greedy",
    "schemes.wear=static",
];

const READ_4K: Option<&str> =
    Some("[j]\nrw=randread\nbs=4k\niodepth=128\nnorandommap\nio_size=8t\n");
const READ_64K: Option<&str> = Some("[j]\nrw=randread\nbs=64k\niodepth=128\nnorandommap\n");
const WRITE_4K: Option<&str> =
    Some("[j]\nrw=randwrite\nbs=4k\niodepth=128\nnorandommap\nio_size=8t\n");
const WRITE_4K_60: Option<&str> =
    Some("[j]\nrw=randwrite\nbs=4k\niodepth=128\nnorandommap\nsize=60%\nio_size=8t\n");
const MIXED_70_30: Option<&str> =
    Some("[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\n");

/// Depth 8 of 64 dies: few reads meet, so that both simulators take the same simulated time for as many
/// (`docs/mqsim.md`).
const READ_4K_FEW: Option<&str> =
    Some("[j]\nrw=randread\nbs=4k\niodepth=8\nnorandommap\nio_size=8t\n");

/// Cases that are only measured beside MQSim.
pub const BESIDE: &[Case] = &[Case {
    name: "reads at depth 8, 512 GiB",
    set: &["channel.rate=375 MT/s", "chip.timing.io=375 MT/s"],
    job: READ_4K_FEW,
    requests: 2_000_000,
    mqsim: true,
    ..CONSTANT
}];

/// The drive and the reads whose mean latency is compared, by depth and geometry.
pub const LATENCY: Case = Case {
    name: "latency beside MQSim",
    requests: 200_000,
    ..CONSTANT
};

/// Every other case, in the order of the table.
pub const CASES: &[Case] = &[
    Case {
        name: REFERENCE,
        job: READ_4K,
        requests: 4_000_000,
        ..CONSTANT
    },
    Case {
        name: "reads, two runs on two cores",
        job: READ_4K,
        requests: 4_000_000,
        runs: 2,
        ..CONSTANT
    },
    Case {
        name: "writes under garbage collection",
        drive: "bench-4g",
        set: &["schemes.gc_victim=d-choices"],
        fill: 0.0,
        job: WRITE_4K_60,
        requests: 2_000_000,
        mqsim: true,
        ..CONSTANT
    },
    Case {
        name: "overwrites of the full drive",
        drive: "bench-4g",
        set: &["schemes.gc_victim=greedy"],
        job: WRITE_4K,
        requests: 2_000_000,
        ..CONSTANT
    },
    Case {
        name: "overwrites in steady state",
        against: "overwrites of the full drive",
        drive: "bench-4g",
        set: &["schemes.gc_victim=greedy"],
        precondition: Precondition::Random,
        job: WRITE_4K,
        requests: 2_000_000,
        ..CONSTANT
    },
    Case {
        name: "life: 2,048 superblocks",
        drive: "bench-4g",
        set: LIFE,
        job: WRITE_4K,
        requests: 20_000_000,
        untimed: true,
        ..BASE
    },
    Case {
        name: "life: the same, timed",
        against: "life: 2,048 superblocks",
        drive: "bench-4g",
        set: LIFE,
        job: WRITE_4K,
        requests: 4_000_000,
        ..BASE
    },
    Case {
        name: "cells: 300 P/E, ct-qlc",
        set: &["schemes.read_levels=ct-qlc"],
        job: READ_4K,
        requests: 4_000_000,
        ..CELLS
    },
    Case {
        name: "cells: 300 P/E, ct-qlc, 64 KiB",
        set: &["schemes.read_levels=ct-qlc"],
        job: READ_64K,
        requests: 300_000,
        ..CELLS
    },
    Case {
        name: "cells: 2500 P/E, frozen",
        set: &["schemes.read_levels=frozen"],
        pe_cycles: 2500,
        job: READ_4K,
        requests: 1_000_000,
        ..CELLS
    },
    Case {
        name: "mixed 70/30, suspend=none",
        set: &["schemes.suspend=none"],
        job: MIXED_70_30,
        requests: 2_000_000,
        ..CELLS
    },
    Case {
        name: "mixed 70/30, suspend=program-erase",
        against: "mixed 70/30, suspend=none",
        set: &["schemes.suspend=program-erase"],
        job: MIXED_70_30,
        requests: 2_000_000,
        ..CELLS
    },
    Case {
        name: "ready: 512 GiB",
        ..CONSTANT
    },
    Case {
        name: "ready: 15.36 TB",
        ..CELLS
    },
    Case {
        name: "ready: 512 GiB, overwritten",
        precondition: Precondition::Random,
        ..CONSTANT
    },
    Case {
        name: "ready: 15.36 TB, overwritten",
        precondition: Precondition::Random,
        ..CELLS
    },
    Case {
        name: "ready: 15.36 TB, zipf:0.99",
        precondition: Precondition::Zipf(0.99),
        ..CELLS
    },
    Case {
        name: "overwrites: 10 M of 15.36 TB",
        set: &["cells=ideal", "schemes.read_levels=factory"],
        job: WRITE_4K,
        requests: 10_000_000,
        long: true,
        ..BASE
    },
    Case {
        name: "overwrites: 100 M of 15.36 TB",
        against: "overwrites: 10 M of 15.36 TB",
        set: &["cells=ideal", "schemes.read_levels=factory"],
        job: WRITE_4K,
        requests: 100_000_000,
        long: true,
        ..BASE
    },
    Case {
        name: "steady state: 10 M of 15.36 TB",
        against: "overwrites: 10 M of 15.36 TB",
        precondition: Precondition::Random,
        set: &["cells=ideal", "schemes.read_levels=factory"],
        job: WRITE_4K,
        requests: 10_000_000,
        long: true,
        ..BASE
    },
    Case {
        name: "steady state: 100 M of 15.36 TB",
        against: "overwrites: 10 M of 15.36 TB",
        precondition: Precondition::Random,
        set: &["cells=ideal", "schemes.read_levels=factory"],
        job: WRITE_4K,
        requests: 100_000_000,
        long: true,
        ..BASE
    },
    Case {
        name: "flat: reads, 1 M",
        job: READ_4K,
        requests: 1_000_000,
        long: true,
        ..CONSTANT
    },
    Case {
        name: "flat: reads, 100 M",
        against: "flat: reads, 1 M",
        job: READ_4K,
        requests: 100_000_000,
        long: true,
        ..CONSTANT
    },
    Case {
        name: "flat: writes, 1 M",
        drive: "bench-4g",
        job: WRITE_4K,
        requests: 1_000_000,
        long: true,
        ..CONSTANT
    },
    Case {
        name: "flat: writes, 100 M",
        against: "flat: writes, 1 M",
        drive: "bench-4g",
        job: WRITE_4K,
        requests: 100_000_000,
        long: true,
        ..CONSTANT
    },
];
