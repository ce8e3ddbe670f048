//! An experiment as a figure: a row of panels a metric, a panel for each value of the coordinates
//! that neither lie along the axis nor tell series apart.

use firstread_session::study::dimension::Dimension;
use firstread_session::study::metric::{Metric, OVER_TIME};
use firstread_session::study::plan::Coordinates;
use firstread_session::study::points::{Estimate, Points};
use firstread_session::study::spec::{Drawing, Experiment, Published};
use serde_json::Value;

use crate::figure::{
    Axis, Colour, Dash, Figure, Mark, Panel, Row, Series, Style, TWO_COLUMNS_PX, Ticks,
};

/// Height of a row of panels (px).
const ROW_PX: u32 = 460;
/// Share of a category's width that its bars fill.
const FILLED: f64 = 0.8;
/// Panels side by side where each has a metric of its own.
const MOST_ACROSS: usize = 3;

/// A value along the horizontal axis: its place and its text.
struct Tick {
    x: f64,
    text: String,
}

/// The figure of `experiment`, from those of its points that have run.
pub fn draw(experiment: &Experiment, points: &Points, quick: bool) -> Figure {
    let drawing = &experiment.figure;
    if drawing.across {
        return across(experiment, points, quick);
    }
    let all = panels(experiment, quick);
    let (places, is_number) = places(experiment.values(drawing.x, quick), drawing.x);
    // With its interval, and what it is compared with.
    let most = |metric: &Metric| {
        let of = |name: &str| {
            let points_of = points.of_experiment(&experiment.id);
            let all = points_of.filter_map(|at| points.estimate(&experiment.id, at, name));
            let all: Vec<f64> = all.map(|e| e.mean + e.half.unwrap_or(0.0)).collect();
            all.into_iter().fold(0.0, f64::max)
        };
        of(metric.name).max(drawing.line.as_deref().map_or(0.0, of))
    };
    let row = |panels: &[&(String, Coordinates)], metric: &String| {
        let metric = Metric::find(metric, experiment.source()).ok()?;
        let label = label(drawing, metric);
        let panel = |(title, at): &&(String, Coordinates)| {
            if drawing.is_over_time() {
                return over_time(experiment, points, (title, at), quick);
            }
            if let Some(along) = &drawing.along {
                return scatter(experiment, points, (title, at), (along, metric), quick);
            }
            let mut panel = Panel {
                title: title.clone(),
                weight: 1.0,
                x: axis(experiment.label(drawing.x), drawing, &places, is_number),
                y: match (drawing.log, drawing.same_y) {
                    (true, _) => Axis::log10(metric.label),
                    (false, true) => Axis::linear(metric.label).between(0.0, 1.05 * most(metric)),
                    (false, false) => Axis::linear(&label),
                },
                series: Vec::new(),
            };
            let names = experiment.values(drawing.series, quick);
            for (i, name) in names.iter().enumerate() {
                let estimates = experiment.values(drawing.x, quick).iter().zip(&places);
                let estimates: Vec<(f64, Estimate)> = estimates
                    .filter_map(|(value, place)| {
                        let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
                        let at = at.with(&others.into());
                        let e = experiment.shown(points, &at, metric.name)?;
                        Some((place.x, e))
                    })
                    .collect();
                if estimates.is_empty() {
                    continue;
                }
                let colour = Style::of(i).colour;
                let name = shown(drawing.series, name);
                panel.series.extend(match is_number {
                    true => line(&name, (i, names.len()), least(drawing), &estimates),
                    false => categories(&name, colour, (i, names.len()), drawing, &estimates),
                });
            }
            // Alone it says nothing.
            if !panel.series.is_empty() {
                let along = (experiment.values(drawing.x, quick), places.as_slice());
                (panel.series).extend(reference(experiment, points, at, along, names));
                (panel.series).extend(published(drawing, metric, &places));
            }
            panel
        };
        let panels: Vec<Panel> = panels.iter().map(panel).collect();
        // A percentile that no sample reaches has no row.
        let has_any = panels.iter().any(|p| !p.series.is_empty());
        has_any.then_some(Row {
            weight: 1.0,
            panels,
        })
    };
    let groups: Vec<Vec<&(String, Coordinates)>> = match drawing.rows {
        None => vec![all.iter().collect()],
        Some(rows) => {
            let values = experiment.values(rows, quick).iter();
            let of = |value| all.iter().filter(|(_, at)| at.get(rows) == value).collect();
            values.map(|value| of(value.as_str())).collect()
        }
    };
    let rows: Vec<Row> = groups
        .iter()
        .flat_map(|panels| drawing.y.iter().filter_map(|metric| row(panels, metric)))
        .collect();
    Figure {
        title: experiment.title.clone(),
        size_px: (TWO_COLUMNS_PX, 130 + ROW_PX * rows.len() as u32),
        rows,
    }
}

/// What a panel is to be compared with: one line where all its points say the same, else a line each
/// of the series.
fn reference(
    experiment: &Experiment,
    points: &Points,
    at: &Coordinates,
    (values, places): (&[String], &[Tick]),
    names: &[String],
) -> Vec<Series> {
    let drawing = &experiment.figure;
    let metric = drawing.line.as_ref();
    let Some(metric) = metric.and_then(|m| Metric::find(m, experiment.source()).ok()) else {
        return Vec::new();
    };
    let of_series = |name: &String| -> Vec<[f64; 2]> {
        let one = |(value, place): (&String, &Tick)| {
            let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
            let e = points.estimate(&experiment.id, &at.with(&others.into()), metric.name)?;
            Some([place.x, e.mean])
        };
        values.iter().zip(places).filter_map(one).collect()
    };
    let (width_px, dash) = (2.0, Dash::Dashed);
    let level = |all: &[[f64; 2]]| {
        let first = all.first()?[1];
        let at = vec![first];
        (all.iter().all(|p| p[1] == first)).then_some(Mark::Horizontals { at, width_px, dash })
    };
    let all: Vec<Vec<[f64; 2]>> = names.iter().map(of_series).collect();
    if let Some(mark) = level(&all.concat()) {
        return vec![series(metric.label, Colour::INK, mark)];
    }
    let of_each = names.iter().zip(all).enumerate();
    let of_each = of_each.filter(|(_, (_, points))| !points.is_empty());
    let one = |(i, (name, points)): (usize, (&String, Vec<[f64; 2]>))| {
        let mark = level(&points).unwrap_or(Mark::Line {
            points,
            width_px,
            dash,
        });
        let name = format!("{}, {}", metric.label, shown(drawing.series, name));
        series(&name, Style::of(i).colour, mark)
    };
    of_each.map(one).collect()
}

/// A value as the legend names it.
fn shown(dimension: Dimension, value: &str) -> String {
    match dimension {
        Dimension::PeCycles => format!("{value} P/E"),
        Dimension::Temperature => format!("{value} °C"),
        _ => value.to_owned(),
    }
}

/// A row for each value of `x` from the top, a panel for each metric. Through the first of several
/// variants goes a line: the others are compared with it.
fn across(experiment: &Experiment, points: &Points, quick: bool) -> Figure {
    let drawing = &experiment.figure;
    let values = experiment.values(drawing.x, quick);
    let names = experiment.values(drawing.series, quick);
    let n = values.len();
    let mut rows = Vec::new();
    for (title, at) in panels(experiment, quick) {
        let has_any = |metric: &Metric| {
            let all = points.of_experiment(&experiment.id);
            let mut of_metric =
                all.filter_map(|at| points.estimate(&experiment.id, at, metric.name));
            of_metric.next().is_some()
        };
        // A percentile that no sample reaches has no panel.
        let source = experiment.source();
        let metrics = (drawing.y.iter()).filter_map(|m| Metric::find(m, source).ok());
        let metrics: Vec<&Metric> = metrics.filter(|m| has_any(m)).collect();
        let panel = |(column, metric): (usize, &&Metric)| {
            let ticks = values.iter().enumerate();
            let ticks = ticks.map(|(i, text)| ((n - 1 - i) as f64, text.clone()));
            let mut panel = Panel {
                title: if column == 0 {
                    title.clone()
                } else {
                    String::new()
                },
                weight: 1.0,
                x: match drawing.log {
                    true => Axis::log10(metric.label),
                    false => Axis::linear(metric.label),
                },
                y: Axis {
                    ticks: Ticks::Named(if column == 0 {
                        ticks.collect()
                    } else {
                        Vec::new()
                    }),
                    ..Axis::linear("").between(-0.7, n as f64 - 0.3)
                },
                series: Vec::new(),
            };
            for (s, name) in names.iter().enumerate() {
                let of_value = |(i, value): (usize, &String)| {
                    let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
                    let at = at.with(&others.into());
                    let e = points.estimate(&experiment.id, &at, metric.name)?;
                    let apart = 0.5 * ((s as f64 + 0.5) / names.len() as f64 - 0.5);
                    Some(((n - 1 - i) as f64 - apart, e))
                };
                let all: Vec<(f64, Estimate)> =
                    values.iter().enumerate().filter_map(of_value).collect();
                let Some((_, first)) = all.first() else {
                    continue;
                };
                let colour = Style::of(s).colour;
                if drawing.x == Dimension::Variant && !drawing.waterfall {
                    let compared = Mark::Verticals {
                        at: vec![first.mean],
                        from: 0.0,
                        to: 1.0,
                        width_px: 1.5,
                        dash: Dash::Dashed,
                    };
                    panel.series.push(series("", colour, compared));
                }
                let steps = all.windows(2).filter(|_| drawing.waterfall);
                for step in steps {
                    let [(_, before), (y, after)] = step else {
                        continue;
                    };
                    let bar = Mark::Line {
                        points: vec![[before.mean, *y], [after.mean, *y]],
                        width_px: 9.0,
                        dash: Dash::Solid,
                    };
                    panel.series.push(series("", colour, bar));
                }
                for (y, e) in &all {
                    if let Some((low, high)) = low_high(e, 0.0) {
                        let whisker = Mark::Line {
                            points: vec![[low, *y], [high, *y]],
                            width_px: 2.0,
                            dash: Dash::Solid,
                        };
                        panel.series.push(series("", colour, whisker));
                    }
                }
                let shown = match names.len() {
                    1 => String::new(),
                    _ => shown(drawing.series, name),
                };
                let markers = Mark::Markers {
                    points: all.iter().map(|(y, e)| [e.mean, *y]).collect(),
                    marker: Style::of(s).marker,
                    size_px: 11.0,
                };
                panel.series.push(series(&shown, colour, markers));
            }
            panel
        };
        for (row, metrics) in metrics.chunks(MOST_ACROSS).enumerate() {
            let panels = metrics.iter().enumerate();
            let mut panels: Vec<Panel> = panels.map(&panel).collect();
            if row > 0 {
                panels[0].title.clear();
            }
            rows.push(Row {
                weight: 1.0,
                panels,
            });
        }
    }
    Figure {
        title: experiment.title.clone(),
        size_px: (
            TWO_COLUMNS_PX,
            130 + (110 + 34 * n as u32) * rows.len() as u32,
        ),
        rows,
    }
}

/// The capacity lost over the time of a run, on the first drive: a line of steps for each value of `x` and each series.
fn over_time(
    experiment: &Experiment,
    points: &Points,
    (title, at): (&str, &Coordinates),
    quick: bool,
) -> Panel {
    let drawing = &experiment.figure;
    let mut panel = Panel {
        title: title.to_owned(),
        weight: 1.0,
        x: Axis::linear("Time of the run (s)"),
        y: Axis::linear("Capacity lost (MiB)"),
        series: Vec::new(),
    };
    let values = experiment.values(drawing.x, quick);
    let names = experiment.values(drawing.series, quick);
    let lines = values.len() * names.len();
    for name in names {
        for value in values {
            let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
            let at = at.with(&others.into());
            let of = points.first(&experiment.id, &at, OVER_TIME);
            let pair = |pair: &Value| Some([pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?]);
            let changes = of.and_then(Value::as_array).into_iter().flatten();
            let mut line: Vec<[f64; 2]> = Vec::new();
            for [seconds, mib] in changes.filter_map(pair) {
                // A step: what was lost before holds until then.
                line.extend(line.last().map(|&[_, before]| [seconds, before]));
                line.push([seconds, mib]);
            }
            if line.is_empty() {
                continue;
            }
            let name = match values.len() {
                1 => shown(drawing.series, name),
                _ => format!("{}, {value}", shown(drawing.series, name)),
            };
            let nth = panel.series.len();
            let mark = Style::line(nth, lines, line);
            (panel.series).push(series(&name, Style::of(nth).colour, mark));
        }
    }
    panel
}

/// A marker for each value of `x`, at its metric `along` and its metric `y`, with both intervals.
fn scatter(
    experiment: &Experiment,
    points: &Points,
    (title, at): (&str, &Coordinates),
    (along, y): (&str, &Metric),
    quick: bool,
) -> Panel {
    let drawing = &experiment.figure;
    let along = Metric::find(along, experiment.source()).unwrap_or(y);
    let mut panel = Panel {
        title: title.to_owned(),
        weight: 1.0,
        x: Axis::linear(along.label),
        y: match drawing.log {
            true => Axis::log10(y.label),
            false => Axis::linear(y.label),
        },
        series: Vec::new(),
    };
    for (i, name) in experiment.values(drawing.series, quick).iter().enumerate() {
        let of_value = |value: &String| {
            let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
            let at = at.with(&others.into());
            let of = |metric: &Metric| points.estimate(&experiment.id, &at, metric.name);
            of(along).zip(of(y))
        };
        let all = experiment.values(drawing.x, quick).iter();
        let all: Vec<(Estimate, Estimate)> = all.filter_map(of_value).collect();
        if all.is_empty() {
            continue;
        }
        let colour = Style::of(i).colour;
        if drawing.drives {
            let each = |value: &String| {
                let others = [(drawing.x, value.clone()), (drawing.series, name.clone())];
                let at = at.with(&others.into());
                let of = |metric: &Metric| points.values(&experiment.id, &at, metric.name);
                let pairs = of(along)
                    .into_iter()
                    .flatten()
                    .zip(of(y).into_iter().flatten());
                pairs.map(|(x, y)| [x, y]).collect::<Vec<_>>()
            };
            let marks = Mark::Markers {
                points: experiment
                    .values(drawing.x, quick)
                    .iter()
                    .flat_map(each)
                    .collect(),
                marker: Style::of(i).marker,
                size_px: 11.0,
            };
            (panel.series).push(series(&shown(drawing.series, name), colour, marks));
            continue;
        }
        for (x, y) in &all {
            let least = least(drawing);
            let across = low_high(x, least).map(|(low, high)| [[low, y.mean], [high, y.mean]]);
            let up = low_high(y, least).map(|(low, high)| [[x.mean, low], [x.mean, high]]);
            let whisker = |points: [[f64; 2]; 2]| Mark::Line {
                points: points.into(),
                width_px: 2.0,
                dash: Dash::Solid,
            };
            let whiskers = [across, up].into_iter().flatten().map(whisker);
            (panel.series).extend(whiskers.map(|mark| series("", colour, mark)));
        }
        let marks = Mark::Markers {
            points: all.iter().map(|(x, y)| [x.mean, y.mean]).collect(),
            marker: Style::of(i).marker,
            size_px: 13.0,
        };
        (panel.series).push(series(&shown(drawing.series, name), colour, marks));
    }
    panel
}

/// Titles and coordinates of the panels of a row.
fn panels(experiment: &Experiment, quick: bool) -> Vec<(String, Coordinates)> {
    let drawing = &experiment.figure;
    let mut panels: Vec<(String, Coordinates)> = Vec::new();
    for at in Coordinates::all(experiment, quick) {
        let mut title = Vec::new();
        for d in Dimension::ALL {
            if d == drawing.x || d == drawing.series {
                continue;
            }
            if experiment.values(d, quick).len() > 1 {
                title.push(shown(d, at.get(d)));
            }
        }
        let title = title.join(", ");
        if !panels.iter().any(|(t, _)| *t == title) {
            panels.push((title, at));
        }
    }
    panels
}

/// Where values lie along the axis, and whether they are numbers.
fn places(values: &[String], dimension: Dimension) -> (Vec<Tick>, bool) {
    let numbers = values.iter().map(|text| dimension.number(text));
    let numbers: Option<Vec<f64>> = numbers.collect();
    let is_number = numbers.is_some();
    let at = |(i, text): (usize, &String)| Tick {
        x: numbers.as_ref().map_or(i as f64, |n| n[i]),
        text: text.clone(),
    };
    (values.iter().enumerate().map(at).collect(), is_number)
}

fn axis(label: &str, drawing: &Drawing, places: &[Tick], is_number: bool) -> Axis {
    let named = places.iter().map(|p| (p.x, p.text.clone())).collect();
    let named = Ticks::Named(named);
    match (is_number, drawing.log_x) {
        (true, false) => Axis::linear(label),
        // From the first value to the last, at which it is written: they are no round numbers.
        (true, true) => {
            let all = || places.iter().map(|p| p.x);
            let (low, high) = (
                all().fold(f64::INFINITY, f64::min),
                all().fold(0.0, f64::max),
            );
            Axis {
                ticks: named,
                ..Axis::log10(label).between(0.8 * low, 1.25 * high)
            }
        }
        (false, _) => Axis {
            ticks: named,
            ..Axis::linear(label).between(-0.5, places.len() as f64 - 0.5)
        },
    }
}

fn series(name: &str, colour: Colour, mark: Mark) -> Series {
    Series {
        name: name.to_owned(),
        colour,
        mark,
    }
}

/// The interval of `e`, from `least` on.
fn low_high(e: &Estimate, least: f64) -> Option<(f64, f64)> {
    let half = e.half?;
    Some(((e.mean - half).max(least), e.mean + half))
}

/// The least that an interval may reach: no metric is negative, so an interval of few drives ends at zero. A
/// reduction may be.
fn least(drawing: &Drawing) -> f64 {
    match drawing.reduction.is_empty() {
        true => 0.0,
        false => f64::NEG_INFINITY,
    }
}

/// The label of `metric`, of which a figure may show reductions.
fn label(drawing: &Drawing, metric: &Metric) -> String {
    match drawing.reduction.is_empty() {
        true => metric.label.to_owned(),
        false => {
            let quantity = metric.label.split(" (").next().unwrap_or_default();
            format!("{quantity}: reduction (%)")
        }
    }
}

/// What is published of a reduction of `metric`: a shaded area from end to end, and the number as a dashed line.
fn published(drawing: &Drawing, metric: &Metric, places: &[Tick]) -> Vec<Series> {
    let all = || places.iter().map(|place| place.x);
    let ends = [
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    ];
    let of_metric = |p: &&Published| p.metric == metric.name;
    let one = |p: &Published| {
        let [low, high] = p.band;
        let area = Mark::Band {
            points: ends.map(|x| [x, low, high]).into(),
            opacity: 0.12,
        };
        let number = Mark::Horizontals {
            at: vec![p.value],
            width_px: 2.0,
            dash: Dash::Dashed,
        };
        let name = format!("{}: {} %", p.at, p.value);
        [
            series("", Colour::INK, area),
            series(&name, Colour::INK, number),
        ]
    };
    drawing
        .published
        .iter()
        .filter(of_metric)
        .flat_map(one)
        .collect()
}

/// A line along numbers, the `i`-th of `n`, with its band and its markers.
fn line(
    name: &str,
    (i, n): (usize, usize),
    least: f64,
    estimates: &[(f64, Estimate)],
) -> Vec<Series> {
    let colour = Style::of(i).colour;
    let points: Vec<[f64; 2]> = estimates.iter().map(|(x, e)| [*x, e.mean]).collect();
    let band: Vec<[f64; 3]> = estimates
        .iter()
        .filter_map(|(x, e)| low_high(e, least).map(|(low, high)| [*x, low, high]))
        .collect();
    let mut all = Vec::new();
    if band.len() == points.len() {
        let opacity = 0.15;
        all.push(series(
            "",
            colour,
            Mark::Band {
                points: band,
                opacity,
            },
        ));
    }
    all.push(series(name, colour, Style::line(i, n, points.clone())));
    all.push(series(name, colour, Style::markers(i, n, points)));
    all
}

/// Bars; on a logarithmic axis, which has no zero for them to stand on, markers.
fn categories(
    name: &str,
    colour: Colour,
    (i, n): (usize, usize),
    drawing: &Drawing,
    estimates: &[(f64, Estimate)],
) -> Vec<Series> {
    let width = FILLED / n as f64;
    let shift = (i as f64 + 0.5) * width - 0.5 * FILLED;
    let points = estimates.iter().map(|(x, e)| [x + shift, e.mean]).collect();
    let mark = match drawing.log {
        true => Mark::Markers {
            points,
            marker: Style::of(i).marker,
            size_px: 14.0,
        },
        false => Mark::Bars {
            points,
            width: 0.94 * width,
        },
    };
    let mut all = vec![series(name, colour, mark)];
    // Intervals as whiskers.
    for (x, e) in estimates {
        if let Some((low, high)) = low_high(e, least(drawing)) {
            all.push(series(
                "",
                Colour::INK,
                Mark::Line {
                    points: vec![[x + shift, low], [x + shift, high]],
                    width_px: 2.0,
                    dash: Dash::Solid,
                },
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use firstread_session::study::spec::Study;

    use super::*;
    use crate::figure::PALETTE;

    /// The dashed lines of a study of two wears at two ages, whose code corrects so many bits; rows of
    /// panels where only the code is known.
    fn dashed(capability: impl Fn(&Coordinates) -> f64) -> (Vec<(String, Colour, Mark)>, usize) {
        let text = include_str!("../../../session/src/study/cells.toml").replacen(
            "[\"500\"]",
            "[\"500\", \"900\"]",
            1,
        );
        let study = Study::parse("t", &text).unwrap();
        let experiment = &study.experiments[0];
        let (mut whole, mut code_alone) = (Points::default(), Points::default());
        for at in Coordinates::all(experiment, true) {
            let code = ("capability_bits".to_owned(), capability(&at).into());
            let errors = ("rare_codeword_bits".to_owned(), 20.0.into());
            code_alone.add("margins", at.clone(), [code.clone()].into_iter().collect());
            whole.add("margins", at, [code, errors].into_iter().collect());
        }
        let of = |figure: &Figure| {
            let all = figure.rows.iter().flat_map(|r| &r.panels);
            let all = all.flat_map(|p| &p.series).filter(|s| match &s.mark {
                Mark::Line { dash, width_px, .. } | Mark::Horizontals { dash, width_px, .. } => {
                    *dash == Dash::Dashed && *width_px == 2.0
                }
                _ => false,
            });
            let all = all.map(|s| (s.name.clone(), s.colour, s.mark.clone()));
            all.collect()
        };
        let empty = draw(experiment, &code_alone, true).rows.len();
        (of(&draw(experiment, &whole, true)), empty)
    }

    /// What figures are compared with is one line where it is one number, and never drawn alone.
    #[test]
    fn model_reference_lines_are_those_of_their_series() {
        let level = |bits: f64| Mark::Horizontals {
            at: vec![bits],
            width_px: 2.0,
            dash: Dash::Dashed,
        };
        let label = "Correctable (bits)".to_owned();
        let (all, empty) = dashed(|_| 72.0);
        assert_eq!(all, [(label.clone(), Colour::INK, level(72.0))]);
        assert_eq!(empty, 0, "a row without data");
        let names = ["500", "900"].map(|pe| format!("{label}, {pe} P/E"));
        let (all, _) = dashed(|at| at.get(Dimension::PeCycles).parse().unwrap());
        let [low, high] = names.clone();
        let expected = [
            (low, PALETTE[0], level(500.0)),
            (high, PALETTE[1], level(900.0)),
        ];
        assert_eq!(all, expected);
        let (all, _) = dashed(|at| {
            if at.get(Dimension::Age) == "1d" {
                72.0
            } else {
                40.0
            }
        });
        assert_eq!(all.len(), 2);
        for ((name, _, mark), expected) in all.iter().zip(&names) {
            let Mark::Line { points, .. } = mark else {
                panic!("{mark:?}");
            };
            assert_eq!(name, expected);
            assert_eq!(points[..], [[24.0, 72.0], [93.0 * 24.0, 40.0]]);
        }
    }

    /// A figure along a metric has a marker at the two numbers of each point.
    #[test]
    fn model_a_figure_along_a_metric_has_both_numbers() {
        let text = include_str!("../../../session/src/study/small.toml").replacen(
            "y = [\"iops\", \"mean_us\"]",
            "along = \"mean_us\", y = [\"iops\"]",
            1,
        );
        let study = Study::parse("t", &text).unwrap();
        let experiment = &study.experiments[0];
        let mut points = Points::default();
        for (i, at) in Coordinates::all(experiment, false).into_iter().enumerate() {
            let n = i as f64;
            for drive in [-1.0, 1.0] {
                let metrics = [("mean_us", 100.0 + n + drive), ("iops", 10.0 * n)];
                let metrics = metrics.map(|(name, value)| (name.to_owned(), value.into()));
                points.add("one", at.clone(), metrics.into_iter().collect());
            }
        }
        let figure = draw(experiment, &points, false);
        let panel = &figure.rows[0].panels[0];
        let markers = panel.series.iter().filter_map(|s| match &s.mark {
            Mark::Markers { points, .. } => Some((s.name.as_str(), points.clone())),
            _ => None,
        });
        let markers: Vec<_> = markers.collect();
        assert_eq!(
            markers,
            [
                ("a", vec![[100.0, 0.0], [101.0, 10.0]]),
                ("b", vec![[102.0, 20.0], [103.0, 30.0]])
            ]
        );
        assert_eq!(panel.x.label, "Mean latency (us)");
        let whiskers = panel.series.len() - markers.len();
        assert_eq!(whiskers, 8, "both intervals of four points");
    }

    /// A figure over time has a step for each change, of the first drive alone.
    #[test]
    fn model_a_figure_over_time_has_steps() {
        let text = include_str!("../../../session/src/study/small.toml").replacen(
            "x = \"age\", y = [\"iops\", \"mean_us\"]",
            "x = \"temperature\", along = \"time\", y = [\"capacity_lost_mib\"]",
            1,
        );
        let study = Study::parse("t", &text).unwrap();
        let experiment = &study.experiments[0];
        let mut points = Points::default();
        let at = Coordinates::all(experiment, true).remove(0);
        for lost in [48.0, 16.0] {
            let over = serde_json::json!([[0.0, 0.0], [2.0, lost], [5.0, lost]]);
            let values = [(OVER_TIME.to_owned(), over)];
            points.add("one", at.clone(), values.into_iter().collect());
        }
        let figure = draw(experiment, &points, true);
        let panel = &figure.rows[0].panels[0];
        let lines = panel.series.iter().map(|s| match &s.mark {
            Mark::Line { points, .. } => (s.name.as_str(), points.clone()),
            other => panic!("{other:?}"),
        });
        let steps = [
            [0.0, 0.0],
            [2.0, 0.0],
            [2.0, 48.0],
            [5.0, 48.0],
            [5.0, 48.0],
        ];
        assert_eq!(lines.collect::<Vec<_>>(), [("a", steps.to_vec())]);
    }

    /// A figure of reductions has no series of what is compared, and what is published behind the others.
    #[test]
    fn model_a_figure_of_reductions_shows_what_is_published() {
        let text = include_str!("../../../session/src/study/reduction.toml");
        let study = Study::parse("t", text).unwrap();
        let experiment = &study.experiments[0];
        let mut points = Points::default();
        for at in Coordinates::all(experiment, false) {
            let mean = if at.get(Dimension::Variant) == "slow" {
                100.0
            } else {
                130.0
            };
            for _ in 0..2 {
                let metrics = [("mean_us".to_owned(), mean.into())];
                points.add("range", at.clone(), metrics.into_iter().collect());
            }
        }
        let figure = draw(experiment, &points, false);
        let panel = &figure.rows[0].panels[0];
        let names: Vec<&str> = panel.series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["", "slow", "slow", "", "Fig 9: 49 %"]);
        let line = panel.series.iter().find_map(|s| match &s.mark {
            Mark::Line { points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(line.unwrap()[0], [1.0, -30.000000000000004]);
        let area = panel.series.iter().rev().find_map(|s| match &s.mark {
            Mark::Band { points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(area.unwrap(), [[1.0, 25.0, 74.0], [24.0, 25.0, 74.0]]);
        assert_eq!(panel.y.label, "Mean latency: reduction (%)");
    }

    /// Points by hand of a study of variants `a` and `b` at two ages: IOPS 10, 20, 30, 40 on average, with drives one below and
    /// above.
    fn of_variants(figure: &str) -> Figure {
        let text = include_str!("../../../session/src/study/small.toml").replacen(
            "x = \"age\", y = [\"iops\", \"mean_us\"]",
            figure,
            1,
        );
        let study = Study::parse("t", &text).unwrap();
        let experiment = &study.experiments[0];
        let mut points = Points::default();
        for (i, at) in Coordinates::all(experiment, false).into_iter().enumerate() {
            for drive in [-1.0, 1.0] {
                let value = 10.0 * (i + 1) as f64 + drive;
                let metrics = [("iops".to_owned(), value.into())];
                points.add("one", at.clone(), metrics.into_iter().collect());
            }
        }
        draw(experiment, &points, false)
    }

    /// Student's factor of two drives is 12.706, and their deviation from the mean by √2 is one: half an interval.
    const HALF: f64 = 12.706;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-3
    }

    /// Bars of a category stand side by side over eight tenths of its width, each with a whisker.
    #[test]
    fn formula_bars_of_a_category_share_its_width() {
        let figure = of_variants("x = \"variant\", series = \"age\", y = [\"iops\"]");
        assert_eq!(figure.size_px, (TWO_COLUMNS_PX, 590));
        let panel = &figure.rows[0].panels[0];
        assert_eq!(panel.x.range, Some((-0.5, 1.5)));
        let names = [(0.0, "a".to_owned()), (1.0, "b".to_owned())];
        assert_eq!(panel.x.ticks, Ticks::Named(names.to_vec()));
        let bars = panel.series.iter().filter_map(|s| match &s.mark {
            Mark::Bars { points, width } => Some((s.name.as_str(), points.clone(), *width)),
            _ => None,
        });
        let bars: Vec<_> = bars.collect();
        assert_eq!(bars.len(), 2);
        for ((name, points, width), (expected, shift, values)) in bars
            .iter()
            .zip([("2h", -0.2, [10.0, 30.0]), ("28h", 0.2, [20.0, 40.0])])
        {
            assert_eq!(*name, expected);
            assert!(near(*width, 0.4 * 0.94), "{width}");
            for (i, point) in points.iter().enumerate() {
                assert!(near(point[0], i as f64 + shift), "{points:?}");
                assert!(near(point[1], values[i]), "{points:?}");
            }
        }
        let whiskers = panel.series.iter().filter_map(|s| match &s.mark {
            Mark::Line { points, .. } => {
                Some([points[0][0], points[0][1], points[1][0], points[1][1]])
            }
            _ => None,
        });
        let whiskers: Vec<_> = whiskers.collect();
        // No metric is negative: the interval of the first ends at zero.
        let expected = [
            [-0.2, 0.0, -0.2, 10.0 + HALF],
            [0.8, 30.0 - HALF, 0.8, 30.0 + HALF],
            [0.2, 20.0 - HALF, 0.2, 20.0 + HALF],
            [1.2, 40.0 - HALF, 1.2, 40.0 + HALF],
        ];
        assert_eq!(whiskers.len(), expected.len());
        for (got, expected) in whiskers.iter().zip(expected) {
            assert!(
                got.iter().zip(expected).all(|(a, b)| near(*a, b)),
                "{got:?} {expected:?}"
            );
        }
    }

    /// Rows from the top, series a little above and below their row; lines through the first variant.
    #[test]
    fn formula_rows_across_lie_from_the_top() {
        let figure = of_variants(
            "across = true, x = \"variant\", series = \"age\", y = [\"iops\", \"mean_us\"]",
        );
        // Two rows of 34 pixels; no latency was measured.
        assert_eq!(figure.size_px, (TWO_COLUMNS_PX, 130 + 110 + 68));
        assert_eq!((figure.rows.len(), figure.rows[0].panels.len()), (1, 1));
        let panel = &figure.rows[0].panels[0];
        assert_eq!(panel.y.range, Some((-0.7, 1.7)));
        let names = [(1.0, "a".to_owned()), (0.0, "b".to_owned())];
        assert_eq!(panel.y.ticks, Ticks::Named(names.to_vec()));
        let mut markers = Vec::new();
        let mut lines = Vec::new();
        for series in &panel.series {
            match &series.mark {
                Mark::Markers { points, .. } => {
                    markers.push((series.name.as_str(), points.clone()))
                }
                Mark::Verticals { at, .. } => lines.extend(at.iter().copied()),
                _ => {}
            }
        }
        assert_eq!(lines, [10.0, 20.0]);
        assert_eq!(
            markers,
            [
                ("2h", vec![[10.0, 1.125], [30.0, 0.125]]),
                ("28h", vec![[20.0, 0.875], [40.0, -0.125]])
            ]
        );
    }

    /// In a waterfall a bar goes from the row above to each row but the first, and nothing is compared with the first alone.
    #[test]
    fn formula_bars_of_a_waterfall_go_from_row_to_row() {
        let figure = of_variants(
            "across = true, waterfall = true, x = \"variant\", series = \"age\", y = [\"iops\"]",
        );
        let panel = &figure.rows[0].panels[0];
        let bars = panel.series.iter().filter_map(|s| match &s.mark {
            Mark::Line {
                points, width_px, ..
            } if *width_px > 5.0 => Some(points.clone()),
            _ => None,
        });
        let bars: Vec<_> = bars.collect();
        assert_eq!(
            bars,
            [
                vec![[10.0, 0.125], [30.0, 0.125]],
                vec![[20.0, -0.125], [40.0, -0.125]]
            ]
        );
        let is_line = |s: &Series| matches!(s.mark, Mark::Verticals { .. });
        assert!(!panel.series.iter().any(is_line));
    }

    /// With `drives` each drive has a marker of its own, and no interval.
    #[test]
    fn formula_a_marker_each_drive() {
        let figure = of_variants("x = \"age\", along = \"iops\", y = [\"iops\"], drives = true");
        let panel = &figure.rows[0].panels[0];
        let markers = panel.series.iter().map(|s| match &s.mark {
            Mark::Markers { points, .. } => (s.name.as_str(), points.clone()),
            mark => panic!("{mark:?}"),
        });
        let of = |values: [f64; 4]| values.map(|v| [v, v]).to_vec();
        assert_eq!(
            markers.collect::<Vec<_>>(),
            [
                ("a", of([9.0, 11.0, 19.0, 21.0])),
                ("b", of([29.0, 31.0, 39.0, 41.0]))
            ]
        );
    }

    /// Along numbers a line has its band, its markers, and a range of a twentieth beyond the highest end where all panels
    /// share it.
    #[test]
    fn formula_lines_along_numbers_have_bands() {
        let figure = of_variants("x = \"age\", y = [\"iops\"], same_y = true");
        let panel = &figure.rows[0].panels[0];
        let (low, high) = panel.y.range.unwrap();
        assert!(low == 0.0 && near(high, 1.05 * (40.0 + HALF)), "{high}");
        let [band, line, markers, ..] = &panel.series[..] else {
            panic!("{panel:?}");
        };
        let Mark::Band { points, .. } = &band.mark else {
            panic!("{band:?}");
        };
        assert_eq!((points[0][0], points[0][1], points[1][0]), (2.0, 0.0, 28.0));
        assert!(near(points[0][2], 10.0 + HALF) && near(points[1][1], 20.0 - HALF));
        assert_eq!((line.name.as_str(), markers.name.as_str()), ("a", "a"));
        assert_eq!(panel.series.len(), 6);
        let figure = of_variants("x = \"age\", y = [\"iops\"], log_x = true");
        let panel = &figure.rows[0].panels[0];
        assert_eq!(panel.x.range, Some((1.6, 35.0)));
    }
}
