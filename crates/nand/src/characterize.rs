//! Measurements that a manufacturer would make and write into firmware: the factory retry table, and the
//! projection from sentinel valleys. Computed offline from the model's nominal page.

use alloc::vec::Vec;

use firstread_core::voltage::{
    Line, MAX_FACTORY, MAX_PAGES, MAX_VALLEYS, Parabola, SPARE_NODES, VoltageTables,
};
use firstread_core::{
    CellMode, DieId, Geometry, LevelOffsets, Ns, PageAddr, PageType, StripeOrder, SuperblockId,
};

use crate::cell::optimum;
use crate::chip::{ChipProfile, FactoryRule};
use crate::medium::Medium;
use crate::sense_error::SenseError;

/// Geometry of the characterized population: `chips` chips of one block each, with pages of 16 KiB in
/// codewords of 1 KiB.
pub fn geometry(chip: &ChipProfile, chips: u16) -> Geometry {
    Geometry {
        channels: 1,
        chips_per_channel: chips,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: 1,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16 << 10,
        slot_bytes: 4 << 10,
        codeword_bytes: 1 << 10,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    }
}

/// Fitted projection for one valley.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ValleyFit {
    /// Offset at sentinel offset zero, in DAC units.
    pub intercept: f64,
    /// DAC units per DAC unit of the sentinel.
    pub slope: f64,
    /// Share of the variance explained; one if there is no variance.
    pub r_squared: f64,
}

/// Conditions over which a sentinel fit averages.
#[derive(Clone, Debug, PartialEq)]
pub struct FitConditions {
    /// Times since programming (h).
    pub retention_h: Vec<f64>,
    /// Temperatures at which the data are kept (°C).
    pub temperature_c: Vec<f64>,
    /// Program/erase cycles.
    pub pe_cycles: Vec<u32>,
}

impl Default for FitConditions {
    /// Fifteen times over 48 hours, denser at the beginning because drift is logarithmic; 25, 40 and 55 °C;
    /// fresh to 3,000 cycles.
    fn default() -> FitConditions {
        let retention_h = (0..15u32).map(|i| 48.0 * (i * i) as f64 / 196.0).collect();
        FitConditions {
            retention_h,
            temperature_c: Vec::from([25.0, 40.0, 55.0]),
            pe_cycles: Vec::from([0, 500, 1000, 2000, 3000]),
        }
    }
}

/// Least squares of `y` on `x`.
fn line(points: &[(f64, f64)]) -> ValleyFit {
    let n = points.len() as f64;
    let (mut mx, mut my) = (0.0, 0.0);
    for &(x, y) in points {
        mx += x / n;
        my += y / n;
    }
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for &(x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
        yy += (y - my) * (y - my);
    }
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    ValleyFit {
        intercept: my - slope * mx,
        slope,
        r_squared: if xx > 0.0 && yy > 0.0 {
            xy * xy / (xx * yy)
        } else {
            1.0
        },
    }
}

/// Least-squares parabola of `y` on `x`: intercept, slope, square. A line if the points determine no more.
fn parabola(points: &[(f64, f64)]) -> [f64; 3] {
    let straight = line(points);
    let fallback = [straight.intercept, straight.slope, 0.0];
    let n = points.len() as f64;
    // Relative to the mean, so that the sums stay small; then the normal equations by Cramer's rule.
    let mean = points.iter().map(|p| p.0).sum::<f64>() / n;
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - mean, p.1)).sum::<f64>();
    let (x2, x3) = (sum(&|x, _| x * x), sum(&|x, _| x * x * x));
    let x4 = sum(&|x, _| x * x * x * x);
    let (y, xy, xxy) = (sum(&|_, y| y), sum(&|x, y| x * y), sum(&|x, y| x * x * y));
    let determinant = n * (x2 * x4 - x3 * x3) - x2 * x2 * x2;
    if determinant <= 1e-9 * n * x2 * x4 {
        return fallback;
    }
    let a = (y * (x2 * x4 - x3 * x3) + xy * x3 * x2 - xxy * x2 * x2) / determinant;
    let b = (n * (xy * x4 - xxy * x3) + x2 * (y * x3 - x2 * xy)) / determinant;
    let c = (n * (x2 * xxy - x3 * xy) - x2 * x2 * y) / determinant;
    [a - b * mean + c * mean * mean, b - 2.0 * c * mean, c]
}

fn fixed_point(x: f64) -> i32 {
    libm::round(x * 65_536.0).clamp(i32::MIN as f64, i32::MAX as f64) as i32
}

/// Per valley: the nominal optimum of its page type's sentinel, and its own, under all combinations of
/// `conditions`, unrounded.
fn sentinel_points(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<Vec<Vec<(f64, f64)>>, SenseError> {
    let model = medium.model(mode)?;
    let mut points = Vec::new();
    for &pe in &conditions.pe_cycles {
        for &celsius in &conditions.temperature_c {
            for &hours in &conditions.retention_h {
                points.push(medium.nominal_offsets(mode, pe, &[(hours, celsius)])?);
            }
        }
    }
    let of_valley = |k: usize| {
        let sentinel = model.sentinel[model.page_of_valley[k] as usize] as usize - 1;
        points.iter().map(|p| (p[sentinel], p[k])).collect()
    };
    Ok((0..mode.valleys()).map(of_valley).collect())
}

/// Fits the nominal optimum of every valley to that of its page type's sentinel, unrounded, over all
/// combinations of `conditions`. Index `valley - 1`.
pub fn sentinel_fit(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<[ValleyFit; MAX_VALLEYS], SenseError> {
    let mut fits = [ValleyFit::default(); MAX_VALLEYS];
    for (fit, points) in fits
        .iter_mut()
        .zip(sentinel_points(medium, mode, conditions)?)
    {
        *fit = line(&points);
    }
    Ok(fits)
}

/// A valley against the sentinel of its page type, measured on blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// The valley (1-based).
    pub valley: u8,
    /// Page type, from 0 for the LSB.
    pub page: u8,
    /// The least-squares line through `points`.
    pub fit: ValleyFit,
    /// Best levels of the sentinel and of the valley, one point per block and time (DAC units).
    pub points: Vec<(f64, f64)>,
}

/// Correlation of the valleys of `blocks` with their sentinels over time, for every valley that is not a
/// sentinel. A level is the mean of the best levels of `wordlines` wordlines of a block. The blocks have
/// `pe_cycles` cycles and are programmed at time zero, at the temperature of `medium`.
pub fn sentinel_correlations(
    medium: &Medium,
    mode: CellMode,
    pe_cycles: u32,
    times: &[Ns],
    blocks: &[(DieId, SuperblockId)],
    wordlines: u16,
) -> Result<Vec<Correlation>, SenseError> {
    let model = medium.model(mode)?;
    let of_valley = |k: usize| {
        let page = model.page_of_valley[k];
        let sentinel = model.sentinel[page as usize] as usize - 1;
        (sentinel != k).then_some((sentinel, k, page))
    };
    let pairs: Vec<(usize, usize, u8)> = (0..mode.valleys()).filter_map(of_valley).collect();
    let mut points: Vec<Vec<(f64, f64)>> = pairs.iter().map(|_| Vec::new()).collect();
    let state = medium.programmed(mode, pe_cycles, 1, Ns::ZERO);
    let stride = (medium.geometry().wordlines_per_block / wordlines.max(1)).max(1);
    for &(die, block) in blocks {
        for &time in times {
            let mut level = [0.0; MAX_VALLEYS];
            for w in 0..wordlines {
                let at = PageAddr {
                    die,
                    block,
                    wordline: w * stride,
                    page: PageType(0),
                };
                let best = medium.ideal_offsets(at, 0, &state, time)?;
                for (sum, x) in level.iter_mut().zip(best) {
                    *sum += x / wordlines as f64;
                }
            }
            for (to, &(s, k, _)) in points.iter_mut().zip(&pairs) {
                to.push((level[s], level[k]));
            }
        }
    }
    let all = pairs.iter().zip(points);
    Ok(all
        .map(|(&(_, k, page), points)| Correlation {
            valley: k as u8 + 1,
            page,
            fit: line(&points),
            points,
        })
        .collect())
}

/// Distance of each page type's sentinel level from its best, as a function of the difference between the
/// spare-cell errors on its two sides: see [`VoltageTables::spare`]. Computed for the nominal page, as the
/// mean over all combinations of `conditions`, whose widths differ.
pub fn spare_curve(
    medium: &Medium,
    mode: CellMode,
    conditions: &FitConditions,
) -> Result<[[i8; SPARE_NODES]; MAX_PAGES], SenseError> {
    /// A difference of one is never reached, and a difference close to one says little.
    const MOST: f64 = 0.98;
    let sentinels = medium.model(mode)?.sentinel;
    let mut sum = [[0.0; SPARE_NODES]; MAX_PAGES];
    let mut n = 0.0;
    for &pe in &conditions.pe_cycles {
        for &celsius in &conditions.temperature_c {
            for &hours in &conditions.retention_h {
                let condition = medium.aged_condition(mode, pe, &[(hours, celsius)]);
                let w = medium.nominal(&condition)?;
                let best = optimum::levels_mv(&w);
                n += 1.0;
                for (row, &valley) in sum.iter_mut().zip(&sentinels[..mode.bits() as usize]) {
                    let around = w.neighbours(valley as usize);
                    let (lower, upper) = (around.lower(), around.upper());
                    let difference = |level: f64| {
                        let above = (level - lower.mean_mv) / lower.sigma_mv;
                        let below = (upper.mean_mv - level) / upper.sigma_mv;
                        medium.gaussian.tail(above) - medium.gaussian.tail(below)
                    };
                    for (i, corrections) in row.iter_mut().enumerate() {
                        let half = (SPARE_NODES / 2) as f64;
                        let wanted = (i as f64 / half - 1.0).clamp(-MOST, MOST);
                        // The difference decreases as the level rises. A millionth of a millivolt is far below a DAC step.
                        let (mut lo, mut hi) = (lower.mean_mv - 1e3, upper.mean_mv + 1e3);
                        for _ in 0..32 {
                            let mid = 0.5 * (lo + hi);
                            if difference(mid) > wanted {
                                lo = mid;
                            } else {
                                hi = mid;
                            }
                        }
                        *corrections += best[valley as usize - 1] - lo;
                    }
                }
            }
        }
    }
    let units = 1.0 / (n * medium.chip().dac_step_mv);
    Ok(sum.map(|row| row.map(|mv| libm::round(mv * units).clamp(-128.0, 127.0) as i8)))
}

/// The nominal optimum whose top valley lies `target` units from the default. Found by bisection over
/// retention time at 25 °C, and by proportion beyond the end of the path. A negative `target` is down the
/// path. Up, the first step is mirrored, because no page is younger than a fresh one.
fn on_path(medium: &Medium, mode: CellMode, target: f64) -> Result<[f64; MAX_VALLEYS], SenseError> {
    let top = mode.valleys() - 1;
    let pe = medium.chip().factory_default.pe_cycles;
    let at = |log_h: f64| medium.nominal_offsets(mode, pe, &[(libm::exp(log_h), 25.0)]);
    // From one second to a hundred thousand years.
    let (mut lo, mut hi) = (-8.0, 20.5);
    let wanted = -target.abs();
    for _ in 0..50 {
        let mid = 0.5 * (lo + hi);
        if at(mid)?[top] > wanted {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    let mut v = at(hi)?;
    let reached = v[top];
    let scale = if reached < -0.01 {
        target / reached
    } else {
        0.0
    };
    v.iter_mut().for_each(|x| *x *= scale);
    Ok(v)
}

/// The factory retry table of `mode`, and its length: as the chip's profile gives it, or by `rule`.
pub fn factory_table(
    medium: &Medium,
    mode: CellMode,
    rule: &FactoryRule,
) -> Result<([LevelOffsets; MAX_FACTORY], u8), SenseError> {
    let step = rule.step_mv / medium.chip().dac_step_mv;
    let mut table = [[0; MAX_VALLEYS]; MAX_FACTORY];
    let mut len = 1;
    if let Some(entries) = medium.chip().own_entries(mode) {
        for (to, entry) in table[1..].iter_mut().zip(entries) {
            to.iter_mut().zip(entry).for_each(|(to, from)| *to = *from);
            len += 1;
        }
        return Ok((table, len as u8));
    }
    let (mut down, mut up) = (0, 0);
    while len < MAX_FACTORY && (down < rule.down || up < rule.up) {
        let turn_up = up < rule.up
            && (down >= rule.down || down as u32 >= (up as u32 + 1) * rule.interleave as u32);
        let target = if turn_up {
            up += 1;
            up as f64 * step
        } else {
            down += 1;
            -(down as f64) * step
        };
        let units = on_path(medium, mode, target)?;
        for (o, u) in table[len].iter_mut().zip(units) {
            *o = libm::round(u).clamp(-128.0, 127.0) as i8;
        }
        len += 1;
    }
    Ok((table, len as u8))
}

/// All voltage tables of the firmware for the chip in `mode`.
pub fn voltage_tables(
    medium: &Medium,
    mode: CellMode,
    rule: &FactoryRule,
    conditions: &FitConditions,
) -> Result<VoltageTables, SenseError> {
    let model = medium.model(mode)?;
    let (factory, factory_len) = factory_table(medium, mode, rule)?;
    let mut projection = [Line::IDENTITY; MAX_VALLEYS];
    let mut curved = [Parabola::IDENTITY; MAX_VALLEYS];
    let in_fixed_point = |intercept, slope| Line {
        intercept: fixed_point(intercept),
        slope: fixed_point(slope),
    };
    for (k, points) in sentinel_points(medium, mode, conditions)?
        .iter()
        .enumerate()
    {
        let fit = line(points);
        projection[k] = in_fixed_point(fit.intercept, fit.slope);
        let [intercept, slope, square] = parabola(points);
        curved[k] = Parabola {
            line: in_fixed_point(intercept, slope),
            square: fixed_point(square),
        };
    }
    let mut sentinel = [0; MAX_PAGES];
    sentinel.copy_from_slice(&model.sentinel);
    Ok(VoltageTables {
        mode,
        page_of_valley: model.page_of_valley,
        factory,
        factory_len,
        sentinel,
        projection,
        curved,
        spare: spare_curve(medium, mode, conditions)?,
        dac_mv: libm::round(medium.chip().dac_step_mv).clamp(0.0, 255.0) as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_parabola_is_the_one_its_points_lie_on() {
        let of = |x: f64| 3.0 - 0.5 * x + 0.02 * x * x;
        let points: Vec<(f64, f64)> = (-60..20).map(|x| (x as f64, of(x as f64))).collect();
        let [intercept, slope, square] = parabola(&points);
        let off = (intercept - 3.0).abs() + (slope + 0.5).abs() + (square - 0.02).abs();
        assert!(off < 1e-9, "{intercept} {slope} {square}");
        // Two distinct points determine a line and no more.
        let two = [(1.0, 2.0), (1.0, 2.0), (3.0, 6.0)];
        let [intercept, slope, square] = parabola(&two);
        assert!(intercept.abs() < 1e-9 && (slope - 2.0).abs() < 1e-9 && square == 0.0);
    }

    use crate::reference;

    fn medium(chip: &ChipProfile) -> Medium {
        Medium::new(chip.clone(), geometry(chip, 2), 3).expect("the profile is valid")
    }

    #[test]
    fn formula_a_population_has_pages_of_16_kib() {
        let chip = reference::ct_a();
        let g = geometry(&chip, 7);
        assert_eq!((g.dies(), g.wordlines_per_block), (7, 1408));
        assert_eq!(
            (g.page_bytes, g.slots_per_page(), g.codewords_per_page()),
            (16_384, 4, 16)
        );
        let c = FitConditions::default();
        assert_eq!(c.retention_h.len(), 15);
        // Squares of 0 to 14, of which the last is 48 hours and the middle one a quarter of that.
        assert_eq!(
            (c.retention_h[0], c.retention_h[7], c.retention_h[14]),
            (0.0, 12.0, 48.0)
        );
    }

    #[test]
    fn formula_a_line_has_the_least_squares() {
        // By hand: means 1 and 2/3, products 1, squares 2 and 2/3.
        let fit = line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 1.0)]);
        let off = (fit.slope - 0.5).abs() + (fit.intercept - 1.0 / 6.0).abs();
        assert!(
            off < 1e-12 && (fit.r_squared - 0.75).abs() < 1e-12,
            "{fit:?}"
        );
        // All at one x: their mean. All at one y: a level line, with no variance to explain.
        let upright = line(&[(3.0, 1.0), (3.0, 5.0)]);
        assert_eq!(
            (upright.intercept, upright.slope, upright.r_squared),
            (3.0, 0.0, 1.0)
        );
        let level = line(&[(1.0, 4.0), (3.0, 4.0)]);
        assert_eq!(
            (level.intercept, level.slope, level.r_squared),
            (4.0, 0.0, 1.0)
        );
    }

    /// Residuals of a least-squares parabola have no sum, nor one when they are weighted by x or by its square.
    #[test]
    fn formula_a_parabola_has_the_least_squares() {
        let points = [
            (-30.0, 7.0),
            (-11.0, 2.5),
            (-4.0, -1.0),
            (0.5, 3.0),
            (6.0, 0.0),
            (19.0, 12.0),
        ];
        let [a, b, c] = parabola(&points);
        let residual = |(x, y): (f64, f64)| y - (a + b * x + c * x * x);
        for power in 0..3 {
            let sum: f64 = points.iter().map(|&p| residual(p) * p.0.powi(power)).sum();
            let scale: f64 = points
                .iter()
                .map(|&p| (residual(p) * p.0.powi(power)).abs())
                .sum();
            assert!(sum.abs() < 1e-9 * scale, "x^{power}: {sum:e} of {scale:e}");
        }
        assert!(
            points.iter().any(|&p| residual(p).abs() > 0.1),
            "no parabola fits all"
        );
    }

    #[test]
    fn formula_fixed_point_is_in_units_of_two_to_the_minus_sixteen() {
        assert_eq!([1.0, -1.5, 1e-5].map(fixed_point), [65_536, -98_304, 1]);
        assert_eq!([1e9, -1e9].map(fixed_point), [i32::MAX, i32::MIN]);
    }

    /// A sentinel is projected on itself, and each valley by what the medium says of both.
    #[test]
    fn formula_a_fit_is_over_all_combinations_of_its_conditions() {
        let chip = reference::ct_a();
        let m = medium(&chip);
        let conditions = FitConditions {
            retention_h: Vec::from([2.0, 30.0, 300.0]),
            temperature_c: Vec::from([25.0, 55.0]),
            pe_cycles: Vec::from([0, 2000]),
        };
        let all = sentinel_points(&m, CellMode::Qlc, &conditions).expect("the chip has the mode");
        let fits = sentinel_fit(&m, CellMode::Qlc, &conditions).expect("the chip has the mode");
        assert_eq!(all.len(), 15);
        let mode = &chip.modes[0];
        for (page, (valleys, &sentinel)) in mode.pages.iter().zip(&mode.sentinels).enumerate() {
            for &valley in valleys {
                let points = &all[valley as usize - 1];
                assert_eq!(points.len(), 12, "3 times, 2 temperatures and 2 wears");
                let fit = fits[valley as usize - 1];
                assert_eq!(fit, line(points));
                if valley == sentinel {
                    assert!(points.iter().all(|p| p.0 == p.1), "page {page}");
                    assert!((fit.slope - 1.0).abs() < 1e-9 && fit.intercept.abs() < 1e-9);
                }
            }
        }
        // 30 h at 55 °C after 2,000 cycles are the last but one of the last three.
        let offsets = m.nominal_offsets(CellMode::Qlc, 2000, &[(30.0, 55.0)]);
        let offsets = offsets.expect("the chip has the mode");
        assert_eq!(
            all[14][10],
            (offsets[5], offsets[14]),
            "valley 15 by sentinel 6 of its page"
        );
        assert!(sentinel_points(&m, CellMode::Tlc, &conditions).is_err());
    }

    #[test]
    fn formula_correlations_are_of_means_over_wordlines() {
        let chip = reference::ct_a();
        let m = medium(&chip);
        let times = [Ns::from_h(1), Ns::from_h(500)];
        let block = (DieId(1), SuperblockId(0));
        let all = sentinel_correlations(&m, CellMode::Qlc, 900, &times, &[block], 4);
        let all = all.expect("the chip has the mode");
        // 15 valleys, of which four are sentinels: 7, 6, 8 and 9.
        let valleys: Vec<u8> = all.iter().map(|c| c.valley).collect();
        assert_eq!(valleys, [1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]);
        let state = m.programmed(CellMode::Qlc, 900, 1, Ns::ZERO);
        for c in &all {
            let page = chip.modes[0]
                .pages
                .iter()
                .position(|p| p.contains(&c.valley));
            assert_eq!(page, Some(c.page as usize));
            assert_eq!((c.points.len(), line(&c.points)), (2, c.fit));
            let sentinel = chip.modes[0].sentinels[c.page as usize] as usize - 1;
            for (&(x, y), &time) in c.points.iter().zip(&times) {
                // Every 352nd of 1,408 wordlines.
                let mut mean = [0.0; 2];
                for w in [0, 352, 704, 1056] {
                    let at = PageAddr {
                        die: DieId(1),
                        block: SuperblockId(0),
                        wordline: w,
                        page: PageType(0),
                    };
                    let best = m
                        .ideal_offsets(at, 0, &state, time)
                        .expect("the page is there");
                    mean[0] += best[sentinel] / 4.0;
                    mean[1] += best[c.valley as usize - 1] / 4.0;
                }
                assert!(
                    (x - mean[0]).abs() < 1e-9 && (y - mean[1]).abs() < 1e-9,
                    "{c:?}"
                );
            }
        }
    }

    /// From the level that a point of the curve is for, the correction leads to the best level, to half a DAC unit.
    #[test]
    fn formula_a_spare_curve_leads_to_the_best_level() {
        let mut chip = reference::ct_a();
        chip.dac_step_mv = 2.0;
        let m = medium(&chip);
        let conditions = FitConditions {
            retention_h: Vec::from([40.0]),
            temperature_c: Vec::from([40.0]),
            pe_cycles: Vec::from([1500]),
        };
        let curve = spare_curve(&m, CellMode::Qlc, &conditions).expect("the chip has the mode");
        let condition = m.aged_condition(CellMode::Qlc, 1500, &[(40.0, 40.0)]);
        let w = m.nominal(&condition).expect("the chip has the mode");
        let best = optimum::levels_mv(&w);
        let tail = |x: f64| 0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2);
        for (page, &sentinel) in chip.modes[0].sentinels.iter().enumerate() {
            let around = w.neighbours(sentinel as usize);
            let (lower, upper) = (around.lower(), around.upper());
            let difference = |units: f64| {
                let level = best[sentinel as usize - 1] - units * 2.0;
                tail((level - lower.mean_mv) / lower.sigma_mv)
                    - tail((upper.mean_mv - level) / upper.sigma_mv)
            };
            for (i, &units) in curve[page].iter().enumerate() {
                let wanted = (i as f64 / 16.0 - 1.0).clamp(-0.98, 0.98);
                let units = f64::from(units);
                // The lower the level, the more of the lower state lie above it.
                let (less, more) = (difference(units - 0.51), difference(units + 0.51));
                assert!(
                    less <= wanted && wanted <= more,
                    "page {page}, point {i}: {less} {more}"
                );
            }
            assert!(curve[page].is_sorted() && curve[page][0] < -20 && curve[page][32] > 20);
        }
        // Several conditions: their mean.
        let two = |hours: &[f64]| {
            let conditions = FitConditions {
                retention_h: hours.into(),
                ..conditions.clone()
            };
            spare_curve(&m, CellMode::Qlc, &conditions).expect("the chip has the mode")
        };
        let (a, b, both) = (two(&[1.0]), two(&[5000.0]), two(&[1.0, 5000.0]));
        assert_ne!(a, b);
        for page in 0..4 {
            for i in 0..SPARE_NODES {
                let mean = (f64::from(a[page][i]) + f64::from(b[page][i])) / 2.0;
                assert!(
                    (f64::from(both[page][i]) - mean).abs() <= 1.0,
                    "page {page}, point {i}"
                );
            }
        }
    }

    /// The top valley of each entry, in the order of the rule, on a DAC of 5 mV.
    #[test]
    fn sequence_entries_up_stand_between_entries_down() {
        let m = medium(&reference::ct_a());
        let tops = |step_mv: f64, down: u8, up: u8, interleave: u8| -> Vec<i8> {
            let rule = FactoryRule {
                step_mv,
                down,
                up,
                interleave,
            };
            let (table, len) = factory_table(&m, CellMode::Qlc, &rule).expect("the chip has it");
            assert!(table[len as usize..].iter().all(|e| *e == [0; MAX_VALLEYS]));
            table[..len as usize].iter().map(|e| e[14]).collect()
        };
        assert_eq!(tops(10.0, 6, 2, 2), [0, -2, -4, 2, -6, -8, 4, -10, -12]);
        assert_eq!(tops(15.0, 4, 4, 1), [0, -3, 3, -6, 6, -9, 9, -12, 12]);
        assert_eq!(tops(10.0, 1, 3, 8), [0, -2, 2, 4, 6], "down is at its end");
        assert_eq!(tops(10.0, 3, 0, 1), [0, -2, -4, -6]);
        assert_eq!(tops(10.0, 0, 2, 1), [0, 2, 4]);
        let most = tops(5.0, 64, 64, 64);
        assert_eq!(
            (most.len(), most[63]),
            (MAX_FACTORY, -63),
            "no more than there is room for"
        );
        assert_eq!(
            tops(400.0, 2, 0, 1),
            [0, -80, -128],
            "as far as the DAC reaches"
        );
    }

    /// Entries are on the path of retention: each valley takes the share that the law gives to its two states. Up, the
    /// path is mirrored.
    #[test]
    fn formula_entries_lie_on_the_path_of_retention() {
        let m = medium(&reference::ct_a());
        for target in [-12.0, -30.0] {
            let down = on_path(&m, CellMode::Qlc, target).expect("the chip has the mode");
            let up = on_path(&m, CellMode::Qlc, -target).expect("the chip has the mode");
            assert!((down[14] - target).abs() < 1e-6, "{}", down[14]);
            for k in 0..15 {
                assert!((down[k] + up[k]).abs() < 1e-9, "valley {}", k + 1);
            }
            // The share of state s is 0.3 + 0.7 s / 15; valley 15 is between states 14 and 15. The lowest valley is next
            // to the erased state, which is wide.
            for (k, &down) in down.iter().enumerate().skip(1) {
                let share = |s: f64| 0.3 + 0.7 * s / 15.0;
                let of = |k: f64| 0.5 * (share(k) + share(k + 1.0));
                let expected = target * of(k as f64) / of(14.0);
                assert!(
                    (down - expected).abs() < 0.1,
                    "valley {}: {} {expected}",
                    k + 1,
                    down
                );
            }
        }
        // Beyond the end of the path, in proportion: 28 mV a decade do not lead this far.
        let (far, further) = (
            on_path(&m, CellMode::Qlc, -60.0).expect("the chip has the mode"),
            on_path(&m, CellMode::Qlc, -120.0).expect("the chip has the mode"),
        );
        for k in 0..15 {
            assert!((further[k] - 2.0 * far[k]).abs() < 1e-9, "valley {}", k + 1);
        }
        // A chip that loses nothing has no path.
        let mut chip = reference::ct_a();
        chip.modes[0].retention_mv_per_decade = Vec::from([0.0]);
        let none = on_path(&medium(&chip), CellMode::Qlc, -10.0);
        assert_eq!(none, Ok([0.0; MAX_VALLEYS]));
    }

    #[test]
    fn formula_voltage_tables_are_made_of_their_parts() {
        let chip = reference::ct_t1();
        let m = medium(&chip);
        let conditions = FitConditions::default();
        let t = voltage_tables(&m, CellMode::Tlc, &FactoryRule::DEFAULT, &conditions);
        let t = t.expect("the chip has the mode");
        assert_eq!(
            (t.mode, t.dac_mv, t.sentinel),
            (CellMode::Tlc, 5, [5, 4, 3, 0])
        );
        assert_eq!(t.page_of_valley[..7], [0, 1, 2, 1, 0, 1, 2]);
        let table = factory_table(&m, CellMode::Tlc, &FactoryRule::DEFAULT);
        assert_eq!(table, Ok((t.factory, t.factory_len)));
        assert_eq!(spare_curve(&m, CellMode::Tlc, &conditions), Ok(t.spare));
        let fits = sentinel_fit(&m, CellMode::Tlc, &conditions).expect("the chip has the mode");
        for (k, fit) in fits.iter().enumerate().take(7) {
            let line = t.projection[k];
            assert!((f64::from(line.slope) / 65_536.0 - fit.slope).abs() < 1e-5);
            assert!((f64::from(line.intercept) / 65_536.0 - fit.intercept).abs() < 1e-5);
            // A sentinel is itself, and a valley by its parabola lies no further from the points than by its line.
            if t.sentinel.contains(&(k as u8 + 1)) {
                assert_eq!((line, t.curved[k].square), (Line::IDENTITY, 0));
            }
        }
        let points = sentinel_points(&m, CellMode::Tlc, &conditions).expect("the chip has it");
        for (k, points) in points.iter().enumerate() {
            let errors = |of: &dyn Fn(f64) -> f64| -> f64 {
                points.iter().map(|&(x, y)| (of(x) - y) * (of(x) - y)).sum()
            };
            let fixed = |x: i32| f64::from(x) / 65_536.0;
            let (l, c) = (t.projection[k], t.curved[k]);
            let straight = errors(&|x| fixed(l.intercept) + fixed(l.slope) * x);
            let curved = errors(&|x| {
                fixed(c.line.intercept) + fixed(c.line.slope) * x + fixed(c.square) * x * x
            });
            assert!(
                curved <= straight + 5e-3,
                "valley {}: {curved} {straight}",
                k + 1
            );
        }
        assert_eq!(t.projection[7..], [Line::IDENTITY; 8]);
    }
}
