//! A plan as it is written: `tension.toml`.
//!
//! A plan says, before the first draw, which numbers of a chip are open and how far, which rows of the study have to hold
//! together, which conditions each figure leaves free, and what the cells alone may rule out.

use std::collections::BTreeMap;

use firstread_drive::profile::{Kind, Library, LoadedChip, Override, load_chip};
use serde::Deserialize;
use toml::Spanned;

use super::super::claim::{Claim, FromPoints};
use super::super::dimension::Dimension;
use super::super::error::StudyError;
use super::super::spec::{Cells, Scale, Study, once};
use super::cases;
use crate::error::Error;

/// Most draws of a plan.
pub const MOST_DRAWS: u64 = 4096;

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
    /// Reads `text`, called `label` in messages, and checks it against `study`.
    ///
    /// # Errors
    /// [`StudyError`] with file and line.
    pub fn parse(label: &str, text: &str, study: &Study) -> Result<Plan, Error> {
        let plan: Plan = toml::from_str(text)
            .map_err(StudyError::Text)
            .map_err(|error| Error::from(error).of(label))?;
        let lines = Lines { label, text };
        plan.check(study, &lines)?;
        Ok(plan)
    }

    fn check(&self, study: &Study, lines: &Lines<'_>) -> Result<(), Error> {
        let mut ids = Vec::new();
        for knob in &self.knobs {
            once(&mut ids, &knob.id, "knob").map_err(|e| lines.of(&knob.key, e))?;
        }
        let library = Library::new();
        if !library.has(Kind::Chip, self.chip.get_ref()) {
            let names = library.names(Kind::Chip);
            let name = self.chip.get_ref();
            let error = StudyError::no_such("chip", name, names.into_iter());
            return Err(lines.of(&self.chip, error));
        }
        let chip = self.shipped_chip()?;
        for knob in &self.knobs {
            knob.check(&chip, self.chip.get_ref(), lines)?;
        }
        let enough = self.draws.full > 0 && self.draws.quick > 0 && self.drives > 1;
        let cells = self.cells.chips > 0 && self.cells.wordlines > 0;
        if self.knobs.is_empty() || !enough || !cells || self.draws.full > MOST_DRAWS {
            let error = StudyError::PlanNumbers { most: MOST_DRAWS };
            return Err(lines.of(&self.chip, error));
        }
        let mut rows = Vec::new();
        for figure in &self.figures {
            self.check_figure(figure, study, lines, &mut rows)?;
        }
        let rows: Vec<RowOf<'_>> = self.rows(study).collect();
        let touched = rows.iter().flat_map(|row| cases::variants(study, row));
        let touched: Vec<String> = touched.collect();
        let mut ids = Vec::new();
        for alternative in self.switches.iter().flat_map(|s| &s.alternatives) {
            if let Some(variant) = alternative.variants.first() {
                once(&mut ids, &alternative.id, "alternative").map_err(|e| lines.of(variant, e))?;
            }
            for variant in &alternative.variants {
                if !touched.contains(variant.get_ref()) {
                    let known = touched.iter().map(String::as_str);
                    let what = "variant of a row";
                    let error = StudyError::no_such(what, variant.get_ref(), known);
                    return Err(lines.of(variant, error));
                }
            }
        }
        Ok(())
    }

    fn check_figure<'a>(
        &'a self,
        figure: &'a Figure,
        study: &Study,
        lines: &Lines<'_>,
        rows: &mut Vec<&'a str>,
    ) -> Result<(), Error> {
        for row in &figure.rows {
            let id = row.claim.get_ref();
            once(rows, id, "row").map_err(|e| lines.of(&row.claim, e))?;
            let claims = || study.claims.iter().map(|c| c.id.as_str());
            let claim = study.claims.iter().find(|c| c.id == *id);
            let claim = claim
                .ok_or_else(|| lines.of(&row.claim, StudyError::no_such("claim", id, claims())))?;
            if claim.points.is_none() {
                return Err(lines.of(&row.claim, StudyError::RowWithoutPoints(id.clone())));
            }
            for screen in &row.screens {
                let known = study.variants.keys().map(String::as_str);
                if !study.variants.contains_key(screen.variant.get_ref()) {
                    let name = screen.variant.get_ref();
                    let error = StudyError::no_such("variant", name, known);
                    return Err(lines.of(&screen.variant, error));
                }
                let [low, high] = screen.band;
                if !(low <= high && low.is_finite() && high.is_finite()) {
                    return Err(lines.of(&screen.variant, StudyError::Band));
                }
            }
        }
        let Some(row) = figure.rows.first() else {
            return Ok(());
        };
        if figure
            .free
            .values()
            .chain(figure.quick.values())
            .any(Vec::is_empty)
        {
            return Err(lines.of(&row.claim, StudyError::No("free")));
        }
        for (dimension, values) in &figure.quick {
            let free = figure.free.get(dimension).map_or(&[][..], Vec::as_slice);
            if let Some(value) = values.iter().find(|value| !free.contains(value)) {
                return Err(lines.of(&row.claim, StudyError::QuickAlone(value.clone())));
            }
        }
        Ok(())
    }

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
    fn text(&self, value: f64) -> String {
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

    fn check(&self, chip: &LoadedChip, name: &str, lines: &Lines<'_>) -> Result<(), Error> {
        let key = self.key.get_ref();
        let known = chip.resolved.iter().map(|e| e.path.as_str());
        if !chip.resolved.iter().any(|e| e.path == *key) {
            return Err(lines.of(&self.key, StudyError::no_such("key of a chip", key, known)));
        }
        let range = || self.range.get_ref().clone();
        let ends = self.ends().filter(|[low, high]| low < high);
        let one_unit = number(&self.range.get_ref()[1]).is_some_and(|(_, u)| u == self.unit());
        let from_zero = self.spacing == Spacing::Linear || ends.is_some_and(|[low, _]| low > 0.0);
        let Some([low, high]) = ends.filter(|_| one_unit && from_zero) else {
            return Err(lines.of(&self.range, StudyError::KnobRange(range())));
        };
        let has = self.shipped(chip);
        if !has.is_some_and(|has| (low..=high).contains(&has)) {
            let entry = chip.resolved.iter().find(|e| e.path == *key);
            let error = StudyError::KnobOutside {
                knob: self.id.clone(),
                range: range(),
                chip: name.to_owned(),
                value: entry.map_or(String::new(), |e| e.literal.clone()),
            };
            return Err(lines.of(&self.range, error));
        }
        if self.source.trim().is_empty() {
            return Err(lines.of(&self.key, StudyError::NoWords("source")));
        }
        for end in [low, high] {
            let set = Override::new(key, &self.text(end));
            load_chip(&Library::new(), name, &[set])
                .map_err(|error| Error::from(error).of(lines.place(&self.range)))?;
        }
        Ok(())
    }
}

/// A number and its unit.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim()))
}

/// Places in the text of a plan.
struct Lines<'a> {
    label: &'a str,
    text: &'a str,
}

impl Lines<'_> {
    fn place<T>(&self, of: &Spanned<T>) -> String {
        let before = self.text.get(..of.span().start).unwrap_or("");
        let line = 1 + before.bytes().filter(|b| *b == b'\n').count();
        format!("{}:{line}", self.label)
    }

    fn of<T>(&self, of: &Spanned<T>, error: StudyError) -> Error {
        Error::from(error).of(self.place(of))
    }
}
