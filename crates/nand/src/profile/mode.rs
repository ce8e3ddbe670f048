//! One cell mode of a chip.

use alloc::vec::Vec;

use firstread_core::CellMode;

use super::error::{ProfileError, Reason, bad};
use super::field::{Field, Kind, LONGEST_NS, Numbers, Source, numbers, path, table, unit};
use super::gray;

/// One cell mode of the chip.
#[derive(Clone, PartialEq, Debug)]
pub struct ModeProfile {
    /// The mode that the numbers below are of.
    pub mode: CellMode,
    /// Mean threshold voltage of each state of a fresh block right after programming, erased state first
    /// (mV). One number per state, in ascending order.
    pub mean_mv: Vec<f64>,
    /// Standard deviation of each state at the same moment, erased state first (mV), as seen by a default
    /// sense: [`SensingProfile::noise_mv`](crate::chip::SensingProfile::noise_mv) is part of it.
    pub sigma_mv: Vec<f64>,
    /// The Gray code: for each page type, LSB first, its valleys in ascending order (1-based; valley `k` lies
    /// between states `k - 1` and `k`). Each valley is on exactly one page type.
    pub pages: Vec<Vec<u8>>,
    /// Sentinel valley of each page type, one of that page type's valleys. A search moves the sentinel, and
    /// the other valleys are projected from it.
    pub sentinels: Vec<u8>,
    /// Retention shift of the top state per decade of time in a fresh block (mV): the `A` of the law. One
    /// number for each of [`RetentionProfile::components`](crate::chip::RetentionProfile::components).
    pub retention_mv_per_decade: Vec<f64>,
    /// Rated program/erase cycles.
    pub endurance_pe_cycles: u32,
    /// Damage to a block by one cycle in this mode, relative to one in the densest mode. A mode's rating says
    /// when that mode fails, which is a matter of its margin; this says what the mode leaves behind for the others.
    pub cycle_damage: f64,
    /// Part of `tR` that does not depend on the number of levels (ns).
    pub setup_ns: u64,
    /// Phases of one sense; `tR = setup + n * (pre + eval + disch)` for a page of `n` valleys.
    pub sense: SensePhases,
    /// `tR` of each page type as measured, LSB first (ns). Empty where it follows from setup and senses. Measured times fit
    /// that model to a few microseconds only. What the model adds or saves, for soft reads and short senses, is a share of
    /// the measured time: see [`ModeProfile::read_ns`].
    pub measured_read_ns: Vec<u64>,
    /// Time to program all pages of one wordline, on all planes at once. Data sheets and ISSCC tables often
    /// give the average *per page*: check against the programming throughput.
    pub program: ProgramTiming,
    /// Erasing a block, `tBERS` (ns).
    pub erase_ns: u64,
}

numbers! {
    /// Phases of one sense (ns).
    #[derive(Eq)]
    pub struct SensePhases {
        /// Bit-line precharge, `tPRE`.
        pre_ns: u64 = "pre", NS, 1, LONGEST_NS;
        /// Evaluation, `tEVAL`.
        eval_ns: u64 = "eval", NS, 1, LONGEST_NS;
        /// Discharge, `tDISCH`.
        disch_ns: u64 = "disch", NS, 1, LONGEST_NS;
    }
}

/// Time to program one wordline, all of its pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramTiming {
    /// All pages in one operation.
    OneShot {
        /// Time of the one operation (ns).
        wordline_ns: u64,
    },
    /// A coarse pass, then a fine one.
    TwoStep {
        /// Duration of the coarse pass.
        first_ns: u64,
        /// Duration of the fine pass.
        second_ns: u64,
    },
}

impl ProgramTiming {
    /// Time to program all pages of a wordline (ns).
    pub const fn wordline_ns(self) -> u64 {
        match self {
            ProgramTiming::OneShot { wordline_ns } => wordline_ns,
            ProgramTiming::TwoStep {
                first_ns,
                second_ns,
            } => first_ns + second_ns,
        }
    }
}

const fn time(key: &'static str, min: f64) -> Field {
    Field::new(key, unit::NS, min, LONGEST_NS as f64).of_kind(Kind::Whole)
}

const MEAN: Field = Field::new("mean", unit::MV, -1e4, 1e4);
const SIGMA: Field = Field::new("sigma", unit::MV, 1.0, 5e3);
const SENTINELS: Field = Field::new("sentinels", unit::ONE, 1.0, 15.0);
const ENDURANCE: Field = Field::new("endurance", unit::PE, 1.0, 10_000_000.0).of_kind(Kind::Whole);
/// Thousandths are the least that medium and firmware add up.
const CYCLE_DAMAGE: Field = Field::new("cycle_damage", unit::X, 0.001, 1.0);
const SETUP: Field = time("setup", 0.0);
const READ: Field = time("read", 1.0);
const PROGRAM: Field = time("program", 1.0);
const ERASE: Field = time("erase", 1.0);

/// The amplitude of the retention component called `name`.
const fn amplitude(name: &'static str) -> Field {
    Field::new(name, unit::MV_PER_DECADE, 0.0, 1e3)
}

impl ModeProfile {
    /// Reads the table of `mode` for a chip with the retention components `components`.
    pub(crate) fn read(
        from: &dyn Source,
        mode: CellMode,
        components: &[&'static str],
    ) -> ModeProfile {
        let program = program(from);
        ModeProfile {
            mode,
            mean_mv: from.numbers(&MEAN),
            sigma_mv: from.numbers(&SIGMA),
            pages: from.lists("pages"),
            sentinels: sentinels(from),
            retention_mv_per_decade: table(from, "retention", |from| {
                let numbers = components.iter().map(|name| from.number(&amplitude(name)));
                numbers.collect()
            }),
            endurance_pe_cycles: from.number(&ENDURANCE) as u32,
            cycle_damage: from.number(&CYCLE_DAMAGE),
            setup_ns: from.number(&SETUP) as u64,
            sense: table(from, "sense", SensePhases::read),
            measured_read_ns: measured_read(from),
            program,
            erase_ns: from.number(&ERASE) as u64,
        }
    }

    pub(crate) fn check(&self, components: &[&'static str]) -> Result<(), ProfileError> {
        let mode = self.mode;
        let at = &path("modes", mode.name());
        let key = |name: &str| path(at, name);
        for (field, values) in [(MEAN, &self.mean_mv), (SIGMA, &self.sigma_mv)] {
            if values.len() != mode.states() {
                return Err(bad(
                    key(field.key),
                    Reason::Values {
                        given: values.len(),
                        wanted: mode.states(),
                        of: "states",
                    },
                ));
            }
            for &value in values {
                field.check(at, value)?;
            }
        }
        if let Some(s) = (1..mode.states()).find(|&s| self.mean_mv[s] <= self.mean_mv[s - 1]) {
            return Err(bad(key(MEAN.key), Reason::Order { state: s }));
        }
        if self.retention_mv_per_decade.len() != components.len() {
            return Err(bad(
                key("retention"),
                Reason::Values {
                    given: self.retention_mv_per_decade.len(),
                    wanted: components.len(),
                    of: "components of retention",
                },
            ));
        }
        for (name, &a) in components.iter().zip(&self.retention_mv_per_decade) {
            amplitude(name).check(&key("retention"), a)?;
        }
        gray::check(mode, &self.pages).map_err(|error| bad(key("pages"), Reason::Gray(error)))?;
        if self.sentinels.len() != self.pages.len() {
            return Err(bad(
                key(SENTINELS.key),
                Reason::Sentinels {
                    given: self.sentinels.len(),
                    pages: self.pages.len(),
                },
            ));
        }
        for (page, &valley) in self.sentinels.iter().enumerate() {
            if !self.pages[page].contains(&valley) {
                return Err(bad(key(SENTINELS.key), Reason::NotOnPage { valley, page }));
            }
        }
        ENDURANCE.check(at, self.endurance_pe_cycles as f64)?;
        CYCLE_DAMAGE.check(at, self.cycle_damage)?;
        SETUP.check(at, self.setup_ns as f64)?;
        self.sense.check(&key("sense"))?;
        self.check_measured_read(at)?;
        match self.program {
            ProgramTiming::OneShot { wordline_ns } => PROGRAM.check(at, wordline_ns as f64)?,
            ProgramTiming::TwoStep {
                first_ns,
                second_ns,
            } => {
                PROGRAM.check(at, first_ns as f64)?;
                PROGRAM.check(at, second_ns as f64)?;
            }
        }
        ERASE.check(at, self.erase_ns as f64)
    }
}

impl ModeProfile {
    /// Part of a read of page type `page` that is precharge, at the default timing (ns).
    pub fn precharge_ns(&self, page: usize) -> u64 {
        let senses = self
            .pages
            .get(page)
            .map_or(0, |valleys| valleys.len() as u64);
        let precharge = senses * self.sense.pre_ns;
        match self.measured_read_ns.get(page) {
            Some(&measured) => scaled(measured, precharge, self.model_read_ns(senses)),
            None => precharge,
        }
    }

    /// `tR` of page type `page` at the default timing (ns): as measured, or by the model of setup and senses.
    pub fn read_ns(&self, page: usize) -> u64 {
        let senses = self
            .pages
            .get(page)
            .map_or(0, |valleys| valleys.len() as u64);
        let measured = self.measured_read_ns.get(page).copied();
        measured.unwrap_or_else(|| self.model_read_ns(senses))
    }

    /// The model of `tR`, for so many senses at the default timing.
    fn model_read_ns(&self, senses: u64) -> u64 {
        let SensePhases {
            pre_ns,
            eval_ns,
            disch_ns,
        } = self.sense;
        self.setup_ns + senses * (pre_ns + eval_ns + disch_ns)
    }

    /// A page type with more senses than another one takes longer. A page type without a time would be read in no time.
    fn check_measured_read(&self, at: &str) -> Result<(), ProfileError> {
        let read = &self.measured_read_ns;
        if read.is_empty() {
            return Ok(());
        }
        if read.len() != self.pages.len() {
            let (given, wanted, of) = (read.len(), self.pages.len(), "page types");
            return Err(bad(
                path(at, READ.key),
                Reason::Values { given, wanted, of },
            ));
        }
        for (page, &ns) in read.iter().enumerate() {
            READ.check(at, ns as f64)?;
            let senses = |page: usize| self.pages[page].len();
            let mut others = 0..read.len();
            let slower = others.find(|&o| senses(o) < senses(page) && read[o] >= ns);
            if let Some(slower) = slower {
                return Err(bad(
                    path(at, READ.key),
                    Reason::ReadOrder {
                        page,
                        senses: senses(page),
                        other: slower,
                        senses_of_other: senses(slower),
                    },
                ));
            }
        }
        Ok(())
    }
}

/// `measured`, of which the model says that it is `whole`, where the model says `part`. To the nearest nanosecond.
pub(crate) fn scaled(measured: u64, part: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    ((u128::from(measured) * part + whole / 2) / whole) as u64
}

fn measured_read(from: &dyn Source) -> Vec<u64> {
    let read = from.optional_numbers(&READ);
    if read.is_empty() && from.has(READ.key) {
        from.note(READ.key, "has no time".into());
    }
    read.iter().map(|&ns| ns as u64).collect()
}

fn program(from: &dyn Source) -> ProgramTiming {
    match from.numbers(&PROGRAM).as_slice() {
        &[first, second] => ProgramTiming::TwoStep {
            first_ns: first as u64,
            second_ns: second as u64,
        },
        &[wordline] => ProgramTiming::OneShot {
            wordline_ns: wordline as u64,
        },
        other => {
            if from.has(PROGRAM.key) && !other.is_empty() {
                from.note(PROGRAM.key, "has more than two passes".into());
            } else if from.has(PROGRAM.key) {
                from.note(PROGRAM.key, "has no pass".into());
            }
            ProgramTiming::OneShot { wordline_ns: 1 }
        }
    }
}

fn sentinels(from: &dyn Source) -> Vec<u8> {
    let valleys = from.numbers(&SENTINELS);
    if valleys.iter().any(|v| *v as u8 as f64 != *v) {
        from.note(SENTINELS.key, "has a valley that is not whole".into());
    }
    valleys.iter().map(|&v| v as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::field::unit;
    use crate::reference;
    use alloc::vec;

    #[test]
    fn formula_the_first_wrong_number_of_a_mode_is_named() {
        type Break = fn(&mut ModeProfile);
        let cases: [(&str, Break); 17] = [
            ("modes.qlc.mean", |m| m.mean_mv.truncate(15)),
            ("modes.qlc.mean", |m| m.mean_mv[15] = 2e4),
            ("modes.qlc.mean", |m| m.mean_mv[4] = m.mean_mv[3]),
            ("modes.qlc.mean", |m| m.mean_mv.swap(0, 1)),
            ("modes.qlc.sigma", |m| m.sigma_mv.push(42.0)),
            ("modes.qlc.sigma", |m| m.sigma_mv[9] = 0.5),
            ("modes.qlc.retention", |m| {
                m.retention_mv_per_decade.push(1.0)
            }),
            ("modes.qlc.retention.late", |m| {
                m.retention_mv_per_decade[0] = -1.0
            }),
            ("modes.qlc.pages", |m| m.pages[3].truncate(3)),
            ("modes.qlc.sentinels", |m| m.sentinels.truncate(3)),
            ("modes.qlc.sentinels", |m| m.sentinels[3] = 8),
            ("modes.qlc.endurance", |m| m.endurance_pe_cycles = 0),
            ("modes.qlc.cycle_damage", |m| m.cycle_damage = 1.1),
            ("modes.qlc.sense.eval", |m| m.sense.eval_ns = 0),
            ("modes.qlc.program", |m| {
                m.program = ProgramTiming::OneShot { wordline_ns: 0 };
            }),
            ("modes.qlc.program", |m| {
                m.program = ProgramTiming::TwoStep {
                    first_ns: 1,
                    second_ns: 0,
                };
            }),
            ("modes.qlc.erase", |m| m.erase_ns = LONGEST_NS + 1),
        ];
        let check = |m: &ModeProfile| m.check(&["late"]).map_err(|e| e.key);
        for (key, spoil) in cases {
            let mut mode = reference::ct_a().modes.remove(0);
            assert_eq!(check(&mode), Ok(()));
            spoil(&mut mode);
            assert_eq!(check(&mode), Err(key.into()));
        }
        let mut mode = reference::ct_a().modes.remove(0);
        mode.setup_ns = LONGEST_NS;
        mode.program = ProgramTiming::TwoStep {
            first_ns: LONGEST_NS,
            second_ns: 1,
        };
        assert_eq!(check(&mode), Ok(()), "the longest that may be");
        assert_eq!(mode.program.wordline_ns(), LONGEST_NS + 1);
    }

    /// A source of one list of numbers, which keeps what is noted.
    struct List {
        numbers: Vec<f64>,
        notes: core::cell::RefCell<Vec<alloc::string::String>>,
    }

    impl Source for List {
        fn number(&self, _: &Field) -> f64 {
            0.0
        }
        fn numbers(&self, field: &Field) -> Vec<f64> {
            assert!(field.unit == unit::NS || field.unit == unit::ONE);
            self.numbers.clone()
        }
        fn lists(&self, _: &str) -> Vec<Vec<u8>> {
            vec![]
        }
        fn choice(&self, _: &str, _: &[&str]) -> usize {
            0
        }
        fn has(&self, key: &str) -> bool {
            key == PROGRAM.key
        }
        fn note(&self, key: &str, message: alloc::string::String) {
            self.notes.borrow_mut().push([key, &message].join(" "));
        }
        fn table(&self, _: &str, _: &mut dyn FnMut(&dyn Source)) {}
        fn optional_table(&self, _: &str, _: &mut dyn FnMut(&dyn Source)) {}
    }

    fn list(numbers: &[f64]) -> List {
        List {
            numbers: numbers.into(),
            notes: Default::default(),
        }
    }

    #[test]
    fn formula_a_program_has_one_pass_or_two() {
        let (one, two) = (
            ProgramTiming::OneShot { wordline_ns: 7 },
            ProgramTiming::TwoStep {
                first_ns: 3,
                second_ns: 5,
            },
        );
        let none = ProgramTiming::OneShot { wordline_ns: 1 };
        for (passes, expected, note) in [
            (&[7.0][..], one, None),
            (&[3.0, 5.0], two, None),
            (
                &[1.0, 2.0, 3.0],
                none,
                Some("program has more than two passes"),
            ),
            (&[], none, Some("program has no pass")),
        ] {
            let from = list(passes);
            assert_eq!(program(&from), expected);
            assert_eq!(from.notes.take(), Vec::from_iter(note));
        }
    }

    #[test]
    fn formula_sentinels_are_whole() {
        let from = list(&[7.0, 6.0]);
        assert_eq!((sentinels(&from), from.notes.take()), (vec![7, 6], vec![]));
        let from = list(&[7.0, 6.5]);
        assert_eq!(sentinels(&from), [7, 6]);
        assert_eq!(
            from.notes.take(),
            ["sentinels has a valley that is not whole"]
        );
    }
}
