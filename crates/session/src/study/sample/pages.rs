//! Pages drawn from an aged drive, and how often they fail.

use std::cell::OnceCell;

use firstread_core::{
    CellMode, DieId, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, Stream, SuperblockId,
};
use firstread_drive::profile::DriveProfile;
use firstread_ecc::Code;
use firstread_nand::characterize::factory_table;
use firstread_nand::{BlockState, Medium, ReadLevels};

use crate::error::Error;

/// 72 bits in 1 KiB, as a rate.
pub const LIMIT: f64 = 72.0 / 8192.0;

/// The first drive's seed of the choice of pages. Arbitrary.
const PAGES_SEED: u64 = 9;

/// The factory default levels.
pub const DEFAULT: ReadLevels = ReadLevels::Offsets([0; 15]);

/// What a point of an experiment with `cells.sample` is measured of: a drive all of whose blocks are in one condition.
#[derive(Debug)]
pub struct Sample {
    pub profile: DriveProfile,
    /// Cycles of every block.
    pub pe: u32,
    /// Time since programming.
    pub age: Ns,
    pub celsius: f64,
    /// Of the chips.
    pub seed: u64,
    /// Pages, reads, wordlines or draws, as the metric takes them.
    pub n: u32,
    /// Raw bit error rate above which a page counts as failed.
    pub limit: f64,
    /// Share of first reads that fail at the levels best for all pages, by code.
    pub(super) first_reads: OnceCell<Vec<f64>>,
    /// Retry steps of each page.
    pub(super) steps: OnceCell<Vec<u32>>,
}

impl Sample {
    pub fn mode(&self) -> CellMode {
        self.profile.mode
    }

    /// All blocks of the drive, this long after they were programmed.
    pub fn aged(&self, age: Ns) -> Result<Aged, Error> {
        self.aged_at(age, self.celsius)
    }

    /// The same at another temperature throughout.
    pub fn aged_at(&self, age: Ns, celsius: f64) -> Result<Aged, Error> {
        let (chip, geometry) = (self.profile.chip.clone(), self.profile.geometry);
        let mut medium = Medium::new(chip, geometry, self.seed)?;
        medium.set_temperature(Ns::ZERO, celsius)?;
        let block = medium.programmed(self.mode(), self.pe, 1, Ns::ZERO);
        Ok(Aged {
            medium,
            block,
            now: age,
            pages_seed: PAGES_SEED - 1 + self.seed,
        })
    }

    /// Share of pages whose mean error rate at the default levels is above the limit, this long after programming.
    pub fn failing_at_default(&self, age: Ns) -> Result<f64, Error> {
        self.aged(age)?.failing(self.n, &DEFAULT, self.limit)
    }

    /// Share of first reads of one page of all planes that fail at the levels best for all pages, by code.
    pub fn first_reads(&self) -> Result<&[f64], Error> {
        if self.first_reads.get().is_none() {
            let aged = self.aged(self.age)?;
            let levels = ReadLevels::Offsets(aged.group_levels()?);
            let shares = aged.read_failure(self.n, &levels, &Curve::all()?)?;
            let _ = self.first_reads.set(shares);
        }
        Ok(self.first_reads.get().map_or(&[], Vec::as_slice))
    }

    /// Retry steps of each page: a walk of the chip's factory table until no codeword of 8,192 bits has more than 72
    /// errors.
    pub fn steps(&self) -> Result<&[u32], Error> {
        if self.steps.get().is_none() {
            let _ = self.steps.set(self.walk()?);
        }
        Ok(self.steps.get().map_or(&[], Vec::as_slice))
    }

    fn walk(&self) -> Result<Vec<u32>, Error> {
        let mut aged = self.aged(self.age)?;
        aged.medium.set_codeword_bits(8192);
        let rule = &self.profile.chip.factory_table;
        let (table, len) = factory_table(&aged.medium, self.mode(), rule)?;
        let condition = aged.medium.condition(&aged.block, aged.now);
        let codewords = self.profile.geometry.page_bytes / 1024;
        let steps = aged.pages(self.n).map(|(at, plane)| {
            for (step, entry) in (0..).zip(&table[..len as usize]) {
                let levels = ReadLevels::Offsets(*entry);
                let timing = SenseTiming::DEFAULT;
                let id = u64::from(step);
                let sense = aged
                    .medium
                    .sense_under(at, plane, condition, &levels, timing, id)?;
                if (0..codewords).all(|codeword| sense.codeword_weight(codeword) <= 72) {
                    return Ok(step);
                }
            }
            Ok(len.into())
        });
        steps.collect()
    }
}

/// One block state of a whole drive at one moment.
#[derive(Debug)]
pub struct Aged {
    pub medium: Medium,
    /// Every superblock.
    pub block: BlockState,
    pub now: Ns,
    pages_seed: u64,
}

impl Aged {
    /// `n` pages drawn from all dies, planes, blocks, wordlines and page types.
    pub fn pages(&self, n: u32) -> impl Iterator<Item = (PageAddr, u8)> + '_ {
        let g = self.medium.geometry();
        let root = Stream::new(self.pages_seed).named("validation");
        (0..u64::from(n)).map(move |i| {
            let draw = root.at(i);
            let at = PageAddr {
                die: DieId(draw.at(0).below(g.dies().into()) as u16),
                block: SuperblockId(draw.at(1).below(g.blocks_per_plane.into()) as u32),
                wordline: draw.at(2).below(g.wordlines_per_block.into()) as u16,
                page: PageType(draw.at(3).below(self.block.mode.bits().into()) as u8),
            };
            (at, draw.at(4).below(g.planes.into()) as u8)
        })
    }

    /// Mean error rates of `n` pages at `levels`.
    pub fn rbers(&self, n: u32, levels: &ReadLevels) -> Result<Vec<f64>, Error> {
        let condition = self.medium.condition(&self.block, self.now);
        let timing = SenseTiming::DEFAULT;
        let rber = |(at, plane)| {
            let sense = self
                .medium
                .sense_under(at, plane, condition, levels, timing, 0)?;
            Ok(sense.rber())
        };
        self.pages(n).map(rber).collect()
    }

    /// Share of `n` pages whose mean error rate at `levels` is above `limit`.
    pub fn failing(&self, n: u32, levels: &ReadLevels, limit: f64) -> Result<f64, Error> {
        let rbers = self.rbers(n, levels)?;
        let failing = rbers.iter().filter(|&&rber| rber > limit).count();
        Ok(failing as f64 / f64::from(n))
    }

    /// The levels with fewest failures over all pages, for a code of 72 errors in 9,216 bits.
    pub fn group_levels(&self) -> Result<LevelOffsets, Error> {
        let blocks = 0..self.medium.geometry().blocks_per_plane;
        let members: Vec<_> = blocks.map(|b| (SuperblockId(b), self.block)).collect();
        let mode = self.block.mode;
        Ok(self
            .medium
            .group_optimum(&members, self.now, mode, 72, 1024)?)
    }

    /// Probability that a first read of one page of all planes fails, for each of `curves`. Over `n` reads; what the
    /// codewords of a page come to is integrated, not drawn, so that rare failures are seen.
    pub fn read_failure(
        &self,
        n: u32,
        levels: &ReadLevels,
        curves: &[Curve],
    ) -> Result<Vec<f64>, Error> {
        let condition = self.medium.condition(&self.block, self.now);
        let geometry = self.medium.geometry();
        let (planes, page_bytes) = (geometry.planes, geometry.page_bytes);
        let timing = SenseTiming::DEFAULT;
        let mut sums = vec![0.0; curves.len()];
        let mut good = vec![1.0; curves.len()];
        for (at, _) in self.pages(n) {
            good.fill(1.0);
            for plane in 0..planes {
                let sense = self
                    .medium
                    .sense_under(at, plane, condition, levels, timing, 0)?;
                for (good, curve) in good.iter_mut().zip(curves) {
                    *good *= 1.0 - curve.page_failure(sense.rber(), page_bytes);
                }
            }
            for (sum, good) in sums.iter_mut().zip(&good) {
                *sum += 1.0 - good;
            }
        }
        Ok(sums.into_iter().map(|sum| sum / f64::from(n)).collect())
    }
}

/// The first time (h) at which `failing(age)` reaches `share`, by bisection over its logarithm; ages from a second to a
/// hundred years. Infinite where it is later.
pub fn first_time(share: f64, failing: impl Fn(Ns) -> Result<f64, Error>) -> Result<f64, Error> {
    let at = |log_h: f64| Ns(libm::round(libm::exp(log_h) * 3.6e12) as u64);
    let (mut low, mut high) = (libm::log(1.0 / 3600.0), libm::log(876_600.0));
    if failing(at(high))? < share {
        return Ok(f64::INFINITY);
    }
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        match failing(at(middle))? < share {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(libm::exp(high))
}

/// Nodes of a curve, and its range of error rates.
const NODES: usize = 800;
const RBER_LOW: f64 = 1e-5;
const RBER_HIGH: f64 = 0.1;

/// `P(a codeword fails)` against the mean error rate of its page, for one code: the code's failures by weight, mixed
/// over the Poisson weights that the medium draws.
#[derive(Debug)]
pub struct Curve {
    data_bytes: usize,
    /// Of the stored bits, those that count.
    share: f64,
    /// `ln P` at equal steps of `ln RBER`.
    log_p: Vec<f64>,
}

impl Curve {
    pub fn new(code: &Code) -> Curve {
        let bits = f64::from(code.codeword_bits());
        let step = libm::log(RBER_HIGH / RBER_LOW) / (NODES - 1) as f64;
        let at = |i: usize| {
            let mean = bits * RBER_LOW * libm::exp(step * i as f64);
            libm::log(mix(mean, code).max(1e-300))
        };
        Curve {
            data_bytes: code.data_bytes() as usize,
            share: 1.0,
            log_p: (0..NODES).map(at).collect(),
        }
    }

    /// Those of all codes.
    pub fn all() -> Result<Vec<Curve>, Error> {
        let of = |name| Ok(Curve::new(&Code::named(name)?));
        Code::NAMES.into_iter().map(of).collect()
    }

    /// The same code, its errors counted over user bits only: codewords are an eighth shorter than what is stored.
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

    /// `P(any codeword of a page of `page_bytes` fails)`.
    pub fn page_failure(&self, rber: f64, page_bytes: u32) -> f64 {
        let p = self.failure(rber).min(1.0 - 1e-12);
        let codewords = page_bytes as usize / self.data_bytes;
        -libm::expm1(codewords as f64 * libm::log1p(-p))
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
        log_pmf += libm::log(mean / (f64::from(w) + 1.0));
    }
    sum.min(1.0)
}
