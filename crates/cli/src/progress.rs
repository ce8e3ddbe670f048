//! Progress on the terminal: a bar a run on the standard error, nothing where that is no terminal.

use std::fmt::Write;
use std::time::Duration;

use firstread_session::life::{LifeProgress, STAGES};
use firstread_session::{Point, Progress, Watch};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::output::format::{bytes, count, si};

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
        Box::new(move |progress| bar.tell(of_life(progress)))
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        // A failed write to the terminal is ignored.
        let _ = write!(out, "{}/s", si(state.per_sec()));
    })
}
