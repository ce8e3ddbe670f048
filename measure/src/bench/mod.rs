//! `cargo xtask bench`: how fast the simulator is, what a request costs, and what it holds in memory.
//!
//! Absolute figures depend on the machine, so speed is reported as a ratio to another case of the same
//! run. Each case is measured in a process of its own: its peak memory is its own, and nothing that
//! ran before has warmed what it uses.

mod cases;
mod measure;
mod mqsim;
mod rules;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use cases::{BESIDE, CASES, Case};
use measure::Measured;

/// Options of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Only the cases whose name contains this; those they are compared with are measured too
    #[arg(long)]
    only: Option<String>,
    /// Repetitions of each case; the best counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Also what takes minutes or gigabytes: 100 M requests, memory after 100 M overwrites
    #[arg(long)]
    long: bool,
    /// An MQSim binary: runs it on the same geometry and load where it can be asked for them
    #[arg(long, value_name = "PATH")]
    mqsim: Option<PathBuf>,
    /// Measures the case of this name and prints it as JSON: how a case gets its own process
    #[arg(long, hide = true)]
    measure: Option<String>,
    /// Runs a part of every short case without measuring it: `cargo xtask release` counts branches meanwhile
    #[arg(long, hide = true)]
    train: bool,
}

/// Training runs this fraction (1/N) of a case's requests, which is enough to see the usual branches.
const TRAINING: u64 = 20;

/// Measures and prints every case that was asked for.
pub fn run(options: &Options) -> Result<(), String> {
    if let Some(name) = &options.measure {
        let case = find(name).ok_or_else(|| format!("there is no case `{name}`"))?;
        println!("{}", measure::best(case, options.repeat.max(1))?.to_json());
        return Ok(());
    }
    if options.train {
        for case in CASES.iter().filter(|c| !c.long && c.runs == 1) {
            let requests = case.requests / TRAINING;
            measure::best(&Case { requests, ..*case }, 1)?;
        }
        return Ok(());
    }
    if let Some(path) = &options.mqsim {
        mqsim::check(path)?;
    }
    let wanted = chosen(options);
    if wanted.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|c| c.name).collect();
        return Err(format!(
            "no case is called `{}`; there are: {}",
            options.only.as_deref().unwrap_or_default(),
            names.join("; ")
        ));
    }
    println!(
        "{:<36} {:>9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9} {:>7}  ratio to",
        "case", "k req/s", "ratio", "ns/req", "events", "senses", "WA", "ready ms", "MiB"
    );
    let mut done: Vec<(&Case, Measured)> = Vec::new();
    for case in wanted {
        let measured = in_own_process(case, options.repeat)?;
        done.push((case, measured));
        let rate_of = |name: &str| {
            let found = done.iter().find(|(c, _)| c.name == name);
            found.map(|(_, m)| m.requests_per_s())
        };
        println!("{}", row(case, &measured, rate_of(case.against)));
    }
    println!(
        "req/s: the best of {}, of one run where several go on at once; events and senses: of a \
         request; WA: slots programmed for each that the host wrote; ready: from profile to first \
         request; MiB: the most that was held",
        options.repeat.max(1)
    );
    match &options.mqsim {
        Some(path) => mqsim::compare(path, &done, options.repeat),
        None => Ok(()),
    }
}

/// The cases asked for, and those that they are compared with.
fn chosen(options: &Options) -> Vec<&'static Case> {
    let named = |c: &Case| {
        let only = options.only.as_deref();
        (options.long || !c.long || only == Some(c.name)) && only.is_none_or(|o| c.name.contains(o))
    };
    let needed = |c: &Case| {
        let mut named = CASES.iter().filter(|n| named(n) && n.job.is_some());
        named.any(|n| n.against == c.name)
    };
    let beside = BESIDE
        .iter()
        .filter(|c| options.mqsim.is_some() && named(c));
    let all = CASES.iter().filter(|c| named(c) || needed(c));
    all.chain(beside).collect()
}

fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().chain(BESIDE).find(|c| c.name == name)
}

fn in_own_process(case: &Case, repeat: u32) -> Result<Measured, String> {
    let program = std::env::current_exe().map_err(|e| format!("finding this program: {e}"))?;
    let output = Command::new(program)
        .args(["bench", "--measure", case.name])
        .args(["--repeat", &repeat.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("{}: {e}", case.name))?;
    if !output.status.success() {
        return Err(format!("{}: {}", case.name, output.status));
    }
    Measured::from_json(&output.stdout).map_err(|e| format!("{}: {e}", case.name))
}

fn row(case: &Case, m: &Measured, reference: Option<f64>) -> String {
    let or_none = |shown: bool, text: String| if shown { text } else { "-".into() };
    let ran = case.job.is_some();
    let rate = m.requests_per_s();
    format!(
        "{:<36} {:>9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9.1} {:>7.0}{}",
        case.name,
        or_none(ran, format!("{:.0}", rate / 1e3)),
        or_none(
            ran,
            reference.map_or("-".into(), |r| format!("{:.2}", rate / r))
        ),
        or_none(ran, format!("{:.0}", 1e9 / rate)),
        or_none(ran, format!("{:.2}", m.events_per_request)),
        or_none(ran, format!("{:.2}", m.senses_per_request)),
        m.write_amplification
            .map_or("-".into(), |wa| format!("{wa:.3}")),
        m.ready_s * 1e3,
        m.peak_mib,
        if ran && case.against != case.name {
            format!("  {}", case.against)
        } else {
            String::new()
        }
    )
}
