//! A point as its file has it.

use std::sync::Arc;

use firstread_core::Ns;
use firstread_drive::DriveState;
use firstread_drive::profile::{Kind, Override};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::PlanError;
use super::state::{StateData, UntilData, precondition};
use super::texts::{TextsRead, TextsWritten};
use super::workload::InputData;
use crate::drive_profile::{MadeOf, Profile, ProfileFile};
use crate::error::Error;
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::life::{ProbeJob, Terms};
use crate::matrix::Point;
use crate::results;
use crate::setup::{BurnInSetup, Setup};
use crate::split::check::Split;
use crate::store::Store;
use crate::watched::Watched;
use crate::worn;

/// The form of the files of a plan. Another number is refused.
pub(super) const FORM: u64 = 1;

/// A [`Point`], and the folder that its result is for.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct PointData {
    form: u64,
    version: String,
    program: String,
    pub key: String,
    pub store: StoreData,
    name: String,
    label: String,
    pub drive: DriveData,
    pub state: StateData,
    seed: u64,
    workload: InputData,
    limit: Option<u64>,
    burn_in: Option<BurnInData>,
    split: Option<u16>,
    interval_ns: Option<u64>,
    fio_logs: bool,
    life: Option<LifeData>,
}

/// The folder of its result.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreData {
    pub kind: String,
    pub name: String,
    pub front_end: Value,
}

/// What its profile is made of.
#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct DriveData {
    name: String,
    files: Vec<FileData>,
    /// Paths and the values that replace those of the profile.
    overrides: Vec<[String; 2]>,
    /// The text of the life whose wear it has.
    worn: Option<String>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct FileData {
    kind: FileKind,
    name: String,
    text: String,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
enum FileKind {
    Chip,
    Drive,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct BurnInData {
    /// None for the workload that is measured.
    workload: Option<InputData>,
    most_drive_writes: f64,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct LifeData {
    until: UntilData,
    wear_rate: u32,
    warranty_years: f64,
    drive_writes_a_day: f64,
    probe_requests: u64,
    probe: Option<ProbeData>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct ProbeData {
    workload: InputData,
    requests: u64,
    precondition: String,
}

impl PointData {
    pub fn of(
        point: &Point,
        key: &str,
        program: &str,
        store: &Store,
        texts: &mut TextsWritten<'_>,
    ) -> Result<PointData, Error> {
        // A field that is added has to be decided on here.
        let Point {
            label,
            name,
            setup,
            life,
        } = point;
        let Setup {
            input,
            profile,
            state,
            seed,
            limit,
            burn_in,
            interrupt: _,
            split,
            watched,
        } = setup;
        let Watched {
            interval,
            fio_logs,
            log,
            trace,
        } = watched;
        if log.is_some() || trace.is_some() {
            return Err(PlanError::Logged.into());
        }
        let burn_in = match burn_in {
            None => None,
            Some(BurnInSetup {
                workload,
                most_drive_writes,
            }) => Some(BurnInData {
                workload: match workload {
                    None => None,
                    Some(by) => Some(InputData::of(by, texts)?),
                },
                most_drive_writes: *most_drive_writes,
            }),
        };
        Ok(PointData {
            form: FORM,
            version: results::VERSION.to_owned(),
            program: program.to_owned(),
            key: key.to_owned(),
            store: StoreData {
                kind: store.kind().to_owned(),
                name: store.name().to_owned(),
                front_end: store.front_end().clone(),
            },
            name: name.clone(),
            label: label.clone(),
            drive: DriveData::of(profile, texts)?,
            state: StateData::of(state),
            seed: *seed,
            workload: InputData::of(input, texts)?,
            limit: *limit,
            burn_in,
            split: split.map(|split| split.parts),
            interval_ns: interval.map(|interval| interval.0),
            fio_logs: *fio_logs,
            life: match life {
                None => None,
                Some(terms) => Some(LifeData::of(terms, texts)?),
            },
        })
    }

    /// The text of its file.
    pub fn text(&self) -> Result<String, PlanError> {
        let value = serde_json::to_value(self).map_err(PlanError::defect)?;
        Ok(results::text(&value))
    }

    /// The point whose file has this text.
    pub fn parse(text: &str) -> Result<PointData, PlanError> {
        let no_point = |error: serde_json::Error| PlanError::NoPoint(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(no_point)?;
        // Another form may have other keys: it is told first.
        match value["form"].as_u64() {
            Some(FORM) => {}
            Some(theirs) => return Err(PlanError::OtherForm { theirs, ours: FORM }),
            None => return Err(PlanError::NoPoint("it has no `form`".into())),
        }
        serde_json::from_str(text).map_err(no_point)
    }

    /// That `program`, which runs, is the one that planned it.
    pub fn check_program(&self, program: &'static str) -> Result<(), PlanError> {
        if self.version != results::VERSION {
            return Err(PlanError::OtherVersion {
                theirs: self.version.clone(),
                ours: results::VERSION,
            });
        }
        match self.program == program {
            true => Ok(()),
            false => Err(PlanError::OtherProgram {
                theirs: self.program.clone(),
                ours: program,
            }),
        }
    }

    /// Its workloads: what is measured, what burns in, what probes.
    pub fn inputs(&self) -> Vec<&InputData> {
        let burn_in = self.burn_in.as_ref();
        let probe = self.life.as_ref().and_then(|life| life.probe.as_ref());
        let all = [
            Some(&self.workload),
            burn_in.and_then(|by| by.workload.as_ref()),
            probe.map(|probe| &probe.workload),
        ];
        all.into_iter().flatten().collect()
    }

    /// The point, on a drive of `profile` in `state` with these `inputs`, in the order of [`PointData::inputs`].
    pub fn point(
        self,
        profile: Profile,
        state: DriveState,
        inputs: Vec<Arc<Input>>,
    ) -> Result<Point, PlanError> {
        let mut inputs = inputs.into_iter();
        let mut next = || inputs.next().ok_or(PlanError::NotTheSame("its workload"));
        let input = next()?;
        let burn_in = match self.burn_in {
            None => None,
            Some(by) => Some(BurnInSetup {
                workload: by.workload.map(|_| next()).transpose()?,
                most_drive_writes: by.most_drive_writes,
            }),
        };
        let life = match self.life {
            None => None,
            Some(life) => Some(Terms {
                until: life.until.read()?,
                wear_rate: life.wear_rate,
                warranty_years: life.warranty_years,
                drive_writes_a_day: life.drive_writes_a_day,
                probe_requests: life.probe_requests,
                probe_job: match life.probe {
                    None => None,
                    Some(probe) => Some(ProbeJob {
                        input: next()?,
                        requests: probe.requests,
                        precondition: precondition(&probe.precondition)?,
                    }),
                },
            }),
        };
        Ok(Point {
            label: self.label,
            name: self.name,
            setup: Setup {
                input,
                profile,
                state,
                seed: self.seed,
                limit: self.limit,
                burn_in,
                interrupt: Interrupt::default(),
                split: self.split.map(|parts| Split {
                    parts,
                    threads: None,
                }),
                watched: Watched {
                    interval: self.interval_ns.map(Ns),
                    fio_logs: self.fio_logs,
                    log: None,
                    trace: None,
                },
            },
            life,
        })
    }
}

impl DriveData {
    fn of(profile: &Profile, texts: &mut TextsWritten<'_>) -> Result<DriveData, Error> {
        let MadeOf {
            drive,
            files,
            overrides,
        } = profile.made_of().ok_or(PlanError::MadeHere)?;
        let mut all = Vec::new();
        for ProfileFile { kind, name, text } in files {
            all.push(FileData {
                kind: match kind {
                    Kind::Chip => FileKind::Chip,
                    Kind::Drive => FileKind::Drive,
                },
                name: name.clone(),
                text: texts.put(text)?,
            });
        }
        let worn = profile.worn.as_ref().map(|blocks| {
            let text = results::text(&json!({ "worn": worn::json(profile, blocks) }));
            texts.put(&text)
        });
        let overrides = overrides.iter();
        Ok(DriveData {
            name: drive.clone(),
            files: all,
            overrides: overrides
                .map(|set| [set.path.clone(), set.value.clone()])
                .collect(),
            worn: worn.transpose()?,
        })
    }

    /// Its profile. Where it has the wear of a life, `state` has it too.
    pub fn read(&self, texts: &TextsRead<'_>, state: &mut DriveState) -> Result<Profile, Error> {
        let mut files = Vec::new();
        for FileData { kind, name, text } in &self.files {
            files.push(ProfileFile {
                kind: match kind {
                    FileKind::Chip => Kind::Chip,
                    FileKind::Drive => Kind::Drive,
                },
                name: name.clone(),
                text: texts.get(text)?,
            });
        }
        let overrides = self.overrides.iter();
        let mut profile = Profile::of(MadeOf {
            drive: self.name.clone(),
            files,
            overrides: overrides
                .map(|[path, value]| Override::new(path, value))
                .collect(),
        })?;
        if let Some(worn) = &self.worn {
            texts.get(worn)?;
            worn::wear_from(profile.make_mut(), state, &texts.path(worn))?;
        }
        Ok(profile)
    }
}

impl LifeData {
    fn of(terms: &Terms, texts: &mut TextsWritten<'_>) -> Result<LifeData, Error> {
        let Terms {
            until,
            wear_rate,
            warranty_years,
            drive_writes_a_day,
            probe_requests,
            probe_job,
        } = terms;
        let probe = match probe_job {
            None => None,
            Some(ProbeJob {
                input,
                requests,
                precondition,
            }) => Some(ProbeData {
                workload: InputData::of(input, texts)?,
                requests: *requests,
                precondition: precondition.to_string(),
            }),
        };
        Ok(LifeData {
            until: UntilData::of(*until),
            wear_rate: *wear_rate,
            warranty_years: *warranty_years,
            drive_writes_a_day: *drive_writes_a_day,
            probe_requests: *probe_requests,
            probe,
        })
    }
}
