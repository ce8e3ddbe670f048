//! What a sense of one page returns: error counts of its codewords, computed when asked for.

use firstread_core::{PageType, Stream};

use crate::cell::model::{StateDistribution, Wordline};
use crate::cell::optimum::crossing;
use crate::gaussian::Gaussian;
use crate::persistent::Point;

/// Level positions of a sense (mV), index `valley - 1`.
pub type LevelsMv = [f64; 15];

/// Errors of one page, as shares of all its cells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlap {
    /// Cells of a lower state that lie above the level next to them.
    pub left: f64,
    /// Cells of an upper state that lie below the level next to them.
    pub right: f64,
    /// Density of the left tails at their levels (per mV).
    pub left_density: f64,
    /// Density of the right tails at their levels (per mV).
    pub right_density: f64,
}

impl Overlap {
    /// Raw bit error rate.
    pub fn rber(&self) -> f64 {
        self.left + self.right
    }
}

/// Tail beyond `distance_mv` and density there, heavy tails included.
#[inline]
fn tail(w: &Wordline<'_>, d: StateDistribution, distance_mv: f64) -> (f64, f64) {
    let g = w.gaussian;
    let inv = 1.0 / d.sigma_mv;
    let (q, phi) = g.tail_and_density(distance_mv * inv);
    let v = w.variation;
    if v.tail_fraction == 0.0 {
        return (q, phi * inv);
    }
    let wide = inv / v.tail_sigma_ratio;
    let (q2, phi2) = g.tail_and_density(distance_mv * wide);
    (
        (1.0 - v.tail_fraction) * q + v.tail_fraction * q2,
        (1.0 - v.tail_fraction) * phi * inv + v.tail_fraction * phi2 * wide,
    )
}

/// The overlap of a page's states at the given levels, each moved by `shift_mv`.
#[inline]
pub fn overlap(w: &Wordline<'_>, page: PageType, levels: &LevelsMv, shift_mv: f64) -> Overlap {
    let mut o = Overlap::default();
    for &v in w.model.valleys(page) {
        let level = levels[v as usize - 1] + shift_mv;
        add_valley(w, v as usize, level, &mut o);
    }
    let share = 1.0 / w.model.mode.states() as f64;
    o.left *= share;
    o.right *= share;
    o.left_density *= share;
    o.right_density *= share;
    o
}

/// The same at the best levels of this very wordline.
#[inline]
pub fn overlap_ideal(w: &Wordline<'_>, page: PageType, shift_mv: f64) -> Overlap {
    let mut levels = [0.0; 15];
    for &v in w.model.valleys(page) {
        let v = v as usize;
        levels[v - 1] = crossing(w.state(v - 1), w.state(v), w.variation);
    }
    overlap(w, page, &levels, shift_mv)
}

#[inline]
fn add_valley(w: &Wordline<'_>, v: usize, level: f64, o: &mut Overlap) {
    let lower = w.state(v - 1);
    let (q, d) = tail(w, lower, level - lower.mean_mv);
    o.left += q;
    o.left_density += d;
    let upper = w.state(v);
    let (q, d) = tail(w, upper, upper.mean_mv - level);
    o.right += q;
    o.right_density += d;
    // The erased state is wide and disturb raises it: it may reach past the first valley.
    if level < w.condition.erased_reach_mv && v > 1 {
        let erased = w.state(0);
        let (q, d) = tail(w, erased, level - erased.mean_mv);
        o.left += q;
        o.left_density += d;
    }
}

/// Share of one side's counts that differs between two senses at the same level.
///
/// Near the level the density of a state is `e^(h x)`; a cell then errs in both of two senses with
/// noise `s` each with probability `2 Q(h s / sqrt 2)` of that of erring in one.
#[inline]
fn fresh_share(gaussian: &Gaussian, tail: f64, density: f64, noise_mv: f64) -> f64 {
    if noise_mv == 0.0 || tail <= 0.0 {
        return 0.0;
    }
    1.0 - 2.0 * gaussian.tail(density / tail * noise_mv * core::f64::consts::FRAC_1_SQRT_2)
}

/// One side of a page: `share` of `cells` cells err, at a density of `density` of them per mV.
#[inline]
pub(crate) fn side(g: &Gaussian, share: f64, density: f64, cells: f64, noise_mv: f64) -> Point {
    Point::new(share * cells, fresh_share(g, share, density, noise_mv))
}

const LEFT: u64 = 0;
const RIGHT: u64 = 1;

/// The outcome of sensing one page of one plane.
#[derive(Clone, Copy, Debug)]
pub struct PageSense<'a> {
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) data: Stream,
    pub(crate) noise: Stream,
    pub(crate) codeword_bits: u32,
    pub(crate) left: Point,
    pub(crate) right: Point,
    pub(crate) rber: f64,
}

impl PageSense<'_> {
    /// Raw bit errors of codeword `codeword` of the page.
    #[inline]
    pub fn codeword_weight(&self, codeword: u32) -> u16 {
        let key = self.data.at(codeword as u64);
        let fresh = self.noise.draw(codeword as u64);
        let n = self
            .left
            .count(self.gaussian, key, LEFT, self.gaussian.of_field(fresh, 0))
            + self
                .right
                .count(self.gaussian, key, RIGHT, self.gaussian.of_field(fresh, 1));
        n.min(self.codeword_bits).min(u16::MAX as u32) as u16
    }

    /// Raw bit error rate that the codewords are drawn with.
    pub const fn rber(&self) -> f64 {
        self.rber
    }
}

/// Most reliability classes a soft sense tells apart.
pub const MAX_CLASSES: usize = 3;

/// One codeword of a soft sense, by reliability: class 0 is the most reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SoftWeight {
    /// Classes in use: 2 of three senses, 3 of five.
    pub classes: u8,
    /// Bits read wrongly in each class.
    pub errors: [u32; MAX_CLASSES],
    /// Bits of each class, right or wrong.
    pub bits: [u32; MAX_CLASSES],
}

impl SoftWeight {
    /// Raw bit errors of the hard decision.
    pub fn hard(&self) -> u32 {
        self.errors.iter().sum()
    }
}

/// The outcome of a soft sense of one page of one plane: sides at the levels `-2..=2` spacings away
/// from the centre.
#[derive(Clone, Copy, Debug)]
pub struct SoftSense<'a> {
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) data: Stream,
    pub(crate) noise: Stream,
    pub(crate) codeword_bits: u32,
    pub(crate) classes: u8,
    /// Index 2 is the centre.
    pub(crate) left: [Point; 5],
    pub(crate) right: [Point; 5],
}

impl SoftSense<'_> {
    /// Errors and bits by reliability of codeword `codeword`.
    ///
    /// A cell of the lower state above the outermost level is wrong and looks reliable; between two
    /// levels it is less so. Cells of the right state between levels are unreliable though right.
    pub fn codeword(&self, codeword: u32) -> SoftWeight {
        let key = self.data.at(codeword as u64);
        let fresh = self.noise.draw(codeword as u64);
        let g = self.gaussian;
        // Each further level is a sense of its own.
        let count = |sides: &[Point; 5], side: u64, at: usize| {
            let again = if at == 2 {
                fresh
            } else {
                self.noise.at(codeword as u64).draw(at as u64)
            };
            sides[at].count(g, key, side, g.of_field(again, side as usize))
        };
        let last = self.classes as usize - 1;
        let mut out = SoftWeight {
            classes: self.classes,
            ..SoftWeight::default()
        };
        let mut strong_bits = self.codeword_bits;
        for (side, sides) in [(LEFT, &self.left), (RIGHT, &self.right)] {
            // Moving up takes the left side outwards, moving down the right side.
            let step = |i: usize, out: bool| {
                if (side == LEFT) == out { 2 + i } else { 2 - i }
            };
            let centre = count(sides, side, 2);
            let (mut wrong, mut right) = (centre, centre);
            for i in 1..=last {
                // Levels `i` outwards: fewer cells are beyond; inwards: more are.
                let beyond = count(sides, side, step(i, true)).min(wrong);
                let within = count(sides, side, step(i, false)).max(right);
                // Nearest the centre is the least reliable class.
                let class = last + 1 - i;
                out.errors[class] += wrong - beyond;
                out.bits[class] += (wrong - beyond) + (within - right);
                (wrong, right) = (beyond, within);
            }
            out.errors[0] += wrong;
        }
        for class in 1..=last {
            strong_bits = strong_bits.saturating_sub(out.bits[class]);
        }
        out.bits[0] = strong_bits;
        out
    }
}
