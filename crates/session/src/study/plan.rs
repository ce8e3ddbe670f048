//! What a study runs: every experiment's coordinates crossed, a drive for each repetition.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use firstread_drive::DriveState;
use firstread_drive::profile::Override;

use super::dimension::Dimension;
use super::error::StudyError;
use super::spec::{Experiment, Load, Study, Variant};
use crate::choice::Choice;
use crate::drive_profile::Profiles;
use crate::error::{Error, Given, NotATrace};
use crate::files;
use crate::input::{Input, TraceArgs};
use crate::life::{Life, Terms};
use crate::matrix;
use crate::setup::{BurnInSetup, Setup, Simulation};
use crate::watched::Watched;

/// Where a point lies: a value a dimension, as written in the study.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Coordinates([String; Dimension::ALL.len()]);

impl Coordinates {
    /// A value a dimension, in the order of [`Dimension::ALL`].
    pub fn new(values: [String; Dimension::ALL.len()]) -> Coordinates {
        Coordinates(values)
    }

    /// The value along `dimension`.
    pub fn get(&self, dimension: Dimension) -> &str {
        &self.0[dimension as usize]
    }

    /// The same with other values in some dimensions.
    pub fn with(&self, others: &BTreeMap<Dimension, String>) -> Coordinates {
        let mut at = self.clone();
        for (dimension, value) in others {
            at.0[*dimension as usize].clone_from(value);
        }
        at
    }

    /// Whether it has all coordinates of `others`; `a|b` for either.
    pub fn is_among(&self, others: &BTreeMap<Dimension, String>) -> bool {
        let among =
            |(d, values): (&Dimension, &String)| values.split('|').any(|v| self.get(*d) == v);
        others.iter().all(among)
    }

    /// Every combination of the experiment's values but those that it leaves out, the last dimension running fastest.
    pub fn all(experiment: &Experiment, quick: bool) -> Vec<Coordinates> {
        let none = vec![Coordinates(Default::default())];
        let mut all = Dimension::ALL.into_iter().fold(none, |all, dimension| {
            let values = experiment.values(dimension, quick);
            let with = |at: &Coordinates| {
                let at = at.clone();
                values
                    .iter()
                    .map(move |value| at.with(&BTreeMap::from([(dimension, value.clone())])))
            };
            all.iter().flat_map(with).collect()
        });
        all.retain(|at| !experiment.left_out.iter().any(|out| at.is_among(out)));
        all
    }
}

/// The workloads of a study, opened; those whose file is not there, and why.
#[derive(Debug)]
pub struct Inputs {
    open: BTreeMap<String, Arc<Input>>,
    /// Those that are not there, by name, with the reason.
    pub absent: BTreeMap<String, String>,
}

impl Inputs {
    /// Opens the workloads of `study`, traces below `folder`.
    ///
    /// # Errors
    /// [`Error`] of the first that is there and cannot be read.
    pub fn open(study: &Study, folder: Option<&Path>) -> Result<Inputs, Error> {
        let mut inputs = Inputs {
            open: BTreeMap::new(),
            absent: BTreeMap::new(),
        };
        for (name, load) in &study.workloads {
            let found = open(load, name, folder);
            match found.map_err(|error| error.of(format!("workload `{name}`")))? {
                Found::Input(input) => {
                    inputs.open.insert(name.clone(), input.into());
                }
                Found::Absent(why) => {
                    inputs.absent.insert(name.clone(), why);
                }
            }
        }
        Ok(inputs)
    }
}

/// The workload, or why it is not there.
enum Found {
    Input(Input),
    Absent(String),
}

fn open(load: &Load, name: &str, folder: Option<&Path>) -> Result<Found, Error> {
    let options = TraceArgs {
        wrap: load.wrap,
        speed: load.speed,
        format: load.format.clone(),
        columns: load.columns.clone(),
        pattern: load.regex.clone(),
        device: load.device,
        clamp: load.clamp,
        vars: Vec::new(),
    };
    if let (Some(_), Some(arg)) = (&load.job, options.given()) {
        let given = Given::JobFile;
        let workload = name.to_owned();
        return Err(NotATrace {
            arg,
            workload,
            given,
        }
        .into());
    }
    match (&load.job, &load.trace, &load.stand_in) {
        (Some(text), None, None) => Ok(Found::Input(Input::job_file(name, text.clone())?)),
        (None, Some(file), None) => {
            let path = folder.map(|folder| folder.join(file));
            match path.filter(|path| files::is_file(path)) {
                Some(path) => {
                    let name = path.to_string_lossy();
                    Ok(Found::Input(Input::open_as(&name, &options)?))
                }
                None => Ok(Found::Absent(format!(
                    "the trace {file} is not there; name its folder with --traces"
                ))),
            }
        }
        (None, None, Some(row)) => Ok(Found::Input(Input::open_as(row, &options)?)),
        _ => Err(StudyError::WhichWorkload.into()),
    }
}

/// One simulation of a study.
#[derive(Debug)]
pub struct Point<'a> {
    /// What it is a point of.
    pub experiment: &'a Experiment,
    /// Where its numbers are kept: the experiment's name, or that with an alternative.
    pub under: String,
    pub variant: Variant,
    pub at: Coordinates,
    /// The coordinates of its run, which an alternative may have changed.
    pub of_run: Coordinates,
    /// Its simulation, with its name in progress bars and in the store.
    pub run: matrix::Point,
}

impl Point<'_> {
    /// The simulation of `experiment` at `at`.
    fn run(under: &str, at: &Coordinates, setup: Setup) -> matrix::Point {
        let (variant, workload) = (at.get(Dimension::Variant), at.get(Dimension::Workload));
        let all = format!("{under}_{}", at.0.join("_"));
        matrix::Point {
            label: format!("{under} {variant} {workload}"),
            name: matrix::Point::file_name(&all, setup.seed),
            setup,
            life: None,
        }
    }
}

/// Whether what is called `id` is to be measured.
pub fn chosen(only: &[String], id: &str) -> bool {
    only.is_empty() || only.iter().any(|chosen| chosen == id)
}

/// The points of `study` that are simulated, in the order in which they are written, and of what
/// nothing is measured, with the reason. `only` these experiments are run, or all where it is empty.
///
/// # Errors
/// [`Error`] where a variant or a coordinate of a point means nothing.
pub fn points<'a>(
    study: &'a Study,
    inputs: &'a Inputs,
    only: &[String],
    quick: bool,
) -> Result<(Vec<Point<'a>>, BTreeMap<String, String>), Error> {
    let mut points = Vec::new();
    let mut profiles = Profiles::default();
    let mut absent = BTreeMap::new();
    for id in study.ids().into_iter().filter(|id| !chosen(only, id)) {
        absent.insert(id.to_owned(), "not run (--only)".to_owned());
    }
    for experiment in &study.experiments {
        if experiment.cells.is_some() || !chosen(only, &experiment.id) {
            continue;
        }
        let before = points.len();
        for at in Coordinates::all(experiment, quick) {
            let workload = at.get(Dimension::Workload);
            let burns_in = experiment.burn_in.as_ref();
            let burns_in = burns_in.and_then(|burn_in| burn_in.workload.as_ref());
            let mut needed = [Some(workload), burns_in.map(String::as_str)].into_iter();
            if let Some(why) = needed.find_map(|name| inputs.absent.get(name?)) {
                absent.insert(experiment.id.clone(), why.clone());
                continue;
            }
            let one = Planned {
                experiment,
                under: &experiment.id,
                variant: &study.variants[at.get(Dimension::Variant)],
                of_run: &at,
                at: &at,
            };
            one.add(inputs, quick, &mut profiles, &mut points)?;
        }
        // What is left of it is still worth running.
        if points.len() > before {
            absent.remove(&experiment.id);
        }
    }
    let is_run = |experiment: &Experiment| !absent.contains_key(&experiment.id);
    for tried in study.tried_points(quick, is_run) {
        if inputs
            .absent
            .contains_key(tried.at.get(Dimension::Workload))
        {
            continue;
        }
        let one = Planned {
            experiment: tried.experiment,
            under: &tried.tried.of(&tried.experiment.id),
            variant: &tried.variant,
            at: &tried.at,
            of_run: &tried.of_run,
        };
        let added = one.add(inputs, quick, &mut profiles, &mut points);
        added.map_err(|error| error.of(format!("switch `{}`", tried.tried.switch)))?;
    }
    Ok((points, absent))
}

/// A point before its repetitions are made.
struct Planned<'a, 'b> {
    experiment: &'a Experiment,
    under: &'b str,
    variant: &'b Variant,
    at: &'b Coordinates,
    of_run: &'b Coordinates,
}

impl<'a> Planned<'a, '_> {
    /// Adds a simulation for each of its drives.
    fn add(
        &self,
        inputs: &Inputs,
        quick: bool,
        profiles: &mut Profiles,
        points: &mut Vec<Point<'a>>,
    ) -> Result<(), Error> {
        let (experiment, variant) = (self.experiment, self.variant);
        let place = |error: Error| error.of(format!("experiment `{}`", experiment.id));
        let of_variant =
            |error: Error| error.of(format!("variant `{}`", self.at.get(Dimension::Variant)));
        for repetition in 0..experiment.repetitions.of(quick) {
            let requests = experiment.requests.map(|requests| requests.of(quick));
            let simulation = simulation(inputs, experiment, variant, self.of_run, requests);
            let seed = 1 + repetition;
            let mut simulation = Simulation {
                seed,
                ..simulation?
            };
            if experiment.own_loads {
                simulation.state.workload_seed = seed;
            }
            let setup = simulation.setup_among(profiles).map_err(of_variant)?;
            let mut run = Point::run(self.under, self.at, setup);
            if let Some(life) = &experiment.life {
                run = of_life(run, life.of(quick)).map_err(place)?;
            }
            points.push(Point {
                experiment,
                under: self.under.to_owned(),
                variant: variant.clone(),
                run,
                at: self.at.clone(),
                of_run: self.of_run.clone(),
            });
        }
        Ok(())
    }
}

/// The simulation of `experiment` at `at` on the first drive, with `variant` in place of the one that is named there.
///
/// # Errors
/// [`Error`] where the variant or a coordinate means nothing, or the workload is not there.
pub(super) fn simulation(
    inputs: &Inputs,
    experiment: &Experiment,
    variant: &Variant,
    at: &Coordinates,
    requests: Option<u64>,
) -> Result<Simulation, Error> {
    let place = |error: Error| error.of(format!("experiment `{}`", experiment.id));
    let workload = at.get(Dimension::Workload);
    let input = inputs.open.get(workload).ok_or_else(|| {
        let known = inputs.open.keys().map(String::as_str);
        place(StudyError::no_such("workload", workload, known).into())
    })?;
    let of_variant = |error: Error| error.of(format!("variant `{}`", at.get(Dimension::Variant)));
    Ok(Simulation {
        input: Arc::clone(input),
        drive: variant.drive.clone(),
        schemes: schemes(variant).map_err(of_variant)?,
        set: sets_at(variant, at).map_err(place)?,
        state: state(at).map_err(place)?,
        seed: 1,
        limit: requests,
        burn_in: burn_in(experiment, inputs),
        wear_from: None,
        split: None,
        watched: Watched::default(),
    })
}

/// `point` as a life that `terms` ask for.
///
/// # Errors
/// [`Error`] where it cannot end as asked.
fn of_life(point: matrix::Point, terms: Terms) -> Result<matrix::Point, Error> {
    let life = Life {
        setup: point.setup.clone(),
        terms,
    };
    life.check().map_err(|e| Error::from(e).of(&point.label))?;
    Ok(point.of_life(life.terms))
}

/// All that a variant changes of its drive's profile.
///
/// # Errors
/// [`Error`] where one of its texts is none.
pub fn overrides(variant: &Variant) -> Result<Vec<Override>, Error> {
    let schemes = schemes(variant)?;
    let schemes = schemes.into_iter().map(Choice::to_override);
    Ok(schemes.chain(sets(variant)?).collect())
}

/// The same at a point of `experiment` on it, whose coordinates may hold the capacity of the drive.
///
/// # Errors
/// [`Error`] where one of its texts is none.
pub(super) fn overrides_in(
    experiment: &Experiment,
    name: &str,
    variant: &Variant,
) -> Result<Vec<Override>, Error> {
    let mut all = Coordinates::all(experiment, false).into_iter();
    let Some(at) = all.find(|at| at.get(Dimension::Variant) == name) else {
        return overrides(variant);
    };
    let schemes = schemes(variant)?.into_iter().map(Choice::to_override);
    Ok(schemes.chain(sets_at(variant, &at)?).collect())
}

fn sets(variant: &Variant) -> Result<Vec<Override>, Error> {
    let one = |text: &String| {
        Override::parse(text).map_err(|problem| Error::from(problem).of(format!("`{text}`")))
    };
    variant.set.iter().map(one).collect()
}

/// What a variant sets, and the capacity of a point at `at`.
fn sets_at(variant: &Variant, at: &Coordinates) -> Result<Vec<Override>, Error> {
    let mut all = sets(variant)?;
    match at.get(Dimension::Capacity) {
        "default" => {}
        capacity => all.push(Override::parse(&format!("capacity={capacity}"))?),
    }
    Ok(all)
}

/// The schemes of a variant.
fn schemes(variant: &Variant) -> Result<Vec<Choice>, Error> {
    let one = |text: &String| Ok(text.parse()?);
    variant.schemes.iter().map(one).collect()
}

/// The burn-in of the points of `experiment`, if it has one.
fn burn_in(experiment: &Experiment, inputs: &Inputs) -> Option<BurnInSetup> {
    let burn_in = experiment.burn_in.as_ref()?;
    let named = burn_in.workload.as_ref();
    let usual = BurnInSetup::BY_ITSELF;
    Some(BurnInSetup {
        workload: named.map(|name| Arc::clone(&inputs.open[name])),
        most_drive_writes: burn_in.most_drive_writes.unwrap_or(usual.most_drive_writes),
    })
}

/// The state of the drive of a point: filled, and what its coordinates say.
fn state(at: &Coordinates) -> Result<DriveState, Error> {
    let mut state = DriveState::default();
    for dimension in Dimension::ALL {
        if let Some(condition) = dimension.condition() {
            let text = at.get(dimension);
            let place = || format!("{} `{text}`", dimension.name());
            let set = condition.set(&mut state, text);
            set.map_err(|error| Error::from(error).of(place()))?;
        }
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_coordinates_are_crossed_last_dimension_fastest() {
        let study = Study::parse("t", super::super::tests::SMALL).unwrap();
        let all = Coordinates::all(&study.experiments[0], false);
        let names: Vec<String> = all
            .iter()
            .map(|at| format!("{} {}", at.get(Dimension::Variant), at.get(Dimension::Age)))
            .collect();
        assert_eq!(names, ["a 2h", "a 28h", "b 2h", "b 28h"]);
        assert_eq!(Coordinates::all(&study.experiments[0], true).len(), 2);
    }

    #[test]
    fn sequence_combinations_that_are_left_out_are_not_run() {
        let small = super::super::tests::SMALL;
        let with = |out: &str| {
            let line = format!("left_out = [{out}]\ntemperature = [\"40\"]");
            Study::parse("t", &small.replacen("temperature = [\"40\"]", &line, 1))
        };
        let study = with("{ variant = \"b\", age = \"2h\" }, { age = \"28h\", variant = \"a|c\" }");
        let error = study.unwrap_err().to_string();
        assert!(error.contains("no variant `c`"), "{error}");
        let study = with("{ variant = \"b\", age = \"2h|28h\" }").unwrap();
        let all = Coordinates::all(&study.experiments[0], false);
        let names: Vec<&str> = all.iter().map(|at| at.get(Dimension::Variant)).collect();
        assert_eq!(names, ["a", "a"]);
    }

    /// The share that a fill writes is a coordinate like others.
    #[test]
    fn formula_the_fill_is_a_coordinate() {
        let small = super::super::tests::SMALL;
        let with = |fill: &str| {
            let line = format!("fill = [{fill}]\ntemperature = [\"40\"]");
            let study = small.replacen("temperature = [\"40\"]", &line, 1);
            Study::parse("t", &study).unwrap()
        };
        let study = with("\"50%\", \"100%\"");
        let inputs = Inputs::open(&study, None).unwrap();
        let (points, _) = points(&study, &inputs, &[], true).unwrap();
        let fills: Vec<f64> = points.iter().map(|p| p.run.setup.state.fill).collect();
        assert_eq!(fills, [0.5, 1.0, 0.5, 1.0]);
        let study = with("\"101%\"");
        let error = super::points(&study, &inputs, &[], true).unwrap_err();
        assert!(error.to_string().contains("101%"), "{error}");
    }

    /// With a load of its own each drive has its own seed of the workload, and with the same load the first.
    #[test]
    fn sequence_drives_with_loads_of_their_own() {
        let small = super::super::tests::SMALL;
        let with = |keys: &str| {
            let text = format!("{keys}\ntemperature = [\"40\"]");
            Study::parse("t", &small.replacen("temperature = [\"40\"]", &text, 1))
        };
        let seeds = |keys: &str| {
            let study = with(keys).unwrap();
            let inputs = Inputs::open(&study, None).unwrap();
            let (points, _) = points(&study, &inputs, &[], false).unwrap();
            let seeds = points[..5].iter().map(|p| &p.run.setup);
            seeds
                .map(|s| (s.seed, s.state.workload_seed))
                .collect::<Vec<_>>()
        };
        assert_eq!(seeds("own_loads = true"), [1, 2, 3, 4, 5].map(|s| (s, s)));
        assert_eq!(seeds(""), [1, 2, 3, 4, 5].map(|s| (s, 1)));
        let error = with("own_loads = true\nworkload_seed = [4, 7]").unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("drive N the workload seed N, and `workload_seed` gives 4, 7"),
            "{text}"
        );
    }

    /// A study that names the axis as version 0.1.0 did is refused with the name of today, in `schemes` and in `set`.
    #[test]
    fn what_a_study_with_the_former_axis_recovery_says() {
        for (text, message) in [
            (
                "schemes = [\"recovery=none\"]",
                "no axis `recovery`; the nearest is `read_recovery`",
            ),
            (
                "set = [\"recovery.after=0\"]",
                "recovery: unknown key; the nearest is `read_recovery`",
            ),
        ] {
            let old = "schemes = [\"gc_victim=greedy\"]";
            assert!(super::super::tests::SMALL.contains(old));
            let study = super::super::tests::SMALL.replacen(old, text, 1);
            let study = Study::parse("t", &study).unwrap();
            let inputs = Inputs::open(&study, None).unwrap();
            let error = points(&study, &inputs, &[], false).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
