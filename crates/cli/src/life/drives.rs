//! Several lives, of drives, schemes or over-provisionings: the median of each figure and its spread over drives.

use std::path::Path;

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::life::Life;
use firstread_session::{Finished, Matrix, Point, Results, Setup};

use super::accept;
use super::pages::pages;
use super::summary::{Figure, Group, Shown, Summary, values};
use crate::accept::Target;
use crate::args::{Form, Interrupted};
use crate::matrix::Simulations;
use crate::matrix::kept;
use crate::output::format::{Side, capacity, table};
use crate::output::human;
use crate::output::spread::Spread;
use crate::streams::{data, tell};

/// Lives each of `lives` on the drives of `seeds`, so many at a time; prints what came of it as `form`, keeps it in `out`,
/// and judges it by `targets`.
pub fn lives(
    lives: &[(String, Life)],
    seeds: &[u64],
    threads: Option<u16>,
    out: Option<&Path>,
    form: Form,
    targets: &[Target],
) -> Result<()> {
    let points = points(lives, seeds);
    let title = lives[0].1.setup.input.title();
    let store = kept::listing_store(out, "lives", title, form)?;
    let matrix = Matrix {
        points: &points,
        threads,
        watch: &Simulations::new(points.len()),
    };
    let results = matrix.kept_with_pages(&store, |_, finished| values(finished), pages_of)?;
    kept::tell_found(&points, &results, "lives");
    let groups = groups(lives, &points, &results)?;
    if groups.is_empty() {
        return Err(Interrupted(" before any life had ended".into()).into());
    }
    let text = text(&groups);
    // A life has nothing in its result that the machine decides.
    let listed = || {
        let each = points.iter().enumerate().filter_map(|(i, point)| {
            let result = results.of(i)?.result();
            let (label, _) = &lives[i / seeds.len()];
            let scheme = (!label.is_empty()).then_some(label.as_str());
            Some(kept::row(scheme, &point.setup, result))
        });
        kept::listed(None, each)
    };
    if out.is_some() {
        let mut pages = vec![
            ("drives.json".into(), listed().into_bytes()),
            ("drives.txt".into(), text.as_bytes().to_vec()),
        ];
        #[cfg(feature = "figures")]
        if let Some(figure) = super::lines::figure(&heading(&groups), &groups) {
            pages.push(("drives.svg".into(), figure.svg()));
            pages.push(("drives.png".into(), figure.png()));
        }
        store.write(&pages)?;
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
    kept::whole(&results, out, "lives")?;
    accept::judge(targets, form, &groups)
}

/// A point for each drive of each of `lives`.
fn points(lives: &[(String, Life)], seeds: &[u64]) -> Vec<Point> {
    let mut points = Vec::new();
    for (label, life) in lives {
        for &seed in seeds {
            let setup = Setup {
                seed,
                ..life.setup.clone()
            };
            let (label, name) = match label.as_str() {
                "" => (format!("seed {seed}"), format!("seed-{seed}")),
                label => (
                    format!("{label} seed {seed}"),
                    Point::file_name(label, seed),
                ),
            };
            let point = Point {
                name,
                ..Point::new(&label, setup)
            };
            points.push(point.of_life(life.terms.clone()));
        }
    }
    points
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

/// Each of `lives` of which any drive has a result.
fn groups<'a>(
    lives: &'a [(String, Life)],
    points: &'a [Point],
    results: &Results,
) -> Result<Vec<Group<'a>>> {
    let drives = points.len() / lives.len();
    let mut groups = Vec::new();
    for (i, (label, _)) in lives.iter().enumerate() {
        let mut of_label = Vec::new();
        let of_life = points.iter().enumerate().skip(i * drives).take(drives);
        for (at, point) in of_life {
            let Some(kept) = results.of(at) else {
                continue;
            };
            of_label.push((&point.setup, Summary::read(kept)?));
        }
        if !of_label.is_empty() {
            groups.push(Group {
                label,
                lives: of_label,
            });
        }
    }
    Ok(groups)
}

/// Load and drive of the lives.
fn heading(groups: &[Group<'_>]) -> String {
    let (setup, _) = &groups[0].lives[0];
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
