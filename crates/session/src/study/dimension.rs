//! What the points of an experiment differ in.

use serde::Deserialize;

use firstread_drive::profile::quantity::{B, Quantity};
use firstread_drive::{EarlierFill, profile};

use crate::conditions::{
    Condition, parse_age, parse_earlier_fill, parse_fill, parse_unpowered, single,
};

/// A coordinate of a point.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// A drive with its schemes.
    Variant,
    /// Where requests come from.
    Workload,
    /// Powered time since the fill.
    Age,
    Temperature,
    PeCycles,
    /// Time without power after that.
    Unpowered,
    /// How long the fill before that lived.
    EarlierFill,
    /// Share of the capacity that was written by the fill.
    Fill,
    /// How the drive was overwritten since the fill.
    Precondition,
    /// Seed of the workload.
    WorkloadSeed,
    /// What the drive holds for its host.
    Capacity,
}

impl Dimension {
    /// All of them, in the order of a point's coordinates.
    pub const ALL: [Dimension; 11] = [
        Dimension::Variant,
        Dimension::Workload,
        Dimension::Age,
        Dimension::Temperature,
        Dimension::PeCycles,
        Dimension::Unpowered,
        Dimension::EarlierFill,
        Dimension::Fill,
        Dimension::Precondition,
        Dimension::WorkloadSeed,
        Dimension::Capacity,
    ];

    /// As a column and as a key.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Variant => "variant",
            Dimension::Workload => "workload",
            Dimension::Age => "age",
            Dimension::Temperature => "temperature",
            Dimension::PeCycles => "pe_cycles",
            Dimension::Unpowered => "unpowered",
            Dimension::EarlierFill => "earlier_fill",
            Dimension::Fill => "fill",
            Dimension::Precondition => "precondition",
            Dimension::WorkloadSeed => "workload_seed",
            Dimension::Capacity => "capacity",
        }
    }

    /// What it says of a drive's state; none where it says nothing of that.
    pub fn condition(self) -> Option<Condition> {
        match self {
            Dimension::Variant | Dimension::Workload | Dimension::Capacity => None,
            Dimension::Age => Some(Condition::Age),
            Dimension::Temperature => Some(Condition::Temperature),
            Dimension::PeCycles => Some(Condition::PeCycles),
            Dimension::Unpowered => Some(Condition::Unpowered),
            Dimension::EarlierFill => Some(Condition::EarlierFill),
            Dimension::Fill => Some(Condition::Fill),
            Dimension::Precondition => Some(Condition::Precondition),
            Dimension::WorkloadSeed => Some(Condition::WorkloadSeed),
        }
    }

    /// Where `text` lies on an axis of numbers; none where it is no number.
    pub fn number(self, text: &str) -> Option<f64> {
        let hours = |ns: firstread_core::Ns| ns.0 as f64 / 3.6e12;
        match self {
            Dimension::Age => single(parse_age, text).ok().map(hours),
            Dimension::Unpowered => parse_unpowered(text).ok().map(hours),
            Dimension::EarlierFill => match parse_earlier_fill(text) {
                Ok(EarlierFill::Lived(lived)) => Some(hours(lived)),
                _ => None,
            },
            Dimension::Capacity => {
                let bytes = Quantity::parse(text, profile::Dimension::Bytes).ok()?;
                Some(bytes.to(B) / f64::from(1 << 30))
            }
            Dimension::Fill => parse_fill(text).ok().map(|share| 100.0 * share),
            Dimension::Temperature | Dimension::PeCycles | Dimension::WorkloadSeed => {
                text.parse().ok()
            }
            Dimension::Variant | Dimension::Workload | Dimension::Precondition => None,
        }
    }

    /// On an axis or in a heading.
    pub fn label(self) -> &'static str {
        match self {
            Dimension::Variant => "",
            Dimension::Workload => "Workload",
            Dimension::Age => "Powered age (h)",
            Dimension::Temperature => "Temperature (°C)",
            Dimension::PeCycles => "P/E cycles",
            Dimension::Unpowered => "Without power (h)",
            Dimension::EarlierFill => "Earlier fill (h)",
            Dimension::Fill => "Filled (%)",
            Dimension::Precondition => "Overwritten since",
            Dimension::WorkloadSeed => "Seed of the workload",
            Dimension::Capacity => "Capacity (GiB)",
        }
    }
}
