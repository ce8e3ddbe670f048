//! What a run or a life is expected to cost, in mapping units that are read.

use firstread_workload::JobSpec;
use firstread_workload::job::{Direction, Operations};

use crate::input::Input;
use crate::life::{STAGES, Terms, Until};
use crate::setup::{BurnInSetup, Setup};

/// Mapping units that are read in the time in which one is written: 0.3 to 0.65 us of a core each, and 2.2 to 3.5 us with
/// what cleaning moves (`bench-4g`, random requests of 4 to 256 KiB).
const READS_A_WRITE: f64 = 6.0;
/// Drive writes that a burn-in takes at least: each superblock is turned over twice (docs/writes.md).
const BURN_IN_DRIVE_WRITES: f64 = 2.0;
const DAYS_A_YEAR: f64 = 365.25;

/// What a run of `setup`, or its life as `life` asks, is expected to cost: each mapping unit that it reads, and
/// [`READS_A_WRITE`] for each that it writes, those of its burn-in among them. A request costs one at least. None where that is
/// not known before it runs: of a trace without a limit, and of jobs that end by time.
pub(crate) fn expected(setup: &Setup, life: Option<&Terms>) -> Option<f64> {
    let cost = match life {
        Some(terms) => of_life(setup, terms),
        None => of_run(setup)?,
    };
    Some(cost.round())
}

fn of_run(setup: &Setup) -> Option<f64> {
    let slot_bytes = f64::from(setup.profile.geometry.slot_bytes);
    let measured = setup.requests()? as f64 * Request::of(&setup.input, slot_bytes).cost;
    let burn_in = match (&setup.burn_in, setup.burn_in_input()) {
        (Some(terms), Some(input)) => {
            let request = Request::of(input, slot_bytes);
            match request.slots_written > 0.0 {
                true => {
                    burn_in_drive_writes(terms) * slots(setup) / request.slots_written
                        * request.cost
                }
                false => 0.0,
            }
        }
        _ => 0.0,
    };
    Some(measured + burn_in)
}

/// Drive writes that a burn-in is expected to take: the mean of the least and of those at which it ends, by their ratio.
/// Hot and cold pages may need either (docs/writes.md).
fn burn_in_drive_writes(terms: &BurnInSetup) -> f64 {
    let most = terms.most_drive_writes;
    (BURN_IN_DRIVE_WRITES * most).sqrt().min(most)
}

/// The mean request of a workload.
struct Request {
    cost: f64,
    /// Mapping units, a part of one where it is shorter.
    slots_written: f64,
}

impl Request {
    /// That of `input`, on a drive with mapping units of `slot_bytes`.
    fn of(input: &Input, slot_bytes: f64) -> Request {
        match input {
            Input::Jobs { workload, .. } => {
                // Jobs that end by time have no number of requests, and count alike.
                let known = workload.jobs.iter().all(|job| job.number_ios.is_some());
                let weight = |job: &JobSpec| match job.number_ios {
                    Some(requests) if known => requests as f64,
                    _ => 1.0,
                };
                let all: f64 = workload.jobs.iter().map(weight).sum();
                let mut mean = Request {
                    cost: 0.0,
                    slots_written: 0.0,
                };
                for job in &workload.jobs {
                    let (of_job, share) =
                        (Request::of_job(job, slot_bytes), weight(job) / all.max(1.0));
                    mean.cost += share * of_job.cost;
                    mean.slots_written += share * of_job.slots_written;
                }
                mean
            }
            // Its records are not read for this: every other one is a write of a mapping unit.
            Input::Trace(_) => Request {
                cost: (1.0 + READS_A_WRITE) / 2.0,
                slots_written: 0.5,
            },
            Input::StandIn { row, .. } => {
                let requests = row.requests().max(1) as f64;
                let slots = |sectors: u64| sectors as f64 * 512.0 / slot_bytes / requests;
                let slots_written = slots(row.write_sectors);
                Request {
                    cost: (slots(row.read_sectors) + READS_A_WRITE * slots_written).max(1.0),
                    slots_written,
                }
            }
        }
    }

    fn of_job(job: &JobSpec, slot_bytes: f64) -> Request {
        let reads = f64::from(job.read_percent) / 100.0;
        let (reads, writes, trims) = match job.operations {
            Operations::Read => (1.0, 0.0, 0.0),
            Operations::Write => (0.0, 1.0, 0.0),
            Operations::Trim => (0.0, 0.0, 1.0),
            Operations::Mixed => (reads, 1.0 - reads, 0.0),
            Operations::TrimWrite => (0.0, 0.5, 0.5),
        };
        let slots = |direction: Direction| job.sizes[direction as usize].mean() / slot_bytes;
        let (read, written) = (slots(Direction::Read), slots(Direction::Write));
        Request {
            cost: reads * read.max(1.0) + writes * READS_A_WRITE * written.max(1.0) + trims,
            slots_written: writes * written,
        }
    }
}

/// Mapping units of the drive.
fn slots(setup: &Setup) -> f64 {
    setup.profile.capacity_bytes as f64 / f64::from(setup.profile.geometry.slot_bytes)
}

fn of_life(setup: &Setup, terms: &Terms) -> f64 {
    let by_job = terms.probe_job.as_ref().map_or(0, |job| job.requests);
    let probes = STAGES.len() as f64 * (terms.probe_requests as f64 + by_job as f64);
    let drive_writes = match terms.until {
        Until::Bytes(bytes) => bytes / setup.profile.capacity_bytes as f64,
        Until::Years(years) => years * DAYS_A_YEAR * terms.drive_writes_a_day,
        Until::Lost(_) | Until::Bad(_) | Until::Full => f64::from(setup.rated_pe_cycles()),
    };
    let rate = f64::from(terms.wear_rate.max(1));
    // At a rate the life is lived again at half of it, which takes twice as long.
    let lives = if rate > 1.0 { 3.0 } else { 1.0 };
    drive_writes * slots(setup) * READS_A_WRITE * lives / rate + probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    /// The cost of a job of 1000 requests on `bench-4g`, whose mapping units are of 4 KiB.
    fn of(job: &str, burn_in: Option<f64>) -> Option<f64> {
        let text = format!("[a]\n{job}\n");
        let simulation = Simulation {
            drive: "bench-4g".into(),
            ..Simulation::of(Input::job_file("a", text).unwrap())
        };
        let terms = burn_in.map(|most_drive_writes| BurnInSetup {
            workload: None,
            most_drive_writes,
        });
        let setup = Setup {
            burn_in: terms,
            ..simulation.setup().unwrap()
        };
        expected(&setup, None)
    }

    #[test]
    fn formula_a_mapping_unit_counts_and_a_write_six_times() {
        let requests = "number_ios=1000";
        for (job, cost) in [
            ("rw=randread\nbs=4k", 1000.0),
            ("rw=randread\nbs=512", 1000.0),
            ("rw=randread\nbs=64k", 16_000.0),
            ("rw=randread\nbssplit=4k/50:12k/50", 2000.0),
            ("rw=randwrite\nbs=4k", 6000.0),
            (
                "rw=randrw\nrwmixread=70\nbs=4k,8k",
                700.0 + 300.0 * 2.0 * 6.0,
            ),
            ("rw=randread\nbs=4k\nnumjobs=3", 3000.0),
        ] {
            assert_eq!(of(&format!("{job}\n{requests}"), None), Some(cost), "{job}");
        }
        assert_eq!(of("rw=randread\ntime_based\nruntime=1", None), None);
    }

    #[test]
    fn formula_a_burn_in_costs_its_reads_too_and_no_more_than_its_limit() {
        let units = 4.0 * f64::from(1 << 30) / 4096.0;
        let burn_in = |job: &str, most: f64| {
            let job = format!("{job}\nnumber_ios=1000");
            of(&job, Some(most)).unwrap() - of(&job, None).unwrap()
        };
        let capacity_share = burn_in("rw=randwrite\nbs=4k", 1.0) / (6.0 * units);
        assert!((0.8..=1.0).contains(&capacity_share), "{capacity_share}");
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
        let one = burn_in("rw=randwrite\nbs=4k", 1.0);
        close(burn_in("rw=randwrite\nbs=4k", 8.0), 4.0 * one);
        // The same writes in longer requests; seven reads beside three writes.
        close(burn_in("rw=randwrite\nbs=64k", 1.0), one);
        close(
            burn_in("rw=randrw\nrwmixread=70\nbs=4k", 1.0),
            one + one / 6.0 * 7.0 / 3.0,
        );
        assert_eq!(burn_in("rw=randread\nbs=4k", 1.0), 0.0);
    }
}
