//! Tasks of the project: `cargo xtask help`.
//!
//! This program is compiled before the first task speaks, so that it knows none of the project's crates. Tasks that
//! measure with them are in the package `measure`, which is compiled for release when one of them is asked for.
// Tasks run commands, look at clocks and touch files; nothing deterministic lives here.
#![allow(clippy::disallowed_methods)]

mod book;
mod check;
mod commands;
mod fio_logs;
mod fio_tools;
mod many_machines;
mod mutants;
mod release;
mod skips;
mod trace_events;
mod walls;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the project")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold: formatting, lints, tests, no_std and wasm builds, dependency
    /// directions, docs
    Test {
        /// Only the steps whose name contains this
        #[arg(long)]
        only: Option<String>,
    },
    /// What takes too long for `test`: tests that are ignored there, documents made anew and compared,
    /// licences and advisories of dependencies, packages, `firstread-core` under Miri
    Long {
        /// Only the steps whose name contains this
        #[arg(long)]
        only: Option<String>,
    },
    /// Small faults in a crate, one at a time, and whether a test fails; writes docs/mutants.md. Hours
    Mutants(mutants::Options),
    /// Make a book of docs/: target/book/index.html (needs mdBook)
    Book,
    /// The fastest binaries, in target/guided: compiled twice, the second time by what the first one
    /// counted while it ran a part of the benchmarks
    Release,
    /// How fast the simulator is and what it holds in memory, case by case
    #[command(disable_help_flag = true)]
    Bench(Measure),
    /// Make the voltage tables of the shipped chips anew, from their profiles
    #[command(disable_help_flag = true)]
    Characterize(Measure),
    /// Count how many runs' intervals hold the truth, and write the table of docs/intervals.md
    #[command(disable_help_flag = true)]
    Coverage(Measure),
    /// Measure the LDPC codes anew: failure and iterations by error weight
    #[command(disable_help_flag = true)]
    EccTables(Measure),
    /// Run every fio job file of a folder, and write docs/fio-examples.md
    #[command(disable_help_flag = true)]
    FioExamples(Measure),
}

/// A task of the package `measure`, which reads the arguments and has the help.
#[derive(clap::Args)]
struct Measure {
    /// See `--help` of the task
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let measure = |task, options: Measure| commands::measure(task, &options.arguments);
    let result = match Arguments::parse().task {
        Task::Test { only } => check::run_all(only.as_deref()),
        Task::Long { only } => check::run_long(only.as_deref()),
        Task::Mutants(options) => mutants::run_task(&options),
        Task::Book => book::build(),
        Task::Release => release::build(),
        Task::Bench(options) => measure("bench", options),
        Task::Characterize(options) => measure("characterize", options),
        Task::Coverage(options) => measure("coverage", options),
        Task::EccTables(options) => measure("ecc-tables", options),
        Task::FioExamples(options) => measure("fio-examples", options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
