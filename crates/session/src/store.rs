//! Results of simulations on disk. Each point has a file, which also lists everything that the result
//! depends on. A point whose file has the same inputs is not run again, so an interrupted matrix
//! resumes. The same inputs give the same bytes. Run time and memory of a simulation are in a separate file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::StoreError;
use crate::files;
use crate::finished::Finished;
use crate::input::Input;
use crate::life::{self, Terms};
use crate::results;
use crate::setup::Setup;

/// A folder of results, or results that are kept for this run alone.
#[derive(Debug)]
pub struct Store {
    folder: Option<PathBuf>,
    kind: &'static str,
    with_results: bool,
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
    /// Its whole result, run time and memory included; null unless [`Store::with_results`] asks for it.
    pub result: Value,
}

/// Everything that the result of `setup` depends on.
pub fn inputs(setup: &Setup) -> Value {
    let mut inputs = json!({
        "version": results::VERSION,
        "commit": results::COMMIT,
        "seed": setup.seed,
        "workload_seed": setup.state.workload_seed,
        "config": results::config(setup),
    });
    if let Input::Trace(trace) = &*setup.input {
        inputs["trace"] = trace.identity();
    }
    inputs
}

/// The same of a life that is asked for by `terms`.
pub(crate) fn inputs_of_life(setup: &Setup, terms: &Terms) -> Value {
    let mut inputs = inputs(setup);
    inputs["life"] = json!({
        "until": terms.until.to_string(),
        "wear_rate": terms.wear_rate,
        "warranty_years": terms.warranty_years,
        "drive_writes_a_day": terms.drive_writes_a_day,
        "probe_requests": terms.probe_requests,
    });
    inputs
}

/// All that a drive of `setup` depends on once it is burnt in; none where it is not burnt in.
pub(crate) fn burnt_in(setup: &Setup) -> Option<Value> {
    let by = setup.burn_in_input()?;
    let mut inputs = inputs(setup);
    let config = inputs["config"].as_object_mut()?;
    config.remove("limit");
    config.insert("workload".into(), results::workload(by));
    config.insert(
        "hottest_in_run_c".into(),
        setup.state.hottest_in_run_c.into(),
    );
    if let Some(by) = config.get_mut("burn_in").and_then(Value::as_object_mut) {
        by.remove("workload");
    }
    Some(inputs)
}

impl Store {
    /// Opens or makes the `folder` of results of the `kind` called `name`, say of the study `ct-qlc`. The file
    /// `study.json` in it names the owner of the folder.
    ///
    /// # Errors
    /// [`StoreError`] where the folder belongs to something else or cannot be written.
    pub fn open(folder: &Path, kind: &'static str, name: &str) -> Result<Store, StoreError> {
        let file = format!("{kind}.json");
        let mark = folder.join(&file);
        if files::is_file(&mark) {
            let whose = read(&mark)?;
            if whose[kind] != name {
                return Err(StoreError::Taken {
                    folder: folder.to_owned(),
                    kind,
                    whose: whose[kind].clone(),
                });
            }
        } else {
            let text = results::text(&json!({ kind: name }));
            files::write(folder, &[(file.into(), text.into_bytes())])?;
        }
        Ok(Store {
            folder: Some(folder.to_owned()),
            kind,
            with_results: false,
        })
    }

    /// Results of this run alone, of the `kind`: nothing is written.
    pub fn in_memory(kind: &'static str) -> Store {
        Store {
            folder: None,
            kind,
            with_results: false,
        }
    }

    /// The same, with the whole result of each simulation in memory ([`Kept::result`]).
    pub fn with_results(self) -> Store {
        Store {
            with_results: true,
            ..self
        }
    }

    /// Path of the result called `name`, below the folder.
    fn file(name: &str) -> String {
        format!("points/{name}.json")
    }

    /// Path of the file with its run time and memory, which differ from run to run.
    fn wall_file(name: &str) -> String {
        format!("wall/{name}.json")
    }

    /// Key of how long a simulation took (s).
    fn wall_key(&self) -> String {
        format!("{}_wall_seconds", self.kind)
    }

    /// The result called `name`, where it was kept from the same `inputs`.
    ///
    /// # Errors
    /// [`StoreError`] where its file is damaged or cannot be read.
    pub fn kept(&self, name: &str, inputs: &Value) -> Result<Option<Kept>, StoreError> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let path = folder.join(Store::file(name));
        if !files::is_file(&path) {
            return Ok(None);
        }
        let mut value = read(&path)?;
        let Some(values) = value["metrics"].as_object() else {
            let kind = self.kind;
            return Err(StoreError::NoResult { path, kind });
        };
        if value["inputs"] != *inputs {
            return Ok(None);
        }
        let values = values.clone();
        let wall = folder.join(Store::wall_file(name));
        let wall = match files::is_file(&wall) {
            true => read(&wall)?,
            false => Value::Null,
        };
        Ok(Some(Kept {
            values,
            ended: ended(&value["result"]),
            wall_s: wall[self.wall_key()].as_f64().unwrap_or(0.0),
            result: self.whole(value["result"].take(), &wall),
        }))
    }

    /// `result` with what the machine decides, where results are asked for.
    fn whole(&self, mut result: Value, wall: &Value) -> Value {
        if !self.with_results {
            return Value::Null;
        }
        let of_machine = wall.as_object().into_iter().flatten();
        for (key, value) in of_machine.filter(|(key, _)| **key != self.wall_key()) {
            result["firstread"][key] = value.clone();
        }
        result
    }

    /// Stores what `setup` came to under `name`, with the `values` computed from that.
    ///
    /// # Errors
    /// [`StoreError`] where a file cannot be written.
    pub fn keep(
        &self,
        name: &str,
        setup: &Setup,
        inputs: &Value,
        values: Map<String, Value>,
        finished: &Finished,
    ) -> Result<Kept, StoreError> {
        let (result, mut wall, wall_s) = match finished {
            Finished::Run(outcome) => {
                let (result, wall) = results::result_and_wall(setup, outcome, false);
                (result, wall, outcome.wall.prepare_s + outcome.wall.run_s)
            }
            Finished::Life(of) => (life::json(&of.life, &of.outcome), json!({}), of.wall_s),
        };
        wall[self.wall_key()] = wall_s.into();
        let value = json!({
            "inputs": inputs,
            "metrics": values,
            "result": result,
        });
        let page = |name: String, value| (name.into(), results::text(value).into_bytes());
        let pages = [
            page(Store::file(name), &value),
            page(Store::wall_file(name), &wall),
        ];
        if let Some(folder) = &self.folder {
            files::write(folder, &pages)?;
        }
        Ok(Kept {
            ended: ended(&result),
            result: self.whole(result, &wall),
            values,
            wall_s,
        })
    }
}

/// How a run or a life ended, as its `result` has it.
fn ended(result: &Value) -> String {
    let of_run = result["firstread"]["ended"].as_str();
    let ended = of_run.or(result["ended"].as_str());
    ended.unwrap_or_default().to_owned()
}

fn read(path: &Path) -> Result<Value, StoreError> {
    serde_json::from_str(&files::read_text(path)?).map_err(|error| StoreError::Damaged {
        path: path.to_owned(),
        error,
    })
}
