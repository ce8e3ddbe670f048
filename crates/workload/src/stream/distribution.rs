//! Draws of block indices: Zipf, Pareto and normal over billions of blocks in constant time and
//! memory. All transcendental functions come from `libm`, so that results match across hosts.

use firstread_core::Stream;

/// A uniform number in [0, 1), a multiple of 2^-53.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A draw from the exponential distribution with mean 1.
#[inline]
pub(crate) fn exponential(key: Stream) -> f64 {
    -libm::log(1.0 - unit(key.bits()))
}

/// Ranks `0..n` with probability proportional to `(rank + 1)^-theta`, by rejection-inversion
/// (Hoermann and Derflinger, ACM TOMACS 6(3), 1996): exact for every n and theta > 0, about 1.1
/// tries a draw.
#[derive(Clone, Debug)]
pub struct Zipf {
    n: f64,
    theta: f64,
    h_first: f64,
    h_last: f64,
    shortcut: f64,
}

impl Zipf {
    /// Over `n` ranks, 1 or more, with exponent `theta` above 0.
    pub fn new(n: u64, theta: f64) -> Zipf {
        let mut z = Zipf {
            n: n as f64,
            theta,
            h_first: 0.0,
            h_last: 0.0,
            shortcut: 0.0,
        };
        z.h_first = z.integral(1.5) - 1.0;
        z.h_last = z.integral(z.n + 0.5);
        z.shortcut = 2.0 - z.integral_inverse(z.integral(2.5) - z.density(2.0));
        z
    }

    /// The rank that `key` draws, 0 the most probable.
    pub fn draw(&self, mut key: Stream) -> u64 {
        loop {
            let u = self.h_last + unit(key.bits()) * (self.h_first - self.h_last);
            let x = self.integral_inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
            key = key.at(1);
        }
    }

    /// `x^-theta`.
    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }
    /// Its integral, `(x^(1 - theta) - 1) / (1 - theta)`, continued to `ln x` at theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let t = (1.0 - self.theta) * log;
        log * if t.abs() > 1e-8 {
            libm::expm1(t) / t
        } else {
            1.0 + t * 0.5 * (1.0 + t / 3.0)
        }
    }
    fn integral_inverse(&self, u: f64) -> f64 {
        let t = (u * (1.0 - self.theta)).max(-1.0);
        libm::exp(
            u * if t.abs() > 1e-8 {
                libm::log1p(t) / t
            } else {
                1.0 - t * (0.5 - t / 3.0)
            },
        )
    }
}

/// fio's Pareto: rank `(n - 1) u^power` with `power = ln h / ln(1 - h)`, so that a fraction `h` of
/// the ranks gets a fraction `1 - h` of the draws.
#[derive(Clone, Debug)]
pub struct Pareto {
    last: f64,
    power: f64,
}

impl Pareto {
    /// Over `n` ranks with `0 < h < 1`.
    pub fn new(n: u64, h: f64) -> Pareto {
        Pareto {
            last: (n - 1) as f64,
            power: libm::log(h) / libm::log1p(-h),
        }
    }
    /// The rank that `key` draws, 0 the most probable.
    pub fn draw(&self, key: Stream) -> u64 {
        (self.last * libm::pow(unit(key.bits()), self.power)) as u64
    }
}

/// Indices `0..n` around `n / 2`, normal; draws outside are made again.
#[derive(Clone, Debug)]
pub struct Normal {
    n: f64,
    sigma: f64,
}

impl Normal {
    /// Over `n` indices with a standard deviation of `deviation` percent of them.
    pub fn new(n: u64, deviation: f64) -> Normal {
        Normal {
            n: n as f64,
            sigma: n as f64 * deviation / 100.0,
        }
    }
    /// The index that `key` draws.
    pub fn draw(&self, mut key: Stream) -> u64 {
        loop {
            let x = self.n * 0.5 + self.sigma * gauss(key);
            if (0.0..self.n).contains(&x) {
                return x as u64;
            }
            key = key.at(2);
        }
    }
}

/// A draw from the standard normal distribution (Box and Muller).
pub(crate) fn gauss(key: Stream) -> f64 {
    let radius = (2.0 * exponential(key)).sqrt();
    radius * libm::cos(core::f64::consts::TAU * unit(key.at(1).bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `k^-theta` over `from..=to`: term by term, the far part by the midpoint rule.
    fn zeta(theta: f64, from: u64, to: u64) -> f64 {
        let direct = to.min(from + 2_000_000);
        let mut sum: f64 = (from..=direct).map(|k| libm::pow(k as f64, -theta)).sum();
        if to > direct {
            let (a, b) = (direct as f64 + 0.5, to as f64 + 0.5);
            sum += if theta == 1.0 {
                libm::log(b / a)
            } else {
                (libm::pow(b, 1.0 - theta) - libm::pow(a, 1.0 - theta)) / (1.0 - theta)
            };
        }
        sum
    }

    /// Shares of ranks 1, 2, 3..=10, 11..=1000 and the rest against the exact ones, 5 sd allowed.
    #[test]
    fn zipf_shares_match_their_formula() {
        let draws = 200_000u64;
        for n in [2_000, 1_000_000, 3_750_000_000u64] {
            for theta in [0.5, 0.9, 0.99, 1.0, 1.1, 1.5, 2.5] {
                let z = Zipf::new(n, theta);
                let all = zeta(theta, 1, n);
                let edges = [(1, 1), (2, 2), (3, 10), (11, 1000), (1001, n)];
                let mut counts = [0u64; 5];
                let key = Stream::new(3);
                for i in 0..draws {
                    let rank = z.draw(key.at(i)) + 1;
                    assert!(rank <= n);
                    counts[edges.iter().position(|e| rank <= e.1).unwrap()] += 1;
                }
                for (count, (from, to)) in counts.iter().zip(edges) {
                    let p = zeta(theta, from, to) / all;
                    let mean = p * draws as f64;
                    let sd = (mean * (1.0 - p)).sqrt().max(1.0);
                    assert!(
                        (*count as f64 - mean).abs() < 5.0 * sd,
                        "n {n} theta {theta} ranks {from}..={to}: {count}, expected {mean:.1} sd {sd:.1}"
                    );
                }
            }
        }
    }

    #[test]
    fn zipf_over_one_and_two_ranks() {
        let key = Stream::new(1);
        let (one, two) = (Zipf::new(1, 1.2), Zipf::new(2, 1.0));
        let firsts = (0..30_000).filter(|&i| two.draw(key.at(i)) == 0).count();
        assert!((0..1000).all(|i| one.draw(key.at(i)) == 0));
        assert!(
            firsts.abs_diff(20_000) < 410,
            "{firsts}: expected 2/3 of 30000, sd 82"
        );
    }

    /// A fraction h of the ranks gets 1 - h of the draws, and the mean is (n - 1) / (power + 1).
    #[test]
    fn pareto_keeps_its_80_20_rule_and_mean() {
        let draws = 200_000u64;
        for h in [0.1, 0.2, 0.4] {
            let n = 1_000_000_000;
            let p = Pareto::new(n, h);
            let key = Stream::new(5);
            let (mut hot, mut sum) = (0u64, 0.0);
            for i in 0..draws {
                let rank = p.draw(key.at(i));
                hot += u64::from((rank as f64) < h * n as f64);
                sum += rank as f64;
            }
            let share = hot as f64 / draws as f64;
            assert!((share - (1.0 - h)).abs() < 0.006, "h {h}: share {share}");
            let power = libm::log(h) / libm::log(1.0 - h);
            let mean = sum / draws as f64 / n as f64;
            assert!(
                (mean * (power + 1.0) - 1.0).abs() < 0.03,
                "h {h}: mean {mean}"
            );
        }
    }

    #[test]
    fn normal_has_its_moments() {
        let n = 1_000_000u64;
        for deviation in [1.0, 5.0, 10.0] {
            let d = Normal::new(n, deviation);
            let key = Stream::new(6);
            let (mut sum, mut squares, draws) = (0.0, 0.0, 100_000);
            for i in 0..draws {
                let x = d.draw(key.at(i)) as f64 / n as f64;
                sum += x;
                squares += x * x;
            }
            let mean = sum / draws as f64;
            let sd = (squares / draws as f64 - mean * mean).sqrt() * 100.0;
            assert!(
                (mean - 0.5).abs() < 5.0 * deviation / 100.0 / 316.0,
                "mean {mean}"
            );
            assert!(
                (sd / deviation - 1.0).abs() < 0.012,
                "sd {sd} %, expected {deviation} %"
            );
        }
    }

    #[test]
    fn a_wide_normal_is_redrawn_into_its_range() {
        let d = Normal::new(1000, 99.0);
        assert!((0..10_000).all(|i| d.draw(Stream::new(2).at(i)) < 1000));
    }

    #[test]
    fn formula_a_unit_number_is_a_multiple_of_2_to_the_minus_53() {
        assert_eq!(
            [0, 1 << 63, 1 << 11, 2047].map(unit),
            [0.0, 0.5, 2f64.powi(-53), 0.0]
        );
        assert_eq!(unit(u64::MAX), 1.0 - 2f64.powi(-53));
    }

    /// Integrals of a power that can be taken by hand, and their inverses, also next to the exponent at which the formula
    /// changes.
    #[test]
    fn formula_integrals_of_a_power_and_their_inverses() {
        let z = |theta| Zipf::new(1_000_000, theta);
        for x in [1.0f64, 1.5, 2.5, 40.0, 1e5, 1_000_000.5] {
            for (theta, integral) in [
                (0.5, 2.0 * (x.sqrt() - 1.0)),
                (1.0, libm::log(x)),
                (2.0, 1.0 - 1.0 / x),
                (3.0, 0.5 - 0.5 / (x * x)),
            ] {
                let is = z(theta).integral(x);
                assert!(
                    (is - integral).abs() <= 1e-12 * integral,
                    "{theta} {x}: {is}, {integral}"
                );
                let density = libm::pow(x, -theta);
                assert!((z(theta).density(x) / density - 1.0).abs() < 1e-12);
            }
            for theta in [
                0.5,
                0.9,
                1.0 - 1e-6,
                1.0 - 1e-10,
                1.0,
                1.0 + 1e-10,
                1.0 + 1e-6,
                1.2,
            ] {
                let z = z(theta);
                let back = z.integral_inverse(z.integral(x));
                assert!((back / x - 1.0).abs() < 1e-9, "{theta} {x}: {back}");
                // The exponent hardly matters next to one.
                let off = z.integral(x) / libm::log(x).max(1e-300) - 1.0;
                assert!(
                    x == 1.0 || (theta - 1.0).abs() > 1e-5 || off.abs() < 1e-5,
                    "{theta} {x}"
                );
            }
        }
    }

    #[test]
    fn golden_ranks_of_each_distribution() {
        let key = Stream::new(11);
        let (zipf, pareto) = (Zipf::new(1_000_000, 1.1), Pareto::new(1_000_000, 0.2));
        let normal = Normal::new(1_000_000, 5.0);
        let draws = [0, 1, 2, 3, 4, 5].map(|i| {
            let key = key.at(i);
            (zipf.draw(key), pareto.draw(key), normal.draw(key))
        });
        assert_eq!(
            draws,
            [
                (489, 567, 458_079),
                (890, 247, 471_534),
                (8, 62_854, 425_124),
                (9_672, 4, 473_607),
                (427, 681, 523_355),
                (8, 63_097, 454_064),
            ]
        );
    }
}
