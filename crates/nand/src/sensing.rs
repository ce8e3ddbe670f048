//! How short a sense may safely be: what an author of AR2 measured on chips, from the cell model.
//!
//! A population of chips is read at the levels of a good last step: for each page, the entry of the
//! factory table with the fewest errors, which leaves what deviates from the table's path. The
//! precharge is safe at a length at which the worst page of all has no more errors than the code
//! corrects, less a margin.

use alloc::vec::Vec;

use firstread_core::sensing::{AGES_H, SafeSense, SensingTable, TEMPERATURES_C, WEARS_PE};
use firstread_core::{BlockId, CellMode, DieId, LevelOffsets, Ns, PageAddr, PageType, SenseTiming};

use crate::cell::model::BlockState;
use crate::characterize::{factory_table, geometry};
use crate::medium::{Medium, ReadLevels};
use crate::profile::{ChipProfile, ProfileError};

/// The rule a table is made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensingRule {
    /// Chips of the population.
    pub chips: u16,
    /// Wordlines of each, spread over the block.
    pub wordlines: u16,
    /// Bits a codeword must be able to err in beyond the worst of the population.
    pub margin_bits: u16,
    /// Steps of the precharge (permille).
    pub step_permille: u16,
    /// Shortest precharge (permille).
    pub least_permille: u16,
}

impl SensingRule {
    /// A margin of 14 bits is a fifth of the 72 that the reference code corrects, assumed for chips,
    /// blocks and temperatures outside the population; 32 chips are few beside 160, and their worst
    /// page is about 2.5 standard deviations away. Precharges below 30 % are not tried.
    pub const DEFAULT: SensingRule = SensingRule {
        chips: 32,
        wordlines: 3,
        margin_bits: 14,
        step_permille: 20,
        least_permille: 300,
    };
}

/// A codeword among a thousand has more errors than the mean by so many standard deviations.
const RARE: f64 = 3.09;

/// The table of `chip` in `mode`, for a code that corrects `capability_bits` of `codeword_bits`.
pub fn sensing_table(
    chip: &ChipProfile,
    mode: CellMode,
    capability_bits: u16,
    codeword_bits: u32,
    rule: &SensingRule,
) -> Result<SensingTable, ProfileError> {
    let geometry = geometry(chip, rule.chips);
    let mut table = SensingTable {
        capability_bits,
        codeword_bits,
        ..SensingTable::NOTHING
    };
    for (t, celsius) in TEMPERATURES_C.into_iter().enumerate() {
        let mut medium = Medium::new(chip.clone(), geometry, 1)?;
        medium.set_temperature(Ns::ZERO, celsius as f64)?;
        let made = factory_table(&medium, mode, &chip.factory_table);
        let Ok((entries, len)) = made else {
            return Ok(table);
        };
        let entries = &entries[..len as usize];
        for (w, pe_cycles) in WEARS_PE.into_iter().enumerate() {
            for (a, hours) in AGES_H.into_iter().enumerate() {
                let condition = (pe_cycles, hours);
                let population =
                    Population::new(&medium, entries, mode, condition, codeword_bits, rule);
                let worst = |pre_permille| {
                    let population = population.as_ref()?;
                    population.worst_errors(pre_permille)
                };
                table.safe[t][w][a] = shortest(worst, capability_bits, rule);
            }
        }
    }
    Ok(table)
}

/// The shortest precharge at which `worst` leaves the margin.
fn shortest(
    worst: impl Fn(u16) -> Option<f64>,
    capability_bits: u16,
    rule: &SensingRule,
) -> SafeSense {
    let allowed = capability_bits as f64 - rule.margin_bits as f64;
    let mut safe = SafeSense::DEFAULT;
    let Some(at_default) = worst(1000) else {
        return safe;
    };
    let mut pre = 1000;
    while pre >= rule.least_permille + rule.step_permille {
        pre -= rule.step_permille;
        match worst(pre) {
            Some(errors) if errors <= allowed => {
                safe = SafeSense {
                    pre_permille: pre,
                    extra_bits: libm::ceil(errors - at_default) as u16,
                };
            }
            _ => break,
        }
    }
    safe
}

/// A page of the population with the levels of its best last step.
struct Sample {
    at: PageAddr,
    levels: ReadLevels,
}

/// The population in one condition: data of `hours` in a block of `pe_cycles`.
struct Population<'a> {
    medium: &'a Medium,
    block: BlockState,
    now: Ns,
    codeword_bits: u32,
    pages: Vec<Sample>,
}

impl Population<'_> {
    /// None where the chip has no such mode.
    fn new<'a>(
        medium: &'a Medium,
        table: &[LevelOffsets],
        mode: CellMode,
        (pe_cycles, hours): (u32, u32),
        codeword_bits: u32,
        rule: &SensingRule,
    ) -> Option<Population<'a>> {
        let geometry = medium.geometry();
        let block = medium.programmed(mode, pe_cycles, 0, Ns::ZERO);
        let now = Ns::from_h(hours as u64);
        let (last, parts) = (
            geometry.wordlines_per_block as u32 - 1,
            (rule.wordlines as u32 - 1).max(1),
        );
        let mut pages = Vec::new();
        for die in (0..geometry.dies()).map(DieId) {
            for part in 0..rule.wordlines as u32 {
                for page in (0..mode.bits()).map(PageType) {
                    let at = PageAddr {
                        die,
                        block: BlockId(0),
                        wordline: (last * part / parts) as u16,
                        page,
                    };
                    let rated = table.iter().map(|entry| {
                        let levels = ReadLevels::Offsets(*entry);
                        let rber = medium.page_rber(at, 0, &block, now, &levels);
                        rber.map(|rber| (rber, levels))
                    });
                    let mut best: Option<(f64, ReadLevels)> = None;
                    for entry in rated {
                        let entry = entry.ok()?;
                        if best.as_ref().is_none_or(|b| entry.0 < b.0) {
                            best = Some(entry);
                        }
                    }
                    let (_, levels) = best?;
                    pages.push(Sample { at, levels });
                }
            }
        }
        Some(Population {
            medium,
            block,
            now,
            codeword_bits,
            pages,
        })
    }

    /// Errors that one codeword in a thousand exceeds on the worst page.
    fn worst_errors(&self, pre_permille: u16) -> Option<f64> {
        let timing = SenseTiming {
            pre_permille,
            ..SenseTiming::DEFAULT
        };
        let mut worst = 0.0f64;
        for Sample { at, levels } in &self.pages {
            let rber = self
                .medium
                .page_rber_of(*at, 0, &self.block, self.now, levels, timing);
            worst = worst.max(rber.ok()? * self.codeword_bits as f64);
        }
        Some(worst + RARE * libm::sqrt(worst))
    }
}
