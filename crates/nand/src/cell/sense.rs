//! Outcome of sensing one page: the error counts of its codewords, computed on request.

use firstread_core::{PageType, Stream};

use crate::cell::levels::ReadLevels;
use crate::cell::model::{ABREAST, Four, Wordline};
use crate::cell::optimum::crossing;
use crate::gaussian::Gaussian;
use crate::persistent::{LANES, Point, Process};
use crate::poisson::Quantiles;
use crate::single::{number, rounded};

/// Errors of one page, as shares of its cells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlap {
    /// Share of lower-state cells above their level.
    pub left: f32,
    /// Share of upper-state cells below their level.
    pub right: f32,
    /// Density of the lower states' tails at their levels (per mV).
    pub left_density: f32,
    /// Density of the upper states' tails at their levels (per mV).
    pub right_density: f32,
}

impl Overlap {
    /// Raw bit error rate.
    pub fn rber(&self) -> f64 {
        self.left as f64 + self.right as f64
    }

    /// Shares on both sides.
    pub(crate) const fn wrong(&self) -> [f32; 2] {
        [self.left, self.right]
    }

    /// Densities on both sides.
    pub(crate) const fn densities(&self) -> [f32; 2] {
        [self.left_density, self.right_density]
    }
}

/// Overlap of a page's states at `levels`, shifted by `shift_mv`. Offsets are in units of `step_mv`.
#[inline]
pub(crate) fn overlap(
    w: &Wordline<'_>,
    page: PageType,
    levels: &ReadLevels,
    step_mv: f32,
    shift_mv: f32,
) -> Overlap {
    let g = w.gaussian;
    let o = overlap_by(w, page, levels, step_mv, shift_mv, |bits| g.inner_u16(bits));
    if (o.left + o.right).is_nan() {
        return overlap_exactly(w, page, levels, step_mv, shift_mv);
    }
    o
}

/// The same if a draw lies at an end of its distribution.
#[cold]
fn overlap_exactly(
    w: &Wordline<'_>,
    page: PageType,
    levels: &ReadLevels,
    step_mv: f32,
    shift_mv: f32,
) -> Overlap {
    let g = w.gaussian;
    overlap_by(w, page, levels, step_mv, shift_mv, |bits| g.of_u16(bits))
}

#[inline(always)]
fn overlap_by(
    w: &Wordline<'_>,
    page: PageType,
    levels: &ReadLevels,
    step_mv: f32,
    shift_mv: f32,
    score: impl Fn(u16) -> f32,
) -> Overlap {
    // Errors and densities of both sides, in cells per cell of one state. One column per valley.
    let (mut wrong, mut density) = ([[0.0; ABREAST]; 2], [[0.0; ABREAST]; 2]);
    let mut erased = (0.0, 0.0);
    for four in &w.model.fours[page.0 as usize & 3] {
        // Relative to the default (mV).
        let levels: [f32; ABREAST] = match levels {
            ReadLevels::Offsets(o) => {
                let units = four
                    .valleys
                    .map(|v| o.get(v as usize).map_or(0, |&n| n as i32));
                units.map(|n| shift_mv + number(n) * step_mv)
            }
            ReadLevels::Ideal => ideal(w, four, shift_mv),
        };
        // This must stay a loop: unrolled, its four columns are no longer vectorized.
        for (upper, law) in four.sides.iter().enumerate() {
            let (x, inverse) = w.right_side(law, upper == 1, levels, &score);
            let (q, phi) = tails(w, x);
            for k in 0..ABREAST {
                wrong[upper][k] += q[k];
                density[upper][k] += phi[k] * inverse[k];
            }
        }
        // The erased state is wide, and read disturb raises it: it may reach past the first valley.
        let (place, default_mv) = four.above_erased;
        if default_mv + levels[place as usize % ABREAST] < w.condition.erased_reach_mv {
            let (q, phi) = erased_beyond(w, four, levels);
            erased = (erased.0 + q, erased.1 + phi);
        }
    }
    let share = w.model.share;
    let sum = |x: [f32; ABREAST]| (x[0] + x[2]) + (x[1] + x[3]);
    Overlap {
        left: (sum(wrong[0]) + erased.0) * share,
        right: sum(wrong[1]) * share,
        left_density: (sum(density[0]) + erased.1) * share,
        right_density: sum(density[1]) * share,
    }
}

/// Upper tails and densities of states, including heavy tails.
#[inline(always)]
fn tails<const N: usize>(w: &Wordline<'_>, x: [f32; N]) -> ([f32; N], [f32; N]) {
    if w.variation.tail_fraction == 0.0 {
        w.gaussian.near_tails_and_densities(x)
    } else {
        heavy_tails(w, x)
    }
}

/// [`tails`] for profiles in which some cells belong to a wider distribution.
#[inline(never)] // What it needs is not made ready where it is not called.
fn heavy_tails<const N: usize>(w: &Wordline<'_>, x: [f32; N]) -> ([f32; N], [f32; N]) {
    let (mut q, mut phi) = w.gaussian.near_tails_and_densities(x);
    let tail = w.variation.tail_fraction as f32;
    let (body, wide) = (1.0 - tail, 1.0 / w.variation.tail_sigma_ratio as f32);
    let (q2, phi2) = w.gaussian.near_tails_and_densities(x.map(|x| x * wide));
    for k in 0..N {
        q[k] = body * q[k] + tail * q2[k];
        phi[k] = body * phi[k] + tail * phi2[k] * wide;
    }
    (q, phi)
}

/// The best levels of four valleys, relative to the default (mV).
#[inline(never)]
fn ideal(w: &Wordline<'_>, four: &Four, shift_mv: f32) -> [f32; ABREAST] {
    four.valleys.map(|v| {
        let around = w.neighbours(v as usize + 1);
        let best = crossing(around.lower(), around.upper(), w.variation);
        shift_mv + (best - w.model.default_mv[v as usize]) as f32
    })
}

/// Tail and density of the erased state beyond levels that are not next to it.
#[cold]
fn erased_beyond(w: &Wordline<'_>, four: &Four, levels: [f32; ABREAST]) -> (f32, f32) {
    let erased = w.neighbours(1).lower();
    let (mean_mv, inverse) = (erased.mean_mv as f32, 1.0 / erased.sigma_mv as f32);
    let mut sum = (0.0, 0.0);
    for (v, level) in four.valleys.into_iter().zip(levels) {
        let level = w.model.default_mv[v as usize] as f32 + level;
        if v > 0 && level < w.condition.erased_reach_mv {
            let ([q], [phi]) = tails(w, [(level - mean_mv) * inverse]);
            sum = (sum.0 + q, sum.1 + phi * inverse);
        }
    }
    sum
}

/// Share of one side's errors that differ between two senses at the same level.
///
/// Near the level the density of a state is `e^(h x)`. With sense noise `s`, the probability that a cell errs
/// in both of two senses is `2 Q(h s / sqrt 2)` times the probability that it errs in one.
#[inline(always)]
fn fresh_share(gaussian: &Gaussian, tail: f32, density: f32, noise_mv: f32) -> f32 {
    // Not zero, and not so small that the quotient is not a number.
    let tail = if tail > 1e-30 { tail } else { 1e-30 };
    gaussian.within_roughly(density / tail * (noise_mv * core::f32::consts::FRAC_1_SQRT_2))
}

/// Inputs for drawing counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws<'a> {
    pub gaussian: &'a Gaussian,
    pub quantiles: &'a Quantiles,
    pub noise_mv: f32,
}

impl Draws<'_> {
    /// Both sides of a page: a share `share` of `cells` cells err, with a density of `density` cells per mV.
    #[inline(always)] // Once in a sense; its result stays in registers.
    pub(crate) fn sides(&self, share: [f32; 2], density: [f32; 2], cells: f32) -> [Point; 2] {
        let fresh = core::array::from_fn(|k| {
            fresh_share(self.gaussian, share[k], density[k], self.noise_mv)
        });
        Point::pair(self.quantiles, share.map(|s| s * cells), fresh)
    }
}

const LEFT: u64 = 0;
const RIGHT: u64 = 1;

/// The group of point processes that one side of four codewords uses.
#[inline]
const fn group(codeword: u32, side: u64) -> u64 {
    (codeword as u64 / LANES as u64) << 1 | side
}

/// Outcome of sensing one page of one plane.
#[derive(Clone, Copy, Debug)]
pub struct PageSense<'a> {
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) data: Stream,
    pub(crate) noise: Stream,
    /// Maximum number of errors in a codeword.
    pub(crate) most: f32,
    pub(crate) left: Point,
    pub(crate) right: Point,
    pub(crate) rber: f64,
}

impl PageSense<'_> {
    /// Raw bit errors of codeword `codeword` of the page.
    #[inline]
    pub fn codeword_weight(&self, codeword: u32) -> u16 {
        self.four_weights(codeword)[codeword as usize % LANES] as u16
    }

    /// Raw bit errors of the group of four codewords that contains `codeword` (groups begin at multiples of
    /// four). Four cost little more than one.
    #[inline(always)] // With its points in registers.
    pub fn four_weights(&self, codeword: u32) -> [u32; LANES] {
        let g = self.gaussian;
        let (l, r) = (group(codeword, LEFT), group(codeword, RIGHT));
        let fresh = [self.noise.quick(l), self.noise.quick(r)];
        let mut left = self.left.scores(g, self.data, l, fresh[0]);
        let mut right = self.right.scores(g, self.data, r, fresh[1]);
        let both: [f32; LANES] = core::array::from_fn(|k| left[k] + right[k]);
        if ((both[0] + both[2]) + (both[1] + both[3])).is_nan() {
            left = self.left.exactly(g, self.data, l, fresh[0], left);
            right = self.right.exactly(g, self.data, r, fresh[1], right);
        }
        let (left, right) = (self.left.counts(left), self.right.counts(right));
        let sum: [f32; LANES] = core::array::from_fn(|k| left[k] + right[k]);
        sum.map(|n| rounded(if n < self.most { n } else { self.most }))
    }

    /// Raw bit errors of codewords `first` and on, as many as `weights` has elements.
    pub fn codeword_weights(&self, first: u32, weights: &mut [u16]) {
        let (mut codeword, mut left) = (first, weights);
        while !left.is_empty() {
            let at = codeword as usize % LANES;
            let (now, later) = left.split_at_mut(left.len().min(LANES - at));
            for (to, from) in now.iter_mut().zip(&self.four_weights(codeword)[at..]) {
                *to = *from as u16;
            }
            codeword += now.len() as u32;
            left = later;
        }
    }

    /// 64 uniform bits that belong to the data of each codeword in `codeword`'s group of four, the same for
    /// every sense. They decide what the number of errors leaves open for the decoder. All four are one word
    /// rotated by 16 bits: the highest bits, which matter most, are a different field for each codeword.
    #[inline]
    pub const fn four_draws(&self, codeword: u32) -> [u64; LANES] {
        let word = self.data.quick(OWN + (codeword / LANES as u32) as u64);
        [
            word,
            word.rotate_left(16),
            word.rotate_left(32),
            word.rotate_left(48),
        ]
    }

    /// 64 uniform bits that decide on the errors of `codeword`, where their number leaves it open. Two
    /// senses share these bits to the extent that the same cells err in both.
    #[inline(always)] // By value: were it a reference, the whole sense would lie in memory for its sake.
    pub fn persistent_draw(self, codeword: u32) -> u64 {
        let sides = [self.left, self.right];
        persistent_draw(self.gaussian, [self.data, self.noise], codeword, sides)
    }

    /// Raw bit error rate with which the codewords are drawn.
    pub const fn rber(&self) -> f64 {
        self.rber
    }
}

/// Offset of the draws of single codewords, beyond the draws of all groups.
const OWN: u64 = 1 << 63;

/// Offset of the groups of processes that decide on errors, beyond those of counts.
const ERROR_SCORES: u64 = 1 << 40;

/// A uniform draw from point processes like those of the errors, one per side, weighted by the errors of each
/// side. If other cells err, the draw is different.
#[inline(never)] // Seldom asked for.
fn persistent_draw(
    gaussian: &Gaussian,
    [data, noise]: [Stream; 2],
    codeword: u32,
    sides: [Point; 2],
) -> u64 {
    let lane = codeword as usize % LANES;
    let groups = [LEFT, RIGHT].map(|side| ERROR_SCORES + group(codeword, side));
    let fresh = groups.map(|group| noise.quick(group));
    let scores = Point::scores_of_errors(&sides, gaussian, data, groups, lane, fresh);
    let [left, right] = sides.map(|side| f64::from(side.median().max(1)));
    let z = libm::sqrt(left) * scores[0] as f64 + libm::sqrt(right) * scores[1] as f64;
    // A float that is too large saturates to the largest integer.
    (gaussian.tail(z / libm::sqrt(left + right)) * 18_446_744_073_709_551_616.0) as u64
}

/// Maximum number of reliability classes in a soft sense.
pub const MAX_CLASSES: usize = 3;

/// One codeword of a soft sense, by reliability class; class 0 is the most reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SoftWeight {
    /// Number of classes: 2 for three senses, 3 for five.
    pub classes: u8,
    /// Wrong bits in each class.
    pub errors: [u32; MAX_CLASSES],
    /// Bits in each class, wrong or right.
    pub bits: [u32; MAX_CLASSES],
}

impl SoftWeight {
    /// Raw bit errors of the hard decision.
    pub fn hard(&self) -> u32 {
        self.errors.iter().sum()
    }
}

/// Outcome of a soft sense of one page of one plane: both sides at the levels `-2..=2` spacings from the
/// centre.
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
    /// 64 uniform bits that decide on the errors of `codeword`: [`PageSense::persistent_draw`] at the centre.
    pub fn persistent_draw(&self, codeword: u32) -> u64 {
        persistent_draw(
            self.gaussian,
            [self.data, self.noise],
            codeword,
            [self.left[2], self.right[2]],
        )
    }

    /// Errors and bits of codeword `codeword`, by reliability class.
    ///
    /// A lower-state cell above the outermost level is wrong and looks reliable; between two levels it looks
    /// less reliable. A correct cell between levels looks unreliable although it is correct.
    pub fn codeword(&self, codeword: u32) -> SoftWeight {
        let g = self.gaussian;
        let lane = codeword as usize % LANES;
        // Each further level is a separate sense.
        let count = |sides: &[Point; 5], side: u64, at: usize| {
            let group = group(codeword, side);
            let noise = if at == 2 {
                self.noise
            } else {
                self.noise.at(at as u64)
            };
            let process = Process { group, lane };
            sides[at].count(g, self.data, process, noise.quick(group))
        };
        let last = self.classes as usize - 1;
        let mut out = SoftWeight {
            classes: self.classes,
            ..SoftWeight::default()
        };
        let mut strong_bits = self.codeword_bits;
        for (side, sides) in [(LEFT, &self.left), (RIGHT, &self.right)] {
            // Moving up goes outwards for the left side and inwards for the right side.
            let step = |i: usize, out: bool| {
                if (side == LEFT) == out { 2 + i } else { 2 - i }
            };
            let centre = count(sides, side, 2);
            let (mut wrong, mut right) = (centre, centre);
            for i in 1..=last {
                // `i` levels outwards fewer cells are beyond the level; inwards more are.
                let beyond = count(sides, side, step(i, true)).min(wrong);
                let within = count(sides, side, step(i, false)).max(right);
                // The class nearest to the centre is the least reliable.
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

#[cfg(test)]
mod tests {
    use firstread_core::{CellMode, DieId, Geometry, Ns, PageAddr, StripeOrder, SuperblockId};

    use super::*;
    use crate::cell::model::BlockState;
    use crate::medium::Medium;
    use crate::reference;

    /// The density of each side is the slope of its errors over the level. This must hold for heavy tails,
    /// and for an erased state that read disturb has lifted past valleys that are not next to it.
    #[test]
    fn formula_densities_are_slopes_of_the_errors() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes: 1,
            blocks_per_plane: 8,
            wordlines_per_block: 1408,
            page_bytes: 16_384,
            slot_bytes: 4_096,
            codeword_bytes: 1_024,
            stripe: StripeOrder::PlaneFirst,
            stripe_parity: false,
        };
        // Deviation allowed for the tables of tails and densities, in percent of the slope.
        const ROUGH: f32 = 2.0;
        for (tail_fraction, reads) in [(0.0, 0.0), (0.1, 0.0), (0.0, 4e6), (0.1, 4e6)] {
            let mut chip = reference::ct_a();
            chip.variation.tail_fraction = tail_fraction;
            chip.variation.tail_sigma_ratio = 2.0;
            let mut m = Medium::new(chip, geometry, 5).expect("the profile is valid");
            m.set_temperature(Ns::ZERO, 55.0)
                .expect("the temperature is valid");
            let block = BlockState {
                reads,
                ..m.programmed(CellMode::Qlc, 1500, 3, Ns::ZERO)
            };
            let condition = m.condition(&block, Ns::from_h(1));
            for page in 0..4 {
                let at = PageAddr {
                    die: DieId(0),
                    block: SuperblockId(2),
                    wordline: 50,
                    page: PageType(page),
                };
                let (w, _) = m
                    .wordline(at, 0, &condition, 0.0)
                    .expect("the chip has this wordline");
                let levels = ReadLevels::Offsets([0; 15]);
                let at = |shift_mv: f32| overlap(&w, PageType(page), &levels, 5.0, shift_mv);
                for shift_mv in [-40.0, -15.0, 0.0, 20.0] {
                    const STEP_MV: f32 = 2.0;
                    let (below, above) = (at(shift_mv - STEP_MV), at(shift_mv + STEP_MV));
                    let here = at(shift_mv);
                    for (side, slope, density) in [
                        ("left", below.left - above.left, here.left_density),
                        ("right", above.right - below.right, here.right_density),
                    ] {
                        let slope = slope / (2.0 * STEP_MV);
                        assert!(
                            (density / slope - 1.0).abs() * 100.0 < ROUGH,
                            "heavy tails {tail_fraction}, {reads} reads, page {page}, {shift_mv} mV, {side}: \
                             density {density:e}, slope {slope:e}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn formula_an_overlap_is_the_sum_of_its_sides() {
        let o = Overlap {
            left: 0.25,
            right: 0.125,
            left_density: 3.0,
            right_density: 5.0,
        };
        assert_eq!(
            (o.rber(), o.wrong(), o.densities()),
            (0.375, [0.25, 0.125], [3.0, 5.0])
        );
        let soft = SoftWeight {
            classes: 3,
            errors: [3, 10, 200],
            bits: [9000, 15, 201],
        };
        assert_eq!(soft.hard(), 213);
    }

    /// The share that noise exchanges: one less twice the tail at slope times noise over the root of two.
    #[test]
    fn formula_a_fresh_share_grows_with_noise_and_slope() {
        let g = Gaussian::new();
        let share = |tail, density, noise| f64::from(fresh_share(&g, tail, density, noise));
        // A slope of 0.05 a mV and 6 mV: 0.2121 deviations, within which 0.16800 lie.
        assert!(
            (share(0.02, 0.001, 6.0) - 0.168_00).abs() < 5e-5,
            "{}",
            share(0.02, 0.001, 6.0)
        );
        assert!(
            (share(0.02, 0.004, 6.0) - 0.603_86).abs() < 5e-5,
            "{}",
            share(0.02, 0.004, 6.0)
        );
        assert_eq!(share(0.02, 0.001, 0.0), 0.0);
        assert_eq!(share(0.0, 0.0, 6.0), 0.0, "nobody errs");
        assert!(share(1e-35, 1e-30, 6.0).is_finite());
    }

    fn page() -> (Medium, BlockState, PageAddr) {
        let chip = reference::ct_a();
        let geometry = crate::characterize::geometry(&chip, 2);
        let mut m = Medium::new(chip, geometry, 5).expect("the profile is valid");
        m.set_temperature(Ns::ZERO, 55.0)
            .expect("the temperature is valid");
        let block = m.programmed(CellMode::Qlc, 2000, 3, Ns::ZERO);
        let at = PageAddr {
            die: DieId(1),
            block: SuperblockId(0),
            wordline: 50,
            page: PageType(2),
        };
        (m, block, at)
    }

    /// Draws of four codewords are one word, each turned by a field; the next four have another.
    #[test]
    fn formula_four_codewords_share_a_word_of_draws() {
        let (m, block, at) = page();
        let levels = ReadLevels::Offsets([-3; 15]);
        let sense = |id| {
            let timing = firstread_core::SenseTiming::DEFAULT;
            let sense = m.sense(at, 0, &block, Ns::from_h(20), &levels, timing, id);
            sense.expect("the page is there")
        };
        let (a, b) = (sense(1), sense(2));
        for codeword in 0..16 {
            let draws = a.four_draws(codeword);
            assert_eq!(draws, b.four_draws(codeword), "the same at every sense");
            assert_eq!(draws, a.four_draws(codeword / 4 * 4));
            for (k, draw) in draws.into_iter().enumerate() {
                assert_eq!(draw, draws[0].rotate_left(16 * k as u32));
            }
            assert_ne!(draws[0], a.four_draws((codeword + 4) % 16)[0]);
            // What decides on errors changes a little with the noise of a sense.
            assert_ne!(a.persistent_draw(codeword), b.persistent_draw(codeword));
            let soft = firstread_core::SenseTiming::DEFAULT;
            let three = crate::cell::levels::SoftLevels::Three;
            let s = m.sense_soft(at, 0, &block, Ns::from_h(20), &levels, three, soft, 1);
            let s = s.expect("the page is there");
            assert_eq!(s.persistent_draw(codeword), a.persistent_draw(codeword));
        }
    }

    /// Over many codewords, what decides on errors is spread evenly, and the same levels decide mostly alike.
    #[test]
    fn model_what_decides_on_errors_is_uniform_and_persists() {
        let (m, block, mut at) = page();
        let levels = ReadLevels::Offsets([-6; 15]);
        let (mut cells, mut near) = ([0u32; 8], 0u32);
        for wordline in 0..1000 {
            at.wordline = wordline;
            let sense = |id| {
                let timing = firstread_core::SenseTiming::DEFAULT;
                let sense = m.sense(at, 0, &block, Ns::from_h(20), &levels, timing, id);
                sense.expect("the page is there")
            };
            let (a, b) = (sense(1), sense(2));
            for codeword in 0..8 {
                let (a, b) = (a.persistent_draw(codeword), b.persistent_draw(codeword));
                cells[(a >> 61) as usize] += 1;
                near += u32::from((a >> 63) == (b >> 63));
            }
        }
        // 1,000 expected in each eighth, sd 30.
        assert!(cells.iter().all(|n| n.abs_diff(1000) < 150), "{cells:?}");
        assert!(
            (5500..7900).contains(&near),
            "{near} of 8,000 on the same side of the middle"
        );
    }
}
