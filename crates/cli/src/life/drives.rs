//! The same life of several drives: each figure's median and spread over them.

use std::path::Path;

use anyhow::Result;
use firstread_firmware::observe::Owner;
use firstread_session::files::{self, Page};
use firstread_session::life::{self, AreaWear, Life, Probe};
use firstread_session::{FinishedLife, Matrix, Point, Setup, results};
use serde_json::{Value, json};

use super::pages::pages;
use super::report;
use crate::args::{Form, Interrupted};
use crate::matrix::Simulations;
use crate::output::format::{Side, bytes, capacity, count, ratio, share, table, time};
use crate::output::human;
use crate::output::spread::Spread;
use crate::streams::data;

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
        Point::new(&format!("seed {seed}"), setup).of_life(life.terms)
    };
    let points: Vec<Point> = seeds.iter().map(point).collect();
    let matrix = Matrix {
        points: &points,
        threads,
        watch: &Simulations::new(points.len()),
    };
    let ended: Vec<FinishedLife> = matrix.lives()?.into_iter().flatten().collect();
    let Some(first) = ended.first() else {
        return Err(Interrupted(" before any life had ended".into()).into());
    };
    let text = text(first, &ended);
    let runs: Vec<Value> = ended.iter().map(row).collect();
    let all = results::text(&json!({ "axis": null, "runs": runs }));
    if let Some(folder) = out {
        let mut files: Vec<Page> = vec![
            ("drives.json".into(), all.as_bytes().to_vec()),
            ("drives.txt".into(), text.as_bytes().to_vec()),
        ];
        for of in &ended {
            let below = format!("seed-{}", of.life.setup.seed);
            let of_seed = pages(&of.life, &of.outcome).into_iter();
            files.extend(of_seed.map(|(path, page)| (format!("{below}/{path}").into(), page)));
        }
        files::write(folder, &files)?;
    }
    match form {
        Form::Json => data(&all)?,
        Form::Human => data(&text)?,
    }
    match ended.len() < seeds.len() {
        true => {
            let (ended, all) = (ended.len(), seeds.len());
            Err(Interrupted(format!(": {ended} of {all} lives have ended")).into())
        }
        false => Ok(()),
    }
}

/// A life of a list of them: which drive, and its result.
fn row(of: &FinishedLife) -> Value {
    let setup = &of.life.setup;
    json!({
        "scheme": null,
        "drive": setup.profile.name,
        "point": { "seed": setup.seed, "workload_seed": setup.state.workload_seed },
        "result": life::json(&of.life, &of.outcome),
    })
}

/// The report: what the lives share, how each ended, and the spread of each figure.
fn text(first: &FinishedLife, all: &[FinishedLife]) -> String {
    let setup = &first.life.setup;
    let mut text = format!(
        "{} on {}, {}\n  {}\n  {}\n",
        setup.input.name(),
        setup.profile.name,
        capacity(setup.profile.capacity_bytes),
        human::seeds(all.iter().map(|of| &of.life.setup)),
        setup.schemes() + &human::notes(setup),
    );
    if let Some(cells) = setup.other_cells() {
        text += &format!("  {cells}\n");
    }
    let mut ends: Vec<(String, usize)> = Vec::new();
    for of in all {
        let end = report::end(&of.life, of.outcome.lived.end);
        match ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, n)) => *n += 1,
            None => ends.push((end, 1)),
        }
    }
    for (end, n) in ends {
        text += &format!("ended: {end} ({n} of {} drives)\n", all.len());
    }
    let mut rows = vec![["", "median", "over drives"].map(String::from).to_vec()];
    let mut add =
        |name: String, of: &dyn Fn(&FinishedLife) -> Option<f64>, show: fn(f64) -> String| {
            if let Some(s) = Spread::of(all.iter().map(of)) {
                rows.push(vec![name, show(s.median), s.range(show)]);
            }
        };
    let whole: fn(f64) -> String = |n| count(n.round() as u64);
    let three: fn(f64) -> String = |n| format!("{n:.3}");
    add(
        "TBW".into(),
        &|of| Some(of.outcome.lived.written_bytes()),
        bytes,
    );
    if first.outcome.lived.rate > 1 {
        add(
            "TBW, corrected".into(),
            &|of| Some(of.outcome.corrected_bytes()),
            bytes,
        );
    }
    add(
        "drive writes a day".into(),
        &|of| Some(of.outcome.dwpd(&of.life)),
        three,
    );
    add(
        "years".into(),
        &|of| Some(of.outcome.lived.last().years),
        |n| format!("{n:.2}"),
    );
    add(
        "write amplification".into(),
        &|of| Some(of.outcome.lived.write_amplification),
        three,
    );
    for owner in Owner::ALL {
        let moved = move |of: &FinishedLife| of.outcome.lived.moved[owner as usize];
        if all.iter().any(|of| moved(of) > 0.0) {
            add(format!("  {}", owner.name()), &|of| Some(moved(of)), ratio);
        }
    }
    add(
        "bad blocks".into(),
        &|of| Some(of.outcome.lived.last().bad_share),
        share,
    );
    add(
        "reads from the low wearing area".into(),
        &|of| of.outcome.lived.low_read_share,
        share,
    );
    type OfWear = (&'static str, fn(&AreaWear) -> f64);
    let of_wear: [OfWear; 4] = [
        ("lowest", |wear| wear.min.into()),
        ("mean", |wear| wear.mean),
        ("P99", |wear| wear.p99.into()),
        ("highest", |wear| wear.max.into()),
    ];
    for area in &first.outcome.lived.last().wear {
        for (name, of_area) in of_wear {
            let wear = |of: &FinishedLife| {
                let wear = &of.outcome.lived.last().wear;
                wear.iter().find(|w| w.name == area.name).map(of_area)
            };
            add(
                format!("P/E at the end, {}, {name}", area.name),
                &wear,
                whole,
            );
        }
    }
    type OfProbe = (&'static str, fn(&Probe) -> f64);
    let of_probe: [OfProbe; 2] = [("mean", |p| p.mean_ns), ("P99", |p| p.p99_ns as f64)];
    for (i, stage) in life::STAGES.iter().enumerate() {
        for (name, of_stage) in of_probe {
            let read = |of: &FinishedLife| of.outcome.stages.get(i)?.probe.as_ref().map(of_stage);
            add(
                format!("read at {:.0} % of the life, {name}", 100.0 * stage),
                &read,
                time,
            );
        }
    }
    text += "\n";
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    text + "\nover drives: lowest … highest of them, each with chips of its own under the same load\n"
}
