//! fio's tools on the JSON of a run: fio's own key paths, and pictures of fio-plot.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::commands::{command, output, run as run_command, target, works};
use crate::skips::skip;

/// The version of fio-plot that is known to draw.
const FIO_PLOT: &str = "fio-plot==1.1.21";
/// The version of fio whose key paths the tests know.
const FIO: &str = "fio-3.33";
/// Its job file and key paths.
const DATA: &str = "../crates/session/tests/data";

/// Depths and jobs of the pictures.
const DEPTHS: [&str; 4] = ["1", "4", "16", "64"];
const JOBS: [&str; 3] = ["1", "2", "4"];

/// Pictures: name, and options of fio-plot.
const PICTURES: [(&str, &str); 5] = [
    ("queue-depth", "-l -d 1 4 16 64 -n 1"),
    ("jobs", "-N -d 16 -n 1 2 4"),
    ("latency", "-H -d 16 -n 1"),
    ("iops-3d", "-L -t iops -d 1 4 16 64 -n 1 2 4"),
    ("latency-3d", "-L -t lat -d 1 4 16 64 -n 1 2 4"),
];

/// Runs it. A tool that is missing is said to be.
pub fn run() -> Result<(), String> {
    key_paths()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp/fio-tools");
    let Some(fio_plot) = fio_plot(&folder)? else {
        return Ok(());
    };
    let results = folder.join("results");
    let _ = fs::remove_dir_all(&results);
    fs::create_dir_all(&results).map_err(|e| e.to_string())?;
    run_command(&mut command(
        "cargo",
        &["build", "--quiet", "-p", "firstread-cli"],
    ))?;
    let binary = target("debug/firstread");
    for (depth, jobs) in DEPTHS.iter().flat_map(|d| JOBS.map(|jobs| (d, jobs))) {
        let job = format!("[a]\nrw=randread\nbs=4k\niodepth={depth}\nnumjobs={jobs}\n");
        let file = results.join(format!("{depth}-{jobs}.fio"));
        fs::write(&file, job).map_err(|e| e.to_string())?;
        let options = "--drive bench-4g --limit 50000 --output json".split(' ');
        let mut run = Command::new(&binary);
        let out = output(run.arg("run").arg(&file).args(options))?;
        fs::write(file.with_extension("json"), out).map_err(|e| e.to_string())?;
    }
    for (name, options) in PICTURES {
        let picture = folder.join(format!("{name}.png"));
        let _ = fs::remove_file(&picture);
        let mut draw = Command::new(&fio_plot);
        draw.current_dir(&folder)
            .args(["-i", "results", "-r", "randread", "-T", name, "-o"])
            .arg(&picture)
            .args(options.split(' '));
        let told = output(&mut draw)?;
        if fs::metadata(&picture).map_or(0, |file| file.len()) < 10_000 {
            return Err(format!("fio-plot draws no picture `{name}`: {told}"));
        }
        println!("fio-plot drew {}", picture.display());
    }
    kept(&folder, &binary, &fio_plot)
}

/// What pandas and DuckDB are asked of the tables of several runs.
const TABLES: &str = "\
import sys, pandas, duckdb
matrix, latency = (f'{sys.argv[1]}/{name}' for name in ('matrix.csv', 'latency.csv'))
rows = pandas.read_csv(matrix)
assert len(rows) == 4 and (rows.iops > 0).all() and list(rows.seed) == [1] * 4, rows
((best,),) = duckdb.sql(f\"select max(iops) from '{matrix}'\").fetchall()
assert best == rows.iops.max(), best
((counted,),) = duckdb.sql(f\"select sum(requests) from '{latency}' where direction = 'read'\").fetchall()
assert counted == pandas.read_csv(latency).requests.sum() == 50000, counted
";

/// What a folder of `--out` holds is read by fio-plot, jq, pandas and DuckDB as it is.
fn kept(folder: &Path, binary: &Path, fio_plot: &Path) -> Result<(), String> {
    let out = folder.join("kept");
    let _ = fs::remove_dir_all(&out);
    let job = folder.join("kept.fio");
    fs::write(&job, "[a]\nrw=randread\nbs=4k\n").map_err(|e| e.to_string())?;
    let run = |more: &[&str], out: &Path| {
        let mut run = Command::new(binary);
        run.arg("run").arg(&job);
        run.args(["--drive", "bench-4g", "--limit", "50000"]);
        run.args(more).arg("--out").arg(out);
        output(&mut run)
    };
    run(&["--job", "iodepth=1,16", "--job", "numjobs=1,2"], &out)?;
    run(&[], &folder.join("one"))?;
    let latency = folder.join("one/latency.csv");
    fs::copy(latency, out.join("latency.csv")).map_err(|e| e.to_string())?;
    let picture = folder.join("points.png");
    let _ = fs::remove_file(&picture);
    let mut draw = Command::new(fio_plot);
    draw.current_dir(folder)
        .args(["-i", "kept/points", "-r", "randread", "-T", "points", "-o"])
        .arg(&picture)
        .args(["-l", "-d", "1", "16", "-n", "1"]);
    let told = output(&mut draw)?;
    if fs::metadata(&picture).map_or(0, |file| file.len()) < 10_000 {
        return Err(format!("fio-plot draws nothing of points/: {told}"));
    }
    let point = out.join("points/iodepth-1-numjobs-1_seed-1.json");
    match works(Command::new("jq").arg("--version")) {
        true => {
            let mut jq = Command::new("jq");
            jq.args(["-e", ".jobs[0].read.clat_ns.percentile[\"99.000000\"] > 0"]);
            output(jq.arg(&point))?;
        }
        false => skip("jq on points/, which is not installed: apt install jq".to_owned()),
    }
    let python = fio_plot.with_file_name("python");
    let has = works(
        Command::new(fio_plot.with_file_name("pip"))
            .args(["install", "--quiet", "pandas", "duckdb"]),
    );
    match has {
        true => drop(output(Command::new(python).args(["-c", TABLES]).arg(&out))?),
        false => skip("pandas and DuckDB on matrix.csv, which cannot be installed".to_owned()),
    }
    println!("fio-plot, jq, pandas and DuckDB read {}", out.display());
    Ok(())
}

/// fio-plot, installed into `folder`; none where it cannot be.
fn fio_plot(folder: &Path) -> Result<Option<PathBuf>, String> {
    let venv = folder.join("venv");
    let program = venv.join("bin/fio-plot");
    if program.is_file() {
        return Ok(Some(program));
    }
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let made = works(Command::new("python3").args(["-m", "venv"]).arg(&venv))
        && works(Command::new(venv.join("bin/pip")).args(["install", "--quiet", FIO_PLOT]));
    if !made {
        skip(format!(
            "fio-plot cannot be installed: needs python3 with venv, and {FIO_PLOT}"
        ));
        return Ok(None);
    }
    Ok(Some(program))
}

/// The key paths that the tests know are those of the fio that is installed.
fn key_paths() -> Result<(), String> {
    let version = Command::new("fio").arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    if version.as_deref().ok() != Some(FIO) {
        skip(format!(
            "the key paths of {FIO}, which is not installed: apt install fio"
        ));
        return Ok(());
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(DATA);
    let mut fio = Command::new("fio");
    fio.current_dir(&data)
        .args(["--output-format=json", "--ioengine=null", "fio-3.33.fio"]);
    let json: Value = serde_json::from_str(&output(&mut fio)?).map_err(|e| e.to_string())?;
    let mut found = BTreeSet::new();
    paths(&json, "", &mut found);
    let known = fs::read_to_string(data.join("fio-3.33.paths")).map_err(|e| e.to_string())?;
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    match found == known {
        true => Ok(()),
        false => Err(format!(
            "fio-3.33.paths is not what {FIO} writes: {:?}",
            found.symmetric_difference(&known).collect::<Vec<_>>()
        )),
    }
}

/// Key paths of `value`, without what depends on the job file and the host.
fn paths(value: &Value, at: &str, into: &mut BTreeSet<String>) {
    let below = |key: &str| match at {
        "" => key.to_owned(),
        _ => format!("{at} / {key}"),
    };
    match value {
        Value::Object(map) => {
            let other = ["job options", "global options", "disk_util"];
            for (key, value) in map.iter().filter(|(key, _)| !other.contains(&key.as_str())) {
                paths(value, &below(key), into);
            }
        }
        Value::Array(items) => {
            let at = below("[]");
            items.iter().for_each(|item| paths(item, &at, into));
        }
        _ => {
            into.insert(at.to_owned());
        }
    }
}
