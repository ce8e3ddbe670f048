//! Retries of drives whose cells are known by their retries alone: RARO's formula (Wang et al., Eqs. 2 and 3), a fixed
//! number, or one for each stage of wear.
//!
//! The first read of a page finds `load * 8192` wrong bits a KiB, and each entry of the factory's retry table leaves
//! 0.8 of what the entry before it has left (the paper's delta of 20 %). A read fails while more than 72 are left.
//! The paper gives no coefficients. Those here are fitted to its Fig. 6, for `c` P/E cycles of a QLC page:
//!
//! ```text
//! load = 0.00896 + 0.088 (c / 1000)^5.16 + 0.179 (c / 1000)^1.19 u,    u ~ Beta(1.77, 1.58), one draw a page
//! ```
//!
//! The fit is of fixed wear: the time since the program, reads and temperature are not in it. Its last data are of
//! 1,000 P/E cycles; beyond that it is extrapolated. Other modes, about which the paper says little: [`RetryFormula::worn`].

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::CellMode;
use firstread_core::voltage::MAX_FACTORY;

/// Most wrong bits that are corrected in a KiB (RARO: `E_LDPC`).
const CORRECTABLE_BITS: f32 = 72.0;
/// What an entry of the retry table leaves of the wrong bits before it (RARO: one less delta).
const LEFT: f64 = 0.8;
/// Bits in a KiB.
const KIB_BITS: f64 = 8192.0;

/// Parameters of the distribution of `u`.
const ALPHA: f64 = 1.77;
const BETA: f64 = 1.58;

/// The load of a TLC page, in millionths of that of a QLC page of the same wear, where a drive has no other. Assumed: the
/// largest share with which no page needs a second retry at 1,000 P/E cycles (RARO, section V-C: "does not exceed 1").
pub const TLC_SHARE_MILLIONTHS: u32 = 39_800;
/// Most wrong bits a KiB that the first read of a TLC page finds: 0.8 of it are corrected.
const TLC_MOST_BITS: f64 = 89.9;

/// Wrong bits a KiB in the last read of a page with a given number of retries: 0.8 of the most that fail, and a little.
const FIXED_LAST_BITS: f64 = 64.8;

/// Intervals of the table of quantiles. Between its nodes they are interpolated.
const INTERVAL_BITS: u32 = 10;
const INTERVALS: usize = 1 << INTERVAL_BITS;
/// Steps of the integral that it is made from.
const STEPS: usize = 8192;

/// Which reads of a page fail, as a formula says.
#[derive(Clone, Debug)]
pub struct RetryFormula {
    law: Law,
    /// Share of the wrong bits of the first read that each entry leaves.
    left: Box<[f32; MAX_FACTORY]>,
}

#[derive(Clone, Debug)]
enum Law {
    /// The fit. Holds quantiles of `u`, and the load of a TLC page as a share of that of a QLC page.
    Raro(Box<[f32]>, f64),
    /// Every page of this mode needs the retries of the stage that its block's wear is in, and the others none.
    Stages(CellMode, Box<[Stage]>),
}

/// Wear from which every page needs the same number of retries, up to the next stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage {
    /// P/E cycles of its least worn blocks.
    pub from_pe_cycles: u32,
    /// Retries of every read.
    pub retries: u8,
}

/// Wrong bits that the first read of a page finds, for pages of the same mode and wear.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Worn {
    /// On the best page (a KiB).
    least_bits: f32,
    /// What the worst page has more (a KiB).
    spread_bits: f32,
    /// Most of any page (a KiB).
    most_bits: f32,
}

impl Worn {
    /// Pages without wrong bits.
    const NONE: Worn = Worn {
        least_bits: 0.0,
        spread_bits: 0.0,
        most_bits: 0.0,
    };
}

impl RetryFormula {
    /// The formula of RARO, with the load of a TLC page in millionths of that of a QLC page.
    pub fn raro(tlc_share_millionths: u32) -> RetryFormula {
        let tlc_share = f64::from(tlc_share_millionths) / 1e6;
        RetryFormula::of(Law::Raro(quantiles(), tlc_share))
    }

    /// Every read of a page in `mode` needs `retries` retries, and of other pages none.
    pub fn fixed(mode: CellMode, retries: u8) -> RetryFormula {
        let from_new = Stage {
            from_pe_cycles: 0,
            retries,
        };
        RetryFormula::stages(mode, &[from_new])
    }

    /// Every read of a page in `mode` needs the retries of the last of `stages` that the wear of its block has reached, and
    /// none where it has reached none. Other pages need none. Stages stand in the order of their wear.
    pub fn stages(mode: CellMode, stages: &[Stage]) -> RetryFormula {
        RetryFormula::of(Law::Stages(mode, stages.into()))
    }

    fn of(law: Law) -> RetryFormula {
        let mut left = Box::new([1.0; MAX_FACTORY]);
        let mut share = 1.0;
        for entry in left.iter_mut() {
            *entry = share as f32;
            share *= LEFT;
        }
        RetryFormula { law, left }
    }

    /// Pages in `mode` of blocks with `pe_cycles`.
    ///
    /// The paper has no distribution for TLC pages. It says that they need one retry at most. Their load is a fixed share
    /// of a QLC page's, by default the largest that agrees with this at 1,000 P/E cycles, and is limited to one retry beyond. So no
    /// TLC page is retried up to 900 P/E cycles; then the share of those that need one retry grows, to 29 % at 1,000. The paper
    /// has no retries of SLC pages, and no MLC pages: they need none.
    pub fn worn(&self, mode: CellMode, pe_cycles: u32) -> Worn {
        match &self.law {
            Law::Raro(_, tlc_share) => {
                let kilocycles = f64::from(pe_cycles) / 1000.0;
                let least = 0.00896 + 0.088 * libm::pow(kilocycles, 5.16);
                let spread = 0.179 * libm::pow(kilocycles, 1.19);
                let (share, most_bits) = match mode {
                    CellMode::Qlc => (1.0, f32::INFINITY),
                    CellMode::Tlc => (*tlc_share, TLC_MOST_BITS as f32),
                    CellMode::Slc | CellMode::Mlc => return Worn::NONE,
                };
                Worn {
                    least_bits: (share * KIB_BITS * least) as f32,
                    spread_bits: (share * KIB_BITS * spread) as f32,
                    most_bits,
                }
            }
            Law::Stages(of, _) if *of != mode => Worn::NONE,
            Law::Stages(_, stages) => {
                let reached = |stage: &&Stage| stage.from_pe_cycles <= pe_cycles;
                let stage = stages.iter().rev().find(reached);
                let retries = stage.map_or(0, |stage| stage.retries);
                Worn {
                    least_bits: (FIXED_LAST_BITS * libm::pow(LEFT, -f64::from(retries))) as f32,
                    spread_bits: 0.0,
                    most_bits: f32::INFINITY,
                }
            }
        }
    }

    /// Wrong bits a KiB that entry `entry` of the factory's table leaves in a page, whose 64 uniform bits are `draw`.
    #[inline]
    pub fn wrong_bits(&self, worn: &Worn, draw: u64, entry: u8) -> f32 {
        let quantile = match &self.law {
            Law::Raro(quantiles, _) => interpolated(quantiles, draw),
            Law::Stages(..) => 0.0,
        };
        let first = worn.least_bits + worn.spread_bits * quantile;
        first.min(worn.most_bits) * self.left[entry as usize]
    }

    /// Whether a decoder corrects so many wrong bits a KiB.
    #[inline]
    pub fn is_corrected(bits: f32) -> bool {
        bits <= CORRECTABLE_BITS
    }

    /// Most retries that a page in `mode` needs: by RARO's formula, of blocks with 1,000 P/E cycles at most.
    pub fn most_retries(&self, mode: CellMode) -> u8 {
        if let Law::Stages(of, stages) = &self.law {
            let most = stages.iter().map(|stage| stage.retries).max();
            return most.filter(|_| *of == mode).unwrap_or(0);
        }
        let worn = self.worn(mode, 1000);
        let fails = |&entry: &u8| !Self::is_corrected(self.wrong_bits(&worn, u64::MAX, entry));
        (0..MAX_FACTORY as u8).take_while(fails).count() as u8
    }
}

/// The quantile of `u` that `draw` stands for.
#[inline]
fn interpolated(quantiles: &[f32], draw: u64) -> f32 {
    /// Bits of a draw that tell where in its interval it is.
    const WITHIN_BITS: u32 = 22;
    let interval = (draw >> (64 - INTERVAL_BITS)) as usize;
    let within = (draw >> (64 - INTERVAL_BITS - WITHIN_BITS)) as u32 & ((1 << WITHIN_BITS) - 1);
    let within = within as f32 * (1.0 / (1 << WITHIN_BITS) as f32);
    let (low, high) = (quantiles[interval], quantiles[interval + 1]);
    low + (high - low) * within
}

/// Quantiles of `Beta(ALPHA, BETA)` at even steps of probability, both ends among them: its density is summed up.
fn quantiles() -> Box<[f32]> {
    let density = |i: usize| {
        let x = (i as f64 + 0.5) / STEPS as f64;
        libm::pow(x, ALPHA - 1.0) * libm::pow(1.0 - x, BETA - 1.0)
    };
    let densities: Vec<f64> = (0..STEPS).map(density).collect();
    let total: f64 = densities.iter().sum();
    let (mut i, mut below) = (0, 0.0);
    let mut quantile = |node: usize| {
        let wanted = total * node as f64 / INTERVALS as f64;
        while i + 1 < STEPS && below + densities[i] < wanted {
            below += densities[i];
            i += 1;
        }
        let x = (i as f64 + (wanted - below) / densities[i]) / STEPS as f64;
        x.clamp(0.0, 1.0) as f32
    };
    (0..=INTERVALS).map(&mut quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use std::vec::Vec;

    /// The regularized incomplete beta function, by its continued fraction.
    fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
        if x > (a + 1.0) / (a + b + 2.0) {
            return 1.0 - incomplete_beta(b, a, 1.0 - x);
        }
        let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
        let front = libm::exp(a * libm::log(x) + b * libm::log(1.0 - x) - ln_beta) / a;
        let mut value = 1.0;
        for i in (1..200).rev() {
            let m = f64::from(i / 2);
            let term = if i % 2 == 0 {
                m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
            } else {
                -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
            };
            value = 1.0 + term / value;
        }
        front / value
    }

    #[test]
    fn formula_quantiles_are_those_of_the_beta_distribution() {
        let quantiles = quantiles();
        assert_eq!((quantiles[0], quantiles[INTERVALS]), (0.0, 1.0));
        for (node, &x) in quantiles.iter().enumerate().take(INTERVALS).skip(1) {
            let share = node as f64 / INTERVALS as f64;
            let found = incomplete_beta(ALPHA, BETA, f64::from(x));
            assert!((found - share).abs() < 2e-5, "{share} at {x}: {found}");
        }
        // Ends of the first and the last interval, and a draw halfway.
        assert_eq!(interpolated(&quantiles, 0), 0.0);
        assert!(interpolated(&quantiles, u64::MAX) > 0.99999);
        let halfway = interpolated(&quantiles, (1 << 63) | (1 << 53));
        let (low, high) = (quantiles[INTERVALS / 2], quantiles[INTERVALS / 2 + 1]);
        assert!((halfway - (low + high) / 2.0).abs() < 1e-6);
    }

    /// Share of pages of `mode` by how many retries they need, at `pe_cycles`.
    fn shares(formula: &RetryFormula, mode: CellMode, pe_cycles: u32) -> [f64; 32] {
        let (n, mut shares) = (100_000, [0.0; 32]);
        let worn = formula.worn(mode, pe_cycles);
        for i in 0..n {
            let draw = Stream::new(i).bits();
            let fails = |&k: &u8| !RetryFormula::is_corrected(formula.wrong_bits(&worn, draw, k));
            shares[(0..31).take_while(fails).count()] += 1.0 / n as f64;
        }
        shares
    }

    fn mean(shares: &[f64]) -> f64 {
        shares.iter().enumerate().map(|(k, p)| k as f64 * p).sum()
    }

    fn range(shares: &[f64]) -> (usize, usize) {
        let used: Vec<usize> = (0..shares.len()).filter(|&k| shares[k] > 0.0).collect();
        (used[0], used[used.len() - 1])
    }

    #[test]
    fn formula_retries_of_qlc_pages_are_those_of_fig_6() {
        let formula = RetryFormula::raro(TLC_SHARE_MILLIONTHS);
        for (pe_cycles, expected, between) in [
            (333, 6.4, (1, 9)),
            (666, 10.0, (4, 13)),
            (1000, 14.2, (11, 16)),
        ] {
            let shares = shares(&formula, CellMode::Qlc, pe_cycles);
            let mean = mean(&shares);
            std::println!("{pe_cycles} P/E: {mean:.2} retries, {:?}", range(&shares));
            assert!((mean - expected).abs() < 0.15, "{pe_cycles} P/E: {mean}");
            assert_eq!(range(&shares), between, "{pe_cycles} P/E");
        }
        let most = shares(&formula, CellMode::Qlc, 1000)[16];
        assert!((most - 0.096).abs() < 0.004, "{most}");
    }

    #[test]
    fn formula_tlc_pages_need_one_retry_at_most_and_others_none() {
        let formula = RetryFormula::raro(TLC_SHARE_MILLIONTHS);
        let retried = |pe_cycles| {
            let shares = shares(&formula, CellMode::Tlc, pe_cycles);
            assert!(range(&shares).1 <= 1, "{pe_cycles} P/E: {shares:?}");
            shares[1]
        };
        let all: Vec<f64> = [0, 333, 666, 900, 950, 1000, 1500, 3000]
            .map(retried)
            .into();
        std::println!("TLC pages with a retry: {all:.3?}");
        assert!(all.is_sorted() && all[3] == 0.0 && all[4] > 0.0, "{all:?}");
        assert!((0.27..0.31).contains(&all[5]), "{all:?}");
        for mode in [CellMode::Slc, CellMode::Mlc] {
            assert_eq!(mean(&shares(&formula, mode, 100_000)), 0.0);
        }
        let most = CellMode::ALL.map(|mode| formula.most_retries(mode));
        assert_eq!(most, [0, 0, 1, 16]);
    }

    /// The load of a TLC page is a knob: without any it is never retried, and with a larger one once at the most.
    #[test]
    fn formula_tlc_pages_are_retried_as_their_share_says() {
        for (share, at_333, at_1000) in [(0, 0.0, 0.0), (91_000, 0.0, 1.0), (1_000_000, 1.0, 1.0)] {
            let formula = RetryFormula::raro(share);
            for (pe_cycles, expected) in [(333, at_333), (1000, at_1000)] {
                let shares = shares(&formula, CellMode::Tlc, pe_cycles);
                let retried = shares[1];
                assert!((retried - expected).abs() < 1e-3, "{share}: {retried}");
                assert!(range(&shares).1 <= 1, "{share} at {pe_cycles}");
            }
            let qlc = |f: &RetryFormula| f.worn(CellMode::Qlc, 1000);
            assert_eq!(
                qlc(&formula),
                qlc(&RetryFormula::raro(TLC_SHARE_MILLIONTHS))
            );
        }
    }

    #[test]
    fn formula_a_fixed_number_of_retries_is_that_of_every_page() {
        for retries in [0, 1, 10, 35, 63] {
            let formula = RetryFormula::fixed(CellMode::Qlc, retries);
            assert_eq!(formula.most_retries(CellMode::Qlc), retries);
            assert_eq!(formula.most_retries(CellMode::Tlc), 0);
            let worn = formula.worn(CellMode::Qlc, 0);
            assert_eq!(worn, formula.worn(CellMode::Qlc, 5000));
            for draw in [0, 1 << 40, u64::MAX] {
                let corrected = |k| RetryFormula::is_corrected(formula.wrong_bits(&worn, draw, k));
                assert!(corrected(retries) && (0..retries).all(|k| !corrected(k)));
            }
        }
    }

    #[test]
    fn formula_a_stage_begins_at_its_wear_and_lasts_to_the_next() {
        let stage = |from_pe_cycles, retries| Stage {
            from_pe_cycles,
            retries,
        };
        // Retries may fall with wear, and the first stage may begin late.
        let stages = [stage(50, 5), stage(200, 23), stage(400, 11)];
        let formula = RetryFormula::stages(CellMode::Tlc, &stages);
        for (pe_cycles, retries) in [
            (0, 0),
            (49, 0),
            (50, 5),
            (199, 5),
            (200, 23),
            (399, 23),
            (400, 11),
            (9999, 11),
        ] {
            let worn = formula.worn(CellMode::Tlc, pe_cycles);
            let fails =
                |&k: &u8| !RetryFormula::is_corrected(formula.wrong_bits(&worn, u64::MAX, k));
            let needed = (0..64).take_while(fails).count();
            assert_eq!(needed, retries, "{pe_cycles} P/E");
        }
        assert_eq!(formula.worn(CellMode::Slc, 400), Worn::NONE);
        let most = CellMode::ALL.map(|mode| formula.most_retries(mode));
        assert_eq!(most, [0, 0, 23, 0]);
    }
}
