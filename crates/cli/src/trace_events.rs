//! A timeline of the slowest reads: `--trace-events`, and what of a run it has.

use std::path::PathBuf;

use clap::Args;
use firstread_core::Ns;
use firstread_session::{MOST_TRACED, TraceSpec};

use crate::args::{Usage, of_one_run};
use crate::timeline::interval;

/// Whether and how the slowest reads are drawn.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct TraceEventsArgs {
    /// Write a timeline of the slowest reads to this file: what each die, channel, decoder and the host link did around them
    ///
    /// Chrome trace events, opened by ui.perfetto.dev or chrome://tracing. Each read has a track with what it waited
    /// for, which adds up to its latency, and arrows to its operations; the other tracks show whose operation goes on: host
    /// reads, retry 3, cleaning, programs, erases, suspensions. The file is written at the end of the run, as a whole or not at
    /// all. docs/output.md reads one aloud.
    #[arg(long, value_name = "FILE")]
    trace_events: Option<PathBuf>,
    /// Show the K slowest reads; those of a ramp are not among them
    #[arg(long, value_name = "K", default_value = "10", requires = "trace_events", value_parser = reads)]
    trace_slowest: usize,
    /// Show so much time before and after each of them
    #[arg(long, value_name = "TIME", default_value = "1ms", requires = "trace_events", value_parser = interval)]
    trace_window: Ns,
}

fn reads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST_TRACED) => Ok(n),
        _ => Err(format!(
            "expected a number from 1 to {MOST_TRACED}: what went on around each of them is kept in memory"
        )),
    }
}

impl TraceEventsArgs {
    pub fn is_asked(&self) -> bool {
        self.trace_events.is_some()
    }

    /// The timeline that is asked for, of a command that makes one run where `is_one` says so.
    ///
    /// # Errors
    /// [`Usage`] where it would be of several runs.
    pub fn spec(&self, is_one: bool) -> Result<Option<TraceSpec>, Usage> {
        let Some(path) = &self.trace_events else {
            return Ok(None);
        };
        of_one_run("--trace-events", is_one)?;
        Ok(Some(TraceSpec {
            path: path.clone(),
            reads: self.trace_slowest,
            window: self.trace_window,
        }))
    }
}
