//! What a sense of one page returns: error counts of its codewords, computed when asked for.

use firstread_core::{PageType, Stream};

use crate::cell::model::{Neighbours, Wordline};
use crate::cell::optimum::crossing;
use crate::gaussian::Gaussian;
use crate::medium::ReadLevels;
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

/// Errors and densities of both sides, in cells per cell of one state.
#[derive(Default)]
struct Sides {
    wrong: [f64; 2],
    density: [f64; 2],
}

impl Sides {
    /// Adds the tails of two neighbours beyond the level between them, heavy tails included.
    #[inline(never)] // Alone it is vectorised, one lane a side; within the loop it is not.
    fn add(&mut self, w: &Wordline<'_>, around: &Neighbours, level: f64) {
        let (g, v) = (w.gaussian, w.variation);
        let each = |f: &dyn Fn(usize) -> f64| [f(0), f(1)];
        let inverse = each(&|k| 1.0 / libm::sqrt(around.variance[k]));
        let x = [
            (level - around.mean_mv[0]) * inverse[0],
            (around.mean_mv[1] - level) * inverse[1],
        ];
        let (mut q, mut phi) = g.tails_and_densities(x);
        if v.tail_fraction != 0.0 {
            let wide = 1.0 / v.tail_sigma_ratio;
            let (q2, phi2) = g.tails_and_densities(x.map(|x| x * wide));
            let (body, tail) = (1.0 - v.tail_fraction, v.tail_fraction);
            q = each(&|k| body * q[k] + tail * q2[k]);
            phi = each(&|k| body * phi[k] + tail * phi2[k] * wide);
        }
        self.wrong = each(&|k| self.wrong[k] + q[k]);
        self.density = each(&|k| self.density[k] + phi[k] * inverse[k]);
    }

    /// Adds the tail of the erased state beyond a level that is not next to it.
    #[cold]
    fn add_erased(&mut self, w: &Wordline<'_>, level: f64) {
        let mut erased = Sides::default();
        erased.add(w, &w.neighbours(1), level);
        self.wrong[0] += erased.wrong[0];
        self.density[0] += erased.density[0];
    }
}

/// The overlap of a page's states at `levels`, offsets being in units of `step_mv`, moved by
/// `shift_mv`.
pub(crate) fn overlap(
    w: &Wordline<'_>,
    page: PageType,
    levels: &ReadLevels,
    step_mv: f64,
    shift_mv: f64,
) -> Overlap {
    let mut sides = Sides::default();
    for &v in w.model.valleys(page) {
        let v = v as usize;
        let around = w.neighbours(v);
        let level = shift_mv
            + match levels {
                ReadLevels::Offsets(o) => w.model.default_mv[v - 1] + o[v - 1] as f64 * step_mv,
                ReadLevels::Ideal => crossing(around.lower(), around.upper(), w.variation),
            };
        sides.add(w, &around, level);
        // The erased state is wide and disturb raises it: it may reach past the first valley.
        if level < w.condition.erased_reach_mv && v > 1 {
            sides.add_erased(w, level);
        }
    }
    let share = 1.0 / w.model.mode.states() as f64;
    Overlap {
        left: sides.wrong[0] * share,
        right: sides.wrong[1] * share,
        left_density: sides.density[0] * share,
        right_density: sides.density[1] * share,
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
    gaussian.within_roughly(density / tail * noise_mv * core::f64::consts::FRAC_1_SQRT_2)
}

/// One side of a page: `share` of `cells` cells err, at a density of `density` of them per mV.
#[inline]
pub(crate) fn side(g: &Gaussian, share: f64, density: f64, cells: f64, noise_mv: f64) -> Point {
    Point::new(share * cells, fresh_share(g, share, density, noise_mv))
}

const LEFT: u64 = 0;
const RIGHT: u64 = 1;

/// The point process of one side of a codeword.
#[inline]
const fn process(codeword: u32, side: u64) -> u64 {
    (codeword as u64) << 1 | side
}

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
        let [weight] = self.weights(codeword);
        weight
    }

    /// Raw bit errors of as many codewords as `weights` has places, from `first` on: cheaper than
    /// one by one.
    #[inline]
    pub fn codeword_weights(&self, first: u32, weights: &mut [u16]) {
        let (fours, rest) = weights.as_chunks_mut();
        let mut codeword = first;
        for four in fours {
            *four = self.weights::<4>(codeword);
            codeword += 4;
        }
        for one in rest {
            *one = self.codeword_weight(codeword);
            codeword += 1;
        }
    }

    fn weights<const N: usize>(&self, first: u32) -> [u16; N] {
        let g = self.gaussian;
        let fresh: [u64; N] = core::array::from_fn(|i| self.noise.draw(first as u64 + i as u64));
        let side = |point: &Point, side: u64| {
            let fresh = fresh.map(|bits| (bits >> (16 * side)) as u16);
            point.counts(g, self.data, process(first, side), fresh)
        };
        let (left, right) = (side(&self.left, LEFT), side(&self.right, RIGHT));
        core::array::from_fn(|i| {
            let n = left[i] + right[i];
            n.min(self.codeword_bits).min(u16::MAX as u32) as u16
        })
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
        let fresh = self.noise.draw(codeword as u64);
        let g = self.gaussian;
        // Each further level is a sense of its own.
        let count = |sides: &[Point; 5], side: u64, at: usize| {
            let again = if at == 2 {
                fresh
            } else {
                self.noise.at(codeword as u64).draw(at as u64)
            };
            let fresh = (again >> (16 * side)) as u16;
            let [n] = sides[at].counts(g, self.data, process(codeword, side), [fresh]);
            n
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
