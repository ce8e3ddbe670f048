//! Fast Gaussian tails and hashed Gaussians, from tables that `libm` fills once.

use crate::single;

/// Nodes of the tail table per unit.
const PER_UNIT: usize = 64;
/// Number of filled nodes, up to 9. Half a node further the tail is below 1.2e-19 and taken as zero.
const NODES: usize = PER_UNIT * 9 + 1;
/// The first node that is zero. Zeros follow up to a power of two, so that a mask can replace a range test.
const FAR: f64 = NODES as f64 / PER_UNIT as f64;
const ROOM: usize = NODES.next_power_of_two();

/// Adding this constant rounds a number below 2^51 to an integer, which is then in the low bits. This is
/// cheaper than a cast, which saturates.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Nodes of the tail table in single precision. From 7.98 on they are zero: the tail there is 7e-16.
const NEAR_NODES: usize = 512;
const NEAR_FAR: f32 = (NEAR_NODES - 1) as f32 / PER_UNIT as f32;

/// Octaves of tail probability that a 64-bit draw resolves, and steps per octave.
const OCTAVES: usize = 44;
const STEPS: usize = 32;

/// Steps of the 16-bit table.
const FIELD_STEPS: usize = 2048;
/// 16-bit values per step.
const FIELD_VALUES: usize = 65_536 / FIELD_STEPS;
/// Steps at each end that are resolved to single values.
const ENDS: usize = 2;

/// `Q(x)`, the upper Gaussian tail, exact to `libm`'s accuracy.
pub fn tail_exact(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// `φ(x)`, the standard normal density.
pub fn density(x: f64) -> f64 {
    const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
    INV_SQRT_2PI * libm::exp(-0.5 * x * x)
}

/// `x` with `Q(x) = p`, for `p` in (0, 1): a rational start value (Abramowitz and Stegun 26.2.23), then
/// Newton steps on `ln Q` until convergence.
pub fn tail_inverse(p: f64) -> f64 {
    if p > 0.5 {
        return -tail_inverse(1.0 - p);
    }
    let t = libm::sqrt(-2.0 * libm::log(p));
    let mut x = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    for _ in 0..4 {
        let q = tail_exact(x);
        let step = libm::log(q / p) * q / density(x);
        x += step;
        // Convergence is quadratic: the next step would be below the resolution of a float.
        if step.abs() < 1e-9 {
            break;
        }
    }
    x
}

/// Tables of the Gaussian distribution. They take 34 KiB, so keep them behind a reference.
#[derive(Clone, Debug)]
pub struct Gaussian {
    /// `(Q, density)` at multiples of `1 / PER_UNIT`.
    tail: [[f64; 2]; ROOM],
    /// The same in single precision, up to 8.
    near: [[f32; 2]; NEAR_NODES],
    /// Quantile at the upper end of each step of each octave of tail probability.
    octave: [f32; OCTAVES * (STEPS + 1)],
    /// Means of 2,048 equally likely parts of the distribution; not a number (NaN) at the ends.
    field: [f32; FIELD_STEPS],
    /// The parts at the ends, value by value.
    extreme: [f32; ENDS * FIELD_VALUES],
}

impl Gaussian {
    /// Fills its tables, once for a medium.
    pub fn new() -> Gaussian {
        let mut g = Gaussian {
            tail: [[0.0; 2]; ROOM],
            near: [[0.0; 2]; NEAR_NODES],
            octave: [0.0; OCTAVES * (STEPS + 1)],
            field: [f32::NAN; FIELD_STEPS],
            extreme: [0.0; ENDS * FIELD_VALUES],
        };
        for (i, node) in g.tail.iter_mut().enumerate().take(NODES) {
            let x = i as f64 / PER_UNIT as f64;
            *node = [tail_exact(x), density(x)];
        }
        for (to, from) in g.near[..NEAR_NODES - 1].iter_mut().zip(&g.tail) {
            *to = from.map(|x| x as f32);
        }
        for (i, z) in g.octave.iter_mut().enumerate() {
            // Octave `k` covers tail probabilities from `2^-(k+2)` up to `2^-(k+1)`.
            let (k, step) = (i / (STEPS + 1), i % (STEPS + 1));
            let top = libm::exp2(-1.0 - k as f64);
            *z = tail_inverse(top * (0.5 + 0.5 * step as f64 / STEPS as f64)) as f32;
        }
        // The mean of a part is the decrease of the density over it.
        let edge = |i: usize, n: usize| match i {
            0 => 0.0,
            i if i == n => 0.0,
            i => density(tail_inverse(i as f64 / n as f64)),
        };
        let part = |low: f64, high: f64, n: usize| ((low - high) * n as f64) as f32;
        let mut low = edge(ENDS, FIELD_STEPS);
        for i in ENDS..FIELD_STEPS / 2 {
            let high = edge(i + 1, FIELD_STEPS);
            let z = part(low, high, FIELD_STEPS);
            (g.field[i], g.field[FIELD_STEPS - 1 - i]) = (z, -z);
            low = high;
        }
        for (i, z) in g.extreme.iter_mut().enumerate() {
            *z = part(edge(i, 65_536), edge(i + 1, 65_536), 65_536);
        }
        g
    }

    /// `(Q(x), density(x))` of several `x`, by a Taylor step from the nearest node. Relative errors are below
    /// 1.2e-6 and 2e-4 up to the far end, and fall with the fourth and third power of `x`. Each step is taken
    /// for all `x`, so that they share vector registers.
    #[inline]
    pub fn tails_and_densities<const N: usize>(&self, x: [f64; N]) -> ([f64; N], [f64; N]) {
        let up = x.map(|x| if x.abs() < FAR { x.abs() } else { FAR });
        let node = up.map(|x| x * PER_UNIT as f64 + ROUND);
        let at = node.map(|n| self.tail[n.to_bits() as usize % ROOM]);
        let q = at.map(|[q, _]| q);
        let phi = at.map(|[_, phi]| phi);
        let each = |f: &dyn Fn(usize) -> f64| core::array::from_fn::<f64, N, _>(f);
        let a = node.map(|n| (n - ROUND) * (1.0 / PER_UNIT as f64));
        let d = each(&|k| up[k] - a[k]);
        let ad = each(&|k| a[k] * d[k]);
        let dd = d.map(|d| d * d);
        let step = each(&|k| d[k] * (1.0 - 0.5 * ad[k] + (ad[k] * ad[k] - dd[k]) * (1.0 / 6.0)));
        let q = each(&|k| q[k] - phi[k] * step[k]);
        // exp(-a d - d^2/2) to second order.
        let e = each(&|k| ad[k] + 0.5 * dd[k]);
        let phi = each(&|k| phi[k] * (1.0 - e[k] + 0.5 * e[k] * e[k]));
        // `1 - q` for negative `x`, without a branch.
        let below = x.map(|x| if x < 0.0 { 1.0 } else { 0.0 });
        let q = each(&|k| below[k] + (1.0 - 2.0 * below[k]) * q[k]);
        (q, phi)
    }

    /// [`Gaussian::tails_and_densities`] in single precision. Relative errors are below 5e-6 and 2e-4 up to
    /// 7. From 7.98 on the results are zero. NaN stays NaN.
    #[inline(always)] // In vector registers with what comes before and after.
    pub fn near_tails_and_densities<const N: usize>(&self, x: [f32; N]) -> ([f32; N], [f32; N]) {
        let up = x.map(|x| {
            if x.abs() > NEAR_FAR {
                NEAR_FAR
            } else {
                x.abs()
            }
        });
        let node = up.map(|x| x * PER_UNIT as f32 + single::ROUND);
        let at = node.map(|n| self.near[n.to_bits() as usize % NEAR_NODES]);
        let q = at.map(|[q, _]| q);
        let phi = at.map(|[_, phi]| phi);
        let each = |f: &dyn Fn(usize) -> f32| core::array::from_fn::<f32, N, _>(f);
        let a = node.map(|n| (n - single::ROUND) * (1.0 / PER_UNIT as f32));
        let d = each(&|k| up[k] - a[k]);
        let ad = each(&|k| a[k] * d[k]);
        let dd = d.map(|d| d * d);
        let step = each(&|k| d[k] * (1.0 - 0.5 * ad[k] + (ad[k] * ad[k] - dd[k]) * (1.0 / 6.0)));
        let q = each(&|k| q[k] - phi[k] * step[k]);
        let e = each(&|k| ad[k] + 0.5 * dd[k]);
        let phi = each(&|k| phi[k] * (1.0 - e[k] + 0.5 * e[k] * e[k]));
        let below = x.map(|x| if x < 0.0 { 1.0 } else { 0.0 });
        let q = each(&|k| below[k] + (1.0 - 2.0 * below[k]) * q[k]);
        (q, phi)
    }

    /// `1 - 2 Q(x)` for `x >= 0` to 2e-5.
    #[inline]
    pub fn within_roughly(&self, x: f32) -> f32 {
        let x = if x < NEAR_FAR { x } else { NEAR_FAR };
        let node = x * PER_UNIT as f32 + single::ROUND;
        let [q, phi] = self.near[node.to_bits() as usize % NEAR_NODES];
        let d = x - (node - single::ROUND) * (1.0 / PER_UNIT as f32);
        1.0 - 2.0 * (q - phi * d)
    }

    /// The upper tail `Q(x)`; zero beyond 9.
    #[inline]
    pub fn tail(&self, x: f64) -> f64 {
        self.tails_and_densities([x]).0[0]
    }

    /// The upper tail and the density.
    #[inline]
    pub fn tail_and_density(&self, x: f64) -> (f64, f64) {
        let ([q], [phi]) = self.tails_and_densities([x]);
        (q, phi)
    }

    /// A Gaussian number from 64 uniform bits, with tails out to 7 standard deviations.
    #[inline]
    pub fn of_bits(&self, bits: u64) -> f64 {
        let r = (bits << 1) | 1;
        let k = (r.leading_zeros() as usize).min(OCTAVES - 1);
        // Mantissa below the leading one: position in the octave, measured from its upper end.
        let m = (r << k) << 1;
        let i = (m >> 59) as usize;
        let f = ((m >> 35) & 0xff_ffff) as f32 * (1.0 / 16_777_216.0);
        let at = k * (STEPS + 1) + i;
        let z = self.octave[at] + (self.octave[at + 1] - self.octave[at]) * f;
        (if bits >> 63 == 1 { -z } else { z }) as f64
    }

    /// A Gaussian number from 16 uniform bits, in 2,048 steps and with tails out to 4.3 standard deviations.
    /// For use in sums.
    #[inline]
    pub fn of_u16(&self, bits: u16) -> f32 {
        let z = self.inner_u16(bits);
        if z.is_nan() { self.outer_u16(bits) } else { z }
    }

    /// The same, except for four of 2,048 values at the ends, where it is NaN. A sum of several numbers is
    /// then checked once, and in that case computed again with [`Gaussian::of_u16`].
    #[inline]
    pub fn inner_u16(&self, bits: u16) -> f32 {
        self.field[bits as usize / FIELD_VALUES]
    }

    #[cold]
    fn outer_u16(&self, bits: u16) -> f32 {
        let low = bits < 0x8000;
        let z = self.extreme[(if low { bits } else { !bits }) as usize % self.extreme.len()];
        if low { z } else { -z }
    }
}

impl Default for Gaussian {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn formula_tail_table_against_erfc() {
        let g = Gaussian::new();
        let mut worst = 0.0f64;
        for i in 0..90_000 {
            let x = i as f64 * 1e-4 + 3.3e-5;
            let (q, phi) = g.tail_and_density(x);
            worst = worst.max((q / tail_exact(x) - 1.0).abs());
            assert!((phi / density(x) - 1.0).abs() < 2e-4, "density at {x}");
            assert!((g.tail(-x) + q - 1.0).abs() < 1e-15);
            let within = g.within_roughly(x as f32) as f64;
            assert!((within + 2.0 * q - 1.0).abs() < 2e-5, "{x}");
            let ([near, below], [near_phi, _]) = g.near_tails_and_densities([x as f32, -x as f32]);
            if x < 7.0 {
                // Exact value of the rounded argument.
                let exact = tail_exact(x as f32 as f64);
                assert!((near as f64 / exact - 1.0).abs() < 5e-6, "{x}: {near:e}");
                let exact = density(x as f32 as f64);
                assert!((near_phi as f64 / exact - 1.0).abs() < 2e-4, "{x}");
            }
            assert!((near as f64 - q).abs() < 1e-6 && (near + below - 1.0).abs() < 2e-7);
        }
        let ([q, far], _) = g.near_tails_and_densities([f32::NAN, 1e30]);
        assert!(q.is_nan() && far == 0.0);
        assert!(worst < 1.2e-6, "relative error {worst:e}");
        assert_eq!(g.tail(30.0), 0.0);
        assert_eq!(g.tail(-30.0), 1.0);
    }

    #[test]
    fn model_hashed_gaussians_have_gaussian_moments_and_tails() {
        let g = Gaussian::new();
        let s = Stream::new(11);
        let n = 1_000_000u64;
        let (mut m, mut v, mut k, mut beyond3, mut beyond4) = (0.0, 0.0, 0.0, 0, 0);
        for i in 0..n {
            let z = g.of_bits(s.draw(i));
            m += z;
            v += z * z;
            k += z * z * z * z;
            beyond3 += (z > 3.0) as u32;
            beyond4 += (z.abs() > 4.0) as u32;
        }
        let n = n as f64;
        assert!((m / n).abs() < 0.005, "mean {}", m / n);
        assert!((v / n - 1.0).abs() < 0.01, "variance {}", v / n);
        assert!((k / n - 3.0).abs() < 0.05, "fourth moment {}", k / n);
        // 1,350 and 63 expected.
        assert!((1200..1500).contains(&beyond3), "{beyond3} beyond 3");
        assert!((35..95).contains(&beyond4), "{beyond4} beyond 4");
    }

    #[test]
    fn formula_sixteen_bit_gaussian_over_its_whole_range() {
        let g = Gaussian::new();
        let (mut m, mut v) = (0.0, 0.0);
        for u in 0..=u16::MAX {
            let z = g.of_u16(u) as f64;
            let exact = -tail_inverse((u as f64 + 0.5) / 65_536.0);
            assert!((z - exact).abs() < 0.1, "{u}: {z} against {exact}");
            m += z;
            v += z * z;
        }
        assert!((m / 65_536.0).abs() < 1e-6);
        assert!((v / 65_536.0 - 1.0).abs() < 2e-3, "{}", v / 65_536.0);
    }

    /// A number from bits has the tail probability that the bits are a share of: the highest bit tells the side, and the
    /// others, with a one behind them, the probability.
    #[test]
    fn formula_a_number_from_bits_has_their_tail() {
        let g = Gaussian::new();
        let s = Stream::new(4);
        for i in 0..20_000 {
            // Some of them far out, to 2^-44.
            let bits = s.draw(i) >> 1 >> (i % 43);
            let p = (2.0 * bits as f64 + 1.0) / 2f64.powi(65);
            if p < 2f64.powi(-44) {
                continue;
            }
            let z = g.of_bits(bits);
            let off = tail_exact(z) / p - 1.0;
            assert!(off.abs() < 1e-3, "{bits:x}: {z}, {off:e}");
            let low = g.of_bits(bits | 1 << 63);
            assert_eq!(low, -z);
        }
        assert!(g.of_bits(0) > 6.9 && g.of_bits(0) < 7.8);
    }

    #[test]
    fn formula_a_quantile_is_the_inverse_of_its_tail() {
        for k in 1..60 {
            let p = 2f64.powi(-k);
            let x = tail_inverse(p);
            assert!((tail_exact(x) / p - 1.0).abs() < 1e-11, "2^-{k}: {x}");
            let mirrored = tail_inverse(1.0 - p);
            assert!(
                k > 40 || (mirrored + x).abs() < 1e-3,
                "1 - 2^-{k}: {mirrored}"
            );
        }
        // From tables of the normal distribution.
        for (p, x) in [
            (0.5, 0.0),
            (0.158_655_254, 1.0),
            (0.025, 1.959_963_985),
            (0.001, 3.090_232_306),
        ] {
            assert!((tail_inverse(p) - x).abs() < 1e-8, "{p}");
            assert!((tail_inverse(1.0 - p) + x).abs() < 1e-8, "1 - {p}");
            assert!((tail_exact(x) - p).abs() < 1e-9, "{x}");
        }
        assert!((density(0.0) - 0.398_942_280).abs() < 1e-9);
        assert!((density(2.0) - 0.053_990_967).abs() < 1e-9 && density(-2.0) == density(2.0));
    }

    /// Each of the 16-bit numbers is the mean of its part of the distribution: the quantiles of the part, averaged.
    #[test]
    fn formula_a_number_from_16_bits_is_the_mean_of_its_part() {
        let g = Gaussian::new();
        let mean = |part: usize, parts: usize, points: usize| {
            let at = |j: usize| (part as f64 + (j as f64 + 0.5) / points as f64) / parts as f64;
            (0..points).map(|j| -tail_inverse(at(j))).sum::<f64>() / points as f64
        };
        for part in (ENDS..FIELD_STEPS - ENDS)
            .step_by(7)
            .chain([ENDS, FIELD_STEPS - ENDS - 1])
        {
            let expected = mean(part, FIELD_STEPS, 100);
            for bits in [part * FIELD_VALUES, (part + 1) * FIELD_VALUES - 1] {
                let z = g.inner_u16(bits as u16);
                assert!(
                    (f64::from(z) - expected).abs() < 1e-3,
                    "{bits}: {z}, {expected}"
                );
                assert_eq!(g.of_u16(bits as u16), z);
            }
        }
        for bits in 0..ENDS * FIELD_VALUES {
            for bits in [bits, 65_535 - bits] {
                assert!(g.inner_u16(bits as u16).is_nan(), "{bits} is at an end");
                let (z, expected) = (g.of_u16(bits as u16), mean(bits, 65_536, 2000));
                assert!(
                    (f64::from(z) - expected).abs() < 2e-3,
                    "{bits}: {z}, {expected}"
                );
            }
        }
    }
}
