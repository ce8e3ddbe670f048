//! A figure of how much less than a variant another one has, beside what is published of it.

use super::dimension::Dimension;
use super::error::StudyError;
use super::plan::Coordinates;
use super::points::{Estimate, Points};
use super::spec::{Drawing, Experiment};

impl Drawing {
    /// That a figure of reductions can be drawn, of variants among `known`.
    pub(super) fn check_reductions(&self, known: &[String]) -> Result<(), StudyError> {
        if self.reduction.is_empty() {
            return match self.published.is_empty() {
                true => Ok(()),
                false => Err(StudyError::PublishedAlone),
            };
        }
        let has_other = self.across || self.log || self.same_y || self.line.is_some();
        if has_other || self.series != Dimension::Variant {
            return Err(StudyError::Reduction);
        }
        for name in self.reduction.iter().flat_map(|(a, b)| [a, b]) {
            if !known.contains(name) {
                let all = known.iter().map(String::as_str);
                return Err(StudyError::no_such("variant", name, all));
            }
        }
        for published in &self.published {
            if !self.y.contains(&published.metric) {
                let all = self.y.iter().map(String::as_str);
                return Err(StudyError::no_such("metric", &published.metric, all));
            }
            if published.band[0] > published.band[1] {
                return Err(StudyError::Band);
            }
        }
        Ok(())
    }
}

impl Experiment {
    /// What a figure shows of `metric` at `at`: the number itself, or in a figure of reductions by how much the
    /// variant that is compared has less (%), drive by drive. None where there is no such point or partner.
    pub fn shown(&self, points: &Points, at: &Coordinates, metric: &str) -> Option<Estimate> {
        if self.figure.reduction.is_empty() {
            return points.estimate(&self.id, at, metric);
        }
        let partner = self.figure.reduction.get(at.get(Dimension::Variant))?;
        let partner = at.with(&[(Dimension::Variant, partner.clone())].into());
        let whole = points.values(&self.id, at, metric)?;
        let less = points.values(&self.id, &partner, metric)?;
        let all = whole.iter().zip(less);
        let all: Vec<f64> = all
            .map(|(whole, less)| 100.0 * (1.0 - less / whole))
            .collect();
        Estimate::of(&all).filter(|e| e.mean.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Study;
    use super::*;

    const STUDY: &str = include_str!("reduction.toml");

    #[test]
    fn formula_a_reduction_is_drive_by_drive_of_its_partner() {
        let study = Study::parse("t", STUDY).unwrap();
        let experiment = &study.experiments[0];
        let mut points = Points::default();
        let mut all = Coordinates::all(experiment, false);
        all.retain(|at| at.get(Dimension::Age) == "1h");
        for at in &all {
            let slow = at.get(Dimension::Variant) == "slow";
            for mean in if slow { [100.0, 200.0] } else { [50.0, 50.0] } {
                let metrics = [("mean_us".to_owned(), mean.into())];
                points.add("range", at.clone(), metrics.into_iter().collect());
            }
        }
        let of = |name: &str| {
            let at = all.iter().find(|at| at.get(Dimension::Variant) == name);
            experiment.shown(&points, at.unwrap(), "mean_us")
        };
        let shown = of("slow").unwrap();
        assert_eq!((shown.mean, shown.drives), (62.5, 2));
        assert_eq!(of("fast"), None, "it is compared, not drawn");
    }

    #[test]
    fn formula_what_cannot_be_drawn_is_refused() {
        for (from, to, expected) in [
            (
                "slow = \"fast\"",
                "slow = \"fats\"",
                "`fats`; the nearest is `fast`",
            ),
            (
                "[experiment.figure.reduction]\nslow = \"fast\"\n",
                "",
                "`reduction`",
            ),
            (
                "y = [\"mean_us\"]",
                "y = [\"mean_us\"]\nlog = true",
                "`reduction`",
            ),
            ("metric = \"mean_us\"", "metric = \"p50_us\"", "`p50_us`"),
            ("band = [25, 74]", "band = [75, 74]", "band"),
        ] {
            let text = STUDY.replacen(from, to, 1);
            assert_ne!(text, STUDY, "{from}");
            let error = Study::parse("t", &text).unwrap_err();
            let mut message = error.to_string();
            let mut inner: &dyn std::error::Error = &error;
            while let Some(next) = inner.source() {
                message += &format!(": {next}");
                inner = next;
            }
            let message = format!("{message} {error:?}");
            assert!(
                message.contains(expected) || message.contains("Band") && expected == "band",
                "{to}: {message}"
            );
        }
    }
}
