//! The arguments of `firstread study`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PlanArgs;

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread study ct-qlc --quick --out ct-qlc
      every claim of the CT-QLC paper at lower precision, in minutes; open ct-qlc/report.html
  firstread study dwr --quick --drives 5 --out dwr
      the requests of the quick form, over five drives: its figures with intervals
  firstread study ct-qlc --out ct-qlc --traces traces
      the full form; run the command again after an interruption and it goes on
  firstread study ct-qlc --only fig12,fig14 --out ct-qlc
  firstread study ct-qlc --tension --quick --out tension
      which rows hold together on one chip: its open numbers are drawn again and again from the
      ranges of their evidence, by the plan in studies/ct-qlc/tension.toml (docs/tension.md)
  firstread study ct-qlc --plan plan
      writes down all simulations, a file each, for other machines (docs/many-machines.md)
  firstread study --new mine.toml
      a study of your own to begin with: commented, and runs as it is (docs/studies.md)
  firstread study mine.toml --quick --out mine

The folder gets report.html (no network needed), README.md (the table of claims), results.json,
claims.csv, points.csv, cells.csv (what is measured without a run), figures/ (SVG and PNG) and
points/ (each simulation's whole result). With --tension it gets tension.json, tension.csv (draw by
row), tension.svg and tension.png, cells/ (what the cells say of each draw) and points/.

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong, 130 when it was
interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP: the folder keeps every simulation that
had ended, and the same command goes on. A simulation is found by all that made it,
this program included.";

/// Run an evaluation: simulations, figures, and a verdict on every claim
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct StudyArgs {
    /// A shipped study (`firstread list studies`), the path of a study, or `all`
    #[arg(value_name = "NAME|FILE|all", required_unless_present = "new")]
    pub(super) study: Option<String>,
    /// Write a study of your own to begin with, commented, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["study", "quick", "drives", "out", "only", "traces", "threads", "tension", "draws", "folder"])]
    pub(super) new: Option<PathBuf>,
    /// Use fewer requests, drives and points: every claim, at lower precision
    #[arg(long)]
    pub(super) quick: bool,
    /// Drives of each experiment, with seeds from 1 up, instead of the study's own number; those that say why they have
    /// few (`few_drives`) keep it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) drives: Option<u16>,
    /// Folder of the results; points of the same study that it already holds are not run again
    #[arg(long, value_name = "DIR", required_unless_present_any = ["new", "folder"])]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) plan: PlanArgs,
    /// Run only these experiments and correlations
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// Ask which rows hold together on one chip, by the plan of the study (`tension.toml` beside it): what the cells leave
    /// possible is simulated, and the rest of the study is not run
    #[arg(long, conflicts_with = "folder")]
    pub(super) tension: bool,
    /// Draws of --tension, instead of the plan's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) draws: Option<u16>,
    /// Folder of the traces that the study names
    #[arg(long, value_name = "DIR")]
    pub(super) traces: Option<PathBuf>,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
}
