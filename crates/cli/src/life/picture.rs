//! The figure of a life: wear by area, bad blocks, cell modes, what writes cost and lost data over what was written, requests at its stages.

use firstread_session::life::{AreaWear, Life, LifeOutcome, Probe, Recent, Stage};

use super::written::Written;
use crate::figure::{
    Axis, Dash, Figure, Mark, Marker, PALETTE, Panel, Row, Series, TWO_COLUMNS_PX,
};

/// Height of a row of panels (px).
const ROW_PX: u32 = 500;
/// The lowest error rate that is drawn.
const LEAST_RATE: f64 = 1e-30;

pub fn figure(life: &Life, outcome: &LifeOutcome) -> Figure {
    let row = |panels| Row {
        weight: 1.0,
        panels,
    };
    let samples = &outcome.lived.samples;
    let mut panels = vec![wear(outcome), bad(outcome)];
    if samples
        .iter()
        .any(|sample| sample.other_modes_share.is_some())
    {
        panels.push(other_modes(outcome));
    }
    panels.push(amplification(outcome));
    panels.push(programs(outcome));
    if outcome.stages.iter().any(|stage| stage.probe.is_some()) {
        panels.push(reads(outcome));
    }
    if let Some(job) = &life.terms.probe_job
        && outcome.stages.iter().any(|stage| stage.by_job.is_some())
    {
        panels.push(by_job(job.input.title(), outcome));
    }
    // Of cells without voltages nothing is lost to age.
    if samples.iter().any(|sample| sample.lost.is_some()) {
        panels.push(lost(outcome));
    }
    let mut rows = Vec::new();
    let mut panels = panels.into_iter().peekable();
    while panels.peek().is_some() {
        rows.push(row(panels.by_ref().take(2).collect()));
    }
    Figure {
        title: format!(
            "{} on {}, until {}",
            life.setup.input.title(),
            life.setup.profile.name,
            life.terms.until
        ),
        size_px: (TWO_COLUMNS_PX, ROW_PX * rows.len() as u32),
        rows,
    }
}

/// The unit of what the host has written in the life.
fn unit(outcome: &LifeOutcome) -> Written {
    Written::up_to(outcome.lived.written_bytes())
}

fn panel(outcome: &LifeOutcome, title: &str, y: Axis, series: Vec<Series>) -> Panel {
    Panel {
        title: title.into(),
        weight: 1.0,
        x: unit(outcome).axis(),
        y,
        series,
    }
}

fn line(name: String, colour: usize, points: Vec<[f64; 2]>, dash: Dash) -> Series {
    Series {
        name,
        colour: PALETTE[colour % PALETTE.len()],
        mark: Mark::Line {
            points,
            width_px: 2.4,
            dash,
        },
    }
}

fn wear(outcome: &LifeOutcome) -> Panel {
    let unit = unit(outcome);
    let samples = &outcome.lived.samples;
    let names = outcome.lived.last().wear.iter().map(|area| area.name);
    let mut series = Vec::new();
    for (i, name) in names.enumerate() {
        let of = |value: fn(&AreaWear) -> f64| -> Vec<[f64; 2]> {
            let points = samples.iter().filter_map(|s| {
                let area = s.wear.iter().find(|area| area.name == name)?;
                Some([unit.of(s.host_bytes), value(area)])
            });
            points.collect()
        };
        let band = of(|a| f64::from(a.min))
            .into_iter()
            .zip(of(|a| f64::from(a.max)));
        series.push(Series {
            name: format!("{name}: lowest to highest"),
            colour: PALETTE[i % PALETTE.len()],
            mark: Mark::Band {
                points: band.map(|(low, high)| [low[0], low[1], high[1]]).collect(),
                opacity: 0.25,
            },
        });
        series.push(line(
            format!("{name}: mean"),
            i,
            of(|a| a.mean),
            Dash::Solid,
        ));
        series.push(line(
            format!("{name}: P99"),
            i,
            of(|a| f64::from(a.p99)),
            Dash::Dashed,
        ));
    }
    panel(
        outcome,
        "Wear of superblocks in use",
        Axis::linear("P/E cycles"),
        series,
    )
}

fn bad(outcome: &LifeOutcome) -> Panel {
    let unit = unit(outcome);
    let points = outcome.lived.samples.iter();
    let points = points
        .map(|s| [unit.of(s.host_bytes), 100.0 * s.bad_share])
        .collect();
    let series = vec![line("bad blocks".into(), 3, points, Dash::Solid)];
    panel(
        outcome,
        "Bad blocks",
        Axis::linear("Share of all blocks (%)"),
        series,
    )
}

/// Superblocks in SLC and other modes over the life.
fn other_modes(outcome: &LifeOutcome) -> Panel {
    let unit = unit(outcome);
    let samples = outcome.lived.samples.iter();
    let points = samples
        .filter_map(|s| Some([unit.of(s.host_bytes), 100.0 * s.other_modes_share?]))
        .collect();
    let series = vec![line("other cell modes".into(), 2, points, Dash::Solid)];
    panel(
        outcome,
        "Superblocks in SLC and other modes",
        Axis::linear("Share of those in use (%)"),
        series,
    )
}

/// What writes cost between two samples of the life.
fn recent(outcome: &LifeOutcome, value: fn(&Recent) -> f64) -> Vec<[f64; 2]> {
    let unit = unit(outcome);
    let points = outcome.lived.over_life();
    points
        .filter_map(|(sample, recent)| Some([unit.of(sample.host_bytes), value(&recent?)]))
        .collect()
}

fn amplification(outcome: &LifeOutcome) -> Panel {
    let points = recent(outcome, |r| r.write_amplification);
    let series = vec![line("write amplification".into(), 1, points, Dash::Solid)];
    panel(
        outcome,
        "Write amplification",
        Axis::linear("Bytes programmed a byte written"),
        series,
    )
}

fn programs(outcome: &LifeOutcome) -> Panel {
    let points = recent(outcome, |r| r.program_ns_per_page / 1e3);
    let series = vec![line("programs".into(), 5, points, Dash::Solid)];
    panel(
        outcome,
        "Time of programs for a page that the host writes",
        Axis::linear("Time (µs)"),
        series,
    )
}

/// What `value` says of the probe of each stage, in µs: markers of colour `colour`.
fn of_probes(
    outcome: &LifeOutcome,
    name: &str,
    colour: usize,
    value: impl Fn(&Stage) -> Option<f64>,
) -> Series {
    let unit = unit(outcome);
    let stages = outcome.stages.iter();
    Series {
        name: name.into(),
        colour: PALETTE[colour],
        mark: Mark::Markers {
            points: stages
                .filter_map(|s| Some([unit.of(s.sample.host_bytes), value(s)? / 1e3]))
                .collect(),
            marker: [Marker::Circle, Marker::Square, Marker::Diamond][colour % 3],
            size_px: 11.0,
        },
    }
}

fn reads(outcome: &LifeOutcome) -> Panel {
    let of = |name: &str, colour: usize, value: fn(&Probe) -> f64| {
        of_probes(outcome, name, colour, |s| s.probe.as_ref().map(value))
    };
    let series = vec![
        of("read mean", 0, |p| p.mean_ns),
        of("read P99", 1, |p| p.p99_ns as f64),
        of("read P99.9", 2, |p| p.p999_ns as f64),
    ];
    panel(
        outcome,
        "Reads of 4 KiB, one at a time",
        Axis::linear("Latency (µs)"),
        series,
    )
}

/// Reads and writes of the load that probes.
fn by_job(title: &str, outcome: &LifeOutcome) -> Panel {
    let of = |name: &str, colour: usize, value: fn(&Probe) -> Option<f64>| {
        of_probes(outcome, name, colour, |s| value(s.by_job.as_ref()?))
    };
    let mut series = vec![
        of("read mean", 0, |p| Some(p.mean_ns)),
        of("read P99.9", 2, |p| Some(p.p999_ns as f64)),
    ];
    let mut probes = outcome.stages.iter().filter_map(|stage| stage.by_job);
    if probes.any(|probe| probe.writes.is_some()) {
        series.push(of("write mean", 3, |p| Some(p.writes?.mean_ns)));
        series.push(of("write P99.9", 4, |p| Some(p.writes?.p999_ns as f64)));
    }
    panel(
        outcome,
        &format!("Requests of {title}"),
        Axis::log10("Latency (µs)"),
        series,
    )
}

fn lost(outcome: &LifeOutcome) -> Panel {
    let unit = unit(outcome);
    let of = |value: fn(&firstread_session::life::Rates) -> f64| -> Vec<[f64; 2]> {
        let points = outcome.lived.samples.iter().filter_map(|s| {
            let rate = value(s.lost.as_ref()?);
            (rate > LEAST_RATE).then(|| [unit.of(s.host_bytes), rate])
        });
        points.collect()
    };
    let series = vec![
        line(
            "a year at 30 °C".into(),
            4,
            of(|l| l.client.host),
            Dash::Solid,
        ),
        line(
            "3 months at 40 °C".into(),
            5,
            of(|l| l.enterprise.host),
            Dash::Solid,
        ),
    ];
    panel(
        outcome,
        "Uncorrectable bit error rate of data kept without power",
        Axis::log10("Errors a bit"),
        series,
    )
}
