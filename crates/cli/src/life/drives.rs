//! The same life of several drives: each figure's median and spread over them.

use std::path::Path;

use anyhow::{Context, Result};
use firstread_firmware::observe::Owner;
use firstread_session::files::Page;
use firstread_session::life::{self, AreaWear, Life, Probe};
use firstread_session::{Finished, FinishedLife, Matrix, Point, Results, Setup};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pages::pages;
use super::report;
use crate::args::{Form, Interrupted};
use crate::matrix::Simulations;
use crate::matrix::kept;
use crate::output::format::{Side, bytes, capacity, count, ratio, share, table, time};
use crate::output::human;
use crate::output::spread::Spread;
use crate::streams::{data, tell};

/// Lives `life` on the drives of `seeds`, so many at a time; prints what came of it as `form`, and keeps it in `out`.
pub fn lives(
    life: &Life,
    seeds: &[u64],
    threads: Option<u16>,
    out: Option<&Path>,
    form: Form,
) -> Result<()> {
    let point = |&seed: &u64| {
        let setup = Setup {
            seed,
            ..life.setup.clone()
        };
        let point = Point {
            name: format!("seed-{seed}"),
            ..Point::new(&format!("seed {seed}"), setup)
        };
        point.of_life(life.terms)
    };
    let points: Vec<Point> = seeds.iter().map(point).collect();
    let store = kept::listing_store(out, "lives", life.setup.input.title(), form)?;
    let matrix = Matrix {
        points: &points,
        threads,
        watch: &Simulations::new(points.len()),
    };
    let results = matrix.kept_with_pages(&store, values, pages_of)?;
    kept::tell_found(&points, &results, "lives");
    let lives = summaries(&points, &results)?;
    if lives.is_empty() {
        return Err(Interrupted(" before any life had ended".into()).into());
    }
    let text = text(&lives);
    // A life has nothing in its result that the machine decides.
    let listed = || {
        let each = points.iter().enumerate().filter_map(|(i, point)| {
            let result = results.of(i)?.result();
            Some(kept::row(None, &point.setup, result))
        });
        kept::listed(None, each)
    };
    if out.is_some() {
        store.write(&[
            ("drives.json".into(), listed().into_bytes()),
            ("drives.txt".into(), text.as_bytes().to_vec()),
        ])?;
    }
    match form {
        Form::Json => data(&listed())?,
        Form::Human => data(&text)?,
    }
    tell(&format!(
        "{} lives, {:.1} s of them on one core",
        results.finished(),
        results.wall_s()
    ));
    kept::whole(&results, out, "lives")
}

/// The files of a life among several, in the folder of its name.
fn pages_of(point: &Point, finished: &Finished) -> Vec<Page> {
    let Finished::Life(of) = finished else {
        return Vec::new();
    };
    let all = pages(&of.life, &of.outcome).into_iter();
    let below = |(path, page)| (format!("{}/{path}", point.name).into(), page);
    all.map(below).collect()
}

/// What the table needs of a life, to be kept.
fn values(_: &Setup, finished: &Finished) -> Map<String, Value> {
    let Finished::Life(of) = finished else {
        return Map::new();
    };
    let value = serde_json::to_value(Summary::of(of)).unwrap_or_default();
    value.as_object().cloned().unwrap_or_default()
}

/// What the table needs of each of the `points` that has a result.
fn summaries<'a>(points: &'a [Point], results: &Results) -> Result<Vec<(&'a Setup, Summary)>> {
    let mut all = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let Some(kept) = results.of(i) else {
            continue;
        };
        let summary = serde_json::from_value(Value::Object(kept.values.clone()));
        let summary = summary.context("what is kept of a life is not its summary")?;
        all.push((&point.setup, summary));
    }
    Ok(all)
}

/// A life in a few hundred bytes.
#[derive(Serialize, Deserialize, Debug)]
struct Summary {
    end: String,
    /// The rows of the table.
    figures: Vec<Figure>,
}

/// A row of the table. One that a life has not is left out.
#[derive(Serialize, Deserialize, Debug)]
struct Figure {
    name: String,
    shown: Shown,
    value: f64,
}

/// How a figure is shown.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
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
    fn text(self, value: f64) -> String {
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

impl Summary {
    fn of(of: &FinishedLife) -> Summary {
        let (outcome, lived) = (&of.outcome, &of.outcome.lived);
        let last = lived.last();
        let mut figures = Vec::new();
        let mut add = |name: &str, shown, value| {
            let name = name.to_owned();
            figures.push(Figure { name, shown, value });
        };
        add("TBW", Shown::Bytes, lived.written_bytes());
        if lived.rate > 1 {
            add("TBW, corrected", Shown::Bytes, outcome.corrected_bytes());
        }
        add(
            "drive writes a day",
            Shown::Decimals3,
            outcome.dwpd(&of.life),
        );
        add("years", Shown::Decimals2, last.years);
        let amplification = lived.write_amplification;
        add("write amplification", Shown::Decimals3, amplification);
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
        type OfProbe = (&'static str, fn(&Probe) -> f64);
        let of_probe: [OfProbe; 2] = [("mean", |p| p.mean_ns), ("P99", |p| p.p99_ns as f64)];
        for (share, stage) in life::STAGES.iter().zip(&outcome.stages) {
            for (name, of_stage) in of_probe {
                if let Some(probe) = &stage.probe {
                    let name = format!("read at {:.0} % of the life, {name}", 100.0 * share);
                    add(&name, Shown::Time, of_stage(probe));
                }
            }
        }
        Summary {
            end: report::end(&of.life, lived.end),
            figures,
        }
    }
}

/// The report: what the lives share, how each ended, and the spread of each figure.
fn text(all: &[(&Setup, Summary)]) -> String {
    let Some((setup, first)) = all.first() else {
        return String::new();
    };
    let mut text = format!(
        "{} on {}, {}\n  {}\n  {}\n",
        setup.input.name(),
        setup.profile.name,
        capacity(setup.profile.capacity_bytes),
        human::seeds(all.iter().map(|(setup, _)| *setup)),
        setup.schemes() + &human::notes(setup),
    );
    if let Some(cells) = setup.other_cells() {
        text += &format!("  {cells}\n");
    }
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for (_, Summary { end, .. }) in all {
        match ends.iter_mut().find(|(known, _)| known == end) {
            Some((_, n)) => *n += 1,
            None => ends.push((end, 1)),
        }
    }
    for (end, n) in ends {
        text += &format!("ended: {end} ({n} of {} drives)\n", all.len());
    }
    let mut rows = vec![["", "median", "over drives"].map(String::from).to_vec()];
    for Figure { name, shown, .. } in &first.figures {
        let of_life = |(_, life): &(&Setup, Summary)| {
            let figure = life.figures.iter().find(|f| f.name == *name);
            figure.map(|f| f.value)
        };
        // A figure that a drive has not is none of all drives.
        let Some(over) = Spread::of(all.iter().map(of_life)) else {
            continue;
        };
        if *shown != Shown::Moved || over.high > 0.0 {
            let show = |value| shown.text(value);
            rows.push(vec![name.clone(), show(over.median), over.range(show)]);
        }
    }
    text += "\n";
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    text + "\nover drives: lowest … highest of them, each with chips of its own under the same load\n"
}
