//! The state of a drive and the terms of a life, as the file of a point has them: every number as it is.

use firstread_core::Ns;
use firstread_drive::{DriveState, EarlierFill, LastSuperblocks, Precondition};
use serde::{Deserialize, Serialize};

use super::error::PlanError;
use crate::life::{Class, Until};

/// A [`DriveState`].
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct StateData {
    /// Of the youngest and of the oldest superblock.
    age_ns: [u64; 2],
    pe_cycles: [u32; 2],
    last_superblocks: Option<LastData>,
    temperature_c: f64,
    temperature_step: Option<StepData>,
    hottest_in_run_c: Option<f64>,
    unpowered_ns: u64,
    earlier_fill: EarlierFillData,
    fill: f64,
    precondition: String,
    workload_seed: u64,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct LastData {
    permille: u32,
    pe_cycles: u32,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct StepData {
    after_ns: u64,
    temperature_c: f64,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
enum EarlierFillData {
    None,
    OfDrive,
    LivedNs(u64),
}

impl StateData {
    pub fn of(state: &DriveState) -> StateData {
        // A field that is added has to be decided on here.
        let DriveState {
            age,
            pe_cycles,
            last,
            temperature_c,
            temperature_step,
            hottest_in_run_c,
            unpowered,
            earlier_fill,
            fill,
            precondition,
            workload_seed,
        } = *state;
        StateData {
            age_ns: [age.0.0, age.1.0],
            pe_cycles: pe_cycles.into(),
            last_superblocks: last.map(|last| LastData {
                permille: last.permille,
                pe_cycles: last.pe_cycles,
            }),
            temperature_c,
            temperature_step: temperature_step.map(|(after, temperature_c)| StepData {
                after_ns: after.0,
                temperature_c,
            }),
            hottest_in_run_c,
            unpowered_ns: unpowered.0,
            earlier_fill: match earlier_fill {
                EarlierFill::None => EarlierFillData::None,
                EarlierFill::OfDrive => EarlierFillData::OfDrive,
                EarlierFill::Lived(age) => EarlierFillData::LivedNs(age.0),
            },
            fill,
            precondition: precondition.to_string(),
            workload_seed,
        }
    }

    pub fn read(&self) -> Result<DriveState, PlanError> {
        Ok(DriveState {
            age: (Ns(self.age_ns[0]), Ns(self.age_ns[1])),
            pe_cycles: self.pe_cycles.into(),
            last: self.last_superblocks.as_ref().map(|last| LastSuperblocks {
                permille: last.permille,
                pe_cycles: last.pe_cycles,
            }),
            temperature_c: self.temperature_c,
            temperature_step: self
                .temperature_step
                .as_ref()
                .map(|step| (Ns(step.after_ns), step.temperature_c)),
            hottest_in_run_c: self.hottest_in_run_c,
            unpowered: Ns(self.unpowered_ns),
            earlier_fill: match self.earlier_fill {
                EarlierFillData::None => EarlierFill::None,
                EarlierFillData::OfDrive => EarlierFill::OfDrive,
                EarlierFillData::LivedNs(age) => EarlierFill::Lived(Ns(age)),
            },
            fill: self.fill,
            precondition: precondition(&self.precondition)?,
            workload_seed: self.workload_seed,
        })
    }
}

/// The overwrites that `text` says.
pub(super) fn precondition(text: &str) -> Result<Precondition, PlanError> {
    Precondition::parse(text).map_err(|error| PlanError::NoPoint(error.to_string()))
}

/// An [`Until`].
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum UntilData {
    /// The name of a class of drives.
    Lost(String),
    /// A share of all blocks.
    Bad(f64),
    Bytes(f64),
    Years(f64),
    Full,
}

impl UntilData {
    pub fn of(until: Until) -> UntilData {
        match until {
            Until::Lost(class) => UntilData::Lost(class.name.to_owned()),
            Until::Bad(share) => UntilData::Bad(share),
            Until::Bytes(bytes) => UntilData::Bytes(bytes),
            Until::Years(years) => UntilData::Years(years),
            Until::Full => UntilData::Full,
        }
    }

    pub fn read(&self) -> Result<Until, PlanError> {
        Ok(match self {
            UntilData::Lost(name) => {
                let class = Class::ALL.into_iter().find(|class| class.name == name);
                let no = || PlanError::NoPoint(format!("there is no class of drives `{name}`"));
                Until::Lost(class.ok_or_else(no)?)
            }
            UntilData::Bad(share) => Until::Bad(*share),
            UntilData::Bytes(bytes) => Until::Bytes(*bytes),
            UntilData::Years(years) => Until::Years(*years),
            UntilData::Full => Until::Full,
        })
    }
}
