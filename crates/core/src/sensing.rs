//! How many errors a shorter sense adds: an integer table made by characterization.
//!
//! A point of the table belongs to one temperature, wear and age. Between points the table is interpolated:
//! over wear in P/E cycles, over age in its logarithm. Over temperature it is interpolated at equal effective
//! retention: an age at one temperature is as much retention as a longer age at a colder one (Arrhenius), so
//! each row is read at the age that is as much retention at the row's own temperature.

use crate::{Ns, SenseTiming};

/// Temperatures of the table (°C). Chips were stored and read at this temperature.
pub const TEMPERATURES_C: [i16; 3] = [30, 55, 85];
/// P/E cycles of the table.
pub const WEARS_PE: [u32; 6] = [0, 500, 1000, 1500, 2000, 3000];
/// Ages of data (h) of the table: an hour, a day, three and seven days, then months of 31 days.
pub const AGES_H: [u32; 8] = [1, 24, 72, 168, 744, 2232, 4464, 8928];
/// Precharge times of the table, in thousandths of the default, longest first. 600 and 460 are the ends of
/// the range that AR² uses.
pub const PRE_PERMILLE: [u16; 8] = [900, 800, 700, 600, 530, 460, 380, 300];

/// One in interpolation: weights and binary logarithms are in units of 1/256.
const ONE: i64 = 256;

/// The shortest safe precharge at one temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SafeSense {
    /// Precharge in thousandths of its default; 1000 if nothing shorter is safe.
    pub pre_permille: u16,
    /// Errors that the shorter sense adds to the worst codeword, in bits.
    pub extra_bits: u16,
}

impl SafeSense {
    /// Only the default timing is safe.
    pub const DEFAULT: SafeSense = SafeSense {
        pre_permille: 1000,
        extra_bits: 0,
    };

    /// The sensing phases. Only precharge is shortened.
    pub const fn timing(self) -> SenseTiming {
        SenseTiming {
            pre_permille: self.pre_permille,
            ..SenseTiming::DEFAULT
        }
    }
}

/// Errors of the worst codeword at one temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortSenses {
    /// Errors at the default time, in tenths of a bit.
    pub default_tenths: u16,
    /// Errors that each time of [`PRE_PERMILLE`] adds, in tenths of a bit.
    pub added_tenths: [u16; PRE_PERMILLE.len()],
}

impl ShortSenses {
    /// No shorter sense is known.
    pub const UNKNOWN: ShortSenses = ShortSenses {
        default_tenths: u16::MAX,
        added_tenths: [u16::MAX; PRE_PERMILLE.len()],
    };

    /// The shortest precharge with which the worst codeword has at most `allowed_bits` errors. Errors between
    /// two times of the table are interpolated linearly. They rise ever faster as the precharge becomes
    /// shorter, so the chip has fewer.
    pub fn safe(&self, allowed_bits: u16) -> SafeSense {
        let errors = u32::from(self.default_tenths);
        let Some(spare) = (u32::from(allowed_bits) * 10).checked_sub(errors) else {
            return SafeSense::DEFAULT;
        };
        let (mut pre, mut added) = (1000, 0);
        for (&next, &adds) in PRE_PERMILLE.iter().zip(&self.added_tenths) {
            let (next, adds) = (u32::from(next), u32::from(adds));
            if adds > spare {
                pre -= (pre - next) * (spare - added) / (adds - added);
                added = spare;
                break;
            }
            (pre, added) = (next, adds);
        }
        if pre == 1000 {
            return SafeSense::DEFAULT;
        }
        SafeSense {
            pre_permille: pre as u16,
            extra_bits: added.div_ceil(10) as u16,
        }
    }

    /// Each number of `self` and of `other`, `weight` of 256 parts of the latter.
    fn mixed(&self, other: &ShortSenses, weight: i64) -> ShortSenses {
        let mix = |a: u16, b: u16| {
            let (a, b) = (i64::from(a), i64::from(b));
            ((a * (ONE - weight) + b * weight + ONE / 2) / ONE) as u16
        };
        ShortSenses {
            default_tenths: mix(self.default_tenths, other.default_tenths),
            added_tenths: core::array::from_fn(|i| {
                mix(self.added_tenths[i], other.added_tenths[i])
            }),
        }
    }
}

/// What shorter senses add on a chip in one cell mode with one code, by temperature, wear and age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SensingTable {
    /// Errors in a codeword that the code nearly always corrects, in bits.
    pub capability_bits: u16,
    /// Bits of a codeword.
    pub codeword_bits: u32,
    /// Errors that a safe sense leaves below the capability, in bits.
    pub margin_bits: u16,
    /// Activation energy of retention (meV).
    pub activation_mev: u16,
    /// Indexed by temperature, wear and age.
    pub points: [[[ShortSenses; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
}

impl SensingTable {
    /// A table that shortens no sense.
    pub const NOTHING: SensingTable = SensingTable {
        capability_bits: 0,
        codeword_bits: 0,
        margin_bits: 0,
        activation_mev: 0,
        points: [[[ShortSenses::UNKNOWN; AGES_H.len()]; WEARS_PE.len()]; TEMPERATURES_C.len()],
    };

    /// Errors at `celsius` for data of `age` in a block of `pe_cycles`. None for more wear or more retention
    /// than the table has. Less retention than the first age counts as the first age.
    pub fn at(&self, celsius: i16, pe_cycles: u32, age: Ns) -> Option<ShortSenses> {
        let hotter = TEMPERATURES_C.partition_point(|&t| t < celsius);
        if hotter == 0 {
            return self.row(0, celsius, pe_cycles, age);
        }
        let colder = hotter - 1;
        if hotter == TEMPERATURES_C.len() {
            return self.row(colder, celsius, pe_cycles, age);
        }
        let hot = self.row(hotter, celsius, pe_cycles, age)?;
        // At the colder temperature the same retention takes longer, perhaps longer than the row is.
        let Some(cold) = self.row(colder, celsius, pe_cycles, age) else {
            return Some(hot);
        };
        let span = TEMPERATURES_C[hotter] - TEMPERATURES_C[colder];
        let weight = ONE * i64::from(celsius - TEMPERATURES_C[colder]) / i64::from(span);
        Some(cold.mixed(&hot, weight))
    }

    /// The shortest sense at `celsius` for data of `age` in a block of `pe_cycles` that leaves the margin of
    /// the table. Beyond the table: the default.
    pub fn safe(&self, celsius: i16, pe_cycles: u32, age: Ns) -> SafeSense {
        let allowed = self.capability_bits.saturating_sub(self.margin_bits);
        let row = self.at(celsius, pe_cycles, age);
        row.map_or(SafeSense::DEFAULT, |row| row.safe(allowed))
    }

    /// The row of temperature `t` for retention as of `age` at `celsius`.
    fn row(&self, t: usize, celsius: i16, pe_cycles: u32, age: Ns) -> Option<ShortSenses> {
        let faster = log2_acceleration(self.activation_mev, celsius, TEMPERATURES_C[t]);
        let age = log2(age.0.max(1)) + faster;
        let (w, worn) = place(&WEARS_PE.map(i64::from), i64::from(pe_cycles))?;
        let ages = AGES_H.map(|h| log2(Ns::from_h(u64::from(h)).0));
        let (a, older) = place(&ages, age)?;
        let of_wear = |w: usize| {
            let row = &self.points[t][w];
            match older {
                0 => row[a],
                _ => row[a].mixed(&row[a + 1], older),
            }
        };
        Some(match worn {
            0 => of_wear(w),
            _ => of_wear(w).mixed(&of_wear(w + 1), worn),
        })
    }
}

/// Where `x` lies between the ascending `nodes`: the node before `x` and how far beyond it, in 1/256 of the way
/// to the next one. None beyond the last node; before the first node counts as at it.
fn place(nodes: &[i64], x: i64) -> Option<(usize, i64)> {
    let next = nodes.partition_point(|&n| n < x);
    if next == nodes.len() {
        return None;
    }
    if next == 0 || nodes[next] == x {
        return Some((next, 0));
    }
    let (from, to) = (nodes[next - 1], nodes[next]);
    Some((next - 1, ONE * (x - from) / (to - from)))
}

/// The binary logarithm of `x` (which is not 0), in 1/256, linear between powers of two: at most 0.09 too
/// small.
fn log2(x: u64) -> i64 {
    let octave = x.ilog2();
    let mantissa = (u128::from(x) << 8 >> octave) as i64 - ONE;
    i64::from(octave) * ONE + mantissa
}

/// The binary logarithm of how much faster charge is lost at `celsius` than at `reference_c`, in 1/256:
/// `E / (k ln 2) * (1 / T_reference - 1 / T)`.
fn log2_acceleration(activation_mev: u16, celsius: i16, reference_c: i16) -> i64 {
    /// 256 meV over Boltzmann's constant and ln 2, in 1/100 K.
    const PER_MEV: i64 = 428_590;
    /// Nothing is stored near absolute zero.
    const COLDEST_C: i16 = -100;
    let kelvin = |celsius: i16| i64::from(celsius.max(COLDEST_C)) * 100 + 27_315;
    let (t, reference) = (kelvin(celsius), kelvin(reference_c));
    i64::from(activation_mev) * PER_MEV * (t - reference) / (t * reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table whose numbers tell their place.
    fn table() -> SensingTable {
        let mut table = SensingTable {
            capability_bits: 72,
            codeword_bits: 9216,
            margin_bits: 14,
            activation_mev: 1100,
            ..SensingTable::NOTHING
        };
        for (t, wears) in table.points.iter_mut().enumerate() {
            for (w, ages) in wears.iter_mut().enumerate() {
                for (a, point) in ages.iter_mut().enumerate() {
                    let place = 1000 * t as u16 + 100 * w as u16 + 10 * a as u16;
                    *point = ShortSenses {
                        default_tenths: place,
                        added_tenths: core::array::from_fn(|i| place + i as u16),
                    };
                }
            }
        }
        table
    }

    #[test]
    fn formula_between_points_the_table_is_interpolated() {
        let table = table();
        for (t, celsius) in TEMPERATURES_C.into_iter().enumerate() {
            for (w, pe) in WEARS_PE.into_iter().enumerate() {
                for (a, h) in AGES_H.into_iter().enumerate() {
                    let at = table.at(celsius, pe, Ns::from_h(h.into()));
                    assert_eq!(at, Some(table.points[t][w][a]), "{celsius} {pe} {h}");
                }
            }
        }
        // By hand. Halfway between two wears: half of their difference of 100.
        let of = |celsius, pe, age| table.at(celsius, pe, age).unwrap().default_tenths;
        assert_eq!(of(30, 1250, Ns::from_h(24)), 200 + 10 + 50);
        // Between 2232 h and 4464 h, which is an octave, 3348 h lies half an octave on by the linear mantissa of
        // each: 2232 h are 2^52 ns * 1.784, so log2 is 52.784 and 53.784; 3348 h are 2^53 ns * 1.338, 53.338.
        let (lower, at, upper) = (52.784, 53.338, 53.784);
        let way: f64 = (at - lower) / (upper - lower);
        assert_eq!(
            of(30, 0, Ns::from_h(3348)),
            50 + (10.0 * way).round() as u16
        );
        // At 40 °C charge is lost 2^1.945 times as fast as at 30 °C and 2^2.683 times as slowly as at 55 °C,
        // with 1.1 eV: exp(12765 K * (1 / 303.15 K - 1 / 313.15 K)) = 3.84, and 6.42. So 24 h are as much
        // as 92 h at 30 °C, between 72 and 168 h, and 3.7 h at 55 °C, between 1 and 24 h. The row of 55 °C has
        // 10 of 25 parts.
        let log2 = |h: f64| {
            let ns = h * 3.6e12;
            let octave = ns.log2().floor();
            octave + ns / octave.exp2() - 1.0
        };
        let at = log2(24.0);
        let cold = 20.0 + 10.0 * (at + 1.945 - log2(72.0)) / (log2(168.0) - log2(72.0));
        let hot = 1000.0 + 10.0 * (at - 2.683 - log2(1.0)) / (log2(24.0) - log2(1.0));
        let by_hand = cold + 0.4 * (hot - cold);
        let is = f64::from(of(40, 0, Ns::from_h(24)));
        // A weight is rounded to 1/256, of a difference of a thousand.
        assert!((is - by_hand).abs() < 5.0, "{is}, by hand {by_hand}");
    }

    #[test]
    fn formula_beyond_the_table_nothing_is_known() {
        let table = table();
        let last = Ns::from_h(8928);
        assert!(table.at(30, 3000, last).is_some());
        assert_eq!(table.at(30, 3001, Ns::ZERO), None);
        assert_eq!(table.at(30, 0, last + Ns::from_h(100)), None);
        assert_eq!(table.safe(30, 3001, Ns::ZERO), SafeSense::DEFAULT);
        // A younger age counts as the first one.
        assert_eq!(table.at(30, 0, Ns::ZERO), Some(table.points[0][0][0]));
        // A year at 31 °C is more than a year at 30 °C, and some weeks at 55 °C.
        let year = table.at(31, 0, last).unwrap();
        assert!(year.default_tenths > 1000);
        // Beyond the temperatures retention is converted: a day at 100 °C is as much as days at 85 °C; a year at 20 °C
        // is as much as months at 30 °C.
        let day = Ns::from_h(24);
        assert!(table.at(100, 0, day).unwrap().default_tenths > 2020);
        assert!(table.at(20, 0, last).unwrap().default_tenths < 70);
        assert_eq!(table.at(100, 0, last), None);
        for celsius in [i16::MIN, i16::MAX] {
            table.at(celsius, u32::MAX, Ns::MAX);
            table.at(celsius, 0, Ns::MAX);
        }
        assert_eq!(SensingTable::NOTHING.safe(30, 0, day), SafeSense::DEFAULT);
    }

    #[test]
    fn formula_a_safe_sense_lies_between_two_times_of_the_table() {
        let row = ShortSenses {
            default_tenths: 300,
            added_tenths: [5, 10, 30, 60, 120, 240, 500, 1000],
        };
        let safe = |allowed| {
            let safe = row.safe(allowed);
            (safe.pre_permille, safe.extra_bits)
        };
        assert_eq!(safe(29), (1000, 0), "the default has more errors");
        assert_eq!(safe(30), (1000, 0), "not one to spare");
        assert_eq!(safe(33), (700, 3));
        // 9 bits to spare are half of the way from 6 at 600 to 12 at 530.
        assert_eq!(safe(39), (565, 9));
        assert_eq!(safe(1000), (300, 100), "nothing shorter is known");
    }

    #[test]
    fn formula_where_a_shorter_sense_adds_nothing_it_is_safe_with_nothing_to_spare() {
        let row = ShortSenses {
            default_tenths: 300,
            added_tenths: [0, 0, 0, 7, 7, 14, 14, 14],
        };
        let pre = |allowed| row.safe(allowed).pre_permille;
        // Up to 700 nothing is added, and 0.7 bits by 600.
        assert_eq!((pre(30), row.safe(30).extra_bits), (700, 0));
        // 1 bit is three sevenths of the way from 530 to 460.
        assert_eq!((pre(31), row.safe(31).extra_bits), (500, 1));
        assert_eq!(
            (pre(32), row.safe(32).extra_bits),
            (300, 2),
            "1.4 bits, rounded up"
        );
    }

    #[test]
    fn formula_only_the_precharge_of_a_safe_sense_is_shorter() {
        let safe = SafeSense {
            pre_permille: 460,
            extra_bits: 3,
        };
        let timing = safe.timing();
        assert_eq!(timing.pre_permille, 460);
        assert_eq!((timing.eval_permille, timing.disch_permille), (1000, 1000));
        assert_eq!(SafeSense::DEFAULT.timing(), SenseTiming::DEFAULT);
    }

    /// Of 72 bits that the code corrects 14 are kept as a margin. With 50 bits by default, 8 are to spare: two thirds of
    /// the way from 6 at 700 to 9 at 600.
    #[test]
    fn formula_a_safe_sense_leaves_the_margin() {
        let mut table = table();
        table.points[0][0][0] = ShortSenses {
            default_tenths: 500,
            added_tenths: [10, 30, 60, 90, 120, 240, 500, 1000],
        };
        let safe = table.safe(30, 0, Ns::from_h(1));
        assert_eq!((safe.pre_permille, safe.extra_bits), (634, 8));
        table.margin_bits = 100;
        assert_eq!(table.safe(30, 0, Ns::from_h(1)), SafeSense::DEFAULT);
    }

    #[test]
    fn formula_a_mixture_is_a_weighted_mean() {
        let point = |default_tenths, from| ShortSenses {
            default_tenths,
            added_tenths: core::array::from_fn(|i| from + 100 * i as u16),
        };
        let (a, b) = (point(1000, 40), point(2001, 0));
        assert_eq!(a.mixed(&b, 0), a);
        assert_eq!(a.mixed(&b, 256), b);
        assert_eq!(a.mixed(&b, 64), point(1250, 30), "1250.25");
        assert_eq!(a.mixed(&b, 128), point(1501, 20), "1500.5 is rounded up");
        let most = ShortSenses::UNKNOWN;
        assert_eq!(most.mixed(&most, 100), most);
    }

    #[test]
    fn formula_a_place_is_a_node_and_the_way_to_the_next() {
        let nodes = [10, 20, 60];
        for (x, at) in [
            (-5, Some((0, 0))),
            (10, Some((0, 0))),
            (11, Some((0, 25))),
            (15, Some((0, 128))),
            (20, Some((1, 0))),
            (30, Some((1, 64))),
            (59, Some((1, 249))),
            (60, Some((2, 0))),
            (61, None),
        ] {
            assert_eq!(place(&nodes, x), at, "{x}");
        }
    }

    #[test]
    fn formula_binary_logarithms_are_at_most_a_tenth_of_an_octave_too_small() {
        for octave in 0..64 {
            assert_eq!(log2(1 << octave), octave * 256);
        }
        assert_eq!(log2(3), 384, "halfway between 2 and 4");
        assert_eq!(log2(u64::MAX), 64 * 256 - 1);
        let mut last = 0;
        for i in 0..4000 {
            let x = 1.0109_f64.powi(i) as u64;
            let (is, exact) = (log2(x), (x as f64).log2() * 256.0);
            assert!(is >= last, "{x}");
            assert!(
                (-0.0861 * 256.0 - 1.0..=1e-9).contains(&(is as f64 - exact)),
                "{x}"
            );
            last = is;
        }
    }

    /// Arrhenius with Boltzmann's constant, 8.617333e-5 eV/K, to a unit and the rounding of the constant.
    #[test]
    fn formula_acceleration_is_by_arrhenius() {
        for mev in [0, 300, 1100, 1500] {
            for celsius in [-100, -40, 0, 25, 40, 85, 125] {
                for reference in TEMPERATURES_C {
                    let kelvin = |t: i16| f64::from(t) + 273.15;
                    let per_kelvin = f64::from(mev) * 1e-3 / 8.617_333e-5;
                    let exponent = per_kelvin * (1.0 / kelvin(reference) - 1.0 / kelvin(celsius));
                    let exact = exponent * core::f64::consts::LOG2_E * 256.0;
                    let is = log2_acceleration(mev, celsius, reference);
                    let off = (is as f64 - exact).abs();
                    assert!(
                        off <= 1.0 + exact.abs() * 1e-5,
                        "{mev} {celsius} {reference}: {is}, {exact}"
                    );
                }
            }
        }
        assert_eq!(
            log2_acceleration(1100, i16::MIN, 30),
            log2_acceleration(1100, -100, 30)
        );
    }
}
