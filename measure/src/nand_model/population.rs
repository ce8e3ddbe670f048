//! Pages of an aged drive, and how often they fail.

use firstread_core::{
    CellMode, DieId, Geometry, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, Stream,
    StripeOrder, SuperblockId,
};
use firstread_drive::profile::{Library, load_chip};
use firstread_ecc::Code;
use firstread_nand::{BlockState, ChipProfile, Medium, ReadLevels};

use super::section::Result;

/// 72 bits in 1 KiB, as a rate.
pub const LIMIT: f64 = 72.0 / 8192.0;

/// Seed of the cells. Arbitrary.
const CELLS_SEED: u64 = 1;
/// Seed of the choice of pages. Arbitrary.
const PAGES_SEED: u64 = 9;

/// The factory default levels.
pub const DEFAULT: ReadLevels = ReadLevels::Offsets([0; 15]);

/// The shipped chip `name`.
pub fn chip(name: &str) -> Result<ChipProfile> {
    load_chip(&Library::new(), name, &[])
        .map(|c| c.chip)
        .map_err(|e| e.to_string())
}

/// The flash of the drive `dc-qlc-15t`: 128 dies of four planes of 410 blocks.
pub fn geometry(chip: &ChipProfile) -> Geometry {
    Geometry {
        channels: 8,
        chips_per_channel: 8,
        dies_per_chip: 2,
        planes: 4,
        blocks_per_plane: 410,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    }
}

/// Hours as time.
pub fn hours(h: f64) -> Ns {
    Ns(libm::round(h * 3.6e12) as u64)
}

/// One block state of a whole drive at one moment.
pub struct Aged {
    /// The cells.
    pub medium: Medium,
    /// Every superblock.
    pub block: BlockState,
    /// The moment.
    pub now: Ns,
}

impl Aged {
    /// All blocks of `chip` in `mode`, worn by `pe` cycles, `age_h` hours after they were programmed,
    /// at `celsius` throughout.
    pub fn new(
        chip: &ChipProfile,
        mode: CellMode,
        pe: u32,
        age_h: f64,
        celsius: f64,
    ) -> Result<Aged> {
        let mut medium = Medium::new(chip.clone(), geometry(chip), CELLS_SEED)
            .map_err(|e| format!("{}: {e}", chip.name))?;
        medium
            .set_temperature(Ns::ZERO, celsius)
            .map_err(|e| e.to_string())?;
        let block = medium.programmed(mode, pe, 1, Ns::ZERO);
        Ok(Aged {
            medium,
            block,
            now: hours(age_h),
        })
    }

    /// `n` pages drawn from all dies, planes, blocks, wordlines and page types.
    pub fn pages(&self, n: u32) -> impl Iterator<Item = (PageAddr, u8)> + '_ {
        let g = self.medium.geometry();
        let root = Stream::new(PAGES_SEED).named("validation");
        (0..n as u64).map(move |i| {
            let draw = root.at(i);
            let at = PageAddr {
                die: DieId(draw.at(0).below(g.dies() as u64) as u16),
                block: SuperblockId(draw.at(1).below(g.blocks_per_plane as u64) as u32),
                wordline: draw.at(2).below(g.wordlines_per_block as u64) as u16,
                page: PageType(draw.at(3).below(self.block.mode.bits() as u64) as u8),
            };
            (at, draw.at(4).below(g.planes as u64) as u8)
        })
    }

    /// Mean error rates of `n` pages at `levels`.
    pub fn rbers(&self, n: u32, levels: &ReadLevels) -> Result<Vec<f64>> {
        let condition = self.medium.condition(&self.block, self.now);
        self.pages(n)
            .map(|(at, plane)| {
                self.medium
                    .sense_under(at, plane, condition, levels, SenseTiming::DEFAULT, 0)
                    .map(|s| s.rber())
                    .map_err(|e| e.to_string())
            })
            .collect()
    }

    /// Share of `n` pages whose mean error rate at `levels` is above `limit`.
    pub fn failing(&self, n: u32, levels: &ReadLevels, limit: f64) -> Result<f64> {
        let rbers = self.rbers(n, levels)?;
        Ok(rbers.iter().filter(|&&r| r > limit).count() as f64 / n as f64)
    }

    /// The levels with fewest failures over all pages, for a code of 72 errors in 9,216 bits.
    pub fn group_levels(&self) -> Result<LevelOffsets> {
        let members: Vec<_> = (0..self.medium.geometry().blocks_per_plane)
            .map(|b| (SuperblockId(b), self.block))
            .collect();
        self.medium
            .group_optimum(&members, self.now, self.block.mode, 72, 1024)
            .map_err(|e| e.to_string())
    }

    /// Probability that a first read of 64 KiB (one page of all four planes) fails, and its standard
    /// error, for each of `curves`. Over `n` reads; what the codewords of a page come to is
    /// integrated, not drawn, so that rare failures are seen.
    pub fn read_failure(
        &self,
        n: u32,
        levels: &ReadLevels,
        curves: &[Curve],
    ) -> Result<Vec<(f64, f64)>> {
        let condition = self.medium.condition(&self.block, self.now);
        let planes = self.medium.geometry().planes;
        let mut sums = vec![(0.0, 0.0); curves.len()];
        let mut fine = vec![1.0; curves.len()];
        for (at, _) in self.pages(n) {
            fine.fill(1.0);
            for plane in 0..planes {
                let rber = self
                    .medium
                    .sense_under(at, plane, condition, levels, SenseTiming::DEFAULT, 0)
                    .map_err(|e| e.to_string())?
                    .rber();
                for (fine, curve) in fine.iter_mut().zip(curves) {
                    *fine *= 1.0 - curve.page_failure(rber);
                }
            }
            for (sum, fine) in sums.iter_mut().zip(&fine) {
                let p: f64 = 1.0 - fine;
                sum.0 += p;
                sum.1 += p * p;
            }
        }
        let n = n as f64;
        Ok(sums
            .into_iter()
            .map(|(s, ss)| {
                let mean = s / n;
                (
                    mean,
                    libm::sqrt((ss / n - mean * mean).max(0.0) / (n - 1.0)),
                )
            })
            .collect())
    }
}

/// The first time (h) at which `failing(age)` reaches `share`, by bisection over `log t`; ages from
/// a second to a hundred years.
pub fn first_time(share: f64, failing: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let (mut low, mut high) = (libm::log(1.0 / 3600.0), libm::log(876_600.0));
    if failing(libm::exp(high))? < share {
        return Ok(f64::INFINITY);
    }
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if failing(libm::exp(middle))? < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(libm::exp(high))
}

/// Nodes of a curve, and its range of error rates.
const NODES: usize = 800;
const RBER_LOW: f64 = 1e-5;
const RBER_HIGH: f64 = 0.1;

/// `P(a codeword fails)` against the mean error rate of its page, for one code: the code's failures
/// by weight, mixed over the Poisson weights that the medium draws.
pub struct Curve {
    /// The code's name.
    pub name: &'static str,
    codewords: i32,
    /// Of the stored bits, those that count.
    share: f64,
    /// `ln P` at equal steps of `ln RBER`.
    log_p: Vec<f64>,
}

impl Curve {
    /// The curve of `code`.
    pub fn new(code: &Code) -> Curve {
        let bits = code.codeword_bits() as f64;
        let step = libm::log(RBER_HIGH / RBER_LOW) / (NODES - 1) as f64;
        let log_p = (0..NODES)
            .map(|i| {
                let mean = bits * RBER_LOW * libm::exp(step * i as f64);
                libm::log(mix(mean, code).max(1e-300))
            })
            .collect();
        Curve {
            name: code.name(),
            codewords: (16_384 / code.data_bytes()) as i32,
            share: 1.0,
            log_p,
        }
    }

    /// Those of all codes.
    pub fn all() -> Result<Vec<Curve>> {
        Code::NAMES
            .iter()
            .map(|n| {
                Code::named(n)
                    .map(|c| Curve::new(&c))
                    .map_err(|e| e.to_string())
            })
            .collect()
    }

    /// The same code, its errors counted over user bits only: codewords are an eighth shorter than
    /// what is stored.
    pub fn of_user_bits(mut self) -> Curve {
        self.share = 8.0 / 9.0;
        self
    }

    /// `P(a codeword fails)` at `rber`.
    pub fn failure(&self, rber: f64) -> f64 {
        let rber = rber * self.share;
        if rber <= RBER_LOW {
            return 0.0;
        }
        let step = libm::log(RBER_HIGH / RBER_LOW) / (NODES - 1) as f64;
        let x = (libm::log(rber / RBER_LOW) / step).min(NODES as f64 - 1.001);
        let i = x as usize;
        let f = x - i as f64;
        libm::exp(self.log_p[i] * (1.0 - f) + self.log_p[i + 1] * f)
    }

    /// `P(any codeword of a 16 KiB page fails)`.
    pub fn page_failure(&self, rber: f64) -> f64 {
        let p = self.failure(rber).min(1.0 - 1e-12);
        -libm::expm1(self.codewords as f64 * libm::log1p(-p))
    }
}

/// `Σ Poisson(mean)(w) P(fail | w)`.
fn mix(mean: f64, code: &Code) -> f64 {
    // Means are a tenth of the bits at most; twice that weight is never drawn.
    let (mut log_pmf, mut sum) = (-mean, 0.0);
    for w in 0..=code.codeword_bits() / 5 {
        let pmf = if log_pmf > -700.0 {
            libm::exp(log_pmf)
        } else {
            0.0
        };
        sum += pmf * code.failure_probability(w);
        log_pmf += libm::log(mean / (w as f64 + 1.0));
    }
    sum.min(1.0)
}
