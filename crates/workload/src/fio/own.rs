//! Options that fio does not have: what a drive is exposed to while a job file runs, and a log of the host above it. They stand in comments of the job
//! file, `; firstread: temperature=55`, so that fio runs the same file and ignores them.

use super::apply::Draft;
use super::error::ValueError;
use super::row::{Effect, OptionRow};
use super::value::Value;
use crate::error::WorkloadError;
use crate::job::JobSpec;
use crate::stream::JobError;

/// What a comment begins with that holds an option.
const PREFIX: &str = "firstread:";

/// Lowest and highest temperature of a drive (°C), as in a chip profile.
const CELSIUS: (f64, f64) = (-55.0, 150.0);

/// The options. A phase is what lies between two `stonewall`s: all jobs of a phase that give a temperature give the
/// same one.
pub const OWN_OPTIONS: &[OptionRow] = &[
    OptionRow {
        name: "temperature",
        aliases: &[],
        takes: "°C, -55 to 150",
        default: "as before",
        example: "55",
        doc: "temperature of the drive from the start of the job's phase on, until another phase changes it",
        effect: Effect::Load(temperature),
    },
    OptionRow {
        name: "delay_temperature",
        aliases: &[],
        takes: "°C, -55 to 150",
        default: "the phase's temperature",
        example: "25",
        doc: "temperature of the drive until the first job of the phase starts, while `startdelay` lasts",
        effect: Effect::Load(delay_temperature),
    },
    OptionRow {
        name: "power_cut",
        aliases: &[],
        takes: "time, s",
        default: "never",
        example: "30",
        doc: "so long after the start of the run the power of the drive is cut, once, and comes back",
        effect: Effect::Load(power_cut),
    },
    OptionRow {
        name: "host_log",
        aliases: &[],
        takes: "bytes, or % of the drive",
        default: "none",
        example: "80%",
        doc: "a log of the host lies between the jobs and the drive; the jobs see so many bytes of it, and it cleans its zones with the rest of the drive",
        effect: Effect::Load(|d, v| d.host_log.set_capacity(v)),
    },
    OptionRow {
        name: "host_log_zone",
        aliases: &[],
        takes: "bytes",
        default: "a superblock",
        example: "4m",
        doc: "length of a zone of the log",
        effect: Effect::Load(|d, v| d.host_log.set_zone(v)),
    },
    OptionRow {
        name: "host_log_heads",
        aliases: &[],
        takes: "1 to 16",
        default: "1",
        example: "4",
        doc: "heads of the log for what jobs write, one for each placement handle that they name",
        effect: Effect::Load(|d, v| d.host_log.set_heads(v)),
    },
    OptionRow {
        name: "host_log_moves",
        aliases: &[],
        takes: "with-writes, apart, by-handle",
        default: "apart",
        example: "by-handle",
        doc: "where pages go that the log moves: to the head of their handle, to one head for all, or to a head for each handle",
        effect: Effect::Load(|d, v| d.host_log.set_moves(v)),
    },
    OptionRow {
        name: "host_log_victim",
        aliases: &[],
        takes: "greedy, cost-benefit, fifo",
        default: "greedy",
        example: "cost-benefit",
        doc: "which zone the log cleans next",
        effect: Effect::Load(|d, v| d.host_log.set_victim(v)),
    },
];

/// The option in the comment of `line`, if the line is such a comment.
pub(super) fn of_comment(line: &str) -> Option<&str> {
    let comment = line.trim().trim_start_matches([';', '#']);
    if comment.len() == line.trim().len() {
        return None;
    }
    comment.trim().strip_prefix(PREFIX).map(str::trim)
}

fn temperature(d: &mut Draft, v: &Value<'_>) -> Result<(), ValueError> {
    d.job.temperature_c = Some(v.float(CELSIUS.0, CELSIUS.1)?);
    Ok(())
}

fn delay_temperature(d: &mut Draft, v: &Value<'_>) -> Result<(), ValueError> {
    d.job.delay_temperature_c = Some(v.float(CELSIUS.0, CELSIUS.1)?);
    Ok(())
}

fn power_cut(d: &mut Draft, v: &Value<'_>) -> Result<(), ValueError> {
    d.job.power_cut_ns = Some(v.time_ns(1_000_000_000)?);
    Ok(())
}

/// A drive has one temperature at a time: jobs of a phase that give one agree.
pub(super) fn one_temperature_a_phase(jobs: &[JobSpec]) -> Result<(), WorkloadError> {
    type Get = fn(&JobSpec) -> Option<f64>;
    let options: [(&'static str, Get); 2] = [
        ("temperature", |job| job.temperature_c),
        ("delay_temperature", |job| job.delay_temperature_c),
    ];
    for (i, job) in jobs.iter().enumerate() {
        for (name, of) in options {
            let gives_one = |other: &&JobSpec| other.group == job.group && of(other).is_some();
            let other = jobs[..i].iter().rfind(gives_one);
            if let (Some(celsius), Some(other)) = (of(job), other)
                && of(other) != Some(celsius)
            {
                return Err(WorkloadError::Job {
                    place: job.place.clone(),
                    job: job.name.clone(),
                    why: JobError::Temperatures {
                        option: name,
                        celsius,
                        other: other.name.clone(),
                        of_other: of(other).unwrap_or(celsius),
                    },
                });
            }
        }
    }
    Ok(())
}
