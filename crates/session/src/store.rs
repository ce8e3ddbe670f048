//! Results of simulations on disk. Each point has a file, which also lists everything that the result
//! depends on. A point whose file has the same inputs is not run again, so an interrupted matrix
//! resumes. The same inputs give the same bytes. Run time and memory of a simulation are in a separate file.
//!
//! A file is the result as `--json` prints it, so fio's tools read it. What the store needs beside that is below one key of
//! it, [`OWN`] and [`KEPT`]. A file carries a checksum of itself, and those of the pages that were written with it. What does not match is made anew,
//! and the reason is told ([`How`]).

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use crate::claim::{self, Claiming};
use crate::error::{Error, StoreError, WallError};
use crate::files::{self, Page};
use crate::finished::Finished;
use crate::input::Input;
use crate::life::{self, Terms};
use crate::program;
use crate::results;
use crate::setup::{BurnInSetup, Setup};
use crate::watched::Watched;
use whole::{Bad, KEPT, MOST_RESULT_MIB, OWN, Parsed};
pub(crate) use whole::{Whole, result_with_checksum, results_in};

/// The form of the files of a store. Another number is refused.
const FORM: u64 = 3;
/// The file by which a folder is known as a store.
pub(crate) const MARK: &str = "store.json";

/// A folder of results, or results that are kept for this run alone.
#[derive(Debug)]
pub struct Store {
    folder: Option<PathBuf>,
    kind: &'static str,
    name: String,
    with_results: bool,
    /// Text of the file that says what the folder is for, where that is not written yet.
    mark: Option<String>,
    /// What the front end decides of the files of a result.
    front_end: Value,
    /// Size limit of a result (bytes).
    most_bytes: u64,
    /// Whether points that other processes are making are left to them.
    leaves_held: bool,
    /// Files of this run that have to be there at its end.
    written: Mutex<Vec<PathBuf>>,
}

/// What is kept of a simulation.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Values computed from its outcome.
    pub values: Map<String, Value>,
    /// How the run ended, as written in its result.
    pub ended: String,
    /// Run time (s); 0 if it is unknown.
    pub wall_s: f64,
    /// Run time and memory, as results have them; empty if they are unknown.
    pub wall: Map<String, Value>,
    /// Why run time and memory of a result that was found are unknown.
    pub no_wall: Option<String>,
    /// Whether it was found.
    pub how: How,
    /// Its whole result as text, without run time and memory; empty unless [`Store::with_results`] asks for it.
    text: String,
}

/// How a result was come by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// It was in the store.
    Found,
    /// It was run: nothing of that name was in the store.
    Run,
    /// It was run, though something of that name was in the store: why that was not it.
    RunAnew(String),
}

impl Kept {
    /// Its result, the same for the same inputs; null unless [`Store::with_results`] asks for it.
    pub fn result(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The same with what the machine decides: run time and memory.
    pub fn result_and_wall(&self) -> Value {
        let mut result = self.result();
        if result["firstread"].is_object() {
            for (key, value) in &self.wall {
                result["firstread"][key] = value.clone();
            }
        }
        result
    }
}

/// What a store has of a point.
pub(crate) enum Search {
    Found(Box<Kept>),
    /// Nothing of its name.
    Nothing,
    /// Something that is not its result, for this reason.
    Not(String),
}

/// In place of the program, where what is compared is of one run of it.
pub(crate) const THIS_RUN: &str = "";

/// Everything that the result of `setup` depends on.
///
/// # Errors
/// [`Error`] where the file of a trace, or the running program, cannot be read.
pub fn inputs(setup: &Setup) -> Result<Value, Error> {
    inputs_by(program::identity()?, setup)
}

/// The same, where `program` runs.
pub(crate) fn inputs_by(program: &str, setup: &Setup) -> Result<Value, Error> {
    // A field that is added has to be decided on here. State and profile are taken as a whole.
    let Setup {
        input,
        profile,
        state,
        seed,
        limit,
        burn_in,
        interrupt: _,
        split,
        watched,
    } = setup;
    let burn_in = match burn_in {
        None => Value::Null,
        Some(BurnInSetup {
            workload,
            most_drive_writes,
        }) => json!({
            "workload": workload.as_deref().map(Input::identity).transpose()?,
            "most_drive_writes": most_drive_writes,
        }),
    };
    let mut inputs = json!({
        "version": results::VERSION,
        "program": program,
        "seed": seed,
        "workload_seed": state.workload_seed,
        "limit": limit,
        "workload": input.identity()?,
        "burn_in": burn_in,
        "config": results::config(setup),
        "state": format!("{state:?}"),
        "profile": profile.checksum(),
    });
    // Results without them are found as before.
    let Watched {
        interval,
        fio_logs: _,
        log: _,
        trace: _,
    } = watched;
    if let Some(interval) = interval {
        inputs["interval_ns"] = interval.0.into();
    }
    if let Some(split) = split {
        inputs["split"] = split.parts.into();
    }
    if watched.has_fio_logs(input) {
        inputs["fio_logs"] = true.into();
    }
    Ok(inputs)
}

/// The same of a life that is asked for by `terms`.
pub(crate) fn inputs_of_life(program: &str, setup: &Setup, terms: &Terms) -> Result<Value, Error> {
    let mut inputs = inputs_by(program, setup)?;
    let Terms {
        until,
        wear_rate,
        warranty_years,
        drive_writes_a_day,
        probe_requests,
        probe_job,
    } = terms;
    let probe_job = match probe_job {
        None => Value::Null,
        Some(job) => json!({
            "workload": job.input.identity()?,
            "requests": job.requests,
            "precondition": format!("{:?}", job.precondition),
        }),
    };
    inputs["life"] = json!({
        "until": format!("{until:?}"),
        "wear_rate": wear_rate,
        "warranty_years": warranty_years,
        "drive_writes_a_day": drive_writes_a_day,
        "probe_requests": probe_requests,
        "probe_job": probe_job,
    });
    Ok(inputs)
}

/// All that a drive of `setup` depends on once it is burnt in; none where it is not burnt in.
pub(crate) fn burnt_in(setup: &Setup) -> Result<Option<Value>, Error> {
    let Some(by) = setup.burn_in_input() else {
        return Ok(None);
    };
    let mut inputs = inputs_by(THIS_RUN, setup)?;
    // How long a drive is measured, and by what, is no part of what it is before that. So points that differ in these
    // alone share one burnt-in drive.
    inputs["limit"] = Value::Null;
    inputs["workload"] = by.identity()?;
    inputs["burn_in"]["workload"] = Value::Null;
    // What is measured stands there too.
    inputs["config"] = Value::Null;
    if let Some(inputs) = inputs.as_object_mut() {
        for of_run in ["interval_ns", "fio_logs", "split"] {
            inputs.remove(of_run);
        }
    }
    Ok(Some(inputs))
}

/// The first value in which `one` and `other` differ, and both as they stand there.
fn difference(path: &str, one: &Value, other: &Value) -> Option<String> {
    if one == other {
        return None;
    }
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    if let (Value::Object(a), Value::Object(b)) = (one, other) {
        let null = Value::Null;
        let keys = b.keys().chain(a.keys().filter(|key| !b.contains_key(*key)));
        let mut differ = keys.filter_map(|key| {
            let of = |map: &'_ Map<String, Value>| map.get(key).cloned().unwrap_or(null.clone());
            difference(&below(key), &of(a), &of(b))
        });
        return differ.next();
    }
    let short = |value: &Value| {
        let text = value.to_string();
        (text.chars().count() <= 60).then_some(text)
    };
    Some(match (short(one), short(other)) {
        (Some(was), Some(is)) => format!("`{path}` was {was} and is {is}"),
        _ => format!("`{path}` differs"),
    })
}

impl Store {
    /// Opens or makes the `folder` of results of the `kind` called `name`, say of the study `ct-qlc`. The file
    /// `store.json` in it names the owner of the folder.
    ///
    /// # Errors
    /// [`StoreError`] where the folder belongs to something else, has results in another form, or cannot be written.
    pub fn open(folder: &Path, kind: &'static str, name: &str) -> Result<Store, StoreError> {
        let mut store = Store::open_for_one(folder, kind, name)?;
        if let Some(text) = store.mark.take() {
            files::write(folder, &[(MARK.into(), text.into_bytes())])?;
            store.have(folder.join(MARK));
        }
        Ok(store)
    }

    /// The same for a single result, before which nothing is written.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_for_one(
        folder: &Path,
        kind: &'static str,
        name: &str,
    ) -> Result<Store, StoreError> {
        let mark = folder.join(MARK);
        let owner = json!({ "form": FORM, "kind": kind, "name": name });
        let folder = folder.to_owned();
        files::check_folder(&folder)?;
        for below in ["points", "wall"] {
            files::check_folder(&folder.join(below))?;
        }
        let mut store = Store::in_memory(kind, name);
        if files::is_file(&mark) {
            let text = files::read_text(&mark)?;
            let whose: Value = serde_json::from_str(&text).unwrap_or_default();
            if whose["form"] != FORM {
                return Err(StoreError::OtherForm { folder });
            }
            if whose != owner {
                let word = |key: &str| whose[key].as_str().unwrap_or_default().to_owned();
                let whose = format!("{} {}", word("kind"), word("name"));
                let whose = whose.trim_end().to_owned();
                return Err(StoreError::Taken { folder, whose });
            }
            for below in ["", "points", "wall", claim::FOLDER] {
                files::sweep(&folder.join(below), |_| true);
            }
            claim::sweep(&folder);
            store.have(mark);
        } else if files::is_folder(&folder.join("points")) {
            return Err(StoreError::OtherForm { folder });
        } else {
            store.mark = Some(results::text(&owner));
        }
        store.folder = Some(folder);
        Ok(store)
    }

    /// Results of this run alone, of the `kind` called `name`: nothing is written.
    pub fn in_memory(kind: &'static str, name: &str) -> Store {
        Store {
            folder: None,
            kind,
            name: name.to_owned(),
            with_results: false,
            mark: None,
            front_end: Value::Null,
            most_bytes: MOST_RESULT_MIB << 20,
            leaves_held: false,
            written: Mutex::default(),
        }
    }

    /// The same, where what `decides` says is a part of what a result is found by: what the front end decides of its files.
    pub fn by_front_end(self, decides: Value) -> Store {
        Store {
            front_end: decides,
            ..self
        }
    }

    /// All that a result is found by here, which depends on `inputs`.
    pub(crate) fn found_by(&self, inputs: Value) -> Value {
        Store::found_with(inputs, &self.front_end)
    }

    /// The same, where `front_end` is what the front end decides.
    pub(crate) fn found_with(mut inputs: Value, front_end: &Value) -> Value {
        inputs["front_end"] = front_end.clone();
        inputs
    }

    /// What it has results of.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// The name of that, say of a study.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the front end decides of the files of a result.
    pub(crate) fn front_end(&self) -> &Value {
        &self.front_end
    }

    /// The same, with the whole result of each simulation in memory ([`Kept::result`]).
    pub fn with_results(self) -> Store {
        Store {
            with_results: true,
            ..self
        }
    }

    /// The same, where points that other processes are making are left to them, and not waited for.
    pub fn leaving_held(self) -> Store {
        Store {
            leaves_held: true,
            ..self
        }
    }

    /// Whether it waits for points that other processes are making.
    pub(crate) fn waits(&self) -> bool {
        !self.leaves_held
    }

    /// Claims the point called `name` for this process; none where nothing is written, and nobody else could.
    ///
    /// # Errors
    /// [`StoreError`] where a claim cannot be written, or the folder has been deleted.
    pub(crate) fn claim(&self, name: &str) -> Result<Option<Claiming>, StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        self.check_mark(folder)?;
        let claimed = claim::claim(folder, name);
        if claimed.is_err() {
            self.check_mark(folder)?;
        }
        Ok(Some(claimed?))
    }

    /// That the folder has not been deleted: it is not made anew with what happens to end, or to begin, after that.
    fn check_mark(&self, folder: &Path) -> Result<(), StoreError> {
        let mark = folder.join(MARK);
        match self.mark.is_none() && !files::is_file(&mark) {
            true => Err(StoreError::Gone { path: mark }),
            false => Ok(()),
        }
    }

    /// Key of how long a simulation took (s).
    fn wall_key(&self) -> String {
        format!("{}_wall_seconds", self.kind)
    }

    /// Whether there is a folder that is written to.
    pub(crate) fn is_written(&self) -> bool {
        self.folder.is_some()
    }

    /// The result called `name`, where it was kept from the same `inputs`.
    ///
    /// # Errors
    /// [`StoreError`] where its file cannot be read, or is not a result.
    pub(crate) fn search(&self, name: &str, inputs: &Value) -> Result<Search, StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(Search::Nothing);
        };
        let path = folder.join(whole::file(name));
        if files::is_folder(&path) {
            return Err(StoreError::IsFolder { path });
        }
        if !files::is_file(&path) {
            return Ok(Search::Nothing);
        }
        let bytes = files::read_up_to(&path, self.most_bytes)?;
        let Parsed { value, kept, .. } = match whole::parse(bytes) {
            Ok(parsed) => parsed,
            Err(Bad::Damaged(why)) => {
                return Ok(Search::Not(format!("{} is damaged: {why}", path.display())));
            }
            Err(Bad::NoResult) => {
                let kind = self.kind;
                return Err(StoreError::NoResult { path, kind });
            }
        };
        if let Some(what) = difference("", &kept["inputs"], inputs) {
            return Ok(Search::Not(format!("{}: {what}", path.display())));
        }
        // A table or picture that was edited or lost since would otherwise be passed on as the result of this run.
        if let Some(page) = whole::changed_page(folder, &kept) {
            let page = page.display();
            return Ok(Search::Not(format!("{page} is not as it was written")));
        }
        let wall = folder.join(whole::wall_file(name));
        let (wall, no_wall) = match read_wall(&wall) {
            Ok(wall) => (wall, None),
            Err(why) => (Map::new(), Some(format!("{}: {why}", wall.display()))),
        };
        self.have(path);
        let values = kept["metrics"].as_object().cloned().unwrap_or_default();
        let kept = self.kept(values, &without_kept(value), wall, How::Found);
        Ok(Search::Found(Box::new(Kept { no_wall, ..kept })))
    }

    /// The file called `page` of a result that was found. Its checksum was the right one then.
    ///
    /// # Errors
    /// [`StoreError`] where there is no folder, or the file cannot be read, is no text any more or larger than a result.
    pub fn page(&self, page: &str) -> Result<String, StoreError> {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let path = folder.join(page);
        let bytes = files::read_up_to(&path, self.most_bytes)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.ok_or(StoreError::Gone { path })
    }

    /// The result `result` with the `values` computed from its outcome, and the `wall` that it took.
    fn kept(
        &self,
        values: Map<String, Value>,
        result: &Value,
        mut wall: Map<String, Value>,
        how: How,
    ) -> Kept {
        let wall_s = wall.shift_remove(&self.wall_key());
        Kept {
            values,
            ended: ended(result),
            wall_s: wall_s.and_then(|s| s.as_f64()).unwrap_or(0.0),
            wall,
            no_wall: None,
            how,
            text: match self.with_results {
                true => result.to_string(),
                false => String::new(),
            },
        }
    }

    /// The file at `path` has to be there at the end.
    fn have(&self, path: PathBuf) {
        if let Ok(mut written) = self.written.lock() {
            written.push(path);
        }
    }

    /// Whether all that was found or written in this run is still there.
    fn check(&self) -> Result<(), StoreError> {
        let written = self.written.lock();
        let gone = written
            .iter()
            .flat_map(|paths| paths.iter())
            .find(|path| !files::is_file(path));
        match gone {
            Some(path) => Err(StoreError::Gone { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Writes `pages` beside the results: tables of all of them. Nothing is written where there is no folder.
    ///
    /// # Errors
    /// [`StoreError`] where a page cannot be written, or a result of this run has been deleted.
    pub fn write(&self, pages: &[Page]) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        self.check()?;
        Ok(files::write(folder, pages)?)
    }

    /// Writes `pages` of what `name` has come to so far: nothing is found by that name afterwards.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub(crate) fn write_part(&self, name: &str, pages: &[Page]) -> Result<(), StoreError> {
        if let Some(folder) = &self.folder {
            files::remove(&folder.join(whole::file(name)))?;
        }
        self.write(&self.marked(pages.to_vec()))
    }

    /// `pages`, with the file that says what the folder is for where that is not written yet.
    fn marked(&self, mut pages: Vec<Page>) -> Vec<Page> {
        let mark = self.mark.iter();
        pages.extend(mark.map(|text| (MARK.into(), text.clone().into_bytes())));
        pages
    }

    /// Stores what `setup` came to under `name`, with the `values` computed from that, and `pages` of it.
    ///
    /// # Errors
    /// [`StoreError`] where a file cannot be written, or the folder has been deleted.
    pub(crate) fn keep(
        &self,
        name: &str,
        inputs: &Value,
        made: Made<'_>,
        how: How,
    ) -> Result<Kept, StoreError> {
        let (result, mut wall, wall_s) = match made.finished {
            Finished::Run(outcome) => {
                let (result, wall) = results::result_and_wall(made.setup, outcome, false);
                let wall = wall.as_object().cloned().unwrap_or_default();
                (result, wall, outcome.wall.prepare_s + outcome.wall.run_s)
            }
            Finished::Life(of) => (life::json(&of.life, &of.outcome), Map::new(), of.wall_s),
        };
        wall.insert(self.wall_key(), wall_s.into());
        if let Some(folder) = &self.folder {
            self.check_mark(folder)?;
            let of_page = |(path, content): &Page| {
                let path = path.to_string_lossy().into_owned();
                (path, Value::from(files::checksum(content)))
            };
            let mut value = result.clone();
            value[OWN][KEPT] = json!({
                "inputs": inputs,
                "metrics": made.values,
                "files": made.pages.iter().map(of_page).collect::<Map<String, Value>>(),
            });
            let mut pages = self.marked(made.pages);
            let wall = with_checksum(&mut wall.clone().into());
            pages.push((whole::wall_file(name).into(), wall.into_bytes()));
            // The last one: it says that the others are there.
            let text = result_with_checksum(&mut value);
            if text.len() as u64 > self.most_bytes {
                let path = folder.join(whole::file(name));
                let (bytes, most_bytes) = (text.len() as u64, self.most_bytes);
                return Err(StoreError::TooLarge {
                    path,
                    bytes,
                    most_bytes,
                });
            }
            pages.push((whole::file(name).into(), text.into_bytes()));
            files::write(folder, &pages)?;
            self.have(folder.join(whole::file(name)));
        }
        Ok(self.kept(made.values, &result, wall, how))
    }
}

/// What a point came to, and what is made of that.
pub(crate) struct Made<'a> {
    pub setup: &'a Setup,
    /// What it came to.
    pub finished: &'a Finished,
    /// Values computed from that.
    pub values: Map<String, Value>,
    /// Files that are kept with it.
    pub pages: Vec<Page>,
}

/// Run time and memory of a result as the file at `path` has them.
fn read_wall(path: &Path) -> Result<Map<String, Value>, WallError> {
    if !files::is_there(path) {
        return Err(WallError::Missing);
    }
    let text = files::read_text(path).unwrap_or_default();
    let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.shift_remove("checksum");
        if with_checksum(&mut value) == text
            && let Some(map) = value.as_object_mut()
        {
            map.shift_remove("checksum");
            return Ok(std::mem::take(map));
        }
    }
    Err(WallError::Damaged)
}

/// `value`, to which a checksum of all else in it is added, as the text of its file.
fn with_checksum(value: &mut Value) -> String {
    let checksum = files::checksum(results::text(value).as_bytes());
    value["checksum"] = checksum.into();
    results::text(value)
}

/// The result that the file of a store holds, without what the store keeps with it.
fn without_kept(mut value: Value) -> Value {
    if let Some(own) = value.get_mut(OWN).and_then(Value::as_object_mut) {
        own.shift_remove(KEPT);
        // A life has no such key of its own.
        if own.is_empty()
            && let Some(result) = value.as_object_mut()
        {
            result.shift_remove(OWN);
        }
    }
    value
}

/// How a run or a life ended, as its `result` has it.
fn ended(result: &Value) -> String {
    let of_run = result["firstread"]["ended"].as_str();
    let ended = of_run.or(result["ended"].as_str());
    ended.unwrap_or_default().to_owned()
}

mod whole;

#[cfg(test)]
mod tests;
