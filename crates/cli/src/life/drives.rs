//! Several lives, of drives, schemes or over-provisionings: the median of each figure and its spread over drives.

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::{Finished, Point, Setup};
use serde_json::{Map, Value};

use super::accept;
use super::lines;
use super::pages::pages;
use super::summary::{Figure, Group, Shown, Summary, values};
use crate::accept::Target;
use crate::output::format::{Side, capacity, table};
use crate::output::human;
use crate::output::spread::Spread;
use crate::runs::{Ran, Report, Row, View};

/// How several lives are shown.
pub struct Lives<'a> {
    pub accept: &'a [Target],
}

impl View for Lives<'_> {
    fn values(&self, _: &Setup, finished: &Finished) -> Map<String, Value> {
        values(finished)
    }

    fn pages(&self, point: &Point, finished: &Finished) -> Vec<Page> {
        let Finished::Life(of) = finished else {
            return Vec::new();
        };
        let folder = std::path::Path::new(&point.name);
        let all = pages(&of.life, &of.outcome).into_iter();
        all.map(|(path, page)| (folder.join(path), page)).collect()
    }

    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>> {
        let groups = groups(ran)?;
        let rows = ran.combinations().flat_map(|(combination, runs)| {
            let label = combination.label.as_str();
            let scheme = (!label.is_empty()).then_some(label);
            let row = move |(point, kept): (&'a Point, _)| Row::of(scheme, &point.setup, kept);
            runs.into_iter().map(row).collect::<Vec<_>>()
        });
        Ok(Report {
            text: text(&groups),
            rows: rows.collect(),
            figure: lines::figure(&heading(&groups), &groups),
            acceptance: accept::judge(self.accept, &groups),
            ..Report::default()
        })
    }
}

/// Each of the lives of which any drive has a result.
fn groups<'a>(ran: &'a Ran<'_>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for (combination, runs) in ran.combinations() {
        let lives = runs
            .into_iter()
            .map(|(point, kept)| Ok((&point.setup, Summary::read(&kept.values)?)));
        groups.push(Group {
            label: &combination.label,
            lives: lives.collect::<Result<_>>()?,
        });
    }
    Ok(groups)
}

/// Load and drive of the lives.
fn heading(groups: &[Group<'_>]) -> String {
    let Some((setup, _)) = groups.iter().flat_map(|group| &group.lives).next() else {
        return String::new();
    };
    let of_capacity = |(setup, _): &(&Setup, Summary)| setup.profile.capacity_bytes;
    let capacities = groups
        .iter()
        .flat_map(|group| &group.lives)
        .map(of_capacity);
    let same = capacities.clone().min() == capacities.max();
    let capacity = match same {
        true => format!(", {}", capacity(setup.profile.capacity_bytes)),
        false => String::new(),
    };
    format!("{} on {}{capacity}", setup.input.name(), setup.profile.name)
}

/// The report: what the lives share, how each ended, and the spread of each figure.
fn text(groups: &[Group<'_>]) -> String {
    let lives = || groups.iter().flat_map(|group| &group.lives);
    let Some((setup, _)) = lives().next() else {
        return String::new();
    };
    let of_group = groups[0].lives.iter().map(|(setup, _)| *setup);
    let mut text = format!("{}\n  {}\n", heading(groups), human::seeds(of_group));
    if let [_] = groups {
        text += &format!("  {}\n", setup.schemes() + &human::notes(setup));
    }
    if let Some(cells) = setup.other_cells() {
        text += &format!("  {cells}\n");
    }
    for group in groups {
        text += &of_lives(group, groups.len() > 1);
    }
    text + "\nover drives: lowest … highest of them, each with chips of its own under the same load\n"
}

/// One life on all drives.
fn of_lives(Group { label, lives: all }: &Group<'_>, named: bool) -> String {
    let mut text = match (named, all.first()) {
        (true, Some((setup, _))) => {
            format!("\n{label}: {}\n", setup.schemes() + &human::notes(setup))
        }
        _ => String::new(),
    };
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
    let figures = all.first().map(|(_, life)| &life.figures);
    for Figure { name, shown, .. } in figures.into_iter().flatten() {
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
    text + &table("  ", &[Side::Left, Side::Right, Side::Left], &rows)
}
