//! Results of simulations on disk. A file a point, with all that it depends on: a point whose file
//! says the same is not run again, so a study that was interrupted goes on where it was.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::plan::Point;
use crate::files;
use crate::output::json;
use crate::simulate::Outcome;

/// The folder of a study's results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What is kept of a simulation.
#[derive(Clone, Debug)]
pub struct Kept {
    pub metrics: Map<String, Value>,
    /// How long it took (s).
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
            let text = json::text(&json!({ "study": name }));
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
        let (Some(metrics), Some(wall_s)) =
            (value["metrics"].as_object(), value["wall_seconds"].as_f64())
        else {
            bail!(
                "{}: not a result of a study; delete it and it is made anew",
                path.display()
            );
        };
        Ok((value["inputs"] == *inputs).then(|| Kept {
            metrics: metrics.clone(),
            wall_s,
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
        let value = json!({
            "inputs": inputs,
            "metrics": metrics,
            "result": json::result(&point.setup, outcome, false),
            "wall_seconds": wall_s,
        });
        let text = json::text(&value);
        files::write(&self.folder, &[(point.file().into(), text.into_bytes())])?;
        Ok(Kept { metrics, wall_s })
    }
}

fn read(path: &Path) -> Result<Value> {
    serde_json::from_str(&files::read_text(path)?)
        .with_context(|| format!("{}: damaged; delete it and it is made anew", path.display()))
}
