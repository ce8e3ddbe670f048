//! `firstread compare`: one workload on drives that differ in their schemes.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use firstread_drive::Cause;
use firstread_drive::stats::Latencies;
use serde_json::{Value, json};

use crate::args::{
    Choice, Choices, DriveArgs, Form, OutputArgs, Usage, WorkloadArgs, parse_choices,
};
use crate::data;
use crate::files::{self, Page};
use crate::input::Input;
use crate::output::format::{Side, bytes, change, count, rare, ratio, share, si, table, time};
use crate::output::human::{self, Marks, Retries};
use crate::output::{self, ENOUGH_BEYOND, TAIL};
use crate::parallel;
use crate::progress::Bars;
use crate::run::{once_an_axis, tell};
use crate::setup::Setup;
use crate::simulate::{Outcome, simulate};

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread compare
      the shipped example: random reads of 64 KiB on an aged QLC drive, four ways to keep its read
      levels, from a table that is never updated to one that knows the cells
  firstread compare --age 0h..48h --pe-cycles 0..3000
      the same on a drive of mixed age and wear
  firstread compare job.fio --scheme read_levels=frozen,ct-qlc --limit 1e6
      two schemes on your own job; gains are against the first
  firstread compare trace.csv.zst --scheme read_levels=factory,ct-qlc --output json
      {axis, runs: [{scheme, result}]}, each result as of `firstread run --output json`

Several --scheme axes are combined: every scheme of one with every scheme of the other.

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong.";

/// The workload that is run where none is given.
const DEFAULT_WORKLOAD: &str = "randread-64k-qd128";
/// Requests of it: a hundred lie beyond P99.99.
const DEFAULT_LIMIT: u64 = 1_000_000;
/// What is compared where nothing is said: a table never updated, the scheme, two oracles.
const DEFAULT_SCHEMES: &str = "read_levels=frozen,ct-qlc,optimal-group,optimal";

/// Percentiles of the table.
const PERCENTILES: [f64; 6] = [50.0, 99.0, 99.9, 99.99, 99.999, 99.9999];
/// Fewest requests beyond a percentile for it to be in the table.
const FEWEST_BEYOND: u64 = 10;
/// Of these, the change of the first is shown that the sample reaches.
const TAIL_PERCENTILES: [f64; 5] = [99.99, 99.9, 99.0, 90.0, 50.0];

/// Run one workload with several schemes and put the results side by side
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// As of `firstread run`; without it, a million random reads of 64 KiB at queue depth 128
    workload: Option<String>,
    /// The schemes to compare, the first being what gains are against; may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=A,B,C", value_parser = parse_choices)]
    schemes: Vec<Choices>,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    input: WorkloadArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// One column of the comparison.
struct Run<'a> {
    /// Its schemes: `ct-qlc`, `ct-qlc,pipelined`.
    label: String,
    setup: Setup<'a>,
}

/// Runs the command.
pub fn compare(args: &CompareArgs) -> Result<()> {
    once_an_axis(args.schemes.iter().map(|c| c.axis.name))?;
    let name = args.workload.as_deref().unwrap_or(DEFAULT_WORKLOAD);
    let mut input = Input::open(name, &args.input)?;
    let mut limit = args.input.limit;
    if let (None, Input::Jobs { workload, .. }) = (&args.workload, &mut input) {
        // The limit alone decides how long the example is, so that it can be made longer.
        limit = limit.or(Some(DEFAULT_LIMIT));
        workload
            .jobs
            .iter_mut()
            .for_each(|job| job.number_ios = None);
    }
    let schemes = chosen(args)?;
    let axis = schemes
        .iter()
        .map(|c| c.axis.name)
        .collect::<Vec<_>>()
        .join(",");
    let combinations = combinations(&schemes);
    let runs = combinations.iter().map(|choices| {
        let label = choices
            .iter()
            .map(|c| c.scheme.name)
            .collect::<Vec<_>>()
            .join(",");
        Ok(Run {
            label,
            setup: Setup::new(&input, &args.drive, choices, limit)?,
        })
    });
    let runs = runs.collect::<Result<Vec<Run<'_>>>>()?;
    let bars = Bars::default();
    let total = limit.or(input.requests());
    let outcomes = parallel::each(&runs, args.threads, |run| {
        let bar = bars.add(&run.label, total);
        let outcome = simulate(&run.setup, &mut |progress| bar.show(progress));
        bar.end();
        outcome
    })?;

    let results: Vec<(&Run<'_>, &Outcome)> = runs.iter().zip(&outcomes).collect();
    if let Some((run, outcome)) = results.first() {
        tell(&run.setup, outcome);
    }
    let report = report(&axis, &results);
    if let Some(folder) = &args.output.out {
        files::write(folder, &pages(&axis, &report, &results))?;
    }
    match args.output.output {
        Form::Json => data(&output::json::text(&as_json(&axis, &results)))?,
        Form::Human => data(&report)?,
    }
    for (run, outcome) in &results {
        eprintln!("{}: {}", run.label, human::wall(outcome));
    }
    if args.output.output == Form::Human {
        eprintln!("\n{}", next_command(args, &runs));
    }
    Ok(())
}

/// The schemes asked for, or those of the example.
fn chosen(args: &CompareArgs) -> Result<Vec<Choices>> {
    if args.schemes.iter().any(|choices| choices.schemes.len() > 1) {
        return Ok(args.schemes.clone());
    }
    if args.workload.is_none() && args.schemes.is_empty() {
        return parse_choices(DEFAULT_SCHEMES)
            .map(|c| vec![c])
            .map_err(|e| Usage(e).into());
    }
    let message = format!(
        "nothing to compare: give several schemes of an axis, as in --scheme {DEFAULT_SCHEMES}"
    );
    Err(Usage(message).into())
}

/// Every scheme of one axis with every scheme of the others, the last axis running fastest.
fn combinations(axes: &[Choices]) -> Vec<Vec<Choice>> {
    axes.iter().fold(vec![Vec::new()], |all, choices| {
        let with = |before: &Vec<Choice>| {
            let before = before.clone();
            choices
                .schemes
                .iter()
                .map(move |&choice| [&before[..], &[choice]].concat())
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

/// The table.
fn report(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> String {
    let Some(&(first, base)) = results.first() else {
        return String::new();
    };
    let (direction, _) = human::tail_of(&base.stats.all);
    // Jobs that end by time run as many requests as the drive serves.
    let requests = results.iter().map(|(_, outcome)| outcome.stats.requests);
    let (least, most) = (
        requests.clone().min().unwrap_or(0),
        requests.max().unwrap_or(0),
    );
    let mut each = count(least);
    if most > least {
        each += &format!(" to {}", count(most));
    }
    let mut text = format!(
        "{} on {}, {}\n{each} requests each, seed {}; changes are against {}\n\n",
        first.setup.input.title(),
        first.setup.profile.name,
        first.setup.state_line(),
        first.setup.seed,
        first.label,
    );
    text += &latency_table(axis, results);
    text += "\nlatency by percentile, with its 95 % interval\n";
    text += &percentile_table(axis, results);
    text += &write_table(axis, results);
    text += "\nwhat is behind it\n";
    text += &mechanism_table(axis, results);
    text += &format!(
        "\nlargest causes of the slowest {} % of {direction}s\n",
        TAIL * 100.0
    );
    text += &cause_table(results);
    for (run, outcome) in results {
        let lost = human::uncorrectable(&outcome.stats.all);
        text.extend(
            lost.lines()
                .map(|line| format!("\n{}: {line}\n", run.label)),
        );
    }
    text
}

fn tail_latencies(outcome: &Outcome) -> &Latencies {
    human::tail_of(&outcome.stats.all).1
}

fn iops(outcome: &Outcome) -> f64 {
    tail_latencies(outcome).count() as f64 * 1e9 / outcome.stats.all.runtime_ns.max(1) as f64
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

/// A left column, then right ones.
fn sides(columns: usize) -> Vec<Side> {
    std::iter::once(Side::Left)
        .chain(std::iter::repeat_n(Side::Right, columns - 1))
        .collect()
}

fn latency_table(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> String {
    let reached = |p: &f64| {
        let mut beyond = results
            .iter()
            .map(|(_, o)| tail_latencies(o).percentile(*p).beyond);
        beyond.all(|n| n >= ENOUGH_BEYOND)
    };
    let percent = TAIL_PERCENTILES.into_iter().find(reached).unwrap_or(50.0);
    let mut marks = Marks::default();
    let measures = |o: &Outcome| {
        let latencies = tail_latencies(o);
        (
            latencies.percentile(percent).ns as f64,
            latencies.mean_ns(),
            iops(o),
        )
    };
    let base = results
        .first()
        .map_or((0.0, 0.0, 0.0), |(_, o)| measures(o));
    let tail = format!("P{percent}");
    let mut rows = vec![words([
        axis, &tail, "change", "mean", "change", "IOPS", "change",
    ])];
    for (i, (run, outcome)) in results.iter().enumerate() {
        let (tail, mean, iops) = measures(outcome);
        let against = |value, base| {
            if i == 0 {
                String::new()
            } else {
                change(value, base)
            }
        };
        rows.push(vec![
            run.label.clone(),
            time(tail) + &marks.of(&tail_latencies(outcome).percentile(percent)),
            against(tail, base.0),
            time(mean),
            against(mean, base.1),
            si(iops),
            against(iops, base.2),
        ]);
    }
    table("  ", &sides(7), &rows) + &marks.explained()
}

fn percentile_table(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> String {
    let mut head = vec![axis.to_owned()];
    let reached = |p: f64| {
        results
            .iter()
            .any(|(_, o)| tail_latencies(o).percentile(p).beyond >= FEWEST_BEYOND)
    };
    let shown: Vec<f64> = PERCENTILES.into_iter().filter(|&p| reached(p)).collect();
    head.extend(shown.iter().map(|p| format!("P{p}")));
    let mut rows = vec![head];
    let mut marks = Marks::default();
    for (run, outcome) in results {
        let mut values = vec![run.label.clone()];
        let mut intervals = vec![String::new()];
        for &percent in &shown {
            let p = tail_latencies(outcome).percentile(percent);
            values.push(time(p.ns as f64) + &marks.of(&p));
            intervals.push(human::interval(&p));
        }
        rows.extend([values, intervals]);
    }
    table("  ", &sides(shown.len() + 1), &rows) + &marks.explained()
}

/// What writes pay: beside reads, or for what they cost the flash.
fn write_table(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> String {
    let Some((_, base)) = results.first() else {
        return String::new();
    };
    let writes = |o: &Outcome| o.stats.all.write.count();
    if results.iter().all(|(_, o)| writes(o) == 0) {
        return String::new();
    }
    let reached = |p: &f64| {
        let mut all = results.iter().map(|(_, o)| &o.stats.all.write);
        all.all(|w| w.percentile(*p).beyond >= ENOUGH_BEYOND)
    };
    let percent = TAIL_PERCENTILES.into_iter().find(reached).unwrap_or(50.0);
    let bandwidth =
        |o: &Outcome| o.stats.all.write.bytes as f64 * 1e9 / o.stats.all.runtime_ns.max(1) as f64;
    let tail = |o: &Outcome| o.stats.all.write.percentile(percent).ns as f64;
    let mut rows = vec![words([
        axis,
        "P50",
        &format!("P{percent}"),
        "change",
        "mean",
        "change",
    ])];
    rows[0].extend(words(["bandwidth", "change", "amplification", "suspends"]));
    for (i, (run, outcome)) in results.iter().enumerate() {
        let latencies = &outcome.stats.all.write;
        let counters = &outcome.stats.counters;
        let against = |value: f64, base: f64| match i {
            0 => String::new(),
            _ => change(value, base),
        };
        rows.push(vec![
            run.label.clone(),
            time(latencies.percentile(50.0).ns as f64),
            time(tail(outcome)),
            against(tail(outcome), tail(base)),
            time(latencies.mean_ns()),
            against(latencies.mean_ns(), base.stats.all.write.mean_ns()),
            format!("{}/s", bytes(bandwidth(outcome))),
            against(bandwidth(outcome), bandwidth(base)),
            output::writes::amplification(outcome),
            count(counters.suspends),
        ]);
    }
    format!("\nwhat writes pay\n{}", table("  ", &sides(10), &rows))
}

fn mechanism_table(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> String {
    let mut rows = vec![
        words([
            axis,
            "first try",
            "reads lost",
            "page failure",
            "retries",
            "background reads",
            "",
        ]),
        words(["", "", "share", "rate", "a page", "before", "in the run"]),
    ];
    for (run, outcome) in results {
        let counters = &outcome.stats.counters;
        let retries = Retries::of(counters);
        rows.push(vec![
            run.label.clone(),
            share(retries.first_try),
            rare(outcome.stats.all.read.lost_share()),
            rare(1.0 - retries.first_try),
            ratio(retries.mean),
            count(outcome.background_reads_before),
            count(counters.background_reads),
        ]);
    }
    table("  ", &sides(7), &rows)
}

fn cause_table(results: &[(&Run<'_>, &Outcome)]) -> String {
    let rows = results.iter().map(|(run, outcome)| {
        let mut row = vec![run.label.clone()];
        if let Some(tail) = tail_latencies(outcome).tail.slowest(TAIL) {
            let mut causes: Vec<(Cause, f64)> = Cause::ALL.into_iter().zip(tail.share).collect();
            causes.sort_by(|a, b| b.1.total_cmp(&a.1));
            let large = causes.into_iter().take(3).filter(|(_, part)| *part >= 0.01);
            row.extend(
                large.map(|(cause, part)| {
                    format!("{} {:.0} %", human::in_words(cause), part * 100.0)
                }),
            );
        }
        row.resize(4, String::new());
        row
    });
    table("  ", &[Side::Left; 4], &rows.collect::<Vec<_>>())
}

fn as_json(axis: &str, results: &[(&Run<'_>, &Outcome)]) -> Value {
    let run = |(run, outcome): &(&Run<'_>, &Outcome)| json!({ "scheme": run.label, "result": output::json::result(&run.setup, outcome, false) });
    json!({ "axis": axis, "runs": results.iter().map(run).collect::<Vec<_>>() })
}

/// The comparison, and a folder a run.
fn pages(axis: &str, report: &str, results: &[(&Run<'_>, &Outcome)]) -> Vec<Page> {
    let mut pages: Vec<Page> = vec![
        (
            "compare.json".into(),
            output::json::text(&as_json(axis, results)).into_bytes(),
        ),
        ("compare.txt".into(), report.as_bytes().to_vec()),
    ];
    for (run, outcome) in results {
        let of_run = output::pages(&run.setup, outcome);
        pages.extend(
            of_run
                .into_iter()
                .map(|(name, content)| (Path::new(&run.label).join(name), content)),
        );
    }
    pages
}

/// What to do next: a command that explains what was just seen.
fn next_command(args: &CompareArgs, runs: &[Run<'_>]) -> String {
    let workload = args.workload.as_deref().unwrap_or(DEFAULT_WORKLOAD);
    let compared = |choice: &str| match args.schemes[..] {
        [] => choice.starts_with("read_levels="),
        _ => args.schemes.iter().any(|c| {
            let axis = choice.strip_prefix(c.axis.name);
            axis.is_some_and(|rest| rest.starts_with('='))
        }),
    };
    let mut command = format!("next: firstread run {workload}");
    let all = runs.get(1).or(runs.first()).map(|run| run.setup.schemes());
    let all = all.unwrap_or_default();
    for choice in all.split_whitespace().filter(|c| compared(c)) {
        command += &format!(" --scheme {choice}");
    }
    if compared("read_levels=") {
        command += " --calibration-log";
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_axes_are_combined_last_one_fastest() {
        let ab = parse_choices("read_levels=factory,frozen").unwrap();
        let cd = parse_choices("read_levels=optimal,ct-qlc").unwrap();
        let names: Vec<Vec<&str>> = combinations(&[ab, cd])
            .iter()
            .map(|c| c.iter().map(|choice| choice.scheme.name).collect())
            .collect();
        assert_eq!(
            names,
            [
                ["factory", "optimal"],
                ["factory", "ct-qlc"],
                ["frozen", "optimal"],
                ["frozen", "ct-qlc"]
            ]
        );
    }
}
