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

    /// Number of cells.
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
