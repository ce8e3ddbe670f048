//! The timeline of the slowest reads: whether it is a valid trace, and whether it says what the run did.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the files that a session writes"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use firstread_core::Ns;
use firstread_drive::{Cause, Ended};
use firstread_session::conditions::Condition;
use firstread_session::results::{result_and_wall, text};
use firstread_session::simulate::simulate;
use firstread_session::{
    Input, Interrupt, LogFormat, LogSpec, Progress, Setup, Simulation, TraceSpec, Watched, Which,
};
use serde_json::Value;

use crate::written_down::run;

/// Reads with retries beside programs that are suspended, and a ramp.
const MIXED: &str = "\
[a]
rw=randrw
rwmixread=70
bs=4k,64k
iodepth=32
ramp_time=1ms
";

fn simulation(jobs: &str, schemes: &[&str], limit: u64) -> Simulation {
    let mut simulation = Simulation {
        limit: Some(limit),
        schemes: schemes.iter().map(|s| s.parse().unwrap()).collect(),
        ..Simulation::of(Input::job_file("a", jobs.to_owned()).unwrap())
    };
    Condition::PeCycles
        .set(&mut simulation.state, "2500")
        .unwrap();
    simulation
}

fn at(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn traced(name: &str, reads: usize) -> TraceSpec {
    TraceSpec {
        path: at(name),
        reads,
        window: Ns(300_000),
    }
}

/// A trace whose form has been checked.
struct Checked {
    /// Slices by process and thread, in their order of time, outer ones first.
    slices: BTreeMap<(u64, u64), Vec<Slice>>,
    /// Names of processes, and of threads.
    processes: BTreeMap<u64, String>,
    threads: BTreeMap<(u64, u64), String>,
    /// Flows by their start and their end: process, thread and time (ns).
    flows: Vec<[(u64, u64, u64); 2]>,
}

#[derive(Clone, Debug)]
struct Slice {
    start_ns: u64,
    end_ns: u64,
    name: String,
    args: Value,
}

/// A time in µs, with three decimals, in ns.
fn ns(event: &Value, key: &str) -> u64 {
    let us = event[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {event}"));
    let ns = us * 1e3;
    assert!(
        ns >= 0.0 && (ns - ns.round()).abs() < 1e-3,
        "{key} of {event}"
    );
    ns.round() as u64
}

/// Checks `json` against the rules of Chrome trace events: kinds of events and their fields, names for all processes and
/// threads, slices of a thread that are apart or nested, flows that begin and end within slices.
fn checked(json: &str) -> Checked {
    let whole: Value = serde_json::from_str(json).unwrap();
    let mut found = Checked {
        slices: BTreeMap::new(),
        processes: BTreeMap::new(),
        threads: BTreeMap::new(),
        flows: Vec::new(),
    };
    // Begins and ends of slices, in the order of the file.
    let mut steps = Vec::new();
    let mut ends: BTreeMap<u64, Vec<(bool, u64, u64, u64)>> = BTreeMap::new();
    for event in whole["traceEvents"].as_array().unwrap() {
        let number = |key: &str| {
            event[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key} of {event}"))
        };
        let (pid, tid) = (number("pid"), number("tid"));
        let name = event["name"].as_str().unwrap().to_owned();
        match event["ph"].as_str().unwrap() {
            "M" => {
                let named = event["args"]["name"].as_str().map(str::to_owned);
                let before = match name.as_str() {
                    "process_name" => found.processes.insert(pid, named.unwrap()),
                    "thread_name" => found.threads.insert((pid, tid), named.unwrap()),
                    "process_sort_index" | "thread_sort_index" => {
                        assert!(event["args"]["sort_index"].is_u64(), "{event}");
                        None
                    }
                    other => panic!("metadata {other}"),
                };
                assert_eq!(before, None, "named twice: {event}");
            }
            "B" => {
                let at = ns(event, "ts");
                steps.push((at, (pid, tid), name, Some(event["args"].clone())));
            }
            "E" => steps.push((ns(event, "ts"), (pid, tid), name, None)),
            ph @ ("s" | "f") => {
                assert_eq!(event.get("bp").is_some(), ph == "f", "{event}");
                let end = (ph == "f", pid, tid, ns(event, "ts"));
                ends.entry(number("id")).or_default().push(end);
            }
            other => panic!("an event of kind {other}"),
        }
    }
    // A viewer takes them in the order of their times, and those of one time in the order of the file.
    steps.sort_by_key(|step| step.0);
    let mut open: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (at, thread, name, begins) in steps {
        let slices = found.slices.entry(thread).or_default();
        let open = open.entry(thread).or_default();
        match begins {
            Some(args) => {
                open.push(slices.len());
                slices.push(Slice {
                    start_ns: at,
                    end_ns: at,
                    name,
                    args,
                });
            }
            None => {
                let last = open.pop();
                let slice = &mut slices[last.unwrap_or_else(|| panic!("{thread:?}: ends at {at}"))];
                assert!(
                    at > slice.start_ns && name == slice.name,
                    "{slice:?} ends at {at}"
                );
                slice.end_ns = at;
            }
        }
    }
    assert!(
        open.values().all(Vec::is_empty),
        "slices are left open: {open:?}"
    );
    for thread in found.slices.keys() {
        assert!(found.processes.contains_key(&thread.0), "{thread:?}");
        assert!(found.threads.contains_key(thread), "{thread:?}");
    }
    let is_in = |pid, tid, at| {
        let slices = found.slices.get(&(pid, tid));
        slices.is_some_and(|all| all.iter().any(|s| s.start_ns <= at && at <= s.end_ns))
    };
    for (id, ends) in ends {
        let [(false, p, t, from), (true, q, u, to)] = ends[..] else {
            panic!("flow {id} has {ends:?}");
        };
        assert!(from <= to, "flow {id} goes back");
        assert!(
            is_in(p, t, from) && is_in(q, u, to),
            "flow {id} is in no slice"
        );
        found.flows.push([(p, t, from), (q, u, to)]);
    }
    found
}

impl Checked {
    fn process(&self, name: &str) -> u64 {
        let found = self.processes.iter().find(|(_, n)| *n == name);
        *found.unwrap_or_else(|| panic!("no process {name}")).0
    }

    /// The slow reads, the slowest first, each with the slices of its parts.
    fn reads(&self) -> Vec<(&Slice, &[Slice])> {
        let pid = self.process("slowest reads");
        let of = self.slices.iter().filter(|((p, _), _)| *p == pid);
        of.map(|(_, slices)| slices.split_first().unwrap())
            .collect()
    }

    /// Nothing of the drive does two things at a time.
    fn never_overlap(&self) {
        let reads = self.process("slowest reads");
        for (thread, slices) in self.slices.iter().filter(|((p, _), _)| *p != reads) {
            for pair in slices.windows(2) {
                assert!(
                    pair[0].end_ns <= pair[1].start_ns,
                    "{}: {pair:?}",
                    self.threads[thread]
                );
            }
        }
    }
}

/// With retries one after another and pipelined, suspensions, planes that read alone: the trace is valid; no track of the drive
/// overlaps; the parts of each read are its latency and its causes; its flows lead to its operations; and the reads are those
/// of the log and of the report.
#[test]
fn model_a_timeline_of_the_slowest_reads() {
    for (i, schemes) in [
        &["suspend=program-erase"][..],
        &["retry=pipelined", "read_levels=factory"],
        &["retry=pipelined-adaptive", "suspend=program"],
        &["cell_mode=fixed", "suspend=none"],
    ]
    .into_iter()
    .enumerate()
    {
        let simulation = simulation(MIXED, schemes, 8_000);
        let spec = traced(&format!("slow-{i}.json"), 12);
        let log = at(&format!("slow-{i}.csv"));
        let (_, outcome) = run(
            &simulation,
            Watched {
                trace: Some(spec.clone()),
                log: Some(LogSpec {
                    path: log.clone(),
                    format: LogFormat::Csv,
                    which: Which::Slowest(8_000),
                }),
                ..Watched::default()
            },
        );
        let trace = checked(&std::fs::read_to_string(&spec.path).unwrap());
        trace.never_overlap();
        let reads = trace.reads();
        assert_eq!(reads.len(), 12);
        let text = std::fs::read_to_string(&log).unwrap();
        let mut rows = text.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap();
        let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
        let rows = rows.filter(|row| row[column("kind")] == "read");
        let max_ns = outcome.stats.all.read.max_ns();
        let slowest_ns = reads[0].0.args["latency_ns"].as_u64().unwrap();
        assert!(max_ns.abs_diff(slowest_ns) <= slowest_ns / 1_000);
        for ((rank, (read, parts)), row) in (1..).zip(&reads).zip(rows) {
            let logged = |name: &str| row[column(name)].parse::<u64>().unwrap();
            assert_eq!(read.args["rank"], rank);
            for name in ["latency_ns", "arrival_ns", "offset_bytes", "length_bytes"] {
                assert_eq!(read.args[name], logged(name), "{name} of read {rank}");
            }
            assert_eq!(read.end_ns - read.start_ns, logged("latency_ns"));
            assert_eq!(read.start_ns, logged("arrival_ns"));
            let mut until = read.start_ns;
            let mut by_cause: BTreeMap<String, u64> = BTreeMap::new();
            for part in *parts {
                assert_eq!(part.start_ns, until, "a gap before {part:?} of {read:?}");
                until = part.end_ns;
                let ns = part.end_ns - part.start_ns;
                assert_eq!(part.args["duration_ns"], ns);
                *by_cause
                    .entry(part.args["cause"].as_str().unwrap().into())
                    .or_default() += ns;
            }
            assert_eq!(until, read.end_ns, "{read:?}");
            let expected = Cause::ALL.map(|cause| {
                (
                    cause.name().to_owned(),
                    logged(&format!("{}_ns", cause.name())),
                )
            });
            let expected: BTreeMap<String, u64> =
                expected.into_iter().filter(|c| c.1 > 0).collect();
            // A read that joined another one's may be charged other causes of its wait.
            if outcome.stats.counters.joined_reads == 0 {
                assert_eq!(by_cause, expected, "read {rank} with {schemes:?}");
            }
            // Each sense that it waited for is an operation that a flow leads to.
            let own = |flow: &&[(u64, u64, u64); 2]| flow[0].1 == rank;
            let led: BTreeSet<&str> = trace
                .flows
                .iter()
                .filter(|flow| flow[0].0 == trace.process("slowest reads"))
                .filter(own)
                .map(|[_, (pid, tid, at)]| {
                    let slices = &trace.slices[&(*pid, *tid)];
                    let slice = slices.iter().rfind(|s| s.start_ns <= *at && *at < s.end_ns);
                    slice.unwrap().name.split(':').next().unwrap()
                })
                .collect();
            for part in *parts {
                let whose = match part.name.strip_suffix(": sense") {
                    Some("read_recovery") => "read recovery".into(),
                    Some(retry) => format!("host read, {retry}"),
                    None => continue,
                };
                assert!(led.contains(whose.as_str()), "no flow to {whose}: {led:?}");
            }
        }
        assert!(trace.flows.len() >= 12, "{}", trace.flows.len());
    }
}

/// A run of which a timeline is written is the run of which none is.
#[test]
fn model_a_timeline_changes_nothing() {
    let simulation = simulation(MIXED, &["suspend=program-erase"], 3_000);
    let (setup, plain) = run(&simulation, Watched::default());
    let watched = Watched {
        trace: Some(traced("nothing.json", 3)),
        ..Watched::default()
    };
    let (_, outcome) = run(&simulation, watched);
    let result = |outcome| text(&result_and_wall(&setup, outcome, true).0);
    assert_eq!(result(&plain), result(&outcome));
    assert_eq!(plain.stats.events, outcome.stats.events);
}

/// A run that is interrupted, and one without a read, have a valid file; and a file that was there is replaced.
#[test]
fn sequence_what_ends_early_has_a_whole_file() {
    let spec = traced("early.json", 5);
    let watched = || Watched {
        trace: Some(spec.clone()),
        ..Watched::default()
    };
    std::fs::write(&spec.path, "before").unwrap();
    let interrupt = Interrupt::default();
    let endless = simulation(MIXED, &["suspend=program-erase"], u64::MAX);
    let setup = Setup {
        watched: watched(),
        interrupt: interrupt.clone(),
        ..endless.setup().unwrap()
    };
    // Asked at the first progress that it tells, after some ten thousand requests.
    let outcome = simulate(&setup, &mut |progress| {
        if let Progress::Completed(_) = progress {
            interrupt.ask();
        }
    })
    .unwrap();
    assert_eq!(outcome.stats.ended, Ended::Interrupted);
    let trace = checked(&std::fs::read_to_string(&spec.path).unwrap());
    trace.never_overlap();
    assert_eq!(trace.reads().len(), 5);

    let writes = "[a]\nrw=randwrite\nbs=4k\n";
    run(&simulation(writes, &[], 500), watched());
    let trace = checked(&std::fs::read_to_string(&spec.path).unwrap());
    assert!(trace.processes.is_empty() && trace.slices.is_empty());
}
