//! Pages of the documentation beside the tables and results that they are about. `INSTA_UPDATE=always` writes those
//! that are generated anew.
#![allow(
    clippy::disallowed_methods,
    reason = "pages are read and, where asked, written"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use firstread_core::Ns;
use firstread_core::params::{ParamKind, Role};
use firstread_drive::profile::{Kind, Library, Override, load_drive};
use firstread_firmware::observe::Counters;
use firstread_firmware::policy::AXES;
use firstread_session::split::Split;
use firstread_session::study::claim::KINDS;
use firstread_session::study::dimension::Dimension;
use firstread_session::study::metric::{Metric, Source};
use firstread_session::{BurnInSetup, Input, Simulation, Watched, results};
use firstread_workload::trace::{FORMATS, SPEC};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

/// That the generated page `name` is `text`.
pub fn check(name: &str, text: &str) {
    let path = page(name);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, text).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    let differs = there.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        there == text,
        "docs/{name} is stale: INSTA_UPDATE=always cargo test -p firstread-session --test all documented; first difference: \
         {differs:?}"
    );
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub fn table(text: &mut String, head: &str, rows: impl IntoIterator<Item = Vec<String>>) {
    let columns = head.split('|').count();
    writeln!(text, "| {head} |\n|{}", "---|".repeat(columns)).unwrap();
    for row in rows {
        let cells: Vec<String> = row.iter().map(|c| cell(c)).collect();
        writeln!(text, "| {} |", cells.join(" | ")).unwrap();
    }
    text.push('\n');
}

pub fn code(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("`{text}`"),
    }
}

#[test]
fn golden_the_reference_is_that_of_the_tables() {
    let mut text = String::from(
        "# Reference: schemes, metrics, counters, traces\n\nWritten from the tables in the code by a test, which fails \
         where this page is stale. Of a drive's own keys see [profile-keys.md](profile-keys.md).\n\n## Schemes\n\n\
         Choose one with `--scheme AXIS=NAME`, set a parameter with `--set AXIS.KEY=VALUE`.\n\n",
    );
    for axis in AXES {
        writeln!(text, "### `{}`\n\n{}\n", axis.name, axis.summary).unwrap();
        let role = |role| match role {
            Role::Baseline => "baseline",
            Role::Scheme => "scheme",
            Role::Oracle => "oracle",
        };
        let schemes = axis.schemes.iter();
        let rows = schemes.map(|s| {
            let cells = [
                code(s.name),
                role(s.role).into(),
                s.summary.into(),
                s.source.into(),
            ];
            cells.to_vec()
        });
        table(&mut text, "scheme | role | what it does | from", rows);
        let params = axis
            .schemes
            .iter()
            .flat_map(|s| s.params.iter().map(move |p| (s, p)));
        let rows: Vec<Vec<String>> = params
            .map(|(scheme, p)| {
                let (default, range) = match p.kind {
                    ParamKind::Number {
                        unit,
                        default,
                        min,
                        max,
                    } => (format!("{default} {unit}"), format!("{min} to {max}")),
                    ParamKind::Choice(words) => (words[0].to_owned(), words.join(", ")),
                    ParamKind::Flag(on) => (on.to_string(), "true, false".to_owned()),
                };
                vec![
                    code(scheme.name),
                    code(p.key),
                    default,
                    range,
                    p.doc.to_owned(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            table(
                &mut text,
                "scheme | parameter | default | range | what it does",
                rows,
            );
        }
    }
    text += "## Metrics\n\nOf a study's figures and claims: `firstread list metrics`.\n\n";
    let rows = Source::ALL.into_iter().flat_map(|source| {
        let metrics = Metric::of(source).into_iter();
        metrics.map(move |m| vec![code(m.name), source.name().into(), m.label.into()])
    });
    table(&mut text, "metric | of | what", rows);
    text += "## Coordinates\n\nIn which the points of a study can differ.\n\n";
    let rows = Dimension::ALL.map(|d| vec![code(d.name()), d.label().to_owned()]);
    table(&mut text, "coordinate | what", rows);
    text += "## Kinds of claims\n\n";
    let rows = KINDS.map(|row| vec![code(row.0), code(row.1), row.2.into()]);
    table(&mut text, "key | value | what", rows);
    text += "## Counters\n\nOf the firmware, in the run. JSON shows them under `firstread`: [output.md](output.md).\n\n";
    let mut rows = Vec::new();
    Counters::default().each_mut(&mut |row, counts| {
        let each = if counts.len() > 1 {
            " (a count a bin)"
        } else {
            ""
        };
        rows.push(vec![
            code(row.name),
            format!("{:?}{each}", row.unit),
            row.doc.into(),
        ]);
    });
    table(&mut text, "counter | unit | what", rows);
    text += "## Trace formats\n\nTold from the first records, or named with `--trace-format`.\n\n";
    let rows = FORMATS.iter().map(|f| {
        let columns: Vec<String> = f
            .columns
            .iter()
            .map(|c| format!("{} ({})", c.name, c.unit))
            .collect();
        let detected = f.detected.unwrap_or("never: name it");
        vec![
            code(f.name),
            f.summary.into(),
            columns.join(", "),
            detected.into(),
        ]
    });
    table(&mut text, "format | what | columns | recognized", rows);
    text += "### Columns of one's own\n\n`--trace-columns time:us,op,offset:B,size:B`: columns in their order.\n\n";
    let rows = SPEC.map(|row| vec![format!("`{}{}`", row.0, row.1), row.2.into()]);
    table(&mut text, "column | what", rows);
    check("reference.md", text.trim_end().to_owned().as_str());
}

#[test]
fn golden_keys_of_profiles_are_those_of_the_shipped_drives() {
    let library = Library::new();
    let mut text = String::from(
        "# Keys of a drive profile\n\nWritten by a test from the shipped profiles: each key with the value of the first \
         drive that has it, and where that is from or what it means. A profile of your own begins with `based_on = \
         \"ct-qlc\"` and says what differs; on the command line, `--set KEY=VALUE`. Parameters of schemes are in the \
         [reference](reference.md#schemes). An unknown key, unit or value is an error that names the nearest.\n\n",
    );
    let mut seen = BTreeSet::new();
    let schemes: BTreeSet<&str> = AXES.iter().map(|axis| axis.name).collect();
    let mut names = library.names(Kind::Drive);
    // The default drive first.
    names.sort_by_key(|name| *name != "dc-qlc-15t");
    for name in names {
        let drive = load_drive(&library, name, &[], AXES).unwrap();
        let new: Vec<_> = drive
            .resolved
            .iter()
            .filter(|e| {
                let first = e.path.split('.').next().unwrap();
                !schemes.contains(first) && seen.insert(e.path.clone())
            })
            .collect();
        if new.is_empty() {
            continue;
        }
        writeln!(
            text,
            "## `{name}`{}\n",
            if name == "dc-qlc-15t" {
                ""
            } else {
                ": further keys"
            }
        )
        .unwrap();
        let rows = new.into_iter().map(|e| {
            let value = format!("{} {}", e.value, e.unit);
            vec![code(&e.path), value.trim().to_owned(), e.source.clone()]
        });
        table(
            &mut text,
            "key | value | where from, or what it means",
            rows,
        );
    }
    check("profile-keys.md", text.trim_end().to_owned().as_str());
}

/// Keys of `firstread` in the results of several drives and loads.
fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let memory = [
        "dram.read_cache=4MiB",
        "dram.map_cache=256KiB",
        "schemes.read_ahead=sequential",
        "heat.enabled=true",
        "schemes.area=differential",
        "schemes.stream=fdp",
        "stream.handles=2",
    ];
    for set in [&memory[..], &[]] {
        let log = match set.is_empty() {
            true => "",
            false => "; firstread: host_log=50%\n",
        };
        let job = format!("[a]\nrw=randrw\nbs=4k\niodepth=8\nnorandommap\n{log}");
        let simulation = Simulation {
            drive: "bench-4g".into(),
            limit: Some(500),
            set: set.iter().map(|s| Override::parse(s).unwrap()).collect(),
            burn_in: set.is_empty().then_some(BurnInSetup {
                most_drive_writes: 0.01,
                ..BurnInSetup::BY_ITSELF
            }),
            watched: Watched {
                interval: Some(Ns::from_s(1)),
                ..Watched::default()
            },
            ..Simulation::of(Input::job_file("a", job).unwrap())
        };
        let reads = "[a]\nrw=randread\nnumber_ios=300\n".to_owned();
        let split = Simulation {
            split: Some(Split {
                parts: 2,
                threads: None,
            }),
            ..Simulation::of(Input::job_file("reads", reads).unwrap())
        };
        for simulation in [simulation, split] {
            let setup = simulation.setup().unwrap();
            let outcome = setup.simulate().unwrap();
            let result = results::result(&setup, &outcome, true);
            keys.extend(result["firstread"].as_object().unwrap().keys().cloned());
        }
    }
    keys
}

#[test]
fn golden_every_key_of_a_result_is_explained() {
    let text = fs::read_to_string(page("output.md")).unwrap();
    let (_, rest) = text.split_once("<!-- keys of firstread -->").unwrap();
    let (rows, _) = rest.split_once("<!-- end of keys -->").unwrap();
    let mut explained = BTreeSet::new();
    for row in rows.lines().filter(|line| line.starts_with("| `")) {
        let key = row.split(" | ").next().unwrap();
        let names = key.split('`').skip(1).step_by(2);
        for name in names {
            assert!(explained.insert(name.to_owned()), "`{name}` is there twice");
        }
    }
    let there = keys();
    let unexplained: Vec<_> = there.difference(&explained).collect();
    let stale: Vec<_> = explained.difference(&there).collect();
    assert!(
        unexplained.is_empty(),
        "docs/output.md does not explain {unexplained:?}"
    );
    assert!(
        stale.is_empty(),
        "docs/output.md explains {stale:?}, which no result has"
    );
}
