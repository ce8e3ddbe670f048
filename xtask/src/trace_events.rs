//! Viewers on the timeline of the slowest reads: Perfetto's trace processor, and speedscope in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::commands::{command, output, run as run_command, target, works};
use crate::skips::skip;

/// The version of speedscope that is known to read it.
const SPEEDSCOPE: &str = "speedscope@1.25.0";
const CHROMIUM: &str = "chromium";

/// What Perfetto is asked: that nothing was wrong with the trace, that each slice is there, and flows.
const PERFETTO: &str = "\
import sys
from perfetto.trace_processor import TraceProcessor
trace = TraceProcessor(trace=sys.argv[1])
number = lambda query: next(iter(trace.query(query))).n
slices = number('select count(*) as n from slice')
flows = number('select count(*) as n from flow')
errors = number(\"select count(*) as n from stats where severity = 'error' and value > 0\")
assert errors == 0 and slices == int(sys.argv[2]) and flows > 0, (errors, slices, flows)
print(slices, 'slices', flows, 'flows')
";

/// Makes the page of speedscope open the file `trace.json`.
const LOAD: &str = "\
const fs = require('fs');
const text = fs.readFileSync('trace.json').toString('base64');
fs.writeFileSync('load.js', `speedscope.loadFileFromBase64('trace.json', '${text}')`);
";

/// Runs it. A tool that is missing is said to be.
pub fn run() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp/trace-events");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    run_command(&mut command(
        "cargo",
        &["build", "--quiet", "-p", "firstread-cli"],
    ))?;
    let line = "run mixed-70-30 --pe-cycles 2500 --limit 20000 --trace-events trace.json --trace-slowest 3";
    let mut write = Command::new(target("debug/firstread"));
    output(write.current_dir(&folder).args(line.split(' ')))?;
    let text = fs::read_to_string(folder.join("trace.json")).map_err(|e| e.to_string())?;
    let trace: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let events = trace["traceEvents"].as_array().ok_or("no events")?;
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).count();
    let threads = events.iter().filter(|event| event["name"] == "thread_name");
    perfetto(&folder, of("B"))?;
    speedscope(&folder, threads.count())
}

/// Perfetto's trace processor counts the slices. Its Python package fetches the program itself at its first use.
fn perfetto(folder: &Path, slices: usize) -> Result<(), String> {
    let python = folder.join("venv/bin/python");
    let has = python.exists()
        || works(
            Command::new("python3")
                .args(["-m", "venv", "venv"])
                .current_dir(folder),
        );
    let pip = ["-m", "pip", "install", "--quiet", "perfetto"];
    let starts = "from perfetto.trace_processor import TraceProcessor as T; T(trace='trace.json')";
    let has = has
        && works(Command::new(&python).args(pip))
        && works(
            Command::new(&python)
                .args(["-c", starts])
                .current_dir(folder),
        );
    if !has {
        skip("Perfetto's trace processor on a timeline; it cannot be installed".to_owned());
        return Ok(());
    }
    let mut read = Command::new(&python);
    let slices = slices.to_string();
    let told = output(
        read.current_dir(folder)
            .args(["-c", PERFETTO, "trace.json", &slices]),
    )?;
    println!("Perfetto read {told}");
    Ok(())
}

/// Speedscope draws it: each thread with a slice is one of its profiles, and the slowest read is the first.
fn speedscope(folder: &Path, threads: usize) -> Result<(), String> {
    let has = works(Command::new(CHROMIUM).arg("--version"))
        && works(
            Command::new("npm")
                .args([
                    "install",
                    "--silent",
                    "--no-save",
                    "--prefix",
                    ".",
                    SPEEDSCOPE,
                ])
                .current_dir(folder),
        );
    if !has {
        skip("speedscope on a timeline; npm or Chromium is missing".to_owned());
        return Ok(());
    }
    output(Command::new("node").current_dir(folder).args(["-e", LOAD]))?;
    let folder: PathBuf = folder.canonicalize().map_err(|e| e.to_string())?;
    let page = format!(
        "file://{0}/node_modules/speedscope/dist/release/index.html#localProfilePath={0}/load.js",
        folder.display()
    );
    let mut draw = Command::new(CHROMIUM);
    draw.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]);
    draw.arg(format!(
        "--user-data-dir={}",
        folder.join("browser").display()
    ));
    let drawn = output(draw.arg(page))?;
    let number = format!("/{threads})");
    if !drawn.contains("slowest reads (pid 1), #1: ") || !drawn.contains(&number) {
        return Err(format!(
            "speedscope does not show {threads} threads: {drawn}"
        ));
    }
    println!("speedscope drew {threads} threads");
    Ok(())
}
