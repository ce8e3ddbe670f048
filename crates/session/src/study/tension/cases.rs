//! The cases of a row: the conditions that its figure leaves free, crossed with the switches that touch its variants.

use std::collections::BTreeMap;

use super::super::claim::{FromPoints, combinations};
use super::super::dimension::Dimension;
use super::super::plan::Coordinates;
use super::super::spec::{Experiment, Study, Variant};
use super::spec::{Alternative, Plan, RowOf, Screen};

/// A position of every switch of a plan, in its order: 0 is what the study has, `k` the `k`-th alternative. Of switches
/// that do not matter it is 0.
pub type Setting = Vec<usize>;

/// A row under one choice of what is left open.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Index of its row.
    pub row: usize,
    /// Values of the coordinates that its figure leaves free.
    pub free: BTreeMap<Dimension, String>,
    /// Positions of the switches.
    pub setting: Setting,
    /// Which switches touch the row.
    pub touched: Vec<bool>,
}

impl Case {
    /// Whether it is one of `setting`: its switches stand as there.
    pub fn is_of(&self, setting: &Setting) -> bool {
        let mut all = self.touched.iter().zip(self.setting.iter().zip(setting));
        all.all(|(touched, (own, position))| !touched || own == position)
    }
}

/// The cases of all rows, row after row, the switches running fastest.
pub fn all(plan: &Plan, study: &Study, quick: bool) -> Vec<Case> {
    let mut all = Vec::new();
    for (i, row) in plan.rows(study).enumerate() {
        let touches = touching(plan, study, &row);
        let settings = settings(plan, quick, |switch| touches[switch]);
        for free in combinations(&row.figure.open(quick)) {
            for setting in &settings {
                all.push(Case {
                    row: i,
                    free: free.clone(),
                    setting: setting.clone(),
                    touched: touches.clone(),
                });
            }
        }
    }
    all
}

/// Positions of the switches that `moves` has, crossed, in the quick form or the full one; those of the others are 0.
pub fn settings(plan: &Plan, quick: bool, moves: impl Fn(usize) -> bool) -> Vec<Setting> {
    let none = vec![Vec::new()];
    let switches = plan.switches.iter().enumerate();
    switches.fold(none, |all, (i, switch)| {
        let positions = match moves(i) && (switch.quick || !quick) {
            true => switch.alternatives.len() + 1,
            false => 1,
        };
        let with = |before: &Setting| {
            let before = before.clone();
            (0..positions).map(move |position| {
                let mut setting = before.clone();
                setting.push(position);
                setting
            })
        };
        all.iter().flat_map(with).collect()
    })
}

/// For each switch of `plan`, whether it changes a variant of `row`.
pub fn touching(plan: &Plan, study: &Study, row: &RowOf<'_>) -> Vec<bool> {
    let variants = variants(study, row);
    let touches = |a: &Alternative| a.variants.iter().any(|v| variants.contains(v.get_ref()));
    let switches = plan.switches.iter();
    switches
        .map(|s| s.alternatives.iter().any(touches))
        .collect()
}

/// Variants that the numbers of `row` are of.
pub fn variants(study: &Study, row: &RowOf<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (from, _) in row.parts() {
        let of = match from.of.get(&Dimension::Variant) {
            Some(text) => text.split('|').map(str::to_owned).collect(),
            None => study
                .experiments
                .iter()
                .find(|e| e.id == from.experiment)
                .map_or(Vec::new(), |e| e.variants.clone()),
        };
        all.extend(of);
        all.extend(from.against.get(&Dimension::Variant).cloned());
        let correlation = study.correlations.iter().find(|c| c.id == from.experiment);
        all.extend(correlation.map(|c| c.variant.clone()));
    }
    all.sort();
    all.dedup();
    all
}

/// What `row` reads in a case: the coordinates of its figure stand above those of the claim.
pub fn from_at(row: &RowOf<'_>, from: &FromPoints, case: &Case) -> FromPoints {
    let mut from = from.at(&row.figure.at, None).at(&case.free, None);
    from.phases.clear();
    from
}

/// Points that `from` reads in `experiment`, with their partners.
pub fn points_of(experiment: &Experiment, from: &FromPoints) -> Vec<Coordinates> {
    let none = vec![Coordinates::new(Default::default())];
    let own = Dimension::ALL.into_iter().fold(none, |all, dimension| {
        let values: Vec<String> = match from.of.get(&dimension) {
            Some(text) => text.split('|').map(str::to_owned).collect(),
            None => experiment.values(dimension, false).to_vec(),
        };
        let with = |at: &Coordinates| {
            let at = at.clone();
            let values = values.clone();
            values
                .into_iter()
                .map(move |value| at.with(&BTreeMap::from([(dimension, value)])))
        };
        all.iter().flat_map(with).collect()
    });
    let mut all = own.clone();
    if !from.against.is_empty() {
        all.extend(own.iter().map(|at| at.with(&from.against)));
    }
    all.sort();
    all.dedup();
    all
}

/// The value of `dimension` at which `screen` looks at the cells of `row` in a case: one value, or none.
pub fn screened_at(
    study: &Study,
    row: &RowOf<'_>,
    screen: &Screen,
    case: &Case,
    dimension: Dimension,
) -> Option<String> {
    let from = row.claim.points.as_ref()?;
    let given = [&screen.at, &case.free, &row.figure.at, &from.of];
    if let Some(value) = given.into_iter().find_map(|of| of.get(&dimension)) {
        return Some(value.clone());
    }
    let experiment = study.experiments.iter().find(|e| e.id == from.experiment)?;
    experiment.values(dimension, false).first().cloned()
}

/// The alternatives that a setting chooses, with the index of their switch.
pub fn chosen<'a>(
    plan: &'a Plan,
    setting: &'a Setting,
) -> impl Iterator<Item = (usize, &'a Alternative)> {
    let both = plan.switches.iter().zip(setting).enumerate();
    both.filter_map(|(i, (switch, position))| {
        Some((i, switch.alternatives.get(position.checked_sub(1)?)?))
    })
}

/// The variant called `name` under `setting`, and the names of the alternatives that change it.
pub fn variant_at(
    plan: &Plan,
    study: &Study,
    name: &str,
    setting: &Setting,
) -> Option<(Variant, Vec<String>)> {
    let variant = study.variants.get(name)?;
    let mut changed = Variant {
        drive: variant.drive.clone(),
        schemes: variant.schemes.clone(),
        set: variant.set.clone(),
    };
    let axis = |scheme: &str| scheme.split('=').next().map(str::to_owned);
    let mut by = Vec::new();
    for (_, alternative) in chosen(plan, setting) {
        if !alternative.variants.iter().any(|v| v.get_ref() == name) {
            continue;
        }
        for scheme in &alternative.schemes {
            changed.schemes.retain(|own| axis(own) != axis(scheme));
            changed.schemes.push(scheme.clone());
        }
        changed.set.extend(alternative.set.iter().cloned());
        by.push(alternative.id.clone());
    }
    Some((changed, by))
}

/// A setting in words: the alternatives that it chooses.
pub fn in_words(plan: &Plan, setting: &Setting) -> String {
    let names: Vec<&str> = chosen(plan, setting).map(|(_, a)| a.id.as_str()).collect();
    match names.is_empty() {
        true => "as the study".to_owned(),
        false => names.join(" + "),
    }
}

/// Coordinates in words.
pub fn free_in_words(free: &BTreeMap<Dimension, String>) -> String {
    let named = free.iter().map(|(d, value)| match d {
        Dimension::Temperature => format!("{value} °C"),
        _ => value.clone(),
    });
    named.collect::<Vec<_>>().join(", ")
}
