//! `firstread study`: an evaluation, of a paper or of one's own, claim by claim.
//!
//! The study itself is in `firstread_session::study`.
//!
//! - [`args`], [`watch`]: what is asked, and what is seen meanwhile.
//! - [`correlation`], [`figures`]: pictures. [`claims`]: verdicts in words. [`report`]: pages. [`tension`]: which rows hold together.

mod args;
mod claims;
mod correlation;
mod figures;
mod report;
mod switches;
mod tension;
mod watch;

use std::path::{Path, PathBuf};

use anyhow::Result;
use firstread_session::study::correlation::Measured;
use firstread_session::study::plan::{self, Inputs, Point};
use firstread_session::study::points::Points;
use firstread_session::study::spec::Study;
use firstread_session::study::{
    NEW, Named, STUDIES, facts, find, margin, metric, sources, verdict,
};
use firstread_session::{Finished, Point as Run, Results, Store, Unknown, files, study};

use crate::args::{Form, Interrupted, Usage};
use crate::interrupt;
use crate::output::Has;
use crate::progress::Bars;
use crate::runs::{kept, planned, points_run};
use crate::streams::{data, notice, tell};
pub use args::StudyArgs;
use watch::ended;

/// Names and titles of the shipped studies.
pub fn shipped() -> Result<Vec<Vec<String>>> {
    let row =
        |(name, text): &(&str, &str)| Ok(vec![(*name).to_owned(), Study::parse(name, text)?.title]);
    STUDIES.iter().map(row).collect()
}

/// Title of the shipped study called `name`.
pub fn title(name: &str) -> Result<Option<String>> {
    let shipped = STUDIES.iter().find(|(n, _)| *n == name);
    let title = |(name, text): &(&str, &str)| Ok(Study::parse(name, text)?.title);
    shipped.map(title).transpose()
}

pub fn study(args: &StudyArgs) -> Result<()> {
    if let Some(file) = &args.new {
        return new(file);
    }
    let Some(given) = &args.study else {
        return Err(Usage("name a study".into()).into());
    };
    tension::check(args)?;
    let mut studies = find(given)?;
    for named in &mut studies {
        if let Some(drives) = args.drives {
            named.study.over_drives(drives);
        }
    }
    let one = studies.len() == 1;
    for named in &studies {
        check_only(args, named)?;
    }
    for named in &studies {
        let of = |folder: &Option<PathBuf>| {
            let folder = folder.as_ref();
            folder.map(|folder| match one {
                true => folder.clone(),
                false => folder.join(&named.name),
            })
        };
        let (out, planned) = (of(&args.out), of(&args.plan.folder));
        match (out, planned) {
            (out, Some(folder)) => plan(args, named, out.as_deref(), &folder)?,
            (Some(out), None) if args.tension => tension::run(args, named, &out)?,
            (Some(out), None) => run(args, named, &out)?,
            (None, None) => return Err(Usage("name a folder with --out".into()).into()),
        }
    }
    Ok(())
}

/// Writes a study to begin with.
fn new(file: &Path) -> Result<()> {
    if file.exists() {
        anyhow::bail!(
            "{} is there already, and is not written over",
            file.display()
        );
    }
    let (folder, name) = (file.parent().unwrap_or(Path::new("")), file.file_name());
    let Some(name) = name.and_then(|name| name.to_str()) else {
        return Err(Usage(format!("{} is no file name", file.display())).into());
    };
    let name = name.to_owned();
    let stem = name.strip_suffix(".toml").unwrap_or(&name);
    let path = file.display().to_string();
    let text = NEW.replace(
        "study FILE --quick --out results",
        &format!("study {path} --quick --out {stem}"),
    );
    let text = text.replace(
        "open results/report.html",
        &format!("open {stem}/report.html"),
    );
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    files::write(folder, &[(name.clone().into(), text.into_bytes())])?;
    data(&format!(
        "{path} is written; it runs as it is:\n  firstread study {path} --quick --out {stem}\n"
    ))
}

fn check_only(args: &StudyArgs, named: &Named) -> Result<()> {
    let ids = named.study.ids();
    match args.only.iter().find(|id| !ids.contains(&id.as_str())) {
        Some(id) => Err(Unknown::new("experiment", id, ids.into_iter()).into()),
        None => Ok(()),
    }
}

/// The workloads of a study; those that are not there are told.
fn opened(args: &StudyArgs, Named { name, study, .. }: &Named) -> Result<Inputs> {
    let inputs = Inputs::open(study, args.traces.as_deref())?;
    for (workload, why) in &inputs.absent {
        notice(&format!("{name}: left out `{workload}`: {why}"));
    }
    Ok(inputs)
}

/// Writes down the simulations of a study in `folder`, but those whose results are in `out`.
fn plan(args: &StudyArgs, named: &Named, out: Option<&Path>, folder: &Path) -> Result<()> {
    let inputs = opened(args, named)?;
    let (points, _) = plan::points(&named.study, &inputs, &args.only, args.quick)?;
    let points: Vec<Run> = points.into_iter().map(|point| point.run).collect();
    let store = kept::store_to_plan(out, "study", &named.name, Has::default())?;
    planned::write(folder, out, &points, &store, "simulations")
}

fn run(args: &StudyArgs, named: &Named, folder: &Path) -> Result<()> {
    let Named { given, name, study } = named;
    let inputs = opened(args, named)?;
    let (points, absent) = plan::points(study, &inputs, &args.only, args.quick)?;
    let facts = facts(study)?;
    let said = sources::said(study)?;
    let mut of_cells = study.of_cells();
    if points.is_empty() && !of_cells.any(|id| plan::chosen(&args.only, id)) {
        return Err(Usage("nothing of the study can run".into()).into());
    }
    // Before anything is measured: the folder may not be writable, or another study's.
    let store = kept::store(Some(folder), "study", name, Form::Human, false)?;
    let mut measured = Points::default();
    let correlations = correlations(args, study, &mut measured)?;
    margins(args, study, &mut measured)?;
    let results = simulate_all(args, &store, &points)?;
    let (finished, all) = (results.finished(), results.simulations());
    if finished < all {
        let folder = folder.display();
        let text = format!(
            ": {finished} of {all} simulations are in {folder}; the same command goes on from there"
        );
        return Err(Interrupted(text).into());
    }
    for (i, point) in points.iter().enumerate() {
        // Those that are interrupted ended the study above.
        if let Some(kept) = results.of(i) {
            let metrics = kept.values.clone();
            measured.add(&point.under, point.at.clone(), metrics);
        }
    }
    let known = verdict::Known {
        absent: &absent,
        facts: &facts,
        said: &said,
        quick: args.quick,
    };
    let verdicts = verdict::judge(study, &measured, &known);
    let done = report::Done {
        name,
        given,
        study,
        quick: args.quick,
        drives: args.drives,
        points: &points,
        simulations: results.simulations(),
        correlations: &correlations,
        measured: &measured,
        verdicts: &verdicts,
    };
    store.write(&report::pages(&done)?)?;
    for (id, why) in report::without_numbers(&done) {
        notice(&format!("{name}: experiment `{id}`: {why}"));
    }
    match verdicts.is_empty() {
        true => data(&report::tables(&done))?,
        false => data(&claims::summary(&study.title, &verdicts))?,
    }
    tell(&format!(
        "{} simulations, {:.0} s of them on one core; {}",
        results.simulations(),
        results.wall_s(),
        folder.join("report.html").display()
    ));
    Ok(())
}

/// How the best levels of valleys go with those of the sentinels.
fn correlations<'a>(
    args: &StudyArgs,
    study: &'a Study,
    points: &mut Points,
) -> Result<Vec<Measured<'a>>> {
    let chosen = study::correlation::chosen(study, &args.only);
    let bars = Bars::default();
    let bar = bars.whole(chosen.iter().map(|spec| spec.drives).sum());
    let bar = bar.with_prefix("correlations");
    let measured = study::correlation::measure(study, &chosen, points, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(measured?)
}

/// What the last step of a read leaves of the code's strength.
fn margins(args: &StudyArgs, study: &Study, points: &mut Points) -> Result<()> {
    let populations = margin::populations(study, &args.only, args.quick);
    let bars = Bars::default();
    let bar = bars.whole(populations.len() as u64).with_prefix("cells");
    let done = || bar.inc(1);
    let measured = margin::measure(study, &populations, args.threads, points, &done);
    bar.finish_and_clear();
    Ok(measured?)
}

/// The results of `points`: those that `store` has not are simulated.
fn simulate_all(args: &StudyArgs, store: &Store, points: &[Point<'_>]) -> Result<Results> {
    let interrupt = interrupt::handled();
    let stopped = |point: &Point<'_>| {
        let mut run = point.run.clone();
        run.setup.interrupt = interrupt.clone();
        run
    };
    let points: Vec<_> = points.iter().map(stopped).collect();
    let of_each = |_: &Run, _: &Finished| Vec::new();
    points_run(
        &points,
        args.threads,
        store,
        "simulations",
        ended,
        metric::of_finished,
        of_each,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each shipped study is listed with its own title.
    #[test]
    fn formula_shipped_studies_have_names_and_titles() {
        let rows = shipped().expect("shipped studies are sound");
        assert_eq!(rows.len(), STUDIES.len());
        for ((name, _), row) in STUDIES.iter().zip(&rows) {
            let title = title(name)
                .expect("a shipped study")
                .expect("it has a title");
            assert_eq!(row[..], [(*name).to_owned(), title]);
        }
    }
}
