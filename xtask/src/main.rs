//! Tasks of the project: `cargo xtask help`.
// Tasks run commands, look at clocks and touch files; nothing deterministic lives here.
#![allow(clippy::disallowed_methods)]

mod bench;
mod book;
mod characterize;
mod check;
mod commands;
mod coverage;
mod ecc_tables;
mod fio_examples;
mod fio_tools;
mod mutants;
mod nand_model;
mod release;
mod walls;

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
    /// licences and sources of dependencies (cargo-deny), packages, `firstread-core` under Miri. Says what it skips
    Long {
        /// Only the steps whose name contains this
        #[arg(long)]
        only: Option<String>,
    },
    /// Deliberate faults, one at a time, and whether a test fails; writes docs/mutants.md. Hours
    Mutants(mutants::Options),
    /// Make the voltage tables of the shipped chips anew, from their profiles
    Characterize,
    /// Measure the LDPC codes anew: failure and iterations by error weight
    EccTables {
        /// Measure a sample of points and compare with the committed tables, writing nothing
        #[arg(long)]
        check: bool,
    },
    /// Measure the medium against what is published of such chips, and write docs/nand-model.md
    Validate {
        /// Write nothing; fail where the document is stale or a miss has no reason
        #[arg(long)]
        check: bool,
        /// Measure the anchors alone, at a tenth of the samples; write nothing, fail where a miss has no reason
        #[arg(long, conflicts_with = "check")]
        quick: bool,
        /// Only the sections and pictures whose name contains this
        #[arg(long)]
        only: Option<String>,
    },
    /// Run every fio job file of a folder, and write docs/fio-examples.md
    FioExamples {
        /// The folder, as of the Debian package `fio-examples`
        folder: std::path::PathBuf,
        /// Write nothing; fail where the document is stale
        #[arg(long)]
        check: bool,
    },
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
    /// Make a book of docs/: target/book/index.html (needs mdBook)
    Book,
    /// How fast the simulator is and what it holds in memory, case by case
    Bench(bench::Options),
    /// The fastest binaries, in target/guided: compiled twice, the second time by what the first one
    /// counted while it ran a part of the benchmarks
    Release,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test { only } => check::run_all(only.as_deref()),
        Task::Long { only } => check::run_long(only.as_deref()),
        Task::Mutants(options) => mutants::run(&options),
        Task::Characterize => characterize::run(),
        Task::Validate {
            quick: true, only, ..
        } => nand_model::run_quick(only.as_deref()),
        Task::Validate { check, only, .. } => nand_model::run(check, only.as_deref()),
        Task::EccTables { check } => ecc_tables::run(check),
        Task::FioExamples { folder, check } => fio_examples::run(&folder, check),
        Task::Coverage { runs, check, only } => coverage::run(runs, check, only.as_deref()),
        Task::Book => book::build(),
        Task::Bench(options) => bench::run(&options),
        Task::Release => release::build(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
