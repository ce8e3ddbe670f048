//! Counter-based random streams.
//!
//! A stream is a key, and drawing from it does not change it. Streams are derived by purpose (block, page,
//! step), so a new draw in one place does not change the draws elsewhere.

/// A stream: a key of random bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream(u64);

/// Finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014; constants of Stafford's variant 13).
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    /// The stream of `seed`.
    pub const fn new(seed: u64) -> Stream {
        Stream(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }
    /// The child stream of `index`, independent of its siblings.
    pub const fn at(self, index: u64) -> Stream {
        Stream(mix(
            self.0 ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        ))
    }
    /// 64 uniform bits.
    pub const fn bits(self) -> u64 {
        mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }
    /// The `index`-th 64 uniform bits of this stream (SplitMix64's own sequence). `draw(0)` is
    /// [`Stream::bits`]. It takes one hash; `at(index).bits()` takes two.
    pub const fn draw(self, index: u64) -> u64 {
        mix(self
            .0
            .wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
    /// The `index`-th 64 uniform bits of a second sequence of this stream, in half the instructions of
    /// [`Stream::draw`]: Wang Yi's wyrand (final version 4) started at the key. One wide multiplication. Use
    /// it for draws by the dozen, not for keys.
    #[inline]
    pub const fn quick(self, index: u64) -> u64 {
        let x = self
            .0
            .wrapping_add(index.wrapping_add(1).wrapping_mul(0x2d35_8dcc_aa6c_78a5));
        let wide = (x as u128) * ((x ^ 0x8bb8_4b93_962e_acc9) as u128);
        (wide >> 64) as u64 ^ wide as u64
    }
    /// A uniform index below `n`. The modulo bias is negligible (`n / 2^64`).
    pub const fn below(self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }
    /// The named child stream. A constant `purpose` is hashed at compile time.
    pub const fn named(self, purpose: &str) -> Stream {
        let bytes = purpose.as_bytes();
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        let mut i = 0;
        while i < bytes.len() {
            h = (h ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        self.at(h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_and_bits_look_independent() {
        let s = Stream::new(7);
        let mut ones = 0u32;
        for i in 0..4096u64 {
            ones += (s.at(i).bits() ^ s.at(i + 1).bits()).count_ones();
        }
        let expected = 4096 * 32;
        assert!(
            ones.abs_diff(expected) < 5 * 512,
            "{ones} differing bits, expected {expected}"
        );
    }

    /// The 16-bit fields of a word, as the Gaussian draws use them, are uniform. Fields of one word, of
    /// neighbouring words and of neighbouring streams agree no more often than by chance.
    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn quick_fields_are_even_and_agree_by_chance() {
        let n = 400_000u64;
        let mut hits = [[0u32; 256]; 4];
        let mut agree = [0u32; 9];
        let s = Stream::new(5);
        let field = |word: u64, i: u64| (word >> (16 * i + 8)) & 0xff;
        for i in 0..n {
            let (a, next) = (s.quick(i), s.quick(i + 1));
            let other = s.at(i).quick(0);
            for k in 0..4 {
                hits[k as usize][field(a, k) as usize] += 1;
            }
            let pairs = [
                (field(a, 0), field(a, 1)),
                (field(a, 1), field(a, 2)),
                (field(a, 2), field(a, 3)),
                (field(a, 0), field(a, 3)),
                (field(a, 0), field(next, 0)),
                (field(a, 3), field(next, 3)),
                (field(a, 3), field(next, 0)),
                (field(other, 0), field(s.at(i + 1).quick(0), 0)),
                (field(other, 3), field(s.at(i).quick(1), 3)),
            ];
            for (count, (x, y)) in agree.iter_mut().zip(pairs) {
                *count += (x == y) as u32;
            }
        }
        // 1,562.5 expected in each bin; 5.5 standard deviations are allowed.
        for count in hits.iter().flatten().chain(&agree) {
            assert!(count.abs_diff(1562) < 218, "{count}");
        }
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let s = Stream::new(1).named("test");
        let mut hits = [0u32; 10];
        for i in 0..100_000 {
            hits[s.at(i).below(10) as usize] += 1;
        }
        assert!(hits.iter().all(|h| h.abs_diff(10_000) < 500), "{hits:?}");
    }

    /// The sequence of SplitMix64 from the state 1234567 on, as published with the generator.
    #[test]
    fn formula_draws_are_the_sequence_of_splitmix64() {
        let stream = Stream(1_234_567);
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (i, bits) in (0..).zip(published) {
            assert_eq!(stream.draw(i), bits, "{i}");
        }
        assert_eq!(stream.bits(), published[0]);
        // A seed is a state, and its stream is keyed by the first number from there.
        assert_eq!(Stream::new(1_234_567), Stream(published[0]));
        // 0.35008 of the range, as fractions of three ranges.
        let below = [10, 1000, u64::MAX].map(|n| stream.below(n));
        assert_eq!(below, [3, 350, 6_457_827_717_110_365_316]);
    }

    /// Numbers of wyrand, final version 4, from two states, computed with whole numbers of any length by its published
    /// definition: the state grows by an odd constant, and the halves of its product with itself xor another are folded.
    #[test]
    fn formula_quick_draws_are_the_sequence_of_wyrand() {
        for (state, numbers) in [
            (
                0,
                [
                    11_116_517_241_604_665_558,
                    91_298_403_691_422_709,
                    1_747_996_488_805_885_078,
                ],
            ),
            (
                1_234_567,
                [
                    13_725_641_357_320_173_039,
                    13_099_500_103_347_697_343,
                    1_505_849_618_603_060_667,
                ],
            ),
        ] {
            for (i, bits) in (0..).zip(numbers) {
                assert_eq!(Stream(state).quick(i), bits, "{state} {i}");
            }
        }
    }

    /// Names are hashed by FNV-1a of 64 bits; the hashes are its published examples.
    #[test]
    fn formula_a_name_is_hashed_by_fnv() {
        let stream = Stream::new(3);
        for (name, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(stream.named(name), stream.at(hash), "{name}");
        }
    }

    /// Children of a key. Seeds of all simulations stand on these numbers.
    #[test]
    fn golden_children_of_a_stream() {
        let children = [0, 1, 2, 1 << 63].map(|index| Stream(1_234_567).at(index).0);
        assert_eq!(
            children,
            [
                0xd7cd_db79_d564_2718,
                0x3eae_8069_2509_64f4,
                0x5704_0a8e_90eb_333f,
                0x53be_f62e_3481_1fd4
            ]
        );
    }
}
