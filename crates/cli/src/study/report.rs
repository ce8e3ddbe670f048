//! Files that a study writes: a report, a table of claims, and the data of both.

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::study::correlation::Measured;
use firstread_session::study::dimension::Dimension;
use firstread_session::study::measure::Verdict;
use firstread_session::study::metric::{Metric, Source};
use firstread_session::study::plan::{Coordinates, Point};
use firstread_session::study::points::{Estimate, Points};
use firstread_session::study::spec::{Experiment, Study};
use firstread_session::{Input, results};
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use serde_json::{Value, json};

use super::correlation;
use super::figures;
use crate::output::format::rare;

/// A study that has run.
pub struct Done<'a> {
    pub name: &'a str,
    pub study: &'a Study,
    pub quick: bool,
    pub points: &'a [Point<'a>],
    /// Those of them that were run: points that depend on the same share one.
    pub simulations: usize,
    pub correlations: &'a [Measured<'a>],
    pub measured: &'a Points,
    pub verdicts: &'a [Verdict<'a>],
}

/// A claim as a row of a table.
#[derive(Serialize)]
pub struct ClaimRow {
    pub id: String,
    pub says: String,
    pub published: String,
    pub measured: String,
    pub band: String,
    pub verdict: String,
    /// Share of reads lost in the runs it is measured in.
    pub lost: String,
    pub note: String,
}

/// A claim as it is shown.
pub fn row(verdict: &Verdict<'_>) -> ClaimRow {
    let claim = verdict.claim;
    let with_unit = |text: String| match text.is_empty() || claim.unit.is_empty() {
        true => text,
        false => format!("{text} {}", claim.unit),
    };
    ClaimRow {
        id: claim.id.clone(),
        says: claim.says.clone(),
        published: with_unit(claim.published.clone()),
        measured: verdict
            .measured
            .map_or(String::new(), |e| with_unit(estimate(&e))),
        band: match claim.not_comparable {
            Some(_) => String::new(),
            None => format!("{} to {}", number(claim.band[0]), number(claim.band[1])),
        },
        verdict: verdict.verdict.to_owned(),
        lost: verdict.lost_share.map_or(String::new(), rare),
        note: verdict.note.clone(),
    }
}

/// Three significant digits, and no more zeros than needed.
fn number(value: f64) -> String {
    let magnitude = libm::log10(value.abs().max(1e-12)).floor() as i32;
    let decimals = (2 - magnitude).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn estimate(e: &Estimate) -> String {
    match e.half {
        Some(half) => format!("{} ± {}", number(e.mean), number(half)),
        None => number(e.mean),
    }
}

/// An experiment as the report shows it.
#[derive(Serialize)]
struct Section {
    id: String,
    title: String,
    paper: String,
    command: String,
    svg: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The command that runs it alone; a job that stands in the study alone is `-`.
fn command(point: &Point<'_>) -> String {
    let variant = point.variant;
    let workload = match &*point.run.setup.input {
        Input::Jobs { .. } => "-",
        input => input.name(),
    };
    let mut command = format!("firstread run {workload} --drive {}", variant.drive);
    for choice in &variant.schemes {
        command += &format!(" --scheme {choice}");
    }
    for set in &variant.set {
        command += &format!(" --set '{set}'");
    }
    for (option, dimension) in [
        ("age", Dimension::Age),
        ("temperature", Dimension::Temperature),
        ("pe-cycles", Dimension::PeCycles),
        ("unpowered", Dimension::Unpowered),
        ("precondition", Dimension::Precondition),
        ("workload-seed", Dimension::WorkloadSeed),
    ] {
        command += &format!(" --{option} {}", point.at.get(dimension));
    }
    if let Some(limit) = point.run.setup.limit {
        command += &format!(" --limit {limit}");
    }
    command + &format!(" --seed {}", point.run.setup.seed)
}

/// All files.
pub fn pages(done: &Done<'_>) -> Result<Vec<Page>> {
    let mut pages: Vec<Page> = Vec::new();
    let mut sections = Vec::new();
    for correlation in done.correlations {
        let figure = correlation::draw(correlation);
        let (id, svg) = (&correlation.spec.id, figure.svg());
        sections.push(correlation_section(done, correlation, &svg));
        pages.push((format!("figures/{id}.svg").into(), svg));
        pages.push((format!("figures/{id}.png").into(), figure.png()));
    }
    for experiment in &done.study.experiments {
        if done.measured.of_experiment(&experiment.id).next().is_none() {
            continue;
        }
        let figure = figures::draw(experiment, done.measured, done.quick);
        let svg = figure.svg();
        sections.push(section(done, experiment, &svg));
        pages.push((format!("figures/{}.svg", experiment.id).into(), svg));
        pages.push((
            format!("figures/{}.png", experiment.id).into(),
            figure.png(),
        ));
    }
    let claims: Vec<ClaimRow> = done.verdicts.iter().map(row).collect();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_template("report.html", include_str!("report.html"))?;
    environment.add_template("README.md", include_str!("README.md.template"))?;
    let count = |what| done.verdicts.iter().filter(|v| v.verdict == what).count();
    let context = context! {
        name => done.name,
        title => done.study.title,
        summary => done.study.summary.trim(),
        beforehand => done.study.beforehand.trim(),
        quick => done.quick,
        knobs => done.study.knobs.iter().map(|k| [&k.what, &k.value, &k.why]).collect::<Vec<_>>(),
        claims => claims,
        reproduced => count("reproduced"),
        missed => count("missed"),
        not_comparable => count("not-comparable"),
        sections => sections,
        simulations => done.simulations,
        version => results::VERSION,
        commit => results::COMMIT,
    };
    for name in ["report.html", "README.md"] {
        let text = environment.get_template(name)?.render(&context)?;
        pages.push((name.into(), text.into_bytes()));
    }
    let results = results::text(&results(done));
    pages.push(("results.json".into(), results.into_bytes()));
    pages.push(("claims.csv".into(), claims_csv(&claims)?));
    pages.push(("points.csv".into(), points_csv(done)?));
    pages.extend(cells_csv(done)?.map(|csv| ("cells.csv".into(), csv)));
    Ok(pages)
}

/// The verdicts, as a list.
fn results(done: &Done<'_>) -> Value {
    let one = |v: &Verdict<'_>| {
        let measured = v.measured;
        json!({
            "id": v.claim.id,
            "published": v.claim.published,
            "measured": measured.map(|e| e.mean),
            "interval_95": measured.and_then(|e| e.half.map(|h| [e.mean - h, e.mean + h])),
            "drives": measured.map(|e| e.drives),
            "unit": v.claim.unit,
            "band": v.claim.band,
            "verdict": v.verdict,
            "lost_share": v.lost_share,
            "note": v.note,
        })
    };
    done.verdicts.iter().map(one).collect()
}

fn quick(done: &Done<'_>) -> &'static str {
    if done.quick { " --quick" } else { "" }
}

fn section(done: &Done<'_>, experiment: &Experiment, svg: &[u8]) -> Section {
    let metrics = &experiment.figure.y;
    let dimensions: Vec<Dimension> = Dimension::ALL
        .into_iter()
        .filter(|&d| experiment.values(d, done.quick).len() > 1)
        .collect();
    let mut head: Vec<String> = dimensions.iter().map(|d| d.name().to_owned()).collect();
    head.extend(metrics.iter().cloned());
    let row = |at: &Coordinates| {
        let coordinates = dimensions.iter().map(|&d| at.get(d).to_owned());
        let values = metrics.iter().map(|metric| {
            let e = done.measured.estimate(&experiment.id, at, metric);
            e.map_or(String::new(), |e| estimate(&e))
        });
        coordinates.chain(values).collect()
    };
    let all = Coordinates::all(experiment, done.quick);
    Section {
        id: experiment.id.clone(),
        title: experiment.title.clone(),
        paper: format!("{} {}", experiment.paper, experiment.found)
            .trim()
            .to_owned(),
        command: format!(
            "firstread study {}{} --only {} --out {0}",
            done.name,
            quick(done),
            experiment.id
        ),
        svg: for_page(svg),
        head,
        rows: all.iter().map(row).collect(),
    }
}

fn correlation_section(done: &Done<'_>, correlation: &Measured<'_>, svg: &[u8]) -> Section {
    let spec = correlation.spec;
    let row = |(valley, sentinel, slope, r): (u8, u8, Estimate, Estimate)| {
        vec![
            valley.to_string(),
            sentinel.to_string(),
            estimate(&slope),
            estimate(&r),
        ]
    };
    Section {
        id: spec.id.clone(),
        title: spec.title.clone(),
        paper: spec.paper.clone(),
        command: format!(
            "firstread study {}{} --only {} --out {0}",
            done.name,
            quick(done),
            spec.id
        ),
        svg: for_page(svg),
        head: ["valley", "sentinel", "slope", "R²"]
            .map(String::from)
            .to_vec(),
        rows: correlation.pairs().into_iter().map(row).collect(),
    }
}

/// An SVG of white paper and dark ink, in the colours of the page around it.
fn for_page(svg: &[u8]) -> String {
    String::from_utf8_lossy(svg)
        .replace("#1a1a1a", "var(--ink)")
        .replace("#6e6e6e", "var(--grey)")
        .replace("#e4e4e4", "var(--faint)")
        .replace("#ffffff", "var(--paper)")
}

fn claims_csv(claims: &[ClaimRow]) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    claims.iter().try_for_each(|row| csv.serialize(row))?;
    Ok(csv.into_inner()?)
}

/// Every simulation: where it lies, its metrics, and the command that repeats it.
fn points_csv(done: &Done<'_>) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["experiment"];
    head.extend(Dimension::ALL.map(Dimension::name));
    head.push("seed");
    let metrics = Metric::of(Source::Runs);
    head.extend(metrics.iter().map(|m| m.name));
    head.push("command");
    csv.write_record(&head)?;
    let mut repetition = std::collections::BTreeMap::new();
    for point in done.points {
        let id = &point.experiment.id;
        let nth = repetition.entry((id, &point.at)).or_insert(0usize);
        let mut row = vec![id.clone()];
        row.extend(Dimension::ALL.map(|d| point.at.get(d).to_owned()));
        row.push(point.run.setup.seed.to_string());
        row.extend(metrics.iter().map(|metric| {
            let values = done.measured.values(id, &point.at, metric.name);
            let value = values.and_then(|v| v.get(*nth).copied());
            value.map_or(String::new(), |v| v.to_string())
        }));
        row.push(command(point));
        csv.write_record(&row)?;
        *nth += 1;
    }
    Ok(csv.into_inner()?)
}

/// What was measured without a run: a row a population of chips, or a drive. None where nothing was.
fn cells_csv(done: &Done<'_>) -> Result<Option<Vec<u8>>> {
    let correlations = done.correlations.iter().map(|c| &c.spec.id);
    let margins = done.study.experiments.iter().filter(|e| e.cells.is_some());
    let all: Vec<&String> = correlations.chain(margins.map(|e| &e.id)).collect();
    let has_any = |metric: &&Metric| {
        let of = |id| done.measured.of_experiment(id).map(move |at| (id, at));
        let mut points = all.iter().flat_map(|id| of(id));
        points.any(|(id, at)| done.measured.values(id, at, metric.name).is_some())
    };
    let of_cells = [Source::Margins, Source::Pairs].map(Metric::of).concat();
    let of_cells: Vec<&Metric> = of_cells.into_iter().filter(has_any).collect();
    if of_cells.is_empty() {
        return Ok(None);
    }
    let dimensions = Dimension::ALL.into_iter().filter(|&d| {
        // Populations of cells have no requests and no power cuts.
        let of_runs = [
            Dimension::Workload,
            Dimension::Unpowered,
            Dimension::Precondition,
            Dimension::WorkloadSeed,
        ];
        !of_runs.contains(&d)
    });
    let dimensions: Vec<Dimension> = dimensions.collect();
    let mut csv = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["experiment"];
    head.extend(dimensions.iter().map(|d| d.name()));
    head.push("seed");
    head.extend(of_cells.iter().map(|m| m.name));
    csv.write_record(&head)?;
    for id in all {
        for at in done.measured.of_experiment(id) {
            let columns = of_cells
                .iter()
                .map(|m| done.measured.values(id, at, m.name));
            let columns: Vec<Option<Vec<f64>>> = columns.collect();
            let drives = columns.iter().flatten().map(Vec::len).max();
            for drive in 0..drives.unwrap_or(0) {
                let mut row = vec![id.clone()];
                row.extend(dimensions.iter().map(|&d| at.get(d).to_owned()));
                row.push((drive + 1).to_string());
                row.extend(columns.iter().map(|column| {
                    let value = column.as_ref().and_then(|c| c.get(drive));
                    value.map_or(String::new(), f64::to_string)
                }));
                csv.write_record(&row)?;
            }
        }
    }
    Ok(Some(csv.into_inner()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numbers_look_like() {
        for (value, text) in [
            (0.0, "0"),
            (94.0, "94"),
            (1.234_5, "1.23"),
            (12_345.6, "12346"),
            (0.000_456_7, "0.000457"),
            (-12.0, "-12"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
