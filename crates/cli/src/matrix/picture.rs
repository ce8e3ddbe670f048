//! The picture of a matrix: a row of panels a percentile, along what varies most.

use firstread_session::Varied;

use super::combination::{Combination, Rows};
use super::table::{PERCENTILES, has};
use crate::figure::{
    Axis, Dash, Figure, Mark, PALETTE, Panel, Row, Series, Style, TWO_COLUMNS_PX, Ticks,
};
use crate::output::spread::Spread;

/// Height of a row of panels (px).
const ROW_PX: u32 = 400;
/// Panels side by side.
const MOST_COLUMNS: usize = 6;
/// Which of what varies lies along the horizontal axis, which tells series apart; the others have panels of their own.
struct Roles {
    x: usize,
    series: Option<usize>,
}

impl Roles {
    /// Along the axis: of scales the one with the most values, otherwise what has the most. Series: of what is left,
    /// names before scales, so that a scale is seen along an axis or from panel to panel.
    fn of(varied: &[(Varied, Vec<String>)]) -> Option<Roles> {
        let is_scale = |i: &usize| varied[*i].0.is_scale(&varied[*i].1);
        let values = |i: &usize| varied[*i].1.len();
        // The last of several that are equal varies fastest.
        let x = (0..varied.len()).max_by_key(|i| (is_scale(i), values(i)))?;
        let others = (0..varied.len()).filter(|i| *i != x);
        let series = others.max_by_key(|i| (values(i) <= PALETTE.len(), !is_scale(i), values(i)));
        Some(Roles { x, series })
    }
}

/// The picture; none where no percentile is known.
pub fn draw(ran: &Rows<'_>) -> Option<Figure> {
    let varied = &ran.asked.sweep.varied;
    let roles = Roles::of(varied)?;
    let others: Vec<usize> = (0..varied.len())
        .filter(|i| *i != roles.x && Some(*i) != roles.series)
        .collect();
    let mut panels: Vec<Vec<String>> = Vec::new();
    let of_panel = |c: &Combination| {
        let mut at: Vec<String> = others.iter().map(|&i| c.values[i].clone()).collect();
        at.extend(c.jobs.as_ref().map(|(_, jobs)| jobs.clone()));
        at
    };
    for combination in &ran.combinations {
        let at = of_panel(combination);
        if !panels.contains(&at) {
            panels.push(at);
        }
    }
    let titled = |at: &[String]| {
        let named = others.iter().zip(at);
        let each = named.map(|(&i, value)| format!("{} {value}", varied[i].0.label()));
        // Behind them the jobs, where there are several groups.
        let jobs = at.get(others.len()).map(|jobs| format!("jobs {jobs}"));
        each.chain(jobs).collect::<Vec<_>>().join(", ")
    };
    let mut rows = Vec::new();
    for (metric, name, _) in PERCENTILES.iter().filter(|(metric, ..)| has(ran, metric)) {
        let all = ran.combinations.iter().filter_map(|c| c.over(metric));
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), s| {
            (low.min(s.low), high.max(s.high))
        });
        for part in panels.chunks(MOST_COLUMNS) {
            let panel = |at: &Vec<String>| Panel {
                title: titled(at),
                weight: 1.0,
                x: along(&varied[roles.x]),
                y: Axis::log10(&format!("{name} (µs)")).between(low / 1.15, high * 1.15),
                series: of_panel_series(ran, &roles, metric, &|c| of_panel(c) == *at),
            };
            rows.push(Row {
                weight: 1.0,
                panels: part.iter().map(panel).collect(),
            });
        }
    }
    let drives = match ran.asked.seeds.len() {
        1 => String::new(),
        n => format!(": median and range of {n} drives"),
    };
    (!rows.is_empty()).then(|| Figure {
        title: format!("{}{drives}", ran.asked.base.input.title()),
        size_px: (TWO_COLUMNS_PX, 130 + ROW_PX * rows.len() as u32),
        rows,
    })
}

/// The horizontal axis: its values side by side, as given.
fn along((varied, values): &(Varied, Vec<String>)) -> Axis {
    let ticks = values
        .iter()
        .enumerate()
        .map(|(i, text)| (i as f64, text.clone()));
    Axis {
        ticks: Ticks::Named(ticks.collect()),
        ..Axis::linear(varied.label()).between(-0.5, values.len() as f64 - 0.5)
    }
}

/// The series of a panel, whose combinations are those for which `is_in` holds.
fn of_panel_series(
    ran: &Rows<'_>,
    roles: &Roles,
    metric: &str,
    is_in: &dyn Fn(&Combination) -> bool,
) -> Vec<Series> {
    let varied = &ran.asked.sweep.varied;
    let (x, along) = &varied[roles.x];
    let single = [String::new()];
    let names = roles.series.map_or(&single[..], |series| &varied[series].1);
    let mut all = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let apart = match names.len() {
            1 => 0.0,
            n => 0.3 * ((i as f64 + 0.5) / n as f64 - 0.5),
        };
        let points = along.iter().enumerate().filter_map(|(place, value)| {
            let is_it = |c: &&Combination| {
                let of_series = roles.series.is_none_or(|series| c.values[series] == *name);
                is_in(c) && c.values[roles.x] == *value && of_series
            };
            let over = ran.combinations.iter().find(is_it)?.over(metric)?;
            Some((place as f64 + apart, over))
        });
        let points: Vec<(f64, Spread)> = points.collect();
        let shown = match roles.series.map(|series| &varied[series].0) {
            None => String::new(),
            Some(Varied::Drive | Varied::Scheme(_)) => name.clone(),
            Some(other) => format!("{} {name}", other.label()),
        };
        let line = x.is_scale(along);
        all.extend(series(&shown, (i, names.len()), line, &points));
    }
    all
}

/// A series: a marker at each median, whiskers over drives, and a line where the axis is a scale.
fn series(name: &str, (i, n): (usize, usize), line: bool, points: &[(f64, Spread)]) -> Vec<Series> {
    let colour = Style::of(i).colour;
    let of = |name: &str, mark| Series {
        name: name.into(),
        colour,
        mark,
    };
    let medians: Vec<[f64; 2]> = points.iter().map(|(x, s)| [*x, s.median]).collect();
    let mut all = Vec::new();
    for (x, spread) in points.iter().filter(|(_, s)| s.high > s.low) {
        let points = vec![[*x, spread.low], [*x, spread.high]];
        all.push(of(
            "",
            Mark::Line {
                points,
                width_px: 2.0,
                dash: Dash::Solid,
            },
        ));
    }
    if line && medians.len() > 1 {
        all.push(of(name, Style::line(i, n, medians.clone())));
    }
    if !medians.is_empty() {
        all.push(of(name, Style::markers(i, n, medians)));
    }
    all
}
