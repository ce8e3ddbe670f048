//! Errors of shorter senses: the measurements of AR²'s authors on chips, made on the cell model instead.
//!
//! A population of chips is read at the levels of a good last step: for each page, the entry of the factory
//! table with the fewest errors. What remains are deviations from the table's path. The table has the errors
//! of the worst page of all at several precharge lengths. A length is safe if they are no more than the code
//! corrects, less a margin.
//!
//! A walk over the table does not end with that entry, but with the first one that reads the page. So each page is
//! known by both ([`EndsWith`]), and the margin and the safe length can be had for either. Shipped tables are those of
//! the best entry, as the authors of AR² have near-optimal levels in the last step.

use alloc::vec::Vec;

use firstread_core::sensing::{
    AGES_H, PRE_PERMILLE, SafeSense, SensingTable, ShortSenses, TEMPERATURES_C, WEARS_PE,
};
use firstread_core::{
    CellMode, DieId, Ns, PageAddr, PageType, SenseMode, SenseTiming, SuperblockId,
};

use crate::cell::levels::ReadLevels;
use crate::cell::model::BlockState;
use crate::characterize::{factory_table, geometry};
use crate::chip::ChipProfile;
use crate::medium::Medium;
use crate::profile::error::bad;
use crate::profile::{ProfileError, Reason};
use crate::sense_error::SenseError;

/// The rule by which a table is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensingRule {
    /// Number of chips in the population.
    pub chips: u16,
    /// Number of wordlines per chip, spread over the block.
    pub wordlines: u16,
    /// Additional errors that a codeword must tolerate beyond the worst of the population, in bits.
    pub margin_bits: u16,
}

impl SensingRule {
    /// A margin of 14 bits is a fifth of the 72 bits that the reference code corrects: assumed, for chips,
    /// blocks and temperatures outside the population. 32 chips are few compared with 160, and their worst
    /// page is about 2.5 standard deviations out.
    pub const DEFAULT: SensingRule = SensingRule {
        chips: 32,
        wordlines: 3,
        margin_bits: 14,
    };
}

/// One codeword in a thousand exceeds the mean by this many standard deviations.
const RARE: f64 = 3.09;

/// Seed of the population from which the shipped tables are made.
const SHIPPED_SEED: u64 = 1;

/// Strength of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeStrength {
    /// Errors in a codeword that the code nearly always corrects, in bits.
    pub capability_bits: u16,
    /// Bits of a codeword.
    pub codeword_bits: u32,
}

/// The entry of the factory table with which a page is read in the last step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndsWith {
    /// The one with the fewest errors.
    Best,
    /// The first one with which nearly all codewords of the page pass, where a walk over the table ends. A page that no
    /// entry reads counts with its best entry.
    First,
}

/// Errors of a codeword in the last step of a read, over a population (bits).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LastStep {
    /// Mean over all pages.
    pub mean_bits: f64,
    /// Value that one codeword in a thousand of the worst page exceeds.
    pub worst_bits: f64,
}

/// A population of chips at one temperature, which can be read under any condition.
#[derive(Debug)]
pub struct Bench {
    medium: Medium,
    mode: CellMode,
    /// Entries of the factory table, in its order.
    entries: Vec<ReadLevels>,
    code: CodeStrength,
    rule: SensingRule,
}

impl Bench {
    /// Chips drawn with `seed`, at `celsius`. None if `chip` does not have the mode.
    pub fn new(
        chip: &ChipProfile,
        mode: CellMode,
        celsius: f64,
        code: CodeStrength,
        rule: &SensingRule,
        seed: u64,
    ) -> Result<Option<Bench>, ProfileError> {
        let mut medium = Medium::new(chip.clone(), geometry(chip, rule.chips), seed)?;
        medium.set_temperature(Ns::ZERO, celsius)?;
        if chip.mode(mode).is_none() {
            return Ok(None);
        }
        let (entries, len) =
            factory_table(&medium, mode, &chip.factory_table).map_err(not_sensed)?;
        let entries = entries[..len as usize].iter();
        Ok(Some(Bench {
            entries: entries.map(|e| ReadLevels::Offsets(*e)).collect(),
            medium,
            mode,
            code,
            rule: *rule,
        }))
    }

    /// The population with data of age `age` in blocks with `pe_cycles` cycles.
    pub fn aged(&self, pe_cycles: u32, age: Ns) -> Result<Population<'_>, SenseError> {
        let block = self.medium.programmed(self.mode, pe_cycles, 0, Ns::ZERO);
        let geometry = self.medium.geometry();
        let last = geometry.wordlines_per_block as u32 - 1;
        let parts = (self.rule.wordlines as u32).saturating_sub(1).max(1);
        let mut pages = Vec::new();
        for die in (0..geometry.dies()).map(DieId) {
            for part in 0..self.rule.wordlines as u32 {
                for page in (0..self.mode.bits()).map(PageType) {
                    let at = PageAddr {
                        die,
                        block: SuperblockId(0),
                        wordline: (last * part / parts) as u16,
                        page,
                    };
                    pages.push(self.page(at, &block, age)?);
                }
            }
        }
        Ok(Population {
            bench: self,
            block,
            age,
            pages,
        })
    }

    /// Errors of the page at `at` with the entries of the table.
    fn page(&self, at: PageAddr, block: &BlockState, age: Ns) -> Result<Sample, SenseError> {
        let mut best = Step {
            entry: 0,
            bits: f64::INFINITY,
        };
        let mut first = None;
        for (entry, levels) in self.entries.iter().enumerate() {
            let bits = self.bits(self.medium.page_rber(at, 0, block, age, levels)?);
            let step = Step { entry, bits };
            if bits < best.bits {
                best = step;
            }
            if self.reads(bits) {
                first = first.or(Some(step));
            }
        }
        Ok(Sample {
            at,
            best,
            first: first.unwrap_or(best),
        })
    }

    /// Whether nearly all codewords with `bits` errors on average pass.
    fn reads(&self, bits: f64) -> bool {
        rarely(bits) <= self.code.capability_bits as f64
    }

    /// Errors of a codeword at a given RBER.
    fn bits(&self, rber: f64) -> f64 {
        rber * self.code.codeword_bits as f64
    }

    /// Reduction of `tR` by `safe` (%): mean over the page types, with the chip's own phases.
    pub fn cut_percent(&self, safe: SafeSense) -> Result<f64, SenseError> {
        let (mut default, mut short) = (0, 0);
        for page in (0..self.mode.bits()).map(PageType) {
            let read = |timing| (self.medium).read_ns(self.mode, page, SenseMode::Hard, timing);
            default += read(SenseTiming::DEFAULT)?;
            short += read(safe.timing())?;
        }
        Ok(100.0 * (1.0 - short as f64 / default as f64))
    }
}

/// Number of errors that one codeword in a thousand exceeds if the mean is `bits`.
fn rarely(bits: f64) -> f64 {
    bits + RARE * libm::sqrt(bits)
}

/// The error for a mode that the profile has but its medium does not sense.
fn not_sensed(e: SenseError) -> ProfileError {
    bad("modes", Reason::Sense(e))
}

/// The table of `chip` in `mode`, for a code of strength `code`.
pub fn sensing_table(
    chip: &ChipProfile,
    mode: CellMode,
    code: CodeStrength,
    rule: &SensingRule,
) -> Result<SensingTable, ProfileError> {
    let mut table = SensingTable {
        capability_bits: code.capability_bits,
        codeword_bits: code.codeword_bits,
        margin_bits: rule.margin_bits,
        activation_mev: activation_mev(chip, mode),
        ..SensingTable::NOTHING
    };
    for (t, celsius) in TEMPERATURES_C.into_iter().enumerate() {
        let Some(bench) = Bench::new(chip, mode, celsius as f64, code, rule, SHIPPED_SEED)? else {
            return Ok(table);
        };
        for (w, pe_cycles) in WEARS_PE.into_iter().enumerate() {
            for (a, hours) in AGES_H.into_iter().enumerate() {
                let aged = bench.aged(pe_cycles, Ns::from_h(hours as u64));
                let errors = aged.and_then(|population| population.errors(EndsWith::Best));
                table.points[t][w][a] = errors.map_err(not_sensed)?;
            }
        }
    }
    Ok(table)
}

/// Activation energy of the retention component that shifts the states of `mode` most (meV).
fn activation_mev(chip: &ChipProfile, mode: CellMode) -> u16 {
    let shifts = chip.mode(mode).map(|m| m.retention_mv_per_decade.iter());
    let components = chip.laws.retention.components.iter();
    let by_shift = shifts.into_iter().flatten().zip(components);
    let most = by_shift.max_by(|a, b| a.0.total_cmp(b.0));
    most.map_or(0, |(_, c)| libm::round(c.activation_energy_ev * 1e3) as u16)
}

/// A page of the population.
#[derive(Debug)]
struct Sample {
    at: PageAddr,
    best: Step,
    first: Step,
}

/// An entry of the table, and the errors of a codeword of the page with it.
#[derive(Clone, Copy, Debug)]
struct Step {
    entry: usize,
    bits: f64,
}

impl Sample {
    fn last(&self, ends: EndsWith) -> Step {
        match ends {
            EndsWith::Best => self.best,
            EndsWith::First => self.first,
        }
    }
}

/// The chips of a bench under one condition.
#[derive(Debug)]
pub struct Population<'a> {
    bench: &'a Bench,
    block: BlockState,
    age: Ns,
    pages: Vec<Sample>,
}

impl Population<'_> {
    /// Errors that the last step of reads has to correct.
    pub fn last_step(&self, ends: EndsWith) -> LastStep {
        let bits = || self.pages.iter().map(|page| page.last(ends).bits);
        LastStep {
            mean_bits: bits().sum::<f64>() / self.pages.len() as f64,
            worst_bits: rarely(bits().fold(0.0, f64::max)),
        }
    }

    /// Retries of a walk over the table that ends with the first entry that reads the page: mean over the pages.
    pub fn mean_retries(&self) -> f64 {
        let entries = self.pages.iter().map(|page| page.first.entry as f64);
        entries.sum::<f64>() / self.pages.len() as f64
    }

    /// Share of the pages that a walk would read with its last step at the default time, and does not with the
    /// precharge of `safe`.
    pub fn goes_on(&self, safe: SafeSense) -> Result<f64, SenseError> {
        let (mut read, mut goes_on) = (0, 0);
        for page in self
            .pages
            .iter()
            .filter(|page| self.bench.reads(page.first.bits))
        {
            read += 1;
            let bits = self.short_bits(page, EndsWith::First, safe.pre_permille)?;
            goes_on += u32::from(!self.bench.reads(bits));
        }
        Ok(f64::from(goes_on) / f64::from(read.max(1)))
    }

    /// The shortest precharge that leaves the margin required by the rule.
    pub fn safe(&self, ends: EndsWith) -> Result<SafeSense, SenseError> {
        let Bench { code, rule, .. } = self.bench;
        let allowed = code.capability_bits.saturating_sub(rule.margin_bits);
        Ok(self.errors(ends)?.safe(allowed))
    }

    /// Errors that one codeword in a thousand of the worst page exceeds, at the default time and at the shorter
    /// times of the table.
    pub fn errors(&self, ends: EndsWith) -> Result<ShortSenses, SenseError> {
        let at_default = self.last_step(ends).worst_bits;
        let tenths = |bits: f64| libm::ceil(10.0 * bits) as u16;
        let mut added_tenths = [0; PRE_PERMILLE.len()];
        for (added, pre_permille) in added_tenths.iter_mut().zip(PRE_PERMILLE) {
            *added = tenths(self.worst_errors(ends, pre_permille)? - at_default);
        }
        Ok(ShortSenses {
            default_tenths: tenths(at_default),
            added_tenths,
        })
    }

    /// Errors that one codeword in a thousand exceeds on the worst page at this precharge.
    fn worst_errors(&self, ends: EndsWith, pre_permille: u16) -> Result<f64, SenseError> {
        let mut worst = 0.0f64;
        for page in &self.pages {
            worst = worst.max(self.short_bits(page, ends, pre_permille)?);
        }
        Ok(rarely(worst))
    }

    /// Errors of a codeword of `page` in its last step at this precharge.
    fn short_bits(
        &self,
        page: &Sample,
        ends: EndsWith,
        pre_permille: u16,
    ) -> Result<f64, SenseError> {
        let timing = SenseTiming {
            pre_permille,
            ..SenseTiming::DEFAULT
        };
        let Bench { medium, .. } = self.bench;
        let levels = &self.bench.entries[page.last(ends).entry];
        let rber = medium.page_rber_of(page.at, 0, &self.block, self.age, levels, timing)?;
        Ok(self.bench.bits(rber))
    }
}
