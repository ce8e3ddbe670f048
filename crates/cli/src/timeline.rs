//! A run over time: `--interval`, and its picture.

use clap::Args;
use firstread_core::{HostOp, Ns};
use firstread_drive::profile::Dimension;
use firstread_drive::profile::quantity::{NS, Quantity};
use firstread_drive::stats::timeline::{
    Completions, INTERVALS_BEFORE_DOUBLING, Interval, PERCENTILES,
};
use firstread_session::results::timeline::completions;
use firstread_session::{Outcome, Setup};

use crate::args::{Form, OutputArgs, Usage};
use crate::figure::{Axis, Dash, Figure, Mark, PALETTE, Panel, Row, Series};
use crate::output::format::{count, long_time};
use crate::streams::notice;

/// The shortest interval: the drive's clock may be ahead of its host's by as much.
const SHORTEST_NS: f64 = 1e3;
/// The longest one: a hundred years.
const LONGEST_NS: f64 = 100.0 * 365.0 * 24.0 * 3.6e12;

/// Whether and how a run is written down over time.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output")]
pub struct TimelineArgs {
    /// Also tell how the run went over time, a row each `500ms` of simulated time: IOPS, latencies, cleaning, retries
    ///
    /// Kept by --out as timeline.csv and as pictures (timeline.svg, timeline.png), and in JSON as firstread.timeline. A request
    /// counts in the interval in which it completes, ramps included. Each 16,384 intervals the next ones become twice as
    /// long, so that a long run stays in memory: each row has its length.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    interval: Option<Ns>,
}

/// A length of time of a run.
pub fn interval(text: &str) -> Result<Ns, String> {
    let quantity = Quantity::parse(text, Dimension::Time).map_err(|problem| problem.to_string())?;
    match quantity.to(NS).round() {
        ns if (SHORTEST_NS..=LONGEST_NS).contains(&ns) => Ok(Ns(ns as u64)),
        _ => Err("expected a time from 1us to 100 years, as in 500ms".into()),
    }
}

impl TimelineArgs {
    /// The length of the intervals, if any are asked for.
    ///
    /// # Errors
    /// [`Usage`] where they would be told nowhere.
    pub fn interval(self, output: &OutputArgs) -> Result<Option<Ns>, Usage> {
        match self.interval {
            Some(_) if !output.is_kept() && output.form.form() == Form::Human => Err(Usage(
                "--interval needs --out DIR, which keeps timeline.csv and its picture, or --json"
                    .into(),
            )),
            interval => Ok(interval),
        }
    }
}

/// Says it where intervals have become longer than was asked for.
pub fn tell_doubled(setup: &Setup, outcome: &Outcome) {
    let intervals = &outcome.written_down.intervals;
    if intervals.len() > INTERVALS_BEFORE_DOUBLING
        && let Some(asked) = setup.watched.interval
    {
        let longest = intervals.iter().map(Interval::length_ns).max();
        notice(&format!(
            "--interval {}: after each {} intervals the next ones are twice as long; the last ones are {}",
            long_time(asked.0 as f64),
            count(INTERVALS_BEFORE_DOUBLING as u64),
            long_time(longest.unwrap_or(0) as f64),
        ));
    }
}

/// Height of a panel (px), and of what is above and below all of them.
const PANEL_PX: u32 = 300;
const MARGIN_PX: u32 = 130;

/// Directions that are drawn.
const DIRECTIONS: [(HostOp, &str); 3] = [
    (HostOp::Read, "reads"),
    (HostOp::Write, "writes"),
    (HostOp::Trim, "trims"),
];

/// The run over time, as a picture: requests a second, latencies, what writes amplify, retries, as far as there are any.
pub fn figure(setup: &Setup, outcome: &Outcome) -> Figure {
    let intervals = &outcome.written_down.intervals;
    let mut rows = vec![panel(
        Axis::linear("IOPS"),
        per_direction(intervals, "", |interval, of| {
            Some(interval.per_second(of.requests))
        }),
    )];
    let us = |ns: u64| ns as f64 / 1e3;
    let of_percentile = |percent: f64| PERCENTILES.iter().position(|&p| p == percent);
    let mut latencies = Vec::new();
    for (percent, dash) in [(50.0, Dash::Dashed), (99.0, Dash::Solid)] {
        if let Some(place) = of_percentile(percent) {
            let name = format!(" P{percent}");
            let mut lines = per_direction(intervals, &name, |_, of| {
                (of.requests > 0).then(|| us(of.percentiles_ns[place]))
            });
            for line in &mut lines {
                if let Mark::Line { dash: drawn, .. } = &mut line.mark {
                    *drawn = dash;
                }
            }
            latencies.extend(lines);
        }
    }
    rows.push(panel(Axis::log10("Latency (µs)"), latencies));
    let amplified = line("write amplification", 3, intervals, |i| {
        i.work.written.ratio()
    });
    rows.extend(amplified.map(|line| panel(Axis::linear("Flash bytes a host byte"), vec![line])));
    let slot_bytes = f64::from(setup.profile.geometry.slot_bytes);
    if intervals.iter().any(|i| i.work.slots_moved > 0) {
        let moved = line("moved", 4, intervals, |i| {
            Some(i.per_second(i.work.slots_moved) * slot_bytes / 1e6)
        });
        rows.extend(moved.map(|line| panel(Axis::linear("Moved (MB/s)"), vec![line])));
    }
    if intervals.iter().any(|i| i.work.retries > 0) {
        let retries = line("retries", 5, intervals, |i| i.work.retries_mean());
        rows.extend(retries.map(|line| panel(Axis::linear("Retries a page read"), vec![line])));
    }
    if let Some(last) = rows.last_mut() {
        last.panels[0].x.label = "Time of the run (s)".into();
    }
    Figure {
        title: format!("{} on {}", setup.input.title(), setup.profile.name),
        size_px: (1100, MARGIN_PX + PANEL_PX * rows.len() as u32),
        rows,
    }
}

fn panel(y: Axis, series: Vec<Series>) -> Row {
    let from_zero = matches!(y.scale, crate::figure::Scale::Linear);
    let values = series.iter().flat_map(|series| match &series.mark {
        Mark::Line { points, .. } => points.as_slice(),
        _ => &[],
    });
    let highest = values.map(|&[_, y]| y).fold(0.0, f64::max);
    let y = match from_zero && highest > 0.0 {
        true => y.between(0.0, 1.08 * highest),
        false => y,
    };
    Row {
        weight: 1.0,
        panels: vec![Panel {
            title: String::new(),
            weight: 1.0,
            x: Axis::linear(""),
            y,
            series,
        }],
    }
}

/// A line for each direction that has requests.
fn per_direction(
    intervals: &[Interval],
    suffix: &str,
    value: impl Fn(&Interval, &Completions) -> Option<f64>,
) -> Vec<Series> {
    let of = |(colour, (op, name)): (usize, (HostOp, &str))| {
        let any = intervals.iter().any(|i| completions(i, op).requests > 0);
        let line = line(&format!("{name}{suffix}"), colour, intervals, |i| {
            value(i, completions(i, op))
        });
        line.filter(|_| any)
    };
    DIRECTIONS.into_iter().enumerate().filter_map(of).collect()
}

/// A line through the middles of the intervals that have a value; none where none has.
fn line(
    name: &str,
    colour: usize,
    intervals: &[Interval],
    value: impl Fn(&Interval) -> Option<f64>,
) -> Option<Series> {
    let middle = |i: &Interval| (i.start.0 as f64 + i.length_ns() as f64 / 2.0) * 1e-9;
    let points = intervals.iter();
    let points: Vec<[f64; 2]> = points
        .filter_map(|interval| Some([middle(interval), value(interval)?]))
        .collect();
    (!points.is_empty()).then(|| Series {
        name: name.to_owned(),
        colour: PALETTE[colour],
        mark: Mark::Line {
            points,
            width_px: 2.0,
            dash: Dash::Solid,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_an_interval_is_a_time_with_its_unit() {
        assert_eq!(interval("500ms"), Ok(Ns(500_000_000)));
        assert_eq!(interval("1us"), Ok(Ns(1_000)));
        assert_eq!(interval("0.5min"), Ok(Ns(30_000_000_000)));
        for wrong in ["0", "0ms", "500", "-1s", "1ns", "nan", "1e99y", "1kb", ""] {
            let error = interval(wrong).unwrap_err();
            assert!(!error.is_empty(), "{wrong}");
        }
    }
}
