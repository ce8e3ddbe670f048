//! The table of a matrix to read, and the same as data.

use anyhow::Result;
use firstread_session::study::metric::{Metric, Source};
use firstread_session::{Setup, Varied};

use super::combination::{Combination, Rows};
use crate::output::format::{Side, change, count, rare, si, table, time};
use crate::output::human;

/// A column of figures: its metric, its heading, and how a value is shown.
type Figure = (&'static str, &'static str, fn(f64) -> String);

fn us(value: f64) -> String {
    time(value * 1e3)
}

fn percent(value: f64) -> String {
    crate::output::format::share(value / 100.0)
}

/// Percentiles, from the middle to the far tail, with how many requests leave ten beyond each.
pub const PERCENTILES: [(&str, &str, u64); 6] = [
    ("p50_us", "P50", 20),
    ("p99_us", "P99", 1_000),
    ("p99.9_us", "P99.9", 10_000),
    ("p99.99_us", "P99.99", 100_000),
    ("p99.999_us", "P99.999", 1_000_000),
    ("p99.9999_us", "P99.9999", 10_000_000),
];

const BEFORE: [Figure; 2] = [("iops", "IOPS", si), ("mean_us", "mean", us)];
const AFTER: [Figure; 4] = [
    ("write_mean_us", "write mean", us),
    ("write_p99.9_us", "write P99.9", us),
    ("first_try_percent", "first try", percent),
    ("lost_share", "reads lost", rare),
];

/// Whether any combination has `metric`.
pub fn has(ran: &Rows<'_>, metric: &str) -> bool {
    ran.combinations.iter().any(|c| c.over(metric).is_some())
}

/// The percentile of the tail that every combination has.
fn tail(ran: &Rows<'_>) -> Option<(&'static str, &'static str)> {
    let all = |metric: &str| ran.combinations.iter().all(|c| c.over(metric).is_some());
    let mut known = PERCENTILES[..4].iter().rev();
    known
        .find(|(metric, ..)| all(metric))
        .map(|&(metric, name, _)| (metric, name))
}

/// The combination that `of` is compared with: the same but for the first value of what is first.
fn base<'a>(ran: &'a Rows<'_>, of: &Combination) -> Option<&'a Combination> {
    let first = ran.asked.sweep.varied.first()?.1.first()?;
    let same = |c: &&Combination| {
        c.values[0] == *first && c.values[1..] == of.values[1..] && c.jobs == of.jobs
    };
    ran.combinations.iter().find(same)
}

/// The table, and what it is about.
pub struct Table {
    /// The first is the head.
    pub rows: Vec<Vec<String>>,
    /// Columns of names, before those of figures.
    names: usize,
    /// The percentile whose changes are shown, if one is.
    pub compared: Option<&'static str>,
    /// Whether a percentile is not known in some row.
    blank: bool,
}

pub fn of(ran: &Rows<'_>) -> Table {
    let varied = &ran.asked.sweep.varied;
    let drives = ran.asked.seeds.len();
    let percentiles = PERCENTILES
        .iter()
        .map(|&(metric, name, _)| (metric, name, us as fn(f64) -> String));
    let figures = BEFORE.into_iter().chain(percentiles).chain(AFTER);
    let figures: Vec<Figure> = figures.filter(|(metric, ..)| has(ran, metric)).collect();
    let compared = tail(ran).filter(|_| ran.asked.compares);

    let mut head: Vec<String> = varied.iter().map(|(v, _)| v.name().to_owned()).collect();
    let has_groups = ran.combinations.iter().any(|c| c.jobs.is_some());
    let names = varied.len() + usize::from(has_groups);
    head.extend(has_groups.then(|| "jobs".to_owned()));
    head.extend(figures.iter().map(|(_, name, _)| (*name).to_owned()));
    if let Some((_, name)) = compared {
        head.push(format!("{name} change"));
    }
    let mut rows = vec![head];
    let mut blank = false;
    for combination in &ran.combinations {
        let mut values = combination.values.clone();
        values.extend(has_groups.then(|| combination.jobs().to_owned()));
        let mut ranges = vec![String::new(); values.len()];
        for (metric, _, show) in &figures {
            let over = combination.over(metric);
            blank |= over.is_none() && metric.starts_with('p');
            values.push(over.map_or(String::new(), |over| show(over.median)));
            ranges.push(over.map_or(String::new(), |over| over.range(show)));
        }
        if let Some((metric, _)) = compared {
            let shown = |ratio: f64| change(ratio, 1.0);
            let base = base(ran, combination).filter(|base| base.values != combination.values);
            let against = base.and_then(|base| combination.against(base, metric));
            values.push(against.map_or(String::new(), |a| shown(a.median)));
            ranges.push(against.map_or(String::new(), |a| a.range(shown)));
        }
        rows.push(values);
        rows.extend((drives > 1).then_some(ranges));
    }
    Table {
        rows,
        names,
        compared: compared.map(|(_, name)| name),
        blank,
    }
}

/// The report around `of`.
pub fn report(ran: &Rows<'_>, of: &Table) -> String {
    let mut sides = vec![Side::Left; of.names];
    sides.resize(of.rows[0].len(), Side::Right);
    let mut text = heading(ran) + "\n" + &table("  ", &sides, &of.rows) + "\n";
    if let (Some(_), Some((first, values))) = (of.compared, ran.asked.sweep.varied.first()) {
        text += &format!(
            "changes are against {}={} with all else the same\n",
            first.name(),
            values[0]
        );
    }
    if ran.asked.seeds.len() > 1 {
        text +=
            "values are medians over drives; below them is the lowest … highest of the drives\n";
    }
    text += &needs(ran, of.blank);
    text
}

/// Where the rarest percentile that all rows have is lowest and highest, in a line; none where they have none in common.
pub fn headline(ran: &Rows<'_>) -> Option<String> {
    let (metric, name) = tail(ran)?;
    let of = |c: &Combination| c.over(metric).map_or(0.0, |over| over.median);
    let by = |a: &&Combination, b: &&Combination| of(a).total_cmp(&of(b));
    let said = |c: &Combination| {
        let varied = ran.asked.sweep.varied.iter().zip(&c.values);
        let values = varied.map(|((v, _), value)| format!("{}={value}", v.name()));
        let jobs = c.jobs.as_ref().map(|(_, jobs)| format!("jobs {jobs}"));
        let at: Vec<String> = values.chain(jobs).collect();
        format!("{} at {}", us(of(c)), at.join(" "))
    };
    let all = || ran.combinations.iter();
    let (low, high) = (all().min_by(by)?, all().max_by(by)?);
    Some(format!("{name}: from {} to {}", said(low), said(high)))
}

/// What is needed for percentiles that are not there.
fn needs(ran: &Rows<'_>, blank: bool) -> String {
    let missing = PERCENTILES.iter().find(|(metric, ..)| !has(ran, metric));
    let mut text = String::new();
    if blank {
        text += "a blank percentile has fewer than 10 requests of its run beyond it\n";
    }
    if let Some((_, name, requests)) = missing {
        text += &format!("{name} needs {} requests a run\n", count(*requests));
    }
    text
}

/// What has run, and what all runs have in common.
fn heading(ran: &Rows<'_>) -> String {
    let varied = &ran.asked.sweep.varied;
    let each = ran.combinations.iter().filter(|c| c.is_first());
    let runs: usize = each.map(|c| c.runs.len()).sum();
    let of = |(v, values): &(Varied, Vec<String>)| format!("{} {}", values.len(), v.name());
    let crossed: Vec<String> = varied.iter().map(of).collect();
    let mut text = format!(
        "{}: {} runs ({}",
        ran.asked.base.input.title(),
        count(runs as u64),
        crossed.join(" × ")
    );
    let seeds: Vec<String> = ran.asked.seeds.iter().map(u64::to_string).collect();
    text += &match seeds.len() {
        1 => format!(", seed {})\n", seeds[0]),
        n => format!(" × {n} drives, seeds {})\n", seeds.join(" ")),
    };
    let setups = || {
        ran.combinations
            .iter()
            .flat_map(|c| c.runs.iter().map(|(setup, _)| setup))
    };
    if let Some(first) = setups().next() {
        let lines: [fn(&Setup) -> String; 2] = [
            |setup| format!("drive {}", setup.profile.name),
            human::state_line,
        ];
        for line in lines {
            let shown = line(first);
            if setups().all(|setup| line(setup) == shown) {
                text += &format!("  {shown}\n");
            }
        }
    }
    text + &schemes(&setups().collect::<Vec<_>>())
}

/// The schemes that all runs have, and a line for each drive with those that differ between drives. Schemes that differ
/// between runs of one drive are a column of the table.
fn schemes(setups: &[&Setup]) -> String {
    let Some(first) = setups.first() else {
        return String::new();
    };
    let of = |setup: &Setup, axis: &str| setup.profile.scheme(axis).map(|c| c.scheme.name);
    let same = |setups: &[&Setup], axis: &str| {
        let mut all = setups.windows(2);
        all.all(|two| of(two[0], axis) == of(two[1], axis))
    };
    let axes: Vec<&str> = first.profile.schemes.iter().map(|c| c.axis.name).collect();
    let line = |setup: &Setup, axes: &mut dyn Iterator<Item = &&str>| {
        let one = |axis: &&str| Some(format!("{axis}={}", of(setup, axis)?));
        axes.filter_map(one).collect::<Vec<_>>().join(" ")
    };
    let shared = line(first, &mut axes.iter().filter(|axis| same(setups, axis)));
    let mut text = format!("  {shared}\n");
    let mut drives: Vec<&str> = Vec::new();
    for setup in setups {
        let name = setup.profile.name.as_str();
        if drives.contains(&name) {
            continue;
        }
        drives.push(name);
        let its: Vec<&Setup> = setups
            .iter()
            .copied()
            .filter(|other| other.profile.name == name)
            .collect();
        let own = |axis: &&&str| !same(setups, axis) && same(&its, axis);
        let own = line(setup, &mut axes.iter().filter(own));
        if !own.is_empty() {
            text += &format!("  {name}: {own}\n");
        }
    }
    let mut told = Vec::new();
    for setup in setups {
        for note in setup.notes() {
            let note = format!("  {}: {note}\n", setup.profile.name);
            if !told.contains(&note) {
                told.push(note);
            }
        }
    }
    text + &told.concat()
}

/// A row for each run and drive, or for each group of its jobs: where it lies, how it ended, and its metrics. Units are in the names of columns.
pub fn csv(ran: &Rows<'_>) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let varied = &ran.asked.sweep.varied;
    let mut head = vec!["workload".to_owned()];
    head.extend(varied.iter().map(|(v, _)| v.column()));
    // What does not vary is the same in every row, so that tables of several commands can be put together.
    let state = [
        ("drive", |s: &Setup| s.profile.name.clone()),
        ("age_h", |s: &Setup| {
            range(hours(s.state.age.0), hours(s.state.age.1))
        }),
        ("temperature_c", |s: &Setup| {
            s.state.temperature_c.to_string()
        }),
        ("pe_cycles", |s: &Setup| {
            range(s.state.pe_cycles.0, s.state.pe_cycles.1)
        }),
        ("workload_seed", |s: &Setup| {
            s.state.workload_seed.to_string()
        }),
    ] as [(&str, fn(&Setup) -> String); 5];
    let state: Vec<_> = state
        .into_iter()
        .filter(|(name, _)| !head.iter().any(|h| h == name))
        .collect();
    head.extend(state.iter().map(|(name, _)| (*name).to_owned()));
    let has_groups = ran.combinations.iter().any(|c| c.jobs.is_some());
    head.extend(has_groups.then(|| "jobs".to_owned()));
    head.extend(["seed".into(), "ended".into()]);
    let metrics = Metric::of(Source::Runs);
    let metrics: Vec<_> = metrics.iter().filter(|m| any(ran, m.name)).collect();
    head.extend(metrics.iter().map(|m| m.name.to_owned()));
    csv.write_record(&head)?;
    for combination in &ran.combinations {
        for (setup, kept) in &combination.runs {
            let mut row = vec![setup.input.title().to_owned()];
            let values = varied.iter().zip(&combination.values);
            row.extend(values.map(|((v, _), value)| v.cell(value)));
            row.extend(state.iter().map(|(_, of)| of(setup)));
            row.extend(has_groups.then(|| combination.jobs().to_owned()));
            row.extend([setup.seed.to_string(), kept.ended.clone()]);
            row.extend(metrics.iter().map(|metric| {
                let value = kept.values.get(metric.name).and_then(|v| v.as_f64());
                value.map_or(String::new(), |v| v.to_string())
            }));
            csv.write_record(&row)?;
        }
    }
    Ok(csv.into_inner()?)
}

/// Whether any run has `metric`.
fn any(ran: &Rows<'_>, metric: &str) -> bool {
    let mut runs = ran.combinations.iter().flat_map(|c| &c.runs);
    runs.any(|(_, kept)| kept.values.contains_key(metric))
}

fn hours(ns: firstread_core::Ns) -> f64 {
    ns.0 as f64 / 3.6e12
}

fn range<T: PartialEq + std::fmt::Display>(low: T, high: T) -> String {
    match low == high {
        true => low.to_string(),
        false => format!("{low}..{high}"),
    }
}
