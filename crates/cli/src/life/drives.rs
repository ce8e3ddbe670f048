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
use crate::output::format::{Side, bytes, capacity, table};
use crate::output::human;
use crate::output::spread::Spread;
use crate::page::Section;
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
        pages_in(point, finished)
    }

    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>> {
        let groups = groups(ran)?;
        let rows = ran.combinations().flat_map(|(combination, runs)| {
            let label = combination.label.as_str();
            let scheme = (!label.is_empty()).then_some(label);
            let row = move |(point, kept): (&'a Point, _)| Row::of(scheme, &point.setup, kept);
            runs.into_iter().map(row).collect::<Vec<_>>()
        });
        let several = groups.len() > 1;
        let tables = groups.iter().map(|group| match several {
            true => Section::table(group.name(), figures(group)),
            false => Section::table("Figures over drives", figures(group)),
        });
        Ok(Report {
            headline: groups.iter().map(ends_of).collect(),
            sections: tables.collect(),
            text: text(&groups),
            rows: rows.collect(),
            figure: lines::figure(&heading(&groups), &groups),
            acceptance: accept::judge(self.accept, &groups),
            ..Report::default()
        })
    }
}

/// The files of one of several lives, in the folder of its name.
pub fn pages_in(point: &Point, finished: &Finished) -> Vec<Page> {
    let Finished::Life(of) = finished else {
        return Vec::new();
    };
    let folder = std::path::Path::new(&point.name);
    let all = pages(&of.life, &of.outcome).into_iter();
    all.map(|(path, page)| (folder.join(path), page)).collect()
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
fn of_lives(group: &Group<'_>, named: bool) -> String {
    let Group { label, lives: all } = group;
    let mut text = match (named, all.first()) {
        (true, Some((setup, _))) => {
            format!("\n{label}: {}\n", setup.schemes() + &human::notes(setup))
        }
        _ => String::new(),
    };
    for (end, n) in ends(all) {
        text += &format!("ended: {end} ({n} of {} drives)\n", all.len());
    }
    text += "\n";
    text + &table(
        "  ",
        &[Side::Left, Side::Right, Side::Left],
        &figures(group),
    )
}

/// How lives ended, each end with the number of drives.
fn ends<'a>(all: &'a [(&Setup, Summary)]) -> Vec<(&'a str, usize)> {
    let mut ends: Vec<(&str, usize)> = Vec::new();
    for (_, Summary { end, .. }) in all {
        match ends.iter_mut().find(|(known, _)| known == end) {
            Some((_, n)) => *n += 1,
            None => ends.push((end, 1)),
        }
    }
    ends
}

/// What was written until the end of the lives of `group`, and what ended them.
fn ends_of(group: &Group<'_>) -> String {
    let written = Spread::of(group.lives.iter().map(|(_, life)| Some(life.written_bytes)));
    let written = written.map_or(String::new(), |over| match group.lives.len() {
        1 => bytes(over.median),
        _ => format!("{} ({})", bytes(over.median), over.range(bytes)),
    });
    let ends = ends(&group.lives).into_iter();
    let ends: Vec<String> = ends
        .map(|(end, n)| format!("{end}: {n} of {}", group.lives.len()))
        .collect();
    format!("{}: {written} written; {}", group.name(), ends.join("; "))
}

/// The figures of a life over its drives. The first row is the head.
fn figures(Group { lives: all, .. }: &Group<'_>) -> Vec<Vec<String>> {
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
    rows
}
