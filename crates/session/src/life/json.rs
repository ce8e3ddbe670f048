//! The result of a life as JSON.

use firstread_drive::WornBlocks;
use firstread_firmware::observe::Owner;
use serde_json::{Map, Value, json};

use super::bounds::{DAY_S, YEAR_S};
use super::lost::{Rate, Rates};
use super::parts::{Life, LifeEnd, LifeOutcome, Lived, Probe, ProbeRun, Sample, Stage};
use crate::results::{self, COMMIT, VERSION, latency};
use crate::worn;

impl LifeOutcome {
    /// Bytes that the host has written, with wear levelling as often as at a wear rate of 1.
    pub fn corrected_bytes(&self) -> f64 {
        self.lived.corrected_bytes(self.lived.written_bytes())
    }

    /// How it ended, as the result has it.
    pub fn ended(&self) -> &'static str {
        match self.lived.end {
            _ if self.interrupted => "interrupted",
            LifeEnd::Reached => "completed",
            LifeEnd::Full => "end-of-life",
            LifeEnd::WriteProtected => "write-protected",
            LifeEnd::Interrupted => "interrupted",
        }
    }

    /// What the drive can be written (bytes): what the host has written in a life that wear ended, corrected for its wear
    /// rate; none of another.
    pub fn tbw(&self, life: &Life) -> Option<f64> {
        let worn_out = !self.interrupted && self.lived.is_worn_out(life.terms.until);
        worn_out.then(|| self.corrected_bytes())
    }

    /// The 95 % interval of that by the pages that its end was told from; none where lost data did not end the life.
    pub fn tbw_interval(&self, life: &Life) -> Option<(f64, f64)> {
        self.tbw(life)?;
        let (low, high) = self.lived.written_interval(life.terms.until)?;
        let corrected = |bytes| self.lived.corrected_bytes(bytes);
        Some((corrected(low), corrected(high)))
    }

    /// Drive writes a day over the warranty of `life`, where it has a [`LifeOutcome::tbw`].
    pub fn dwpd(&self, life: &Life) -> Option<f64> {
        let days = life.terms.warranty_years * YEAR_S / DAY_S;
        Some(self.tbw(life)? / (life.setup.profile.capacity_bytes as f64 * days))
    }
}

pub fn json(life: &Life, outcome: &LifeOutcome) -> Value {
    let lived = &outcome.lived;
    let last = lived.last();
    // A life that goes on from here counts what a wear rate of 1 would have written.
    let worn = WornBlocks {
        written_bytes: outcome.corrected_bytes() as u64,
        ..last.blocks.clone()
    };
    json!({
        "version": VERSION,
        "commit": COMMIT,
        "seed": life.setup.seed,
        "until": life.terms.until.to_string(),
        "ended": outcome.ended(),
        "capacity_bytes": life.setup.profile.capacity_bytes,
        "earlier_bytes": lived.earlier_bytes(),
        "written_bytes": lived.written_bytes(),
        "written_corrected_bytes": outcome.corrected_bytes(),
        "tbw_bytes": outcome.tbw(life).map(|_| lived.written_bytes()),
        "tbw_corrected_bytes": outcome.tbw(life),
        "tbw_interval_bytes": outcome.tbw_interval(life).map(|(low, high)| [low, high]),
        "warranty_years": life.terms.warranty_years,
        "dwpd": outcome.dwpd(life),
        "drive_writes_a_day": life.terms.drive_writes_a_day,
        "years": last.years,
        "wear_rate": lived.rate,
        "check": outcome.check.as_ref().map(check),
        "bad_blocks": last.bad_blocks,
        "factory_bad_blocks": last.factory_bad_blocks,
        "bad_share": last.bad_share,
        "retired_superblocks": last.retired,
        "write_amplification": lived.write_amplification,
        "write_amplification_corrected": lived.corrected_amplification(),
        "program_ns_per_page": last.program_ns_per_page,
        "moved": moved(lived),
        "wear": wear(last),
        "low_read_share": lived.low_read_share,
        "uncorrectable_bit_error_rate": last.lost.map(lost),
        "smart": smart(lived),
        "memory_bytes": lived.memory_bytes,
        "probe_job": life.terms.probe_job.as_ref().map(|job| job.input.title()),
        "stages": outcome.stages.iter().map(stage).collect::<Vec<_>>(),
        "over_life": over_life(lived),
        "worn": worn::json(&life.setup.profile, &worn),
        "config": results::config(&life.setup),
        "notes": results::notes(&life.setup),
    })
}

fn check(half: &Lived) -> Value {
    json!({
        "wear_rate": half.rate,
        "written_bytes": half.written_bytes(),
        "written_corrected_bytes": half.corrected_bytes(half.written_bytes()),
        "write_amplification": half.write_amplification,
    })
}

/// Slots moved for each that the host wrote, by owner.
fn moved(lived: &Lived) -> Value {
    let owners = Owner::ALL.into_iter().zip(lived.moved);
    let keys = owners.map(|(owner, n)| (owner.name().to_owned(), n.into()));
    keys.collect::<Map<String, Value>>().into()
}

fn wear(sample: &Sample) -> Value {
    let of = sample.wear.iter().map(|area| {
        let wear = json!({ "min": area.min, "mean": area.mean, "p99": area.p99, "max": area.max });
        (area.name.to_owned(), wear)
    });
    of.collect::<Map<String, Value>>().into()
}

fn lost(rates: Rates) -> Value {
    let of = |rate: Rate| {
        json!({
            "hard": rate.hard,
            "host": rate.host,
            "host_interval": [rate.interval.0, rate.interval.1],
            "pages": rate.pages,
        })
    };
    json!({ "client": of(rates.client), "enterprise": of(rates.enterprise) })
}

fn smart(lived: &Lived) -> Value {
    let rows = lived.smart.rows().into_iter();
    let key = |name: &str| name.to_lowercase().replace(' ', "_");
    let keys = rows.map(|(name, value, _)| (key(name), value.into()));
    keys.collect::<Map<String, Value>>().into()
}

fn sample(sample: &Sample) -> Value {
    json!({
        "host_bytes": sample.host_bytes,
        "years": sample.years,
        "bad_blocks": sample.bad_blocks,
        "factory_bad_blocks": sample.factory_bad_blocks,
        "bad_share": sample.bad_share,
        "retired_superblocks": sample.retired,
        "write_amplification": sample.write_amplification,
        "program_ns_per_page": sample.program_ns_per_page,
        "other_modes_share": sample.other_modes_share,
        "wear": wear(sample),
        "uncorrectable_bit_error_rate": sample.lost.map(lost),
    })
}

/// The samples, each with what writes cost since the one before.
fn over_life(lived: &Lived) -> Vec<Value> {
    let samples = lived.over_life().map(|(of, recent)| {
        let mut value = sample(of);
        value["since_last"] = recent.map_or(Value::Null, |recent| {
            json!({
                "write_amplification": recent.write_amplification,
                "program_ns_per_page": recent.program_ns_per_page,
            })
        });
        value
    });
    samples.collect()
}

fn stage(stage: &Stage) -> Value {
    let mut value = sample(&stage.sample);
    value["share"] = stage.share.into();
    value["reads"] = probe(stage.probe, stage.probe_run.as_deref());
    value["reads_by_job"] = probe(stage.by_job, stage.by_job_run.as_deref());
    value
}

/// Figures of a probe, and percentiles with their intervals under fio's names.
fn probe(probe: Option<Probe>, run: Option<&ProbeRun>) -> Value {
    let (Some(p), Some(run)) = (probe, run) else {
        return Value::Null;
    };
    let all = &run.outcome.stats.all;
    json!({
        "host_bytes": p.host_bytes,
        "mean_pe_cycles": p.pe_cycles,
        "reads": p.reads,
        "mean_ns": p.mean_ns,
        "p99_ns": p.p99_ns,
        "p99_9_ns": p.p999_ns,
        "p99_99_ns": p.p9999_ns,
        "p99_99_interval_ns": p.p9999_interval_ns.map(|(low, high)| [low, high]),
        "retries_mean": p.retries_mean,
        "lost_share": p.lost_share,
        "written_bytes": p.written_bytes,
        "clat_ns": latency(&all.read, Some(&Vec::new())),
        "write_clat_ns": (all.write.count() > 0).then(|| latency(&all.write, Some(&Vec::new()))),
    })
}
