//! The read level of a valley with the fewest errors.

use crate::cell::model::{StateDistribution, Wordline};
use crate::gaussian::density;
use crate::place::variation::VariationProfile;

/// Density of a state at `x`, including its heavy tail.
fn pdf(d: StateDistribution, v: &VariationProfile, x: f64) -> f64 {
    let at = |sigma: f64| density((x - d.mean_mv) / sigma) / sigma;
    if v.tail_fraction > 0.0 {
        (1.0 - v.tail_fraction) * at(d.sigma_mv)
            + v.tail_fraction * at(d.sigma_mv * v.tail_sigma_ratio)
    } else {
        at(d.sigma_mv)
    }
}

/// The level between two states at which their densities are equal, so that errors are fewest (mV). Closed
/// form for Gaussians, bisection with heavy tails.
pub fn crossing(lower: StateDistribution, upper: StateDistribution, v: &VariationProfile) -> f64 {
    let (m1, s1) = (lower.mean_mv, lower.sigma_mv);
    let (m2, s2) = (upper.mean_mv, upper.sigma_mv);
    if m2 <= m1 {
        // The states have changed places: no level separates them.
        return 0.5 * (m1 + m2);
    }
    if v.tail_fraction > 0.0 {
        let (mut lo, mut hi) = (m1, m2);
        for _ in 0..60 {
            let mid = 0.5 * (lo + hi);
            if pdf(lower, v, mid) > pdf(upper, v, mid) {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        return 0.5 * (lo + hi);
    }
    // (x-m1)^2/s1^2 - (x-m2)^2/s2^2 = 2 ln(s2/s1), in units u = x - m1.
    let d = m2 - m1;
    let (i1, i2) = (1.0 / (s1 * s1), 1.0 / (s2 * s2));
    let a = i1 - i2;
    let half_b = d * i2;
    let c = -d * d * i2 - 2.0 * ln_ratio(s2, s1);
    // a u^2 + 2 half_b u + c = 0. Takes the root between the means, in a form that is stable for a near zero.
    let disc = half_b * half_b - a * c;
    if disc < 0.0 {
        return m1 + d * s1 / (s1 + s2);
    }
    let u = -c / (half_b + libm::sqrt(disc));
    m1 + u.clamp(0.0, d)
}

/// `ln(a / b)` of positive numbers. Uses a series if they are close, as the widths of neighbouring states
/// are.
#[inline]
fn ln_ratio(a: f64, b: f64) -> f64 {
    let t = (a - b) / (a + b);
    let t2 = t * t;
    if t2 > 0.01 {
        return libm::log(a / b);
    }
    // Twice the inverse hyperbolic tangent. The truncation error is below 2e-12, relative.
    2.0 * t * (1.0 + t2 * (1.0 / 3.0 + t2 * (1.0 / 5.0 + t2 * (1.0 / 7.0 + t2 * (1.0 / 9.0)))))
}

/// The best level of every valley of a wordline (mV).
pub fn levels_mv(w: &Wordline<'_>) -> [f64; 15] {
    let mut out = [0.0; 15];
    let states = w.states();
    for (k, o) in out.iter_mut().enumerate().take(w.model.mode.valleys()) {
        *o = crossing(states[k], states[k + 1], w.variation);
    }
    out
}
