//! Correlation of the optimal levels of valleys with those of the sentinel valleys. Computed from the cells, without a
//! run.

use firstread_core::{CellMode, DieId, Ns, SuperblockId};
use firstread_drive::profile::DriveProfile;
use firstread_nand::Medium;
use firstread_nand::characterize::{self, sentinel_correlations};

use super::dimension::Dimension;
use super::error::StudyError;
use super::metric;
use super::plan::{self, Coordinates};
use super::points::{Estimate, Points};
use super::spec::{Correlation, Study};
use crate::conditions::{parse_age, parse_celsius, parse_pe_cycles, single};
use crate::drive_profile::profile;
use crate::error::Error;

/// The measured pairs of a correlation.
#[derive(Debug)]
pub struct Measured<'a> {
    /// As the study has it.
    pub spec: &'a Correlation,
    /// Of each drive, every valley that is no sentinel.
    pub drives: Vec<Vec<characterize::Correlation>>,
    /// Mode of the cells.
    pub mode: CellMode,
    /// Sentinels by page type.
    pub sentinels: Vec<u8>,
    /// The least R² in the paper, of the claim about it.
    pub published: Option<f64>,
    /// A step of the read levels (mV).
    pub dac_mv: f64,
}

/// The correlations of `study`; `only` these, or all where it is empty.
pub fn chosen<'a>(study: &'a Study, only: &[String]) -> Vec<&'a Correlation> {
    let chosen = |spec: &&Correlation| plan::chosen(only, &spec.id);
    study.correlations.iter().filter(chosen).collect()
}

/// Measures `correlations` of `study`, and adds a point of each drive to `points`. `done` is called after each drive.
///
/// # Errors
/// [`Error`] of the first whose chips are not there or cannot be in its condition, with its name.
pub fn measure<'a>(
    study: &Study,
    correlations: &[&'a Correlation],
    points: &mut Points,
    done: &dyn Fn(),
) -> Result<Vec<Measured<'a>>, Error> {
    let mut all = Vec::new();
    for &spec in correlations {
        let one = one(study, spec, done);
        let one = one.map_err(|error| error.of(format!("correlation `{}`", spec.id)))?;
        for pairs in &one.drives {
            let at = Dimension::ALL.map(|d| spec.values(d).first().cloned().unwrap_or_default());
            let metrics = metric::of_pairs(pairs);
            points.add(&spec.id, Coordinates::new(at), metrics);
        }
        all.push(one);
    }
    Ok(all)
}

fn one<'a>(study: &Study, spec: &'a Correlation, done: &dyn Fn()) -> Result<Measured<'a>, Error> {
    let variant = &study.variants[&spec.variant];
    let profile = profile(&variant.drive, &plan::overrides(variant)?)?;
    one_of(study, spec, &profile, spec.drives, done)
}

/// The same of `drives` drives with `profile`.
pub(super) fn one_of<'a>(
    study: &Study,
    spec: &'a Correlation,
    profile: &DriveProfile,
    drives: u64,
    done: &dyn Fn(),
) -> Result<Measured<'a>, Error> {
    let cells = profile.cells;
    if !cells.have_voltages() {
        return Err(StudyError::NoVoltages(spec.variant.clone(), cells.name()).into());
    }
    let celsius = parse_celsius(&spec.temperature)?;
    let wear = single(parse_pe_cycles, &spec.pe_cycles)?;
    let times = spec.age.iter().map(|age| single(parse_age, age));
    let times: Vec<Ns> = times.collect::<Result<_, _>>()?;
    let geometry = profile.geometry;
    let place = |i: u16| {
        let block = i as u32 % geometry.blocks_per_plane;
        (DieId(i % geometry.dies()), SuperblockId(block))
    };
    let blocks: Vec<_> = (0..spec.blocks).map(place).collect();
    let drive = |seed| {
        let mut medium = Medium::new(profile.chip.clone(), geometry, seed)?;
        medium.set_temperature(Ns::ZERO, celsius)?;
        let mode = profile.mode;
        let all = sentinel_correlations(&medium, mode, wear, &times, &blocks, spec.wordlines)?;
        done();
        Ok(all)
    };
    let mode = profile.chip.mode(profile.mode);
    let mut claims = study.claims.iter();
    let claim = claims.find(|c| c.points.as_ref().is_some_and(|p| p.experiment == spec.id));
    Ok(Measured {
        spec,
        mode: profile.mode,
        published: claim.and_then(|c| c.published.parse().ok()),
        drives: (1..=drives).map(drive).collect::<Result<_, Error>>()?,
        sentinels: mode.map_or(Vec::new(), |m| m.sentinels.clone()),
        dac_mv: profile.chip.dac_step_mv,
    })
}

impl Measured<'_> {
    /// Valley, its sentinel, slope and R² over drives.
    pub fn pairs(&self) -> Vec<(u8, u8, Estimate, Estimate)> {
        let of = |i: usize, value: fn(&characterize::Correlation) -> f64| {
            let values = self.drives.iter().filter_map(|d| d.get(i).map(value));
            Estimate::of(&values.collect::<Vec<_>>())
        };
        let first = self.drives.first();
        let pair = |(i, c): (usize, &characterize::Correlation)| {
            let sentinel = *self.sentinels.get(c.page as usize)?;
            let (slope, r) = (of(i, |c| c.fit.slope)?, of(i, |c| c.fit.r_squared)?);
            Some((c.valley, sentinel, slope, r))
        };
        let all = first.into_iter().flatten().enumerate();
        all.filter_map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wear and ages are single: one end of a range does not stand for it.
    #[test]
    fn what_is_refused_of_correlations() {
        let text = concat!(
            include_str!("cells.toml"),
            "[[correlation]]\nid = \"pairs\"\ntitle = \"Pairs\"\npaper = \"none\"\nvariant = \"tlc\"\n",
            "temperature = \"30\"\npe_cycles = \"300\"\nage = [\"0\", \"2d\", \"9d\"]\n",
            "blocks = 1\nwordlines = 1\ndrives = 1\n",
        );
        let measured = |text: &str| {
            let study = Study::parse("t", text).unwrap();
            let mut points = Points::default();
            let result =
                measure(&study, &chosen(&study, &[]), &mut points, &|| {}).map(|all| all.len());
            result.map_err(|e| e.to_string())
        };
        assert_eq!(measured(text), Ok(1));
        for (from, to, message) in [
            ("\"300\"", "\"0..300\"", "`0..300` is a range"),
            ("\"9d\"", "\"2d..9d\"", "`2d..9d` is a range"),
        ] {
            let error = measured(&text.replacen(from, to, 1)).unwrap_err();
            assert!(
                error.contains(message) && error.contains("`pairs`"),
                "{error}"
            );
        }
    }

    /// Blocks lie on one die after another, the drive is as warm as the study says, and each drive has chips of its own.
    #[test]
    fn model_blocks_are_spread_over_dies_at_the_temperature_of_the_study() {
        let measured = |temperature: &str| {
            let text = format!(
                "{}[[correlation]]\nid = \"pairs\"\ntitle = \"Pairs\"\npaper = \"none\"\nvariant = \"tlc\"\n\
                 temperature = \"{temperature}\"\npe_cycles = \"500\"\nage = [\"1d\", \"30d\", \"90d\"]\n\
                 blocks = 4\nwordlines = 2\ndrives = 2\n",
                include_str!("cells.toml"),
            );
            let study = Study::parse("t", &text).unwrap();
            let mut points = Points::default();
            let all = measure(&study, &chosen(&study, &[]), &mut points, &|| {}).unwrap();
            let of = |c: &characterize::Correlation| (c.valley, c.points.clone());
            let drives = all[0].drives.iter();
            drives
                .map(|pairs| pairs.iter().map(of).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let profile = profile("tlc-48l", &[]).unwrap();
        let days = [1, 30, 90].map(|d| Ns(d * 86_400_000_000_000));
        for celsius in [30.0, 55.0] {
            let found = measured(&celsius.to_string());
            assert_eq!(found.len(), 2);
            for (seed, found) in (1..).zip(&found) {
                let mut medium = Medium::new(profile.chip.clone(), profile.geometry, seed).unwrap();
                medium.set_temperature(Ns::ZERO, celsius).unwrap();
                let blocks: Vec<_> = (0..4u16)
                    .map(|i| (DieId(i), SuperblockId(i.into())))
                    .collect();
                let all = sentinel_correlations(&medium, profile.mode, 500, &days, &blocks, 2);
                let all: Vec<_> = all
                    .unwrap()
                    .into_iter()
                    .map(|c| (c.valley, c.points))
                    .collect();
                assert_eq!(found, &all, "drive {seed} at {celsius} degC");
            }
            assert_ne!(found[0], found[1]);
        }
        assert_ne!(measured("30"), measured("55"));
    }
}
