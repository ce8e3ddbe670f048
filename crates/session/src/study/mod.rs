//! Studies as data: what is claimed, by a paper or by oneself, the simulations that tell, and the verdicts.
//!
//! - [`spec`]: a study as it is written, [`claim`]: a claim of it. `read` refuses those that mean nothing.
//!   `forgiving`: values that may be written in several ways. [`dimension`]: what its points differ in. [`plan`]: the simulations it comes to, which a
//!   [`Matrix`](crate::Matrix) runs.
//! - [`correlation`], [`margin`], [`sample`]: what the cells alone tell. [`fact`]: what needs no run.
//! - [`metric`]: the numbers of a point. [`points`]: those of all, and their means over drives.
//! - [`sources`]: what profiles say of published rows. [`switch`], [`switches`]: choices that could be others.
//! - [`tension`]: which rows hold together on one chip, drawn from the ranges of its open numbers.
//! - [`measure`](mod@measure): the numbers of claims, by phase and by open choice. [`verdict`]: what becomes of them.

pub mod claim;
pub mod correlation;
pub mod dimension;
pub(crate) mod error;
pub mod fact;
mod forgiving;
pub mod margin;
pub mod measure;
pub mod metric;
mod number;
pub mod plan;
pub mod points;
mod read;
pub mod reduction;
pub mod sample;
pub mod sources;
pub mod spec;
pub mod switch;
pub mod switches;
pub mod tension;
pub mod verdict;

use std::collections::BTreeMap;
use std::path::Path;

use crate::drive_profile::{is_path, profile};
use crate::error::Error;
use crate::files;
use crate::names::Unknown;
use fact::Fact;
use spec::Study;

pub use error::StudyError;

macro_rules! studies {
    ($($name:literal),*) => {
        /// Shipped studies: name and text.
        pub const STUDIES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!(env!("FIRSTREAD_STUDIES"), "/", $name, "/study.toml")))),*
        ];
    };
}

studies!["ct-qlc", "pr2-ar2", "raro", "dwr", "ibm", "medium"];

/// A study of one's own to begin with: commented, and runs as it is.
pub const NEW: &str = include_str!("new.toml");

/// A study with its name.
#[derive(Debug)]
pub struct Named {
    /// As it was asked for: the name of a shipped one, or a path.
    pub given: String,
    /// That of a shipped one, or of its file without its ending.
    pub name: String,
    pub study: Study,
}

/// The study called `name`: a shipped one, the path of one, or `all` that are shipped.
///
/// # Errors
/// [`Error`] where there is none, or it is wrong.
pub fn find(name: &str) -> Result<Vec<Named>, Error> {
    let named = |name: &str, text: &str| {
        Ok(Named {
            given: name.to_owned(),
            name: name.to_owned(),
            study: Study::parse(name, text)?,
        })
    };
    if name == "all" {
        let all = STUDIES.iter();
        return all.map(|(name, text)| named(name, text)).collect();
    }
    if let Some((_, text)) = STUDIES.iter().find(|(n, _)| *n == name) {
        return Ok(vec![named(name, text)?]);
    }
    if is_path(name) {
        let path = Path::new(name);
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name);
        let mut study = Study::parse(name, &files::read_text(path)?)?;
        if study.title == name {
            stem.clone_into(&mut study.title);
        }
        return Ok(vec![Named {
            given: name.to_owned(),
            name: stem.to_owned(),
            study,
        }]);
    }
    Err(Unknown::new("study", name, STUDIES.iter().map(|(n, _)| *n)).into())
}

/// The values of the claims about drives as they are, by the claim's name.
///
/// # Errors
/// [`Error`] where the drive of one cannot be read or keeps no tables.
pub fn facts(study: &Study) -> Result<BTreeMap<String, f64>, Error> {
    let mut facts = BTreeMap::new();
    for claim in &study.claims {
        let Some(from) = &claim.fact else {
            continue;
        };
        let fact = Fact::find(&from.name)?;
        let of = |name: &str| {
            let variant = &study.variants[name];
            let overrides = plan::overrides(variant);
            let profile = overrides.and_then(|set| profile(&variant.drive, &set));
            let profile = profile.map_err(|error| error.of(format!("variant `{name}`")))?;
            fact.value(&profile)?.ok_or_else(|| {
                let error = Error::from(StudyError::NoTables(name.to_owned()));
                error.of(format!("claim `{}`", claim.id))
            })
        };
        let mut value = of(&from.variant)?;
        if let Some(over) = &from.over {
            value = of(over)? / value;
        }
        facts.insert(claim.id.clone(), value);
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A study that is whole and small.
    pub const SMALL: &str = include_str!("small.toml");

    /// A shipped study says itself which schemes its drives have where a drive's default may change.
    #[test]
    fn smoke_shipped_studies_name_the_schemes_of_their_drives() {
        for (name, text) in STUDIES {
            for (variant, v) in &Study::parse(name, text).unwrap().variants {
                for axis in ["suspend", "wear", "read_recovery", "gc_victim", "refresh"] {
                    let of_axis = |s: &&String| s.split_once('=').is_some_and(|(a, _)| a == axis);
                    let named = v.schemes.iter().filter(of_axis).count();
                    assert_eq!(named, 1, "{name}: variant {variant}: {axis}");
                }
            }
        }
    }

    /// What a study has for all its variants gives way to what a variant has itself.
    #[test]
    fn formula_variants_have_what_the_study_has_for_all() {
        let common = "schemes = [\"gc_victim=d-choices\", \"wear=static\"]\n\
                      set = [\"wear.spread=7P/E\", \"capacity=1GiB\"]\n";
        let own = SMALL.replacen(
            "schemes = [\"gc_victim=greedy\"]",
            "schemes = [\"gc_victim=greedy\"]\nset = [\"capacity=2GiB\"]",
            1,
        );
        let study = Study::parse("t", &format!("{common}{own}")).unwrap();
        let drive = |name: &str| {
            let variant = &study.variants[name];
            profile(&variant.drive, &plan::overrides(variant).unwrap()).unwrap()
        };
        let scheme = |name: &str, axis| drive(name).scheme(axis).unwrap().scheme.name;
        assert_eq!(scheme("a", "gc_victim"), "d-choices");
        assert_eq!(scheme("b", "gc_victim"), "greedy");
        for (name, gib) in [("a", 1), ("b", 2)] {
            assert_eq!(scheme(name, "wear"), "static");
            assert_eq!(
                drive(name).scheme("wear").unwrap().values().get("spread"),
                7
            );
            assert_eq!(drive(name).capacity_bytes, gib << 30);
        }
        // A name that is wrong is said wherever it stands.
        let wrong = format!("schemes = [\"waer=static\"]\n{SMALL}");
        let study = Study::parse("t", &wrong).unwrap();
        let error = plan::overrides(&study.variants["a"])
            .and_then(|set| profile("bench-4g", &set))
            .unwrap_err();
        assert!(
            format!("{error:#}").contains("nearest is `wear`"),
            "{error:#}"
        );
    }

    /// Another number of drives is that of each experiment, in both forms, but where the experiment says why it has few.
    #[test]
    fn formula_experiments_that_say_why_they_have_few_drives_keep_them() {
        let few = SMALL.replacen("repetitions", "few_drives = \"a test\"\nrepetitions", 1);
        for (text, drives) in [(SMALL, [9, 9]), (&few, [5, 1])] {
            let mut study = Study::parse("t", text).unwrap();
            study.over_drives(9);
            let of = study.experiments[0].repetitions;
            assert_eq!([of.full, of.quick], drives);
        }
    }

    #[test]
    fn what_is_refused() {
        for (from, to, message) in [
            (
                "variants = [\"a\", \"b\"]",
                "variants = [\"a\", \"c\"]",
                "no variant `c`",
            ),
            (
                "metric = \"iops\"",
                "metric = \"ipos\"",
                "nearest is `iops`",
            ),
            (
                "experiment = \"one\"",
                "experiment = \"on\"",
                "nearest is `one`",
            ),
            ("title =", "titel =", "titel"),
            ("band = [0.9, 1.1]", "band = [2, 1]", "ends before"),
            (
                "of = { variant = \"b\" }",
                "of = { variant = \"b\", age = \"3h\" }",
                "no age `3h`",
            ),
            (
                "against = { variant = \"a\" }, over",
                "over",
                "others have none",
            ),
            ("full = 1000,", "full = 0,", "nothing to run"),
        ] {
            assert!(SMALL.contains(from), "{from}");
            let error = Study::parse("t", &SMALL.replacen(from, to, 1)).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.contains(message) && text.starts_with("t: "), "{text}");
        }
    }
}
