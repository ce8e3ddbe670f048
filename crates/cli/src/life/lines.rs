//! The figure of several lives: how reads fare while bytes are written, and how many drives are alive.

use super::summary::Group;
use super::written::Written;
use crate::figure::{Axis, Figure, Mark, Panel, Row, Series, Style, TWO_COLUMNS_PX};
use crate::output::spread::Spread;

/// Height of a row of panels (px).
const ROW_PX: u32 = 560;
/// The figure; none where nothing was probed and no drive is worn out.
pub fn figure(title: &str, groups: &[Group<'_>]) -> Option<Figure> {
    let lives = groups.iter().flat_map(|group| &group.lives);
    let most = lives
        .map(|(_, life)| life.written_bytes)
        .fold(0.0, f64::max);
    let written = Written::up_to(most);
    let panels: Vec<Panel> = [reads(groups, written), survival(groups, written)]
        .into_iter()
        .flatten()
        .collect();
    (!panels.is_empty()).then(|| Figure {
        title: title.to_owned(),
        size_px: (TWO_COLUMNS_PX, 130 + ROW_PX),
        rows: vec![Row {
            weight: 1.0,
            panels,
        }],
    })
}

/// A percentile of reads at each stage: a line a group, a band from the lowest to the highest drive.
fn reads(groups: &[Group<'_>], unit: Written) -> Option<Panel> {
    // One percentile for all: the rarest that every probe tells.
    let lives = || groups.iter().flat_map(|group| &group.lives);
    let stages = || lives().flat_map(|(_, life)| &life.stages);
    let is_rare = stages().count() > 0 && stages().all(|stage| stage.p9999_ns.is_some());
    let name = match is_rare {
        true => "P99.99",
        false => "P99.9",
    };
    let by = lives().find_map(|(_, life)| life.probed_by.clone())?;
    let mut series = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let count = group
            .lives
            .iter()
            .map(|(_, life)| life.stages.len())
            .min()?;
        let (mut middle, mut band) = (Vec::new(), Vec::new());
        for n in 0..count {
            let stages = || group.lives.iter().map(|(_, life)| &life.stages[n]);
            let written = Spread::of(stages().map(|stage| Some(unit.of(stage.host_bytes))))?;
            let latency = Spread::of(stages().map(|stage| {
                let ns = match is_rare {
                    true => stage.p9999_ns?,
                    false => stage.p999_ns,
                };
                Some(ns as f64 / 1e3)
            }))?;
            middle.push([written.median, latency.median]);
            band.push([written.median, latency.low, latency.high]);
        }
        if group.lives.len() > 1 {
            series.push(Series {
                name: String::new(),
                colour: Style::of(i).colour,
                mark: Mark::Band {
                    points: band,
                    opacity: 0.2,
                },
            });
        }
        series.push(Series {
            name: group.name().to_owned(),
            colour: Style::of(i).colour,
            mark: Style::line(i, groups.len(), middle.clone()),
        });
        series.push(Series {
            name: group.name().to_owned(),
            colour: Style::of(i).colour,
            mark: Style::markers(i, groups.len(), middle),
        });
    }
    (!series.is_empty()).then(|| Panel {
        title: format!("Reads of {by} until the drive is worn out"),
        weight: 1.0,
        x: unit.axis(),
        y: Axis::log10(&format!("{name} (µs)")),
        series,
    })
}

/// The share of drives that are not worn out, against what was written.
fn survival(groups: &[Group<'_>], unit: Written) -> Option<Panel> {
    if groups.iter().all(|group| group.lives.len() < 2) {
        return None;
    }
    let mut series = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let mut points = vec![[0.0, 100.0]];
        let mut ends: Vec<(f64, bool)> = group
            .lives
            .iter()
            .map(|(_, life)| (unit.of(life.written_bytes), life.is_worn_out))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut alive = ends.len();
        for (written, is_worn_out) in ends {
            points.push([written, percent(alive, group)]);
            if is_worn_out {
                alive -= 1;
                points.push([written, percent(alive, group)]);
            }
        }
        series.push(Series {
            name: group.name().to_owned(),
            colour: Style::of(i).colour,
            mark: Style::line(i, groups.len(), points),
        });
    }
    Some(Panel {
        title: "Drives that are not worn out".into(),
        weight: 0.8,
        x: unit.axis(),
        y: Axis::linear("Share alive (%)").between(0.0, 105.0),
        series,
    })
}

fn percent(alive: usize, group: &Group<'_>) -> f64 {
    100.0 * alive as f64 / group.lives.len() as f64
}
