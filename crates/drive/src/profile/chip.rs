//! A chip's text to [`ChipProfile`].
//!
//! Which keys there are, in which unit and range, the chip says itself
//! ([`Numbers`](firstread_nand::profile::field::Numbers)). Keys are those of its structs without the unit, which is
//! part of the value: `mean_mv` of a mode is `modes.qlc.mean = { value = ["-2500 mV", ...], source = ... }`.

use firstread_nand::ChipProfile;
use firstread_nand::profile::field::{Field, Kind as Written, Source};

use crate::profile::document::Document;
use crate::profile::key::Key;
use crate::profile::keys::Keys;
use crate::profile::quantity::UNITS;
use crate::profile::reader::Reader;
use crate::profile::{Kind, Library, Override, ProfileError, ResolvedEntry};

/// A chip and its listing.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedChip {
    /// The numbers that the medium is made from.
    pub chip: ChipProfile,
    /// What it is, in a line or two.
    pub summary: String,
    /// Every value with unit and source.
    pub resolved: Vec<ResolvedEntry>,
}

/// Chip `name` of `library` with `overrides` (paths without `chip.`).
pub fn load_chip(
    library: &Library,
    name: &str,
    overrides: &[Override],
) -> Result<LoadedChip, ProfileError> {
    let document = Document::load(library, Kind::Chip, name, overrides)?;
    let reader = Reader::new(&document);
    let (chip, summary) = reader.read(|keys| {
        let name = keys.text(&Key::new("name"));
        let summary = keys.text(&Key::new("summary"));
        (ChipProfile::read(name, keys), summary)
    });
    if !reader.failed()
        && let Err(e) = chip.validate()
    {
        reader.note_at(&read_above(&reader, e.key), e.reason.to_string());
    }
    Ok(LoadedChip {
        chip,
        summary,
        resolved: reader.finish()?,
    })
}

/// `path`, or the table above it that was read.
fn read_above(reader: &Reader<'_>, mut path: String) -> String {
    while !reader.was_read(&path) {
        match path.rfind('.') {
            Some(i) => path.truncate(i),
            None => break,
        }
    }
    path
}

/// The declaration of a chip's number as a key.
fn key(of: &Field) -> Key<'static> {
    let unit = UNITS.iter().find(|u| u.symbol == of.unit.symbol);
    let unit = *unit.expect("a profile's text has every unit of a chip");
    Key::new(of.key).within(unit, of.min, of.max)
}

impl Source for Keys<'_> {
    fn number(&self, field: &Field) -> f64 {
        let key = &key(field);
        let number = match field.kind {
            Written::Real => Keys::number(self, key),
            Written::RealOrNone => self.number_or_none(key),
            Written::Whole => self.whole(key) as f64,
            Written::Flag => f64::from(self.flag(key)),
        };
        number / field.unit.per
    }
    fn numbers(&self, field: &Field) -> Vec<f64> {
        Keys::numbers(self, &key(field))
    }
    fn optional_numbers(&self, field: &Field) -> Vec<f64> {
        match self.given(field.key) {
            true => Source::numbers(self, field),
            false => Vec::new(),
        }
    }
    fn lists(&self, key: &str) -> Vec<Vec<u8>> {
        Keys::lists(self, key)
    }
    fn offsets(&self, key: &str) -> Vec<Vec<i8>> {
        Keys::offsets(self, key)
    }
    fn choice(&self, key: &str, names: &[&str]) -> usize {
        self.try_choice(&Key::new(key), names.iter().copied())
            .unwrap_or(0)
    }
    fn has(&self, key: &str) -> bool {
        Keys::has(self, key)
    }
    fn note(&self, key: &str, message: String) {
        Keys::note(self, key, message);
    }
    fn table(&self, key: &str, read: &mut dyn FnMut(&dyn Source)) {
        Keys::table(self, key, |keys| read(keys));
    }
    fn optional_table(&self, key: &str, read: &mut dyn FnMut(&dyn Source)) {
        Keys::optional_table(self, key, |keys| read(keys));
    }
}
