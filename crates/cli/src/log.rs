//! A log of requests: `--log` and what of a run it has.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use firstread_session::{LogFormat, LogSpec, MOST_SLOWEST, Which};

use crate::args::{Usage, of_one_run};

/// Whether and how requests are logged.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct LogArgs {
    /// Write a record a request to this file: arrival, address, latency and its every cause in ns, retries, page type, die
    ///
    /// CSV, or Parquet where the name ends in .parquet and the build has it (--features parquet). The causes of a row add
    /// up to its latency. Rows come in the order of completion; docs/output.md has the columns. Where the file cannot be
    /// written, the run ends with that error, and a CSV file holds whole rows.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Log the first request and each N-th after it
    #[arg(
        long,
        value_name = "N",
        requires = "log",
        conflicts_with = "log_slowest"
    )]
    log_every: Option<NonZeroU64>,
    /// Log the K slowest requests, the slowest first; those of a ramp are not among them
    #[arg(long, value_name = "K", requires = "log", value_parser = slowest)]
    log_slowest: Option<usize>,
}

fn slowest(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST_SLOWEST) => Ok(n),
        _ => Err(format!(
            "expected a number from 1 to {MOST_SLOWEST}: the slowest are kept in memory until the run has ended"
        )),
    }
}

impl LogArgs {
    pub fn is_asked(&self) -> bool {
        self.log.is_some()
    }

    /// The log that is asked for, of a command that makes one run where `is_one` says so.
    ///
    /// # Errors
    /// [`Usage`] where it cannot be written, or would be of several runs.
    pub fn spec(&self, is_one: bool) -> Result<Option<LogSpec>, Usage> {
        let Some(path) = &self.log else {
            return Ok(None);
        };
        of_one_run("--log", is_one)?;
        let format = LogFormat::of(path);
        if !format.is_built() {
            return Err(Usage(format!(
                "--log {}: this build writes no Parquet: cargo build --features parquet, or name a file that ends in .csv",
                path.display()
            )));
        }
        let which = match (self.log_every, self.log_slowest) {
            (_, Some(most)) => Which::Slowest(most),
            (every, None) => Which::Every(every.unwrap_or(NonZeroU64::MIN)),
        };
        Ok(Some(LogSpec {
            path: path.clone(),
            format,
            which,
        }))
    }
}
