//! What a command asks for: combinations of values, each on the drives of several seeds.

use std::collections::BTreeSet;

use firstread_session::life::Terms;
use firstread_session::{Point, Setup};

use crate::args::Output;
use crate::interrupt;

/// What the runs of a command are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One load on several drives.
    Drives,
    /// Schemes side by side.
    Comparison,
    /// All combinations of several values.
    Matrix,
    /// Lives of several drives.
    Lives,
}

impl Kind {
    /// What a folder of them is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Drives => "drives",
            Kind::Comparison => "comparison",
            Kind::Matrix => "matrix",
            Kind::Lives => "lives",
        }
    }

    /// What one of them is called.
    pub fn one(self) -> &'static str {
        match self {
            Kind::Lives => "life",
            _ => "run",
        }
    }

    /// What several of them are called.
    pub fn many(self) -> &'static str {
        match self {
            Kind::Lives => "lives",
            _ => "runs",
        }
    }

    /// Name of the files of all of them, without its extension.
    pub fn files(self) -> &'static str {
        match self {
            Kind::Drives | Kind::Lives => "drives",
            Kind::Comparison => "compare",
            Kind::Matrix => "matrix",
        }
    }

    /// Whether each has files of its own, and one file has the results of all. A matrix may have thousands: it has tables.
    pub fn has_each(self) -> bool {
        self != Kind::Matrix
    }
}

/// What is run on each drive.
pub struct Combination {
    /// What tells it from the others, in words; empty where there is one.
    pub label: String,
    /// The same as values, in the order of what varies.
    pub values: Vec<String>,
    pub setup: Setup,
    /// What is asked of the life of each drive; none for a run.
    pub life: Option<Terms>,
}

/// What a command asks for.
pub struct Plan<'a> {
    pub kind: Kind,
    /// Name of the load, which owns a folder of results.
    pub title: String,
    /// What tells combinations apart, as JSON has it.
    pub axis: Option<String>,
    pub combinations: Vec<Combination>,
    /// A point for each drive of each combination.
    pub points: Vec<Point>,
    /// Drives of each combination.
    pub drives: usize,
    /// Simulations at a time.
    pub threads: Option<u16>,
    pub output: Output<'a>,
}

impl<'a> Plan<'a> {
    /// Each of `combinations`, of which there is one at least, on the drives of `seeds`. `axis` is what tells them apart.
    pub fn new(
        kind: Kind,
        axis: Option<String>,
        combinations: Vec<Combination>,
        seeds: &[u64],
        threads: Option<u16>,
        output: Output<'a>,
    ) -> Plan<'a> {
        let title = combinations
            .first()
            .map_or("", |first| first.setup.input.title());
        Plan {
            kind,
            title: title.to_owned(),
            axis,
            points: points(kind, &combinations, seeds),
            combinations,
            drives: seeds.len(),
            threads,
            output,
        }
    }
}

/// A point for each of `seeds` of each combination. Its label is told, and its name is that of its files.
fn points(kind: Kind, combinations: &[Combination], seeds: &[u64]) -> Vec<Point> {
    let mut points = Vec::new();
    let mut names = BTreeSet::new();
    for combination in combinations {
        for &seed in seeds {
            let setup = Setup {
                seed,
                interrupt: interrupt::handled(),
                ..combination.setup.clone()
            };
            let label = match (combination.label.as_str(), seeds.len()) {
                ("", _) => format!("seed {seed}"),
                (label, 1) => label.to_owned(),
                (label, _) => format!("{label} seed {seed}"),
            };
            let name = match (kind, combination.label.as_str(), seeds.len()) {
                (_, "", _) => format!("seed-{seed}"),
                (Kind::Comparison, label, 1) => label.to_owned(),
                (Kind::Comparison, label, _) => format!("{label}/seed-{seed}"),
                (_, label, _) => Point::file_name(label, seed),
            };
            let mut point = Point {
                name: name.clone(),
                life: combination.life.clone(),
                ..Point::new(&label, setup)
            };
            // Different labels may be the same name of a file.
            let mut n = 1;
            while !names.insert(point.name.clone()) {
                n += 1;
                point.name = format!("{name}-{n}");
            }
            points.push(point);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use firstread_session::{Input, Simulation};

    use super::*;

    fn named(kind: Kind, labels: &[&str], seeds: &[u64]) -> Vec<(String, String)> {
        let job = "[a]\nrw=randread\nbs=4k\n".to_owned();
        let base = Simulation {
            drive: "bench-4g".into(),
            ..Simulation::of(Input::job_file("load", job).unwrap())
        };
        let setup = base.setup().unwrap();
        let one = |label: &&str| Combination {
            label: (*label).to_owned(),
            values: Vec::new(),
            setup: setup.clone(),
            life: None,
        };
        let all: Vec<Combination> = labels.iter().map(one).collect();
        let points = points(kind, &all, seeds);
        let both = |point: Point| (point.label, point.name);
        points.into_iter().map(both).collect()
    }

    /// Folders that were kept before are found by these names.
    #[test]
    fn golden_names_of_points() {
        let of = |kind, labels: &[&str], seeds: &[u64]| {
            let named = named(kind, labels, seeds).into_iter();
            let named = named.map(|(label, name)| format!("{label}: {name}"));
            named.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(
            of(Kind::Drives, &[""], &[3, 4]),
            "seed 3: seed-3, seed 4: seed-4"
        );
        assert_eq!(
            of(Kind::Comparison, &["fifo", "a,b"], &[3]),
            "fifo: fifo, a,b: a,b"
        );
        assert_eq!(
            of(Kind::Comparison, &["fifo"], &[3, 4]),
            "fifo seed 3: fifo/seed-3, fifo seed 4: fifo/seed-4"
        );
        assert_eq!(of(Kind::Matrix, &["age=1h"], &[3]), "age=1h: age-1h_seed-3");
        assert_eq!(
            of(Kind::Matrix, &["a=1/2", "a=1:2"], &[3]),
            "a=1/2: a-1-2_seed-3, a=1:2: a-1-2_seed-3-2"
        );
        assert_eq!(
            of(Kind::Lives, &["gc=fifo"], &[3, 4]),
            "gc=fifo seed 3: gc-fifo_seed-3, gc=fifo seed 4: gc-fifo_seed-4"
        );
    }
}
