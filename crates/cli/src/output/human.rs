//! The result of a run as people read it.

use firstread_core::Ns;
use firstread_drive::profile::drive::Cells;
use firstread_drive::stats::{Latencies, Percentile, Report};
use firstread_drive::{Cause, DriveState, Precondition};
use firstread_session::life::Class;
use firstread_session::results::TAIL;
use firstread_session::{Outcome, Part, Retries, Setup, SplitRun};
use firstread_workload::job::DEFAULT_PERCENTILES;
use serde_json::{Map, Value};

use super::areas;
use super::copies::refreshes;
use super::format::{
    Side, age, bar, bytes, capacity, count, plus_minus, range, rare, ratio, share, si, table, time,
};
use super::front;
use super::modes;
use super::page_types;
use super::phases;
use super::streams;
use super::writes;
use super::{ENOUGH_BEYOND, WITHIN, WITHIN_PARTS};

/// Percentiles shown where the job asks for none of its own.
pub const PERCENTILES: [f64; 9] = [
    1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999,
];

/// Cells of a bar.
const BAR: usize = 30;

pub fn report(setup: &Setup, outcome: &Outcome) -> String {
    let mut text = heading(setup, outcome);
    let several = outcome.stats.reports.len() > 1;
    let parts = outcome.parts();
    for part in &parts {
        let reports = part.reports(&outcome.stats);
        for report in &reports {
            text += &job(if several { &report.name } else { "" }, report);
        }
        if reports.len() > 1 {
            let jobs = part.name();
            text += &job(jobs.as_deref().unwrap_or("all jobs"), part.all);
        }
    }
    text += &phases::lines(outcome);
    for part in &parts {
        text += &retries(part);
    }
    text += &modes::lines(setup, outcome);
    text += &page_types::lines(setup, outcome);
    text += &streams::lines(setup, outcome);
    text += &refreshes(outcome);
    text += &areas::lines(outcome);
    for part in &parts {
        let (direction, latencies) = part.latencies();
        let of_jobs = of_jobs(part);
        text += &tail(direction, &of_jobs, latencies);
        if direction != "write" {
            text += &tail("write", &of_jobs, &part.all.write);
        }
    }
    text += &footer(setup, outcome);
    let is_split = |split: &SplitRun| split.requests.len() > 1;
    let within = match outcome.split.as_ref().is_some_and(is_split) {
        false => WITHIN,
        true => WITHIN_PARTS,
    };
    text + within + "\n"
}

/// The jobs of a part of a run, to be put behind a noun; empty where it is the whole run.
fn of_jobs(part: &Part<'_>) -> String {
    part.name()
        .map_or(String::new(), |jobs| format!(" of {jobs}"))
}

/// What ran on which drive.
pub fn heading(setup: &Setup, outcome: &Outcome) -> String {
    let beyond = setup.beyond_rating().map(|text| format!("  {text}\n"));
    let burn_in = writes::burn_in(setup, outcome);
    let burn_in = match burn_in.is_empty() {
        true => burn_in,
        false => format!("  {burn_in}"),
    };
    let split = outcome.split.as_ref().map(|split| {
        let parts = match (split.requests.len(), setup.split.map(|split| split.parts)) {
            (ended, Some(all)) if ended < usize::from(all) => format!("{ended} of {all} parts"),
            (all, _) => format!("{all} parts"),
        };
        let mut text = format!("  in {parts} side by side, each with other requests on a copy of the drive\n");
        if let Some((of, drift)) = split.drift.filter(|(_, drift)| drift.is_there()) {
            text += &format!(
                "  not steady: latencies of {of}s change by {:+.1} % from the first halves of parts to the second\n",
                100.0 * drift.relative
            );
        }
        text
    });
    format!(
        "{}, {}\n{}{burn_in}{}",
        configuration(setup, outcome.capacity_bytes),
        seeds([setup].into_iter()),
        beyond.unwrap_or_default(),
        split.unwrap_or_default()
    )
}

/// The same without its seeds.
pub fn configuration(setup: &Setup, capacity_bytes: u64) -> String {
    format!(
        "{} on {}, {}\n  {}{}{}\n  {}",
        setup.input.title(),
        setup.profile.name,
        capacity(capacity_bytes),
        state_line(setup),
        cells(setup),
        notes(setup),
        setup.schemes(),
    )
}

/// Lines about what is to be known of the drive, to be put below another.
pub fn notes(setup: &Setup) -> String {
    let notes = setup.notes();
    notes.iter().map(|note| format!("\n  {note}")).collect()
}

/// A line about its cells, to be put below another, if they are not modelled.
pub fn cells(setup: &Setup) -> String {
    let cells = setup.other_cells();
    cells.map_or(String::new(), |cells| format!("\n  {cells}"))
}

/// The seeds of drives, and that of their load.
pub fn seeds<'a>(drives: impl Iterator<Item = &'a Setup> + Clone) -> String {
    let load = drives
        .clone()
        .next()
        .map_or(0, |setup| setup.state.workload_seed);
    let seeds: Vec<u64> = drives.map(|setup| setup.seed).collect();
    let is_run = |seeds: &[u64]| {
        seeds
            .windows(2)
            .all(|two| two[0].checked_add(1) == Some(two[1]))
    };
    match &seeds[..] {
        [seed] => format!("seed {seed}, workload seed {load}"),
        [first, .., last] if is_run(&seeds) => {
            format!(
                "{} drives (seeds {first} to {last}), workload seed {load}",
                seeds.len()
            )
        }
        seeds => {
            let all: Vec<String> = seeds.iter().map(u64::to_string).collect();
            let n = seeds.len();
            format!(
                "{n} drives (seeds {}), workload seed {load}",
                all.join(", ")
            )
        }
    }
}

/// The state of the drive in a line.
pub fn state_line(setup: &Setup) -> String {
    let DriveState {
        age: (youngest, oldest),
        pe_cycles: (low, high),
        ..
    } = setup.state;
    let ages = match youngest == oldest {
        true => age(oldest),
        false => format!("{} to {}", age(youngest), age(oldest)),
    };
    let wear = if low == high {
        low.to_string()
    } else {
        format!("{low} to {high}")
    };
    let written = match setup.state.precondition {
        _ if setup.state.fill == 0.0 => "empty".to_owned(),
        Precondition::None => "filled in address order".to_owned(),
        Precondition::Random => "overwritten at random".to_owned(),
        Precondition::Zipf(theta) => format!("overwritten by Zipf's law, theta {theta}"),
    };
    let celsius = match setup.state.temperature_step {
        None => format!("{} °C", setup.state.temperature_c),
        Some((at, then)) => format!(
            "{} °C and, from {} on, {then} °C",
            setup.state.temperature_c,
            age(at)
        ),
    };
    let rated = format!(" of {} rated", count(setup.rated_pe_cycles().into()));
    let mut line = format!("{written}, {ages} at {celsius}, {wear} P/E{rated}");
    if let Some(last) = setup.state.last {
        let percent = f64::from(last.permille) / 10.0;
        line += &format!(
            " and, in the last {percent} % of superblocks, {}",
            last.pe_cycles
        );
    }
    if setup.state.unpowered > Ns::ZERO {
        line += &format!(", then {} without power", age(setup.state.unpowered));
    }
    if let Some(lived) = setup.state.earlier_fill(&setup.profile) {
        line += &format!(", after an earlier fill of {}", age(lived));
    }
    if setup.state.fill > 0.0 && setup.state.fill < 1.0 {
        line += &format!(", {} % full", setup.state.fill * 100.0);
    }
    line
}

fn job(title: &str, report: &Report) -> String {
    let mut text = String::new();
    if let Some(found) = report.depth {
        let of = if title.is_empty() {
            String::new()
        } else {
            format!(" of {title}")
        };
        text += &match found.settled {
            true => format!(
                "\nqueue depth{of}: {} is the highest that keeps latency_target; what follows is \
                 of that depth alone\n",
                found.depth
            ),
            false => format!(
                "\nqueue depth{of}: the search was at {} when the job ended; give it more \
                 requests or time, or a shorter latency_window\n",
                found.depth
            ),
        };
    }
    for (name, latencies) in [
        ("read", &report.read),
        ("write", &report.write),
        ("trim", &report.trim),
        ("flush", &report.flush),
    ] {
        if latencies.count() > 0 {
            let of = if title.is_empty() {
                String::new()
            } else {
                format!(" of {title}")
            };
            text += &format!("\n{name}{of}\n{}", direction(report, latencies));
        }
    }
    text
}

fn direction(report: &Report, latencies: &Latencies) -> String {
    let seconds = report.runtime_ns as f64 / 1e9;
    let rate = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let half = |half: Option<f64>| half.map_or(String::new(), |h| format!(" {}", plus_minus(h)));
    let mut text = format!(
        "  {} requests, {} in {} simulated\n  IOPS {}{}, bandwidth {}/s\n",
        count(latencies.count()),
        bytes(latencies.bytes as f64),
        time(report.runtime_ns as f64),
        si(rate(latencies.count() as f64)),
        half(latencies.rate_half()),
        bytes(rate(latencies.bytes as f64)),
    );
    text += &format!(
        "  latency mean {}{}, deviation {}, min {}, max {}\n\n",
        time(latencies.mean_ns()),
        // Requests that take no time have no relative interval.
        half(
            latencies
                .mean_half_ns()
                .filter(|_| latencies.mean_ns() > 0.0)
                .map(|h| h / latencies.mean_ns())
        ),
        time(latencies.stdev_ns()),
        time(latencies.min_ns() as f64),
        time(latencies.max_ns() as f64),
    );
    let own = !report.percentiles.is_empty() && report.percentiles != DEFAULT_PERCENTILES;
    let wanted = if own {
        report.percentiles.as_slice()
    } else {
        &PERCENTILES
    };
    let mut rows = vec![
        ["percentile", "latency", "95 % interval", ""]
            .map(String::from)
            .to_vec(),
    ];
    let mut marks = Marks::default();
    let mut unknown = Vec::new();
    for &percent in wanted {
        let p = latencies.percentile(percent);
        // No sample lies beyond this percentile, so its value is unknown.
        if p.beyond == 0 {
            unknown.push(percent);
            continue;
        }
        rows.push(vec![
            format!("{percent}"),
            time(p.ns as f64),
            marks.interval(&p),
            marks.of(&p),
        ]);
    }
    text += &table(
        "  ",
        &[Side::Right, Side::Right, Side::Left, Side::Left],
        &rows,
    );
    text + &marks.explained() + &needed(&unknown, 1)
}

/// How many requests the percentiles `unknown` need, of which at least `beyond` have to lie beyond each.
pub fn needed(unknown: &[f64], beyond: u64) -> String {
    let one = |percent: &f64| {
        // A decimal percentage is not exact in binary.
        let requests = (beyond as f64 / (1.0 - percent / 100.0) * (1.0 - 1e-9)).ceil();
        format!("P{percent} ({})", count(requests as u64))
    };
    let all: Vec<String> = unknown.iter().filter(|p| **p < 100.0).map(one).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("  more requests are needed for {}\n", all.join(", ")),
    }
}

/// Marks beside percentiles, and the meaning of those that were used.
#[derive(Clone, Copy, Default, Debug)]
pub struct Marks {
    few: bool,
    among_errors: bool,
    too_short: bool,
}

impl Marks {
    /// The mark of `p`.
    pub fn of(&mut self, p: &Percentile) -> String {
        let few = p.beyond < ENOUGH_BEYOND;
        self.few |= few;
        self.among_errors |= p.among_errors;
        let mark = |is: bool, mark| if is { mark } else { "" };
        mark(few, "*").to_owned() + mark(p.among_errors, "!")
    }

    /// The interval of `p` in one unit, `312 … 340 µs`, or the sample size that it needs.
    pub fn interval(&mut self, p: &Percentile) -> String {
        if let Some((low, high)) = p.interval_ns {
            return range(&time(low as f64), &time(high as f64));
        }
        self.too_short = true;
        match p.requests_needed {
            Some(n) => format!("needs {}", si(n as f64)),
            None => "too short".into(),
        }
    }

    /// A line for each mark used.
    pub fn explained(self) -> String {
        let mut text = String::new();
        if self.few {
            text +=
                &format!("  * fewer than {ENOUGH_BEYOND} requests lie beyond: read the interval\n");
        }
        if self.too_short {
            text += "  needs N: the run is too short for an interval; one of about N requests has one\n";
        }
        if self.among_errors {
            text += "  ! among errors: so many requests were lost that fewer than this share returned data;\n    \
                     the time is until the error\n";
        }
        text
    }
}

/// How many page reads took how many retries.
fn retries(part: &Part<'_>) -> String {
    let counters = part.counters;
    let Retries {
        pages,
        first_try,
        mean,
    } = part.retries();
    if pages == 0 {
        return String::new();
    }
    let mut text = format!(
        "\nretries of {} page reads for the host{}\n  first try {}, page failure rate {}, {} retries a page; \
         share of reads lost {}\n\n",
        count(pages),
        of_jobs(part),
        share(first_try),
        rare(1.0 - first_try),
        ratio(mean),
        rare(part.all.read.lost_share()),
    );
    let mut rows = Vec::new();
    // Bins of one size up to eight retries, then of doubling size: the tail is long and thin.
    let mut low = 0;
    while low < counters.retries.len() {
        let width = if low < 8 { 1 } else { low };
        let high = (low + width).min(counters.retries.len());
        let n: u64 = counters.retries[low..high].iter().sum();
        if n > 0 {
            let last = high == counters.retries.len();
            let label = match high - low {
                1 if !last => low.to_string(),
                _ if last => format!("{low} or more"),
                _ => format!("{low} to {}", high - 1),
            };
            let part = n as f64 / pages as f64;
            rows.push(vec![label, count(n), percent(part), bar(part, BAR)]);
        }
        low = high;
    }
    if counters.uncorrectable > 0 {
        let part = counters.uncorrectable as f64 / pages as f64;
        let lost = ["lost".into(), count(counters.uncorrectable), percent(part)];
        rows.push([&lost[..], &[bar(part, BAR)]].concat());
    }
    text += &table(
        "  ",
        &[Side::Right, Side::Right, Side::Right, Side::Left],
        &rows,
    );
    text
}

/// A share in percent with two decimals, or as a power of ten where those would be noughts.
fn percent(part: f64) -> String {
    if part >= 1e-3 {
        format!("{:.2} %", part * 100.0)
    } else {
        rare(part)
    }
}

/// Where the time of the slowest requests went.
fn tail(direction: &str, of_jobs: &str, latencies: &Latencies) -> String {
    let Some(tail) = latencies.tail.slowest(TAIL) else {
        return String::new();
    };
    let mut causes: Vec<(Cause, f64)> = Cause::ALL.into_iter().zip(tail.share).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut text = format!(
        "\nwhere the time of the slowest {} of {direction}s{of_jobs} went ({} requests)\n",
        slowest(tail.requests, latencies.count()),
        count(tail.requests),
    );
    let shown = causes.into_iter().filter(|(_, part)| *part >= 0.0005);
    let rows: Vec<Vec<String>> = shown
        .map(|(cause, part)| {
            vec![
                in_words(cause).into(),
                format!("{:.1} %", part * 100.0),
                bar(part, BAR),
            ]
        })
        .collect();
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    text
}

/// The share of the slowest requests, in words: more than [`TAIL`] where one bucket of latencies holds more.
fn slowest(requests: u64, all: u64) -> String {
    let share = requests as f64 / all.max(1) as f64;
    match share > 2.0 * TAIL {
        true => format!("{:.2} %", share * 100.0),
        false => format!("{} %", TAIL * 100.0),
    }
}

/// A cause, for people.
pub const fn in_words(cause: Cause) -> &'static str {
    match cause {
        Cause::Queue => "queue of the drive",
        Cause::Map => "waiting for the map",
        Cause::Cleaning => "cleaning is behind",
        Cause::Reserve => "no free superblock",
        Cause::DieHostRead => "die busy with other reads",
        Cause::DieRetry => "die busy with retries",
        Cause::DieCalibration => "die busy with calibration",
        Cause::DieMove => "die busy with moves",
        Cause::DieReadAhead => "die busy reading ahead",
        Cause::DieMap => "die busy with the map",
        Cause::DieProgram => "die busy programming",
        Cause::DieMoveProgram => "die busy programming moved data",
        Cause::DieDataIn => "die taking in data to program",
        Cause::DieErase => "die busy erasing",
        Cause::Sense => "sense",
        Cause::Transfer => "transfer",
        Cause::Decode => "decode",
        Cause::Retry => "its own retries",
        Cause::ReadRecovery => "soft senses and rebuilding",
        Cause::Suspend => "suspend",
        Cause::Flush => "until data are programmed",
        Cause::Link => "host link",
    }
}

/// Other work of the drive: one line for each kind that occurred.
fn footer(setup: &Setup, outcome: &Outcome) -> String {
    let c = &outcome.stats.counters;
    let [suspends, cancelled] = [c.suspends, c.cancelled_senses].map(count);
    let [soft, saved] = [c.soft_reads, c.soft_saved].map(count);
    let [rebuilt, rebuild_reads] = [c.rebuilt, c.rebuild_reads].map(count);
    let [merge_reads, merge_retries] = [c.merge_reads, c.merge_retries].map(count);
    let lines = [
        (
            c.merge_reads,
            format!(
                "pages read for old data of partial writes {merge_reads}, with {merge_retries} retries"
            ),
        ),
        (
            c.suspends,
            format!("programs and erases suspended {suspends}"),
        ),
        (
            c.cancelled_senses,
            format!("senses ahead that were not needed {cancelled}"),
        ),
        (
            c.soft_reads,
            format!("soft senses {soft}, which saved {saved} pages"),
        ),
        (
            c.rebuild_reads,
            format!(
                "pages rebuilt from their stripes {rebuilt}, by {rebuild_reads} page reads of other dies"
            ),
        ),
    ];
    let done = lines.iter().filter(|(n, _)| *n > 0);
    let mut text = format!(
        "\nbackground reads {} before the run, {} in it\n",
        count(outcome.background_reads_before),
        count(c.background_reads),
    );
    let behind = outcome.stats.all.read.behind_background;
    if behind.requests > 0 {
        text += &format!(
            "reads that waited for a die with a background read {}, at most {}\n",
            count(behind.requests),
            time(behind.longest_ns as f64),
        );
    }
    text += &writes::lines(setup, outcome);
    text.extend(done.map(|(_, line)| format!("{line}\n")));
    text += &front::lines(&setup.profile, c);
    text += &front::write_buffers(&outcome.stats.write_buffers);
    let losses = Losses::of(&outcome.stats.all);
    text + &uncorrectable(losses) + &error_rate_of_cells(setup, losses)
}

/// Requests that ended in an error.
#[derive(Clone, Copy, Default, Debug)]
pub struct Losses {
    /// Reads that did, and all.
    pub reads: (u64, u64),
    /// Writes that did, and all.
    pub writes: (u64, u64),
    /// Bytes of reads that did not.
    pub read_bytes: u64,
}

impl Losses {
    pub fn of(report: &Report) -> Losses {
        Losses {
            reads: (report.read.lost(), report.read.count()),
            writes: (report.write.lost(), report.write.count()),
            read_bytes: report.read.bytes,
        }
    }

    /// Of several runs together.
    pub fn sum(all: impl Iterator<Item = Losses>) -> Losses {
        let both = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        all.fold(Losses::default(), |sum, of| Losses {
            reads: both(sum.reads, of.reads),
            writes: both(sum.writes, of.writes),
            read_bytes: sum.read_bytes + of.read_bytes,
        })
    }
}

/// Says that data were lost, where they were.
pub fn uncorrectable(losses: Losses) -> String {
    let mut text = String::new();
    for (name, (lost, all)) in [("reads", losses.reads), ("writes", losses.writes)] {
        if lost > 0 {
            text += &format!(
                "UNCORRECTABLE: {} of {} {name} ended in an error ({}); latencies count them with the \
                 time until then\n",
                count(lost),
                count(all),
                rare(lost as f64 / all as f64),
            );
        }
    }
    text
}

/// [`error_rate`] on the cells of `setup`; empty where they never err, and where they are not modelled and nothing was lost,
/// which says nothing of a drive.
pub fn error_rate_of_cells(setup: &Setup, losses: Losses) -> String {
    match setup.other_cells() {
        Some(of) if of.cells == Cells::Ideal || losses.reads.0 == 0 => String::new(),
        _ => error_rate(losses),
    }
}

/// Uncorrectable reads for each bit read, beside what JESD218 allows of a drive over its life.
fn error_rate(losses: Losses) -> String {
    let bits = 8.0 * losses.read_bytes as f64;
    if bits == 0.0 {
        return String::new();
    }
    let measured = match losses.reads.0 {
        // Of no event in n trials the upper end of the 95 % interval is 3/n.
        0 => format!(
            "none in {}bit, so below {} a bit",
            spaced(bits),
            rare(3.0 / bits)
        ),
        lost => format!("{} a bit", rare(lost as f64 / bits)),
    };
    format!(
        "uncorrectable reads: {measured}; JESD218 allows {} (client), {} (enterprise)\n",
        rare(Class::CLIENT.most),
        rare(Class::ENTERPRISE.most)
    )
}

/// A number with its prefix, and a space where a unit follows.
fn spaced(value: f64) -> String {
    let text = si(value);
    match text.contains(' ') {
        true => text,
        false => text + " ",
    }
}

/// Run time and memory on this machine, as a result has them.
pub fn wall(of: &Map<String, Value>) -> String {
    let number = |key: &str| of.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let memory = of.get("peak_rss_bytes").and_then(Value::as_f64);
    let memory = memory.map_or(String::new(), |m| {
        format!(", {} of memory at most", bytes(m))
    });
    format!(
        "prepared in {}, ran in {} ({} requests a second){memory}",
        time(number("prepare_wall_seconds") * 1e9),
        time(number("wall_seconds") * 1e9),
        si(number("requests_per_wall_second")),
    )
}

#[cfg(test)]
mod tests;
