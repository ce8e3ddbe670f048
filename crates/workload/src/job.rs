//! A parsed load: jobs with every value resolved to a number in its unit, or to fio's default.
#![allow(missing_docs, reason = "names are those of fio's options")]

use crate::error::{Location, Notice, WorkloadError};
use crate::handles::{Handles, HandlesError};
use crate::host_log::{HostLogError, HostLogSpec, LogPlan, UnderLog};
use crate::stream::JobError;

/// A load: jobs that share one drive, and what the user should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Name for reports: that of the job file or stand-in.
    pub name: String,
    /// Jobs in the order of the file, clones (`numjobs`) one after the other.
    pub jobs: Vec<JobSpec>,
    /// Options that were accepted without effect, values that were understood differently.
    pub notices: Vec<Notice>,
}

impl Workload {
    /// Whether a job waits for those before it to end (`stonewall`), so that not all jobs overlap.
    pub fn has_groups(&self) -> bool {
        self.jobs.iter().any(|job| job.group > 0)
    }
}

/// Data directions, and indices into every per-direction array of a [`JobSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read = 0,
    Write = 1,
    Trim = 2,
}

impl Direction {
    /// All, in the order of fio's comma-separated values.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];
}

/// Which directions a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operations {
    Read,
    Write,
    Trim,
    /// Reads and writes, `read_percent` of them reads.
    Mixed,
    /// Each block is trimmed, then written.
    TrimWrite,
}

impl Operations {
    /// The directions that occur.
    pub const fn directions(self) -> &'static [Direction] {
        match self {
            Operations::Read => &[Direction::Read],
            Operations::Write => &[Direction::Write],
            Operations::Trim => &[Direction::Trim],
            Operations::Mixed => &[Direction::Read, Direction::Write],
            Operations::TrimWrite => &[Direction::Trim, Direction::Write],
        }
    }
}

/// Lengths of the requests of one direction, in bytes, all multiples of 512.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    Fixed(u32),
    /// Uniform over the multiples of `min` from `min` to `max`.
    Range {
        /// Shortest, and the unit.
        min: u32,
        max: u32,
    },
    /// Each length with its percentage; they add up to 100.
    Split(Vec<(u32, u8)>),
}

impl Sizes {
    /// The shortest length, in bytes.
    pub fn min(&self) -> u32 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Range { min, .. } => *min,
            Sizes::Split(parts) => parts.iter().map(|p| p.0).min().unwrap_or(512),
        }
    }
    /// The longest length, in bytes.
    pub fn max(&self) -> u32 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Range { max, .. } => *max,
            Sizes::Split(parts) => parts.iter().map(|p| p.0).max().unwrap_or(512),
        }
    }

    /// The mean length, in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(bytes) => f64::from(*bytes),
            Sizes::Range { min, max } => (f64::from(*min) + f64::from(*max)) / 2.0,
            Sizes::Split(parts) => {
                let part = |(bytes, percent): &(u32, u8)| f64::from(*bytes) * f64::from(*percent);
                parts.iter().map(part).sum::<f64>() / 100.0
            }
        }
    }
}

/// An offset or a length on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Bytes(u64),
    /// In percent: of the drive for offsets, of the space after the offset for sizes, of the
    /// size for `io_size`.
    Percent(u8),
}

/// Where random requests go.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    /// Zipf: block of rank k with probability proportional to k^-theta.
    Zipf {
        theta: f64,
        /// Where the hottest block lies, as a fraction of the region; random if `None`.
        center: Option<f64>,
    },
    /// Pareto, as fio's: rank `(n - 1) * u^(ln h / ln(1 - h))` for uniform `u`.
    Pareto {
        /// Power: a fraction `h` of the blocks gets a fraction `1 - h` of the requests.
        h: f64,
        /// Where the hottest block lies, as a fraction of the region; random if `None`.
        center: Option<f64>,
    },
    /// Normal over the blocks before they are scattered.
    Normal {
        /// Standard deviation in percent of the region.
        deviation: f64,
        /// Where the mean lies, as a fraction of the region; 0.5 if `None`.
        center: Option<f64>,
    },
    /// Zones by percent of the region, per direction.
    Zoned([Vec<Zone>; 3]),
    /// Zones by bytes from the start of the region, per direction.
    ZonedAbsolute([Vec<Zone>; 3]),
}

/// A part of the region and its share of the requests. Zones follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the requests, in percent.
    pub access_percent: u8,
    /// Its length: percent of the region, or bytes.
    pub size: u64,
}

/// What `rw=...:N` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    None,
    /// Random: a new random position every so many requests, sequential ones between.
    RunsOf(u32),
    /// Random: a new random position every so many requests, the same one between.
    RepeatsOf(u32),
    /// Sequential: so many bytes are skipped between requests; negative goes backwards.
    Skip(i64),
}

/// Pacing of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// As fast as the queue depth allows.
    Unlimited,
    /// At most so many bytes a second.
    BytesPerSecond(u64),
    /// At most so many requests a second.
    Iops(u64),
}

/// Gaps between requests of a paced job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Equal gaps.
    Linear,
    /// Exponential gaps.
    Poisson,
}

/// A pause after every few requests, once all of them have completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Length of the pause, in ns.
    pub time_ns: u64,
    /// Requests between two pauses.
    pub blocks: u32,
}

/// fio's search for the highest queue depth that keeps latency below a target. A stream does not
/// act on it: who runs the job does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// Completion latency to stay below, in ns.
    pub target_ns: u64,
    /// Window over which it is judged, in ns.
    pub window_ns: u64,
    /// Share of requests that must stay below, in percent.
    pub percentile: f64,
    /// Whether the job goes on once the depth is found, and follows where the drive changes.
    pub run: bool,
}

/// Whom a job that ends takes with it (`exitall`, `exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitWhat {
    /// Jobs of its reporting group.
    ReportingGroup,
    /// Jobs that run together with it; those behind the next `stonewall` go on.
    Together,
    All,
}

/// A part in a flow: jobs of one flow issue requests in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub id: u64,
    /// Weight, above 0.
    pub weight: u32,
    /// Pause of a job that is ahead of its share, in ns; 0 waits for the others.
    pub sleep_ns: u64,
}

/// Zones that a job goes through one after the other, from the start of its region (`zonemode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Bytes moved in a zone before the next one.
    pub move_bytes: u64,
    /// Length of a zone, in bytes.
    pub zone_bytes: u64,
    /// Bytes between two zones.
    pub skip_bytes: u64,
}

/// Which latencies percentiles are reported of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentilesOf {
    pub clat: bool,
    pub lat: bool,
    pub slat: bool,
}

/// fio's logs that a job asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLogs {
    /// Prefix of the log of IOPS (`write_iops_log`).
    pub iops: Option<String>,
    /// Prefix of the log of bandwidth (`write_bw_log`).
    pub bw: Option<String>,
    /// Prefix of the logs of latency (`write_lat_log`).
    pub lat: Option<String>,
    /// Length of a window, in ms (`log_avg_msec`), above 0.
    pub window_ms: u64,
    pub value: LogValue,
    /// Whether each job has logs of its own; otherwise jobs that ask for the same share them.
    pub per_job: bool,
}

impl JobLogs {
    /// Length of a window where a job says none, in ms.
    pub const WINDOW_MS: u64 = 500;

    /// No logs.
    pub const NONE: JobLogs = JobLogs {
        iops: None,
        bw: None,
        lat: None,
        window_ms: JobLogs::WINDOW_MS,
        value: LogValue::Average,
        per_job: true,
    };

    /// Whether any log is asked for.
    pub const fn any(&self) -> bool {
        self.iops.is_some() || self.bw.is_some() || self.lat.is_some()
    }
}

/// What a log of latency has of a window (`log_window_value`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogValue {
    Average,
    Max,
}

/// One job, or one clone of it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Where its section begins.
    pub place: Location,
    /// Name of the section or of `name=`.
    pub name: String,
    /// Free text of `description=`.
    pub description: Option<String>,
    /// Index of the section in the file, the first is 0.
    pub section: u32,
    /// Index among the clones of `numjobs=`, the first is 0.
    pub clone: u32,
    /// Jobs of one group run together; a group starts when all jobs of the one before have ended
    /// (`stonewall`).
    pub group: u32,
    /// Jobs with the same index are reported as one (`group_reporting`).
    pub report: u32,
    pub operations: Operations,
    /// Whether positions are random.
    pub random: bool,
    /// `rw=...:N`.
    pub modifier: Modifier,
    /// Share of reads among reads and writes, in percent.
    pub read_percent: u8,
    /// Share of random requests in a random job, per direction, in percent.
    pub random_percent: [u8; 3],
    /// Lengths, per direction.
    pub sizes: [Sizes; 3],
    /// Whether sequential requests of a random job use the read sizes and random ones the write
    /// sizes.
    pub sizes_by_randomness: bool,
    /// Alignment of random positions per direction, in bytes; the shortest length if `None`.
    pub align_bytes: [Option<u32>; 3],
    /// Where random requests go.
    pub distribution: Distribution,
    /// Whether every block is visited once before any is visited again.
    pub random_map: bool,
    /// `randseed`, mixed into the seed of the run.
    pub rand_seed: u64,
    /// First byte of the region.
    pub offset: Extent,
    /// Added to `offset` per clone.
    pub offset_increment: Extent,
    /// Length of the region; all that lies behind the offset if `None`.
    pub size: Option<Extent>,
    /// Length of the region where it differs from `size` (`filesize`), in bytes.
    pub file_size: Option<u64>,
    /// Bytes to move; the size if `None`.
    pub io_size: Option<Extent>,
    /// Times the amount is moved.
    pub loops: u32,
    /// Requests after which the job ends, flushes not counted.
    pub number_ios: Option<u64>,
    /// Whether the job goes on, from the start of its region, until its run time is over.
    pub time_based: bool,
    /// Run time after which the job ends, in ns, the ramp not counted.
    pub runtime_ns: Option<u64>,
    /// Time before measurements count, in ns.
    pub ramp_ns: u64,
    /// Least and greatest delay before the job starts, in ns; see
    /// [`crate::JobStream::start_delay_ns`].
    pub start_delay_ns: [u64; 2],
    /// Temperature of the drive from the start of the job's group on (°C); as before if `None`.
    pub temperature_c: Option<f64>,
    /// Temperature of the drive from the start of the job's group until the first of its jobs issues requests (°C):
    /// while the start delay of all of them lasts.
    pub delay_temperature_c: Option<f64>,
    /// Time after the start of the run at which the power of the drive is cut and comes back, in ns; the earliest one
    /// of all jobs counts.
    pub power_cut_ns: Option<u64>,
    /// Most requests in flight.
    pub iodepth: u32,
    pub think: Option<Think>,
    /// Pacing, per direction.
    pub rate: [Rate; 3],
    /// Gaps of paced directions.
    pub arrivals: Arrivals,
    /// Every write is one with FUA (`sync`).
    pub fua: bool,
    /// Writes between two flushes (`fsync`, `fdatasync`).
    pub writes_per_flush: Option<u32>,
    /// Placement handles of its writes (`fdp`); none where they name none.
    pub handles: Option<Handles>,
    /// The log of the host that lies between the jobs and the drive; all jobs of a load have the same one.
    pub host_log: Option<HostLogSpec>,
    /// Search for a queue depth.
    pub latency_target: Option<LatencyTarget>,
    /// Jobs since the last `stonewall` or `new_group` are a reporting group.
    pub reporting_group: u32,
    /// Section that must have ended before the job starts, with all its clones.
    pub wait_for: Option<u32>,
    /// Whom it takes with it when it ends.
    pub exit_all: Option<ExitWhat>,
    /// Its part in a flow.
    pub flow: Option<Flow>,
    /// Zones it goes through.
    pub strides: Option<Strides>,
    pub percentiles: Vec<f64>,
    /// Latencies whose percentiles are reported.
    pub percentiles_of: PercentilesOf,
    /// Logs that it asks for.
    pub logs: JobLogs,
}

/// fio's default `percentile_list`.
pub const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

impl Workload {
    /// The highest temperature that its phases bring the drive to (°C).
    pub fn hottest_c(&self) -> Option<f64> {
        let jobs = self.jobs.iter();
        let of = jobs.flat_map(|job| [job.temperature_c, job.delay_temperature_c]);
        of.flatten().reduce(f64::max)
    }

    /// That a drive with so many placement handles has those that the jobs name; none where it takes no handle.
    ///
    /// # Errors
    /// [`WorkloadError::Job`], of the first job that names another one.
    pub fn check_handles(&self, drive: Option<u16>) -> Result<(), WorkloadError> {
        let drive = self.handles_on(drive);
        self.jobs.iter().try_for_each(|job| match &job.handles {
            Some(handles) => handles.check(drive).map_err(|why| job.error(why.into())),
            None => Ok(()),
        })
    }
}

/// The log of the host.
impl Workload {
    /// The log, where there is one.
    pub fn host_log(&self) -> Option<&HostLogSpec> {
        self.jobs.first()?.host_log.as_ref()
    }

    /// What the jobs see of a drive of so many bytes.
    pub fn capacity_on(&self, drive_bytes: u64) -> u64 {
        let log = self.host_log();
        log.map_or(drive_bytes, |log| log.capacity_bytes(drive_bytes))
    }

    /// Placement handles that the jobs may name on a drive that has so many: those of the log, where there is one.
    pub fn handles_on(&self, drive: Option<u16>) -> Option<u16> {
        match self.host_log() {
            Some(log) => Some(u16::from(log.heads)),
            None => drive,
        }
    }

    /// The log on a drive, where there is one.
    ///
    /// # Errors
    /// [`WorkloadError::Job`] where the drive has no room for it, or a job asks for what the log does not take.
    pub fn plan_host_log(&self, under: &UnderLog) -> Result<Option<LogPlan>, WorkloadError> {
        let (Some(first), Some(log)) = (self.jobs.first(), self.host_log()) else {
            return Ok(None);
        };
        let plan = log.plan(under).map_err(|why| first.error(why.into()))?;
        for job in &self.jobs {
            let page = under.page_bytes;
            if let Some(bytes) = job.part_of(page) {
                let why = HostLogError::Request { bytes, page };
                return Err(job.error(why.into()));
            }
        }
        Ok(Some(plan))
    }

    /// That the jobs agree about the log, and ask for what it takes.
    pub(crate) fn check_host_log(&self) -> Result<(), WorkloadError> {
        let Some(first) = self.jobs.first() else {
            return Ok(());
        };
        for job in &self.jobs {
            let why = if job.host_log != first.host_log {
                HostLogError::Differs {
                    other: first.name.clone(),
                }
            } else if job.host_log.is_none() {
                continue;
            } else if job.operations.directions().contains(&Direction::Trim) {
                HostLogError::Trims
            } else if job.power_cut_ns.is_some() {
                HostLogError::PowerCut
            } else if let Some(why) = job.lacks_head() {
                why
            } else {
                continue;
            };
            return Err(job.error(why.into()));
        }
        match self.host_log() {
            Some(_) if !self.jobs.iter().any(JobSpec::writes) => {
                Err(first.error(HostLogError::NothingWritten.into()))
            }
            _ => Ok(()),
        }
    }
}

impl JobSpec {
    /// The first placement handle of it that its log has no head for.
    fn lacks_head(&self) -> Option<HostLogError> {
        let heads = self.host_log?.heads;
        match self.handles.as_ref()?.check(Some(u16::from(heads))) {
            Err(HandlesError::NoSuch { why, .. }) => Some(HostLogError::NoHead {
                handle: why.handle,
                heads,
            }),
            _ => None,
        }
    }

    /// A length or a place of requests that is no multiple of `page` bytes, as far as it is known beforehand.
    fn part_of(&self, page: u32) -> Option<u64> {
        let directions = self.operations.directions().iter();
        let lengths = directions.flat_map(|d| match &self.sizes[*d as usize] {
            Sizes::Fixed(bytes) => vec![*bytes],
            Sizes::Range { min, .. } => vec![*min],
            Sizes::Split(parts) => parts.iter().map(|part| part.0).collect(),
        });
        let aligned = self.align_bytes.into_iter().flatten();
        let places = [self.offset, self.offset_increment];
        let places = places.into_iter().filter_map(|place| match place {
            Extent::Bytes(bytes) => Some(bytes),
            Extent::Percent(_) => None,
        });
        let mut all = lengths.chain(aligned).map(u64::from).chain(places);
        all.find(|bytes| bytes % u64::from(page) != 0)
    }

    pub fn writes(&self) -> bool {
        self.operations.directions().contains(&Direction::Write)
    }

    /// That the job is wrong.
    pub fn error(&self, why: JobError) -> WorkloadError {
        WorkloadError::Job {
            place: self.place.clone(),
            job: self.name.clone(),
            why,
        }
    }

    /// Whether it reads, at least now and then.
    pub fn reads(&self) -> bool {
        self.operations.directions().contains(&Direction::Read)
    }

    /// A job with fio's defaults: sequential reads of 4 KiB, one at a time, over the whole drive.
    pub fn new(name: &str) -> JobSpec {
        JobSpec {
            place: Location::whole(name),
            name: name.to_owned(),
            description: None,
            section: 0,
            clone: 0,
            group: 0,
            report: 0,
            operations: Operations::Read,
            random: false,
            modifier: Modifier::None,
            read_percent: 50,
            random_percent: [100; 3],
            sizes: [Sizes::Fixed(4096), Sizes::Fixed(4096), Sizes::Fixed(4096)],
            sizes_by_randomness: false,
            align_bytes: [None; 3],
            distribution: Distribution::Uniform,
            random_map: true,
            rand_seed: 0x89,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            size: None,
            file_size: None,
            io_size: None,
            loops: 1,
            number_ios: None,
            time_based: false,
            runtime_ns: None,
            ramp_ns: 0,
            start_delay_ns: [0, 0],
            temperature_c: None,
            delay_temperature_c: None,
            power_cut_ns: None,
            iodepth: 1,
            think: None,
            rate: [Rate::Unlimited; 3],
            arrivals: Arrivals::Linear,
            fua: false,
            writes_per_flush: None,
            handles: None,
            host_log: None,
            latency_target: None,
            reporting_group: 0,
            wait_for: None,
            exit_all: None,
            flow: None,
            strides: None,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            percentiles_of: PercentilesOf {
                clat: true,
                lat: false,
                slat: false,
            },
            logs: JobLogs::NONE,
        }
    }
}
