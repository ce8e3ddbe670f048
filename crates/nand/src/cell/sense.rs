//! What a sense of one page returns: error counts of its codewords, computed when asked for.

use firstread_core::{PageType, Stream};

use crate::cell::levels::ReadLevels;
use crate::cell::model::{ABREAST, Four, Wordline};
use crate::cell::optimum::crossing;
use crate::gaussian::Gaussian;
use crate::persistent::{LANES, Point, Process};
use crate::poisson::Quantiles;
use crate::single::{number, rounded};

/// Errors of one page, as shares of all its cells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlap {
    /// Cells of a lower state that lie above the level next to them.
    pub left: f32,
    /// Cells of an upper state that lie below the level next to them.
    pub right: f32,
    /// Density of the left tails at their levels (per mV).
    pub left_density: f32,
    /// Density of the right tails at their levels (per mV).
    pub right_density: f32,
}

impl Overlap {
    /// Raw bit error rate.
    pub fn rber(&self) -> f64 {
        self.left as f64 + self.right as f64
    }

    /// Shares of both sides.
    pub(crate) const fn wrong(&self) -> [f32; 2] {
        [self.left, self.right]
    }

    /// Densities of both sides.
    pub(crate) const fn densities(&self) -> [f32; 2] {
        [self.left_density, self.right_density]
    }
}

/// The overlap of a page's states at `levels`, offsets being in units of `step_mv`, moved by
/// `shift_mv`.
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

/// The same with a draw at an end of its distribution.
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
    // Errors and densities of both sides, in cells per cell of one state; a column a valley.
    let (mut wrong, mut density) = ([[0.0; ABREAST]; 2], [[0.0; ABREAST]; 2]);
    let mut erased = (0.0, 0.0);
    for four in &w.model.fours[page.0 as usize & 3] {
        // From the default (mV).
        let levels: [f32; ABREAST] = match levels {
            ReadLevels::Offsets(o) => {
                let units = four
                    .valleys
                    .map(|v| o.get(v as usize).map_or(0, |&n| n as i32));
                units.map(|n| shift_mv + number(n) * step_mv)
            }
            ReadLevels::Ideal => ideal(w, four, shift_mv),
        };
        // A loop on purpose: written out, its four columns no longer become one vector.
        for (upper, law) in four.sides.iter().enumerate() {
            let (x, inverse) = w.right_side(law, upper == 1, levels, &score);
            let (q, phi) = tails(w, x);
            for k in 0..ABREAST {
                wrong[upper][k] += q[k];
                density[upper][k] += phi[k] * inverse[k];
            }
        }
        // The erased state is wide and disturb raises it: it may reach past the first valley.
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

/// Upper tails and densities of states, heavy tails included.
#[inline(always)]
fn tails<const N: usize>(w: &Wordline<'_>, x: [f32; N]) -> ([f32; N], [f32; N]) {
    if w.variation.tail_fraction == 0.0 {
        w.gaussian.near_tails_and_densities(x)
    } else {
        heavy_tails(w, x)
    }
}

/// [`tails`] where some cells are of a wider distribution.
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

/// The best levels of four valleys, from the default (mV).
#[inline(never)]
fn ideal(w: &Wordline<'_>, four: &Four, shift_mv: f32) -> [f32; ABREAST] {
    four.valleys.map(|v| {
        let around = w.neighbours(v as usize + 1);
        let best = crossing(around.lower(), around.upper(), w.variation);
        shift_mv + (best - w.model.default_mv[v as usize]) as f32
    })
}

/// Tail and density of the erased state beyond those of four levels that are not next to it.
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

/// Share of one side's counts that differs between two senses at the same level.
///
/// Near the level the density of a state is `e^(h x)`; a cell then errs in both of two senses with
/// noise `s` each with probability `2 Q(h s / sqrt 2)` of that of erring in one.
#[inline(always)]
fn fresh_share(gaussian: &Gaussian, tail: f32, density: f32, noise_mv: f32) -> f32 {
    // Neither zero nor so small that the quotient is not a number.
    let tail = if tail > 1e-30 { tail } else { 1e-30 };
    gaussian.within_roughly(density / tail * (noise_mv * core::f32::consts::FRAC_1_SQRT_2))
}

/// What draws of counts are made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws<'a> {
    pub gaussian: &'a Gaussian,
    pub quantiles: &'a Quantiles,
    /// Noise of a sense (mV).
    pub noise_mv: f32,
}

impl Draws<'_> {
    /// Both sides of a page: `share` of `cells` cells err, at a density of `density` of them per mV.
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

/// The group of point processes to which one side of four codewords belongs.
#[inline]
const fn group(codeword: u32, side: u64) -> u64 {
    (codeword as u64 / LANES as u64) << 1 | side
}

/// The outcome of sensing one page of one plane.
#[derive(Clone, Copy, Debug)]
pub struct PageSense<'a> {
    pub(crate) gaussian: &'a Gaussian,
    pub(crate) data: Stream,
    pub(crate) noise: Stream,
    /// Most errors of a codeword.
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

    /// Raw bit errors of the four codewords among which `codeword` is, the first one being a multiple
    /// of four: they cost little more than one.
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

    /// Raw bit errors of as many codewords as `weights` has places, from `first` on.
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

    /// 64 uniform bits that belong to the data of each of the four codewords among which `codeword` is, the same
    /// at every sense: for what else a decoder makes of errors whose fate their number decides. They are one
    /// word turned by 16 bits: what counts of them, the highest, is another field of it for each codeword.
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

    /// 64 uniform bits for the fate of errors of `codeword` that their number does not decide. Two senses
    /// share a fate as far as the same cells err in both.
    #[inline(always)] // By value: were it a reference, the whole sense would lie in memory for its sake.
    pub fn fate(self, codeword: u32) -> u64 {
        let sides = [self.left, self.right];
        fate(self.gaussian, [self.data, self.noise], codeword, sides)
    }

    /// Raw bit error rate that the codewords are drawn with.
    pub const fn rber(&self) -> f64 {
        self.rber
    }
}

/// Draws of codewords' own, beyond those of all groups.
const OWN: u64 = 1 << 63;

/// Groups of the processes that decide fates, beyond those of counts.
const FATES: u64 = 1 << 40;

/// A uniform draw made of point processes like those of the errors, one for each side in the measure of
/// its errors: where other cells err, it is another draw.
#[inline(never)] // Seldom asked for.
fn fate(gaussian: &Gaussian, [data, noise]: [Stream; 2], codeword: u32, sides: [Point; 2]) -> u64 {
    let lane = codeword as usize % LANES;
    let groups = [LEFT, RIGHT].map(|side| FATES + group(codeword, side));
    let fresh = groups.map(|group| noise.quick(group));
    let scores = Point::fates(&sides, gaussian, data, groups, lane, fresh);
    let [left, right] = sides.map(|side| f64::from(side.median().max(1)));
    let z = libm::sqrt(left) * scores[0] as f64 + libm::sqrt(right) * scores[1] as f64;
    // A float that is too large becomes the largest integer.
    (gaussian.tail(z / libm::sqrt(left + right)) * 18_446_744_073_709_551_616.0) as u64
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
    /// 64 uniform bits for the fate of errors of `codeword`: [`PageSense::fate`] at the centre.
    pub fn fate(&self, codeword: u32) -> u64 {
        fate(
            self.gaussian,
            [self.data, self.noise],
            codeword,
            [self.left[2], self.right[2]],
        )
    }

    /// Errors and bits by reliability of codeword `codeword`.
    ///
    /// A cell of the lower state above the outermost level is wrong and looks reliable; between two
    /// levels it is less so. Cells of the right state between levels are unreliable though right.
    pub fn codeword(&self, codeword: u32) -> SoftWeight {
        let g = self.gaussian;
        let lane = codeword as usize % LANES;
        // Each further level is a sense of its own.
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

#[cfg(test)]
mod tests {
    use firstread_core::{BlockId, CellMode, DieId, Geometry, Ns, PageAddr, StripeOrder};

    use super::*;
    use crate::cell::model::BlockState;
    use crate::medium::Medium;
    use crate::reference;

    /// The density of each side is the slope of its errors over the level, for heavy tails and for an
    /// erased state that reads have lifted past valleys that are not next to it.
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
        // Deviation, in percent of the slope, that the tables of tails and densities account for.
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
                    block: BlockId(2),
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
}
