#![allow(clippy::disallowed_methods, reason = "tests look into folders")]

use std::fs;

use serde_json::Map;

use super::*;
use crate::input::Input;
use crate::matrix::{Matrix, Point};
use crate::setup::Simulation;
use crate::store::{Store, result_with_checksum};

/// Folders of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("firstread-merge-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&folder.0);
        folder
    }

    /// A folder called `name` with the results of two seeds.
    fn with_results(&self, name: &str) -> PathBuf {
        let simulation = Simulation {
            drive: "bench-4g".into(),
            limit: Some(50),
            ..Simulation::of(Input::open("randread-4k-qd1").unwrap())
        };
        let setups = simulation.setup().unwrap().drives(2);
        let points = setups.into_iter().map(|setup| Point::new("a/b", setup));
        let points: Vec<Point> = points.collect();
        let folder = self.0.join(name);
        let store = Store::open(&folder, "drives", "a").unwrap();
        let matrix = Matrix {
            points: &points,
            threads: None,
            watch: &(),
        };
        matrix.kept(&store, |_, _| Map::new()).unwrap();
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Changes a result of `folder` as if it had been made so.
fn made_otherwise(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join("points/a-b_seed-2.json");
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut value);
    let kept = value["firstread"]["kept"].as_object_mut().unwrap();
    kept.shift_remove("checksum");
    fs::write(&path, result_with_checksum(&mut value)).unwrap();
}

/// Results by another program or version are refused, and so is another result of the same inputs, also where it has another name.
/// Nothing is written then.
#[test]
fn smoke_what_is_refused() {
    let folder = Folder::new("refused");
    let one = folder.with_results("one");
    let out = folder.0.join("out");
    for (name, key, says) in [
        ("program", "program", "were made by different programs"),
        ("version", "version", "were made by different versions"),
    ] {
        let other = folder.with_results(name);
        made_otherwise(&other, |value| {
            value["firstread"]["kept"]["inputs"][key] = "other".into();
        });
        let error = merge(&[one.clone(), other], &out).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("`other`"), "{error}");
        assert!(!out.exists());
    }
    let other = folder.with_results("result");
    made_otherwise(&other, |value| value["firstread"]["requests"] = 7.into());
    let error = merge(&[one.clone(), other.clone()], &out).unwrap_err();
    let says = error.to_string();
    assert!(says.contains("are of one point and differ"), "{says}");
    let renamed = other.join("points/other.json");
    fs::rename(other.join("points/a-b_seed-2.json"), renamed).unwrap();
    let error = merge(&[one.clone(), other], &out).unwrap_err().to_string();
    assert!(error.contains("other.json and "), "{error}");
    assert!(!out.exists());
    let merged = merge(&[one.clone(), one], &out).unwrap();
    assert_eq!(merged, Merged { results: 2, new: 2 });
}
