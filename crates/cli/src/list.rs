//! `firstread list`: what there is by name.

use anyhow::Result;
use clap::{Args, ValueEnum};
use firstread_core::params::Role;
use firstread_drive::profile::drive::Cells;
use firstread_drive::profile::{Kind, Library, load_chip, load_drive};
use firstread_firmware::policy::AXES;
use firstread_session::EXAMPLES;
use firstread_session::study::claim::KINDS;
use firstread_session::study::dimension::Dimension;
use firstread_session::study::metric::{Metric, Source};
use firstread_workload::StandIn;
use firstread_workload::synthetic::STAND_INS;
use firstread_workload::trace::{FORMATS, SPEC};

use crate::output::format::{Side, capacity, count, table};
use crate::streams::data;

/// What can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum What {
    /// Shipped drives, for `--drive`
    Drives,
    /// Shipped chips, which drives are made of
    Chips,
    /// Axes: the decisions that a scheme makes
    Axes,
    /// Schemes by axis, for `--scheme`
    Schemes,
    /// Shipped studies, for `firstread study`
    Studies,
    /// Metrics of a study: what its figures and claims can show
    Metrics,
    /// Coordinates of a study: what its points can differ in
    Coordinates,
    /// Kinds of a study's claims: what is made of a metric, and of several points
    Kinds,
    /// Formats of traces, for `--trace-format`
    Traces,
    /// Shipped job files, and stand-ins for traces that cannot be shipped
    Examples,
}

/// List what there is by name; `firstread show NAME` tells more
#[derive(Args, Debug)]
pub struct ListArgs {
    what: What,
}

pub fn list(args: &ListArgs) -> Result<()> {
    if matches!(args.what, What::Traces) {
        return data(&traces());
    }
    let rows = match args.what {
        What::Drives => drives()?,
        What::Chips => chips()?,
        What::Axes => axes(),
        What::Schemes => schemes(),
        What::Studies => crate::study::shipped()?,
        What::Metrics => metrics(),
        What::Coordinates => coordinates(),
        What::Kinds => KINDS
            .iter()
            .map(|row| [row.0, row.1, row.2].map(str::to_owned).to_vec())
            .collect(),
        What::Traces => Vec::new(),
        What::Examples => EXAMPLES
            .iter()
            .map(|e| vec![e.name.into(), e.summary.into()])
            .chain(STAND_INS.iter().map(stand_in))
            .collect(),
    };
    let columns = rows.first().map_or(0, Vec::len);
    data(&table("", &vec![Side::Left; columns], &rows))
}

/// Trace formats: how each is recognized, what it holds in which unit, and what it looks like.
fn traces() -> String {
    let mut text = String::from(
        "  Plain, gzip, Zstandard, xz or bzip2. The format is told from the first records, in this order, or\n  \
         named with --trace-format. Columns of any other text are told with --trace-columns.\n",
    );
    for format in FORMATS {
        let columns: Vec<String> = format
            .columns
            .iter()
            .map(|c| format!("{} ({})", c.name, c.unit))
            .collect();
        let rows = [
            (
                "recognized",
                format.detected.unwrap_or("never: name it").to_owned(),
            ),
            ("columns", columns.join(", ")),
            ("example", format.example.to_owned()),
        ];
        let rows: Vec<Vec<String>> = rows
            .map(|(key, value)| vec![key.to_owned(), value])
            .to_vec();
        text += &format!("\n{}  {}\n", format.name, format.summary);
        text += &table("  ", &[Side::Left; 2], &rows);
    }
    text += "\n  --trace-columns, say time:us,op,offset:B,size:B: the columns in their order, each with its unit\n";
    let rows: Vec<Vec<String>> = SPEC
        .iter()
        .map(|row| vec![format!("{}{}", row.0, row.1), row.2.to_owned()])
        .collect();
    text += &table("    ", &[Side::Left; 2], &rows);
    text
}

/// Name and summary of a stand-in.
pub fn stand_in(row: &StandIn) -> Vec<String> {
    let gib = |sectors: u64| sectors as f64 / f64::from(1 << 21);
    let summary = format!(
        "made up: {} requests, {:.1} GiB read and {:.1} GiB written, a request every {:.0} ms",
        count(row.requests()),
        gib(row.read_sectors),
        gib(row.write_sectors),
        row.gap_ms_10 as f64 / 10.0
    );
    vec![row.name.into(), summary]
}

/// Metrics, and what they are of.
fn metrics() -> Vec<Vec<String>> {
    let rows = Source::ALL.into_iter().flat_map(|source| {
        let metrics = Metric::of(source).into_iter();
        metrics.map(move |m| {
            vec![
                m.name.to_owned(),
                source.name().to_owned(),
                m.label.to_owned(),
            ]
        })
    });
    rows.collect()
}

/// Coordinates: the key of an experiment that has their values, and what they are.
fn coordinates() -> Vec<Vec<String>> {
    let row = |d: Dimension| {
        let key = match d {
            Dimension::Variant => "variants",
            Dimension::Workload => "workloads",
            other => other.name(),
        };
        vec![
            d.name().to_owned(),
            format!("{key} = [...]"),
            d.label().to_owned(),
        ]
    };
    Dimension::ALL.into_iter().map(row).collect()
}

fn drives() -> Result<Vec<Vec<String>>> {
    let library = Library::new();
    let row = |name: &str| {
        let drive = load_drive(&library, name, &[], AXES)?;
        Ok(vec![
            name.to_owned(),
            capacity(drive.capacity_bytes),
            match drive.cells {
                Cells::Modelled => drive.summary,
                cells => format!("{} (cells: {cells})", drive.summary),
            },
        ])
    };
    library.names(Kind::Drive).into_iter().map(row).collect()
}

fn chips() -> Result<Vec<Vec<String>>> {
    let library = Library::new();
    let row = |name: &str| {
        let loaded = load_chip(&library, name, &[])?;
        let modes: Vec<&str> = loaded.chip.modes.iter().map(|m| m.mode.name()).collect();
        Ok(vec![name.to_owned(), modes.join(" "), loaded.summary])
    };
    library.names(Kind::Chip).into_iter().map(row).collect()
}

fn axes() -> Vec<Vec<String>> {
    let row = |axis: &firstread_core::params::Axis| {
        let names: Vec<&str> = axis.schemes.iter().map(|s| s.name).collect();
        vec![
            axis.name.to_owned(),
            axis.summary.to_owned(),
            names.join(" "),
        ]
    };
    AXES.iter().map(row).collect()
}

fn schemes() -> Vec<Vec<String>> {
    let of = |axis: &'static firstread_core::params::Axis| {
        axis.schemes.iter().map(move |scheme| {
            let name = format!("{}={}", axis.name, scheme.name);
            vec![
                name,
                role(scheme.role).to_owned(),
                scheme.summary.to_owned(),
            ]
        })
    };
    AXES.iter().flat_map(of).collect()
}

/// A role in a word.
pub const fn role(role: Role) -> &'static str {
    match role {
        Role::Baseline => "baseline",
        Role::Scheme => "scheme",
        Role::Oracle => "oracle",
    }
}
