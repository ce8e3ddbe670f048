//! Reads a plan, and checks it against its study and its chip.

use firstread_drive::profile::{Kind, Library, LoadedChip, Override, load_chip};
use toml::Spanned;

use super::super::error::StudyError;
use super::super::spec::{Study, once};
use super::cases;
use super::spec::{Figure, Knob, Plan, RowOf, Spacing, number};
use crate::error::Error;

/// Most draws of a plan.
pub const MOST_DRAWS: u64 = 4096;

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
}

impl Knob {
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
                range: range().join(" to "),
                found: format!(
                    "chip {name} has {}",
                    entry.map_or("no such value", |e| e.literal.as_str())
                ),
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
