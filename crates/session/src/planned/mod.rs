//! Plans: simulations and lives that are written down, a file a point, and run elsewhere.
//!
//! - [`write()`]: a folder of points, and [`INDEX`], which lists them. [`Reader`]: points read back.
//! - `data`: a point as its file has it; `state`, `workload`: parts of that. `texts`: what points share, by its checksum.
//!
//! A point is written as what it was made of: a drive by name, the files beyond the shipped ones, the values that replace
//! theirs, a state, workloads. It is read by the loaders that read them first, with their checks, and by the same program
//! alone. So the numbers of a profile need no second form that would have to be exact. The key of a point is a checksum of
//! all that its result depends on: what is read has to have it.

mod data;
pub(crate) mod error;
mod state;
mod texts;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cost;
use crate::drive_profile::Profile;
use crate::error::Error;
use crate::files::{self, Page};
use crate::input::Input;
use crate::matrix::{Matrix, Point};
use crate::program;
use crate::results;
use crate::store::{Search, Store};
use data::{FORM, PointData};
pub use error::PlanError;
use texts::{TextsRead, TextsWritten};

/// The file that lists the points of a plan.
pub const INDEX: &str = "plan.json";
/// The folder of points in a plan.
const POINTS: &str = "points";
/// What the cost of a point is measured in.
const COST_UNIT: &str = "mapping units read";

/// A plan that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// Points in it.
    pub points: usize,
    /// Simulations whose results were in the store already, and which are not in it.
    pub found: usize,
    /// Points whose cost is not known before they run.
    pub unknown_cost: usize,
}

/// Writes the points that have no result in `store` into `folder`, one a file, with their index: those that cost most come
/// first. `command` is what finishes them, word by word. Points with the same inputs are written once. A plan that was there gives way.
///
/// # Errors
/// [`PlanError`] where a point cannot be written down, or the folder has something else; [`Error`] where a file cannot
/// be written.
pub fn write(
    folder: &Path,
    points: &[Point],
    store: &Store,
    command: &[String],
) -> Result<Written, Error> {
    clear(folder)?;
    let mut writer = Writer {
        folder,
        store,
        program: program::identity()?,
        texts: TextsWritten::new(folder),
        drives: BTreeSet::new(),
        inputs: BTreeSet::new(),
    };
    let mut rows = Vec::new();
    let (mut found, mut unknown_cost) = (0, 0);
    let matrix = Matrix {
        points,
        threads: None,
        watch: &(),
    };
    let cost = |run: &Vec<usize>| {
        let point = &points[run[0]];
        cost::expected(&point.setup, point.life.as_ref())
    };
    let mut runs: Vec<_> = matrix
        .runs()?
        .into_iter()
        .map(|run| (cost(&run), run))
        .collect();
    // Whatever takes files in the order of their names begins with the longest, and before them with those that may be it.
    let order = |cost: Option<f64>| cost.unwrap_or(f64::INFINITY);
    runs.sort_by(|(a, _), (b, _)| order(*b).total_cmp(&order(*a)));
    for (cost, run) in runs {
        let point = &points[run[0]];
        let inputs = store.found_by(point.inputs(writer.program)?);
        let mut is_found = false;
        for same in run.iter().map(|&i| &points[i]) {
            is_found |= matches!(store.search(&same.name, &inputs)?, Search::Found(_));
        }
        if is_found {
            found += 1;
            continue;
        }
        unknown_cost += usize::from(cost.is_none());
        let file = format!("{POINTS}/{:05}.json", rows.len() + 1);
        let key = key(&inputs);
        let text = writer
            .point(point, &key)
            .map_err(|error| error.of(&point.label))?;
        files::write_unsynced(&folder.join(&file), text.as_bytes())?;
        rows.push(json!({ "file": file, "name": point.name, "key": key, "cost": cost }));
    }
    let planned = rows.len();
    let index = json!({
        "form": FORM,
        "version": results::VERSION,
        "program": writer.program,
        "store": { "kind": store.kind(), "name": store.name() },
        "command": command,
        "cost_unit": COST_UNIT,
        "points": rows,
    });
    let page: Page = (INDEX.into(), results::text(&index).into_bytes());
    files::write(folder, &[page])?;
    Ok(Written {
        points: planned,
        found,
        unknown_cost,
    })
}

/// The files of the points of the plan in `folder`, in the order of its list.
///
/// # Errors
/// [`PlanError`] where it has no plan.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let path = folder.join(INDEX);
    let no_plan = |why: String| Error::from(PlanError::NoPlan(folder.to_owned(), why));
    if !files::is_file(&path) {
        return Err(no_plan(format!("it has no {INDEX}")));
    }
    let index: Value = serde_json::from_str(&files::read_text(&path)?)
        .map_err(|error| no_plan(format!("{INDEX}: {error}")))?;
    let points = index["points"].as_array();
    let points = points.ok_or_else(|| no_plan(format!("{INDEX} has no `points`")))?;
    let file = |row: &Value| row["file"].as_str().map(|file| folder.join(file));
    let files: Option<Vec<PathBuf>> = points.iter().map(file).collect();
    files.ok_or_else(|| no_plan(format!("{INDEX} has a point without `file`")))
}

/// The key of the point whose result is found by `inputs`.
fn key(inputs: &Value) -> String {
    files::checksum(inputs.to_string().as_bytes())
}

/// Removes the plan in `folder`, if there is one.
fn clear(folder: &Path) -> Result<(), Error> {
    for name in files::names(folder)? {
        let is_own = [INDEX, POINTS, texts::FOLDER].contains(&name.as_str());
        if !is_own && !name.starts_with(INDEX) {
            return Err(PlanError::Taken {
                folder: folder.to_owned(),
                name,
            }
            .into());
        }
    }
    // The index first: without it the rest is no plan.
    files::remove(&folder.join(INDEX))?;
    let points = folder.join(POINTS);
    for name in files::names(&points)? {
        files::remove(&points.join(name))?;
    }
    Ok(())
}

struct Writer<'a> {
    folder: &'a Path,
    store: &'a Store,
    program: &'static str,
    texts: TextsWritten<'a>,
    /// Drives that were written and read back, by their data.
    drives: BTreeSet<String>,
    /// The same of workloads.
    inputs: BTreeSet<String>,
}

impl Writer<'_> {
    /// The text of the file of `point`, whose key is `key`. What it has of drive and workloads is read back once: a point
    /// that would not be the same elsewhere is no plan.
    fn point(&mut self, point: &Point, key: &str) -> Result<String, Error> {
        let data = PointData::of(point, key, self.program, self.store, &mut self.texts)?;
        let text = data.text()?;
        let texts = TextsRead::new(self.folder);
        let drive = serde_json::to_string(&data.drive).map_err(PlanError::defect)?;
        if self.drives.insert(drive) {
            let mut state = point.setup.state;
            let profile = data.drive.read(&texts, &mut state)?;
            if profile.checksum() != point.setup.profile.checksum() {
                return Err(PlanError::NotTheSame("its drive").into());
            }
        }
        if data.state.read()? != point.setup.state {
            return Err(PlanError::NotTheSame("the state of its drive").into());
        }
        for (data, input) in data.inputs().into_iter().zip(inputs_of(point)) {
            let written = serde_json::to_string(data).map_err(PlanError::defect)?;
            if self.inputs.insert(written) && data.read(&texts)?.identity()? != input.identity()? {
                return Err(PlanError::NotTheSame("its workload").into());
            }
        }
        Ok(text)
    }
}

/// The workloads of `point`, in the order of [`PointData::inputs`].
fn inputs_of(point: &Point) -> Vec<&Input> {
    let burn_in = point.setup.burn_in.as_ref();
    let burn_in = burn_in.and_then(|by| by.workload.as_deref());
    let probe = point
        .life
        .as_ref()
        .and_then(|terms| terms.probe_job.as_ref());
    let all = [
        Some(&*point.setup.input),
        burn_in,
        probe.map(|job| &*job.input),
    ];
    all.into_iter().flatten().collect()
}

/// A point that was read.
#[derive(Debug)]
pub struct Planned {
    pub point: Point,
    /// What the folder of its result has results of: the kind, the name, and what the front end decides of its files.
    pub kind: String,
    pub name: String,
    pub front_end: Value,
}

/// Reads points. Those of one reader share their drives and workloads.
#[derive(Default, Debug)]
pub struct Reader {
    drives: BTreeMap<String, Profile>,
    inputs: BTreeMap<String, Arc<Input>>,
}

impl Reader {
    /// The point in the file at `path`.
    ///
    /// # Errors
    /// [`PlanError`] where it is no point, one of another version or program, or not what was planned any more: a trace
    /// with another content, a file that was edited.
    pub fn read(&mut self, path: &Path) -> Result<Planned, Error> {
        let planned = self.point(path);
        planned.map_err(|error| error.of(path.display().to_string()))
    }

    fn point(&mut self, path: &Path) -> Result<Planned, Error> {
        let text = files::read_text(path)?;
        let data = PointData::parse(&text)?;
        let program = program::identity()?;
        data.check_program(program)?;
        // Points lie in a folder of the plan.
        let folder = path.parent().and_then(Path::parent);
        let folder: PathBuf = match folder {
            Some(folder) => folder.to_owned(),
            None => "..".into(),
        };
        let texts = TextsRead::new(&folder);
        let mut state = data.state.read()?;
        let drive = serde_json::to_string(&data.drive).map_err(PlanError::defect)?;
        let profile = match self.drives.get(&drive) {
            Some(profile) => profile.clone(),
            None => {
                let profile = data.drive.read(&texts, &mut state)?;
                self.drives.insert(drive, profile.clone());
                profile
            }
        };
        let mut inputs = Vec::new();
        for data in data.inputs() {
            let written = serde_json::to_string(data).map_err(PlanError::defect)?;
            let input = match self.inputs.get(&written) {
                Some(input) => Arc::clone(input),
                None => {
                    let input = Arc::new(data.read(&texts)?);
                    self.inputs.insert(written, Arc::clone(&input));
                    input
                }
            };
            inputs.push(input);
        }
        let (key, front_end) = (data.key.clone(), data.store.front_end.clone());
        let (kind, name) = (data.store.kind.clone(), data.store.name.clone());
        let point = data.point(profile, state, inputs)?;
        point.setup.check_inputs()?;
        let inputs = Store::found_with(point.inputs(program)?, &front_end);
        if self::key(&inputs) != key {
            return Err(PlanError::Edited.into());
        }
        Ok(Planned {
            point,
            kind,
            name,
            front_end,
        })
    }
}
