//! How often data are lost that are kept without power: by arithmetic, from cells, code and wear.
//!
//! A page that was programmed after so many P/E cycles is kept for the hours of a class of JESD218 at its temperature and
//! read then at its best levels, which is what the last retries come to. The rate of wrong bits follows from the
//! overlap of its states, and from that the probability that the decoder fails (below what was measured of the code it is
//! extrapolated, as `firstread_ecc` says). The mean is over a fixed draw of pages: dies, planes, blocks, wordlines and page
//! types. The **uncorrectable bit error rate** is this probability for each user bit read. A parity across dies saves a
//! codeword unless another of its stripe fails too. Soft senses save more, and are left out: what they save of pages this
//! rarely lost is not known.

use std::collections::BTreeMap;

use firstread_core::params::Need;
use firstread_core::{CellMode, DieId, Ns, PageAddr, PageType, Stream, SuperblockId};
use firstread_drive::WornBlocks;
use firstread_drive::profile::DriveProfile;
use firstread_drive::profile::drive::Cells;
use firstread_ecc::Code;
use firstread_nand::{Medium, ReadLevels};

use super::until::Class;
use crate::error::Error;

/// Pages over which the mean is taken.
const PAGES: u64 = 256;
/// Wear between two points of a curve, as a share of the rated endurance.
const POINTS_TO_RATED: u32 = 40;
/// Rates of wrong bits at which the code's failures are computed: so many for each decade.
const TO_A_DECADE: f64 = 16.0;
/// The lowest rate of wrong bits (power of ten) that is told apart from none.
const LOWEST: f64 = -6.0;
/// What stands for no failures at all (power of ten).
const NEVER: f64 = -300.0;

/// Uncorrectable bit error rates of a drive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rate {
    /// Of hard reads at the best levels.
    pub hard: f64,
    /// What parity across dies leaves of them; where the drive has none, the same.
    pub host: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rates {
    /// Kept for a year at 30 °C.
    pub client: Rate,
    /// Kept for three months at 40 °C.
    pub enterprise: Rate,
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
    /// Power of ten of lost codewords, by class and point.
    points: [BTreeMap<u32, f64>; 2],
    pages: Vec<(PageAddr, u8)>,
}

impl Losses {
    /// For drives of `profile` with the chips of `seed`; none where cells have no voltages.
    pub(super) fn of(profile: &DriveProfile, seed: u64) -> Result<Option<Losses>, Error> {
        if !has_rates(profile) {
            return Ok(None);
        }
        let geometry = profile.geometry;
        let code = Code::named(&profile.ecc.code)?;
        let mut medium = Medium::new(profile.chip.clone(), geometry, seed)?;
        medium.set_codeword_bits(code.codeword_bits());
        let draw = Stream::new(seed).named("pages of uncorrectable rates");
        let page = |i: u64| {
            let of = |n: u64, below: u64| draw.at(i).at(n).below(below);
            let at = PageAddr {
                die: DieId(of(0, u64::from(geometry.dies())) as u16),
                block: SuperblockId(of(1, u64::from(geometry.blocks_per_plane)) as u32),
                wordline: of(2, u64::from(geometry.wordlines_per_block)) as u16,
                // Every page type as often.
                page: PageType((i % u64::from(profile.mode.bits())) as u8),
            };
            (at, of(3, u64::from(geometry.planes)) as u8)
        };
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
            pages: (0..PAGES).map(page).collect(),
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
        let (mut sum, mut n) = (0.0, 0.0);
        for pe_cycles in pe_cycles {
            sum += self.lost_codewords(class, pe_cycles)?;
            n += 1.0;
        }
        let lost = if n > 0.0 { sum / n } else { 0.0 };
        let after_parity = self.others.map_or(lost, |others| {
            // ln(1 - lost), which is exact where `lost` is far below what a float tells from zero.
            lost * -libm::expm1(others * libm::log1p(-lost.min(1.0 - 1e-12)))
        });
        Ok(Rate {
            hard: lost / self.user_bits,
            host: after_parity / self.user_bits,
        })
    }

    /// Share of codewords lost of a superblock with `pe_cycles`, between two points of the curve.
    fn lost_codewords(&mut self, class: Class, pe_cycles: u32) -> Result<f64, Error> {
        let below = pe_cycles / self.step * self.step;
        let (low, high) = (
            self.point(class, below)?,
            self.point(class, below + self.step)?,
        );
        let part = f64::from(pe_cycles - below) / f64::from(self.step);
        Ok(to_ten(low + (high - low) * part))
    }

    /// A point of the curve (power of ten).
    fn point(&mut self, class: Class, pe_cycles: u32) -> Result<f64, Error> {
        let of = usize::from(class.name != Class::CLIENT.name);
        if let Some(&known) = self.points[of].get(&pe_cycles) {
            return Ok(known);
        }
        let kept = [(class.hours, class.celsius)];
        let block = self
            .medium
            .programmed_before(self.mode, pe_cycles, 1, Ns::ZERO, &kept);
        let mut sum = 0.0;
        for &(at, plane) in &self.pages {
            let rber = self
                .medium
                .page_rber(at, plane, &block, Ns::ZERO, &ReadLevels::Ideal)?;
            sum += to_ten(self.failure(rber));
        }
        let point = power_of_ten(sum / self.pages.len() as f64);
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

fn to_ten(power: f64) -> f64 {
    libm::pow(10.0, power)
}

fn power_of_ten(value: f64) -> f64 {
    if value > 0.0 {
        libm::log10(value).max(NEVER)
    } else {
        NEVER
    }
}
