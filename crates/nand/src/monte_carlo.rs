//! Every cell of a wordline, drawn individually: the reference for the medium's arithmetic, and the source of
//! displayed histograms.

use alloc::vec::Vec;

use firstread_core::{CellMode, PageType, Stream};

use crate::cell::levels::LevelsMv;
use crate::cell::model::StateDistribution;
use crate::gaussian::Gaussian;
use crate::profile::gray;

/// The cells of one wordline of one plane.
#[derive(Clone, Debug)]
pub struct Cells {
    mode: CellMode,
    words: [u8; 16],
    state: Vec<u8>,
    /// Threshold voltage without the noise of a sense (mV).
    threshold_mv: Vec<f32>,
    noise_mv: f64,
}

impl Cells {
    /// Draws `cells` cells with random data from `states`. The part `noise_mv` of each standard deviation is
    /// left to the senses.
    pub fn draw(
        gaussian: &Gaussian,
        mode: CellMode,
        pages: &[Vec<u8>],
        states: &[StateDistribution; 16],
        noise_mv: f64,
        cells: usize,
        key: Stream,
    ) -> Cells {
        let persistent: Vec<(f64, f64)> = states
            .iter()
            .map(|d| {
                let v = d.sigma_mv * d.sigma_mv - noise_mv * noise_mv;
                (d.mean_mv, libm::sqrt(v.max(0.0)))
            })
            .collect();
        let mut state = Vec::with_capacity(cells);
        let mut threshold_mv = Vec::with_capacity(cells);
        let (data, place) = (key.named("state"), key.named("threshold"));
        for i in 0..cells as u64 {
            let s = (data.draw(i >> 4) >> (4 * (i & 15)) & 15) as u8 & (mode.states() as u8 - 1);
            let (mean, sigma) = persistent[s as usize];
            state.push(s);
            threshold_mv.push((mean + sigma * gaussian.of_bits(place.draw(i))) as f32);
        }
        Cells {
            mode,
            words: gray::words(mode, pages),
            state,
            threshold_mv,
            noise_mv,
        }
    }

    /// Cells that were drawn.
    pub fn len(&self) -> usize {
        self.state.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// The state in which a sense at `levels` sees each cell. The sense noise is drawn from `sense`.
    fn seen<'a>(
        &'a self,
        gaussian: &'a Gaussian,
        levels: &'a LevelsMv,
        sense: Stream,
    ) -> impl Iterator<Item = (u8, u8)> + 'a {
        let valleys = self.mode.valleys();
        self.state
            .iter()
            .zip(&self.threshold_mv)
            .enumerate()
            .map(move |(i, (&s, &v))| {
                let noise = self.noise_mv * gaussian.of_bits(sense.draw(i as u64));
                let v = v as f64 + noise;
                (s, levels[..valleys].iter().map(|&l| (v >= l) as u8).sum())
            })
    }

    /// Raw bit errors of each codeword of `codeword_bits` of page `page`.
    pub fn errors(
        &self,
        gaussian: &Gaussian,
        page: PageType,
        levels: &LevelsMv,
        codeword_bits: usize,
        sense: Stream,
    ) -> Vec<u32> {
        let mut out = alloc::vec![0; self.len() / codeword_bits];
        for (i, (s, seen)) in self.seen(gaussian, levels, sense).enumerate() {
            let wrong = (self.words[s as usize] ^ self.words[seen as usize]) >> page.0 & 1;
            if let Some(n) = out.get_mut(i / codeword_bits) {
                *n += wrong as u32;
            }
        }
        out
    }

    /// The cells that a sense of page `page` reads wrongly, one bit per cell, in words of 64.
    pub fn wrong(
        &self,
        gaussian: &Gaussian,
        page: PageType,
        levels: &LevelsMv,
        sense: Stream,
    ) -> Vec<u64> {
        let mut out = alloc::vec![0; self.len().div_ceil(64)];
        for (i, (s, seen)) in self.seen(gaussian, levels, sense).enumerate() {
            let wrong = (self.words[s as usize] ^ self.words[seen as usize]) >> page.0 & 1;
            out[i / 64] |= u64::from(wrong) << (i % 64);
        }
        out
    }

    /// Number of cells that conduct at `level_mv`.
    pub fn ones_count(&self, gaussian: &Gaussian, level_mv: f64, sense: Stream) -> u32 {
        self.threshold_mv
            .iter()
            .enumerate()
            .filter(|&(i, &v)| {
                let noise = self.noise_mv * gaussian.of_bits(sense.draw(i as u64));
                v as f64 + noise < level_mv
            })
            .count() as u32
    }

    /// One codeword of a soft sense of page `page`, as `(errors, bits)` per reliability class. The levels are
    /// `spacing_mv` apart, `reach` of them on each side.
    pub fn soft(
        &self,
        page_valleys: &[u8],
        levels: &LevelsMv,
        spacing_mv: f64,
        reach: usize,
        codeword: core::ops::Range<usize>,
    ) -> ([u32; 3], [u32; 3]) {
        let (mut errors, mut bits) = ([0; 3], [0; 3]);
        for i in codeword {
            let v = self.threshold_mv[i] as f64;
            let s = self.state[i];
            let (mut wrong, mut nearest) = (false, f64::INFINITY);
            for &k in page_valleys {
                let l = levels[k as usize - 1];
                wrong ^= (v >= l) != (s >= k);
                nearest = nearest.min((v - l).abs());
            }
            // Cells within one spacing of a level are in class `reach`; cells beyond all levels are in class
            // 0.
            let class = reach.saturating_sub((nearest / spacing_mv) as usize);
            errors[class] += wrong as u32;
            bits[class] += 1;
        }
        (errors, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [&[u8]; 2] = [&[2], &[1, 3]];

    /// MLC states without any width, 100 mV apart: what a level sees follows from the states alone.
    fn cells(noise_mv: f64) -> (Gaussian, Cells) {
        let mut states = [StateDistribution::default(); 16];
        for (s, d) in states.iter_mut().enumerate() {
            *d = StateDistribution {
                mean_mv: 100.0 * s as f64,
                sigma_mv: noise_mv,
            };
        }
        let g = Gaussian::new();
        let pages = PAGES.map(|p| p.to_vec());
        let key = Stream::new(2);
        let cells = Cells::draw(&g, CellMode::Mlc, &pages, &states, noise_mv, 4000, key);
        (g, cells)
    }

    fn levels(at: [f64; 3]) -> LevelsMv {
        let mut levels = [0.0; 15];
        levels[..3].copy_from_slice(&at);
        levels
    }

    #[test]
    fn formula_cells_without_width_are_seen_where_they_are() {
        let (g, c) = cells(0.0);
        assert_eq!((c.len(), c.is_empty()), (4000, false));
        let of = |state: u8| c.state.iter().filter(|s| **s == state).count() as u32;
        let counts = [of(0), of(1), of(2), of(3)];
        assert_eq!(counts.iter().sum::<u32>(), 4000);
        assert!(counts.iter().all(|n| n.abs_diff(1000) < 150), "{counts:?}");
        let sense = Stream::new(9);
        for (threshold, state) in c.threshold_mv.iter().zip(&c.state) {
            assert_eq!(*threshold, 100.0 * f32::from(*state));
        }
        for (level, conduct) in [(-1.0, 0), (50.0, 1), (150.0, 2), (250.0, 3), (350.0, 4)] {
            let expected: u32 = counts[..conduct].iter().sum();
            assert_eq!(c.ones_count(&g, level, sense), expected, "{level}");
        }
        // Levels in the middle see all; the upper one too high sees state 3 as state 2, which is wrong in the MSB alone; the
        // middle one too low sees state 1 as state 2, which is wrong in the LSB, and, with it the other two, nothing.
        for (at, lsb, msb) in [
            ([50.0, 150.0, 250.0], None, None),
            ([50.0, 150.0, 350.0], None, Some(3)),
            ([50.0, 90.0, 250.0], Some(1), None),
            ([-50.0, 150.0, 250.0], None, Some(0)),
        ] {
            for (page, state) in [(0, lsb), (1, msb)] {
                let wrong = c.wrong(&g, PageType(page), &levels(at), sense);
                assert_eq!(wrong.len(), 63, "a bit a cell");
                for (i, s) in c.state.iter().enumerate() {
                    let bit = wrong[i / 64] >> (i % 64) & 1;
                    assert_eq!(bit == 1, Some(*s) == state, "{at:?} {page} {i}");
                }
                let errors = c.errors(&g, PageType(page), &levels(at), 900, sense);
                assert_eq!(errors.len(), 4, "whole codewords");
                for (codeword, n) in errors.into_iter().enumerate() {
                    let states = &c.state[codeword * 900..][..900];
                    let expected = states.iter().filter(|s| Some(**s) == state).count();
                    assert_eq!(n, expected as u32, "{at:?} {page} {codeword}");
                }
            }
        }
        assert!(
            cells(0.0).1.state == c.state,
            "the same key, the same cells"
        );
    }

    /// All width is noise of the sense: half of a state's cells lie on either side of a level at its mean, others each time.
    #[test]
    fn formula_noise_is_drawn_again_in_each_sense() {
        let (g, c) = cells(10.0);
        let below = c.state.iter().filter(|s| **s < 2).count() as f64;
        let at = c.state.iter().filter(|s| **s == 2).count() as f64;
        let count = |sense| f64::from(c.ones_count(&g, 200.0, Stream::new(sense)));
        let (a, b) = (count(1), count(2));
        for n in [a, b] {
            assert!(
                (n - below - 0.5 * at).abs() < 4.0 * libm::sqrt(at / 4.0),
                "{n}"
            );
        }
        assert!(a != b && a == count(1));
        let wrong = |sense| {
            c.wrong(
                &g,
                PageType(1),
                &levels([50.0, 150.0, 300.0]),
                Stream::new(sense),
            )
        };
        let ones = |w: &[u64]| w.iter().map(|w| w.count_ones()).sum::<u32>();
        let (a, b) = (wrong(1), wrong(2));
        let both: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
        let top = c.state.iter().filter(|s| **s == 3).count() as f64;
        for (is, share) in [(ones(&a), 0.5), (ones(&b), 0.5), (ones(&both), 0.25)] {
            assert!(
                (f64::from(is) / top - share).abs() < 0.06,
                "{is} of {top}: {share}"
            );
        }
    }

    /// A cell one spacing from a level and less is in the least reliable class.
    #[test]
    fn formula_classes_of_a_soft_sense_are_distances_to_the_nearest_level() {
        let (_, c) = cells(0.0);
        let of = |state: u8| c.state[..900].iter().filter(|s| **s == state).count() as u32;
        // Of the MSB: levels 30 mV above state 0 and 20 mV below state 3, so that state 0 is two spacings of 12 mV off,
        // state 3 one; states 1 and 2 lie beyond all levels.
        let at = levels([30.0, 150.0, 280.0]);
        let (errors, bits) = c.soft(&[1, 3], &at, 12.0, 2, 0..900);
        assert_eq!(errors, [0, 0, 0]);
        assert_eq!(bits, [of(0) + of(1) + of(2), of(3), 0]);
        // 5 mV above state 3: it is wrong, and near; state 2 is far off.
        let (errors, bits) = c.soft(&[1, 3], &levels([30.0, 150.0, 305.0]), 12.0, 2, 0..900);
        assert_eq!(errors, [0, 0, of(3)]);
        assert_eq!(bits, [of(0) + of(1) + of(2), 0, of(3)]);
    }
}
