//! Progress on the standard error: a bar a run on a terminal. Where that is no terminal, a life says now and then in a line how
//! far it is, because it may take hours; runs say nothing.

use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use firstread_session::life::{LifeProgress, STAGES};
use firstread_session::{Holder, Point, Progress, Watch};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::output::format::{bytes, count, si};
use crate::streams::{notice, tell};

/// The bars of a command.
#[derive(Debug, Default)]
pub struct Bars(MultiProgress);

/// The bar of one run.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    total: Option<u64>,
}

impl Bars {
    /// A bar for the run called `name`, of `total` requests where that is known.
    pub fn add(&self, name: &str, total: Option<u64>) -> Bar {
        let bar = self.0.add(ProgressBar::new_spinner());
        bar.set_prefix(name.to_owned());
        bar.set_style(style("{prefix:20} {spinner} {msg}"));
        Bar { bar, total }
    }

    /// A bar for the work called `name`, which tells how far it is in words.
    pub fn told(&self, name: &str) -> Bar {
        let bar = self.add(name, None);
        bar.bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    /// A bar for all runs together.
    pub fn whole(&self, runs: u64) -> ProgressBar {
        let bar = self.0.add(ProgressBar::new(runs));
        bar.set_prefix("all");
        bar.set_style(style("{prefix:20} {bar:30} {human_pos}/{human_len} {eta}"));
        bar
    }
}

impl Bar {
    /// Tells how far the work is.
    pub fn tell(&self, text: String) {
        self.bar.set_message(text);
    }

    pub fn show(&self, progress: Progress) {
        match (progress, self.total) {
            (Progress::Preparing, _) => {
                self.bar.set_message("filling and ageing the drive");
                self.bar.enable_steady_tick(Duration::from_millis(100));
            }
            (Progress::BurningIn(n), _) => {
                self.bar
                    .set_message(format!("burning in: {} requests", si(n as f64)));
            }
            (Progress::Completed(n), Some(total)) => {
                if self.bar.length().is_none() {
                    self.bar.set_length(total);
                    self.bar.set_style(style(
                        "{prefix:20} {bar:30} {human_pos}/{human_len} {rate} {eta}",
                    ));
                }
                self.bar.set_position(n);
            }
            (Progress::Completed(n), None) => {
                self.bar
                    .set_style(style("{prefix:20} {spinner} {human_pos} {rate}"));
                self.bar.set_position(n);
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Time between two lines of a life.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Lines that say how far a life is, where the standard error is no terminal.
struct Lines {
    label: String,
    is_told: bool,
    last: Instant,
}

impl Lines {
    fn of(label: &str) -> Lines {
        Lines {
            label: label.to_owned(),
            is_told: !io::stderr().is_terminal(),
            last: now(),
        }
    }

    fn tell(&mut self, text: &str) {
        if self.is_told && now().duration_since(self.last) >= BETWEEN_LINES {
            match self.label.is_empty() {
                true => tell(text),
                false => tell(&format!("{}: {text}", self.label)),
            }
            self.last = now();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how often to tell is no result")]
fn now() -> Instant {
    Instant::now()
}

/// How far a life is, in words.
fn of_life(progress: LifeProgress) -> String {
    match progress {
        LifeProgress::Lives {
            rate,
            host_bytes,
            mean_pe_cycles,
        } => {
            let written = bytes(host_bytes);
            format!("wear rate {rate}: {written} written, {mean_pe_cycles:.0} P/E")
        }
        LifeProgress::Probes(stage) => {
            let all = count(STAGES.len() as u64);
            format!("probing reads, stage {} of {all}", stage + 1)
        }
    }
}

impl Watch for Bars {
    fn begin<'a>(&'a self, point: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        let bar = self.add(&point.label, point.setup.requests());
        Box::new(move |progress| bar.show(progress))
    }

    fn begin_life<'a>(&'a self, point: &Point) -> Box<dyn FnMut(LifeProgress) + 'a> {
        let bar = self.told(&point.label);
        let mut lines = Lines::of(&point.label);
        Box::new(move |progress| {
            let text = of_life(progress);
            lines.tell(&text);
            bar.tell(text);
        })
    }
}

/// Is told how a simulation ended.
pub type Ended = fn(&Point, &str);

/// Bars: one for all simulations, with the time that is left, and one for each that is under way.
pub struct Simulations {
    bars: Bars,
    all: ProgressBar,
    ended: Ended,
}

impl Simulations {
    /// For so many of them.
    pub fn new(simulations: usize, ended: Ended) -> Simulations {
        let bars = Bars::default();
        let all = bars.whole(simulations as u64);
        Simulations { bars, all, ended }
    }

    /// So many more of them.
    pub fn add(&self, simulations: u64) {
        self.all.inc_length(simulations);
    }
}

impl Watch for Simulations {
    fn begin<'a>(&'a self, point: &Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.bars.begin(point)
    }

    fn begin_life<'a>(&'a self, point: &Point) -> Box<dyn FnMut(LifeProgress) + 'a> {
        self.bars.begin_life(point)
    }

    fn done(&self, point: &Point, ended: &str) {
        (self.ended)(point, ended);
        self.all.inc(1);
    }

    fn waits(&self, points: usize, first: &Holder) {
        let Holder { host, process } = first;
        let points = count(points as u64);
        notice(&format!(
            "{points} left, which other processes are making, the first of them process {process} on {host}: waiting for them"
        ));
    }
}

impl Drop for Simulations {
    fn drop(&mut self) {
        self.all.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        // A failed write to the terminal is ignored.
        let _ = write!(out, "{}/s", si(state.per_sec()));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_how_far_a_life_is() {
        let lives = LifeProgress::Lives {
            rate: 3,
            host_bytes: 2.5e12,
            mean_pe_cycles: 812.4,
        };
        assert_eq!(of_life(lives), "wear rate 3: 2.50 TB written, 812 P/E");
        assert_eq!(
            of_life(LifeProgress::Probes(1)),
            "probing reads, stage 2 of 5"
        );
    }
}
