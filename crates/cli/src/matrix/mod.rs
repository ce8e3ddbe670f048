//! Many runs that differ in what is given several values: one table, one CSV, one picture.
//!
//! - [`combination`]: what was asked for, and what has run. [`table`]: the table, and the same as data. [`picture`]: percentiles
//!   against what varies.
//! - [`kept`]: runs that are kept and found, as every command has them that makes several.

mod combination;
pub mod kept;
mod picture;
mod table;

use std::collections::BTreeSet;

use anyhow::Result;
use firstread_drive::Ended;
use firstread_session::files::Page;
use firstread_session::life::LifeProgress;
use firstread_session::study::metric;
use firstread_session::{
    Finished, Input, Interrupt, Kept, Matrix, Point, Progress, Setup, Watch, results,
};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use crate::accept;
use crate::args::{Form, Interrupted};
use crate::figure::Figure;
use crate::interrupt;
use crate::output::summary::Summary;
use crate::progress::Bars;
use crate::streams::{data, notice, tell, warning};
pub use combination::Asked;
use combination::{Combination, Ran};

pub fn run(asked: &Asked<'_>) -> Result<()> {
    let interrupt = interrupt::handled();
    let (combinations, points) = points(asked, &interrupt)?;
    warn(&points);
    let title = asked.base.input.title();
    let out = asked.output.out.as_deref();
    let store = kept::store(out, "matrix", title)?;
    let store = match asked.output.form.form() {
        Form::Json => store.with_results(),
        Form::Human => store,
    };
    let matrix = |watch| Matrix {
        points: &points,
        threads: asked.threads,
        watch,
    };
    let watch = Simulations::new(matrix(&()).simulations()?);
    let kept = matrix(&watch).kept(&store, values)?;
    drop(watch);
    kept::tell_found(&points, &kept, "runs");
    let ran = Ran {
        asked,
        combinations: gather(combinations, &points, |i| kept.of(i).cloned()),
    };
    if kept.finished() == 0 {
        return Err(Interrupted(" before any run had ended".into()).into());
    }
    let report = table::report(&ran);
    let picture = picture::draw(&ran);
    let is_drawn = picture.is_some();
    if out.is_some() {
        store.write(&pages(&ran, &report, picture)?)?;
    }
    match asked.output.form.form() {
        Form::Json => data(&as_json(&ran))?,
        Form::Human => data(&report)?,
    }
    tell(&format!(
        "{} runs, {:.1} s of them on one core{}",
        kept.finished(),
        kept.wall_s(),
        match &asked.output.out {
            Some(folder) if is_drawn => format!("; {}", folder.join("matrix.svg").display()),
            Some(_) => "; no picture, since no percentile is known in any run".into(),
            None => "; --out DIR keeps the table as CSV, a picture and every result".into(),
        }
    ));
    kept::whole(&kept, out, "runs")?;
    check_ends(&ran)?;
    let summaries = points.iter().enumerate().filter_map(|(i, point)| {
        let summary = kept.of(i)?.values.get(SUMMARY)?.clone();
        Some((point.label.clone(), serde_json::from_value(summary).ok()?))
    });
    let summaries: Vec<(String, Summary)> = summaries.collect();
    let runs = summaries.iter().map(|(label, of)| (label.clone(), of));
    accept::judge(asked.accept, asked.output.form.form(), runs)
}

/// The key of a run's summary, which stands beside its metrics.
const SUMMARY: &str = "summary";

/// What is kept of a run for tables: its metrics, and its summary for what may be asked of it later.
fn values(setup: &Setup, finished: &Finished) -> Map<String, Value> {
    let mut values = metric::of_finished(setup, finished);
    if let Finished::Run(outcome) = finished {
        values.insert(SUMMARY.into(), Summary::of(setup, outcome).values().into());
    }
    values
}

/// The combinations of values, and their points: a point for each seed of each combination.
fn points(asked: &Asked<'_>, interrupt: &Interrupt) -> Result<(Vec<Vec<String>>, Vec<Point>)> {
    let (mut combinations, mut points) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for (values, simulation) in asked.sweep.simulations(&asked.base)? {
        let named = asked.sweep.varied.iter().zip(&values);
        let label: Vec<String> = named
            .map(|((v, _), value)| format!("{}={value}", v.name()))
            .collect();
        let label = label.join(" ");
        let setup = simulation.setup().map_err(|error| error.of(&label))?;
        for &seed in &asked.seeds {
            let setup = Setup {
                seed,
                interrupt: interrupt.clone(),
                ..setup.clone()
            };
            let mut point = Point::new(&label, setup);
            if asked.seeds.len() > 1 {
                point.label += &format!(" seed {seed}");
            }
            // Different labels may be the same name of a file.
            let name = point.name.clone();
            let mut n = 1;
            while !names.insert(point.name.clone()) {
                n += 1;
                point.name = format!("{name}-{n}");
            }
            points.push(point);
        }
        combinations.push(values);
    }
    Ok((combinations, points))
}

/// Combinations with their runs, as `kept` has them by the index of the point.
fn gather(
    combinations: Vec<Vec<String>>,
    points: &[Point],
    kept: impl Fn(usize) -> Option<Kept>,
) -> Vec<Combination> {
    let drives = points.len() / combinations.len().max(1);
    let one = |(i, values): (usize, Vec<String>)| {
        let of = |drive: usize| {
            let at = i * drives + drive;
            Some((points[at].setup.clone(), kept(at)?))
        };
        Combination {
            values,
            jobs: None,
            runs: (0..drives).filter_map(of).collect(),
        }
    };
    let all = combinations.into_iter().enumerate().map(one);
    all.filter(|combination| !combination.runs.is_empty())
        .flat_map(Combination::by_group)
        .collect()
}

/// What is to be known of the runs: options that are ignored, cells that are not modelled, schemes that an option switches
/// off, wear beyond a rating.
fn warn(points: &[Point]) {
    let mut told = Vec::new();
    let mut once = |text: String, tell: fn(&str)| {
        if !told.contains(&text) {
            tell(&text);
            told.push(text);
        }
    };
    for point in points {
        if let Input::Jobs { workload, .. } = &*point.setup.input {
            workload
                .notices
                .iter()
                .for_each(|n| once(n.to_string(), notice));
        }
        let name = &point.setup.profile.name;
        if let Some(cells) = point.setup.other_cells() {
            once(format!("{name}: {cells}"), notice);
        }
        for note in point.setup.notes() {
            once(format!("{name}: {note}"), notice);
        }
        if let Some(beyond) = point.setup.beyond_rating() {
            once(format!("{name}: {beyond}"), warning);
        }
    }
}

fn check_ends(ran: &Ran<'_>) -> Result<()> {
    let completed = results::ended(Ended::Completed);
    let runs = ran
        .combinations
        .iter()
        .filter(|of| of.is_first())
        .flat_map(|c| c.runs.iter().map(move |run| (c, run)));
    let short = runs.filter(|(_, (_, kept))| kept.ended != completed);
    let told = short.map(|(c, (setup, kept))| {
        format!(
            "{}, seed {}: ended with {}",
            c.values.join(" "),
            setup.seed,
            kept.ended
        )
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Ok(()),
        false => anyhow::bail!("{}", told.join("\n")),
    }
}

/// The files beside the results of the runs.
fn pages(ran: &Ran<'_>, report: &str, picture: Option<Figure>) -> Result<Vec<Page>> {
    let mut pages: Vec<Page> = vec![
        ("matrix.csv".into(), table::csv(ran)?),
        ("report.txt".into(), report.as_bytes().to_vec()),
    ];
    if let Some(figure) = picture {
        pages.push(("matrix.svg".into(), figure.svg()));
        pages.push(("matrix.png".into(), figure.png()));
    }
    Ok(pages)
}

fn as_json(ran: &Ran<'_>) -> String {
    let varied = &ran.asked.sweep.varied;
    let axis: Vec<String> = varied.iter().map(|(v, _)| v.column()).collect();
    let row = |combination: &Combination, setup: &Setup, kept: &Kept| {
        let schemes = varied.iter().zip(&combination.values);
        let schemes: Vec<&str> = schemes
            .filter(|((v, _), _)| matches!(v, firstread_session::Varied::Scheme(_)))
            .map(|(_, value)| value.as_str())
            .collect();
        let mut point = Map::new();
        for ((varied, _), value) in varied.iter().zip(&combination.values) {
            let cell = varied.cell(value);
            let number = cell.parse::<f64>().ok().map(Value::from);
            point.insert(varied.column(), number.unwrap_or(cell.into()));
        }
        point.insert("seed".into(), setup.seed.into());
        point.insert("workload_seed".into(), setup.state.workload_seed.into());
        json!({
            "scheme": (!schemes.is_empty()).then(|| schemes.join(",")),
            "drive": setup.profile.name,
            "point": point,
            "result": kept.result_and_wall(),
        })
    };
    let each = ran.combinations.iter().filter(|of| of.is_first());
    let runs = each.flat_map(|of| {
        let runs = of.runs.iter();
        runs.map(move |(setup, kept)| row(of, setup, kept))
    });
    kept::listed(Some(&axis.join(",")), runs)
}

/// Bars: one for all simulations, with the time that is left, and one for each that is under way.
pub struct Simulations {
    bars: Bars,
    all: ProgressBar,
}

impl Simulations {
    /// For so many of them.
    pub fn new(simulations: usize) -> Simulations {
        let bars = Bars::default();
        let all = bars.whole(simulations as u64);
        Simulations { bars, all }
    }
}

impl Watch for Simulations {
    fn begin<'a>(&'a self, point: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.bars.begin(point)
    }

    fn begin_life<'a>(&'a self, point: &Point) -> Box<dyn FnMut(LifeProgress) + 'a> {
        self.bars.begin_life(point)
    }

    fn done(&self, _: &Point, _: &str) {
        self.all.inc(1);
    }
}

impl Drop for Simulations {
    fn drop(&mut self) {
        self.all.finish_and_clear();
    }
}

#[cfg(test)]
mod tests;
