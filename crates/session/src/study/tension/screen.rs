//! What the cells alone rule out: reads of a population of chips by themselves, which walk the factory table.

use std::collections::BTreeMap;

use firstread_core::voltage::MAX_FACTORY;
use firstread_core::{DieId, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, SuperblockId};
use firstread_drive::profile::DriveProfile;
use firstread_ecc::Code;
use firstread_nand::characterize::{factory_table, geometry};
use firstread_nand::{Medium, ReadLevels};

use super::super::dimension::Dimension;
use super::super::error::StudyError;
use super::super::plan;
use super::super::spec::{Cells, Study};
use super::cases::{self, Case};
use super::draw::Draw;
use super::spec::{Number, Plan, RowOf, Screen, Start};
use crate::conditions::{parse_age, parse_celsius, parse_pe_cycles, single};
use crate::drive_profile::profile;
use crate::error::Error;

/// Below this probability a read has ended.
const NEVER: f64 = 1e-9;
/// Seed of the population.
const SEED: u64 = 1;

/// The numbers that the cells give for each case, one a screen of its row.
pub type Screened = Vec<Vec<f64>>;

/// What the cells of `draw` say of `cases`.
///
/// # Errors
/// [`Error`] where a condition means nothing, or cells cannot be in it.
pub fn screen(
    plan: &Plan,
    study: &Study,
    rows: &[RowOf<'_>],
    cases: &[Case],
    draw: &Draw,
) -> Result<Screened, Error> {
    let mut benches = Benches {
        plan,
        study,
        draw,
        known: BTreeMap::new(),
        walks: BTreeMap::new(),
    };
    let case = |case: &Case| {
        let row = &rows[case.row];
        let screens = row.row.screens.iter();
        screens
            .map(|screen| {
                let number = benches.number(row, screen, case);
                number.map_err(|error| error.of(format!("row `{}`", row.id())))
            })
            .collect::<Result<Vec<f64>, Error>>()
    };
    cases.iter().map(case).collect()
}

/// Whether the cells leave `case` possible.
pub fn is_possible(row: &RowOf<'_>, numbers: &[f64]) -> bool {
    let mut both = row.row.screens.iter().zip(numbers);
    both.all(|(screen, number)| (screen.band[0]..=screen.band[1]).contains(number))
}

/// Populations and their walks, each computed once.
struct Benches<'a> {
    plan: &'a Plan,
    study: &'a Study,
    draw: &'a Draw,
    /// By variant and setting.
    known: BTreeMap<(String, Vec<usize>), (String, DriveProfile)>,
    /// By what they depend on.
    walks: BTreeMap<String, Walk>,
}

impl Benches<'_> {
    fn number(&mut self, row: &RowOf<'_>, screen: &Screen, case: &Case) -> Result<f64, Error> {
        let at = |dimension| {
            let value = cases::screened_at(self.study, row, screen, case, dimension);
            value.ok_or_else(|| Error::from(StudyError::No(dimension.name())))
        };
        let temperature = at(Dimension::Temperature)?;
        let (age, wear) = (at(Dimension::Age)?, at(Dimension::PeCycles)?);
        let name = screen.variant.get_ref();
        let known = (name.clone(), case.setting.clone());
        if !self.known.contains_key(&known) {
            let (variant, _) = cases::variant_at(self.plan, self.study, name, &case.setting)
                .ok_or(StudyError::No("variant"))?;
            let mut overrides = plan::overrides(&variant)?;
            overrides.extend(self.draw.set(self.plan));
            let profile = profile(&variant.drive, &overrides)?;
            let chip = overrides.iter().filter(|o| o.path.starts_with("chip."));
            let chip: Vec<String> = chip.map(|o| format!("{}={}", o.path, o.value)).collect();
            let mode = profile.mode.name();
            let of = format!("{} {} {mode} {chip:?}", profile.chip.name, profile.ecc.code);
            self.known.insert(known.clone(), (of, profile));
        }
        let (of, profile) = &self.known[&known];
        let of = format!(
            "{of} {temperature} {age} {wear} {:?} {}",
            screen.walk, screen.read_kib
        );
        if !self.walks.contains_key(&of) {
            let condition = Condition {
                celsius: parse_celsius(&temperature)?,
                age: single(parse_age, &age)?,
                pe_cycles: single(parse_pe_cycles, &wear)?,
            };
            let walk = Walk::of(profile, self.plan.cells, &condition, screen)?;
            self.walks.insert(of.clone(), walk);
        }
        Ok(rounded(self.walks[&of].number(screen.metric)))
    }
}

/// To six significant digits, so that a number that was kept is the number.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

struct Condition {
    celsius: f64,
    age: Ns,
    pe_cycles: u32,
}

/// How many steps reads take.
#[derive(Debug)]
pub struct Walk {
    /// Share of reads that take more than so many steps.
    beyond: Vec<f64>,
}

impl Walk {
    /// Reads of a population of chips of `profile`. Errors of a page persist, so a read that has failed with several entries
    /// fails with all of them as often as with the best of them.
    fn of(
        profile: &DriveProfile,
        sample: Cells,
        condition: &Condition,
        screen: &Screen,
    ) -> Result<Walk, Error> {
        let chip = &profile.chip;
        let mut medium = Medium::new(chip.clone(), geometry(chip, sample.chips), SEED)?;
        medium.set_temperature(Ns::ZERO, condition.celsius)?;
        let mode = profile.mode;
        let code = Code::named(&profile.ecc.code)?;
        let fails = Fails::of(&code, screen.read_kib);
        let (table, len) = factory_table(&medium, mode, &chip.factory_table)?;
        let block = medium.programmed(mode, condition.pe_cycles, 0, Ns::ZERO);
        let age = condition.age;
        let best = medium.nominal_optimum(&block, age)?;
        let mut entries: Vec<LevelOffsets> = Vec::with_capacity(MAX_FACTORY + 1);
        if screen.walk == Start::Best {
            entries.push(best);
        }
        entries.extend(&table[..usize::from(len)]);
        let last = medium.geometry().wordlines_per_block - 1;
        let parts = sample.wordlines.saturating_sub(1).max(1);
        let mut beyond = vec![0.0; entries.len()];
        let mut pages = 0.0;
        for die in 0..sample.chips {
            for part in 0..sample.wordlines {
                for page in 0..mode.bits() {
                    let at = PageAddr {
                        die: DieId(die),
                        block: SuperblockId(0),
                        wordline: (u32::from(last) * u32::from(part) / u32::from(parts)) as u16,
                        page: PageType(page),
                    };
                    let mut left = 1.0;
                    for (entry, beyond) in entries.iter().zip(&mut beyond) {
                        let levels = ReadLevels::Offsets(*entry);
                        let timing = SenseTiming::DEFAULT;
                        let rber = medium.page_rber_of(at, 0, &block, age, &levels, timing)?;
                        left = fails.at(rber).min(left);
                        *beyond += left;
                        if left < NEVER {
                            break;
                        }
                    }
                    pages += 1.0;
                }
            }
        }
        beyond.iter_mut().for_each(|share| *share /= pages);
        Ok(Walk { beyond })
    }

    fn number(&self, number: Number) -> f64 {
        let exceeded = |by: f64| {
            let steps = self.beyond.iter().position(|share| *share <= by);
            steps.unwrap_or(self.beyond.len()) as f64
        };
        match number {
            Number::FirstFailsPpm => 1e6 * self.beyond.first().copied().unwrap_or(0.0),
            Number::StepsMean => self.beyond.iter().sum(),
            Number::StepsP99_9 => exceeded(1e-3),
            Number::StepsP99_99 => exceeded(1e-4),
        }
    }
}

/// Probability that a read fails, by the error rate of its page: from a table, between whose points it is a line.
struct Fails {
    table: Vec<f64>,
}

/// Error rates of the table: from 1e-4 up, so many points a decade.
const LOWEST: f64 = 1e-4;
const A_DECADE: f64 = 100.0;
const DECADES: f64 = 3.0;

impl Fails {
    fn of(code: &Code, read_kib: u32) -> Fails {
        let codewords = (read_kib << 10).div_ceil(code.data_bytes().max(1)).max(1);
        let points = (A_DECADE * DECADES) as u32;
        let at = |i: u32| {
            let rber = LOWEST * libm::pow(10.0, f64::from(i) / A_DECADE);
            let one = code.frame_error_rate(rber).clamp(0.0, 1.0);
            // 1 - (1 - p)^n, also where p is small.
            -libm::expm1(f64::from(codewords) * libm::log1p(-one.min(1.0 - 1e-15)))
        };
        Fails {
            table: (0..=points).map(at).collect(),
        }
    }

    fn at(&self, rber: f64) -> f64 {
        if rber <= LOWEST {
            return self.table.first().copied().unwrap_or(0.0);
        }
        let place = A_DECADE * libm::log10(rber / LOWEST);
        let below = place as usize;
        match (self.table.get(below), self.table.get(below + 1)) {
            (Some(a), Some(b)) => a + (b - a) * (place - below as f64),
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the points of the table a probability is off by less than a tenth of itself where it counts.
    #[test]
    fn formula_failures_between_the_points_of_the_table() {
        let code = Code::named("ldpc-1k").unwrap();
        let fails = Fails::of(&code, 4);
        for rber in [5.03e-3, 6.11e-3, 7.77e-3, 9.2e-3, 1.31e-2] {
            let one = code.frame_error_rate(rber);
            let exact = 1.0 - libm::pow(1.0 - one, 4.0);
            assert!((fails.at(rber) / exact - 1.0).abs() < 0.1, "{rber}");
        }
        assert_eq!(fails.at(0.3), 1.0);
        assert!(fails.at(0.0) < 1e-9);
    }

    #[test]
    fn formula_numbers_of_a_walk() {
        let walk = Walk {
            beyond: vec![0.5, 0.25, 5e-4, 1e-5],
        };
        assert_eq!(walk.number(Number::FirstFailsPpm), 5e5);
        assert!((walk.number(Number::StepsMean) - 0.75051).abs() < 1e-12);
        assert_eq!(walk.number(Number::StepsP99_9), 2.0);
        assert_eq!(walk.number(Number::StepsP99_99), 3.0);
        let never = Walk {
            beyond: vec![1.0, 1.0],
        };
        assert_eq!(never.number(Number::StepsP99_99), 2.0);
    }
}
