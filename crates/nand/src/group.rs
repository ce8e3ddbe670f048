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
        // Only the mode's model is taken from it, so the condition of any member will do.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characterize::geometry;
    use crate::gaussian::tail_exact;
    use crate::reference;

    fn medium() -> Medium {
        let chip = reference::ct_a();
        let mut geometry = geometry(&chip, 4);
        geometry.planes = 3;
        geometry.blocks_per_plane = 8;
        Medium::new(chip, geometry, 3).expect("the profile is valid")
    }

    /// Sampled wordlines are spread over the written part of a block, members in turn, on all dies and planes.
    #[test]
    fn formula_samples_are_spread_over_members_and_wordlines() {
        let m = medium();
        let b = m.programmed(CellMode::Qlc, 100, 1, Ns::ZERO);
        let open = BlockState {
            written_wordlines: 141,
            ..b
        };
        let members = [(SuperblockId(2), b), (SuperblockId(5), open)];
        let members: Vec<&(SuperblockId, BlockState)> = members.iter().collect();
        let (mut dies, mut planes) = ([0; 4], [0; 3]);
        for i in 0..200 {
            let (at, plane, state) = m.stratum(&members, i, 200);
            let (block, written) = if i % 2 == 0 { (2, 1408) } else { (5, 141) };
            assert_eq!(
                (at.block, state.written_wordlines),
                (SuperblockId(block), written)
            );
            assert_eq!(
                u32::from(at.wordline),
                i * u32::from(written) / 200,
                "sample {i}"
            );
            dies[at.die.0 as usize] += 1;
            planes[plane as usize] += 1;
        }
        assert!(
            dies.iter().all(|&n| n > 25) && planes.iter().all(|&n| n > 40),
            "{dies:?} {planes:?}"
        );
    }

    #[test]
    fn formula_tails_of_a_valley_are_those_of_its_two_states() {
        let state = |mean_mv, sigma_mv| StateDistribution { mean_mv, sigma_mv };
        let states = [state(100.0, 40.0), state(350.0, 50.0)];
        let m = medium();
        let expected = tail_exact(3.0) + tail_exact(2.6);
        assert!((m.valley_tails(&states, 220.0) / expected - 1.0).abs() < 1e-5);
        let mut chip = reference::ct_a();
        chip.variation.tail_fraction = 0.1;
        chip.variation.tail_sigma_ratio = 2.0;
        let geometry = geometry(&chip, 1);
        let m = Medium::new(chip, geometry, 3).expect("the profile is valid");
        let wide = tail_exact(1.5) + tail_exact(1.3);
        let expected = 0.9 * expected + 0.1 * wide;
        assert!((m.valley_tails(&states, 220.0) / expected - 1.0).abs() < 1e-5);
    }

    #[test]
    fn formula_the_mean_member_has_the_mean_of_states() {
        let m = medium();
        let sample = |mean_mv: f64, sigma_mv: f64| Sample {
            states: [[
                StateDistribution { mean_mv, sigma_mv },
                StateDistribution {
                    mean_mv: mean_mv + 200.0,
                    sigma_mv,
                },
            ]; 15],
            share: [0.0; 15],
        };
        let levels = m.member_mean(
            &[sample(0.0, 30.0), sample(60.0, 50.0), sample(30.0, 40.0)],
            CellMode::Qlc,
        );
        for level in levels {
            assert!(
                (level - 130.0).abs() < 1e-9,
                "{level}: halfway between 30 and 230"
            );
        }
    }

    /// No single valley of the result can move by a DAC unit and have fewer failures, by sums over the same samples.
    #[test]
    fn formula_the_search_ends_where_no_step_is_better() {
        let mut m = medium();
        m.set_temperature(Ns::ZERO, 55.0)
            .expect("the temperature is valid");
        let b = m.programmed(CellMode::Qlc, 2500, 1, Ns::ZERO);
        let tlc = BlockState {
            mode: CellMode::Tlc,
            ..b
        };
        let (now, n, limit) = (Ns::from_h(28), 48, 72);
        let members = [
            (SuperblockId(0), b),
            (SuperblockId(3), tlc),
            (SuperblockId(4), b),
        ];
        let found = m.group_optimum(&members, now, CellMode::Qlc, limit, n);
        let found = found.expect("the chip has the mode");
        // A member in another mode is not looked at.
        let alone = m.group_optimum(&[members[0], members[2]], now, CellMode::Qlc, limit, n);
        assert_eq!(alone, Ok(found));
        assert_eq!(
            m.group_optimum(&members, now, CellMode::Qlc, limit, 0),
            Ok([0; 15])
        );
        let kept = [&members[0], &members[2]];
        let model = m.model(CellMode::Qlc).expect("the chip has the mode");
        let condition = m.condition(&b, now);
        let wordlines: Vec<[StateDistribution; 16]> = (0..n)
            .map(|i| {
                let (at, plane, _) = m.stratum(&kept, i, n);
                m.member(at, plane, &condition)
                    .expect("the page is there")
                    .states()
            })
            .collect();
        let failures = |page: usize, offsets: &LevelOffsets| -> f64 {
            let each = wordlines.iter().map(|states| {
                let share: f64 = m.chip().modes[0].pages[page]
                    .iter()
                    .map(|&v| {
                        let k = v as usize - 1;
                        let level = model.default_mv[k] + 5.0 * f64::from(offsets[k]);
                        m.valley_tails(&[states[k], states[k + 1]], level) / 16.0
                    })
                    .sum();
                poisson::exceeds(&m.gaussian, 9216.0 * share, 72)
            });
            each.sum()
        };
        for (page, valleys) in m.chip().modes[0].pages.iter().enumerate() {
            let least = failures(page, &found);
            assert!(least > 0.0, "page {page}");
            for &v in valleys {
                for step in [-1, 1] {
                    let mut other = found;
                    other[v as usize - 1] += step;
                    let failures = failures(page, &other);
                    assert!(
                        failures >= least * (1.0 - 1e-9),
                        "page {page}, valley {v}: {failures} {least}"
                    );
                }
            }
        }
    }
}
