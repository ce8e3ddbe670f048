//! Draws of the knobs: an additive recurrence, which fills a box evenly in any number of dimensions.

use super::spec::{Knob, Plan, Spacing};
use crate::error::Error;

use firstread_drive::profile::Override;

/// Significant digits of a drawn value, so that the text that sets it is the value.
const DIGITS: i32 = 4;

/// Values of the knobs.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// From 1 up; 0 is the chip as shipped.
    pub number: u64,
    /// In the order of the plan, in the units of their ranges.
    pub values: Vec<f64>,
}

impl Draw {
    /// What it changes of a drive's profile.
    pub fn set(&self, plan: &Plan) -> Vec<Override> {
        match self.number {
            0 => Vec::new(),
            _ => {
                let both = plan.knobs.iter().zip(&self.values);
                both.map(|(knob, value)| knob.set(*value)).collect()
            }
        }
    }
}

/// The chip as shipped, then `n` draws.
///
/// # Errors
/// [`Error`] where the plan's chip cannot be read.
pub fn draws(plan: &Plan, n: u64) -> Result<Vec<Draw>, Error> {
    let chip = plan.shipped_chip()?;
    let shipped = plan.knobs.iter().map(|k| k.shipped(&chip).unwrap_or(0.0));
    let mut all = vec![Draw {
        number: 0,
        values: shipped.collect(),
    }];
    let steps = steps(plan.knobs.len());
    for number in 1..=n {
        let places = steps.iter().map(|step| place(number, *step));
        let both = plan.knobs.iter().zip(places);
        all.push(Draw {
            number,
            values: both.map(|(knob, place)| value(knob, place)).collect(),
        });
    }
    Ok(all)
}

/// Where the `n`-th draw lies in a dimension, from 0 to 1.
fn place(n: u64, step: f64) -> f64 {
    (0.5 + n as f64 * step).fract()
}

/// The steps of the sequence R_d: powers of 1/g, where g is the root above 1 of `x^(d+1) = x + 1` (M. Roberts, "The
/// Unreasonable Effectiveness of Quasirandom Sequences", 2018). Of one dimension g is the golden ratio.
fn steps(dimensions: usize) -> Vec<f64> {
    let mut g = 2.0;
    // The map contracts by more than half each time.
    for _ in 0..64 {
        g = libm::pow(1.0 + g, 1.0 / (dimensions as f64 + 1.0));
    }
    (1..=dimensions)
        .map(|i| libm::pow(1.0 / g, i as f64))
        .collect()
}

/// The value of `knob` at `place` of its range.
fn value(knob: &Knob, place: f64) -> f64 {
    let [low, high] = knob.ends().unwrap_or_default();
    let exact = match knob.spacing {
        Spacing::Linear => low + (high - low) * place,
        Spacing::Logarithmic => low * libm::pow(high / low, place),
    };
    let decade = libm::floor(libm::log10(exact.abs().max(f64::MIN_POSITIVE))) as i32;
    let to = DIGITS - 1 - decade;
    let scale = libm::pow(10.0, f64::from(to.abs()));
    match to >= 0 {
        true => libm::round(exact * scale) / scale,
        false => libm::round(exact / scale) * scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_one_dimension_steps_by_the_golden_ratio() {
        let one = steps(1);
        assert!((one[0] - 0.618_033_988_749_895).abs() < 1e-12, "{one:?}");
        let two = steps(2);
        assert!((two[0] - 0.754_877_666_246_693).abs() < 1e-12, "{two:?}");
    }

    /// Each quarter of each of seven ranges has a quarter of 256 draws, within four (chance alone is off by seven); and of each pair of ranges the quarters
    /// of both have their share, within eight of sixteen.
    #[test]
    fn formula_draws_fill_the_box_evenly() {
        let steps = steps(7);
        let cell = |n, step| (4.0 * place(n, step)) as usize;
        for a in &steps {
            let mut one = [0i32; 4];
            (1..=256).for_each(|n| one[cell(n, *a)] += 1);
            assert!(one.iter().all(|n| (n - 64).abs() <= 4), "{one:?}");
            for b in steps.iter().filter(|b| *b != a) {
                let mut both = [[0i32; 4]; 4];
                (1..=256).for_each(|n| both[cell(n, *a)][cell(n, *b)] += 1);
                let all = both.iter().flatten();
                assert!(all.clone().all(|n| (n - 16).abs() <= 8), "{both:?}");
            }
        }
    }
}
