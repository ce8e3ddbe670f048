//! How often data are lost that are kept without power: by arithmetic, from cells, code and wear.
//!
//! A page that was programmed after so many P/E cycles is kept for the hours of a class of JESD218 at its temperature and
//! read then at its best levels, which is what the last retries come to. The rate of wrong bits follows from the
//! overlap of its states, and from that the probability that the decoder fails (below what was measured of the code it is
//! extrapolated, as `firstread_ecc` says). The mean is over the whole block of the chip, layer by layer and page type by page
//! type, whatever part of the block the drive's geometry takes (`strata`), and over the drive's dies. The **uncorrectable bit
//! error rate** is this probability for each user bit read. A parity across dies saves a
//! codeword unless another of its stripe, which has the same layer, page type and wear, fails too. Soft senses save more, and
//! are left out: what they save of pages this rarely lost is not known.
//!
//! Superblocks in use count, and retired ones do not: they hold no data.

mod powers;
mod scores;
mod strata;

use std::collections::BTreeMap;

use firstread_core::params::Need;
use firstread_core::{CellMode, Geometry, Ns, Stream};
use firstread_drive::WornBlocks;
use firstread_drive::profile::DriveProfile;
use firstread_drive::profile::drive::Cells;
use firstread_ecc::Code;
use firstread_nand::Medium;
use firstread_nand::gaussian::Gaussian;

use strata::{Mean, Point, Strata};

use super::until::Class;
use crate::error::Error;
use powers::{power_of_ten, to_ten};

/// Wear between two points of a curve, as a share of the rated endurance.
const POINTS_TO_RATED: u32 = 40;
/// Rates of wrong bits at which the code's failures are computed: so many for each decade.
const TO_A_DECADE: f64 = 16.0;
/// The lowest rate of wrong bits (power of ten) that is told apart from none.
const LOWEST: f64 = -6.0;
/// Standard errors on either side of a mean that make its 95 % interval.
const P95: f64 = 1.96;

/// Uncorrectable bit error rates of a drive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rate {
    /// Of hard reads at the best levels.
    pub hard: f64,
    /// What parity across dies leaves of them; where the drive has none, the same.
    pub host: f64,
    /// The 95 % interval of `host`, by the pages that were drawn.
    pub interval: (f64, f64),
    /// Drawn pages that carry `host`: so many equal ones would have its spread.
    pub pages: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rates {
    /// Kept for a year at 30 °C.
    pub client: Rate,
    /// Kept for three months at 40 °C.
    pub enterprise: Rate,
}

impl Rates {
    /// Those of `class`.
    pub(super) fn of(self, class: Class) -> Rate {
        match class.name == Class::CLIENT.name {
            true => self.client,
            false => self.enterprise,
        }
    }
}

/// Whether the rates of a drive of `profile` can be told.
pub(super) fn has_rates(profile: &DriveProfile) -> bool {
    profile.cells == Cells::Modelled
}

/// How often data are lost, by wear.
pub(super) struct Losses {
    medium: Medium,
    mode: CellMode,
    user_bits: f64,
    /// Other dies of a stripe with parity; none without.
    others: Option<f64>,
    /// Power of ten of the code's failures, by power of ten of wrong bits.
    failures: Vec<f64>,
    /// Wear between two points.
    step: u32,
    /// Lost codewords by class and point.
    points: [BTreeMap<u32, Point>; 2],
    stream: Stream,
    gaussian: Box<Gaussian>,
}

impl Losses {
    /// For drives of `profile` with the chips of `seed`; none where cells have no voltages.
    pub(super) fn of(profile: &DriveProfile, seed: u64) -> Result<Option<Losses>, Error> {
        if !has_rates(profile) {
            return Ok(None);
        }
        let geometry = Geometry {
            wordlines_per_block: profile.chip.wordlines() as u16,
            ..profile.geometry
        };
        let code = Code::named(&profile.ecc.code)?;
        let mut medium = Medium::new(profile.chip.clone(), geometry, seed)?;
        medium.set_codeword_bits(code.codeword_bits());
        let to = (-LOWEST * TO_A_DECADE) as u32;
        let failures = (0..=to).map(|i| {
            let rber = to_ten(LOWEST + f64::from(i) / TO_A_DECADE);
            power_of_ten(code.frame_error_rate(rber))
        });
        let rated = profile
            .chip
            .mode(profile.mode)
            .map_or(1, |m| m.endurance_pe_cycles);
        let has_parity = profile.needs(Need::StripeParity);
        Ok(Some(Losses {
            medium,
            mode: profile.mode,
            user_bits: f64::from(geometry.codeword_bytes) * 8.0,
            others: has_parity.then(|| f64::from(geometry.dies()) - 1.0),
            failures: failures.collect(),
            step: (rated / POINTS_TO_RATED).max(1),
            points: [BTreeMap::new(), BTreeMap::new()],
            stream: Stream::new(seed).named("pages of uncorrectable rates"),
            gaussian: Box::new(Gaussian::new()),
        }))
    }

    /// The rates of a drive whose superblocks in use are as worn as `blocks`.
    pub(super) fn rates(&mut self, blocks: &WornBlocks) -> Result<Rates, Error> {
        let worn = || blocks.in_use().map(|(_, pe_cycles)| pe_cycles);
        Ok(Rates {
            client: self.rate(Class::CLIENT, worn())?,
            enterprise: self.rate(Class::ENTERPRISE, worn())?,
        })
    }

    /// The mean rate of superblocks of this wear, kept as `class` says.
    pub(super) fn rate(
        &mut self,
        class: Class,
        pe_cycles: impl Iterator<Item = u32>,
    ) -> Result<Rate, Error> {
        let mut wears = BTreeMap::<u32, u32>::new();
        pe_cycles.for_each(|pe_cycles| *wears.entry(pe_cycles).or_default() += 1);
        let (mut hard, mut host, mut n) = (0.0, 0.0, 0.0);
        let (mut errors, mut pages) = (0.0, 0.0);
        for (pe_cycles, superblocks) in wears {
            let superblocks = f64::from(superblocks);
            let of = self.lost_codewords(class, pe_cycles)?;
            let after = superblocks * to_ten(of.host.power);
            hard += superblocks * to_ten(of.hard.power);
            host += after;
            // The same places were drawn at every wear, so errors of all wears go together.
            errors += after * of.host.error;
            pages += after * of.host.pages;
            n += superblocks;
        }
        if host <= 0.0 {
            return Ok(Rate {
                hard: hard / f64::max(n, 1.0) / self.user_bits,
                ..Rate::default()
            });
        }
        let off = libm::exp(P95 * errors / host);
        let rate = host / n / self.user_bits;
        Ok(Rate {
            hard: hard / n / self.user_bits,
            host: rate,
            interval: (rate / off, rate * off),
            pages: pages / host,
        })
    }

    /// Codewords lost of a superblock with `pe_cycles`, between two points of the curve.
    fn lost_codewords(&mut self, class: Class, pe_cycles: u32) -> Result<Point, Error> {
        let below = pe_cycles / self.step * self.step;
        let low = self.point(class, below)?;
        if below == pe_cycles {
            return Ok(low);
        }
        let high = self.point(class, below + self.step)?;
        let part = f64::from(pe_cycles - below) / f64::from(self.step);
        let between = |low: f64, high: f64| low + (high - low) * part;
        let mean = |low: Mean, high: Mean| Mean {
            power: between(low.power, high.power),
            error: between(low.error, high.error),
            pages: between(low.pages, high.pages),
        };
        Ok(Point {
            hard: mean(low.hard, high.hard),
            host: mean(low.host, high.host),
        })
    }

    /// A point of the curve.
    fn point(&mut self, class: Class, pe_cycles: u32) -> Result<Point, Error> {
        let of = usize::from(class.name != Class::CLIENT.name);
        if let Some(&known) = self.points[of].get(&pe_cycles) {
            return Ok(known);
        }
        let kept = [(class.hours, class.celsius)];
        let block = self
            .medium
            .programmed_before(self.mode, pe_cycles, 1, Ns::ZERO, &kept);
        let strata = Strata {
            medium: &self.medium,
            mode: self.mode,
            others: self.others,
            stream: self.stream,
            gaussian: &self.gaussian,
        };
        let condition = self.medium.condition(&block, Ns::ZERO);
        let point = strata.point(&condition, &|rber| self.failure(rber))?;
        self.points[of].insert(pe_cycles, point);
        Ok(point)
    }

    /// Power of ten of the code's failures at a rate of wrong bits.
    fn failure(&self, rber: f64) -> f64 {
        let at = (power_of_ten(rber) - LOWEST) * TO_A_DECADE;
        let at = at.clamp(0.0, (self.failures.len() - 1) as f64);
        let below = (at as usize).min(self.failures.len() - 2);
        let (low, high) = (self.failures[below], self.failures[below + 1]);
        low + (high - low) * (at - below as f64)
    }
}

#[cfg(test)]
mod tests;
