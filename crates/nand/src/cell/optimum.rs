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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::tail_exact;

    fn state(mean_mv: f64, sigma_mv: f64) -> StateDistribution {
        StateDistribution { mean_mv, sigma_mv }
    }

    fn heavy(tail_fraction: f64) -> VariationProfile {
        VariationProfile {
            tail_fraction,
            tail_sigma_ratio: 2.0,
            ..VariationProfile::default()
        }
    }

    /// The crossing has fewer errors than levels on either side of it, for states of any widths, with heavy tails or
    /// without.
    #[test]
    fn formula_at_a_crossing_the_errors_are_fewest() {
        for tail in [0.0, 0.1, 0.4] {
            let v = heavy(tail);
            for (m1, s1, m2, s2) in [
                (0.0, 40.0, 250.0, 40.0),
                (0.0, 40.0, 250.0, 42.0),
                (0.0, 42.0, 250.0, 40.0),
                (-2500.0, 350.0, 400.0, 42.0),
                (100.0, 30.0, 400.0, 90.0),
                (100.0, 90.0, 400.0, 30.0),
            ] {
                let errors = |x: f64| {
                    let q = |z: f64| {
                        let narrow = (1.0 - tail) * tail_exact(z);
                        narrow + tail * tail_exact(z / 2.0)
                    };
                    q((x - m1) / s1) + q((m2 - x) / s2)
                };
                let best = crossing(state(m1, s1), state(m2, s2), &v);
                assert!(m1 < best && best < m2, "{best}");
                let (least, step) = (errors(best), 0.02 * s1.min(s2));
                for side in [-step, step] {
                    assert!(
                        errors(best + side) > least,
                        "{tail} {m1} {s1} {m2} {s2}: {best}"
                    );
                }
                // The densities are equal there.
                let (a, b) = (pdf(state(m1, s1), &v, best), pdf(state(m2, s2), &v, best));
                assert!((a / b - 1.0).abs() < 1e-6, "{tail} {best}: {a:e}, {b:e}");
            }
        }
    }

    #[test]
    fn formula_states_of_one_width_cross_in_the_middle() {
        let none = heavy(0.0);
        let of = |m1, s1, m2, s2| crossing(state(m1, s1), state(m2, s2), &none);
        assert!((of(10.0, 42.0, 260.0, 42.0) - 135.0).abs() < 1e-9);
        // States that have changed places, or are one, are not separated by any level.
        assert_eq!(of(260.0, 30.0, 10.0, 42.0), 135.0);
        assert_eq!(of(50.0, 30.0, 50.0, 42.0), 50.0);
        // Where the wide state lies in the narrow one, the densities cross on the other side of a mean: the level stays
        // between the means.
        for (s1, s2) in [(10.0, 300.0), (300.0, 10.0)] {
            let level = of(0.0, s1, 5.0, s2);
            assert!((0.0..=5.0).contains(&level), "{s1} {s2}: {level}");
        }
    }

    #[test]
    fn formula_the_logarithm_of_a_ratio_is_the_librarys() {
        for i in -400..=400 {
            let ratio = libm::exp(f64::from(i) * 1e-3);
            let (is, exact) = (ln_ratio(42.0 * ratio, 42.0), libm::log(ratio));
            assert!(
                (is - exact).abs() <= 1e-11 * exact.abs() + 1e-15,
                "{ratio}: {is:e}"
            );
        }
    }

    #[test]
    fn formula_a_density_is_that_of_a_mixture() {
        // At the mean: 1 / (sigma sqrt(2 pi)), and half as much of a part that is twice as wide.
        let peak = 0.398_942_280_4 / 40.0;
        assert!((pdf(state(7.0, 40.0), &heavy(0.0), 7.0) / peak - 1.0).abs() < 1e-9);
        let mixed = pdf(state(7.0, 40.0), &heavy(0.2), 7.0);
        assert!((mixed / (peak * 0.9) - 1.0).abs() < 1e-9);
        // Two widths off: e^-2, and of the wider part e^-1/2.
        let off = pdf(state(7.0, 40.0), &heavy(0.2), 87.0);
        let expected = peak * (0.8 * libm::exp(-2.0) + 0.1 * libm::exp(-0.5));
        assert!((off / expected - 1.0).abs() < 1e-9);
    }
}
