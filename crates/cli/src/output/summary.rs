//! What tables of several runs need of each: small, kept on disk, and enough to make the tables again without its run.

use anyhow::{Context, Result};
use firstread_drive::stats::{Latencies, Percentile, Tail, TailShare};
use firstread_drive::{CAUSES, Cause, Ended};
use firstread_session::results::TAIL;
use firstread_session::study::metric;
use firstread_session::{Finished, Kept, Outcome, Part, Point, Setup};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::areas;
use super::human::{self, Losses, PERCENTILES};
use super::modes::{self, OfModes};
use super::page_types::{self, OfPageTypes};
use super::streams::{self, OfStreams};
use super::writes;

/// Percentiles of which something can be asked.
pub const ACCEPTED: [f64; 11] = [
    50.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999, 99.99999,
];

/// The tail of `writes`, where another direction than writes is explained.
fn write_tail(explained: &str, writes: &Latencies) -> Vec<String> {
    match explained {
        "write" => Vec::new(),
        _ => lines(&writes.tail),
    }
}

/// A run in a few kilobytes.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Summary {
    /// The jobs that it is of, where it is a part of a run; empty otherwise.
    pub jobs: String,
    /// The groups of jobs that ran one after another, where there were several. Latencies and rates are theirs: of the run
    /// only what is counted means something then.
    parts: Vec<Summary>,
    /// Requests that were measured.
    pub requests: u64,
    /// Whether all that is asked was done before as many requests were measured as the limit says.
    pub is_short: bool,
    /// From the first measured request to the last completion (ns).
    pub runtime_ns: u64,
    /// Capacity of the drive (bytes).
    pub capacity_bytes: u64,
    pub read: Direction,
    pub write: Direction,
    pub trim: Direction,
    pub flush: Direction,
    /// The direction whose tail is explained: [`Outcome::latencies`].
    pub explained: String,
    /// Its requests by latency and cause, a line a bucket: bucket, requests, time by cause (ns).
    tail: Vec<String>,
    /// The same of writes, where they are not explained by that.
    write_tail: Vec<String>,
    /// Share of page reads without a retry, and mean number of retries.
    pub first_try: f64,
    pub retries_mean: f64,
    /// Background reads before the run and in it.
    pub background_reads_before: u64,
    pub background_reads: u64,
    pub suspends: u64,
    /// Write amplification where it is steady, and what a table says of it otherwise.
    pub amplification: Option<f64>,
    pub amplification_text: String,
    /// What the burn-in did: a line, empty without one.
    pub burn_in: String,
    /// What cell modes cost and gave.
    pub modes: OfModes,
    /// Reads by page type.
    pub page_types: OfPageTypes,
    /// Streams among which a scheme chooses, and placement handles.
    pub streams: OfStreams,
    /// Cells of the table of areas, a row an area.
    pub areas: Vec<Vec<String>>,
    /// Notices about the workload.
    pub notices: Vec<String>,
    /// How the life of the drive ended, where it did.
    pub end_of_life: Option<String>,
}

/// Requests of a direction.
#[derive(Serialize, Deserialize, Clone, Default, Debug)]
pub struct Direction {
    pub count: u64,
    pub lost: u64,
    pub bytes: u64,
    pub mean_ns: f64,
    pub mean_half_ns: Option<f64>,
    pub max_ns: u64,
    pub rate_half: Option<f64>,
    /// Those of [`PERCENTILES`] and [`ACCEPTED`].
    percentiles: Vec<OnDisk>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
struct OnDisk(#[serde(with = "PercentileDef")] Percentile);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Percentile")]
struct PercentileDef {
    percent: f64,
    ns: u64,
    interval_ns: Option<(u64, u64)>,
    requests_needed: Option<u64>,
    beyond: u64,
    lost_share: f64,
    among_errors: bool,
}

impl Direction {
    fn of(latencies: &Latencies) -> Direction {
        if latencies.count() == 0 {
            return Direction::default();
        }
        let percentile = |&percent: &f64| OnDisk(latencies.percentile(percent));
        Direction {
            count: latencies.count(),
            lost: latencies.lost(),
            bytes: latencies.bytes,
            mean_ns: latencies.mean_ns(),
            mean_half_ns: latencies.mean_half_ns(),
            max_ns: latencies.max_ns(),
            rate_half: latencies.rate_half(),
            percentiles: PERCENTILES
                .iter()
                .chain(ACCEPTED.iter().filter(|p| !PERCENTILES.contains(p)))
                .map(percentile)
                .collect(),
        }
    }

    /// One of [`PERCENTILES`] or [`ACCEPTED`]; of no requests, 0 with none beyond it.
    pub fn percentile(&self, percent: f64) -> Percentile {
        let mut all = self.percentiles.iter().map(|OnDisk(p)| *p);
        all.find(|p| p.percent == percent).unwrap_or(Percentile {
            percent,
            ns: 0,
            interval_ns: None,
            requests_needed: None,
            beyond: 0,
            lost_share: 0.0,
            among_errors: false,
        })
    }

    /// Share of requests that ended in an error.
    pub fn lost_share(&self) -> f64 {
        self.lost as f64 / self.count.max(1) as f64
    }
}

impl Summary {
    /// Of the run of `setup`.
    pub fn of(setup: &Setup, outcome: &Outcome) -> Summary {
        let all = &outcome.stats.all;
        let (explained, latencies) = outcome.latencies();
        let counters = &outcome.stats.counters;
        let retries = outcome.retries();
        let parts = outcome.parts();
        let whole = Summary {
            jobs: String::new(),
            parts: Vec::new(),
            requests: all.all_requests() + all.flush.count(),
            is_short: setup
                .limit
                .is_some_and(|limit| match &outcome.stats.phases[..] {
                    [] => outcome.stats.requests < limit,
                    phases => phases.iter().any(|phase| !phase.reached_limit),
                }),
            runtime_ns: all.runtime_ns,
            capacity_bytes: outcome.capacity_bytes,
            read: Direction::of(&all.read),
            write: Direction::of(&all.write),
            trim: Direction::of(&all.trim),
            flush: Direction::of(&all.flush),
            explained: explained.to_owned(),
            tail: lines(&latencies.tail),
            write_tail: write_tail(explained, &all.write),
            first_try: retries.first_try,
            retries_mean: retries.mean,
            background_reads_before: outcome.background_reads_before,
            background_reads: counters.background_reads,
            suspends: counters.suspends,
            amplification: outcome.stats.amplification.steady().map(|s| s.mean),
            amplification_text: writes::amplification(outcome),
            burn_in: writes::burn_in(setup, outcome),
            modes: modes::of_run(setup, outcome),
            page_types: page_types::of_run(setup, outcome),
            streams: streams::of_run(setup, outcome),
            areas: areas::rows(outcome),
            notices: outcome.notices.iter().map(ToString::to_string).collect(),
            end_of_life: end_of_life(outcome.stats.ended),
        };
        if parts.len() < 2 {
            return whole;
        }
        Summary {
            parts: parts
                .iter()
                .zip(&outcome.stats.phases)
                .map(|(part, phase)| Summary {
                    is_short: setup.limit.is_some() && !phase.reached_limit,
                    ..whole.part(part)
                })
                .collect(),
            ..whole
        }
    }

    /// The same of one of several groups of jobs. Write amplification is that of the run, and no group's.
    fn part(&self, part: &Part<'_>) -> Summary {
        let (explained, latencies) = part.latencies();
        let retries = part.retries();
        Summary {
            jobs: part.name().unwrap_or_default(),
            requests: part.all.all_requests() + part.all.flush.count(),
            runtime_ns: part.all.runtime_ns,
            read: Direction::of(&part.all.read),
            write: Direction::of(&part.all.write),
            trim: Direction::of(&part.all.trim),
            flush: Direction::of(&part.all.flush),
            explained: explained.to_owned(),
            tail: lines(&latencies.tail),
            write_tail: write_tail(explained, &part.all.write),
            first_try: retries.first_try,
            retries_mean: retries.mean,
            background_reads: part.counters.background_reads,
            suspends: part.counters.suspends,
            amplification: None,
            amplification_text: String::new(),
            ..self.clone()
        }
    }

    /// The groups of jobs; itself where all jobs ran together.
    pub fn groups(&self) -> &[Summary] {
        match &self.parts[..] {
            [] => std::slice::from_ref(self),
            parts => parts,
        }
    }

    /// The summary of a run that is kept.
    pub fn read(kept: &Kept) -> Result<Summary> {
        Summary::of_values(&kept.values)
    }

    /// The summary among [`values`] that are kept.
    pub fn of_values(values: &Map<String, Value>) -> Result<Summary> {
        let value = values.get(SUMMARY).cloned().unwrap_or_default();
        serde_json::from_value(value).context("what is kept of a run is not its summary")
    }

    /// Requests a second of the direction whose tail is explained.
    pub fn iops(&self) -> f64 {
        self.explained().count as f64 * 1e9 / self.runtime_ns.max(1) as f64
    }

    /// The direction whose tail is explained.
    pub fn explained(&self) -> &Direction {
        match self.explained.as_str() {
            "write" => &self.write,
            "trim" => &self.trim,
            _ => &self.read,
        }
    }

    /// What the slowest `share` of the requests of `direction` waited for mostly, with its part of their time; none where
    /// their causes are not kept.
    pub fn cause(&self, direction: &str, share: f64) -> Option<String> {
        let kept = match direction {
            of if of == self.explained => &self.tail,
            "write" => &self.write_tail,
            _ => return None,
        };
        let mut tail = Tail::default();
        for line in kept {
            add_line(&mut tail, line)?;
        }
        let slowest = tail.slowest(share)?;
        let causes = Cause::ALL.into_iter().zip(slowest.share);
        let (cause, part) = causes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!("{} {:.0} %", human::in_words(cause), part * 100.0))
    }

    /// Requests that were lost, and bits that were read.
    pub fn losses(&self) -> Losses {
        Losses {
            reads: (self.read.lost, self.read.count),
            writes: (self.write.lost, self.write.count),
            read_bytes: self.read.bytes,
        }
    }
}

/// The key of a run's summary, which stands beside its metrics.
const SUMMARY: &str = "summary";

/// What is kept of a run for tables: its metrics, and its summary. Nothing of a life.
pub fn values(setup: &Setup, finished: &Finished) -> Map<String, Value> {
    let Finished::Run(outcome) = finished else {
        return Map::new();
    };
    let mut values = metric::of_finished(setup, finished);
    let summary = serde_json::to_value(Summary::of(setup, outcome));
    values.insert(SUMMARY.into(), summary.unwrap_or_default());
    values
}

/// How the life of the drive of a run ended, from [`values`] that are kept; none where it did not.
pub fn end_of_life_of(values: &Map<String, Value>) -> Option<&str> {
    values.get(SUMMARY)?.get("end_of_life")?.as_str()
}

/// A run that is kept.
#[derive(Clone)]
pub struct Run<'a> {
    pub setup: &'a Setup,
    /// What is kept of it.
    pub kept: &'a Kept,
    /// The same for tables.
    pub summary: Summary,
}

impl<'a> Run<'a> {
    /// That of `point`.
    pub fn read(point: &'a Point, kept: &'a Kept) -> Result<Run<'a>> {
        Ok(Run {
            setup: &point.setup,
            kept,
            summary: Summary::read(kept)?,
        })
    }
}

/// The groups of jobs of `runs` with the name of each; one without a name where all jobs ran together.
pub fn parts<'a>(runs: &[Run<'a>]) -> Vec<(Option<String>, Vec<Run<'a>>)> {
    let most = runs.iter().map(|run| run.summary.parts.len()).max();
    if most.is_none_or(|most| most == 0) {
        return vec![(None, runs.to_vec())];
    }
    let of = |i: usize| {
        let part = |run: &Run<'a>| {
            let summary = run.summary.parts.get(i)?.clone();
            Some(Run {
                summary,
                ..run.clone()
            })
        };
        let runs: Vec<Run<'a>> = runs.iter().filter_map(part).collect();
        let name = runs.first().map(|run| run.summary.jobs.clone());
        (name, runs)
    };
    (0..most.unwrap_or(0)).map(of).collect()
}

/// How the life of a drive ended, in words, if it did.
fn end_of_life(ended: Ended) -> Option<String> {
    match ended {
        Ended::EndOfLife(end) => Some(end.to_string()),
        // What was interrupted is told by its command.
        Ended::Completed | Ended::Interrupted => None,
    }
}

/// `tail` as lines, noughts at the end of a line left out.
fn lines(tail: &Tail) -> Vec<String> {
    let line = |(bucket, requests, parts): (usize, u64, &[u64; CAUSES])| {
        let used = parts.iter().rposition(|ns| *ns > 0).map_or(0, |i| i + 1);
        let mut line = format!("{bucket} {requests}");
        for ns in &parts[..used] {
            line += &format!(" {ns}");
        }
        line
    };
    tail.rows().map(line).collect()
}

/// Adds a line of [`lines`] to `tail`; none where it is not one.
fn add_line(tail: &mut Tail, line: &str) -> Option<()> {
    let mut numbers = line.split(' ');
    let bucket = numbers.next()?.parse().ok()?;
    let requests = numbers.next()?.parse().ok()?;
    let mut parts = [0; CAUSES];
    let mut places = parts.iter_mut();
    for number in numbers {
        *places.next()? = number.parse().ok()?;
    }
    tail.add(bucket, requests, &parts).then_some(())
}

/// The slowest requests of all runs together, by cause.
fn slowest<'a>(all: impl Iterator<Item = &'a Summary>) -> Option<TailShare> {
    let mut tail = Tail::default();
    for line in all.flat_map(|summary| &summary.tail) {
        add_line(&mut tail, line)?;
    }
    tail.slowest(TAIL)
}

/// The largest causes of the slowest requests of all drives together.
pub fn causes<'a>(all: impl Iterator<Item = &'a Summary>) -> Vec<String> {
    let Some(tail) = slowest(all) else {
        return Vec::new();
    };
    let mut causes: Vec<_> = Cause::ALL.into_iter().zip(tail.share).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let large = causes.into_iter().take(3).filter(|(_, part)| *part >= 0.01);
    large
        .map(|(cause, part)| format!("{} {:.0} %", human::in_words(cause), part * 100.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_session::{Input, Simulation};

    /// What is kept of a run says all that the run says: percentiles with their intervals, and the causes of its tail.
    #[test]
    fn model_a_summary_says_what_its_run_says() {
        let job = "[a]\nrw=randrw\nbs=4k\niodepth=16\nnorandommap\n".to_owned();
        let setup = Simulation {
            drive: "bench-4g".into(),
            limit: Some(5_000),
            ..Simulation::of(Input::job_file("a", job).unwrap())
        };
        let setup = setup.setup().unwrap();
        let outcome = setup.simulate().unwrap();
        let text = serde_json::to_string(&Summary::of(&setup, &outcome)).unwrap();
        let summary: Summary = serde_json::from_str(&text).unwrap();
        let all = &outcome.stats.all;
        for (of, latencies) in [(&summary.read, &all.read), (&summary.write, &all.write)] {
            assert!(of.count > 2_000);
            assert_eq!((of.count, of.lost), (latencies.count(), latencies.lost()));
            assert_eq!(
                (of.bytes, of.mean_ns),
                (latencies.bytes, latencies.mean_ns())
            );
            assert_eq!(of.mean_half_ns, latencies.mean_half_ns());
            assert_eq!(of.rate_half, latencies.rate_half());
            for percent in PERCENTILES {
                assert_eq!(of.percentile(percent), latencies.percentile(percent));
            }
        }
        assert_eq!(summary.trim.percentile(99.0).beyond, 0);
        let alone = outcome.latencies().1;
        assert_eq!(slowest([&summary].into_iter()), alone.tail.slowest(TAIL));
        let twice = slowest([&summary, &summary].into_iter()).unwrap();
        let mut both = alone.clone();
        both.merge(alone);
        assert_eq!(Some(twice), both.tail.slowest(TAIL));
    }

    /// A line of a tail that is damaged is noticed.
    #[test]
    fn fuzz_a_line_of_a_tail() {
        let mut tail = Tail::default();
        assert_eq!(add_line(&mut tail, "3 2 5 7"), Some(()));
        let many = ["1"; CAUSES + 3].join(" ");
        for line in ["", "3", "x 2", "3 -2", "99999 1", "3 2 5 ", &many] {
            assert_eq!(add_line(&mut tail, line), None, "{line}");
        }
    }
}
