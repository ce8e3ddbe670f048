//! A life of several in a few kilobytes: what is kept of it, printed and drawn.

use anyhow::{Context, Result};
use firstread_firmware::observe::Owner;
use firstread_session::life::{self, AreaWear, LifeOutcome, Probe};
use firstread_session::{Finished, FinishedLife, Setup};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::report;
use crate::output;
use crate::output::format::{bytes, count, ratio, share, time};

/// A life that is asked for, as it was lived on each drive.
pub struct Group<'a> {
    /// What tells it from the others; empty where there is one.
    pub label: &'a str,
    pub lives: Vec<(&'a Setup, Summary)>,
}

impl Group<'_> {
    /// Its name in a legend.
    pub fn name(&self) -> &str {
        match self.label {
            "" => "all drives",
            label => label,
        }
    }
}

/// A life in a few kilobytes.
#[derive(Serialize, Deserialize, Debug)]
pub struct Summary {
    pub end: String,
    /// The rows of the table.
    pub figures: Vec<Figure>,
    pub written_bytes: f64,
    pub is_worn_out: bool,
    /// What reads were probed by: the load of the probe where one was asked for.
    pub probed_by: Option<String>,
    /// Reads at each stage, by that.
    pub stages: Vec<Reads>,
}

/// Reads at a stage.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Reads {
    /// Share of the bytes that the host writes in the life.
    pub share: f64,
    /// Whether the drive was worn as at the stage. One that cannot be filled is probed as worn as when it last could.
    pub is_of_stage: bool,
    pub host_bytes: f64,
    /// Mean wear of the superblocks in use by then.
    pub pe_cycles: f64,
    pub p999_ns: u64,
    pub p9999_ns: Option<u64>,
    /// All that the probe measured, to be judged by what is asked of it.
    pub run: output::summary::Summary,
}

/// A row of the table. One that a life has not is left out.
#[derive(Serialize, Deserialize, Debug)]
pub struct Figure {
    pub name: String,
    pub shown: Shown,
    pub value: f64,
}

/// How a figure is shown.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    Bytes,
    Count,
    Decimals2,
    Decimals3,
    /// Slots moved for each that was written. Not shown where no life has any.
    Moved,
    Share,
    Time,
}

impl Shown {
    pub fn text(self, value: f64) -> String {
        match self {
            Shown::Bytes => bytes(value),
            Shown::Count => count(value.round() as u64),
            Shown::Decimals2 => format!("{value:.2}"),
            Shown::Decimals3 => format!("{value:.3}"),
            Shown::Moved => ratio(value),
            Shown::Share => share(value),
            Shown::Time => time(value),
        }
    }
}

/// What is kept of a life for tables, and for what may be asked of it later.
pub fn values(finished: &Finished) -> Map<String, Value> {
    let Finished::Life(of) = finished else {
        return Map::new();
    };
    let value = serde_json::to_value(Summary::of(of)).unwrap_or_default();
    value.as_object().cloned().unwrap_or_default()
}

impl Summary {
    /// The summary of a life, from [`values`] that are kept.
    pub fn read(values: &Map<String, Value>) -> Result<Summary> {
        let value = Value::Object(values.clone());
        serde_json::from_value(value).context("what is kept of a life is not its summary")
    }

    pub fn of(of: &FinishedLife) -> Summary {
        let (outcome, lived) = (&of.outcome, &of.outcome.lived);
        let last = lived.last();
        let mut figures = Vec::new();
        let mut add = |name: &str, shown, value| {
            let name = name.to_owned();
            figures.push(Figure { name, shown, value });
        };
        let total = match outcome.tbw(&of.life) {
            Some(_) => "TBW",
            None => "written",
        };
        add(total, Shown::Bytes, lived.written_bytes());
        if lived.rate > 1 {
            let corrected = outcome.corrected_bytes();
            add(&format!("{total}, corrected"), Shown::Bytes, corrected);
        }
        if let Some(dwpd) = outcome.dwpd(&of.life) {
            add("drive writes a day", Shown::Decimals3, dwpd);
        }
        add("years", Shown::Decimals2, last.years);
        let capacity = of.life.setup.profile.capacity_bytes;
        add("capacity", Shown::Bytes, capacity as f64);
        add(
            "memory of the controller",
            Shown::Bytes,
            lived.memory_bytes as f64,
        );
        if let Some(amplification) = lived.write_amplification {
            add("write amplification", Shown::Decimals3, amplification);
        }
        for owner in Owner::ALL {
            let moved = lived.moved[owner as usize];
            add(&format!("  {}", owner.name()), Shown::Moved, moved);
        }
        add("bad blocks", Shown::Share, last.bad_share);
        if let Some(share) = lived.low_read_share {
            add("reads from the low wearing area", Shown::Share, share);
        }
        type OfWear = (&'static str, fn(&AreaWear) -> f64);
        let of_wear: [OfWear; 4] = [
            ("lowest", |wear| wear.min.into()),
            ("mean", |wear| wear.mean),
            ("P99", |wear| wear.p99.into()),
            ("highest", |wear| wear.max.into()),
        ];
        for area in &last.wear {
            for (name, of_area) in of_wear {
                let name = format!("P/E at the end, {}, {name}", area.name);
                add(&name, Shown::Count, of_area(area));
            }
        }
        let job = of.life.terms.probe_job.as_ref();
        let job = job.map(|job| job.input.title().to_owned());
        figures.extend(reads(outcome, job.as_deref()));
        let probed = outcome.stages.iter();
        let stages: Vec<Reads> = probed
            .filter_map(|stage| {
                let (probe, run) = match job {
                    Some(_) => (stage.by_job?, stage.by_job_run.as_deref()?),
                    None => (stage.probe?, stage.probe_run.as_deref()?),
                };
                Some(Reads {
                    share: stage.share,
                    is_of_stage: probe.host_bytes >= stage.sample.host_bytes,
                    host_bytes: probe.host_bytes,
                    pe_cycles: probe.pe_cycles,
                    p999_ns: probe.p999_ns,
                    p9999_ns: probe.p9999_ns,
                    run: output::summary::Summary::of(&run.setup, &run.outcome),
                })
            })
            .collect();
        Summary {
            end: report::end(&of.life, lived.end),
            figures,
            written_bytes: outcome.corrected_bytes(),
            is_worn_out: outcome.tbw(&of.life).is_some(),
            probed_by: (!stages.is_empty())
                .then(|| job.unwrap_or_else(|| "4 KiB, one at a time".into())),
            stages,
        }
    }
}

/// Rows of the probes at each stage: the standard one, and that of the load `job`.
fn reads(outcome: &LifeOutcome, job: Option<&str>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |name: String, value| {
        figures.push(Figure {
            name,
            shown: Shown::Time,
            value,
        });
    };
    type OfProbe = (&'static str, fn(&Probe) -> Option<f64>);
    let of_probe: [OfProbe; 2] = [
        ("mean", |p| Some(p.mean_ns)),
        ("P99", |p| Some(p.p99_ns as f64)),
    ];
    let of_job: [OfProbe; 3] = [
        ("mean", |p| Some(p.mean_ns)),
        ("P99.9", |p| Some(p.p999_ns as f64)),
        ("P99.99", |p| p.p9999_ns.map(|ns| ns as f64)),
    ];
    for (share, stage) in life::STAGES.iter().zip(&outcome.stages) {
        let percent = 100.0 * share;
        for (name, of_stage) in of_probe {
            if let Some(value) = stage.probe.as_ref().and_then(of_stage) {
                add(format!("read at {percent:.0} % of the life, {name}"), value);
            }
        }
        for (name, of_stage) in of_job {
            if let (Some(job), Some(value)) = (job, stage.by_job.as_ref().and_then(of_stage)) {
                add(
                    format!("{job} at {percent:.0} % of the life, {name}"),
                    value,
                );
            }
        }
    }
    figures
}
