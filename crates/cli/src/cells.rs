//! `firstread cells`: what a chip's cells are like at some ages, and what a read of them meets.
//!
//! - [`characterization`]: the numbers.
//! - [`report`]: as tables and JSON.
//! - [`picture`]: as a figure.

mod characterization;
mod picture;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use firstread_core::{CellMode, Ns};
use firstread_drive::profile::quantity::{ONE, Quantity, READS};
use firstread_drive::profile::{Dimension, Kind, Library, LoadedChip, Override, load_chip};
use firstread_ecc::Code;
use firstread_session::conditions::{parse_celsius, parse_pe_cycles, parse_unpowered};
use firstread_session::files::{self, Page};
use firstread_session::{Error, Unknown, is_path, profile_text, results, retry_table};

use crate::args::{Form, FormArgs, Usage};
use crate::streams::data;
use characterization::{Characterization, Conditions};

/// Examples at the end of the help.
const EXAMPLES: &str = "\
Examples:
  firstread cells ct-qlc-176l
      sixteen states right after programming, after 2 h and after 28 h at 55 °C
  firstread cells fg-qlc-144l --age 0h,30d,1y --temperature 30 --out cells
      a floating gate over a year; cells/cells.svg and .png show it
  firstread cells ct-qlc-176l --mode tlc --pe-cycles 3000 --reads 100k --code ldpc-4k
  firstread cells my-chip.toml --set chip.retention.late.onset=0.1h --output json

Distributions, levels and error rates of the nominal page come without any draw. Failures are those
of pages drawn with the variation of the chip, each page in a block and a die of its own.

Exit status: 0 when all of it ran, 1 on an error, 2 when the command line is wrong.";

/// Ages that can be told apart in one picture.
pub const MOST_AGES: usize = 6;
/// Pages of one type; above it a run takes minutes.
const MOST_PAGES: u64 = 60_000;

/// Show a chip's states, read levels, error rates and retry table at some ages
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CellsArgs {
    /// A shipped chip (`firstread list chips`) or the path of a chip profile
    #[arg(value_name = "CHIP|FILE")]
    chip: String,
    /// Mode of the cells; without it, the densest of the chip
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Set a value of the chip; may be given often
    #[arg(long = "set", value_name = "chip.KEY=VALUE", value_parser = Override::parse)]
    sets: Vec<Override>,
    /// Times since programming, up to six
    #[arg(
        long,
        value_name = "TIME,TIME...",
        default_value = "0h,2h,28h",
        value_delimiter = ','
    )]
    #[arg(value_parser = parse_unpowered, help_heading = "Condition")]
    age: Vec<Ns>,
    /// Temperature of programming, storage and reads, in °C
    #[arg(long, value_name = "DEGC", default_value = "55", value_parser = parse_celsius)]
    #[arg(allow_negative_numbers = true, help_heading = "Condition")]
    temperature: f64,
    /// Program-erase cycles
    #[arg(long, value_name = "N", default_value = "300", value_parser = parse_cycles)]
    #[arg(help_heading = "Condition")]
    pe_cycles: u32,
    /// Page reads of the block since it was programmed
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_reads)]
    #[arg(allow_negative_numbers = true, help_heading = "Condition")]
    reads: f64,
    /// Code that pages are decoded with: threshold, ldpc-1k or ldpc-4k
    #[arg(
        long,
        value_name = "NAME",
        default_value = "ldpc-1k",
        help_heading = "Sample"
    )]
    code: String,
    /// Pages of each type that are drawn
    #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_pages)]
    #[arg(help_heading = "Sample")]
    pages: u32,
    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Sample")]
    seed: u64,
    /// Valleys shown large in the picture, one or two
    #[arg(
        long,
        value_name = "V,V",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    valleys: Vec<u8>,
    #[command(flatten)]
    form: FormArgs,
    /// Keep both in files there, and a picture as SVG and PNG
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
}

pub fn cells(args: &CellsArgs) -> Result<()> {
    args.form.no_bins()?;
    let loaded = load(&args.chip, &args.sets)?;
    let mode = find_mode(&loaded, args.mode.as_deref())?;
    let code = Code::named(&args.code)
        .map_err(|_| Unknown::new("code", &args.code, Code::NAMES.iter().copied()))?;
    let ages = ages(&args.age)?;
    let valleys = valleys(&args.valleys, mode)?;
    let conditions = Conditions {
        mode,
        ages,
        temperature_c: args.temperature,
        pe_cycles: args.pe_cycles,
        reads: args.reads,
        code,
        pages: args.pages,
        seed: args.seed,
    };
    let result = Characterization::new(&loaded, conditions)?;
    let json = results::text(&report::json(&loaded, &args.sets, &result));
    let human = report::human(&loaded, &result);
    if let Some(folder) = &args.out {
        let mut pages: Vec<Page> = vec![
            ("cells.json".into(), json.clone().into_bytes()),
            ("cells.txt".into(), human.clone().into_bytes()),
        ];
        pages.extend(pictures(&result, &valleys));
        files::write(folder, &pages)?;
    }
    data(match args.form.form() {
        Form::Json => &json,
        Form::Human => &human,
    })
}

fn pictures(result: &Characterization, valleys: &[u8]) -> Vec<Page> {
    let figure = picture::figure(result, valleys);
    vec![
        ("cells.svg".into(), figure.svg()),
        ("cells.png".into(), figure.png()),
    ]
}

/// The chip called `name`, with `sets`, whose paths begin with `chip.`.
fn load(name: &str, sets: &[Override]) -> Result<LoadedChip> {
    let overrides = sets
        .iter()
        .map(|o| {
            o.below("chip").ok_or_else(|| {
                let path = &o.path;
                Usage(format!(
                    "--set {path}: this command knows a chip alone; the nearest is `chip.{path}`"
                ))
            })
        })
        .collect::<Result<Vec<Override>, Usage>>()?;
    let overrides = retry_table::in_overrides(&overrides).map_err(Error::from)?;
    let mut library = Library::new();
    let path = Path::new(name);
    if files::is_file(path) || is_path(name) {
        library.add(Kind::Chip, name, &profile_text(path)?);
    } else if !library.has(Kind::Chip, name) {
        let names = library.names(Kind::Chip);
        return Err(Unknown::new("chip", name, names.into_iter()).into());
    }
    Ok(load_chip(&library, name, &overrides)?)
}

/// The mode called `name`, or the chip's densest.
fn find_mode(loaded: &LoadedChip, name: Option<&str>) -> Result<CellMode, Unknown> {
    let mut modes: Vec<CellMode> = loaded.chip.modes.iter().map(|m| m.mode).collect();
    modes.sort_unstable();
    match name {
        None => Ok(*modes.last().expect("a valid chip has a mode")),
        Some(name) => {
            let found = modes.iter().find(|m| m.name() == name);
            let none = || Unknown::new("mode", name, modes.iter().map(|m| m.name()));
            found.copied().ok_or_else(none)
        }
    }
}

fn ages(ages: &[Ns]) -> Result<Vec<Ns>, Usage> {
    let mut ages = ages.to_vec();
    ages.sort_unstable();
    if let Some(twice) = ages.windows(2).find(|w| w[0] == w[1]) {
        let age = report::age(twice[0]);
        return Err(Usage(format!("--age has {age} twice")));
    }
    if ages.len() > MOST_AGES {
        let n = ages.len();
        return Err(Usage(format!(
            "--age has {n} ages; at most {MOST_AGES} can be told apart"
        )));
    }
    Ok(ages)
}

fn valleys(valleys: &[u8], mode: CellMode) -> Result<Vec<u8>, Usage> {
    let most = mode.valleys() as u8;
    if let Some(v) = valleys.iter().find(|v| !(1..=most).contains(*v)) {
        let name = mode.name();
        let last = if most == 1 {
            "1 alone".into()
        } else {
            format!("1 to {most}")
        };
        return Err(Usage(format!(
            "--valleys has {v}, but {name} mode has {last}"
        )));
    }
    if valleys.len() > 2 {
        return Err(Usage("--valleys takes one or two".into()));
    }
    Ok(valleys.to_vec())
}

fn parse_cycles(text: &str) -> Result<u32, String> {
    let range = parse_pe_cycles(text).map_err(|e| e.to_string())?;
    if range.low != range.high {
        return Err("one number of cycles at a time".into());
    }
    Ok(range.low)
}

fn parse_reads(text: &str) -> Result<f64, String> {
    let text = match text.strip_suffix('k') {
        Some(thousands) => format!("{thousands} kreads"),
        None => text.to_owned(),
    };
    let quantity = Quantity::parse_with_default(&text, &READS).map_err(|p| p.message)?;
    match quantity.to(READS) {
        reads if (0.0..=1e9).contains(&reads) => Ok(reads),
        _ => Err(format!("`{quantity}` is outside 0 to 1e9 reads")),
    }
}

fn parse_pages(text: &str) -> Result<u32, String> {
    let quantity = Quantity::parse(text, Dimension::Count).map_err(|p| p.message)?;
    match quantity.to_whole(ONE).map_err(|p| p.message)? {
        n if (1..=MOST_PAGES).contains(&n) => Ok(n as u32),
        n => Err(format!("{n} is outside 1 to {MOST_PAGES}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        assert_eq!(parse_cycles("300"), Ok(300));
        assert!(parse_cycles("0..300").is_err());
        assert_eq!(parse_reads("100k"), Ok(100_000.0));
        assert_eq!(parse_reads("2 kreads"), Ok(2_000.0));
        for text in ["-1", "1e10", "nan", "", "k", "3 mV"] {
            assert!(parse_reads(text).is_err(), "{text}");
        }
        assert!(parse_pages("0").is_err() && parse_pages("1e9").is_err());
        let h = Ns::from_h;
        assert_eq!(ages(&[h(28), h(0)]).unwrap(), [h(0), h(28)]);
        assert!(ages(&[h(1), h(1)]).is_err());
        assert!(ages(&(0..7).map(h).collect::<Vec<_>>()).is_err());
        assert!(valleys(&[16], CellMode::Qlc).is_err());
        assert!(valleys(&[0], CellMode::Slc).is_err());
        assert!(valleys(&[1, 2, 3], CellMode::Tlc).is_err());
    }
}
