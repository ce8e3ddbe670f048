//! Other programs on what commands write: fio's own key paths, pictures of fio-plot, and jq, pandas and DuckDB on what the
//! commands of the README keep.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::commands::{command, output, run as run_command, target, works};
use crate::fio_logs;
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

/// The README, whose commands are run as they stand there.
const README: &str = include_str!("../../README.md");

/// Fewer requests than a reader would wait for.
const SHORT: [&str; 2] = ["--limit", "20000"];

/// What pandas and DuckDB are asked of the table of several runs: as many rows as points, numbers in each, and the same in both.
const TABLES: &str = "\
import glob, sys, pandas, duckdb
folder = sys.argv[1]
matrix, points = f'{folder}/matrix.csv', glob.glob(f'{folder}/points/*.json')
rows = pandas.read_csv(matrix)
assert len(rows) == len(points) > 1, (len(rows), len(points))
assert (rows.iops > 0).all() and (rows.p99_us > 0).all() and (rows.seed == 1).all(), rows
((count, worst),) = duckdb.sql(f\"select count(*), max(p99_us) from '{matrix}'\").fetchall()
assert (count, worst) == (len(rows), rows.p99_us.max()), (count, worst)
";

/// The same of the latencies of one run.
const LATENCIES: &str = "\
import sys, pandas, duckdb
latency = f'{sys.argv[1]}/latency.csv'
((counted,),) = duckdb.sql(f\"select sum(requests) from '{latency}' where direction = 'read'\").fetchall()
assert counted == pandas.read_csv(latency).requests.sum() == 20000, counted
";

/// What jq is asked of the result of a run: fio's keys.
const PERCENTILE: &str = ".jobs[0].read.clat_ns.percentile[\"99.000000\"] > 0";

/// The first command of the README that has `words`, without the name of the program.
fn in_readme(words: &str) -> Result<Vec<&'static str>, String> {
    // What stands in backticks is every other piece.
    let code = README.split('`').skip(1).step_by(2);
    let commands = code.filter_map(|code| code.strip_prefix("firstread "));
    let found = commands.into_iter().find(|command| command.contains(words));
    found
        .map(|command| command.split(' ').collect())
        .ok_or_else(|| format!("README.md has no command with `{words}`"))
}

/// What the README's commands write is read by fio-plot, jq, pandas and DuckDB as it is.
fn kept(folder: &Path, binary: &Path, fio_plot: &Path) -> Result<(), String> {
    let at = folder.join("readme");
    let _ = fs::remove_dir_all(&at);
    fs::create_dir_all(&at).map_err(|e| e.to_string())?;
    let job = "[a]\nrw=randread\nbs=4k\n";
    fs::write(at.join("job.fio"), job).map_err(|e| e.to_string())?;
    let run = |command: &[&str]| {
        let mut run = Command::new(binary);
        output(run.current_dir(&at).args(command).args(SHORT))
    };
    // Many runs at once, and the same with nothing varied but what fio-plot draws.
    run(&in_readme("iodepth=1,32 --out results")?)?;
    let depths = ["--job", "iodepth=1,16", "--job", "numjobs=1,2"];
    run(&[&["run", "job.fio"], &depths[..], &["--out", "depths"]].concat())?;
    run(&["run", "job.fio", "--out", "one"])?;
    let life = [
        "life",
        "job-w.fio",
        "--drive",
        "bench-4g",
        "--until",
        "bytes=300MB",
    ];
    fs::write(at.join("job-w.fio"), "[w]\nrw=randwrite\nbs=4k\n").map_err(|e| e.to_string())?;
    let mut lives = Command::new(binary);
    output(
        lives
            .current_dir(&at)
            .args(life)
            .args(["--probe", "2000", "--out", "life"]),
    )?;
    plot_points(&at, fio_plot)?;
    match works(Command::new("jq").arg("--version")) {
        true => jq(&at, &run(&["run", "job.fio", "--json"])?)?,
        false => skip("jq on what commands write; it is not installed: apt install jq".to_owned()),
    }
    let python = fio_plot.with_file_name("python");
    let has = works(
        Command::new(fio_plot.with_file_name("pip"))
            .args(["install", "--quiet", "pandas", "duckdb"]),
    );
    let read = |script: &str, folder: &str| {
        let mut read = Command::new(&python);
        output(read.current_dir(&at).args(["-c", script, folder])).map(drop)
    };
    match has {
        true => {
            read(TABLES, "results")?;
            read(TABLES, "depths")?;
            read(LATENCIES, "one")?;
            read(LIVES, "life")?;
            println!("pandas and DuckDB read {}", at.display());
        }
        false => skip("pandas and DuckDB on tables, as they cannot be installed".to_owned()),
    }
    fio_logs::run(&at, binary, fio_plot)
}

/// What pandas is asked of the table of a life.
const LIVES: &str = "\
import sys, pandas
rows = pandas.read_csv(f'{sys.argv[1]}/life.csv')
assert len(rows) > 2 and rows.host_bytes.is_monotonic_increasing and rows.host_bytes.max() >= 300e6, rows
";

/// fio-plot draws the points of a folder in which depth and jobs alone vary.
fn plot_points(at: &Path, fio_plot: &Path) -> Result<(), String> {
    let picture = at.join("points.png");
    let mut draw = Command::new(fio_plot);
    draw.current_dir(at)
        .args([
            "-i",
            "depths/points",
            "-r",
            "randread",
            "-T",
            "points",
            "-o",
        ])
        .arg(&picture)
        .args(["-l", "-d", "1", "16", "-n", "1"]);
    let told = output(&mut draw)?;
    match fs::metadata(&picture).map_or(0, |file| file.len()) {
        0..10_000 => Err(format!("fio-plot draws nothing of points/: {told}")),
        _ => {
            println!("fio-plot drew {}", picture.display());
            Ok(())
        }
    }
}

/// jq reads each point, what `--json` prints (`printed`) and the result of a life.
fn jq(at: &Path, printed: &str) -> Result<(), String> {
    let ask = |what: &str, file: &Path| {
        let mut jq = Command::new("jq");
        output(jq.args(["-e", what]).arg(file)).map(drop)
    };
    for folder in ["results/points", "depths/points"] {
        let points = fs::read_dir(at.join(folder)).map_err(|e| e.to_string())?;
        for point in points {
            ask(PERCENTILE, &point.map_err(|e| e.to_string())?.path())?;
        }
    }
    let file = at.join("printed.json");
    fs::write(&file, printed).map_err(|e| e.to_string())?;
    ask(PERCENTILE, &file)?;
    let of_life = ".stages | length == 5 and all(.reads.clat_ns.percentile[\"99.000000\"] > 0)";
    ask(of_life, &at.join("life/life.json"))?;
    println!("jq reads {}", at.display());
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
