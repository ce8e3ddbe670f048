//! What is measured of a chip: its nominal page by formula, and a sample of its pages.

use anyhow::{Result, anyhow};
use firstread_core::voltage::{MAX_FACTORY, VoltageTables};
use firstread_core::{
    CellMode, DieId, Geometry, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, Stream,
    StripeOrder, SuperblockId,
};
use firstread_drive::profile::LoadedChip;
use firstread_drive::tables;
use firstread_ecc::Code;
use firstread_ecc::measure::wilson;
use firstread_nand::cell::model::Condition;
use firstread_nand::cell::optimum::crossing;
use firstread_nand::chip::VariationProfile;
use firstread_nand::gaussian::{density, tail_exact};
use firstread_nand::{BlockState, ChipProfile, Medium, ReadLevels, StateDistribution};

use crate::args::Usage;

/// Standard deviations of a 95 % interval.
const Z: f64 = 1.96;
/// User bytes of a page, as of the shipped drives.
const PAGE_BYTES: u32 = 16 << 10;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub mode: CellMode,
    /// Times since programming, rising.
    pub ages: Vec<Ns>,
    /// Of programming, storage and reads (°C).
    pub temperature_c: f64,
    pub pe_cycles: u32,
    /// Page reads of the block since programming.
    pub reads: f64,
    pub code: Code,
    /// Sampled pages of each type.
    pub pages: u32,
    pub seed: u64,
}

/// A chip in one mode.
#[derive(Clone, Debug)]
pub struct Characterization {
    pub name: String,
    pub conditions: Conditions,
    pub variation: VariationProfile,
    pub tables: VoltageTables,
    /// Factory default level of each valley (mV), index `valley - 1`.
    pub factory_mv: Vec<f64>,
    /// Step of a level (mV).
    pub dac_step_mv: f64,
    /// One for each age, in order.
    pub ages: Vec<Aged>,
}

/// The chip at one age.
#[derive(Clone, Debug)]
pub struct Aged {
    pub age: Ns,
    /// States of the nominal page.
    pub states: Vec<StateDistribution>,
    pub valleys: Vec<Valley>,
    pub pages: Vec<PageErrors>,
    /// For each factory entry, in the order of the table.
    pub entries: Vec<Entry>,
    pub walk: Walk,
}

/// A valley of the nominal page.
#[derive(Clone, Copy, Debug)]
pub struct Valley {
    /// The level with fewest errors (mV).
    pub optimum_mv: f64,
    /// Share of all cells on the wrong side of the factory level: of its two states, and of the
    /// erased one.
    pub misread_factory: f64,
    /// The same at the optimum.
    pub misread_optimum: f64,
}

/// Errors of a page type.
#[derive(Clone, Debug)]
pub struct PageErrors {
    /// RBER of the nominal page.
    pub nominal: AtLevels<f64>,
    /// Mean RBER of the sample; `optimum` is that of each page.
    pub mean: AtLevels<f64>,
    /// RBER that 99 % of the sample do not exceed.
    pub p99: AtLevels<f64>,
    /// Pages of the sample that cannot be decoded.
    pub failing: AtLevels<Share>,
    /// Pages of the sample that cannot be decoded at the optimum of the nominal page.
    pub failing_nominal: Share,
}

/// Something at factory default levels and at optimal ones.
#[derive(Clone, Copy, Debug)]
pub struct AtLevels<T> {
    pub factory: T,
    pub optimum: T,
}

/// How many of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    pub n: u32,
    pub of: u32,
}

impl Share {
    pub fn value(self) -> f64 {
        self.n as f64 / self.of.max(1) as f64
    }
    /// Wilson's 95 % interval.
    pub fn interval(self) -> (f64, f64) {
        wilson(self.n, self.of.max(1), Z)
    }
    fn add(&mut self, hit: bool) {
        self.n += u32::from(hit);
        self.of += 1;
    }
    fn plus(self, other: Share) -> Share {
        Share {
            n: self.n + other.n,
            of: self.of + other.of,
        }
    }
}

/// An entry of the factory retry table, tried on every page of the sample.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Pages that it fails, by page type.
    pub failing: Vec<Share>,
}

impl Entry {
    /// Pages of all types.
    pub fn all(&self) -> Share {
        self.failing
            .iter()
            .fold(Share::default(), |a, b| a.plus(*b))
    }
}

/// Reads that walk the factory table from its first entry.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Pages by the retries they take.
    pub retries: Vec<u32>,
    /// Pages that no entry reads.
    pub none: Share,
}

impl Walk {
    /// Pages read by the default levels.
    pub fn first_try(&self) -> Share {
        Share {
            n: self.retries.first().copied().unwrap_or(0),
            of: self.none.of,
        }
    }
    /// Mean retries of the pages that an entry reads; none where there are no such pages.
    pub fn mean(&self) -> Option<f64> {
        let read: u32 = self.retries.iter().sum();
        let steps: u64 = (0..).zip(&self.retries).map(|(k, n)| k * *n as u64).sum();
        (read > 0).then(|| steps as f64 / read as f64)
    }
    /// Most retries of a page that an entry reads.
    pub fn most(&self) -> Option<usize> {
        self.retries.iter().rposition(|n| *n > 0)
    }
}

impl Characterization {
    /// Measures `loaded` under `conditions`.
    pub fn new(loaded: &LoadedChip, conditions: Conditions) -> Result<Characterization> {
        let chip = &loaded.chip;
        let tables = tables::characterize(chip, conditions.mode)?;
        let mut medium = medium(chip, &conditions)?;
        medium
            .set_temperature(Ns::ZERO, conditions.temperature_c)
            .map_err(|e| Usage(format!("--temperature: {}", e.reason)))?;
        let factory_mv = medium.model(conditions.mode)?.default_mv;
        let ages = conditions
            .ages
            .iter()
            .map(|age| Aged::new(&medium, &tables, &conditions, *age))
            .collect::<Result<Vec<Aged>>>()?;
        Ok(Characterization {
            name: chip.name.clone(),
            variation: chip.variation,
            factory_mv: factory_mv[..conditions.mode.valleys()].to_vec(),
            dac_step_mv: chip.dac_step_mv,
            tables,
            conditions,
            ages,
        })
    }

    /// The factory entries in use.
    pub fn entries(&self) -> &[LevelOffsets] {
        &self.tables.factory[..(self.tables.factory_len as usize).min(MAX_FACTORY)]
    }

    /// Share of all cells at `mv`, per mV, that are in a state distributed as `state`.
    pub fn density(&self, state: StateDistribution, mv: f64) -> f64 {
        let at = |sigma: f64| density((mv - state.mean_mv) / sigma) / sigma;
        let wide = self.variation.tail_fraction;
        let narrow = at(state.sigma_mv);
        let mixed = match wide > 0.0 {
            true => {
                (1.0 - wide) * narrow + wide * at(state.sigma_mv * self.variation.tail_sigma_ratio)
            }
            false => narrow,
        };
        mixed / self.conditions.mode.states() as f64
    }

    /// Page type of a valley (1-based).
    pub fn page_of(&self, valley: usize) -> PageType {
        PageType(self.tables.page_of_valley[valley - 1])
    }

    /// Page types of the mode.
    pub fn page_types(&self) -> impl Iterator<Item = PageType> + use<> {
        (0..self.conditions.mode.bits()).map(PageType)
    }
}

/// A medium with a die for every sampled page.
fn medium(chip: &ChipProfile, conditions: &Conditions) -> Result<Medium> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: conditions.pages as u16,
        planes: 1,
        blocks_per_plane: 1,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: PAGE_BYTES,
        slot_bytes: 4 << 10,
        codeword_bytes: conditions.code.data_bytes(),
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let mut medium = Medium::new(chip.clone(), geometry, conditions.seed)
        .map_err(|e| anyhow!("{}: {}: {}", chip.name, e.key, e.reason))?;
    medium.set_codeword_bits(conditions.code.codeword_bits());
    Ok(medium)
}

impl Aged {
    fn new(
        medium: &Medium,
        tables: &VoltageTables,
        conditions: &Conditions,
        age: Ns,
    ) -> Result<Aged> {
        let mode = conditions.mode;
        let block = BlockState {
            reads: conditions.reads as f32,
            // Reads are spread over the age: none means that the next is the first one.
            last_read: if conditions.reads > 0.0 {
                age
            } else {
                Ns::ZERO
            },
            ..medium.programmed(mode, conditions.pe_cycles, 1, Ns::ZERO)
        };
        let variation = &medium.chip().variation;
        let states = medium.nominal_states(&block, age)?[..mode.states()].to_vec();
        let factory_mv = medium.model(mode)?.default_mv;
        let valley = |k: usize| {
            let (lower, upper) = (states[k], states[k + 1]);
            let optimum_mv = crossing(lower, upper, variation);
            // The erased state is wide and reads raise it: it may reach past its own valley.
            let erased = (k > 0).then_some(states[0]);
            let at = |mv| misread(variation, lower, upper, erased, mv) / mode.states() as f64;
            Valley {
                optimum_mv,
                misread_factory: at(factory_mv[k]),
                misread_optimum: at(optimum_mv),
            }
        };
        let sample = Sample {
            medium,
            code: &conditions.code,
            condition: medium.condition(&block, age),
            entries: &tables.factory[..tables.factory_len as usize],
            nominal: ReadLevels::Offsets(medium.nominal_optimum(&block, age)?),
            seed: Stream::new(conditions.seed).named("cells"),
        };
        let mut aged = Aged {
            age,
            valleys: (0..mode.valleys()).map(valley).collect(),
            states,
            pages: Vec::new(),
            entries: vec![Entry::default(); sample.entries.len()],
            walk: Walk {
                retries: vec![0; sample.entries.len()],
                none: Share::default(),
            },
        };
        for page in (0..mode.bits()).map(PageType) {
            let nominal = |levels: ReadLevels| medium.nominal_rber(page, &block, age, &levels);
            let nominal = AtLevels {
                factory: nominal(FACTORY)?,
                optimum: nominal(ReadLevels::Ideal)?,
            };
            let of_type = sample.draw(page, conditions.pages, nominal, &mut aged)?;
            aged.pages.push(of_type);
        }
        Ok(aged)
    }
}

const FACTORY: ReadLevels = ReadLevels::Offsets([0; 15]);

/// Cells on the wrong side of a level, where each state has one: of the two states next to it, and
/// of the erased one where that is another.
fn misread(
    v: &VariationProfile,
    lower: StateDistribution,
    upper: StateDistribution,
    erased: Option<StateDistribution>,
    level_mv: f64,
) -> f64 {
    let tail = |z: f64| match v.tail_fraction > 0.0 {
        true => {
            (1.0 - v.tail_fraction) * tail_exact(z)
                + v.tail_fraction * tail_exact(z / v.tail_sigma_ratio)
        }
        false => tail_exact(z),
    };
    let above = |d: StateDistribution| tail((level_mv - d.mean_mv) / d.sigma_mv);
    above(lower) + erased.map_or(0.0, above) + tail((upper.mean_mv - level_mv) / upper.sigma_mv)
}

/// Pages to be drawn at one age.
struct Sample<'a> {
    medium: &'a Medium,
    code: &'a Code,
    condition: Condition,
    entries: &'a [LevelOffsets],
    /// The optimum of the nominal page, in steps of a level.
    nominal: ReadLevels,
    seed: Stream,
}

impl Sample<'_> {
    /// Draws `pages` pages of `page` and tries all entries on each.
    fn draw(
        &self,
        page: PageType,
        pages: u32,
        nominal: AtLevels<f64>,
        aged: &mut Aged,
    ) -> Result<PageErrors> {
        let mut failing_entries = vec![Share::default(); self.entries.len()];
        let mut failing = AtLevels {
            factory: Share::default(),
            optimum: Share::default(),
        };
        let mut failing_nominal = Share::default();
        let (mut factory, mut optimum) = (Vec::new(), Vec::new());
        for i in 0..pages {
            let at = self.place(page, i);
            let mut retries = None;
            for (k, offsets) in self.entries.iter().enumerate() {
                let (fails, rber) = self.read(at, &ReadLevels::Offsets(*offsets), k as u64)?;
                failing_entries[k].add(fails);
                if k == 0 {
                    failing.factory.add(fails);
                    factory.push(rber);
                }
                if !fails {
                    retries = retries.or(Some(k));
                }
            }
            match retries {
                Some(k) => aged.walk.retries[k] += 1,
                None => aged.walk.none.n += 1,
            }
            aged.walk.none.of += 1;
            let id = self.entries.len() as u64;
            failing_nominal.add(self.read(at, &self.nominal, id)?.0);
            let (fails, rber) = self.read(at, &ReadLevels::Ideal, id + 1)?;
            failing.optimum.add(fails);
            optimum.push(rber);
        }
        for (entry, share) in aged.entries.iter_mut().zip(failing_entries) {
            entry.failing.push(share);
        }
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        Ok(PageErrors {
            nominal,
            mean: AtLevels {
                factory: mean(&factory),
                optimum: mean(&optimum),
            },
            p99: AtLevels {
                factory: p99(factory),
                optimum: p99(optimum),
            },
            failing,
            failing_nominal,
        })
    }

    /// The `i`-th page: in a die and a block of its own, on any wordline, so that the pages are
    /// independent draws.
    fn place(&self, page: PageType, i: u32) -> PageAddr {
        let wordlines = self.medium.geometry().wordlines_per_block as u64;
        PageAddr {
            die: DieId(i as u16),
            block: SuperblockId(page.0 as u32 * 65_536 + i),
            wordline: self.seed.at(page.0 as u64).at(i as u64).below(wordlines) as u16,
            page,
        }
    }

    /// Whether a codeword of the page at `at` fails, and the page's RBER.
    fn read(&self, at: PageAddr, levels: &ReadLevels, sense: u64) -> Result<(bool, f64)> {
        let timing = SenseTiming::DEFAULT;
        let page = self
            .medium
            .sense_under(at, 0, self.condition, levels, timing, sense)?;
        let draws = self
            .seed
            .named("code")
            .at((at.page.0 as u64) << 32 | at.die.0 as u64);
        let codewords = 0..self.medium.geometry().codewords_per_page();
        let fails = codewords.into_iter().any(|c| {
            let weight = page.codeword_weight(c);
            let draw = draws.draw(c as u64);
            !self.code.judge(weight as u32, draw, || draw).ok
        });
        Ok((fails, page.rber()))
    }
}

/// The value that 99 % do not exceed.
fn p99(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    let rank = (all.len() * 99).div_ceil(100);
    all[rank.max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_drive::profile::{Library, load_chip};

    fn measure(chip: &str, mode: CellMode, pages: u32) -> Characterization {
        after_reads(chip, mode, pages, 0.0)
    }

    fn after_reads(chip: &str, mode: CellMode, pages: u32, reads: f64) -> Characterization {
        let loaded = load_chip(&Library::new(), chip, &[]).unwrap();
        let conditions = Conditions {
            mode,
            ages: vec![Ns::ZERO, Ns::from_h(28)],
            temperature_c: 55.0,
            pe_cycles: 300,
            reads,
            code: Code::named("ldpc-1k").unwrap(),
            pages,
            seed: 1,
        };
        Characterization::new(&loaded, conditions).unwrap()
    }

    #[test]
    fn formula_the_valleys_of_a_page_add_up_to_its_rber() {
        for (chip, mode, reads) in [
            ("ct-qlc-176l", CellMode::Qlc, 0.0),
            // The erased state has reached the programmed ones.
            ("ct-qlc-176l", CellMode::Qlc, 300_000.0),
            ("ct-tlc-48l", CellMode::Tlc, 0.0),
            ("fg-qlc-144l", CellMode::Mlc, 1_000.0),
        ] {
            let c = after_reads(chip, mode, 1, reads);
            for aged in &c.ages {
                for (page, errors) in c.page_types().zip(&aged.pages) {
                    let valleys = (1..)
                        .zip(&aged.valleys)
                        .filter(|(v, _)| c.page_of(*v) == page);
                    let (mut factory, mut optimum) = (0.0, 0.0);
                    for (_, v) in valleys {
                        factory += v.misread_factory;
                        optimum += v.misread_optimum;
                    }
                    // Tails come from a table of relative error 1.2e-6 there.
                    let close = |a: f64, b: f64| (a - b).abs() < 1e-5 * b + 1e-15;
                    assert!(close(factory, errors.nominal.factory), "{chip} {page:?}");
                    assert!(close(optimum, errors.nominal.optimum), "{chip} {page:?}");
                }
            }
        }
    }

    /// Of two hundred values two lie above it; of fewer than a hundred none does.
    #[test]
    fn formula_what_99_percent_do_not_exceed() {
        let of = |n: u32| p99((1..=n).rev().map(f64::from).collect());
        assert_eq!(
            [1, 2, 50, 99, 100, 101, 200].map(of),
            [1.0, 2.0, 50.0, 99.0, 99.0, 100.0, 198.0]
        );
    }

    #[test]
    fn formula_the_density_of_all_states_is_one() {
        let c = measure("ct-qlc-176l", CellMode::Qlc, 1);
        for aged in &c.ages {
            let at = |mv: f64| aged.states.iter().map(|s| c.density(*s, mv)).sum::<f64>();
            let total: f64 = (-6_000..6_000).map(|mv| at(mv as f64)).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
        }
    }

    #[test]
    fn sequence_a_walk_takes_what_the_entries_leave() {
        let c = measure("ct-qlc-176l", CellMode::Qlc, 100);
        for aged in &c.ages {
            let pages = 100 * c.page_types().count() as u32;
            let walk = &aged.walk;
            assert_eq!(walk.retries.iter().sum::<u32>() + walk.none.n, pages);
            assert_eq!(walk.first_try().n, pages - aged.entries[0].all().n);
            assert!(aged.entries.iter().all(|e| e.all().of == pages));
            // No walk fails more often than its best entry.
            assert!(aged.entries.iter().all(|e| e.all().n >= walk.none.n));
            for (t, page) in aged.pages.iter().enumerate() {
                assert_eq!(page.failing.factory, aged.entries[0].failing[t]);
                assert!(page.mean.optimum <= page.mean.factory);
                assert!(page.mean.optimum <= page.p99.optimum);
            }
        }
    }

    #[test]
    fn formula_failures_are_those_of_the_code_at_the_rber_drawn() {
        // A page of n codewords at a mean RBER fails with 1 - (1 - FER)^n; the sample's mean over
        // its own RBERs must lie within its interval. At z = 1.96 one page type in twenty would
        // not: doubled here.
        let loaded = load_chip(&Library::new(), "ct-qlc-176l", &[]).unwrap();
        let c = measure("ct-qlc-176l", CellMode::Qlc, 1_500);
        let medium = {
            let mut m = medium(&loaded.chip, &c.conditions).unwrap();
            m.set_temperature(Ns::ZERO, 55.0).unwrap();
            m
        };
        let age = Ns::from_h(28);
        let block = medium.programmed(CellMode::Qlc, 300, 1, Ns::ZERO);
        let sample = Sample {
            medium: &medium,
            code: &c.conditions.code,
            condition: medium.condition(&block, age),
            entries: &[],
            nominal: FACTORY,
            seed: Stream::new(1).named("cells"),
        };
        let aged = c.ages.last().unwrap();
        let middle = (0..c.entries().len())
            .min_by_key(|k| aged.entries[*k].all().n.abs_diff(3_000))
            .unwrap();
        let levels = ReadLevels::Offsets(c.entries()[middle]);
        for page in c.page_types() {
            let expected: f64 = (0..1_500)
                .map(|i| {
                    let rber = sample.read(sample.place(page, i), &levels, 0).unwrap().1;
                    1.0 - libm::pow(1.0 - c.conditions.code.frame_error_rate(rber), 16.0)
                })
                .sum::<f64>()
                / 1_500.0;
            let share = aged.entries[middle].failing[page.0 as usize];
            let (low, high) = wilson(share.n, share.of, 2.0 * Z);
            assert!(
                low <= expected && expected <= high,
                "{page:?}, entry {middle}: {low}..{high}, expected {expected}"
            );
        }
    }
}
