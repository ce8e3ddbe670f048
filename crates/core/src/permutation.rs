//! A keyed permutation of the numbers below `n` with its inverse, computed number by number: a random map of
//! billions of blocks without a table.
//!
//! It is a generalized Feistel network over `Z_a x Z_b` with `a b` just above `n` (Black and Rogaway, CT-RSA
//! 2002, method 3). Cycle walking skips the few results that are not below `n`.

use crate::Stream;

/// Feistel rounds, half of them for each side. Four rounds fail the test of gaps below.
const ROUNDS: usize = 6;

/// Largest `n`. Up to here the reciprocal division below is exact.
pub const MAX_NUMBERS: u64 = 1 << 42;

/// A permutation of `0..n`.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    a: u64,
    b: u64,
    /// `floor(2^64 / a) + 1`, which divides any number below `2^64 / a` exactly; 0 where `a` is 1.
    reciprocal: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..n` that `key` selects; `n` is from 1 to [`MAX_NUMBERS`].
    pub fn new(n: u64, key: Stream) -> Permutation {
        debug_assert!((1..=MAX_NUMBERS).contains(&n));
        let n = n.clamp(1, MAX_NUMBERS);
        let root = n.isqrt();
        let a = if root * root < n { root + 1 } else { root };
        Permutation {
            n,
            a,
            b: n.div_ceil(a),
            reciprocal: if a == 1 { 0 } else { u64::MAX / a + 1 },
            keys: core::array::from_fn(|round| key.at(round as u64).bits()),
        }
    }

    /// How many numbers it permutes.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Always false: `n` is at least one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The image of `index`, which is below `n`.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        self.at_tweaked(index, 0)
    }

    /// The inverse of [`Permutation::at`].
    #[inline]
    pub fn index_of(&self, at: u64) -> u64 {
        self.index_of_tweaked(at, 0)
    }

    /// The image of `index` under this key changed by `tweak`: a family of permutations in the memory of one.
    /// Tweaks should differ in many bits.
    #[inline]
    pub fn at_tweaked(&self, index: u64, tweak: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut x = index;
        loop {
            x = self.once(x, tweak);
            if x < self.n {
                return x;
            }
        }
    }

    /// The inverse of [`Permutation::at_tweaked`].
    #[inline]
    pub fn index_of_tweaked(&self, at: u64, tweak: u64) -> u64 {
        debug_assert!(at < self.n);
        let mut x = at;
        loop {
            x = self.back(x, tweak);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn split(&self, x: u64) -> (u64, u64) {
        let right = if self.a == 1 {
            x
        } else {
            high(x, self.reciprocal)
        };
        (x - right * self.a, right)
    }

    #[inline]
    fn once(&self, x: u64, tweak: u64) -> u64 {
        let (mut left, mut right) = self.split(x);
        for pair in self.keys.chunks_exact(2) {
            left += high(mix(right ^ pair[0] ^ tweak), self.a);
            if left >= self.a {
                left -= self.a;
            }
            right += high(mix(left ^ pair[1] ^ tweak), self.b);
            if right >= self.b {
                right -= self.b;
            }
        }
        left + right * self.a
    }

    #[inline]
    fn back(&self, x: u64, tweak: u64) -> u64 {
        let (mut left, mut right) = self.split(x);
        for pair in self.keys.chunks_exact(2).rev() {
            let r = high(mix(left ^ pair[1] ^ tweak), self.b);
            right = if right >= r {
                right - r
            } else {
                right + self.b - r
            };
            let l = high(mix(right ^ pair[0] ^ tweak), self.a);
            left = if left >= l {
                left - l
            } else {
                left + self.a - l
            };
        }
        left + right * self.a
    }
}

/// The high half of a product: scales a uniform `x` to below `y`.
#[inline]
const fn high(x: u64, y: u64) -> u64 {
    ((x as u128 * y as u128) >> 64) as u64
}

/// Both halves of a product with an odd constant (the golden ratio), folded.
#[inline]
const fn mix(x: u64) -> u64 {
    let p = x as u128 * 0x9e37_79b9_7f4a_7c15;
    (p >> 64) as u64 ^ p as u64
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn visits_every_number_exactly_once() {
        for n in (1..300).chain([1023, 1024, 1025, 65_537, 1_000_003, 1 << 20]) {
            for seed in 0..3 {
                let p = Permutation::new(n, Stream::new(seed));
                let mut seen = vec![false; n as usize];
                for i in 0..n {
                    let tweak = (seed % 2) * 0x5851_f42d_4c95_7f2d;
                    let x = p.at_tweaked(i, tweak) as usize;
                    assert!(!seen[x], "n {n} seed {seed}: {x} twice");
                    seen[x] = true;
                    let back = p.index_of_tweaked(x as u64, tweak);
                    assert_eq!(back, i, "n {n} seed {seed}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn stays_below_n_where_n_is_billions() {
        for n in [3_750_000_000, 30_000_000_000, MAX_NUMBERS - 1, MAX_NUMBERS] {
            let p = Permutation::new(n, Stream::new(9));
            for i in (0..20_000).chain(n - 20_000..n) {
                let x = p.at(i);
                assert!(x < n);
                assert_eq!(p.index_of(x), i);
            }
        }
    }

    /// The outputs, the gaps between consecutive outputs, and the differences of gaps are uniform modulo n.
    /// Chi-squared over 64 cells has 63 degrees of freedom, mean 63 and sd 11.2; 5 sd are allowed.
    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn outputs_and_gaps_look_uniform() {
        for n in [3_750_000_000u64, 1_000_003, 40_000] {
            for seed in 0..4 {
                let p = Permutation::new(n, Stream::new(seed));
                let draws = 32_000.min(n / 2);
                let (mut at, mut gap, mut second) = ([0f64; 64], [0f64; 64], [0f64; 64]);
                let (mut last, mut last_gap) = (p.at(0), 0);
                for i in 1..draws {
                    let x = p.at(i);
                    let g = (x + n - last) % n;
                    at[(x as u128 * 64 / n as u128) as usize] += 1.0;
                    gap[(g as u128 * 64 / n as u128) as usize] += 1.0;
                    second[((g + n - last_gap) as u128 % n as u128 * 64 / n as u128) as usize] +=
                        1.0;
                    (last, last_gap) = (x, g);
                }
                for (name, cells) in [("outputs", at), ("gaps", gap), ("second gaps", second)] {
                    let expected = (draws - 1) as f64 / 64.0;
                    let chi2: f64 = cells
                        .iter()
                        .map(|c| (c - expected) * (c - expected) / expected)
                        .sum();
                    assert!(
                        chi2 < 63.0 + 5.0 * 11.2,
                        "{name}: n {n} seed {seed}: chi2 {chi2}"
                    );
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn keys_give_different_orders() {
        let n = 1_000_000;
        let (p, q) = (
            Permutation::new(n, Stream::new(1)),
            Permutation::new(n, Stream::new(2)),
        );
        let same = (0..n).filter(|&i| p.at(i) == q.at(i)).count();
        assert!(
            same < 12,
            "{same} fixed points between two keys, expected about 1"
        );
    }

    /// Small enough for Miri.
    #[test]
    fn model_small_orders_are_permutations() {
        for n in 1..60 {
            let p = Permutation::new(n, Stream::new(n));
            let mut order: vec::Vec<u64> = (0..n).map(|i| p.at(i)).collect();
            assert!((0..n).all(|i| p.index_of(order[i as usize]) == i), "{n}");
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n), "{n}");
        }
    }

    /// Orders of three sizes, computed with whole numbers of any length by the definition of the network: a square, and two
    /// whose network has one and four numbers more; the last with a tweak. Maps of filled drives stand on them.
    #[test]
    fn golden_orders_of_small_permutations() {
        let order = |n: u64, seed, tweak| -> vec::Vec<u64> {
            let p = Permutation::new(n, Stream::new(seed));
            assert_eq!((p.len(), p.is_empty()), (n, false));
            (0..n).map(|i| p.at_tweaked(i, tweak)).collect()
        };
        assert_eq!(
            order(16, 1, 0),
            [1, 15, 8, 4, 10, 12, 3, 9, 13, 14, 0, 6, 2, 5, 11, 7]
        );
        assert_eq!(
            order(19, 2, 0),
            [
                17, 18, 6, 4, 14, 12, 7, 8, 11, 10, 1, 16, 15, 5, 9, 0, 13, 3, 2
            ]
        );
        assert_eq!(
            order(21, 3, 0x5851_f42d_4c95_7f2d),
            [
                8, 3, 12, 0, 15, 11, 10, 9, 20, 6, 13, 1, 16, 19, 4, 5, 2, 7, 14, 17, 18
            ]
        );
    }

    /// The same of two large ones: 15 TB of 4 KiB, and the largest that there may be.
    #[test]
    fn golden_places_of_large_permutations() {
        for (n, places) in [
            (
                3_750_000_000,
                [3_046_472_700, 1_339_148_500, 2_183_583_157, 3_707_295_150],
            ),
            (
                MAX_NUMBERS,
                [
                    3_514_580_718_018,
                    1_628_932_953_344,
                    3_997_159_446_360,
                    2_114_410_264_034,
                ],
            ),
        ] {
            let p = Permutation::new(n, Stream::new(9));
            assert_eq!([0, 1, 2, n - 1].map(|i| p.at(i)), places, "{n}");
        }
    }
}
