//! fio's tools and DuckDB on what a run writes down beside its report: fio's logs, bins of latency, a log of requests.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::commands::{output, works};
use crate::skips::skip;

/// Prefix of logs as fio-plot looks for them.
const PREFIX: &str = "randrw-iodepth-8-numjobs-2";

/// What DuckDB is asked of a log of requests: causes add up to the latency, and reads by die.
const REQUESTS: &str = "\
import sys, duckdb
log = sys.argv[1]
names = [row[0] for row in duckdb.sql(f\"describe select * from '{log}'\").fetchall()]
first = names.index('latency_ns') + 1
causes = names[first:names.index('retries')]
assert len(causes) == 22, causes
((wrong, rows),) = duckdb.sql(f\"select count(*) filter (where {' + '.join(causes)} != latency_ns), count(*) from '{log}'\").fetchall()
assert wrong == 0 and rows > 19000, (wrong, rows)
dies = duckdb.sql(f\"select die, quantile_disc(latency_ns, 0.999), count(*) from '{log}' where kind = 'read' and die is not null group by die\").fetchall()
assert len(dies) > 1 and all(p > 0 for _, p, _ in dies), dies
((slow,),) = duckdb.sql(f\"select max(retries) from '{log}' where measured and not lost\").fetchall()
print(log, rows, 'rows', len(dies), 'dies', slow, 'retries at most')
";

/// Runs them in `at` with the `binary`; `fio_plot` lies in a virtual environment.
pub fn run(at: &Path, binary: &Path, fio_plot: &Path) -> Result<(), String> {
    let folder = at.join("written-down");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let job = format!(
        "[a]\nrw=randrw\nbs=4k\niodepth=8\nnumjobs=2\nwrite_iops_log={PREFIX}\nwrite_bw_log={PREFIX}\nwrite_lat_log={PREFIX}\n\
         log_avg_msec=5\n"
    );
    fs::write(folder.join("job.fio"), job).map_err(|e| e.to_string())?;
    let run = |options: &str| {
        let mut run = Command::new(binary);
        let line = format!("run job.fio --drive bench-4g --limit 20000 {options}");
        output(run.current_dir(&folder).args(line.split_whitespace()))
    };
    run("--out logs --interval 5ms")?;
    plot_logs(&folder, fio_plot)?;
    let printed = run("--output json+")?;
    fs::write(folder.join("plus.json"), printed).map_err(|e| e.to_string())?;
    bins(&folder)?;
    requests(&folder, binary, fio_plot)
}

/// fio-plot draws what changed over time.
fn plot_logs(folder: &Path, fio_plot: &Path) -> Result<(), String> {
    for kind in ["iops", "bw", "lat"] {
        let picture = folder.join(format!("{kind}.png"));
        let mut draw = Command::new(fio_plot);
        let options =
            format!("-i logs -r randrw -T {kind} -g -d 8 -n 2 -t {kind} -f read write -o");
        draw.current_dir(folder)
            .args(options.split(' '))
            .arg(&picture);
        let told = output(&mut draw)?;
        if fs::metadata(&picture).map_or(0, |file| file.len()) < 10_000 {
            return Err(format!(
                "fio-plot draws nothing of the log of {kind}: {told}"
            ));
        }
        println!("fio-plot drew {}", picture.display());
    }
    Ok(())
}

/// fio's own tool makes a table of the bins, and finds all of them in it.
fn bins(folder: &Path) -> Result<(), String> {
    const TOOL: &str = "fio_jsonplus_clat2csv";
    if !works(Command::new(TOOL).arg("--help")) {
        skip(format!(
            "{TOOL} on bins of latency; it is not installed: apt install fio python3-six"
        ));
        return Ok(());
    }
    for options in [
        &["plus.json", "plus.csv"][..],
        &["--validate", "plus.json", "plus.csv"],
    ] {
        let mut tool = Command::new(TOOL);
        output(tool.current_dir(folder).args(options))?;
    }
    println!("{TOOL} reads {}", folder.join("plus.json").display());
    Ok(())
}

/// DuckDB reads a log of requests, as CSV and as Parquet.
fn requests(folder: &Path, binary: &Path, fio_plot: &Path) -> Result<(), String> {
    let python = fio_plot.with_file_name("python");
    if !works(Command::new(&python).args(["-c", "import duckdb"])) {
        skip("DuckDB on a log of requests; it cannot be installed".to_owned());
        return Ok(());
    }
    let mut build = crate::commands::command(
        "cargo",
        &[
            "build",
            "--quiet",
            "-p",
            "firstread-cli",
            "--features",
            "parquet",
        ],
    );
    crate::commands::run(&mut build)?;
    for log in ["requests.csv", "requests.parquet"] {
        let mut run = Command::new(binary);
        let line = format!("run randread-4k-qd32 --pe-cycles 2500 --limit 20000 --log {log}");
        output(run.current_dir(folder).args(line.split(' ')))?;
        let mut read = Command::new(&python);
        let told = output(read.current_dir(folder).args(["-c", REQUESTS, log]))?;
        println!("DuckDB read {told}");
    }
    Ok(())
}
