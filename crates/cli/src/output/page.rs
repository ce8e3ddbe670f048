//! Runs on a page: a headline, latencies by percentile as a picture and as a table, and what is behind them. A run, a load on
//! several drives and schemes side by side are shown alike.

use firstread_session::results::TAIL;

use super::format::{count, rare, ratio, share, si, time};
use super::spread::Spread;
use super::summary::{Direction, Summary, causes};
use crate::figure::{Axis, Dash, Figure, Mark, Panel, Row, Series, Style, TWO_COLUMNS_PX, Ticks};
use crate::page::Section;

/// Percentiles along the axis, and the requests that have to lie beyond one for it to be shown.
const PERCENTILES: [f64; 7] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];
const FEWEST_BEYOND: u64 = 10;
/// Height of a row of panels (px).
const ROW_PX: u32 = 460;

/// What is shown as one: a run, or one on each of several drives.
pub struct Shown<'a> {
    /// What tells it from others; empty where there is one.
    pub name: String,
    pub runs: Vec<&'a Summary>,
}

/// Requests of one direction of what is shown as one.
struct Line<'a> {
    name: String,
    runs: Vec<&'a Direction>,
}

impl Line<'_> {
    /// The percentile over drives, with the interval within one drive where there is one; none where a drive has too few
    /// requests.
    fn at(&self, percent: f64) -> Option<Spread> {
        let each = self.runs.iter().map(|of| {
            let p = of.percentile(percent);
            (p.beyond >= FEWEST_BEYOND).then_some(p.ns as f64)
        });
        let over = Spread::of(each)?;
        let interval = match self.runs[..] {
            [of] => of.percentile(percent).interval_ns,
            _ => None,
        };
        Some(match interval {
            Some((low, high)) => Spread {
                low: low as f64,
                high: high as f64,
                ..over
            },
            None => over,
        })
    }

    fn name(&self) -> &str {
        match self.name.as_str() {
            "" => "all",
            name => name,
        }
    }
}

/// The headline of what is `shown`, a line each, and the sections of its page. All have the same groups of jobs.
pub fn of<'a>(shown: &[Shown<'a>]) -> (Vec<String>, Vec<Section>) {
    let (mut headline, mut sections) = (Vec::new(), Vec::new());
    let first = shown.iter().flat_map(|of| of.runs.first());
    let groups = first.map(|run| run.groups().len()).min();
    for i in 0..groups.unwrap_or(0) {
        let one = |of: &Shown<'a>| Shown {
            name: of.name.clone(),
            runs: of
                .runs
                .iter()
                .filter_map(|run| run.groups().get(i))
                .collect(),
        };
        let group: Vec<Shown<'a>> = shown.iter().map(one).collect();
        sections.extend(of_group(&group, &mut headline));
    }
    (headline, sections)
}

/// What a group of jobs came to; its headline goes to the others.
fn of_group(shown: &[Shown<'_>], headline: &mut Vec<String>) -> Vec<Section> {
    let first = shown.iter().find_map(|of| of.runs.first());
    let jobs = match first.map_or("", |run| run.jobs.as_str()) {
        "" => String::new(),
        jobs => format!(", jobs {jobs}"),
    };
    let mut sections = Vec::new();
    let mut panels = Vec::new();
    let mut tables = Vec::new();
    type Of = fn(&Summary) -> &Direction;
    let directions: [(&str, Of); 3] = [
        ("reads", |run| &run.read),
        ("writes", |run| &run.write),
        ("trims", |run| &run.trim),
    ];
    for (name, of) in directions {
        let lines = shown
            .iter()
            .filter(|shown| shown.runs.iter().all(|run| of(run).count > 0));
        let lines: Vec<Line<'_>> = lines
            .map(|shown| Line {
                name: shown.name.clone(),
                runs: shown.runs.iter().map(|run| of(run)).collect(),
            })
            .collect();
        if lines.is_empty() {
            continue;
        }
        headline.push(said(&format!("{name}{jobs}"), &lines));
        panels.extend(panel(name, &lines));
        tables.push(Section::table(
            &format!("Latency of {name}{jobs}"),
            rows(&lines),
        ));
    }
    if !panels.is_empty() {
        let figure = Figure {
            title: format!("Latency by percentile{jobs}"),
            size_px: (TWO_COLUMNS_PX, 130 + ROW_PX),
            rows: vec![Row {
                weight: 1.0,
                panels,
            }],
        };
        let mut section = Section::figure(&figure.title, &figure);
        section.text = WHISKERS.to_owned();
        sections.push(section);
    }
    sections.extend(tables);
    sections.push(Section::table(
        &format!("What is behind it{jobs}"),
        behind(shown),
    ));
    sections
}

/// What whiskers and ranges are.
const WHISKERS: &str = "Of one drive the range is the 95 % interval within the run; of several it is the lowest and the highest \
    of them, around their median. A percentile beyond which fewer than 10 requests lie is left out.";

/// A sentence: the rarest percentile that all `lines` have, and where it is lowest.
fn said(name: &str, lines: &[Line<'_>]) -> String {
    let known = |percent: &&f64| lines.iter().all(|line| line.at(**percent).is_some());
    let Some(&percent) = PERCENTILES.iter().rev().find(known) else {
        let requests: u64 = lines.iter().flat_map(|l| &l.runs).map(|of| of.count).sum();
        return format!(
            "{name}: {} requests, too few for a percentile",
            count(requests)
        );
    };
    let of = |line: &Line<'_>| line.at(percent).map_or(f64::INFINITY, |at| at.median);
    let text = |line: &Line<'_>| {
        line.at(percent)
            .map_or(String::new(), |at| with_range(&at, time))
    };
    let best = lines.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
    match (lines, best) {
        ([line], _) => format!("P{percent} of {name}: {}", text(line)),
        ([first, ..], Some(best)) if best.name != first.name => format!(
            "P{percent} of {name}: lowest with {}, {}; {:.2} of {} with {}",
            best.name(),
            text(best),
            of(best) / of(first),
            text(first),
            first.name(),
        ),
        ([first, rest @ ..], _) if rest.iter().all(|line| of(line) == of(first)) => {
            format!("P{percent} of {name}: {} with each", text(first))
        }
        ([first, ..], _) => format!(
            "P{percent} of {name}: lowest with {}, {}",
            first.name(),
            text(first)
        ),
        ([], _) => String::new(),
    }
}

/// The median, and the range where there is one.
fn with_range(over: &Spread, show: impl Fn(f64) -> String) -> String {
    match over.high > over.low {
        true => format!("{} ({})", show(over.median), over.range(show)),
        false => show(over.median),
    }
}

/// Latencies by percentile: a line each, with whiskers.
fn panel(title: &str, lines: &[Line<'_>]) -> Option<Panel> {
    let is_known = |percent: &f64| lines.iter().any(|line| line.at(*percent).is_some());
    let shown: Vec<f64> = PERCENTILES.into_iter().filter(is_known).collect();
    let ticks = shown.iter().enumerate();
    let ticks = ticks.map(|(i, percent)| (i as f64, format!("P{percent}")));
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    let mut series = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let style = Style::of(i);
        // Side by side, so that what is equal is seen.
        let apart = 0.4 * ((i as f64 + 0.5) / lines.len() as f64 - 0.5);
        let points = shown.iter().enumerate();
        let points = points.filter_map(|(x, p)| Some((x as f64 + apart, line.at(*p)?)));
        let points: Vec<(f64, Spread)> = points.collect();
        let of = |name: &str, mark| Series {
            name: name.to_owned(),
            colour: style.colour,
            mark,
        };
        let us = |ns: f64| ns / 1e3;
        let middle: Vec<[f64; 2]> = points.iter().map(|(x, at)| [*x, us(at.median)]).collect();
        for (x, at) in &points {
            (low, high) = (low.min(us(at.low)), high.max(us(at.high)));
            if at.high > at.low {
                let whisker = Mark::Line {
                    points: vec![[*x, us(at.low)], [*x, us(at.high)]],
                    width_px: 2.0,
                    dash: Dash::Solid,
                };
                series.push(of("", whisker));
            }
        }
        series.push(of(&line.name, Style::line(i, lines.len(), middle.clone())));
        series.push(of(&line.name, Style::markers(i, lines.len(), middle)));
    }
    (!shown.is_empty()).then(|| Panel {
        title: title.to_owned(),
        weight: 1.0,
        x: Axis {
            ticks: Ticks::Named(ticks.collect()),
            ..Axis::linear("").between(-0.5, shown.len() as f64 - 0.5)
        },
        y: Axis::log10("Latency (µs)").between(low / 1.15, high * 1.15),
        series,
    })
}

/// Latencies by percentile, a row each.
fn rows(lines: &[Line<'_>]) -> Vec<Vec<String>> {
    let is_known = |percent: &f64| lines.iter().any(|line| line.at(*percent).is_some());
    let shown: Vec<f64> = PERCENTILES.into_iter().filter(is_known).collect();
    let mut head = vec![String::new(), "requests".into(), "mean".into()];
    head.extend(shown.iter().map(|percent| format!("P{percent}")));
    let mut rows = vec![head];
    for line in lines {
        let mean = Spread::of(line.runs.iter().map(|of| Some(of.mean_ns)));
        let requests = line.runs.iter().map(|of| of.count).sum();
        let mut row = vec![line.name().to_owned(), count(requests)];
        row.push(mean.map_or(String::new(), |mean| time(mean.median)));
        row.extend(shown.iter().map(|percent| match line.at(*percent) {
            Some(at) => with_range(&at, time),
            None => String::new(),
        }));
        rows.push(row);
    }
    rows
}

/// Rates, retries and causes, a row each.
fn behind(shown: &[Shown<'_>]) -> Vec<Vec<String>> {
    type Figure = (&'static str, fn(&Summary) -> Option<f64>, fn(f64) -> String);
    let figures: [Figure; 6] = [
        ("IOPS", |run| Some(run.iops()), si),
        ("first try", |run| Some(run.first_try), share),
        ("retries a page", |run| Some(run.retries_mean), ratio),
        ("reads lost", |run| Some(run.read.lost_share()), rare),
        ("write amplification", |run| run.amplification, ratio),
        (
            "background reads",
            |run| Some(run.background_reads as f64),
            |n| count(n as u64),
        ),
    ];
    let mut head = vec![String::new()];
    head.extend(figures.iter().map(|(name, ..)| (*name).to_owned()));
    head.push(format!("slowest {} %: causes", TAIL * 100.0));
    let mut rows = vec![head];
    for of in shown {
        let mut row = vec![of.name.clone()];
        row.extend(figures.iter().map(|(_, value, show)| {
            let over = Spread::of(of.runs.iter().map(|run| value(run)));
            over.map_or(String::new(), |over| with_range(&over, show))
        }));
        row.push(causes(of.runs.iter().copied()).join(", "));
        rows.push(row);
    }
    rows
}
