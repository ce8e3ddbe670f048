//! A plan as it is written: `tension.toml`.
//!
//! A plan says, before the first draw, which numbers of a chip are open and how far, which rows of the study have to hold
//! together, which conditions each figure leaves free, and what the cells alone may rule out.

use std::collections::BTreeMap;

use firstread_drive::profile::{Library, LoadedChip, Override, load_chip};
use serde::Deserialize;
use toml::Spanned;

use super::super::claim::{Claim, FromPoints};
use super::super::dimension::Dimension;
use super::super::spec::{Cells, Scale, Study};
use crate::error::Error;

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, expecting = "a plan of tension")]
pub struct Plan {
    /// The chip whose numbers are drawn. Drives with another chip are as they are.
    pub chip: Spanned<String>,
    /// What was settled before the first draw.
    pub beforehand: String,
    /// Draws. The chip as shipped is looked at besides, as draw 0.
    pub draws: Scale,
    /// Draws that are simulated: those with most rows that the cells leave possible.
    pub simulate: Scale,
    /// Drives of each point.
    pub drives: u64,
    /// Cases that the cells rule out and that are simulated all the same, to see how often that is wrong.
    #[serde(default = "none")]
    pub audit: Scale,
    /// The chips whose cells are looked at.
    pub cells: Cells,
    #[serde(rename = "knob")]
    pub knobs: Vec<Knob>,
    #[serde(rename = "switch", default)]
    pub switches: Vec<Switch>,
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

fn yes() -> bool {
    true
}

fn none() -> Scale {
    Scale { full: 0, quick: 0 }
}

/// An open number of the chip.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [[knob]] with id, what, key, range and source"
)]
pub struct Knob {
    pub id: String,
    pub what: String,
    /// Path of the key in the chip's profile.
    pub key: Spanned<String>,
    /// The value of a key that is a list, with `{}` where the knob's value stands.
    pub form: Option<String>,
    /// Lowest and highest value, in the unit of the profile.
    pub range: Spanned<[String; 2]>,
    #[serde(default)]
    pub spacing: Spacing,
    /// Where the range is from.
    pub source: String,
}

/// How values are spread over a range.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    #[default]
    Linear,
    Logarithmic,
}

/// A choice that is left open for the whole of an evaluation, not for a figure.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [[switch]] with id, what, default and alternative"
)]
pub struct Switch {
    pub id: String,
    pub what: String,
    /// What the study has.
    pub default: String,
    /// Whether the quick form has its alternatives too.
    #[serde(default = "yes")]
    pub quick: bool,
    #[serde(rename = "alternative")]
    pub alternatives: Vec<Alternative>,
}

#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "an alternative with id, variants and why; schemes, set"
)]
pub struct Alternative {
    pub id: String,
    /// Variants that it changes.
    pub variants: Vec<Spanned<String>>,
    /// `axis=name`, in place of what the variant has on that axis.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// `path=value`, above what the variant sets.
    #[serde(default)]
    pub set: Vec<String>,
    pub why: String,
}

/// A figure or table of the paper: its rows are of one condition.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [[figure]] with id, rows, and at and free where it has them"
)]
pub struct Figure {
    pub id: String,
    /// Coordinates that the paper states, or that are settled.
    #[serde(default)]
    pub at: BTreeMap<Dimension, String>,
    /// Coordinates that the paper leaves open: one value of each for all rows of the figure.
    #[serde(default)]
    pub free: BTreeMap<Dimension, Vec<String>>,
    /// Fewer of these values for the quick form.
    #[serde(default)]
    pub quick: BTreeMap<Dimension, Vec<String>>,
    /// Requests a point; those of the experiment where it does not say.
    pub requests: Option<Scale>,
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// A row: a claim of the study.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [[figure.row]] with claim and part"
)]
pub struct Row {
    pub claim: Spanned<String>,
    pub part: Part,
    /// What the cells have to show for the row to be possible.
    #[serde(rename = "screen", default)]
    pub screens: Vec<Screen>,
}

/// What a row is used for.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// It decides which draws are simulated.
    Fit,
    /// It has no part in that, and shows what the draws that hold the others say of it.
    Check,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Fit => "fit",
            Part::Check => "check",
        }
    }
}

/// A number of the cells, and the range outside of which a row cannot hold.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a screen with variant, walk, metric, read_kib, band and why"
)]
pub struct Screen {
    pub variant: Spanned<String>,
    /// Where reads begin.
    pub walk: Start,
    pub metric: Number,
    /// Size of a read, which fails if one of its codewords does.
    pub read_kib: u32,
    /// Coordinates in which it differs from the figure.
    #[serde(default)]
    pub at: BTreeMap<Dimension, String>,
    /// Lowest and highest value with which the row is possible.
    pub band: [f64; 2],
    pub why: String,
}

/// With which levels a read begins, before it walks the factory table.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// The first entry of the factory table.
    Factory,
    /// The levels that are best for the nominal page: no levels of a group are better for all of its pages.
    Best,
}

/// A number of the reads of a population of chips.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// Reads that fail at the first try (ppm).
    FirstFailsPpm,
    /// Mean steps of a read after the first try.
    StepsMean,
    /// Steps that one read in 1,000 exceeds.
    StepsP99_9,
    /// Steps that one read in 10,000 exceeds.
    StepsP99_99,
}

impl Plan {
    /// The chip as it is shipped.
    ///
    /// # Errors
    /// [`Error`] where there is none.
    pub fn shipped_chip(&self) -> Result<LoadedChip, Error> {
        Ok(load_chip(&Library::new(), self.chip.get_ref(), &[])?)
    }

    /// All rows, in the order of the plan.
    pub fn rows<'a>(&'a self, study: &'a Study) -> impl Iterator<Item = RowOf<'a>> {
        let of_figure = move |figure: &'a Figure| {
            figure.rows.iter().filter_map(move |row| {
                let claim = study.claims.iter().find(|c| c.id == *row.claim.get_ref())?;
                Some(RowOf { figure, row, claim })
            })
        };
        self.figures.iter().flat_map(of_figure)
    }
}

/// A row with its figure and its claim.
#[derive(Clone, Copy, Debug)]
pub struct RowOf<'a> {
    pub figure: &'a Figure,
    pub row: &'a Row,
    pub claim: &'a Claim,
}

impl<'a> RowOf<'a> {
    pub fn id(&self) -> &'a str {
        &self.claim.id
    }

    /// Where its numbers are read, each with its band.
    pub fn parts(&self) -> impl Iterator<Item = (&'a FromPoints, [f64; 2])> {
        let own = self.claim.points.iter().zip(self.claim.band);
        let also = self.claim.also.iter().map(|also| (&also.points, also.band));
        own.chain(also)
    }
}

impl Figure {
    /// The coordinates that are open, in the quick form or the full one.
    pub fn open(&self, quick: bool) -> BTreeMap<Dimension, Vec<String>> {
        let mut open = self.free.clone();
        if quick {
            open.extend(self.quick.clone());
        }
        open
    }
}

impl Knob {
    /// The ends of its range.
    pub fn ends(&self) -> Option<[f64; 2]> {
        let [low, high] = self.range.get_ref();
        Some([number(low)?.0, number(high)?.0])
    }

    /// Its unit.
    pub fn unit(&self) -> &str {
        number(&self.range.get_ref()[0]).map_or("", |(_, unit)| unit)
    }

    /// The change of a drive's profile that sets it to `value`.
    pub fn set(&self, value: f64) -> Override {
        let path = format!("chip.{}", self.key.get_ref());
        Override::new(&path, &self.text(value))
    }

    /// The value as the chip's profile has it.
    pub fn text(&self, value: f64) -> String {
        let text = format!("{value} {}", self.unit());
        match &self.form {
            None => text.trim_end().to_owned(),
            Some(form) => form.replace("{}", text.trim_end()),
        }
    }

    /// What `chip` has.
    pub fn shipped(&self, chip: &LoadedChip) -> Option<f64> {
        let key = self.key.get_ref();
        let entry = chip.resolved.iter().find(|e| e.path == *key)?;
        let Some(form) = &self.form else {
            let literal = entry.literal.trim_matches('"');
            return number(literal)
                .filter(|(_, unit)| *unit == self.unit())
                .map(|(n, _)| n);
        };
        let items = |text: &str| -> Vec<String> {
            let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
            let items = inner.split(',');
            items
                .map(|item| item.trim().trim_matches('"').to_owned())
                .collect()
        };
        let place = items(form).iter().position(|item| item == "{}")?;
        let item = items(&entry.literal).into_iter().nth(place)?;
        number(&item)
            .filter(|(_, unit)| *unit == self.unit())
            .map(|(n, _)| n)
    }
}

/// A number and its unit.
pub(super) fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim()))
}
