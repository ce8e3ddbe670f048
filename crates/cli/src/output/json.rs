//! The result of a run with the keys of fio's JSON, and what fio does not know under `firstread`.
//!
//! Everything but the last keys of `firstread`, from `requests_per_wall_second` on, is the same for
//! the same version, seed and configuration.

use firstread_core::Ns;
use firstread_drive::stats::{Latencies, Report};
use firstread_drive::{Cause, Ended};
use firstread_workload::JobSpec;
use firstread_workload::job::DEFAULT_PERCENTILES;
use serde_json::{Map, Value, json};

use super::TAIL;
use super::calibration;
use super::front;
use super::human::{Retries, tail_of};
use super::writes;
use crate::files;
use crate::input::Input;
use crate::job_options;
use crate::setup::Setup;
use crate::simulate::Outcome;

/// Commit that the binary was built from.
pub const COMMIT: &str = env!("FIRSTREAD_COMMIT");
/// Version of the binary.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Percentiles added to fio's default list: what this drive is about lies beyond its end.
const BEYOND_DEFAULT: [f64; 2] = [99.999, 99.9999];

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

/// The result without what the machine decides, and that by itself.
pub fn result_and_wall(
    setup: &Setup<'_>,
    outcome: &Outcome,
    with_calibration: bool,
) -> (Value, Value) {
    let mut result = result(setup, outcome, with_calibration);
    let own = result["firstread"].as_object_mut();
    let wall = own.map(|own| {
        let taken = WALL_KEYS.map(|key| (key.to_owned(), own.remove(key).unwrap_or_default()));
        taken.into_iter().collect::<Map<_, _>>()
    });
    (result, wall.unwrap_or_default().into())
}

/// The result.
pub fn result(setup: &Setup<'_>, outcome: &Outcome, with_calibration: bool) -> Value {
    let options = match setup.input {
        Input::Jobs { text, .. } => Some(job_options::read(text)),
        Input::Trace(_) | Input::StandIn { .. } => None,
    };
    let specs = match setup.input {
        Input::Jobs { workload, .. } => workload.jobs.as_slice(),
        Input::Trace(_) | Input::StandIn { .. } => &[],
    };
    let jobs: Vec<Value> = outcome
        .stats
        .reports
        .iter()
        .enumerate()
        .map(|(i, report)| {
            let spec = specs.iter().find(|job| job.report as usize == i);
            let own = options
                .as_ref()
                .zip(spec)
                .and_then(|(o, spec)| o.jobs.get(spec.section as usize));
            job(report, spec, own.cloned().unwrap_or_default())
        })
        .collect();
    json!({
        "fio version": format!("firstread-{VERSION}"),
        "global options": options.map(|o| o.global).unwrap_or_default(),
        "jobs": jobs,
        "firstread": own(setup, outcome, with_calibration),
    })
}

fn job(report: &Report, spec: Option<&JobSpec>, options: Map<String, Value>) -> Value {
    let runtime_ms = milliseconds(report.runtime_ns);
    let mut job = json!({
        "jobname": report.name,
        "groupid": spec.map_or(0, |spec| spec.group),
        // As fio with `continue_on_error`: errors are counted and the job goes on.
        "error": 0,
        "total_err": report.uncorrectable(),
        "first_error": if report.uncorrectable() > 0 { EIO } else { 0 },
        "eta": 0,
        "elapsed": report.runtime_ns.div_ceil(1_000_000_000),
        "job options": options,
    });
    let percentiles_of = |of: fn(&JobSpec) -> bool, default| spec.map_or(default, of);
    let clat = percentiles_of(|s| s.percentiles_of.clat, true);
    let lat = percentiles_of(|s| s.percentiles_of.lat, false);
    for (name, latencies) in [
        ("read", &report.read),
        ("write", &report.write),
        ("trim", &report.trim),
    ] {
        job[name] = direction(report, latencies, clat, lat);
    }
    let flushes = latency(&report.flush, Some(&report.percentiles));
    job["sync"] = json!({ "total_ios": report.flush.count(), "lat_ns": flushes });
    job["job_runtime"] = runtime_ms.into();
    if let (Some(found), Some(target)) = (report.depth, spec.and_then(|s| s.latency_target)) {
        job["latency_depth"] = found.depth.into();
        job["latency_depth_settled"] = found.settled.into();
        // As fio, in us.
        job["latency_target"] = (target.target_ns / 1_000).into();
        job["latency_percentile"] = target.percentile.into();
        job["latency_window"] = (target.window_ns / 1_000).into();
    }
    for (name, value) in distribution(report) {
        job[name] = value;
    }
    job
}

/// The error a host sees for data that cannot be corrected.
const EIO: u32 = 5;

/// How a run ended, as results say it.
pub const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Completed => "completed",
        Ended::EndOfLife(_) => "end-of-life",
    }
}

const fn milliseconds(ns: u64) -> u64 {
    (ns + 500_000) / 1_000_000
}

fn direction(report: &Report, latencies: &Latencies, clat: bool, lat: bool) -> Value {
    let per_second = |n: u64| n as u128 * 1_000_000_000 / report.runtime_ns.max(1) as u128;
    let bw_bytes = per_second(latencies.bytes) as u64;
    let any = latencies.count() > 0;
    let iops = latencies.count() as f64 * 1e9 / report.runtime_ns.max(1) as f64;
    json!({
        "io_bytes": latencies.bytes,
        "io_kbytes": latencies.bytes / 1024,
        "bw_bytes": bw_bytes,
        "bw": bw_bytes / 1024,
        "iops": iops,
        "iops_interval_95": around(iops, latencies.rate_half().map(|half| half * iops)),
        "runtime": if any { milliseconds(report.runtime_ns) } else { 0 },
        "total_ios": latencies.count(),
        "short_ios": 0,
        "drop_ios": 0,
        // The host takes no time to submit: completion latency is all of it.
        "slat_ns": { "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 },
        "clat_ns": latency(latencies, clat.then_some(&report.percentiles)),
        "lat_ns": latency(latencies, lat.then_some(&report.percentiles)),
        "iops_mean": iops,
        "bw_mean": bw_bytes as f64 / 1024.0,
    })
}

/// An interval around `value`; null where there is none.
fn around(value: f64, half: Option<f64>) -> Value {
    json!(half.map(|half| [value - half, value + half]))
}

fn latency(latencies: &Latencies, percentiles: Option<&Vec<f64>>) -> Value {
    let mut value = json!({
        "min": latencies.min_ns(),
        "max": latencies.max_ns(),
        "mean": if latencies.count() > 0 { latencies.mean_ns() } else { 0.0 },
        "mean_interval_95": around(latencies.mean_ns(), latencies.mean_half_ns()),
        "stddev": latencies.stdev_ns(),
        "N": latencies.count(),
    });
    let Some(asked) = percentiles.filter(|_| latencies.count() > 0) else {
        return value;
    };
    let asked: Vec<f64> = match asked[..] {
        [] => DEFAULT_PERCENTILES.to_vec(),
        _ => asked.clone(),
    };
    let more = BEYOND_DEFAULT
        .into_iter()
        .filter(|_| asked == DEFAULT_PERCENTILES);
    // What fio lists is always there; of what is added, only what the sample reaches.
    let more: Vec<f64> = more
        .filter(|&p| latencies.percentile(p).beyond > 0)
        .collect();
    let (mut values, mut intervals, mut lost) = (Map::new(), Map::new(), Map::new());
    let mut needed = Map::new();
    let mut among_errors: Vec<String> = Vec::new();
    for percent in asked.into_iter().chain(more) {
        let p = latencies.percentile(percent);
        let key = format!("{percent:.6}");
        intervals.insert(
            key.clone(),
            json!(p.interval_ns.map(|(low, high)| [low, high])),
        );
        if let Some(n) = p.requests_needed {
            needed.insert(key.clone(), n.into());
        }
        lost.insert(key.clone(), p.lost_share.into());
        among_errors.extend(p.among_errors.then(|| key.clone()));
        values.insert(key, p.ns.into());
    }
    value["percentile"] = values.into();
    value["percentile_interval_95"] = intervals.into();
    value["percentile_requests_needed"] = needed.into();
    if latencies.lost() > 0 {
        value["percentile_lost_share"] = lost.into();
        value["percentiles_among_errors"] = among_errors.into();
    }
    value
}

/// fio's coarse distribution: the share of requests (%) up to each of these latencies.
fn distribution(report: &Report) -> [(&'static str, Value); 3] {
    const FINE: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    const MS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
    const SCALES: [(&str, u64, &[u64]); 3] = [
        ("latency_ns", 1, &FINE),
        ("latency_us", 1_000, &FINE),
        ("latency_ms", 1_000_000, &MS),
    ];
    let all = [&report.read, &report.write, &report.trim];
    let total: u64 = all.iter().map(|l| l.count()).sum();
    let up_to = |limit_ns: u64| -> u64 {
        all.iter()
            .flat_map(|l| l.buckets())
            .filter(|(ns, _)| *ns <= limit_ns)
            .map(|(_, n)| n)
            .sum()
    };
    let percent = |n: u64| n as f64 * 100.0 / total.max(1) as f64;
    let mut below = 0;
    SCALES.map(|(name, unit, bounds)| {
        let mut map = Map::new();
        for bound in bounds {
            let reached = up_to(bound * unit);
            map.insert(bound.to_string(), percent(reached - below).into());
            below = reached;
        }
        if name == "latency_ms" {
            map.insert(">=2000".into(), percent(total - below).into());
        }
        (name, map.into())
    })
}

/// What fio does not know.
fn own(setup: &Setup<'_>, outcome: &Outcome, with_calibration: bool) -> Value {
    let counters = &outcome.stats.counters;
    let retries = Retries::of(counters);
    let used = counters
        .retries
        .iter()
        .rposition(|&n| n > 0)
        .map_or(0, |last| last + 1);
    let (tail_of, latencies) = tail_of(&outcome.stats.all);
    let (tail, tail_requests) = tail(latencies);
    let (write_tail, write_tail_requests) = self::tail(&outcome.stats.all.write);
    let mut value = json!({
        "version": VERSION,
        "commit": COMMIT,
        "seed": setup.seed,
        "workload_seed": setup.state.workload_seed,
        "ended": ended(outcome.stats.ended),
        "config": config(setup),
        "rated_pe_cycles": setup.rated_pe_cycles(),
        "requests": outcome.stats.requests,
        "simulated_ns": outcome.stats.simulated.0,
        "first_try_rate": retries.first_try,
        "page_failure_rate": 1.0 - retries.first_try,
        "page_reads": retries.pages,
        "retries_mean": retries.mean,
        "retries_histogram": counters.retries[..used],
        "background_reads": outcome.background_reads_before + counters.background_reads,
        "background_reads_in_run": counters.background_reads,
        "capacity_bytes": outcome.capacity_bytes,
        "ftl": ftl(outcome),
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
    for (key, of_writes) in writes::json(setup, outcome) {
        value[key] = of_writes;
    }
    for (key, of_front) in front::json(&setup.profile, counters) {
        value[key] = of_front;
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

/// Where the time of the slowest of these requests went, the share of each cause, and how many they are.
/// Null and 0 where there are too few.
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
        "moves_overtaken": counters.moves_overtaken,
        "move_retries": counters.move_retries,
        "slots_lost": counters.slots_lost,
        "buffer_hits": counters.buffer_hits,
        "slots_padded": counters.slots_padded,
        "merged_in_place": counters.merged_in_place,
        "superblocks_erased": counters.erases,
        "superblocks_retired": counters.retired,
        "blocks_replaced": counters.replaced,
        "suspends": counters.suspends,
    })
}

/// The configuration, resolved: enough to repeat the run.
pub fn config(setup: &Setup<'_>) -> Value {
    let state = &setup.state;
    let hours = |span: Ns| span.0 as f64 / 3.6e12;
    let schemes = setup.profile.schemes.iter();
    let schemes: Map<String, Value> = schemes
        .map(|c| (c.axis.name.to_owned(), c.scheme.name.into()))
        .collect();
    let workload = match setup.input {
        Input::Jobs { workload, text } => json!({ "name": workload.name, "job_file": text }),
        Input::Trace(trace) => json!({ "name": trace.name, "speed": trace.speed() }),
        Input::StandIn { row, speed } => {
            json!({ "name": row.name, "speed": speed, "synthetic": row.source })
        }
    };
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
        "schemes": schemes,
        "age_h": [hours(state.age.0), hours(state.age.1)],
        "temperature_c": state.temperature_c,
        "pe_cycles": [state.pe_cycles.0, state.pe_cycles.1],
        "unpowered_h": hours(state.unpowered),
        "fill": state.fill,
        "precondition": state.precondition.to_string(),
        "set": set.collect::<Vec<_>>(),
        "profile": profile.collect::<Map<String, Value>>(),
    });
    if let Some((at, celsius)) = state.temperature_step {
        config["temperature_step"] = json!({ "age_h": hours(at), "temperature_c": celsius });
    }
    config
}
