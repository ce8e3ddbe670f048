//! A job with the keys of fio's JSON: every key that fio 3.33 writes, but for `disk_util`, since no disk of the host takes
//! part. `docs/output.md` says what each is here.

use firstread_drive::stats::rates::{DEPTHS, Rates, Samples};
use firstread_drive::stats::{Latencies, Report};
use firstread_workload::JobSpec;
use firstread_workload::job::{DEFAULT_PERCENTILES, Operations};
use serde_json::{Map, Value, json};

/// Percentiles added to fio's default list, which ends too early for tail latencies.
const BEYOND_DEFAULT: [f64; 2] = [99.999, 99.9999];

/// The error a host sees for data that cannot be corrected.
const EIO: u32 = 5;

/// Ranges of how many requests fio submits or takes at once.
const AT_ONCE: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// A report among the reports of a run, and the job that it is of.
#[derive(Clone, Copy)]
pub(super) struct Reported<'a> {
    pub report: &'a Report,
    pub spec: Option<&'a JobSpec>,
    /// Clones of the job.
    pub clones: usize,
    /// Bandwidth of all jobs of its group: of reads, writes and trims (B/s).
    pub group_bytes_per_s: [f64; 3],
    /// Whether it has the distribution of its latencies, as fio's `json+` has it.
    pub with_bins: bool,
}

/// Bandwidth of a report: of reads, writes and trims (B/s).
pub(super) fn bytes_per_s(report: &Report) -> [f64; 3] {
    [&report.read, &report.write, &report.trim]
        .map(|l| l.bytes as f64 * 1e9 / report.runtime_ns.max(1) as f64)
}

/// What was measured of a job, with its options as they were written.
pub(super) fn job(of: Reported<'_>, mut options: Map<String, Value>) -> Value {
    let Reported { report, spec, .. } = of;
    if let Some(spec) = spec {
        add_defaults(&mut options, spec, of.clones);
    }
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
    let rates = &report.rates;
    for (i, (name, latencies, rates)) in [
        ("read", &report.read, &rates.read),
        ("write", &report.write, &rates.write),
        ("trim", &report.trim, &rates.trim),
    ]
    .into_iter()
    .enumerate()
    {
        job[name] = direction(report, latencies, clat, lat);
        if of.with_bins && latencies.count() > 0 {
            for (key, is_told) in [("clat_ns", clat), ("lat_ns", lat)] {
                if is_told {
                    job[name][key]["bins"] = bins(latencies);
                }
            }
        }
        let group = of.group_bytes_per_s[i];
        for (key, value) in rates_of(rates, &job[name], group) {
            job[name][key] = value;
        }
    }
    let flushes = latency(&report.flush, Some(&report.percentiles));
    job["sync"] = json!({ "total_ios": report.flush.count(), "lat_ns": flushes });
    job["job_runtime"] = runtime_ms.into();
    // The host is not simulated: submitting and completing take none of its time.
    job["usr_cpu"] = 0.0.into();
    job["sys_cpu"] = 0.0.into();
    for key in ["ctx", "majf", "minf"] {
        job[key] = 0.into();
    }
    for (name, value) in depths(report) {
        job[name] = value;
    }
    let target = spec.and_then(|s| s.latency_target);
    let depth = report.depth.map(|found| found.depth);
    job["latency_depth"] = depth.or(spec.map(|s| s.iodepth)).unwrap_or(0).into();
    // As fio, in us.
    job["latency_target"] = target.map_or(0, |t| t.target_ns / 1_000).into();
    job["latency_percentile"] = target.map_or(100.0, |t| t.percentile).into();
    job["latency_window"] = target.map_or(0, |t| t.window_ns / 1_000).into();
    if let Some(found) = report.depth {
        job["latency_depth_settled"] = found.settled.into();
    }
    for (name, value) in distribution(report) {
        job[name] = value;
    }
    job
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
        // Submission takes no host time, so completion latency equals total latency.
        "slat_ns": { "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 },
        "clat_ns": latency(latencies, clat.then_some(&report.percentiles)),
        "lat_ns": latency(latencies, lat.then_some(&report.percentiles)),
    })
}

/// Adds to `options` what fio's tools look up and the job file leaves to its default.
fn add_defaults(options: &mut Map<String, Value>, spec: &JobSpec, clones: usize) {
    let rw = match (spec.operations, spec.random) {
        (Operations::Read, false) => "read",
        (Operations::Read, true) => "randread",
        (Operations::Write, false) => "write",
        (Operations::Write, true) => "randwrite",
        (Operations::Trim, false) => "trim",
        (Operations::Trim, true) => "randtrim",
        (Operations::Mixed, false) => "rw",
        (Operations::Mixed, true) => "randrw",
        (Operations::TrimWrite, _) => "trimwrite",
    };
    let bytes = spec.sizes[0].min();
    let bs = match bytes % 1024 {
        0 => format!("{}k", bytes / 1024),
        _ => bytes.to_string(),
    };
    let effective = [
        ("rw", "readwrite", rw.to_owned()),
        ("bs", "blocksize", bs),
        ("iodepth", "iodepth", spec.iodepth.to_string()),
        ("numjobs", "numjobs", clones.to_string()),
    ];
    for (name, alias, value) in effective {
        let written = options.get(alias).cloned();
        let entry = options.entry(name);
        entry.or_insert_with(|| written.unwrap_or_else(|| value.into()));
    }
}

/// How requests and bandwidth varied over the run, in fio's keys. `direction` has the figures of the whole run.
fn rates_of(rates: &Rates, direction: &Value, group_bytes_per_s: f64) -> Map<String, Value> {
    let whole = |key: &str| direction[key].as_f64().unwrap_or(0.0);
    // A run without a full interval is as one sample, but is not counted as one.
    let or_whole = |samples: Samples, whole: f64| match samples.count {
        0 => (whole, whole, whole),
        _ => (samples.min, samples.max, samples.mean),
    };
    const KIB: f64 = 1024.0;
    let (bw, iops) = (rates.bandwidth, rates.iops);
    let (bw_min, bw_max, bw_mean) = or_whole(bw, whole("bw_bytes"));
    let (iops_min, iops_max, iops_mean) = or_whole(iops, whole("iops"));
    let share = match group_bytes_per_s > 0.0 {
        true => (bw_mean * 100.0 / group_bytes_per_s).min(100.0),
        false => 0.0,
    };
    let keys = json!({
        "bw_min": (bw_min / KIB) as u64,
        "bw_max": (bw_max / KIB) as u64,
        "bw_agg": share,
        "bw_mean": bw_mean / KIB,
        "bw_dev": bw.stdev() / KIB,
        "bw_samples": bw.count,
        "iops_min": iops_min as u64,
        "iops_max": iops_max as u64,
        "iops_mean": iops_mean,
        "iops_stddev": iops.stdev(),
        "iops_samples": iops.count,
    });
    keys.as_object().cloned().unwrap_or_default()
}

/// The share of requests (%) by queue depth at submission. Requests are submitted and taken one at a time.
fn depths(report: &Report) -> [(&'static str, Value); 3] {
    let counts = report.depths.0;
    let all: u64 = counts.iter().sum();
    let percent = |n: u64| n as f64 * 100.0 / all.max(1) as f64;
    let levels = DEPTHS.iter().zip(counts);
    let levels: Map<String, Value> = levels
        .map(|(name, n)| ((*name).to_owned(), percent(n).into()))
        .collect();
    let at_once: Map<String, Value> = AT_ONCE
        .iter()
        .map(|name| {
            let one = *name == "4" && all > 0;
            ((*name).to_owned(), if one { 100.0 } else { 0.0 }.into())
        })
        .collect();
    [
        ("iodepth_level", levels.into()),
        ("iodepth_submit", at_once.clone().into()),
        ("iodepth_complete", at_once.into()),
    ]
}

/// An interval around `value`; null where there is none.
fn around(value: f64, half: Option<f64>) -> Value {
    json!(half.map(|half| [value - half, value + half]))
}

/// Latencies under fio's names, with the `percentiles` that are asked for; where the list is empty, with fio's own and the
/// rarer ones that the sample reaches.
pub(crate) fn latency(latencies: &Latencies, percentiles: Option<&Vec<f64>>) -> Value {
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

/// The longest latency of fio's histogram (ns), and the last bin of a tool that reads it.
const LAST_BIN_NS: u64 = 17_112_760_320;

/// Requests by latency: the highest one of each bucket (ns). Buckets are finer than fio's, 1,024 an octave.
fn bins(latencies: &Latencies) -> Value {
    let mut bins = Map::new();
    let mut beyond = 0;
    for (ns, requests) in latencies.buckets() {
        match ns < LAST_BIN_NS {
            true => drop(bins.insert(ns.to_string(), requests.into())),
            false => beyond += requests,
        }
    }
    if beyond > 0 {
        bins.insert(LAST_BIN_NS.to_string(), beyond.into());
    }
    bins.into()
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
