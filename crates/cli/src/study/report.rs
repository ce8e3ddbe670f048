//! Files that a study writes: a report, a table of claims, and the data of both.

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::study::correlation::Measured;
use firstread_session::study::dimension::Dimension;
use firstread_session::study::metric::{Metric, Source};
use firstread_session::study::plan::{Coordinates, Point};
use firstread_session::study::points::{Estimate, Points};
use firstread_session::study::spec::{Experiment, Study};
use firstread_session::study::verdict::Verdict;
use firstread_session::{Input, OtherCells, results};
use minijinja::context;
use serde::Serialize;

use super::claims::{self, estimate};
use super::correlation;
use super::figures;
use super::switches;
use crate::figure::Figure;
use crate::output::format::{Side, table};
use crate::page;

/// Of experiments whose drives have loads of their own.
const OWN_LOADS: &str = "Each drive has a load of its own, so ± is over both.";

/// A study that has run.
pub struct Done<'a> {
    pub name: &'a str,
    /// As it was asked for: a name or a path.
    pub given: &'a str,
    pub study: &'a Study,
    pub quick: bool,
    /// Drives of each experiment, if not the study's own number.
    pub drives: Option<u16>,
    pub points: &'a [Point<'a>],
    /// Those of them that were run: points that depend on the same share one.
    pub simulations: usize,
    pub correlations: &'a [Measured<'a>],
    pub measured: &'a Points,
    pub verdicts: &'a [Verdict<'a>],
}

/// An experiment as the report shows it.
#[derive(Serialize)]
struct Section {
    id: String,
    title: String,
    paper: String,
    command: String,
    svg: String,
    in_readme: bool,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The command that runs it alone, in the folder of the results: a job that stands in the study alone is a file there.
fn command(point: &Point<'_>) -> String {
    let variant = &point.variant;
    let workload = match &*point.run.setup.input {
        Input::Jobs { .. } => job_path(point),
        input => input.name().to_owned(),
    };
    let life = point.run.life.as_ref();
    let verb = life.map_or("run", |_| "life");
    let mut command = format!("firstread {verb} {workload} --drive {}", variant.drive);
    for choice in &variant.schemes {
        command += &format!(" --scheme {choice}");
    }
    for set in &variant.set {
        command += &format!(" --set '{set}'");
    }
    let at = &point.of_run;
    if at.get(Dimension::Capacity) != "default" {
        command += &format!(" --set 'capacity={}'", at.get(Dimension::Capacity));
    }
    // What a life begins with besides is no choice.
    let of_runs = [
        Dimension::Unpowered,
        Dimension::EarlierFill,
        Dimension::Precondition,
    ];
    for (option, dimension) in [
        ("age", Dimension::Age),
        ("temperature", Dimension::Temperature),
        ("pe-cycles", Dimension::PeCycles),
        ("unpowered", Dimension::Unpowered),
        ("earlier-fill", Dimension::EarlierFill),
        ("fill", Dimension::Fill),
        ("precondition", Dimension::Precondition),
        ("workload-seed", Dimension::WorkloadSeed),
    ] {
        if life.is_none() || !of_runs.contains(&dimension) {
            command += &format!(" --{option} {}", at.get(dimension));
        }
    }
    if let Some(terms) = life {
        command += &format!(
            " --until '{}' --wear-rate {} --warranty {} --drive-writes-a-day {} --probe {}",
            terms.until,
            terms.wear_rate,
            terms.warranty_years,
            terms.drive_writes_a_day,
            terms.probe_requests
        );
    }
    if let Some(limit) = point.run.setup.limit {
        command += &format!(" --limit {limit}");
    }
    command + &format!(" --seed {}", point.run.setup.seed)
}

/// Where the job file of a point lies in the folder of the results.
fn job_path(point: &Point<'_>) -> String {
    format!("workloads/{}.fio", point.at.get(Dimension::Workload))
}

/// Job files, each once.
fn job_files(done: &Done<'_>) -> std::collections::BTreeMap<String, Vec<u8>> {
    let jobs = done
        .points
        .iter()
        .filter_map(|point| match &*point.run.setup.input {
            Input::Jobs { text, .. } => Some((job_path(point), text.clone().into_bytes())),
            _ => None,
        });
    jobs.collect()
}

/// Experiments with metrics that no point has a number of, and why.
pub fn without_numbers(done: &Done<'_>) -> Vec<(String, String)> {
    let experiments = done.study.experiments.iter();
    let run = experiments.filter(|e| done.measured.of_experiment(&e.id).next().is_some());
    run.filter_map(|e| Some((e.id.clone(), why_empty(done, e)?)))
        .collect()
}

/// Why an experiment's figure lacks rows, if it does.
fn why_empty(done: &Done<'_>, experiment: &Experiment) -> Option<String> {
    let id = &experiment.id;
    let has = |metric: &&String| {
        let mut points = done.measured.of_experiment(id);
        points.any(|at| done.measured.estimate(id, at, metric).is_some())
    };
    if experiment.figure.is_over_time() {
        return None;
    }
    let all = experiment.figure.y.iter();
    let empty: Vec<String> = all.filter(|m| !has(m)).map(|m| format!("`{m}`")).collect();
    let is_percentile = |m: &String| m.contains("p99");
    let of_runs = experiment.source() == Source::Runs;
    let why = match of_runs && empty.iter().any(is_percentile) {
        true => "fewer than 10 requests lie beyond a percentile: give more `requests`",
        false => "neither these drives nor these loads have any of it",
    };
    (!empty.is_empty()).then(|| format!("no point has a number of {}: {why}.", empty.join(", ")))
}

/// The numbers of each experiment, as text.
pub fn tables(done: &Done<'_>) -> String {
    let mut text = format!("{}\n", done.study.title);
    for experiment in &done.study.experiments {
        if done.measured.of_experiment(&experiment.id).next().is_none() {
            continue;
        }
        let section = section(done, experiment, None);
        let columns = section.head.len();
        let rows: Vec<Vec<String>> = [section.head].into_iter().chain(section.rows).collect();
        text += &format!("\n{} ({})\n", section.title, section.id);
        text += &table("  ", &vec![Side::Left; columns], &rows);
    }
    text
}

pub fn pages(done: &Done<'_>) -> Result<Vec<Page>> {
    let mut pages: Vec<Page> = Vec::new();
    let mut sections = Vec::new();
    for correlation in done.correlations {
        let figure = correlation::draw(correlation);
        let (id, svg) = (&correlation.spec.id, figure.svg());
        sections.push(correlation_section(done, correlation, &figure));
        pages.push((format!("figures/{id}.svg").into(), svg));
        pages.push((format!("figures/{id}.png").into(), figure.png()));
    }
    for experiment in &done.study.experiments {
        if done.measured.of_experiment(&experiment.id).next().is_none() {
            continue;
        }
        let mut figure = figures::draw(experiment, done.measured, done.quick);
        figure.title = title(done, experiment);
        let svg = figure.svg();
        sections.push(section(done, experiment, Some(&figure)));
        pages.push((format!("figures/{}.svg", experiment.id).into(), svg));
        pages.push((
            format!("figures/{}.png", experiment.id).into(),
            figure.png(),
        ));
    }
    let claims: Vec<claims::ClaimRow> = done.verdicts.iter().map(claims::row).collect();
    let environment = page::environment(&[
        ("report.html", include_str!("report.html")),
        ("README.md", include_str!("README.md.template")),
    ])?;
    let context = context! {
        name => done.name,
        given => done.given,
        of_paper => !done.study.knobs.is_empty() || done.study.claims.iter().any(|c| !c.published.is_empty()),
        title => done.study.title,
        summary => done.study.summary.trim(),
        beforehand => done.study.beforehand.trim(),
        quick => done.quick,
        drives => done.drives,
        form => form(done),
        knobs => done.study.knobs.iter().map(|k| [&k.what, &k.value, &k.why]).collect::<Vec<_>>(),
        claims => claims,
        switches => switches::switches(done.study),
        trials => switches::trials(done.verdicts),
        totals => claims::totals(done.verdicts),
        sections => sections,
        simulations => done.simulations,
    };
    for name in ["report.html", "README.md"] {
        let text = environment.get_template(name)?.render(&context)?;
        pages.push((name.into(), text.into_bytes()));
    }
    let results = results::text(&claims::results(done.verdicts));
    pages.push(("results.json".into(), results.into_bytes()));
    if !claims.is_empty() {
        pages.push(("claims.csv".into(), claims::csv(&claims)?));
    }
    let jobs = job_files(done).into_iter();
    pages.extend(jobs.map(|(path, text)| (path.into(), text)));
    pages.push(("points.csv".into(), points_csv(done)?));
    pages.extend(cells_csv(done)?.map(|csv| ("cells.csv".into(), csv)));
    Ok(pages)
}

fn form(done: &Done<'_>) -> String {
    let quick = if done.quick { " --quick" } else { "" };
    match done.drives {
        Some(drives) => format!("{quick} --drives {drives}"),
        None => quick.to_owned(),
    }
}

/// Cells that are not modelled, of the variants of `experiment`, and those variants.
fn other_cells(done: &Done<'_>, experiment: &Experiment) -> Vec<(OtherCells, Vec<String>)> {
    let mut all: Vec<(OtherCells, Vec<String>)> = Vec::new();
    for point in done
        .points
        .iter()
        .filter(|p| p.experiment.id == experiment.id)
    {
        let Some(cells) = point.run.setup.other_cells() else {
            continue;
        };
        let variant = point.at.get(Dimension::Variant);
        match all.iter_mut().find(|(of, _)| *of == cells) {
            Some((_, variants)) if variants.iter().any(|v| v == variant) => {}
            Some((_, variants)) => variants.push(variant.to_owned()),
            None => all.push((cells, vec![variant.to_owned()])),
        }
    }
    all
}

/// The title of `experiment`, with its cells where they are not modelled: no figure or table hides them.
fn title(done: &Done<'_>, experiment: &Experiment) -> String {
    let cells = other_cells(done, experiment);
    let names: Vec<String> = cells.iter().map(|(of, _)| of.cells.to_string()).collect();
    match names.is_empty() {
        true => experiment.title.clone(),
        false => format!("{} (cells: {})", experiment.title, names.join(", ")),
    }
}

fn section(done: &Done<'_>, experiment: &Experiment, figure: Option<&Figure>) -> Section {
    let cells = other_cells(done, experiment);
    let cells = cells
        .iter()
        .map(|(cells, variants)| format!("{}: {cells}.", variants.join(", ")));
    let cells = cells.collect::<Vec<_>>().join(" ");
    let empty = why_empty(done, experiment).map_or(String::new(), |why| format!("Note: {why}"));
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
        title: title(done, experiment),
        paper: [&experiment.paper, &experiment.found]
            .into_iter()
            .chain(&experiment.few_drives)
            .map(String::as_str)
            .chain(experiment.own_loads.then_some(OWN_LOADS))
            .chain([cells.as_str(), &empty])
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
        command: format!(
            "firstread study {}{} --only {} --out {}",
            done.given,
            form(done),
            experiment.id,
            done.name
        ),
        svg: figure.map_or(String::new(), Figure::html),
        in_readme: experiment.figure.in_readme,
        head,
        rows: all.iter().map(row).collect(),
    }
}

fn correlation_section(done: &Done<'_>, correlation: &Measured<'_>, figure: &Figure) -> Section {
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
            "firstread study {}{} --only {} --out {}",
            done.given,
            form(done),
            spec.id,
            done.name
        ),
        svg: figure.html(),
        in_readme: false,
        head: ["valley", "sentinel", "slope", "R²"]
            .map(String::from)
            .to_vec(),
        rows: correlation.pairs().into_iter().map(row).collect(),
    }
}

/// Every simulation: where it lies, its metrics, and the command that repeats it.
fn points_csv(done: &Done<'_>) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["experiment"];
    head.extend(Dimension::ALL.map(Dimension::name));
    head.push("seed");
    let has_lives = done.points.iter().any(|p| p.run.life.is_some());
    let mut metrics = Metric::of(Source::Runs);
    if has_lives {
        metrics.extend(Metric::of(Source::Lives));
    }
    head.extend(metrics.iter().map(|m| m.name));
    head.push("command");
    csv.write_record(&head)?;
    let mut repetition = std::collections::BTreeMap::new();
    for point in done.points {
        let id = &point.under;
        let nth = repetition.entry((id, &point.at)).or_insert(0usize);
        let mut row = vec![id.clone()];
        row.extend(Dimension::ALL.map(|d| point.of_run.get(d).to_owned()));
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
    let of_cells = [Source::Margins, Source::Samples, Source::Pairs]
        .map(Metric::of)
        .concat();
    let of_cells: Vec<&Metric> = of_cells.into_iter().filter(has_any).collect();
    if of_cells.is_empty() {
        return Ok(None);
    }
    let dimensions = Dimension::ALL.into_iter().filter(|&d| {
        // Populations of cells have no requests and no power cuts.
        let of_runs = [
            Dimension::Workload,
            Dimension::Unpowered,
            Dimension::EarlierFill,
            Dimension::Fill,
            Dimension::Precondition,
            Dimension::WorkloadSeed,
            Dimension::Capacity,
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
