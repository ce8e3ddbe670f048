//! Results of simulations on disk. A file a point, with all that it depends on: a point whose file
//! says the same is not run again, so a study that was interrupted goes on where it was. The same
//! inputs give the same bytes; how long a simulation took, and its memory, is in a file apart.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use firstread_session::{Outcome, files, results};
use serde_json::{Map, Value, json};

use super::plan::Point;

/// The folder of a study's results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What is kept of a simulation.
#[derive(Clone, Debug)]
pub struct Kept {
    pub metrics: Map<String, Value>,
    /// How the run ended, as its result says.
    pub ended: String,
    /// How long it took (s); 0 where that is not known any more.
    pub wall_s: f64,
}

/// The file that says whose results a folder holds.
const MARK: &str = "study.json";

impl Store {
    /// Opens or makes the folder of the study called `name`.
    pub fn open(folder: &Path, name: &str) -> Result<Store> {
        let mark = folder.join(MARK);
        if files::is_file(&mark) {
            let whose = read(&mark)?;
            if whose["study"] != name {
                bail!(
                    "{}: holds results of the study {}; choose another folder",
                    folder.display(),
                    whose["study"]
                );
            }
        } else {
            let text = results::text(&json!({ "study": name }));
            files::write(folder, &[(MARK.into(), text.into_bytes())])?;
        }
        Ok(Store {
            folder: folder.to_owned(),
        })
    }

    /// The result of `point`, where it was kept from the same `inputs`.
    pub fn kept(&self, point: &Point<'_>, inputs: &Value) -> Result<Option<Kept>> {
        let path = self.folder.join(point.file());
        if !files::is_file(&path) {
            return Ok(None);
        }
        let value = read(&path)?;
        let Some(metrics) = value["metrics"].as_object() else {
            bail!(
                "{}: not a result of a study; delete it and it is made anew",
                path.display()
            );
        };
        if value["inputs"] != *inputs {
            return Ok(None);
        }
        let wall = self.folder.join(point.wall_file());
        let wall_s = match files::is_file(&wall) {
            true => read(&wall)?["study_wall_seconds"].as_f64(),
            false => None,
        };
        Ok(Some(Kept {
            metrics: metrics.clone(),
            ended: value["result"]["firstread"]["ended"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            wall_s: wall_s.unwrap_or(0.0),
        }))
    }

    /// Keeps the result of `point`.
    pub fn keep(
        &self,
        point: &Point<'_>,
        inputs: &Value,
        metrics: Map<String, Value>,
        outcome: &Outcome,
    ) -> Result<Kept> {
        let wall_s = outcome.wall.prepare_s + outcome.wall.run_s;
        let (result, mut wall) = results::result_and_wall(&point.setup, outcome, false);
        let value = json!({
            "inputs": inputs,
            "metrics": metrics,
            "result": result,
        });
        wall["study_wall_seconds"] = wall_s.into();
        let page = |name: String, value| (name.into(), results::text(value).into_bytes());
        let pages = [page(point.file(), &value), page(point.wall_file(), &wall)];
        files::write(&self.folder, &pages)?;
        Ok(Kept {
            metrics,
            ended: results::ended(outcome.stats.ended).to_owned(),
            wall_s,
        })
    }
}

fn read(path: &Path) -> Result<Value> {
    serde_json::from_str(&files::read_text(path)?)
        .with_context(|| format!("{}: damaged; delete it and it is made anew", path.display()))
}
