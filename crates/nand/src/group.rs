//! The best read levels for a group of superblocks. As an oracle it lies between a page's own valleys and any
//! table that a firmware can keep.

use alloc::vec::Vec;

use firstread_core::{CellMode, DieId, LevelOffsets, Ns, PageAddr, PageType, Stream, SuperblockId};

use crate::cell::model::{BlockState, StateDistribution, Wordline};
use crate::cell::optimum::crossing;
use crate::medium::Medium;
use crate::poisson;
use crate::sense_error::SenseError;

/// Maximum number of rounds of coordinate descent; it converges after three or four.
const ROUNDS: usize = 12;

/// The two states of each valley of one sampled page.
struct Sample {
    states: [[StateDistribution; 2]; 15],
    /// Error share of each valley at the current offsets.
    share: [f64; 15],
}

impl Medium {
    /// The offsets with which the fewest codewords exceed `weight_limit` errors, over the pages of `members`
    /// at `now`. Members in another cell mode than `mode` are ignored. Without members the result is the
    /// default.
    ///
    /// The pages are `samples` wordlines, stratified over members, layers, dies and planes. The search starts
    /// at the optimum of the mean error rate. It moves each valley in DAC units while the failure probability
    /// of a codeword falls, page type by page type. For tables and oracles, not for the path of a request.
    pub fn group_optimum(
        &self,
        members: &[(SuperblockId, BlockState)],
        now: Ns,
        mode: CellMode,
        weight_limit: u16,
        samples: u32,
    ) -> Result<LevelOffsets, SenseError> {
        let model = self.model(mode)?;
        let members: Vec<&(SuperblockId, BlockState)> =
            members.iter().filter(|m| m.1.mode == mode).collect();
        let mut offsets = [0; 15];
        if members.is_empty() || samples == 0 {
            return Ok(offsets);
        }
        let mut pages = Vec::with_capacity(samples as usize);
        for i in 0..samples {
            let (at, plane, state) = self.stratum(&members, i, samples);
            let condition = self.condition(state, now);
            let w = self.member(at, plane, &condition)?;
            let mut sample = Sample {
                states: [[StateDistribution::default(); 2]; 15],
                share: [0.0; 15],
            };
            for v in 0..mode.valleys() {
                let around = w.neighbours(v + 1);
                sample.states[v] = [around.lower(), around.upper()];
            }
            pages.push(sample);
        }
        let nominal = self.member_mean(&pages, mode);
        for v in 0..mode.valleys() {
            let units = (nominal[v] - model.default_mv[v]) / self.chip().dac_step_mv;
            offsets[v] = libm::round(units).clamp(-128.0, 127.0) as i8;
        }
        let condition = self.condition(&members[0].1, now);
        let probe = self.nominal(&condition)?;
        for page in 0..mode.bits() {
            self.descend(
                &probe,
                PageType(page),
                &mut pages,
                &mut offsets,
                weight_limit,
            );
        }
        Ok(offsets)
    }

    /// The page of sample `i` of `n`.
    fn stratum<'m>(
        &self,
        members: &[&'m (SuperblockId, BlockState)],
        i: u32,
        n: u32,
    ) -> (PageAddr, u8, &'m BlockState) {
        let g = self.geometry();
        let (block, state) = members[i as usize % members.len()];
        let draw = Stream::new(0).named("group sample").at(i as u64);
        // Layers in equal strata, combined with random members, dies and planes.
        let written = state.written_wordlines.clamp(1, g.wordlines_per_block) as u64;
        let at = PageAddr {
            die: DieId(draw.at(0).below(g.dies().max(1) as u64) as u16),
            block: *block,
            wordline: (i as u64 * written / n as u64) as u16,
            page: PageType(0),
        };
        (at, draw.at(1).below(g.planes as u64) as u8, state)
    }

    /// Crossings of the mean states of the sampled pages (mV).
    fn member_mean(&self, pages: &[Sample], mode: CellMode) -> [f64; 15] {
        let mut out = [0.0; 15];
        for (v, o) in out.iter_mut().enumerate().take(mode.valleys()) {
            let mean = |side: usize| {
                let n = pages.len() as f64;
                let (mut m, mut s) = (0.0, 0.0);
                for p in pages {
                    m += p.states[v][side].mean_mv;
                    s += p.states[v][side].sigma_mv;
                }
                StateDistribution {
                    mean_mv: m / n,
                    sigma_mv: s / n,
                }
            };
            *o = crossing(mean(0), mean(1), &self.chip().variation);
        }
        out
    }

    /// Coordinate descent over the valleys of one page type.
    fn descend(
        &self,
        probe: &Wordline<'_>,
        page: PageType,
        pages: &mut [Sample],
        offsets: &mut LevelOffsets,
        weight_limit: u16,
    ) {
        let model = probe.model;
        let valleys = model.valleys(page);
        let level =
            |v: usize, units: i8| model.default_mv[v] + units as f64 * self.chip().dac_step_mv;
        let states = 1.0 / model.mode.states() as f64;
        for p in pages.iter_mut() {
            for &v in valleys {
                let v = v as usize - 1;
                p.share[v] = states * self.valley_tails(&p.states[v], level(v, offsets[v]));
            }
        }
        let bits = self.codeword_bits() as f64;
        // Failures with valley `v` at `units`. With `keep` its error shares stay stored.
        let mut cost = |v: usize, units: i8, keep: bool| {
            let mut sum = 0.0;
            for p in pages.iter_mut() {
                let share = states * self.valley_tails(&p.states[v], level(v, units));
                let others: f64 = valleys
                    .iter()
                    .map(|&k| k as usize - 1)
                    .filter(|&k| k != v)
                    .map(|k| p.share[k])
                    .sum();
                sum +=
                    poisson::exceeds(&self.gaussian, bits * (others + share), weight_limit as u32);
                if keep {
                    p.share[v] = share;
                }
            }
            sum
        };
        for _ in 0..ROUNDS {
            let mut moved = false;
            for &v in valleys {
                let v = v as usize - 1;
                let mut best = cost(v, offsets[v], true);
                for direction in [-1i8, 1] {
                    while let Some(next) = offsets[v].checked_add(direction) {
                        let c = cost(v, next, false);
                        // Must be strictly better, so that ties and flat zeros end the search.
                        if c >= best {
                            break;
                        }
                        (best, offsets[v], moved) = (c, next, true);
                    }
                }
                cost(v, offsets[v], true);
            }
            if !moved {
                break;
            }
        }
    }

    /// Tails of two states beyond the level between them.
    fn valley_tails(&self, states: &[StateDistribution; 2], level: f64) -> f64 {
        let (g, v) = (&self.gaussian, &self.chip().variation);
        let tail = |x: f64| {
            let q = g.tail(x);
            if v.tail_fraction > 0.0 {
                (1.0 - v.tail_fraction) * q + v.tail_fraction * g.tail(x / v.tail_sigma_ratio)
            } else {
                q
            }
        };
        tail((level - states[0].mean_mv) / states[0].sigma_mv)
            + tail((states[1].mean_mv - level) / states[1].sigma_mv)
    }
}
