//! `firstread compare`: one workload on drives that differ in their schemes.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use firstread_core::params::{Need, Role};
use firstread_drive::stats::Percentile;
use firstread_session::results::TAIL;
use firstread_session::{
    Choice, ChoiceError, Choices, Input, Kept, Point, Simulation, Sweep, Varied, crossed,
};

use crate::args::{BurnInArgs, DriveArgs, DrivesArgs, OutputArgs, Usage, WorkloadArgs};
use crate::matrix::{self, Asked};
use crate::output::drives::{self, SPREAD, half_of, within};
use crate::output::format::{Side, bytes, change, count, rare, ratio, share, si, table, time};
use crate::output::human::{self, Losses, Marks, state_line};
use crate::output::spread::Spread;
use crate::output::summary::{self, Direction, Run, Summary, causes};
use crate::output::{self, ENOUGH_BEYOND, WITHIN, page, understood};
use crate::run::check_one_scheme_per_axis;
use crate::runs::{self, Combination, Kind, Plan, Ran, Report, Row, View};
use crate::streams::quoted;

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
      {axis, runs: [{scheme, drive, point, result}]}, each result as of `firstread run --output json`
  firstread compare mixed-70-30 --drive bench-4g --burn-in --scheme gc_victim=greedy,cost-benefit
      each drive is burnt in under its own schemes until its writes are in a steady state
  firstread compare --drives 10
      on ten drives: changes are of each drive against itself, with their spread over drives

Several --scheme axes are combined: every scheme of one with every scheme of the other. So are lists
of drives, ages, temperatures, wears, --set, --job and --workload-seed: see `firstread run --help`.

Exit status: 0 when all of it ran, 1 on an error or at a drive's end of life, 2 when the command
line is wrong, 130 when it was interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: what had ended
until then is printed.";

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
/// The change is shown for the first of these percentiles that the sample supports.
const TAIL_PERCENTILES: [f64; 5] = [99.99, 99.9, 99.0, 90.0, 50.0];

/// Run one workload with several schemes and put the results side by side
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// As of `firstread run`; without it, a million random reads of 64 KiB at queue depth 128
    workload: Option<String>,
    /// A command line of fio, as it is: firstread compare -- --name=a --rw=randread --bs=4k
    #[arg(last = true, value_name = "FIO_OPTION")]
    fio: Vec<String>,
    /// The schemes to compare, the first being what gains are against; may be given once an axis
    #[arg(long = "scheme", value_name = "AXIS=A,B,C", value_parser = Choices::from_str)]
    schemes: Vec<Choices>,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    burn_in: BurnInArgs,
    #[command(flatten)]
    drives: DrivesArgs,
    #[command(flatten)]
    input: WorkloadArgs,
    #[command(flatten)]
    output: OutputArgs,
}

struct Compared<'a> {
    /// Label made of its schemes: `ct-qlc`, `ct-qlc,pipelined`.
    label: String,
    /// A simulation a drive, in the order of their seeds.
    drives: Vec<Run<'a>>,
}

impl Compared<'_> {
    fn runs(&self) -> impl Iterator<Item = &Summary> {
        self.drives.iter().map(|run| &run.summary)
    }

    /// A figure over its drives.
    fn over(&self, value: impl Fn(&Summary) -> f64) -> Spread {
        spread(self.runs().map(value))
    }

    /// Change of a figure from `base`, drive by drive.
    fn change(&self, base: &Compared<'_>, value: impl Fn(&Summary) -> f64) -> Spread {
        let pairs = self.runs().zip(base.runs());
        spread(pairs.map(|(one, other)| value(one) / value(other)))
    }
}

fn spread(values: impl Iterator<Item = f64>) -> Spread {
    Spread::of(values.map(Some)).unwrap_or(Spread {
        median: 0.0,
        low: 0.0,
        high: 0.0,
    })
}

/// Runs the command; `words` is what was typed after its name.
pub fn compare(args: &CompareArgs, words: &[String]) -> Result<()> {
    args.output.form.no_bins()?;
    check_one_scheme_per_axis(args.schemes.iter().map(|c| c.axis.name))?;
    let example = args.fio.is_empty().then_some(DEFAULT_WORKLOAD);
    let name = args.workload.as_deref().or(example);
    let mut input = args.input.open(name, &args.fio)?;
    understood::tell(&input, args.input.limit)?;
    let mut limit = args.input.limit;
    let is_example = args.workload.is_none() && args.fio.is_empty();
    if let (true, Input::Jobs { workload, .. }) = (is_example, &mut input) {
        // The limit alone decides how long the example is, so that it can be made longer.
        limit = limit.or(Some(DEFAULT_LIMIT));
        workload
            .jobs
            .iter_mut()
            .for_each(|job| job.number_ios = None);
    }
    let input = Arc::new(input);
    let seeds = args.drives.seeds(&args.drive.seed)?;
    let (schemes, sweep) = chosen(args)?;
    let base = Simulation {
        burn_in: args.burn_in.setup()?,
        limit,
        ..args.drive.simulation(&input, &schemes, &args.input)?
    };
    if sweep
        .varied
        .iter()
        .any(|(v, _)| !matches!(v, Varied::Scheme(_)))
    {
        return matrix::run(&Asked {
            base,
            sweep,
            seeds,
            compares: true,
            accept: &[],
            threads: args.drives.threads,
            output: &args.output,
        });
    }
    let axes: Vec<&str> = schemes.iter().map(|c| c.axis.name).collect();
    let plan = Plan::new(
        Kind::Comparison,
        Some(axes.join(",")),
        combinations(&base, schemes)?,
        &seeds,
        args.drives.threads,
        args.output.output(),
    );
    runs::several(&plan, &SideBySide { args, words })
}

/// Schemes side by side.
struct SideBySide<'a> {
    args: &'a CompareArgs,
    words: &'a [String],
}

impl View for SideBySide<'_> {
    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>> {
        let mut results = compared(ran)?;
        if !ran.is_whole() {
            comparable(&mut results);
        }
        let rows = results.iter().flat_map(|compared| {
            let row = move |run: &Run<'a>| Row::of(Some(&compared.label), run.setup, run.kept);
            compared.drives.iter().map(row)
        });
        let shown = results.iter().map(|compared| page::Shown {
            name: compared.label.clone(),
            runs: compared.runs().collect(),
        });
        let (headline, sections) = page::of(&shown.collect::<Vec<_>>());
        Ok(Report {
            headline,
            sections,
            text: report(ran.plan.axis.as_deref().unwrap_or_default(), &results),
            rows: rows.collect(),
            next: Some(next_command(self.args, self.words, &results)),
            ..Report::default()
        })
    }
}

/// All combinations of `schemes`.
fn combinations(base: &Simulation, schemes: Vec<Choices>) -> Result<Vec<Combination>> {
    let axes: Vec<Vec<Choice>> = schemes.into_iter().map(|c| c.schemes).collect();
    let one = |choices: Vec<Choice>| {
        let values: Vec<String> = choices.iter().map(|c| c.scheme.name.to_owned()).collect();
        let simulation = Simulation {
            schemes: choices,
            ..base.clone()
        };
        Ok(Combination {
            label: values.join(","),
            values,
            setup: simulation.setup()?,
            life: None,
        })
    };
    crossed(&axes).into_iter().map(one).collect()
}

/// What has run of each scheme.
fn compared<'a>(ran: &'a Ran<'_>) -> Result<Vec<Compared<'a>>> {
    let of = |(combination, runs): (&Combination, Vec<(&'a Point, &'a Kept)>)| {
        let drives = runs.into_iter().map(|(point, kept)| Run::read(point, kept));
        Ok(Compared {
            label: combination.label.clone(),
            drives: drives.collect::<Result<_>>()?,
        })
    };
    ran.combinations().map(of).collect()
}

/// Keeps of `results` the drives that all schemes have run, and the schemes that have run one of those: drives are
/// compared with themselves.
fn comparable(results: &mut Vec<Compared<'_>>) {
    let mut common: Option<Vec<u64>> = None;
    results.retain(|compared| {
        let seeds: Vec<u64> = compared.drives.iter().map(|run| run.setup.seed).collect();
        let both: Vec<u64> = match &common {
            None => seeds,
            Some(common) => common
                .iter()
                .copied()
                .filter(|seed| seeds.contains(seed))
                .collect(),
        };
        let any = !both.is_empty();
        if any {
            common = Some(both);
        }
        any
    });
    let common = common.unwrap_or_default();
    for compared in results {
        compared
            .drives
            .retain(|run| common.contains(&run.setup.seed));
    }
}

/// The schemes asked for, or those of the example, and all that has several values.
fn chosen(args: &CompareArgs) -> Result<(Vec<Choices>, Sweep)> {
    let is_example = args.workload.is_none() && args.fio.is_empty();
    let schemes = match &args.schemes[..] {
        [] if is_example => {
            let schemes = DEFAULT_SCHEMES.parse();
            vec![schemes.map_err(|e: ChoiceError| Usage(e.to_string()))?]
        }
        _ => args.schemes.clone(),
    };
    let sweep = args.drive.sweep(&schemes, &args.input.jobs)?;
    if !sweep.varied.is_empty() {
        return Ok((schemes, sweep));
    }
    let message = format!(
        "nothing to compare: give several schemes of an axis, as in --scheme {DEFAULT_SCHEMES}, or several drives, \
         ages or wears"
    );
    Err(Usage(message).into())
}

fn report(axis: &str, results: &[Compared<'_>]) -> String {
    let Some(first) = results.first() else {
        return String::new();
    };
    let Some(Run { setup, .. }) = first.drives.first() else {
        return String::new();
    };
    // Jobs that end by time run as many requests as the drive serves.
    let all = || results.iter().flat_map(Compared::runs);
    let requests = || all().map(|run| run.requests);
    let (least, most) = (requests().min().unwrap_or(0), requests().max().unwrap_or(0));
    let mut each = count(least);
    if most > least {
        each += &format!(" to {}", count(most));
    }
    let several = first.drives.len() > 1;
    let changes = match several {
        true => format!(
            "values are medians over drives, changes are of each drive against\nitself with {}, and \
             below is the lowest … highest of the drives",
            first.label
        ),
        false => format!("changes are against {}", first.label),
    };
    let first_drives = results.iter().filter_map(|c| c.drives.first());
    let mut notes: Vec<String> = Vec::new();
    for note in first_drives.map(|run| human::notes(run.setup)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let notes = notes.concat();
    let mut text = format!(
        "{} on {}, {}{}{notes}\n{each} requests each, {}; {changes}\n\n",
        setup.input.title(),
        setup.profile.name,
        state_line(setup),
        human::cells(setup),
        human::seeds(first.drives.iter().map(|run| run.setup)),
    );
    text += &what_they_are(results);
    text += &burn_ins(results);
    for (jobs, results) in parts(results) {
        text += &part(axis, jobs, &results);
    }
    let modes = |c: &'_ Compared<'_>| c.runs().map(|run| run.modes.clone()).collect::<Vec<_>>();
    let modes: Vec<_> = results
        .iter()
        .map(|c| (c.label.as_str(), modes(c)))
        .collect();
    text += &output::modes::compared(axis, &modes);
    let page_types = results.iter().filter_map(|c| {
        let first = c.runs().next()?;
        Some((c.label.as_str(), &first.page_types))
    });
    text += &output::page_types::compared(axis, &page_types.collect::<Vec<_>>());
    let streams = results.iter().filter_map(|c| {
        let first = c.runs().next()?;
        Some((c.label.as_str(), &first.streams))
    });
    text += &output::streams::compared(axis, &streams.collect::<Vec<_>>());
    let areas = results.iter().filter_map(|c| {
        let first = c.runs().next()?;
        Some((c.label.as_str(), first.areas.as_slice()))
    });
    text += &output::areas::compared(axis, &areas.collect::<Vec<_>>());
    for compared in results {
        let lost = human::uncorrectable(Losses::sum(compared.runs().map(Summary::losses)));
        text.extend(
            lost.lines()
                .map(|line| format!("\n{}: {line}\n", compared.label)),
        );
    }
    match several {
        true => text + "\n" + SPREAD,
        false => text + "\n" + WITHIN + "\n",
    }
}

/// The groups of jobs, each as if it had run alone, with its name; one without a name where all jobs ran together.
fn parts<'a>(results: &[Compared<'a>]) -> Vec<(Option<String>, Vec<Compared<'a>>)> {
    let mut all: Vec<(Option<String>, Vec<Compared<'a>>)> = Vec::new();
    for compared in results {
        for (i, (jobs, drives)) in summary::parts(&compared.drives).into_iter().enumerate() {
            if all.len() <= i {
                all.push((jobs, Vec::new()));
            }
            all[i].1.push(Compared {
                label: compared.label.clone(),
                drives,
            });
        }
    }
    all
}

/// What jobs that ran together came to; with their names where others ran before or after them.
fn part(axis: &str, jobs: Option<String>, results: &[Compared<'_>]) -> String {
    let of_jobs = jobs.map_or(String::new(), |jobs| format!(" of {jobs}"));
    let several = results.first().is_some_and(|first| first.drives.len() > 1);
    let explained = results.iter().flat_map(Compared::runs).next();
    let explained = explained.map_or("read", |run| run.explained.as_str());
    let mut text = String::new();
    if !of_jobs.is_empty() {
        text += &format!("latency{of_jobs}, which ran alone\n");
    }
    text += &latency_table(axis, results);
    text += match several {
        true => "\nlatency by percentile: median, over drives, and the interval within one drive\n",
        false => "\nlatency by percentile, with its 95 % interval within this run of this drive\n",
    };
    text += &percentile_table(axis, results);
    text += &write_table(axis, results);
    text += "\nwhat is behind it\n";
    text += &mechanism_table(axis, results);
    text += &format!(
        "\nlargest causes of the slowest {} % of {explained}s{of_jobs}\n",
        TAIL * 100.0,
    );
    text + &cause_table(results) + if of_jobs.is_empty() { "" } else { "\n" }
}

/// What each scheme that is compared does, a line each; an oracle is said to be one.
fn what_they_are(results: &[Compared<'_>]) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    for compared in results {
        let Some(run) = compared.drives.first() else {
            continue;
        };
        let choices = &run.setup.profile.schemes;
        for name in compared.label.split(',') {
            let chosen = choices.iter().find(|choice| choice.scheme.name == name);
            let Some(chosen) = chosen else {
                continue;
            };
            let role = match chosen.scheme.role {
                // One that plans by what is to come is the best that is known, and nothing proves that no plan is better.
                Role::Oracle if chosen.scheme.requires(Need::Future) => {
                    ": the best that is known, and no bound; no drive can do it"
                }
                Role::Oracle => ": a bound, which no drive can do",
                Role::Baseline | Role::Scheme => "",
            };
            let line = vec![name.to_owned(), format!("{}{role}", chosen.scheme.summary)];
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    table("  ", &[Side::Left, Side::Left], &lines) + "\n"
}

/// What burn-ins did, a line each drive, where there were any.
fn burn_ins(results: &[Compared<'_>]) -> String {
    let mut text = String::new();
    for compared in results {
        for Run { setup, summary, .. } in &compared.drives {
            let burn_in = &summary.burn_in;
            if !burn_in.is_empty() {
                text += &format!("{}, seed {}: {burn_in}", compared.label, setup.seed);
            }
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
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

/// A figure that is compared: how it is found and shown.
type Figure<'a> = (&'a dyn Fn(&Summary) -> f64, fn(f64) -> String);

/// The rows of `compared`: its figures, each with its change from `base` where there is one, and below
/// how they lie over drives, where there are several.
fn rows(
    compared: &Compared<'_>,
    base: Option<&Compared<'_>>,
    figures: &[Figure<'_>],
) -> Vec<Vec<String>> {
    let (mut values, mut ranges) = (vec![compared.label.clone()], vec![String::new()]);
    let as_change = |ratio: f64| change(ratio, 1.0);
    for (value, show) in figures {
        let over = compared.over(value);
        values.push(show(over.median));
        ranges.push(over.range(show));
        let change = base.map(|base| compared.change(base, value));
        // No change can be given against a baseline of zero.
        let change = change.filter(|c| c.high.is_finite());
        values.push(change.map_or(String::new(), |c| as_change(c.median)));
        ranges.push(change.map_or(String::new(), |c| c.range(as_change)));
    }
    match compared.drives.len() {
        1 => vec![values],
        _ => vec![values, ranges],
    }
}

/// The first of the tail's percentiles that all drives have reached in `of`.
fn reached(results: &[Compared<'_>], of: fn(&Summary) -> &Direction) -> f64 {
    let mut percentiles = TAIL_PERCENTILES.into_iter();
    let all = || results.iter().flat_map(Compared::runs);
    let by_all = |p: &f64| all().all(|o| of(o).percentile(*p).beyond >= ENOUGH_BEYOND);
    percentiles.find(by_all).unwrap_or(50.0)
}

fn latency_table(axis: &str, results: &[Compared<'_>]) -> String {
    let percent = reached(results, Summary::explained);
    let tail = |o: &Summary| o.explained().percentile(percent).ns as f64;
    let mean = |o: &Summary| o.explained().mean_ns;
    let mut marks = Marks::default();
    let mut all = vec![words([
        axis,
        &format!("P{percent}"),
        "change",
        "mean",
        "change",
        "IOPS",
        "change",
    ])];
    for (i, compared) in results.iter().enumerate() {
        let base = results.first().filter(|_| i > 0);
        let figures: [Figure<'_>; 3] = [(&tail, time), (&mean, time), (&Summary::iops, si)];
        let mut of_scheme = rows(compared, base, &figures);
        of_scheme[0][1] += &mark(&mut marks, compared, percent);
        all.extend(of_scheme);
    }
    table("  ", &sides(7), &all) + &marks.explained()
}

/// The marks that any of the drives has at `percent`.
fn mark(marks: &mut Marks, compared: &Compared<'_>, percent: f64) -> String {
    let each = compared.runs().map(|o| o.explained().percentile(percent));
    each.map(|p| marks.of(&p))
        .max_by_key(String::len)
        .unwrap_or_default()
}

fn percentile_table(axis: &str, results: &[Compared<'_>]) -> String {
    let mut head = vec![axis.to_owned()];
    let all = || results.iter().flat_map(Compared::runs);
    let reached = |p: &f64| all().any(|o| o.explained().percentile(*p).beyond >= FEWEST_BEYOND);
    let shown: Vec<f64> = PERCENTILES.into_iter().filter(reached).collect();
    head.extend(shown.iter().map(|p| format!("P{p}")));
    let mut rows = vec![head];
    let mut marks = Marks::default();
    for compared in results {
        let mut values = vec![compared.label.clone()];
        let mut intervals = vec![String::new()];
        let mut halves = vec![String::new()];
        for &percent in &shown {
            let of = |o: &Summary| o.explained().percentile(percent);
            let over = compared.over(|o| of(o).ns as f64);
            values.push(time(over.median) + &mark(&mut marks, compared, percent));
            let each: Vec<Percentile> = compared.runs().map(of).collect();
            match &each[..] {
                [one] => intervals.push(marks.interval(one)),
                _ => {
                    intervals.push(over.range(time));
                    halves.push(within(each.iter().map(half_of)));
                }
            }
        }
        rows.extend([values, intervals]);
        rows.extend((compared.drives.len() > 1).then_some(halves));
    }
    let unknown = PERCENTILES.into_iter().filter(|p| !shown.contains(p));
    let unknown: Vec<f64> = unknown.collect();
    table("  ", &sides(shown.len() + 1), &rows)
        + &marks.explained()
        + &human::needed(&unknown, FEWEST_BEYOND)
}

/// Rows about writes: latencies, or write amplification.
fn write_table(axis: &str, results: &[Compared<'_>]) -> String {
    let mut all = results.iter().flat_map(Compared::runs);
    if all.all(|o| o.write.count == 0) {
        return String::new();
    }
    let percent = reached(results, |o| &o.write);
    let bandwidth = |o: &Summary| o.write.bytes as f64 * 1e9 / o.runtime_ns.max(1) as f64;
    let tail = |o: &Summary| o.write.percentile(percent).ns as f64;
    let mean = |o: &Summary| o.write.mean_ns;
    let p50 = |o: &Summary| o.write.percentile(50.0).ns as f64;
    let amplification = |compared: &Compared<'_>, place: usize| {
        let of = |o: &Summary| o.amplification;
        let shown = |wa: f64| format!("{wa:.2}");
        match (Spread::of(compared.runs().map(of)), place) {
            (Some(over), 0) => shown(over.median),
            (Some(over), _) => over.range(shown),
            (None, 0) => {
                let not = compared.runs().find(|o| of(o).is_none());
                not.map_or(String::new(), |o| o.amplification_text.clone())
            }
            (None, _) => String::new(),
        }
    };
    let suspends = |o: &Summary| o.suspends as f64;
    let a_second = |value: f64| format!("{}/s", bytes(value));
    let mut table_rows = vec![words([
        axis,
        "P50",
        &format!("P{percent}"),
        "change",
        "mean",
        "change",
    ])];
    table_rows[0].extend(words(["bandwidth", "change", "amplification", "suspends"]));
    for (i, compared) in results.iter().enumerate() {
        let base = results.first().filter(|_| i > 0);
        let figures: [Figure<'_>; 3] = [(&tail, time), (&mean, time), (&bandwidth, a_second)];
        let others = [
            (1, compared.over(p50), time as fn(f64) -> String),
            (8, compared.over(suspends), |n| count(n as u64)),
        ];
        for (place, mut row) in rows(compared, base, &figures).into_iter().enumerate() {
            for (column, over, show) in others {
                let cell = match place {
                    0 => show(over.median),
                    _ => over.range(show),
                };
                row.insert(column, cell);
            }
            row.insert(8, amplification(compared, place));
            table_rows.push(row);
        }
    }
    format!(
        "\nwhat writes pay\n{}",
        table("  ", &sides(10), &table_rows)
    )
}

fn mechanism_table(axis: &str, results: &[Compared<'_>]) -> String {
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
    let whole: fn(f64) -> String = |n| count(n as u64);
    let figures: [drives::Figure; 6] = [
        (|o| o.first_try, share),
        (|o| o.read.lost_share(), rare),
        (|o| 1.0 - o.first_try, rare),
        (|o| o.retries_mean, ratio),
        (|o| o.background_reads_before as f64, whole),
        (|o| o.background_reads as f64, whole),
    ];
    for compared in results {
        let (mut values, mut ranges) = (vec![compared.label.clone()], vec![String::new()]);
        for (value, show) in figures {
            let over = compared.over(value);
            values.push(show(over.median));
            ranges.push(over.range(show));
        }
        rows.push(values);
        rows.extend((compared.drives.len() > 1).then_some(ranges));
    }
    table("  ", &sides(7), &rows)
}

fn cause_table(results: &[Compared<'_>]) -> String {
    let rows = results.iter().map(|compared| {
        let mut row = vec![compared.label.clone()];
        row.extend(causes(compared.runs()));
        row.resize(4, String::new());
        row
    });
    table("  ", &[Side::Left; 4], &rows.collect::<Vec<_>>())
}

/// What to do next: a command that explains what was just seen, with all that was asked of its run.
fn next_command(args: &CompareArgs, words: &[String], results: &[Compared<'_>]) -> String {
    let compared = |choice: &str| match args.schemes[..] {
        [] => choice.starts_with("read_levels="),
        _ => args.schemes.iter().any(|c| {
            let axis = choice.strip_prefix(c.axis.name);
            axis.is_some_and(|rest| rest.starts_with('='))
        }),
    };
    let mut command = "next: firstread run".to_owned();
    if args.workload.is_none() && args.fio.is_empty() {
        command += &format!(" {DEFAULT_WORKLOAD}");
    }
    // What is of the comparison and not of one of its runs is left out.
    const LEFT_OUT: [&str; 5] = ["--scheme", "--drives", "--threads", "--out", "--output"];
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or_default();
        if LEFT_OUT.contains(&name) {
            if name == word {
                rest.next();
            }
        } else if word != "--json" {
            command += &format!(" {}", quoted(word));
        }
    }
    let shown = results
        .get(1)
        .or(results.first())
        .and_then(|c| c.drives.first());
    let all = shown.map(|run| run.setup.schemes());
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
mod tests;
