//! The `firstread` command: an open software SSD for high-density NAND.
//!
//! - `run`, `compare`, `study`, `life`, `point`, `cells`, `list`, `show`: one file or folder a sub-command.
//! - [`args`]: options that they share. [`timeline`]: a run over time. [`log`]: its requests, one by one.
//! - [`runs`]: runs and lives are planned, made, printed and kept there. [`output`]: what they are turned into. `figure`: pictures.
//! - [`progress`]: bars on a terminal. [`streams`]: what goes to the standard output and error. [`messages`]: errors.
//!
//! Data goes to the standard output, everything else to the standard error.

mod accept;
mod args;
mod cells;
mod compare;
mod figure;
mod interrupt;
mod life;
mod list;
mod log;
mod matrix;
mod messages;
mod output;
mod page;
mod point;
mod progress;
mod run;
mod runs;
mod shell;
mod show;
mod streams;
mod study;
mod timeline;
mod trace_events;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

const ABOUT: &str = "An open software SSD for high-density NAND: cells, firmware and drive, \
    simulated from the threshold voltages up";

const AFTER_HELP: &str = "\
Start here:
  firstread compare                       four read-level schemes on one aged QLC drive
  firstread run randread-4k-qd1           one workload, one drive
  firstread study ct-qlc --quick --out d  a paper's evaluation repeated, claim by claim
  firstread life job.fio --wear-rate 10   how long a drive lives under a load
  firstread run job.fio --drives 200 --plan d     a file a drive, for as many machines as there are
  firstread cells ct-qlc-176l             what a chip's cells are like as they age
  firstread list schemes                  what can be switched
  firstread show dc-qlc-15t               every number of a drive or scheme, with its source

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong, 3 when a target
of --accept failed, 130 when it was interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.";

#[derive(Parser, Debug)]
#[command(name = "firstread", version = firstread_session::results::BUILD, about = ABOUT, after_help = AFTER_HELP)]
#[command(max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Run(run::RunArgs),
    Compare(compare::CompareArgs),
    Study(study::StudyArgs),
    Life(life::LifeArgs),
    Point(point::PointArgs),
    Merge(point::MergeArgs),
    Cells(cells::CellsArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Prints what is wrong with the command line, or the help that was asked for, and ends.
fn exit_with(error: &clap::Error) -> ! {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let given = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(given)) if error.kind() == ErrorKind::UnknownArgument => given,
        _ => error.exit(),
    };
    let name = given.trim_start_matches('-').split('=').next();
    let row = name.and_then(firstread_workload::fio::options::find);
    let Some(row) = row.filter(|_| given.starts_with("--")) else {
        error.exit();
    };
    let _ = error.print();
    streams::tell(&format!(
        "\n{name} is an option of fio: --job {name}={example} sets it in a job file, and a whole command line of fio \
         stands behind --, as in firstread run -- --name=a --rw=randread --{name}={example}",
        name = row.name,
        example = if row.example.is_empty() {
            "VALUE"
        } else {
            row.example
        },
    ));
    std::process::exit(2)
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| exit_with(&error));
    // Asked while it is one: later it may have been closed.
    streams::was_terminal();
    let result = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Compare(args) => {
            let words: Vec<String> = std::env::args().skip(2).collect();
            compare::compare(args, &words)
        }
        Command::Study(args) => study::study(args),
        Command::Life(args) => life::life(args),
        Command::Point(args) => point::point(args),
        Command::Merge(args) => point::merge(args),
        Command::Cells(args) => cells::cells(args),
        Command::List(args) => list::list(args),
        Command::Show(args) => show::show(args),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Man(args) => shell::man(args, Cli::command()),
    };
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    if let Some(not) = error.downcast_ref::<accept::NotAccepted>() {
        streams::tell(&not.to_string());
        return ExitCode::from(3);
    }
    if let Some(ends) = error.downcast_ref::<point::EndsOfLife>() {
        for line in ends.to_string().lines() {
            streams::tell(&format!("end of life: {line}"));
        }
        return ExitCode::from(4);
    }
    if let Some(held) = error.downcast_ref::<point::Held>() {
        streams::tell(&held.to_string());
        return ExitCode::from(5);
    }
    if let Some(interrupted) = error.downcast_ref::<args::Interrupted>() {
        streams::tell(&interrupted.to_string());
        return ExitCode::from(interrupt::status());
    }
    // A profile has all that is wrong with it in one error, a problem a line.
    for line in messages::error_text(&error).lines() {
        streams::tell(&format!("error: {line}"));
    }
    if messages::is_usage(&error) {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}
