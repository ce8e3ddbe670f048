//! Drives and loads whose intervals are checked.

use firstread_core::{HostOp, Stream};
use firstread_drive::{Drive, Host, RunStats};
use firstread_testkit::{aged, drive, overwritten, profile};
use firstread_workload::{TraceRecord, fio};

/// Requests of 70/30 in a wave of programs: a wordline over all dies takes 8,192 writes of 4 KiB.
const WAVE: u64 = 27_307;
/// Writes of a lead-in of a drive that cleans: fewer than so many, more than a round over all superblocks' garbage.
const ROUND: u64 = 20_000;

/// One die of the drive `dc-qlc-15t`: a server with a queue.
const ONE_DIE: &[&str] = &[
    "geometry.channels=1",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=24",
    "capacity=6 GiB",
    "chip.failures.factory_bad=0 %",
    // One die has no other that could hold its parity.
    "schemes.read_recovery=none",
];

/// Requirement on the coverage of a load.
#[derive(Clone, Copy, PartialEq)]
pub enum Judged {
    /// P99 and P99.9 within the band.
    Band,
    /// The same, at least its lower end, for a reason that docs/intervals.md gives under this name.
    AtLeast(&'static str),
    /// A drive that cleans: all but P99.9 cover at least at the lower end, and intervals are at most three times as wide as runs differ.
    /// Figures that do not, with the reason that docs/intervals.md gives under a name.
    Width(&'static [(&'static str, &'static str)]),
    /// Nothing, for a reason that docs/intervals.md gives under this name.
    Nothing(&'static str),
}

impl Judged {
    /// Whether figures of writes and write amplification are among those of the load.
    pub fn with_writes(self) -> bool {
        matches!(self, Judged::Width(_) | Judged::Nothing(_))
    }
}

/// What runs on the drive.
enum Work {
    /// A job file.
    Jobs(String),
    /// A trace that comes in bursts of so many requests on average ([`bursts`]).
    Bursts(u64),
}

/// A load, whose intervals are checked.
pub struct Case {
    pub name: &'static str,
    pub requests: u64,
    pub judged: Judged,
    /// The drive that all runs begin with.
    made: fn(&[&str]) -> Drive,
    set: &'static [&'static str],
    work: Work,
    /// Requests of the same load before those that count: fewer than so many, drawn by the workload seed.
    lead: u64,
}

impl Case {
    fn new(name: &'static str, set: &'static [&'static str], job: String, requests: u64) -> Case {
        Case {
            name,
            requests,
            judged: Judged::Band,
            made: filled,
            set,
            work: Work::Jobs(job),
            lead: 0,
        }
    }

    /// A load on a small drive that cleans.
    fn cleaning(
        name: &'static str,
        set: &'static [&'static str],
        job: &str,
        requests: u64,
    ) -> Case {
        Case {
            judged: Judged::Width(&[]),
            made: overwritten,
            lead: ROUND,
            ..Case::new(name, set, job.into(), requests)
        }
    }

    /// The drive that all runs begin with.
    pub fn drive(&self) -> Drive {
        (self.made)(self.set)
    }

    /// A run on a copy of `drive`.
    pub fn run(&self, drive: &Drive, workload_seed: u64) -> Result<RunStats, String> {
        let failed = |e: &dyn std::fmt::Display| format!("workload seed {workload_seed}: {e}");
        let mut drive = drive.clone();
        let mut run = |requests: u64, seed: u64| {
            let host = match &self.work {
                Work::Jobs(job) => {
                    let workload = fio::parse("coverage.fio", job).map_err(|e| failed(&e))?;
                    Host::jobs(&workload, drive.capacity_bytes(), seed, Some(requests))
                        .map_err(|e| failed(&e))?
                }
                Work::Bursts(length) => {
                    let records = bursts(drive.capacity_bytes(), *length, seed).map(Ok);
                    Host::trace("bursts", records, 4096, Some(requests))
                }
            };
            host.run(&mut drive, &mut |_| {}).map_err(|e| failed(&e))
        };
        if self.lead > 0 {
            let lead = Stream::new(workload_seed).named("lead").at(0);
            run(lead.below(self.lead).max(1), !workload_seed)?;
        }
        let stats = run(self.requests, workload_seed)?;
        match stats.requests == self.requests {
            true => Ok(stats),
            false => Err(format!(
                "{}: the run ended after {} requests of {}",
                self.name, stats.requests, self.requests
            )),
        }
    }
}

/// The drive `dc-qlc-15t`, written 28 h ago at 300 P/E cycles.
fn filled(set: &[&str]) -> Drive {
    drive(profile("dc-qlc-15t", set), &aged(28, 300), 1)
}

/// The drive `raro-femu` with worn cells, whose hot pages have been promoted.
fn promoted(set: &[&str]) -> Drive {
    let mut drive = drive(profile("raro-femu", set), &aged(28, 1_500), 1);
    let workload = fio::parse("promotes.fio", HOT_READS).expect("a job");
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(400_000));
    let host = host.expect("the job fits the drive");
    host.run(&mut drive, &mut |_| {}).expect("it runs");
    drive
}

/// Reads and writes of 4 KiB, seven to three, in bursts of `length` requests on average, 60 us apart on average, with pauses on average as
/// long as makes a thousand requests a second, a third of what the drive can do: an on-off source. Times are exponential.
fn bursts(capacity_bytes: u64, length: u64, seed: u64) -> impl Iterator<Item = TraceRecord> {
    let key = Stream::new(seed).named("bursts");
    let drawn = move |name, i: u64| key.named(name).at(i);
    let mut time_ns = 0;
    (0..).map(move |i| {
        let uniform = |name| (drawn(name, i).below(1 << 53) as f64 + 0.5) / (1u64 << 53) as f64;
        let pause = match drawn("burst", i).below(length) {
            0 => length as f64 * 940e3,
            _ => 60e3,
        };
        time_ns += (-pause * uniform("gap").ln()) as u64;
        TraceRecord {
            time_ns,
            op: match drawn("direction", i).below(10) {
                0..7 => HostOp::Read,
                _ => HostOp::Write,
            },
            offset_bytes: drawn("page", i).below(capacity_bytes / 4096) * 4096,
            len_bytes: 4096,
            device: 0,
            placement: 0,
        }
    })
}

const QUEUED_READS: &str = "[j]\nrw=randread\nbs=4k\niodepth=32\nnorandommap\n";
// Without `io_size` a job ends after as many bytes as the drive holds.
const QUEUED_WRITES: &str = "[w]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\nio_size=1t\n";
const MIXED: &str = "[j]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\nio_size=1t\n";
const HOT_READS: &str = "[j]\nrw=randread\nbs=16k\niodepth=8\nsize=4g\nio_size=1t\nnorandommap\nrandom_distribution=zipf:1.2\n";

/// Reads a second of the one die when it is never idle.
fn saturated_iops() -> Result<f64, String> {
    let case = Case::new("one die, never idle", ONE_DIE, QUEUED_READS.into(), 20_000);
    let stats = case.run(&case.drive(), 1)?;
    Ok(stats.all.read.count() as f64 * 1e9 / stats.all.runtime_ns.max(1) as f64)
}

/// All loads.
pub fn all() -> Result<Vec<Case>, String> {
    let saturated = saturated_iops()?;
    let poisson = |load: f64| {
        let rate = (load * saturated) as u64;
        format!(
            "[j]\nrw=randread\nbs=4k\niodepth=4096\nnorandommap\nrate_process=poisson\nrate_iops={rate}\n"
        )
    };
    // Writes to 16 MiB find their page in the write buffer and replace it there.
    let beside = |size: &str| {
        format!(
            "[global]\nbs=4k\nnorandommap\n[reads]\nrw=randread\niodepth=22\n\
             [writes]\nrw=randwrite\niodepth=10\nrate_iops=75000\n{size}\n"
        )
    };
    let on_one_die = |name, load, requests| Case::new(name, ONE_DIE, poisson(load), requests);
    let at_least = |why, case| Case {
        judged: Judged::AtLeast(why),
        ..case
    };
    Ok(vec![
        on_one_die("Poisson arrivals on one die, load 0.6", 0.6, 100_000),
        on_one_die("Poisson arrivals on one die, load 0.9", 0.9, 100_000),
        // About what runs of 100,000 are told that P99 needs.
        on_one_die("Poisson arrivals on one die, load 0.9", 0.9, 260_000),
        on_one_die("Poisson arrivals on one die, load 0.9", 0.9, 500_000),
        Case::new(
            "random reads of 4 KiB, QD32",
            &[],
            QUEUED_READS.into(),
            100_000,
        ),
        at_least(
            "control",
            Case::new(
                "reads beside writes to 16 MiB, none programmed",
                &[],
                beside("size=16m"),
                200_000,
            ),
        ),
        at_least(
            "waves",
            Case::new(
                "the same beside writes to the whole drive",
                &[],
                beside(""),
                200_000,
            ),
        ),
        at_least(
            "waves",
            Case::new("reads of 70/30, 4 KiB, QD32", &[], MIXED.into(), 200_000),
        ),
        Case {
            lead: WAVE,
            ..Case::new(
                "the same, each run from a phase of its own",
                &[],
                MIXED.into(),
                200_000,
            )
        },
        Case::cleaning("cleaning, 70/30, QD32", &[], MIXED, 400_000),
        Case::cleaning("cleaning, random writes, QD32", &[], QUEUED_WRITES, 80_000),
        // At half of what the drive can do.
        Case {
            judged: Judged::Width(&[("write P99", "step")]),
            ..Case::cleaning(
                "cleaning, 70/30, Poisson arrivals",
                &[],
                "[m]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=1024\nnorandommap\nrate_process=poisson\nrate_iops=1200,510\nio_size=1t\n",
                200_000,
            )
        },
        Case::cleaning(
            "cleaning, 70/30, `area=differential`",
            &["schemes.area=differential"],
            MIXED,
            400_000,
        ),
        Case {
            work: Work::Bursts(30),
            ..Case::cleaning(
                "cleaning, a trace of 70/30 in bursts of 30",
                &[],
                "",
                200_000,
            )
        },
        Case {
            work: Work::Bursts(1_000),
            judged: Judged::Nothing("backlog"),
            ..Case::cleaning("the same in bursts of 1,000", &[], "", 200_000)
        },
        Case {
            made: promoted,
            ..Case::cleaning(
                "hot reads, pages promoted by `cell_mode=raro`",
                &["schemes.cell_mode=raro"],
                HOT_READS,
                200_000,
            )
        },
    ])
}
