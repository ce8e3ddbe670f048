//! Table II of RARO: which pages are read often enough, and slowly enough where they lie, to be copied elsewhere.
//!
//! | a page in | that is | and takes | goes to |
//! |---|---|---|---|
//! | QLC | hot | R1 retries | SLC |
//! | QLC | warm | R2 retries | TLC |
//! | TLC | hot | R1 retries | SLC |
//!
//! The paper takes the retries from a model of ageing (`trigger=computed`) and speaks of real-time statistics of
//! retries elsewhere (`trigger=retried`: those that this read took). In its emulator both are the same, because the
//! model is what times a read. `trigger=slow` asks what matters to the host instead: whether a read of the page is
//! expected to take so many times as long as in the mode that it goes to. R1 and R2 have no part in it.
//!
//! The model is the paper's equations 1 to 3. Equation 2: a page is readable after n retries if `load * 0.8^n` is at
//! most 72 wrong bits of 8,192, where `load` stands for α·RBER·n_SENSE. The paper states neither coefficients nor units.
//! The load used here is fitted to its figure 6 at fixed wear, the mean page of it:
//! `.00896 + .088 (c/1000)^5.16 + .0946 (c/1000)^1.19` for c P/E cycles. Retention and read disturb do not enter it.

use firstread_core::CellMode;
use firstread_core::params::{Param, Values};

use super::page_read::PageRead;
use super::read_times::ServiceTimes;
use super::thresholds::{Temperature, Thresholds};
use crate::policy::Setup;

/// What the retries of a page are taken from.
#[derive(Clone, Debug)]
enum Trigger {
    Retried,
    Computed,
    Slow(ServiceTimes),
}

/// Table II with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct RaroRule {
    trigger: Trigger,
    r1: u8,
    r2: u8,
    thresholds: Thresholds,
}

impl RaroRule {
    pub(crate) const TRIGGER: Param = Param::choice(
        "trigger",
        "what the retries of a page are taken from: those of this read, a model of ageing, or the expected time of a read",
        &["retried", "computed", "slow"],
    );
    pub(crate) const SLOWER: Param = Param::number(
        "slower",
        "for `slow`: how many times as long a read has to take as in SLC mode (hot pages) or TLC mode (warm ones)",
        "permille",
        (2000, 1000, 100_000),
    );

    /// The parameter `r1` of a scheme that does what `doc` says.
    pub(crate) const fn r1(doc: &'static str) -> Param {
        Param::number("r1", doc, "retries", (1, 0, 64))
    }

    /// The parameter `r2` of a scheme that does what `doc` says.
    pub(crate) const fn r2(doc: &'static str) -> Param {
        Param::number("r2", doc, "retries", (5, 0, 64))
    }

    /// The table with the parameters `values`.
    pub(crate) fn new(setup: &Setup, values: &Values) -> RaroRule {
        RaroRule {
            trigger: match values.get("trigger") {
                0 => Trigger::Retried,
                1 => Trigger::Computed,
                _ => Trigger::Slow(ServiceTimes::new(setup, values.get("slower") as u32)),
            },
            r1: values.get("r1") as u8,
            r2: values.get("r2") as u8,
            thresholds: Thresholds::new(values),
        }
    }

    /// The mode that the table has the page go to.
    pub(crate) fn target(&mut self, read: &PageRead) -> Option<CellMode> {
        if let Trigger::Slow(times) = &mut self.trigger {
            times.learn(read);
        }
        let to = match (read.mode, self.thresholds.of(read.heat)) {
            (CellMode::Qlc | CellMode::Tlc, Temperature::Hot) => CellMode::Slc,
            (CellMode::Qlc, Temperature::Warm) => CellMode::Tlc,
            _ => return None,
        };
        self.is_slow(read, to).then_some(to)
    }

    /// Whether reading the page where it lies costs enough to copy it into mode `to`.
    fn is_slow(&self, read: &PageRead, to: CellMode) -> bool {
        let least = match to {
            CellMode::Slc => self.r1,
            _ => self.r2,
        };
        match &self.trigger {
            Trigger::Retried => read.retries >= least,
            Trigger::Computed => match read.mode {
                CellMode::Qlc => qlc_retries(read.pe_cycles) >= least,
                // The paper has no model of other modes: their pages take no retry that it could compute.
                _ => false,
            },
            Trigger::Slow(times) => times.is_slow(read, to),
        }
    }
}

/// The logarithm of equation 3 for the mean QLC page, in tenths, every 100 P/E cycles from 0 on.
const QLC_TENTHS: [u16; 11] = [1, 24, 43, 57, 70, 80, 91, 102, 113, 125, 138];

/// P/E cycles between two entries of the table.
const TENTHS_EVERY: u32 = 100;

/// Retries of a QLC page that has had `pe_cycles`: the logarithm rounded up. Beyond the table its last entry counts.
fn qlc_retries(pe_cycles: u32) -> u8 {
    let (at, rest) = (pe_cycles / TENTHS_EVERY, pe_cycles % TENTHS_EVERY);
    let last = QLC_TENTHS.len() - 1;
    let entry = |i: u32| u32::from(QLC_TENTHS[(i as usize).min(last)]);
    let tenths = (entry(at) * (TENTHS_EVERY - rest) + entry(at + 1) * rest) / TENTHS_EVERY;
    tenths.div_ceil(10) as u8
}
