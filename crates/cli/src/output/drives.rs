//! One load on several drives: each figure's median and spread over drives, beside the interval within one.

use firstread_drive::stats::{Latencies, Percentile};
use firstread_session::results::{self, TAIL};
use firstread_session::{Outcome, Setup};
use serde_json::{Value, json};

use super::format::{Side, bytes, count, plus_minus, rare, share, si, table, time};
use super::human::{self, Marks, PERCENTILES};
use super::spread::Spread;
use super::writes;

/// What the columns of a spread mean.
pub const SPREAD: &str = "over drives: lowest … highest of them, each with chips of its own under the same load; within \
     one drive: the half\nof the 95 % interval over other requests (--workload-seed), median of the drives\n";

/// A direction of requests.
type Direction = (&'static str, fn(&Outcome) -> &Latencies);

/// How a figure is found and shown.
pub type Figure = (fn(&Outcome) -> f64, fn(f64) -> String);

/// The whole report of the same load on several drives.
pub fn report(setups: &[Setup], outcomes: &[Outcome]) -> String {
    let (Some(setup), Some(first)) = (setups.first(), outcomes.first()) else {
        return String::new();
    };
    let seeds = human::seeds(setups.iter());
    let mut text = format!("{}\n  {seeds}\n", human::configuration(setup, first));
    let directions: [Direction; 4] = [
        ("read", |o| &o.stats.all.read),
        ("write", |o| &o.stats.all.write),
        ("trim", |o| &o.stats.all.trim),
        ("flush", |o| &o.stats.all.flush),
    ];
    for (setup, outcome) in setups.iter().zip(outcomes) {
        let burn_in = writes::burn_in(setup, outcome);
        if !burn_in.is_empty() {
            text += &format!("  seed {}: {burn_in}", setup.seed);
        }
    }
    for (name, of) in directions {
        if outcomes.iter().all(|o| of(o).count() > 0) {
            text += &direction(name, outcomes, of);
        }
    }
    text += "\npages and errors\n";
    let mut rows = vec![words(["", "median", "over drives"])];
    let first_try: Figure = (|o| o.retries().first_try, share);
    let lost: Figure = (|o| o.stats.all.read.lost_share(), rare);
    let whole: fn(f64) -> String = |n| count(n as u64);
    let background: Figure = (|o| o.stats.counters.background_reads as f64, whole);
    let figures = [
        ("first try", first_try),
        ("share of reads lost", lost),
        ("background reads", background),
    ];
    for (name, (of, show)) in figures {
        if let Some(s) = Spread::of(outcomes.iter().map(|o| Some(of(o)))) {
            rows.push(vec![name.into(), show(s.median), s.range(show)]);
        }
    }
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    let (direction, _) = first.latencies();
    text += &format!(
        "\nlargest causes of the slowest {} % of {direction}s, all drives together\n  {}\n\n",
        TAIL * 100.0,
        causes(outcomes.iter()).join(", ")
    );
    let reports: Vec<_> = outcomes.iter().map(|o| &o.stats.all).collect();
    text + &human::uncorrectable(&reports) + &human::error_rate(&reports) + SPREAD
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn direction(name: &str, outcomes: &[Outcome], of: fn(&Outcome) -> &Latencies) -> String {
    let mut rows = vec![words(["", "median", "over drives", "within one drive", ""])];
    let mut add = |name: String,
                   value: &dyn Fn(&Outcome) -> f64,
                   half: &dyn Fn(&Outcome) -> Option<f64>,
                   show: fn(f64) -> String,
                   mark: String| {
        if let Some(s) = Spread::of(outcomes.iter().map(|o| Some(value(o)))) {
            let within = within(outcomes.iter().map(half));
            rows.push(vec![name, show(s.median), s.range(show), within, mark]);
        }
    };
    let seconds = |o: &Outcome| o.stats.all.runtime_ns.max(1) as f64 / 1e9;
    let rate = |o: &Outcome| of(o).rate_half();
    let iops = |o: &Outcome| of(o).count() as f64 / seconds(o);
    add("IOPS".into(), &iops, &rate, si, String::new());
    let bandwidth = |o: &Outcome| of(o).bytes as f64 / seconds(o);
    add(
        "bytes a second".into(),
        &bandwidth,
        &rate,
        bytes,
        String::new(),
    );
    let mean = |o: &Outcome| of(o).mean_ns();
    let half = |o: &Outcome| of(o).mean_half_ns().map(|half| half / of(o).mean_ns());
    add("mean".into(), &mean, &half, time, String::new());
    let mut marks = Marks::default();
    let mut unknown = Vec::new();
    for percent in PERCENTILES {
        let all: Vec<Percentile> = outcomes.iter().map(|o| of(o).percentile(percent)).collect();
        if all.iter().any(|p| p.beyond == 0) {
            unknown.push(percent);
            continue;
        }
        let mark = all.iter().map(|p| marks.of(p)).max_by_key(String::len);
        let value = |o: &Outcome| of(o).percentile(percent).ns as f64;
        let half = |o: &Outcome| half_of(&of(o).percentile(percent));
        add(
            format!("P{percent}"),
            &value,
            &half,
            time,
            mark.unwrap_or_default(),
        );
    }
    let sides = [Side::Left, Side::Right, Side::Left, Side::Left, Side::Left];
    let n = outcomes.iter().map(|o| of(o).count()).sum();
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

/// The largest causes of the slowest requests of all drives together.
pub fn causes<'a>(mut outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<String> {
    let of = |o: &'a Outcome| o.latencies().1;
    let Some(first) = outcomes.next() else {
        return Vec::new();
    };
    let mut all = of(first).clone();
    outcomes.for_each(|o| all.merge(of(o)));
    let Some(tail) = all.tail.slowest(TAIL) else {
        return Vec::new();
    };
    let mut causes: Vec<_> = firstread_drive::Cause::ALL
        .into_iter()
        .zip(tail.share)
        .collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let large = causes.into_iter().take(3).filter(|(_, part)| *part >= 0.01);
    large
        .map(|(cause, part)| format!("{} {:.0} %", human::in_words(cause), part * 100.0))
        .collect()
}

/// A run of a list of them: `scheme` where schemes are compared, which drive, its result.
pub fn row(scheme: Option<&str>, setup: &Setup, outcome: &Outcome) -> Value {
    json!({
        "scheme": scheme,
        "drive": setup.profile.name,
        "point": { "seed": setup.seed, "workload_seed": setup.state.workload_seed },
        "result": results::result(setup, outcome, false),
    })
}
