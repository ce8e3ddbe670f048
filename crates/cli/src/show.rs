//! `firstread show`: all that is known of one thing.

use anyhow::Result;
use clap::Args;
use firstread_core::params::{Axis, Param, ParamKind, Scheme};
use firstread_drive::profile::quantity::{NS, Quantity};
use firstread_drive::profile::{Kind, Library, Override, ResolvedEntry, load_chip, load_drive};
use firstread_firmware::policy::AXES;
use firstread_session::{EXAMPLES, Error, Example, files, is_path, library, retry_table};
use firstread_workload::Format;
use firstread_workload::StandIn;
use firstread_workload::nearest;
use firstread_workload::synthetic::STAND_INS;
use firstread_workload::trace::FORMATS;

use crate::args::Usage;
use crate::list::{self, role};
use crate::output::format::{Side, bytes, capacity, table, wrap};
use crate::streams::data;

/// Show a drive, chip, scheme, axis, trace format, example or stand-in: values, units and sources
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firstread show dc-qlc-15t                  every number of the drive
  firstread show read_levels=ct-qlc          the scheme alone, with its parameters
  firstread show my-drive.toml --set ecc.iteration=100ns
  firstread show msr                         the columns of a trace format")]
pub struct ShowArgs {
    /// A name from `firstread list`, `AXIS=SCHEME`, or the path of a drive profile
    name: String,
    /// Set a value of a drive or chip first
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = Override::parse)]
    sets: Vec<Override>,
}

/// What a stand-in is not.
const STAND_IN_NOTE: &str = "A stand-in has the mix, lengths, footprints, update ratio and mean rate of \
    the trace it is named after, and nothing of its order, bursts or phases.";

pub fn show(args: &ShowArgs) -> Result<()> {
    let name = args.name.as_str();
    let shipped = Library::new();
    let mut parts = Vec::new();
    if shipped.has(Kind::Drive, name) || is_path(name) && files::is_file(name.as_ref()) {
        parts.push(drive(name, &args.sets)?);
    }
    if shipped.has(Kind::Chip, name) {
        let loaded = load_chip(&shipped, name, &args.sets)?;
        parts.push(format!(
            "chip {name}: {}\n\n{}",
            loaded.summary,
            listing(&loaded.resolved)
        ));
    }
    if parts.is_empty() && !args.sets.is_empty() {
        let message = format!("--set is for drives and chips, and `{name}` is none");
        return Err(Usage(message).into());
    }
    for axis in AXES {
        if axis.name == name {
            parts.push(of_axis(axis));
        }
        let full = |scheme: &Scheme| format!("{}={}", axis.name, scheme.name);
        let wanted = axis
            .schemes
            .iter()
            .filter(|s| s.name == name || full(s) == name);
        parts.extend(wanted.map(|s| of_scheme(axis, s)));
    }
    if let Ok(format) = Format::find(name) {
        parts.push(of_format(format));
    }
    if let Some(example) = Example::find(name) {
        parts.push(example.text.to_owned());
    }
    if let Ok(row) = StandIn::find(name) {
        parts.push(format!(
            "{}\n{}{}",
            list::stand_in(row).join(": "),
            wrap(row.source, "  ", "  "),
            wrap(STAND_IN_NOTE, "  ", "  ")
        ));
    }
    if let Some(title) = crate::study::title(name)? {
        parts.push(format!(
            "study {name}: {title}\n  firstread study {name} --quick --out DIR\n"
        ));
    }
    if parts.is_empty() {
        let names = names();
        let near = nearest(name, names.iter().map(String::as_str)).unwrap_or_default();
        let message =
            format!("nothing is called `{name}`; the nearest is `{near}`; see `firstread list`");
        return Err(Usage(message).into());
    }
    data(&parts.join("\n"))
}

/// Every name that can be shown.
fn names() -> Vec<String> {
    let library = Library::new();
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
    };
    library.names(Kind::Drive).into_iter().for_each(&mut add);
    library.names(Kind::Chip).into_iter().for_each(&mut add);
    for axis in AXES {
        add(axis.name);
        axis.schemes.iter().for_each(|s| add(s.name));
    }
    FORMATS.iter().for_each(|f| add(f.name));
    EXAMPLES.iter().for_each(|e| add(e.name));
    STAND_INS.iter().for_each(|s| add(s.name));
    names
}

fn drive(name: &str, sets: &[Override]) -> Result<String> {
    let sets = &retry_table::in_overrides(sets).map_err(Error::from)?;
    let drive = load_drive(&library(name, sets)?, name, sets, AXES)?;
    let rate = drive.fill_rate();
    let cells = drive.cells.notice().map_or(String::new(), |notice| {
        format!("  cells: {} ({notice})\n", drive.cells)
    });
    Ok(format!(
        "drive {}: {}\n  {} for the host, {} % over-provisioned; fills at {}/s\n  \
         a run finds it filled in address order, unless --fill or --precondition say otherwise\n{cells}\n{}",
        drive.name,
        drive.summary,
        capacity(drive.capacity_bytes),
        drive.over_provisioning_permille() as f64 / 10.0,
        bytes(rate.bytes_per_s() as f64),
        listing(&drive.resolved),
    ))
}

/// Path, value and unit of each entry, and below it where the value is from.
fn listing(entries: &[ResolvedEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let value = format!("{} = {} {}", entry.path, entry.value, entry.unit);
        text += &wrap(&value, "", "    ");
        if !entry.source.is_empty() {
            text += &wrap(&entry.source, "        ", "        ");
        }
    }
    text
}

fn of_axis(axis: &Axis) -> String {
    let row = |s: &Scheme| {
        vec![
            s.name.to_owned(),
            role(s.role).to_owned(),
            s.summary.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = axis.schemes.iter().map(row).collect();
    format!(
        "axis {}: {}\n\n{}",
        axis.name,
        axis.summary,
        table("  ", &[Side::Left; 3], &rows)
    )
}

fn of_scheme(axis: &Axis, scheme: &Scheme) -> String {
    let mut text = format!(
        "scheme {}={} ({}): {}\n",
        axis.name,
        scheme.name,
        role(scheme.role),
        scheme.summary,
    );
    text += &wrap(&format!("from {}", scheme.source), "  ", "  ");
    if scheme.params.is_empty() {
        return text + "\n  no parameters\n";
    }
    text += &format!(
        "\n  parameters, for --set {}.KEY=VALUE while the scheme is chosen\n\n",
        axis.name
    );
    for param in scheme.params {
        text += &format!("  {} = {}\n", param.key, range(param));
        text += &wrap(param.doc, "      ", "      ");
    }
    text
}

/// Default and range of a parameter.
fn range(param: &Param) -> String {
    match param.kind {
        ParamKind::Flag(on) => format!("{on} (true or false)"),
        ParamKind::Choice(words) => {
            format!(
                "{} (one of {})",
                words.first().unwrap_or(&""),
                words.join(", ")
            )
        }
        ParamKind::Number {
            unit,
            default,
            min,
            max,
        } => {
            if unit == "ns" {
                return format!("{} ({} to {})", span(default), span(min), span(max));
            }
            format!("{default} {unit} ({min} to {max})")
        }
    }
}

/// A time in the largest unit that leaves it whole.
fn span(ns: i64) -> String {
    let (number, unit) = (ns as f64, &NS);
    Quantity { number, unit }.tidy().to_string()
}

fn of_format(format: &Format) -> String {
    let row = |c: &firstread_workload::trace::Column| vec![c.name.to_owned(), c.unit.to_owned()];
    let rows: Vec<Vec<String>> = format.columns.iter().map(row).collect();
    let detected = format
        .detected
        .unwrap_or("never: name it with --trace-format");
    format!(
        "trace format {}: {}\n  recognized: {detected}\n  example: {}\n\n{}",
        format.name,
        format.summary,
        format.example,
        table("  ", &[Side::Left; 2], &rows),
    )
}
