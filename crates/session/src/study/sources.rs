//! What the profiles of a study's drives say of published rows.
//!
//! A value of a profile that was chosen from a published number, or with it in sight, names the row of that number in its
//! `source`. Every claim of such a row is a check of consistency then, without a word in the study.

use std::collections::{BTreeMap, BTreeSet};

use firstread_drive::profile::{DriveProfile, ResolvedEntry};

use super::claim::{Claim, FromPoints, Kind};
use super::dimension::Dimension;
use super::plan;
use super::spec::Study;
use crate::drive_profile::profile;
use crate::error::Error;

/// What profiles say of a claim.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Said {
    /// The values whose source names its row, in words; empty where none does.
    pub fitted: String,
    /// The longest sense of its drives (us), of a claim that is a latency: what one read more or less at another level takes.
    pub sense_us: Option<f64>,
}

/// Names of rows in a text: words with a point within.
pub fn rows(text: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let words = text.split(apart).map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('.'))
}

/// What the profiles of the drives of each claim say of it, by the claim's name.
///
/// # Errors
/// [`Error`] where the drive of one cannot be read.
pub fn said(study: &Study) -> Result<BTreeMap<String, Said>, Error> {
    let mut profiles: BTreeMap<&str, DriveProfile> = BTreeMap::new();
    for (name, variant) in &study.variants {
        let mut experiments = study.experiments.iter();
        let set = match experiments.find(|e| e.variants.contains(name)) {
            Some(experiment) => plan::overrides_in(experiment, name, variant),
            None => plan::overrides(variant),
        };
        let of = set.and_then(|set| profile(&variant.drive, &set));
        let of = of.map_err(|error| error.of(format!("variant `{name}`")))?;
        profiles.insert(name, of);
    }
    let one = |claim: &Claim| {
        let variants = variants_of(study, claim);
        let drives = variants
            .iter()
            .filter_map(|name| Some((*name, profiles.get(name)?)));
        let drives: Vec<(&str, &DriveProfile)> = drives.collect();
        let is_latency = |from: &FromPoints| from.kind == Kind::Value;
        let said = Said {
            fitted: fitted(&claim.id, &drives),
            sense_us: match claim.points.as_ref().is_some_and(is_latency) && claim.unit == "us" {
                true => drives
                    .iter()
                    .filter_map(|(_, p)| sense_us(p))
                    .reduce(f64::max),
                false => None,
            },
        };
        (claim.id.clone(), said)
    };
    Ok(study.claims.iter().map(one).collect())
}

/// The variants that the number of a claim is from.
fn variants_of<'a>(study: &'a Study, claim: &'a Claim) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    for from in claim.all_points() {
        match from.of.get(&Dimension::Variant) {
            Some(values) => all.extend(values.split('|')),
            None => {
                let experiment = study.experiments.iter().find(|e| e.id == from.experiment);
                let variants = experiment.map(|e| &e.variants).into_iter().flatten();
                all.extend(variants.map(String::as_str));
                let correlation = study.correlations.iter().find(|c| c.id == from.experiment);
                all.extend(correlation.map(|c| c.variant.as_str()));
            }
        }
        all.extend(from.against.get(&Dimension::Variant).map(String::as_str));
    }
    if let Some(fact) = &claim.fact {
        all.insert(&fact.variant);
        all.extend(fact.over.as_deref());
    }
    all
}

/// The values of `drives` whose source names the row `id`, each once.
fn fitted(id: &str, drives: &[(&str, &DriveProfile)]) -> String {
    let mut found: BTreeMap<&str, &ResolvedEntry> = BTreeMap::new();
    for (_, profile) in drives {
        let entries = profile.resolved.iter().filter(|entry| !entry.overridden);
        for entry in entries.filter(|entry| rows(&entry.source).any(|row| row == id)) {
            found.entry(&entry.path).or_insert(entry);
        }
    }
    let one = |entry: &&ResolvedEntry| format!("`{}` = {}", entry.path, entry.literal);
    let values: Vec<String> = found.values().map(one).collect();
    match values.is_empty() {
        true => String::new(),
        false => format!(
            "chosen from this number, or with it in sight, as its source says: {}",
            values.join(", ")
        ),
    }
}

/// How long a sense takes in the mode of the drive (us): all its phases.
fn sense_us(profile: &DriveProfile) -> Option<f64> {
    let entry = |path: &str| {
        let entry = profile.resolved.iter().find(|entry| entry.path == path)?;
        let us = entry.value.parse::<f64>().ok()?;
        match entry.unit.as_str() {
            "us" => Some(us),
            "ns" => Some(us / 1e3),
            "ms" => Some(us * 1e3),
            _ => None,
        }
    };
    let mode = profile.mode.name();
    let phase = |name| entry(&format!("chip.modes.{mode}.sense.{name}"));
    Some(phase("pre")? + phase("eval")? + phase("disch")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_names_of_rows_in_a_text() {
        let of = |text| rows(text).collect::<Vec<_>>();
        assert_eq!(of("10 mV, as assumed"), Vec::<&str>::new());
        assert_eq!(
            of("chosen from (ctqlc.fig13.p9999, prr.step.pr2); ctqlc.abstract.hot."),
            ["ctqlc.fig13.p9999", "prr.step.pr2", "ctqlc.abstract.hot"]
        );
        // A row is named as a whole.
        assert!(!of("ctqlc.fig3.avg2").contains(&"ctqlc.fig3.avg"));
    }

    /// Shipped chips name the rows that their levels were chosen from, and a variant that sets the value itself has none
    /// of that.
    #[test]
    fn formula_a_source_that_names_a_row_makes_it_fitted() {
        let text = |set: &str| {
            format!(
                "[variants.a]\ndrive = \"dc-qlc-15t\"\n{set}\n[variants.b]\ndrive = \"bench-4g\"\n{set}\n\
                 [[experiment]]\nid = \"e\"\nvariants = [\"a\", \"b\"]\nworkloads = \"randread-4k-qd1\"\nrequests = 100\n\
                 [[claim]]\nid = \"ctqlc.fig13.p9999\"\nsays = \"s\"\nunit = \"%\"\npublished = \"12\"\nband = [6, 18]\n\
                 points = {{ experiment = \"e\", metric = \"p99.99_us\", kind = \"reduction\", of = {{ variant = \"a\" }}, \
                 against = {{ variant = \"b\" }} }}\n\
                 [[claim]]\nid = \"ctqlc.tab2.p999.pe300\"\nsays = \"s\"\nunit = \"us\"\npublished = \"162\"\nband = [108, 216]\n\
                 points = {{ experiment = \"e\", metric = \"p99.9_us\", of = {{ variant = \"a\" }} }}\n"
            )
        };
        let of = |set: &str| {
            let study = Study::parse("t", &text(set)).unwrap();
            said(&study).unwrap()
        };
        let plain = of("");
        let fitted = &plain["ctqlc.fig13.p9999"].fitted;
        assert!(
            fitted.contains("`chip.modes.qlc.retention.late` = "),
            "{fitted}"
        );
        assert_eq!(plain["ctqlc.fig13.p9999"].sense_us, None);
        assert_eq!(plain["ctqlc.tab2.p999.pe300"].fitted, "");
        let sense = plain["ctqlc.tab2.p999.pe300"].sense_us.unwrap();
        assert!((sense - 37.5).abs() < 0.01, "{sense}");
        let own = of("set = [\"chip.modes.qlc.retention.late=20 mV/decade\"]");
        assert_eq!(own["ctqlc.fig13.p9999"].fitted, "");
    }
}
