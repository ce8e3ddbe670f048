//! Simulations of the cases that are left, and the numbers of their rows.

use std::collections::{BTreeMap, BTreeSet};

use super::super::correlation;
use super::super::dimension::Dimension;
use super::super::error::StudyError;
use super::super::measure;
use super::super::metric;
use super::super::plan::{self, Coordinates, Inputs};
use super::super::points::Points;
use super::super::spec::{Correlation, Experiment, Study, Variant};
use super::cases::{self, Case};
use super::draw::Draw;
use super::rule::{Judged, Part};
use super::spec::{Plan, RowOf};
use crate::drive_profile::profile;
use crate::error::Error;
use crate::matrix;
use crate::setup::Simulation;

/// What the rows of a plan are simulated with.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    pub plan: &'a Plan,
    pub study: &'a Study,
    pub inputs: &'a Inputs,
    pub rows: &'a [RowOf<'a>],
    pub quick: bool,
    /// Seed of the first drive.
    pub seed: u64,
}

/// What one drive is asked in one condition: experiment, coordinates, and the alternatives that change its variant.
type Asked = (String, Coordinates, Vec<String>, Option<u64>);

/// Points to be simulated, each on all drives.
#[derive(Default, Debug)]
pub struct Wanted {
    asked: BTreeMap<Asked, Vec<usize>>,
    pub points: Vec<matrix::Point>,
}

impl<'a> Bench<'a> {
    fn experiment(&self, id: &str) -> Option<&'a Experiment> {
        self.study.experiments.iter().find(|e| e.id == id)
    }

    fn correlation(&self, id: &str) -> Option<&'a Correlation> {
        self.study.correlations.iter().find(|c| c.id == id)
    }

    /// What a case of a row asks of drives: points, each with the variant that it is of.
    fn asked(&self, case: &Case) -> Result<Vec<(Asked, Variant)>, Error> {
        let row = &self.rows[case.row];
        let mut all = Vec::new();
        for (from, _) in row.parts() {
            let from = cases::from_at(row, from, case);
            let Some(experiment) = self.experiment(&from.experiment) else {
                continue;
            };
            let requests = row.figure.requests.or(experiment.requests);
            let requests = requests.map(|r| r.of(self.quick));
            for at in cases::points_of(experiment, &from) {
                let name = at.get(Dimension::Variant);
                let variant = cases::variant_at(self.plan, self.study, name, &case.setting);
                let (variant, by) = variant.ok_or_else(|| {
                    let known = self.study.variants.keys().map(String::as_str);
                    StudyError::no_such("variant", name, known)
                })?;
                all.push(((experiment.id.clone(), at, by, requests), variant));
            }
        }
        Ok(all)
    }

    /// Whether the knobs change the drive called `drive`.
    fn is_drawn(&self, drive: &str, known: &mut BTreeMap<String, bool>) -> Result<bool, Error> {
        if let Some(is) = known.get(drive) {
            return Ok(*is);
        }
        let is = profile(drive, &[])?.chip.name == *self.plan.chip.get_ref();
        known.insert(drive.to_owned(), is);
        Ok(is)
    }

    /// The simulations that `wanted` cases come to on the drives of `draw`.
    ///
    /// # Errors
    /// [`Error`] where a drive cannot be made.
    pub fn wanted<'c>(
        &self,
        draw: &Draw,
        wanted: impl Iterator<Item = &'c Case>,
    ) -> Result<Wanted, Error> {
        let mut all = Wanted::default();
        let mut drawn = BTreeMap::new();
        for case in wanted {
            for (asked, variant) in self.asked(case)? {
                if all.asked.contains_key(&asked) {
                    continue;
                }
                let (id, at, by, requests) = &asked;
                let Some(experiment) = self.experiment(id) else {
                    continue;
                };
                let is_drawn = self.is_drawn(&variant.drive, &mut drawn)?;
                let mut simulation =
                    plan::simulation(self.inputs, experiment, &variant, at, *requests)?;
                let mut name = String::from("as-shipped");
                if is_drawn && draw.number > 0 {
                    simulation.set.extend(draw.set(self.plan));
                    name = format!("draw-{:03}", draw.number);
                }
                let values: Vec<&str> = Dimension::ALL.map(|d| at.get(d)).to_vec();
                let label = format!("{name} {id} {} {}", values.join(" "), by.join(" "));
                let mut indices = Vec::new();
                for drive in 0..self.plan.drives {
                    let simulation = Simulation {
                        seed: self.seed + drive,
                        ..simulation.clone()
                    };
                    let setup = simulation.setup().map_err(|e| e.of(label.trim_end()))?;
                    indices.push(all.points.len());
                    all.points.push(matrix::Point::new(label.trim_end(), setup));
                }
                all.asked.insert(asked, indices);
            }
        }
        Ok(all)
    }

    /// What a case comes to, from the metrics of `wanted` points; none where one has no number.
    ///
    /// # Errors
    /// [`Error`] where the cells of a correlation cannot be in its condition.
    pub fn judged(
        &self,
        draw: &Draw,
        case: &Case,
        wanted: &Wanted,
        results: &matrix::Results,
    ) -> Result<Option<Judged>, Error> {
        let row = &self.rows[case.row];
        let mut points = Points::default();
        let mut added = BTreeSet::new();
        for (asked, _) in self.asked(case)? {
            let (id, at, ..) = &asked;
            let of = wanted.asked.get(&asked).map_or(&[][..], Vec::as_slice);
            if !added.insert((id.clone(), at.clone())) {
                continue;
            }
            for kept in of.iter().filter_map(|index| results.of(*index)) {
                points.add(id, at.clone(), kept.values.clone());
            }
        }
        for (from, _) in row.parts() {
            if let Some(spec) = self.correlation(&from.experiment) {
                self.correlate(draw, case, spec, &mut points)?;
            }
        }
        let mut parts = Vec::new();
        for (from, band) in row.parts() {
            let from = cases::from_at(row, from, case);
            for metric in from.metrics() {
                let drives = measure::of_drives(&points, &from, metric);
                match drives.and_then(|drives| Part::new(drives, band)) {
                    Some(part) => parts.push(part),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(Judged { parts }))
    }

    /// Adds the points of a correlation.
    fn correlate(
        &self,
        draw: &Draw,
        case: &Case,
        spec: &Correlation,
        points: &mut Points,
    ) -> Result<(), Error> {
        let variant = cases::variant_at(self.plan, self.study, &spec.variant, &case.setting);
        let (variant, _) = variant.ok_or(StudyError::No("variant"))?;
        let mut overrides = plan::overrides(&variant)?;
        if self.is_drawn(&variant.drive, &mut BTreeMap::new())? {
            overrides.extend(draw.set(self.plan));
        }
        let profile = profile(&variant.drive, &overrides)?;
        let drives = self.plan.drives;
        let measured = correlation::one_of(self.study, spec, &profile, drives, &|| {})?;
        for pairs in &measured.drives {
            let at = Dimension::ALL.map(|d| spec.values(d).first().cloned().unwrap_or_default());
            points.add(&spec.id, Coordinates::new(at), metric::of_pairs(pairs));
        }
        Ok(())
    }
}
