//! What is to be known of runs: options that were interpreted otherwise, cells that are not modelled, schemes that an option
//! switches off, wear beyond a rating, limits that were not reached.

use anyhow::Result;
use firstread_drive::Ended;
use firstread_session::{Input, Kept, Point, Setup, results};

use crate::output::format::count;
use crate::output::summary::Summary;
use crate::streams::{notice, warning};

/// Tells what is known before many points are run, each thing once.
pub fn before(points: &[Point]) {
    let mut told = Vec::new();
    let mut once = |text: String, tell: fn(&str)| {
        if !told.contains(&text) {
            tell(&text);
            told.push(text);
        }
    };
    for Point { setup, .. } in points {
        if let Input::Jobs { workload, .. } = &*setup.input {
            for n in &workload.notices {
                once(n.to_string(), notice);
            }
        }
        let name = &setup.profile.name;
        if let Some(cells) = setup.other_cells() {
            once(format!("{name}: {cells}"), notice);
        }
        for note in setup.notes() {
            once(format!("{name}: {note}"), notice);
        }
        if let Some(beyond) = setup.beyond_rating() {
            once(format!("{name}: {beyond}"), warning);
        }
    }
}

/// Tells what is known of `points` that have been run: of the first that has ended, and what switches off schemes of any.
pub fn after(points: &[Point], first: Option<(&Point, &Kept)>) -> Result<()> {
    if let Some((point, kept)) = first {
        let completed = kept.ended == results::ended(Ended::Completed);
        of_run(&point.setup, &Summary::read(kept)?, completed);
    }
    switched_off(points.iter().map(|point| &point.setup));
    Ok(())
}

/// Tells what is known of a run that has ended.
pub fn of_run(setup: &Setup, summary: &Summary, completed: bool) {
    for n in &summary.notices {
        notice(n);
    }
    if let Some(cells) = setup.other_cells() {
        notice(&cells.to_string());
    }
    if let Some(beyond) = setup.beyond_rating() {
        warning(&beyond.to_string());
    }
    let short = summary.groups().iter().filter(|group| group.is_short);
    for group in short.filter(|_| completed) {
        let jobs = match group.jobs.as_str() {
            "" => String::new(),
            jobs => format!(" {jobs}"),
        };
        notice(&format!(
            "{}:{jobs} ended after {} requests, before the limit of {}",
            setup.input.name(),
            count(group.requests),
            count(setup.limit.unwrap_or(0))
        ));
    }
}

/// Tells which schemes options of these drives switch off, each note once.
pub fn switched_off<'a>(setups: impl Iterator<Item = &'a Setup>) {
    let mut told = Vec::new();
    for note in setups.flat_map(Setup::notes) {
        if !told.contains(&note) {
            notice(&note);
            told.push(note);
        }
    }
}
