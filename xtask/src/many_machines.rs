//! Plans under engines that exist: GNU parallel, Ray with a worker that is killed, and Slurm with a task whose point is.
//! What comes of them is what one process makes, byte for byte, run times apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use crate::commands::{command, output, run as run_command, target, works};
use crate::skips::skip;

/// Many short points, and two drives each.
const LINE: &str = "run job.fio --drive bench-4g --age 0,1h,2h,3h,4h,5h,6h,7h --drives 2";
const JOB: &str = "[a]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\nnumber_ios=150000\n";
/// How long a worker may take to begin.
const MOST_S: u64 = 120;

/// Runs it. An engine that is missing is said to be.
pub fn run() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp/many-machines");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    fs::write(folder.join("job.fio"), JOB).map_err(|e| e.to_string())?;
    run_command(&mut command(
        "cargo",
        &["build", "--quiet", "-p", "firstread-cli"],
    ))?;
    let binary = target("debug/firstread");
    let firstread = |words: &str| {
        let mut run = Command::new(&binary);
        output(run.current_dir(&folder).args(words.split(' ')))
    };
    firstread(&format!("{LINE} --out one"))?;
    firstread(&format!("{LINE} --plan plan"))?;
    let finish = |engine: &str| {
        firstread(&format!("{LINE} --out {engine}"))?;
        same(&folder.join("one"), &folder.join(engine))?;
        println!("{engine}: the same bytes as one process");
        Ok::<(), String>(())
    };
    match works(Command::new("parallel").arg("--version")) {
        true => {
            parallel(&folder, &binary)?;
            finish("parallel")?;
        }
        false => skip("GNU parallel is missing: apt install parallel".into()),
    }
    match works(Command::new("python3").args(["-c", "import ray"])) {
        true => {
            ray(&folder, &binary)?;
            finish("ray")?;
        }
        false => skip("Ray is missing: pip install ray".into()),
    }
    match works(Command::new("sinfo").arg("--noheader")) {
        true => {
            slurm(&folder, &binary)?;
            finish("slurm")?;
        }
        false => {
            skip("no Slurm answers `sinfo`: apt install slurm-wlm, and start its daemons".into())
        }
    }
    Ok(())
}

/// Fills the folder `parallel`.
fn parallel(folder: &Path, binary: &Path) -> Result<(), String> {
    let mut run = Command::new("parallel");
    run.current_dir(folder)
        .args(["--jobs", "2", "--retries", "3"]);
    run.arg(binary)
        .args("point {} --out parallel --threads 1 :::".split(' '));
    let points = fs::read_dir(folder.join("plan/points")).map_err(|e| e.to_string())?;
    run.args(points.flatten().map(|point| point.path()));
    run_command(&mut run)
}

/// Fills the folder `ray` by two workers, one of which is killed once it works.
fn ray(folder: &Path, binary: &Path) -> Result<(), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ray_points.py");
    let mut run = Command::new("python3");
    run.current_dir(folder)
        .arg(&script)
        .args(["plan", "ray", "--workers", "2"]);
    let ended = |error: std::io::Error| error.to_string();
    let mut script = Ended(run.arg("--binary").arg(binary).spawn().map_err(ended)?);
    // A point's process is the child of its worker, and says in its claim which it is.
    let point = claimed(&folder.join("ray/claims"))?;
    let worker = parent(point).ok_or("the worker of a point has ended by itself")?;
    run_command(Command::new("kill").args(["-9", &worker.to_string()]))?;
    println!("ray: worker {worker} was killed while it made a point");
    match script.0.wait().map_err(ended)?.success() {
        true => Ok(()),
        false => Err("ray_points.py failed".into()),
    }
}

/// Fills the folder `slurm` by an array, a point of which is killed where it is made on this machine.
fn slurm(folder: &Path, binary: &Path) -> Result<(), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/slurm_points.sh");
    let mut run = Command::new("bash");
    run.current_dir(folder).env("FIRSTREAD", binary).arg(script);
    // A cluster without room for it gives up.
    run.args("plan slurm --wait --time=5 --deadline=now+30minutes".split(' '));
    let ended = |error: std::io::Error| error.to_string();
    let mut submitted = Ended(run.spawn().map_err(ended)?);
    let point = claimed(&folder.join("slurm/claims"))?;
    match fs::read_link(format!("/proc/{point}/exe")) {
        Ok(program) if fs::canonicalize(binary).is_ok_and(|own| own == program) => {
            run_command(Command::new("kill").args(["-9", &point.to_string()]))?;
            println!("slurm: the point of process {point} was killed; Slurm runs its task again");
        }
        _ => println!("slurm: points are made on other machines, and none is killed"),
    }
    match submitted.0.wait().map_err(ended)?.success() {
        true => Ok(()),
        false => Err("a task of slurm_points.sh failed".into()),
    }
}

/// A process that is ended with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The process of a claim in `folder`, once there is one.
fn claimed(folder: &Path) -> Result<u32, String> {
    for _ in 0..MOST_S * 50 {
        for claim in fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = fs::read_to_string(claim.path()).unwrap_or_default();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(process) = value["process"].as_u64().and_then(|n| n.try_into().ok()) {
                return Ok(process);
            }
        }
        sleep(Duration::from_millis(20));
    }
    Err(format!("no point was begun within {MOST_S} s"))
}

/// The parent of a process; none where it has ended, or the system does not tell.
fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// That two folders have the same files with the same bytes, but for run times.
fn same(one: &Path, other: &Path) -> Result<(), String> {
    let (a, b) = (files(one)?, files(other)?);
    if let Some(name) = a
        .keys()
        .chain(b.keys())
        .find(|name| a.get(*name) != b.get(*name))
    {
        return Err(format!(
            "{} differs between {} and {}",
            name.display(),
            one.display(),
            other.display()
        ));
    }
    Ok(())
}

/// All files below `top` by name, without those of run times.
fn files(top: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let (mut all, mut folders) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| e.to_string())? {
            let path = entry.map_err(|e| e.to_string())?.path();
            let below = path
                .strip_prefix(top)
                .map_err(|e| e.to_string())?
                .to_owned();
            match path.is_dir() {
                true if below == Path::new("wall") => {}
                true => folders.push(path),
                false => drop(all.insert(below, fs::read(&path).map_err(|e| e.to_string())?)),
            }
        }
    }
    Ok(all)
}
