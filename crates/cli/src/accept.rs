//! `--accept`: what is asked of latencies and rates, and whether a run has it.
//!
//! A target is judged by the 95 % interval of its figure: it passes where all of the interval is within the target, it fails
//! where all of it is beyond, and otherwise the run is too short to tell. What a longest latency is has no interval: it is
//! that of the requests of the run.

use std::fmt;

use firstread_drive::profile::Dimension;
use firstread_drive::profile::quantity::{NS, ONE, Quantity};
use firstread_drive::stats::Percentile;
use firstread_session::{Input, Kept, Point};
use firstread_workload::job::{self, JobSpec};

use crate::args::Form;
use crate::output::format::{Side, count, range, si, table, time};
use crate::output::summary::{ACCEPTED, Direction, Summary};
use crate::streams::{data, tell};

/// A figure that is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Figure {
    /// In percent.
    Percentile(f64),
    Mean,
    /// The longest latency.
    Max,
    Iops,
}

/// What is asked of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// read, write or trim.
    direction: &'static str,
    figure: Figure,
    /// The most that a latency may be (ns), or the least that a rate has to be.
    bound: f64,
}

/// What is asked in one `--accept`.
#[derive(Clone, PartialEq, Debug)]
pub struct Targets(pub Vec<Target>);

impl Targets {
    /// Reads `read: p99=1.5ms max=20ms; write: p99.99=5ms`.
    pub fn parse(text: &str) -> Result<Targets, String> {
        let mut all = Vec::new();
        for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let (direction, targets) = part.split_once(':').ok_or_else(|| {
                format!("`{part}` does not say of what: begin it with read:, write: or trim:")
            })?;
            let direction = ["read", "write", "trim"]
                .into_iter()
                .find(|d| *d == direction.trim())
                .ok_or_else(|| format!("`{}` is none of read, write and trim", direction.trim()))?;
            for given in targets.split([' ', ',']).filter(|t| !t.is_empty()) {
                all.push(Target::parse(direction, given)?);
            }
        }
        match all.is_empty() {
            true => Err("expected targets, as in `read: p99=1.5ms p99.99=5ms max=20ms`".into()),
            false => Ok(Targets(all)),
        }
    }
}

/// All that `given` ask for.
pub fn all(given: &[Targets]) -> Vec<Target> {
    given
        .iter()
        .flat_map(|targets| targets.0.iter().cloned())
        .collect()
}

impl Target {
    fn parse(direction: &'static str, given: &str) -> Result<Target, String> {
        let (name, bound) = given.split_once('=').ok_or_else(|| {
            format!("`{given}` has no bound: p99.9=5ms, mean=200us, max=20ms, iops=100k")
        })?;
        let figure = match name.to_ascii_lowercase().as_str() {
            "mean" => Figure::Mean,
            "max" => Figure::Max,
            "iops" => Figure::Iops,
            name => {
                let percent = name.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
                let known = percent.filter(|p| ACCEPTED.contains(p));
                Figure::Percentile(known.ok_or_else(|| {
                    let all: Vec<String> = ACCEPTED.iter().map(|p| format!("p{p}")).collect();
                    format!("`{name}` is none of {}, mean, max and iops", all.join(", "))
                })?)
            }
        };
        let bound = match figure {
            Figure::Iops => Quantity::parse(bound, Dimension::Count).map(|q| q.to(ONE)),
            _ => Quantity::parse(bound, Dimension::Time).map(|q| q.to(NS)),
        };
        let bound = bound.map_err(|problem| problem.to_string())?;
        match bound > 0.0 {
            true => Ok(Target {
                direction,
                figure,
                bound,
            }),
            false => Err(format!("`{given}`: the bound has to be above 0")),
        }
    }

    /// read, write or trim.
    pub fn direction(&self) -> &'static str {
        self.direction
    }

    /// Whether `input` has such requests, as far as that is known before it runs.
    pub fn is_of(&self, input: &Input) -> bool {
        let Input::Jobs { workload, .. } = input else {
            return true;
        };
        let is = |job: &JobSpec| {
            let mut of = job.operations.directions().iter();
            of.any(|of| match of {
                job::Direction::Read => self.direction == "read",
                job::Direction::Write => self.direction == "write",
                job::Direction::Trim => self.direction == "trim",
            })
        };
        workload.jobs.iter().any(is)
    }

    /// The groups of jobs of `run` that are judged. Those without such requests are not, unless no group has any.
    pub fn judged_of<'a>(&self, run: &'a Summary) -> Vec<&'a Summary> {
        let groups = run.groups();
        let any = groups.iter().any(|group| self.of(group).count > 0);
        let is_judged = |group: &&Summary| !any || self.of(group).count > 0;
        groups.iter().filter(is_judged).collect()
    }

    pub fn name(&self) -> String {
        let of = self.direction;
        match self.figure {
            Figure::Percentile(percent) => format!("{of} P{percent}"),
            Figure::Mean => format!("{of} mean"),
            Figure::Max => format!("{of} longest"),
            Figure::Iops => format!("{of} IOPS"),
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.figure {
            Figure::Iops => si(value),
            _ => time(value),
        }
    }

    pub fn asked(&self) -> String {
        let side = if self.figure == Figure::Iops {
            "at least"
        } else {
            "at most"
        };
        format!("{side} {}", self.shown(self.bound))
    }

    fn of<'a>(&self, summary: &'a Summary) -> &'a Direction {
        match self.direction {
            "write" => &summary.write,
            "trim" => &summary.trim,
            _ => &summary.read,
        }
    }

    /// What is said of a group of jobs of a run.
    pub fn judge(&self, summary: &Summary) -> Judged {
        let of = self.of(summary);
        if of.count == 0 {
            return Judged {
                verdict: Verdict::Undetermined,
                measured: "no requests".into(),
                cause: String::new(),
            };
        }
        let around = |value: f64, half: Option<f64>| (value, half.map(|h| (value - h, value + h)));
        let (value, interval, needed) = match self.figure {
            Figure::Percentile(percent) => {
                let p: Percentile = of.percentile(percent);
                let interval = p.interval_ns.map(|(low, high)| (low as f64, high as f64));
                (p.ns as f64, interval, p.requests_needed)
            }
            Figure::Mean => {
                let (value, interval) = around(of.mean_ns, of.mean_half_ns);
                (value, interval, None)
            }
            Figure::Max => (
                of.max_ns as f64,
                Some((of.max_ns as f64, of.max_ns as f64)),
                None,
            ),
            Figure::Iops => {
                let iops = of.count as f64 * 1e9 / summary.runtime_ns.max(1) as f64;
                let (value, interval) = around(iops, of.rate_half.map(|half| half * iops));
                (value, interval, None)
            }
        };
        let verdict = self.verdict(interval);
        let measured = match (interval, needed) {
            (Some((low, high)), _) if low < high => {
                let interval = range(&self.shown(low), &self.shown(high));
                format!("{} ({interval})", self.shown(value))
            }
            (Some(_), _) => self.shown(value),
            (None, Some(n)) => format!("{}, needs {} requests", self.shown(value), count(n)),
            (None, None) => format!("{}, too short", self.shown(value)),
        };
        // Of a percentile, the requests that lie beyond it.
        let share = match self.figure {
            Figure::Percentile(percent) => Some(1.0 - percent / 100.0),
            Figure::Mean => Some(1.0),
            Figure::Max => Some(0.0),
            Figure::Iops => None,
        };
        let cause = match (verdict, share) {
            (Verdict::Fail, Some(share)) => summary.cause(self.direction, share),
            _ => None,
        };
        let cause = cause.unwrap_or_default();
        Judged {
            verdict,
            measured,
            cause,
        }
    }

    fn verdict(&self, interval: Option<(f64, f64)>) -> Verdict {
        let Some((low, high)) = interval else {
            return Verdict::Undetermined;
        };
        let (within, beyond) = match self.figure {
            Figure::Iops => (low >= self.bound, high < self.bound),
            _ => (high <= self.bound, low > self.bound),
        };
        match (within, beyond) {
            (true, _) => Verdict::Pass,
            (_, true) => Verdict::Fail,
            _ => Verdict::Undetermined,
        }
    }
}

/// What is said of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Pass,
    Fail,
    Undetermined,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Undetermined => "undetermined",
        })
    }
}

/// What came of a target.
pub struct Judged {
    pub verdict: Verdict,
    pub measured: String,
    /// What the requests beyond the bound waited for, where they failed it.
    pub cause: String,
}

/// The verdicts on all runs of a command.
#[derive(Debug)]
pub struct Acceptance {
    pub text: String,
    /// The same in a line.
    pub said: String,
    pub failed: usize,
}

/// The verdicts on `runs`, each with its label, by `targets`; none where nothing is asked.
pub fn judge(runs: &[(String, Summary)], targets: &[Target]) -> Option<Acceptance> {
    if targets.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    let (mut failed, mut undetermined) = (0, 0);
    let (mut labelled, mut grouped) = (false, false);
    for (label, run) in runs {
        labelled |= !label.is_empty();
        for target in targets {
            for group in target.judged_of(run) {
                let judged = target.judge(group);
                failed += usize::from(judged.verdict == Verdict::Fail);
                undetermined += usize::from(judged.verdict == Verdict::Undetermined);
                grouped |= !group.jobs.is_empty();
                rows.push(vec![
                    label.clone(),
                    group.jobs.clone(),
                    target.name(),
                    target.asked(),
                    judged.measured,
                    judged.verdict.to_string(),
                    judged.cause,
                ]);
            }
        }
    }
    let all = rows.len();
    let mut head = ["run", "jobs", "target", "asked", "measured", "", "mostly"]
        .map(String::from)
        .to_vec();
    if failed == 0 {
        head[6].clear();
    }
    rows.insert(0, head);
    for row in &mut rows {
        if !grouped {
            row.remove(1);
        }
        if !labelled {
            row.remove(0);
        }
    }
    let sides = vec![Side::Left; rows[0].len()];
    let passed = all - failed - undetermined;
    let mut text = format!("\nacceptance\n{}", table("  ", &sides, &rows));
    let said = format!("{passed} of {all} pass, {failed} fail, {undetermined} undetermined");
    text += &format!("  {said}");
    text += match undetermined {
        0 => "\n",
        _ => ": their intervals have the bound within, or the run is too short for one\n",
    };
    Some(Acceptance { text, said, failed })
}

/// The same of points that are kept.
///
/// # Errors
/// Where what is kept of a run is not its summary.
pub fn of_points<'a>(
    points: impl Iterator<Item = (&'a Point, &'a Kept)>,
    targets: &[Target],
) -> anyhow::Result<Option<Acceptance>> {
    if targets.is_empty() {
        return Ok(None);
    }
    let run = |(point, kept): (&Point, &Kept)| Ok((point.label.clone(), Summary::read(kept)?));
    let runs: Vec<(String, Summary)> = points.map(run).collect::<anyhow::Result<_>>()?;
    Ok(judge(&runs, targets))
}

impl Acceptance {
    /// Prints it: beside the report for people, and on the standard error beside data.
    ///
    /// # Errors
    /// [`NotAccepted`] where a target failed: exit status 3.
    pub fn tell(&self, form: Form) -> anyhow::Result<()> {
        match form {
            Form::Human => data(&self.text)?,
            Form::Json => tell(self.text.trim_start()),
        }
        match self.failed {
            0 => Ok(()),
            failed => Err(NotAccepted(failed).into()),
        }
    }
}

/// So many targets failed.
#[derive(Debug)]
pub struct NotAccepted(usize);

impl fmt::Display for NotAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.0 == 1 { "target" } else { "targets" };
        write!(f, "not accepted: {} {noun} failed", self.0)
    }
}

impl std::error::Error for NotAccepted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_what_can_be_asked() {
        let Targets(all) =
            Targets::parse("read: p99=1.5ms p99.9999=15ms max=20ms; write: mean=30us, iops=1k")
                .unwrap();
        let asked: Vec<String> = all
            .iter()
            .map(|t| format!("{} {}", t.name(), t.asked()))
            .collect();
        assert_eq!(
            asked,
            [
                "read P99 at most 1.50 ms",
                "read P99.9999 at most 15.0 ms",
                "read longest at most 20.0 ms",
                "write mean at most 30.0 µs",
                "write IOPS at least 1.00 k",
            ]
        );
        for (text, message) in [
            (
                "",
                "expected targets, as in `read: p99=1.5ms p99.99=5ms max=20ms`",
            ),
            (
                "p99=1ms",
                "`p99=1ms` does not say of what: begin it with read:, write: or trim:",
            ),
            ("raed: p99=1ms", "`raed` is none of read, write and trim"),
            (
                "read: p99",
                "`p99` has no bound: p99.9=5ms, mean=200us, max=20ms, iops=100k",
            ),
            ("read: max=0ms", "`max=0ms`: the bound has to be above 0"),
        ] {
            assert_eq!(Targets::parse(text).unwrap_err(), message, "{text}");
        }
        assert!(
            Targets::parse("read: p98=1ms")
                .unwrap_err()
                .starts_with("`p98` is none of p50, p90")
        );
        assert!(Targets::parse("read: p99=1mb").is_err());
    }

    /// A verdict is of the whole interval: what has the bound within it is undetermined.
    #[test]
    fn formula_a_verdict_is_of_the_whole_interval() {
        let target = |figure| Target {
            direction: "read",
            figure,
            bound: 100.0,
        };
        let (latency, rate) = (target(Figure::Mean), target(Figure::Iops));
        for (interval, of_latency, of_rate) in [
            (Some((90.0, 100.0)), Verdict::Pass, Verdict::Undetermined),
            (Some((90.0, 99.0)), Verdict::Pass, Verdict::Fail),
            (Some((100.0, 101.0)), Verdict::Undetermined, Verdict::Pass),
            (Some((101.0, 102.0)), Verdict::Fail, Verdict::Pass),
            (None, Verdict::Undetermined, Verdict::Undetermined),
        ] {
            assert_eq!(
                (latency.verdict(interval), rate.verdict(interval)),
                (of_latency, of_rate),
                "{interval:?}"
            );
        }
    }
}
