//! Every published number that a shipped study is about is a claim of it or an input, and no claim but `ours.*` is
//! about anything else. The rows stand beside each study, in `published.csv`.
#![allow(clippy::disallowed_methods)] // tests open files

use std::fs;
use std::path::{Path, PathBuf};

use firstread_session::study::plan::{self, Inputs};
use firstread_session::study::spec::Study;
use firstread_session::study::{STUDIES, facts, sources};

/// Folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A row of a table of published numbers: its id, its value and its unit.
fn rows(text: &str) -> Vec<[String; 3]> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name| head.iter().position(|h| *h == name).unwrap();
    let columns = ["id", "value", "unit"].map(column);
    let row = |line: &str| {
        assert!(!line.contains('"'), "a comma within a cell: {line}");
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), head.len(), "{line}");
        columns.map(|column| cells[column].to_owned())
    };
    lines.map(row).collect()
}

fn of_study(name: &str) -> Vec<[String; 3]> {
    let path = format!("{ROOT}/studies/{name}/published.csv");
    rows(&fs::read_to_string(path).unwrap())
}

#[test]
fn smoke_every_published_row_is_a_claim_or_an_input() {
    for (name, text) in STUDIES {
        let study = Study::parse(name, text).unwrap();
        let rows = of_study(name);
        for [id, value, unit] in &rows {
            let claim = study.claims.iter().find(|claim| claim.id == *id);
            let claim = claim.unwrap_or_else(|| panic!("{name}: no claim for the row {id}"));
            assert_eq!(claim.published, *value, "{id}");
            if !value.is_empty() {
                assert_eq!(claim.unit, *unit, "{id}");
            }
        }
        for claim in &study.claims {
            let is_row = rows.iter().any(|[id, ..]| *id == claim.id);
            assert!(
                is_row != claim.is_ours(),
                "{name}: {}: no published row",
                claim.id
            );
        }
    }
}

/// The table that all papers' rows are collected in, if it lies beside the repository.
fn collected() -> Option<PathBuf> {
    let mut folders = Path::new(ROOT).canonicalize().unwrap();
    while folders.pop() {
        let path = folders.join("shared/published.csv");
        if path.is_file() {
            return Some(path);
        }
    }
    None
}

#[test]
fn smoke_rows_of_studies_are_those_that_were_collected() {
    let Some(path) = collected() else {
        println!(
            "SKIPPED: no shared/published.csv beside the repository: rows that were added there are not seen"
        );
        return;
    };
    let all = rows(&fs::read_to_string(path).unwrap());
    for (name, _) in STUDIES {
        // Its rows are of many papers, collected in its own table.
        if *name == "medium" {
            continue;
        }
        let own = of_study(name);
        let prefix = |id: &str| id.split('.').next().unwrap_or_default().to_owned();
        let of = prefix(&own[0][0]);
        let there: Vec<_> = all.iter().filter(|[id, ..]| prefix(id) == of).collect();
        for row in &there {
            assert!(
                own.contains(row),
                "{name}: the row {row:?} is missing or has changed"
            );
        }
        assert_eq!(
            own.len(),
            there.len(),
            "{name}: a row that was not collected"
        );
    }
}

/// A row that the source of a shipped profile names is one.
#[test]
fn smoke_rows_that_profiles_name_are_published() {
    let all: Vec<String> = STUDIES
        .iter()
        .flat_map(|(name, _)| of_study(name))
        .map(|[id, ..]| id)
        .collect();
    let studies: Vec<&str> = all.iter().filter_map(|id| id.split('.').next()).collect();
    let mut named = 0;
    for folder in ["chips", "drives"] {
        for entry in fs::read_dir(format!("{ROOT}/profiles/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            for row in sources::rows(&text) {
                let of_study = row
                    .split('.')
                    .next()
                    .is_some_and(|of| studies.contains(&of));
                // `ctqlc.fig3` of `ctqlc.fig3.avg`: no study has a file or key of such a name.
                if of_study {
                    assert!(
                        all.iter().any(|id| id == row),
                        "{}: no row {row}",
                        path.display()
                    );
                    named += 1;
                }
            }
        }
    }
    assert!(named > 0);
}

/// Points of a shipped study have names of their own, in the quick form and the full one, and each of its facts is known.
#[test]
fn smoke_shipped_studies_are_whole() {
    for (name, text) in STUDIES {
        let study = Study::parse(name, text).unwrap();
        let inputs = Inputs::open(&study, None).unwrap();
        for quick in [false, true] {
            let (points, _) = plan::points(&study, &inputs, &[], quick).unwrap();
            let mut files: Vec<String> = points.iter().map(|p| p.run.name.clone()).collect();
            files.sort();
            files.dedup();
            assert_eq!(files.len(), points.len(), "{name}: a file a point");
        }
        assert_eq!(
            facts(&study).unwrap().len(),
            study.claims.iter().filter(|c| c.fact.is_some()).count()
        );
    }
}
