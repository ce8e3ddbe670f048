//! One load on several drives: each figure's median and spread over drives, beside the interval within one.

use firstread_drive::stats::Percentile;
use firstread_session::results::TAIL;

use super::format::{Side, bytes, count, plus_minus, rare, share, si, table, time};
use super::human::{self, Losses, Marks, PERCENTILES};
use super::spread::Spread;
use super::summary::{Direction, Run, Summary, causes, parts};

/// What the columns of a spread mean.
pub const SPREAD: &str = "over drives: lowest … highest of them, each with chips of its own under the same load; within \
     one drive: the half\nof the 95 % interval over other requests (--workload-seed), median of the drives\n";

/// The name of a direction, and its requests.
type OfDirection = (&'static str, fn(&Summary) -> &Direction);

/// How a figure is found and shown.
pub type Figure = (fn(&Summary) -> f64, fn(f64) -> String);

/// The whole report of the same load on several drives.
pub fn report(drives: &[Run<'_>]) -> String {
    let runs: Vec<&Summary> = drives.iter().map(|run| &run.summary).collect();
    let Some(Run { setup, summary, .. }) = drives.first() else {
        return String::new();
    };
    let seeds = human::seeds(drives.iter().map(|run| run.setup));
    let configuration = human::configuration(setup, summary.capacity_bytes);
    let mut text = format!("{configuration}\n  {seeds}\n");
    for Run { setup, summary, .. } in drives {
        if !summary.burn_in.is_empty() {
            text += &format!("  seed {}: {}", setup.seed, summary.burn_in);
        }
    }
    for (jobs, runs) in parts(drives) {
        text += &part(jobs, &runs);
    }
    let losses = Losses::sum(runs.iter().map(|run| run.losses()));
    text + &human::uncorrectable(losses) + &human::error_rate_of_cells(setup, losses) + SPREAD
}

/// What jobs that ran together came to; with their names where others ran before or after them.
fn part(jobs: Option<String>, drives: &[Run<'_>]) -> String {
    let runs: Vec<&Summary> = drives.iter().map(|run| &run.summary).collect();
    let explained = runs.first().map_or("read", |o| o.explained.as_str());
    let of_jobs = jobs.map_or(String::new(), |jobs| format!(" of {jobs}"));
    let directions: [OfDirection; 4] = [
        ("read", |o| &o.read),
        ("write", |o| &o.write),
        ("trim", |o| &o.trim),
        ("flush", |o| &o.flush),
    ];
    let mut text = String::new();
    for (name, of) in directions {
        if runs.iter().all(|o| of(o).count > 0) {
            text += &direction(&format!("{name}{of_jobs}"), &runs, of);
        }
    }
    text += &format!("\npages and errors{of_jobs}\n");
    let mut rows = vec![words(["", "median", "over drives"])];
    let first_try: Figure = (|o| o.first_try, share);
    let lost: Figure = (|o| o.read.lost_share(), rare);
    let whole: fn(f64) -> String = |n| count(n as u64);
    let background: Figure = (|o| o.background_reads as f64, whole);
    let figures = [
        ("first try", first_try),
        ("share of reads lost", lost),
        ("background reads", background),
    ];
    for (name, (of, show)) in figures {
        if let Some(s) = Spread::of(runs.iter().map(|o| Some(of(o)))) {
            rows.push(vec![name.into(), show(s.median), s.range(show)]);
        }
    }
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    text += &format!(
        "\nlargest causes of the slowest {} % of {explained}s{of_jobs}, all drives together\n  {}\n\n",
        TAIL * 100.0,
        causes(runs.iter().copied()).join(", ")
    );
    text
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn direction(name: &str, runs: &[&Summary], of: fn(&Summary) -> &Direction) -> String {
    let mut rows = vec![words(["", "median", "over drives", "within one drive", ""])];
    let mut add = |name: String,
                   value: &dyn Fn(&Summary) -> f64,
                   half: &dyn Fn(&Summary) -> Option<f64>,
                   show: fn(f64) -> String,
                   mark: String| {
        if let Some(s) = Spread::of(runs.iter().map(|o| Some(value(o)))) {
            let within = within(runs.iter().map(|o| half(o)));
            rows.push(vec![name, show(s.median), s.range(show), within, mark]);
        }
    };
    let seconds = |o: &Summary| o.runtime_ns.max(1) as f64 / 1e9;
    let rate = |o: &Summary| of(o).rate_half;
    let iops = |o: &Summary| of(o).count as f64 / seconds(o);
    add("IOPS".into(), &iops, &rate, si, String::new());
    let bandwidth = |o: &Summary| of(o).bytes as f64 / seconds(o);
    add(
        "bytes a second".into(),
        &bandwidth,
        &rate,
        bytes,
        String::new(),
    );
    let mean = |o: &Summary| of(o).mean_ns;
    let half = |o: &Summary| of(o).mean_half_ns.map(|half| half / of(o).mean_ns);
    add("mean".into(), &mean, &half, time, String::new());
    let mut marks = Marks::default();
    let mut unknown = Vec::new();
    for percent in PERCENTILES {
        let all: Vec<Percentile> = runs.iter().map(|o| of(o).percentile(percent)).collect();
        if all.iter().any(|p| p.beyond == 0) {
            unknown.push(percent);
            continue;
        }
        let mark = all.iter().map(|p| marks.of(p)).max_by_key(String::len);
        let value = |o: &Summary| of(o).percentile(percent).ns as f64;
        let half = |o: &Summary| half_of(&of(o).percentile(percent));
        add(
            format!("P{percent}"),
            &value,
            &half,
            time,
            mark.unwrap_or_default(),
        );
    }
    let sides = [Side::Left, Side::Right, Side::Left, Side::Left, Side::Left];
    let n = runs.iter().map(|o| of(o).count).sum();
    let all = format!("\n{name}, {} requests in all\n", count(n));
    let needed = human::needed(&unknown, 1);
    all + &table("  ", &sides, &rows) + &marks.explained() + &needed
}

/// The half of an interval that most of several runs have; `too short` where most have none.
pub fn within(halves: impl Iterator<Item = Option<f64>>) -> String {
    let halves: Vec<Option<f64>> = halves.collect();
    let there: Vec<Option<f64>> = halves.iter().copied().filter(Option::is_some).collect();
    match Spread::of(there.iter().copied()) {
        Some(half) if 2 * there.len() > halves.len() => plus_minus(half.median),
        _ => "too short".into(),
    }
}

/// Half the interval of `p`, of its value.
pub fn half_of(p: &Percentile) -> Option<f64> {
    let (low, high) = p.interval_ns?;
    Some((high - low) as f64 / 2.0 / p.ns.max(1) as f64)
}
