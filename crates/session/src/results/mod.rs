//! The result of a run as JSON. It has fio's keys. Everything that fio does not have is under `firstread`.
//!
//! Everything is the same for the same version, seed and configuration, but for the last keys of `firstread`, from
//! `requests_per_wall_second` on, and the time of day: [`result_and_wall`] keeps those apart.
//!
//! - `fio`: a job as fio has it. `job_options`: the options of its file. `calendar`: the time of day.
//! - [`writes`], [`front`], [`calibration`]: what writes cost, what caches did, what calibration did.
//! - [`modes`]: capacity, traffic and wear by cell mode. `refresh`: data rewritten because of their reads.
//! - [`areas`]: areas that wear apart. [`page_types`]: reads by page type. [`streams`]: streams among which a
//!   scheme chooses. [`fdp`]: statistics of placement handles. [`host_log`]: a log of the host above the drive.
//! - `burn_in`: what a burn-in before the run did.
//! - [`timeline`]: the run over time.
//! - [`phases`]: when the phases of a job file ran, at which temperature.

pub mod areas;
mod burn_in;
mod calendar;
pub mod calibration;
pub mod fdp;
mod fio;
pub mod front;
pub mod host_log;
mod job_options;
mod memory;
pub mod modes;
pub mod page_types;
pub mod phases;
mod refresh;
mod refused;
mod split;
pub mod streams;
pub mod timeline;
pub mod writes;

use std::collections::BTreeMap;
use std::io::{self, Write};

use firstread_core::{CellMode, Ns};
use firstread_drive::stats::{BehindBackground, Latencies};
use firstread_drive::{Cause, Ended};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

pub(crate) use fio::latency;

use crate::files;
use crate::input::Input;
use crate::outcome::{Outcome, Part};
use crate::setup::Setup;

/// Commit that this crate was built from, with a mark if the work tree had changes.
pub const COMMIT: &str = env!("FIRSTREAD_COMMIT");
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Both, as in `0.1.0 (df55878cfbc5)`.
pub const BUILD: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("FIRSTREAD_COMMIT"),
    ")"
);

/// Share of requests that count as the tail.
pub const TAIL: f64 = 0.0001;

/// A value as text that ends with a newline.
pub fn text(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Keys of `firstread` that the machine decides: how long the simulation took, and its memory.
const WALL_KEYS: [&str; 4] = [
    "requests_per_wall_second",
    "wall_seconds",
    "prepare_wall_seconds",
    "peak_rss_bytes",
];

/// fio's keys that the machine's clock decides: when the run ended.
const CLOCK_KEYS: [&str; 3] = ["timestamp", "timestamp_ms", "time"];

/// The result without values that depend on the machine, and those values.
pub fn result_and_wall(setup: &Setup, outcome: &Outcome, with_calibration: bool) -> (Value, Value) {
    let mut result = result(setup, outcome, with_calibration);
    let mut wall = Map::new();
    let mut take = |from: &mut Value, keys: &[&str]| {
        let Some(from) = from.as_object_mut() else {
            return;
        };
        for key in keys {
            wall.insert((*key).to_owned(), from.remove(*key).unwrap_or_default());
        }
    };
    take(&mut result, &CLOCK_KEYS);
    take(&mut result["firstread"], &WALL_KEYS);
    (result, wall.into())
}

/// The result, with a row for each group of calibration where those are wanted.
pub fn result(setup: &Setup, outcome: &Outcome, with_calibration: bool) -> Value {
    Whole::new(setup, outcome, with_calibration).value()
}

/// A result that is made while it is written: of its jobs memory holds one at a time.
pub struct Whole<'a> {
    setup: &'a Setup,
    outcome: &'a Outcome,
    with_calibration: bool,
    with_bins: bool,
    options: Option<job_options::Options>,
}

impl<'a> Whole<'a> {
    /// The result of `outcome`, with a row for each group of calibration where those are wanted.
    pub fn new(setup: &'a Setup, outcome: &'a Outcome, with_calibration: bool) -> Whole<'a> {
        let options = match &*setup.input {
            Input::Jobs { text, .. } => Some(job_options::read(text)),
            Input::Trace(_) | Input::StandIn { .. } => None,
        };
        Whole {
            setup,
            outcome,
            with_calibration,
            with_bins: false,
            options,
        }
    }

    /// The same with the distribution of latencies of each job, as fio's `json+` has it, where `with_bins` says so.
    pub fn bins(self, with_bins: bool) -> Whole<'a> {
        Whole { with_bins, ..self }
    }

    /// The result as a value.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Writes the result as text that ends with a newline.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ended_ms = self.outcome.wall.ended_unix_ms;
        let global = self.options.as_ref().map(|o| o.global.clone());
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("fio version", &format!("firstread-{VERSION}"))?;
        map.serialize_entry("timestamp", &(ended_ms / 1000))?;
        map.serialize_entry("timestamp_ms", &ended_ms)?;
        map.serialize_entry("time", &calendar::text(ended_ms / 1000))?;
        map.serialize_entry("global options", &global.unwrap_or_default())?;
        map.serialize_entry("jobs", &Jobs(self))?;
        let own = own(self.setup, self.outcome, self.with_calibration);
        map.serialize_entry("firstread", &own)?;
        map.end()
    }
}

/// The jobs of a result.
struct Jobs<'a>(&'a Whole<'a>);

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let specs = match &*self.0.setup.input {
            Input::Jobs { workload, .. } => workload.jobs.as_slice(),
            Input::Trace(_) | Input::StandIn { .. } => &[],
        };
        let reports = &self.0.outcome.stats.reports;
        let spec_of = |report: usize| specs.iter().find(|job| job.report as usize == report);
        let group_of = |report: usize| spec_of(report).map_or(0, |spec| spec.group);
        let mut of_groups: BTreeMap<_, [f64; 3]> = BTreeMap::new();
        for (i, report) in reports.iter().enumerate() {
            let sum = of_groups.entry(group_of(i)).or_default();
            let add = fio::bytes_per_s(report);
            sum.iter_mut().zip(add).for_each(|(a, b)| *a += b);
        }
        serializer.collect_seq(reports.iter().enumerate().map(|(i, report)| {
            let spec = spec_of(i);
            let section = spec.map(|spec| spec.section);
            let options = self.0.options.as_ref().zip(section);
            let own = options.and_then(|(o, section)| o.jobs.get(section as usize));
            let reported = fio::Reported {
                report,
                spec,
                clones: specs.iter().filter(|s| Some(s.section) == section).count(),
                group_bytes_per_s: of_groups[&group_of(i)],
                with_bins: self.0.with_bins,
            };
            fio::job(reported, own.cloned().unwrap_or_default())
        }))
    }
}

/// How a run ended, as results say it.
pub const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Completed => "completed",
        Ended::EndOfLife(_) => "end-of-life",
        Ended::Interrupted => "interrupted",
    }
}

/// The keys that fio does not have.
fn own(setup: &Setup, outcome: &Outcome, with_calibration: bool) -> Value {
    let counters = &outcome.stats.counters;
    let retries = outcome.retries();
    let used = counters
        .retries
        .iter()
        .rposition(|&n| n > 0)
        .map_or(0, |last| last + 1);
    let (tail_of, latencies) = outcome.latencies();
    let writes = &outcome.stats.all.write;
    let ((tail, tail_requests), (write_tail, write_tail_requests)) =
        match outcome.stats.groups.is_empty() {
            true => (self::tail(latencies), self::tail(writes)),
            // The slowest of requests that did not run together are nobody's.
            false => ((Value::Null, 0), (Value::Null, 0)),
        };
    let mut value = json!({
        "version": VERSION,
        "commit": COMMIT,
        "seed": setup.seed,
        "workload_seed": setup.state.workload_seed,
        "ended": ended(outcome.stats.ended),
        "config": config(setup),
        "notes": notes(setup),
        "rated_pe_cycles": setup.rated_pe_cycles(),
        "requests": outcome.stats.requests,
        "simulated_ns": outcome.stats.simulated.0,
        "sample_interval_ns": firstread_drive::stats::rates::INTERVAL_NS,
        "first_try_rate": retries.first_try,
        "page_failure_rate": 1.0 - retries.first_try,
        "page_reads": retries.pages,
        "retries_mean": retries.mean,
        "retries_histogram": counters.retries[..used],
        "background_reads": outcome.background_reads_before + counters.background_reads,
        "background_reads_in_run": counters.background_reads,
        "background_reads_in_run_by_mode": by_mode(&counters.background_reads_by_mode),
        "background_reads_given_up": counters.background_reads_given_up,
        "reads_behind_background_reads": behind_background(&outcome.stats.all.read),
        "capacity_bytes": outcome.capacity_bytes,
        "ftl": ftl(outcome),
        "cell_modes": modes::json(setup, outcome),
        "page_type_reads": page_types::json(setup, outcome),
        "refresh": refresh::json(counters),
        "cancelled_senses": counters.cancelled_senses,
        "joined_reads": counters.joined_reads,
        "soft_reads": counters.soft_reads,
        "soft_saved": counters.soft_saved,
        "rebuild_reads": counters.rebuild_reads,
        "rebuilt": counters.rebuilt,
        "uncorrectable": outcome.stats.all.uncorrectable(),
        "lost_share": outcome.stats.all.read.lost_share(),
        "tail": tail,
        "tail_of": tail_of,
        "tail_fraction": TAIL,
        "tail_requests": tail_requests,
        "write_tail": write_tail,
        "write_tail_requests": write_tail_requests,
    });
    if !outcome.stats.groups.is_empty() {
        value["groups"] = outcome.parts().iter().map(group).collect();
    }
    for (key, of_writes) in writes::json(setup, outcome) {
        value[key] = of_writes;
    }
    for (key, of_front) in front::json(&setup.profile, counters) {
        value[key] = of_front;
    }
    if let Some(streams) = streams::json(setup, outcome) {
        value["streams"] = streams;
    }
    if let Some(fdp) = fdp::json(setup, outcome) {
        value["fdp"] = fdp;
    }
    if let Some(log) = host_log::json(setup, outcome) {
        value["host_log"] = log;
    }
    if let Some(areas) = areas::json(outcome) {
        value["areas"] = areas;
    }
    let buffers = &outcome.stats.write_buffers;
    if buffers.of_schemes_bytes > 0 {
        value["write_buffer"] = memory::json(buffers);
    }
    if let Some(bytes) = outcome.future_bytes {
        value["future"] = json!({ "bytes": bytes });
    }
    if let Some(split) = split::json(outcome) {
        value["split"] = split;
    }
    if let Some(burn_in) = burn_in::json(setup, outcome) {
        value["burn_in"] = burn_in;
    }
    if let Some(cut) = outcome.stats.power_cut {
        value["power_cut"] = json!({
            "at_ns": cut.at.since(outcome.began).0,
            "dump_ns": cut.dump.0,
            "recovery_ns": cut.recovery.0,
            "dump_bytes": cut.work.dump_bytes,
            "saved_bytes": cut.work.dumped_bytes,
            "map_image_bytes": cut.work.image_bytes,
            "superblocks_read": cut.work.superblocks,
            "lost_requests": cut.lost_requests,
            "lost_slots": cut.work.lost_slots,
        });
    }
    if let Some(phases) = phases::json(outcome) {
        value["phases"] = phases;
    }
    if let Some(timeline) = timeline::json(setup, outcome) {
        value["timeline"] = timeline;
    }
    if with_calibration {
        value["calibration"] = calibration::json(outcome);
    }
    value["requests_per_wall_second"] = outcome.requests_per_wall_second().into();
    value["wall_seconds"] = outcome.wall.run_s.into();
    value["prepare_wall_seconds"] = outcome.wall.prepare_s.into();
    value["peak_rss_bytes"] = files::peak_rss_bytes().into();
    value
}

/// Reads that have waited for dies that were busy with background reads.
fn behind_background(reads: &Latencies) -> Value {
    let BehindBackground {
        requests,
        sum_ns,
        longest_ns,
    } = reads.behind_background;
    json!({"requests": requests, "wait_ns": sum_ns, "longest_wait_ns": longest_ns})
}

/// What fio does not have of a group of jobs, where several ran one after another.
fn group(part: &Part<'_>) -> Value {
    let retries = part.retries();
    let (tail_of, latencies) = part.latencies();
    let (tail, tail_requests) = tail(latencies);
    let (write_tail, write_tail_requests) = self::tail(&part.all.write);
    json!({
        "jobs": part.jobs,
        "first_try_rate": retries.first_try,
        "page_failure_rate": 1.0 - retries.first_try,
        "page_reads": retries.pages,
        "retries_mean": retries.mean,
        "uncorrectable": part.all.uncorrectable(),
        "lost_share": part.all.read.lost_share(),
        "tail": tail,
        "tail_of": tail_of,
        "tail_requests": tail_requests,
        "write_tail": write_tail,
        "write_tail_requests": write_tail_requests,
    })
}

/// What is to be known of the drive: [`Setup::notes`].
pub(crate) fn notes(setup: &Setup) -> Value {
    setup.notes().into()
}

/// A count for each cell mode, by the mode's name.
fn by_mode(counts: &[u64; CellMode::ALL.len()]) -> Value {
    let modes = CellMode::ALL.into_iter().zip(counts);
    modes
        .map(|(mode, count)| (mode.name().to_owned(), Value::from(*count)))
        .collect()
}

/// Where the time of the slowest of these requests went, the share of each cause, and how many they are.
/// Null and 0 if there are too few requests.
fn tail(latencies: &Latencies) -> (Value, u64) {
    let Some(tail) = latencies.tail.slowest(TAIL) else {
        return (Value::Null, 0);
    };
    let shares = Cause::ALL.into_iter().zip(tail.share);
    let shares = shares.map(|(cause, share)| (cause.name().to_owned(), share.into()));
    (shares.collect::<Map<_, _>>().into(), tail.requests)
}

/// What the translation layer did in the run. A slot is the unit of the mapping.
fn ftl(outcome: &Outcome) -> Value {
    let counters = &outcome.stats.counters;
    json!({
        "slots_written": counters.host_slots_written,
        "slots_programmed": counters.slots_programmed,
        "slots_moved": counters.slots_moved,
        "moved": writes::moved(outcome),
        "slots_taken_along": counters.slots_taken_along,
        "moves_overtaken": counters.moves_overtaken,
        "looked_up_before_placement": counters.looked_up_before_placement,
        "move_retries": counters.move_retries,
        "slots_lost": counters.slots_lost,
        "buffer_hits": counters.buffer_hits,
        "slots_padded": counters.slots_padded,
        "merged_in_place": counters.merged_in_place,
        "trims_passed_over": counters.trims_passed_over,
        "merge_reads": counters.merge_reads,
        "merge_retries": counters.merge_retries,
        "superblocks_erased": counters.erases,
        "superblocks_retired": counters.retired,
        "blocks_replaced": counters.replaced,
        "suspends": counters.suspends,
    })
}

/// A workload: enough to run it again.
pub(crate) fn workload(input: &Input) -> Value {
    match input {
        Input::Jobs { workload, text, .. } => json!({ "name": workload.name, "job_file": text }),
        Input::Trace(trace) => json!({ "name": trace.name, "speed": trace.speed() }),
        Input::StandIn { row, speed } => {
            json!({ "name": row.name, "speed": speed, "synthetic": row.source })
        }
    }
}

/// The configuration, resolved: enough to repeat the run.
pub fn config(setup: &Setup) -> Value {
    let state = &setup.state;
    let hours = |span: Ns| span.0 as f64 / 3.6e12;
    let schemes = setup.profile.schemes.iter();
    let schemes: Map<String, Value> = schemes
        .map(|c| (c.axis.name.to_owned(), c.scheme.name.into()))
        .collect();
    let workload = workload(&setup.input);
    let set = setup
        .profile
        .resolved
        .iter()
        .filter(|e| e.overridden)
        .map(|e| e.path.as_str());
    // Values as an override takes them: `--set PATH=VALUE`.
    let profile = setup
        .profile
        .resolved
        .iter()
        .map(|e| (e.path.clone(), e.literal.trim_matches('"').into()));
    let mut config = json!({
        "workload": workload,
        "limit": setup.limit,
        "drive": setup.profile.name,
        "cells": setup.profile.cells.to_string(),
        "schemes": schemes,
        "age_h": [hours(state.age.0), hours(state.age.1)],
        "temperature_c": state.temperature_c,
        "pe_cycles": [state.pe_cycles.0, state.pe_cycles.1],
        "unpowered_h": hours(state.unpowered),
        "earlier_fill_h": state.earlier_fill(&setup.profile).map(hours),
        "fill": state.fill,
        "precondition": state.precondition.to_string(),
        "set": set.collect::<Vec<_>>(),
        "profile": profile.collect::<Map<String, Value>>(),
    });
    if let Some(last) = state.last {
        config["last_superblocks"] = json!({
            "share": f64::from(last.permille) / 1000.0,
            "pe_cycles": last.pe_cycles,
        });
    }
    if let Some(burn_in) = &setup.burn_in {
        config["burn_in"] = json!({
            "workload": burn_in.workload.as_deref().map(self::workload),
            "most_drive_writes": burn_in.most_drive_writes,
        });
    }
    if let Some(split) = setup.split {
        config["split"] = split.parts.into();
    }
    if let Some(worn) = &setup.profile.worn {
        config["worn"] = crate::worn::json(&setup.profile, worn);
    }
    if let Some((at, celsius)) = state.temperature_step {
        config["temperature_step"] = json!({ "age_h": hours(at), "temperature_c": celsius });
    }
    config
}

#[cfg(test)]
mod tests;
