//! Applies options to a job, and checks the job after all its options have been read.

use super::error::ValueError;
use super::handles;
use super::host_log;
use super::logs;
use super::value::{MAX_BYTES, Value, fill_shares};
use crate::error::{Location, WorkloadError};
use crate::job::{
    Arrivals, Distribution, ExitWhat, Extent, Flow, JobSpec, LatencyTarget, Modifier, Operations,
    Rate, Sizes, Strides, Think, Zone,
};
use crate::stream::JobError;

/// A job while its options are read.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) job: JobSpec,
    pub(super) numjobs: u32,
    stonewall: bool,
    new_group: bool,
    group_reporting: bool,
    modifier: Option<i64>,
    identical: bool,
    read_percent: Option<u8>,
    write_percent: Option<u8>,
    think: Think,
    latency: LatencyTarget,
    own_repeat: bool,
    generator: Option<&'static str>,
    /// Name of the job it waits for.
    pub(super) wait_for: Option<String>,
    exit_all: bool,
    exit_what: ExitWhat,
    flow: Flow,
    strided: Option<bool>,
    strides: Strides,
    fill_device: bool,
    sync: bool,
    files: u32,
    pub(super) handles: handles::Options,
    pub(super) host_log: host_log::Options,
    logs: logs::Options,
}

type Set = Result<(), ValueError>;

const S: u64 = 1_000_000_000;
const US: u64 = 1_000;
/// Most jobs and clones in one file, as in fio.
pub(super) const MAX_JOBS: u64 = 4096;
/// Highest rate of bytes or requests a second; above, arithmetic in ns has no resolution left.
const MAX_RATE: u64 = 1 << 50;

impl Draft {
    pub(super) fn new(place: Location, name: &str, section: u32) -> Draft {
        let mut job = JobSpec::new(name);
        job.place = place;
        job.section = section;
        Draft {
            job,
            numjobs: 1,
            stonewall: false,
            new_group: false,
            group_reporting: false,
            modifier: None,
            identical: false,
            read_percent: None,
            write_percent: None,
            think: Think {
                time_ns: 0,
                blocks: 1,
            },
            latency: LatencyTarget {
                target_ns: 0,
                window_ns: 0,
                percentile: 100.0,
                run: false,
            },
            own_repeat: true,
            generator: None,
            wait_for: None,
            exit_all: false,
            exit_what: ExitWhat::ReportingGroup,
            flow: Flow {
                id: 0,
                weight: 0,
                sleep_ns: 0,
            },
            strided: None,
            strides: Strides {
                move_bytes: 0,
                zone_bytes: 0,
                skip_bytes: 0,
            },
            fill_device: false,
            sync: false,
            files: 1,
            handles: handles::Options::default(),
            host_log: host_log::Options::default(),
            logs: logs::Options::default(),
        }
    }

    /// Combines options that depend on one another. Returns notices for the user.
    pub(super) fn finish(&mut self) -> Result<Vec<String>, WorkloadError> {
        let mut notices = Vec::new();
        let job = &mut self.job;
        let fail = |job: &JobSpec, why: JobError| {
            Err(WorkloadError::Job {
                place: job.place.clone(),
                job: job.name.clone(),
                why,
            })
        };
        job.modifier = match self.modifier {
            None | Some(0) => Modifier::None,
            Some(n) if job.random && !(1..=i64::from(u32::MAX)).contains(&n) => {
                return fail(job, JobError::Requests(n));
            }
            Some(n) if job.random && self.identical => Modifier::RepeatsOf(n as u32),
            Some(n) if job.random => Modifier::RunsOf(n as u32),
            Some(n) if n % 512 != 0 => {
                return fail(job, JobError::Skip(n));
            }
            Some(n) => Modifier::Skip(n),
        };
        job.read_percent = match (self.read_percent, self.write_percent) {
            (Some(read), Some(write)) if u32::from(read) + u32::from(write) != 100 => {
                return fail(job, JobError::Mix { read, write });
            }
            (Some(read), _) => read,
            (None, Some(write)) => 100 - write,
            (None, None) => 50,
        };
        if self.think.time_ns > 0 {
            job.think = Some(self.think);
        }
        if self.latency.target_ns > 0 {
            job.latency_target = Some(self.latency);
        } else if self.latency.window_ns > 0 || self.latency.run {
            let needs = "latency_window and latency_run need latency_target";
            return fail(job, JobError::Rule(needs));
        }
        if job.time_based && job.runtime_ns.is_none() {
            job.time_based = false;
            notices.push("`time_based` without `runtime` has no effect, as in fio".to_owned());
        }
        if self.exit_all {
            job.exit_all = Some(self.exit_what);
        }
        if self.flow.weight > 0 {
            job.flow = Some(self.flow);
        }
        if self.fill_device {
            (job.size, job.file_size) = (None, None);
        }
        match self.files {
            1 => {}
            n if job.random => notices.push(format!(
                "`nrfiles={n}`: files lie one after the other in the job's region, and random \
                 requests go to all of it"
            )),
            n => {
                return fail(job, JobError::Files(n));
            }
        }
        job.fua = self.sync;
        job.logs = self.logs.finish(&job.name, &mut notices);
        job.handles = match self.handles.finish(&mut notices) {
            Ok(handles) => handles,
            Err(why) => return fail(job, why),
        };
        job.host_log = match self.host_log.finish() {
            Ok(log) => log,
            Err(why) => return fail(job, why),
        };
        let strides = &mut self.strides;
        if self.strided.unwrap_or(strides.move_bytes > 0) {
            if strides.move_bytes == 0 {
                return fail(job, JobError::Rule("zonemode=strided needs zonesize"));
            }
            if strides.zone_bytes == 0 {
                strides.zone_bytes = strides.move_bytes;
            }
            job.strides = Some(*strides);
        }
        if job.file_size.is_some() && matches!(job.size, Some(Extent::Percent(_))) {
            return fail(
                job,
                JobError::Rule("size in percent together with filesize"),
            );
        }
        if !job.random {
            let random_only = [
                (
                    "random_distribution",
                    job.distribution != Distribution::Uniform,
                ),
                ("percentage_random", job.random_percent != [100; 3]),
                ("blockalign", job.align_bytes != [None; 3]),
            ];
            for (name, given) in random_only {
                if given {
                    notices.push(format!("`{name}` has no effect on a sequential job"));
                }
            }
        }
        let used = job.operations.directions();
        let varies = used
            .iter()
            .any(|&d| !matches!(job.sizes[d as usize], Sizes::Fixed(_)));
        if job.random && job.random_map {
            if job.distribution != Distribution::Uniform {
                job.random_map = false; // As in fio: a skewed job revisits blocks.
            } else if job.align_bytes != [None; 3] {
                job.random_map = false;
                notices.push("`blockalign` turns the random map off, as in fio".to_owned());
            } else if varies {
                notices.push(
                    "block sizes vary: each block of the smallest size is where one request of a \
                     pass begins, so requests may overlap (fio shortens them instead)"
                        .to_owned(),
                );
            }
        }
        if !self.own_repeat {
            notices.push(
                "`randrepeat=0`: runs are always repeatable here; give the run another seed"
                    .to_owned(),
            );
        }
        if let Some(name) = self.generator {
            notices.push(format!(
                "`random_generator={name}`: streams keyed by purpose are used instead"
            ));
        }
        Ok(notices)
    }
}

/// Numbers of a job that follow from its position in the file.
pub(super) struct Numbers {
    pub(super) clone: u32,
    pub(super) group: u32,
    pub(super) reporting_group: u32,
    pub(super) report: u32,
}

/// Calls `each` for every clone of every draft, with its numbers.
pub(super) fn number_groups(drafts: &[Draft], mut each: impl FnMut(&Draft, Numbers)) {
    let (mut group, mut reporting_group, mut next_report) = (0, 0, 0);
    // The report of a reporting group that is still open.
    let mut open: Option<u32> = None;
    for (i, draft) in drafts.iter().enumerate() {
        if draft.stonewall && i > 0 {
            group += 1;
        }
        if (draft.stonewall || draft.new_group) && i > 0 {
            reporting_group += 1;
        }
        if draft.stonewall || draft.new_group || !draft.group_reporting {
            open = None;
        }
        for clone in 0..draft.numjobs {
            let report = match open {
                Some(report) => report,
                None => {
                    next_report += 1;
                    next_report - 1
                }
            };
            if draft.group_reporting {
                open = Some(report);
            }
            each(
                draft,
                Numbers {
                    clone,
                    group,
                    reporting_group,
                    report,
                },
            );
        }
    }
}

// One function an option, in the order of the table.

pub(super) fn name(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.name = v.text()?.to_owned();
    Ok(())
}
pub(super) fn description(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.description = Some(v.text()?.to_owned());
    Ok(())
}
pub(super) fn rw(d: &mut Draft, v: &Value<'_>) -> Set {
    let text = v.text()?;
    let (pattern, modifier) = match text.split_once(':') {
        Some((pattern, n)) => (pattern.trim(), Some(n.trim())),
        None => (text, None),
    };
    let of_pattern = Value {
        text: Some(pattern),
        ..*v
    };
    (d.job.operations, d.job.random) = of_pattern.word(&[
        ("read", (Operations::Read, false)),
        ("write", (Operations::Write, false)),
        ("trim", (Operations::Trim, false)),
        ("randread", (Operations::Read, true)),
        ("randwrite", (Operations::Write, true)),
        ("randtrim", (Operations::Trim, true)),
        ("rw", (Operations::Mixed, false)),
        ("readwrite", (Operations::Mixed, false)),
        ("randrw", (Operations::Mixed, true)),
        ("trimwrite", (Operations::TrimWrite, false)),
        ("randtrimwrite", (Operations::TrimWrite, true)),
    ])?;
    d.modifier = match modifier {
        None => None,
        Some(n) => {
            let (sign, digits) = match n.strip_prefix('-') {
                Some(digits) => (-1, digits),
                None => (1, n),
            };
            let n = Value {
                text: Some(digits),
                ..*v
            };
            Some(sign * n.number()? as i64)
        }
    };
    Ok(())
}
pub(super) fn rw_sequencer(d: &mut Draft, v: &Value<'_>) -> Set {
    d.identical = v.word(&[("sequential", false), ("identical", true)])?;
    Ok(())
}
pub(super) fn rwmixread(d: &mut Draft, v: &Value<'_>) -> Set {
    d.read_percent = Some(v.percent()?);
    Ok(())
}
pub(super) fn rwmixwrite(d: &mut Draft, v: &Value<'_>) -> Set {
    d.write_percent = Some(v.percent()?);
    Ok(())
}
pub(super) fn bs(d: &mut Draft, v: &Value<'_>) -> Set {
    set_sizes(d, v.directions(|v| Ok(Sizes::Fixed(v.request_bytes()?)))?)
}
pub(super) fn bsrange(d: &mut Draft, v: &Value<'_>) -> Set {
    set_sizes(
        d,
        v.directions(|v| {
            let [min, max] = v.range(|v| v.request_bytes())?;
            Ok(if min == max {
                Sizes::Fixed(min)
            } else {
                Sizes::Range { min, max }
            })
        })?,
    )
}
pub(super) fn bssplit(d: &mut Draft, v: &Value<'_>) -> Set {
    set_sizes(
        d,
        v.directions(|v| {
            let parts = v.shares(|v| v.request_bytes())?;
            Ok(match fill_shares(&parts)?.as_slice() {
                [(bytes, _)] => Sizes::Fixed(*bytes),
                parts => Sizes::Split(parts.to_vec()),
            })
        })?,
    )
}
fn set_sizes(d: &mut Draft, sizes: [Option<Sizes>; 3]) -> Set {
    for (old, new) in d.job.sizes.iter_mut().zip(sizes) {
        *old = new.unwrap_or(Sizes::Fixed(4096));
    }
    Ok(())
}
pub(super) fn bs_is_seq_rand(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.sizes_by_randomness = v.flag()?;
    Ok(())
}
pub(super) fn blockalign(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.align_bytes = v.directions(|v| v.request_bytes())?;
    Ok(())
}
pub(super) fn iodepth(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.iodepth = v.count(1, 1 << 20)? as u32;
    Ok(())
}
pub(super) fn numjobs(d: &mut Draft, v: &Value<'_>) -> Set {
    d.numjobs = v.count(1, MAX_JOBS)? as u32;
    Ok(())
}
pub(super) fn size(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.size = Some(length(v)?);
    Ok(())
}
pub(super) fn filesize(d: &mut Draft, v: &Value<'_>) -> Set {
    if v.text()?.contains('-') {
        return Err(ValueError::Rule(
            "a range of file sizes has no meaning on one drive",
        ));
    }
    d.job.file_size = Some(v.sectors()?);
    Ok(())
}
pub(super) fn io_size(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.io_size = Some(length(v)?);
    Ok(())
}
fn length(v: &Value<'_>) -> Result<Extent, ValueError> {
    match v.extent()? {
        Extent::Bytes(0) | Extent::Percent(0) => Err(ValueError::Rule("must not be 0")),
        Extent::Bytes(_) => v.sectors().map(Extent::Bytes),
        percent => Ok(percent),
    }
}
fn place(v: &Value<'_>) -> Result<Extent, ValueError> {
    match v.extent()? {
        Extent::Bytes(n) if n % 512 != 0 => Err(ValueError::Sectors(n)),
        extent => Ok(extent),
    }
}
pub(super) fn offset(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.offset = place(v)?;
    Ok(())
}
pub(super) fn offset_increment(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.offset_increment = place(v)?;
    Ok(())
}
pub(super) fn loops(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.loops = v.count(1, u64::from(u32::MAX))? as u32;
    Ok(())
}
pub(super) fn number_ios(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.number_ios = match v.count(0, MAX_BYTES)? {
        0 => None,
        n => Some(n),
    };
    Ok(())
}
pub(super) fn nrfiles(d: &mut Draft, v: &Value<'_>) -> Set {
    d.files = v.count(1, u64::from(u32::MAX))? as u32;
    Ok(())
}
pub(super) fn kb_base(_: &mut Draft, _: &Value<'_>) -> Set {
    Ok(()) // Read beforehand, since it decides how all other numbers are read.
}
pub(super) fn runtime(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.runtime_ns = match v.time_ns(S)? {
        0 => None,
        ns => Some(ns),
    };
    Ok(())
}
pub(super) fn time_based(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.time_based = v.flag()?;
    Ok(())
}
pub(super) fn ramp_time(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.ramp_ns = v.time_ns(S)?;
    Ok(())
}
pub(super) fn startdelay(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.start_delay_ns = v.range(|v| v.time_ns(S))?;
    Ok(())
}
pub(super) fn stonewall(d: &mut Draft, v: &Value<'_>) -> Set {
    d.stonewall = v.flag()?;
    Ok(())
}
pub(super) fn new_group(d: &mut Draft, v: &Value<'_>) -> Set {
    d.new_group = v.flag()?;
    Ok(())
}
pub(super) fn random_distribution(d: &mut Draft, v: &Value<'_>) -> Set {
    let text = v.text()?;
    let (kind, rest) = match text.split_once([':', '=']) {
        Some((kind, rest)) => (kind.trim(), Some(rest.trim())),
        None => (text, None),
    };
    let of = |text: &'static str| (text, text);
    let kind = Value {
        text: Some(kind),
        ..*v
    }
    .word(&["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"].map(of))?;
    let list = Value { text: rest, ..*v };
    let numbers = |default: Option<f64>| -> Result<(f64, Option<f64>), ValueError> {
        let list = match (rest, default) {
            (Some(_), _) => list.floats(0.0, 100.0)?,
            (None, Some(default)) => vec![default],
            (None, None) => return Err(ValueError::Deviation(kind)),
        };
        match list[..] {
            [x] => Ok((x, None)),
            [x, center] if center <= 1.0 => Ok((x, Some(center))),
            [_, _] => Err(ValueError::Rule("the center is from 0 to 1")),
            _ => Err(ValueError::Rule(
                "at most two numbers: the parameter and the center",
            )),
        }
    };
    let zones = |absolute: bool| -> Result<[Vec<Zone>; 3], ValueError> {
        let lists = list.directions(|v| zone_list(v, absolute))?;
        Ok(lists.map(Option::unwrap_or_default))
    };
    d.job.distribution = match kind {
        "zipf" => {
            let (theta, center) = numbers(Some(1.1))?;
            if theta <= 0.0 {
                return Err(ValueError::Rule("theta must be above 0"));
            }
            Distribution::Zipf { theta, center }
        }
        "pareto" => {
            let (h, center) = numbers(Some(0.2))?;
            if h <= 0.0 || h >= 1.0 {
                return Err(ValueError::Rule("the power must be above 0 and below 1"));
            }
            Distribution::Pareto { h, center }
        }
        "normal" => {
            let (deviation, center) = numbers(None)?;
            if deviation <= 0.0 || deviation >= 100.0 {
                return Err(ValueError::Rule(
                    "the deviation must be above 0 and below 100 percent",
                ));
            }
            Distribution::Normal { deviation, center }
        }
        "zoned" => Distribution::Zoned(zones(false)?),
        "zoned_abs" => Distribution::ZonedAbsolute(zones(true)?),
        _ if rest.is_some() => return Err(ValueError::Rule("`random` takes no parameter")),
        _ => Distribution::Uniform,
    };
    Ok(())
}
/// `access%/size:access%/size`, with sizes in percent or bytes.
fn zone_list(v: &Value<'_>, absolute: bool) -> Result<Vec<Zone>, ValueError> {
    let mut zones = Vec::new();
    // Zones without a size, which share what is left of the region.
    let mut open = Vec::new();
    for part in v.text()?.split(':') {
        let (access, size) = part
            .split_once('/')
            .ok_or_else(|| ValueError::Zone(part.to_owned()))?;
        let of = |text| Value {
            text: Some(text),
            ..*v
        };
        zones.push(Zone {
            access_percent: of(access.trim()).percent()?,
            size: if size.trim().is_empty() && !absolute {
                open.push(zones.len());
                0
            } else if absolute {
                of(size.trim()).sectors()?
            } else {
                u64::from(of(size.trim()).percent()?)
            },
        });
    }
    let access: u32 = zones.iter().map(|z| u32::from(z.access_percent)).sum();
    let sizes: u64 = zones.iter().fold(0, |sum, z| z.size.saturating_add(sum));
    if zones.len() > 256 {
        return Err(ValueError::Rule("at most 256 zones"));
    }
    if access != 100 {
        return Err(ValueError::Shares {
            what: "shares of access",
            sum: access,
        });
    }
    if !absolute && sizes > 100 {
        return Err(ValueError::ZoneSizes(sizes));
    }
    let left = 100 - sizes.min(100);
    for (i, &zone) in (0..).zip(&open) {
        let parts = open.len() as u64;
        zones[zone].size = left / parts + u64::from(i < left % parts);
    }
    Ok(zones)
}
pub(super) fn percentage_random(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.random_percent = v.directions(|v| v.percent())?.map(|p| p.unwrap_or(100));
    Ok(())
}
pub(super) fn norandommap(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.random_map = !v.flag()?;
    Ok(())
}
pub(super) fn randrepeat(d: &mut Draft, v: &Value<'_>) -> Set {
    d.own_repeat = v.flag()?;
    Ok(())
}
pub(super) fn randseed(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.rand_seed = v.number()?;
    Ok(())
}
pub(super) fn random_generator(d: &mut Draft, v: &Value<'_>) -> Set {
    let of = |text: &'static str| (text, text);
    d.generator = Some(v.word(&["tausworthe", "lfsr", "tausworthe64"].map(of))?);
    Ok(())
}
pub(super) fn rate(d: &mut Draft, v: &Value<'_>) -> Set {
    set_rates(d, v, Rate::BytesPerSecond)
}
pub(super) fn rate_iops(d: &mut Draft, v: &Value<'_>) -> Set {
    set_rates(d, v, Rate::Iops)
}
fn set_rates(d: &mut Draft, v: &Value<'_>, kind: impl Fn(u64) -> Rate) -> Set {
    let rates = v.directions(|v| v.count(0, MAX_RATE))?;
    for (old, new) in d.job.rate.iter_mut().zip(rates) {
        // A job may use `rate` in one direction and `rate_iops` in the other.
        match (*old, new.map(|n| (n, kind(n)))) {
            (_, None) => {}
            (_, Some((0, _))) => *old = Rate::Unlimited,
            (Rate::BytesPerSecond(_), Some((_, Rate::Iops(_))))
            | (Rate::Iops(_), Some((_, Rate::BytesPerSecond(_)))) => {
                return Err(ValueError::Rule(
                    "`rate` and `rate_iops` for the same direction",
                ));
            }
            (_, Some((_, new))) => *old = new,
        }
    }
    Ok(())
}
pub(super) fn rate_process(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.arrivals = v.word(&[("linear", Arrivals::Linear), ("poisson", Arrivals::Poisson)])?;
    Ok(())
}
pub(super) fn thinktime(d: &mut Draft, v: &Value<'_>) -> Set {
    d.think.time_ns = v.time_ns(US)?;
    Ok(())
}
pub(super) fn thinktime_blocks(d: &mut Draft, v: &Value<'_>) -> Set {
    d.think.blocks = v.count(1, u64::from(u32::MAX))? as u32;
    Ok(())
}
pub(super) fn thinktime_blocks_type(_: &mut Draft, v: &Value<'_>) -> Set {
    // Both types give the same order of requests, because a pause waits until all requests have completed.
    v.word(&[("complete", ()), ("issue", ())])
}
pub(super) fn fsync(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.writes_per_flush = match v.count(0, u64::from(u32::MAX))? {
        0 => None,
        n => Some(n as u32),
    };
    Ok(())
}
pub(super) fn latency_target(d: &mut Draft, v: &Value<'_>) -> Set {
    d.latency.target_ns = v.time_ns(US)?;
    Ok(())
}
pub(super) fn latency_window(d: &mut Draft, v: &Value<'_>) -> Set {
    d.latency.window_ns = v.time_ns(US)?;
    Ok(())
}
pub(super) fn latency_percentile(d: &mut Draft, v: &Value<'_>) -> Set {
    d.latency.percentile = v.float(0.0, 100.0)?;
    Ok(())
}
pub(super) fn latency_run(d: &mut Draft, v: &Value<'_>) -> Set {
    d.latency.run = v.flag()?;
    Ok(())
}
pub(super) fn sync(d: &mut Draft, v: &Value<'_>) -> Set {
    let on = |text| (text, true);
    let off = |text| (text, false);
    d.sync = match v.text {
        None => true,
        Some(_) => v.word(&[off("none"), off("0"), on("sync"), on("1"), on("dsync")])?,
    };
    Ok(())
}
pub(super) fn wait_for(d: &mut Draft, v: &Value<'_>) -> Set {
    d.wait_for = Some(v.text()?.to_owned());
    Ok(())
}
pub(super) fn exitall(d: &mut Draft, v: &Value<'_>) -> Set {
    d.exit_all = v.flag()?;
    Ok(())
}
pub(super) fn exit_what(d: &mut Draft, v: &Value<'_>) -> Set {
    d.exit_what = v.word(&[
        ("group", ExitWhat::ReportingGroup),
        ("stonewall", ExitWhat::Together),
        ("all", ExitWhat::All),
    ])?;
    Ok(())
}
pub(super) fn flow(d: &mut Draft, v: &Value<'_>) -> Set {
    d.flow.weight = v.count(0, 1 << 20)? as u32;
    Ok(())
}
pub(super) fn flow_id(d: &mut Draft, v: &Value<'_>) -> Set {
    d.flow.id = v.number()?;
    Ok(())
}
pub(super) fn flow_sleep(d: &mut Draft, v: &Value<'_>) -> Set {
    d.flow.sleep_ns = v.time_ns(US)?;
    Ok(())
}
pub(super) fn zonemode(d: &mut Draft, v: &Value<'_>) -> Set {
    if v.text == Some("zbd") {
        return Err(ValueError::Rule(
            "the drive has no zones of its own; `strided` works on any drive",
        ));
    }
    d.strided = Some(v.word(&[("none", false), ("strided", true)])?);
    Ok(())
}
pub(super) fn zonesize(d: &mut Draft, v: &Value<'_>) -> Set {
    d.strides.move_bytes = v.sectors()?;
    Ok(())
}
pub(super) fn zonerange(d: &mut Draft, v: &Value<'_>) -> Set {
    d.strides.zone_bytes = v.sectors()?;
    Ok(())
}
pub(super) fn zoneskip(d: &mut Draft, v: &Value<'_>) -> Set {
    d.strides.skip_bytes = match v.number()? {
        0 => 0,
        _ => v.sectors()?,
    };
    Ok(())
}
pub(super) fn fill_device(d: &mut Draft, v: &Value<'_>) -> Set {
    d.fill_device = v.flag()?;
    Ok(())
}
pub(super) fn group_reporting(d: &mut Draft, v: &Value<'_>) -> Set {
    d.group_reporting = v.flag()?;
    Ok(())
}
pub(super) fn percentile_list(d: &mut Draft, v: &Value<'_>) -> Set {
    let mut list = v.floats(0.0, 100.0)?;
    if list.len() > 20 {
        return Err(ValueError::Rule("at most 20 percentiles, as in fio"));
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    d.job.percentiles = list;
    Ok(())
}
pub(super) fn clat_percentiles(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.percentiles_of.clat = v.flag()?;
    Ok(())
}
pub(super) fn lat_percentiles(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.percentiles_of.lat = v.flag()?;
    Ok(())
}
pub(super) fn slat_percentiles(d: &mut Draft, v: &Value<'_>) -> Set {
    d.job.percentiles_of.slat = v.flag()?;
    Ok(())
}
pub(super) fn write_iops_log(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_iops(v)
}
pub(super) fn write_bw_log(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_bw(v)
}
pub(super) fn write_lat_log(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_lat(v)
}
pub(super) fn log_avg_msec(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_window(v)
}
pub(super) fn log_window_value(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_value(v)
}
pub(super) fn per_job_logs(d: &mut Draft, v: &Value<'_>) -> Set {
    d.logs.set_per_job(v)
}
pub(super) fn fdp(d: &mut Draft, v: &Value<'_>) -> Set {
    d.handles.set_fdp(v)
}
pub(super) fn dataplacement(d: &mut Draft, v: &Value<'_>) -> Set {
    d.handles.set_interface(v)
}
pub(super) fn plid_select(d: &mut Draft, v: &Value<'_>) -> Set {
    d.handles.set_select(v)
}
pub(super) fn plids(d: &mut Draft, v: &Value<'_>) -> Set {
    d.handles.set_plids(v)
}
pub(super) fn dp_scheme(d: &mut Draft, v: &Value<'_>) -> Set {
    d.handles.set_scheme(v)
}
