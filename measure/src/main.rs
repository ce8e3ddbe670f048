//! What the project measures of itself. `cargo xtask bench` and its neighbours start this program, compiled for
//! release: `xtask` itself holds what is quick to compile.
// Clocks are looked at and files are touched here; nothing deterministic lives here.
#![allow(clippy::disallowed_methods)]

mod bench;
mod characterize;
mod coverage;
mod ecc_tables;
mod fio_examples;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// How fast the simulator is and what it holds in memory, case by case
    Bench(bench::Options),
    /// Make the voltage tables of the shipped chips anew, from their profiles
    Characterize,
    /// Count how many runs' intervals hold the truth, and write the table of docs/intervals.md
    Coverage {
        /// Runs of each load
        #[arg(long, default_value_t = 200)]
        runs: u64,
        /// Write nothing
        #[arg(long)]
        check: bool,
        /// Only loads whose name and requests contain this; their rows alone are written
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Measure the LDPC codes anew: failure and iterations by error weight
    EccTables {
        /// Measure a sample of points and compare with the committed tables, writing nothing
        #[arg(long)]
        check: bool,
    },
    /// Run every fio job file of a folder, and write docs/fio-examples.md
    FioExamples {
        /// The folder, as of the Debian package `fio-examples`
        folder: std::path::PathBuf,
        /// Write nothing; fail where the document is stale
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Bench(options) => bench::run(&options),
        Task::Characterize => characterize::run(),
        Task::Coverage { runs, check, only } => coverage::run(runs, check, only.as_deref()),
        Task::EccTables { check } => ecc_tables::run(check),
        Task::FioExamples { folder, check } => fio_examples::run(&folder, check),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
