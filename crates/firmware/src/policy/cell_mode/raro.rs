//! `raro`: pages that are read often go to SLC or TLC mode, if reading them where they lie is slow.
//!
//! Table II of the paper:
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
//! expected to take so many times as long as in the other mode. R1 and R2 have no part in it.

use firstread_core::CellMode;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::cold_superblocks::ColdSuperblocks;
use super::retry_model::qlc_retries;
use super::rounds::PERIOD;
use super::service_time::ServiceTimes;
use super::thresholds::{KEEP, SLC_AND_TLC, Temperature, Thresholds};
use super::{CellModes, GiveBack, PageRead};
use crate::observe::{PageFuture, PageHeat, StreamRow, SuperblockTable};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "raro",
    summary: "hot pages go to SLC mode and warm ones to TLC mode, if their reads take retries",
    source: "RARO (Wang et al.), table II",
    role: Role::Scheme,
    needs: &[Need::CellModes, Need::Heat],
    ordered: &[("r1", "r2"), ("warm", "hot")],
    params: &[
        Param::choice(
            "trigger",
            "what the retries of a page are taken from: those of this read, a model of ageing, or the expected time of a read",
            &["retried", "computed", "slow"],
        ),
        Param::number(
            "r1",
            "retries from which a hot page goes to SLC mode",
            "retries",
            (1, 0, 64),
        ),
        Param::number(
            "r2",
            "retries from which a warm page goes to TLC mode: 5, 7 and 11 in the paper for its young, middle and old drives",
            "retries",
            (5, 0, 64),
        ),
        Param::number(
            "slower",
            "for `slow`: how many times as long a read has to take as in the other mode",
            "permille",
            (2000, 1000, 100_000),
        ),
        Thresholds::WARM,
        Thresholds::HOT,
        KEEP,
        PERIOD,
    ],
};

/// What the retries of a page are taken from.
#[derive(Clone, Debug)]
enum Trigger {
    Retried,
    Computed,
    Slow(ServiceTimes),
}

/// The scheme.
#[derive(Clone, Debug)]
pub struct Raro {
    trigger: Trigger,
    r1: u8,
    r2: u8,
    thresholds: Thresholds,
    keep_permille: u32,
    cold: ColdSuperblocks,
}

impl Raro {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Raro {
        Raro {
            trigger: match values.get("trigger") {
                0 => Trigger::Retried,
                1 => Trigger::Computed,
                _ => Trigger::Slow(ServiceTimes::new(setup, values.get("slower") as u32)),
            },
            r1: values.get("r1") as u8,
            r2: values.get("r2") as u8,
            thresholds: Thresholds::new(values),
            keep_permille: values.get(KEEP.key) as u32,
            cold: ColdSuperblocks::new(setup, values),
        }
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

impl CellModes for Raro {
    fn streams(&self) -> &'static [StreamRow] {
        SLC_AND_TLC
    }

    fn keep_permille(&self) -> u32 {
        self.keep_permille
    }

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        self.cold.after_read();
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

    fn stays(&self, mode: CellMode, heat: PageHeat, _: PageFuture) -> bool {
        self.thresholds.stays(mode, heat)
    }

    fn gives_back(&mut self, blocks: &SuperblockTable) -> Option<GiveBack> {
        self.cold.next(blocks).map(GiveBack::Now)
    }
}
