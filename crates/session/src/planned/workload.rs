//! A workload as the file of a point has it: the text of a job, or a trace by its path and the checksum of its content.

use std::collections::BTreeMap;
use std::path::{self, Path};

use firstread_workload::fio::UnreadFile;
use firstread_workload::{Location, Notice, Position};
use serde::{Deserialize, Serialize};

use super::error::PlanError;
use super::texts::{TextsRead, TextsWritten};
use crate::error::Error;
use crate::files::{self, FileError};
use crate::input::{Input, TraceArgs};

/// An [`Input`].
#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum InputData {
    Job {
        name: String,
        /// Its text, and those of the files that it names, by the names that it has for them.
        text: String,
        named: BTreeMap<String, String>,
        /// Whether the number of requests was taken away from its jobs.
        unending: bool,
        notices: Vec<NoticeData>,
    },
    Trace {
        name: String,
        path: String,
        /// Checksum of its content.
        content: String,
        format: Option<String>,
        columns: Option<String>,
        expression: Option<String>,
        wrap: bool,
        clamp: bool,
        device: Option<u32>,
        speed: Option<f64>,
    },
    StandIn {
        name: String,
        speed: f64,
    },
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct NoticeData {
    file: String,
    line: Option<u64>,
    byte: Option<u64>,
    text: String,
}

impl NoticeData {
    fn of(notice: &Notice) -> NoticeData {
        let (line, byte) = match notice.place.position {
            Position::Whole => (None, None),
            Position::Line(line) => (Some(line), None),
            Position::Byte(byte) => (None, Some(byte)),
        };
        NoticeData {
            file: notice.place.file.clone(),
            line,
            byte,
            text: notice.text.clone(),
        }
    }

    fn read(&self) -> Notice {
        let position = match (self.line, self.byte) {
            (Some(line), _) => Position::Line(line),
            (None, Some(byte)) => Position::Byte(byte),
            (None, None) => Position::Whole,
        };
        Notice {
            place: Location {
                file: self.file.clone(),
                position,
            },
            text: self.text.clone(),
        }
    }
}

impl InputData {
    pub fn of(input: &Input, texts: &mut TextsWritten<'_>) -> Result<InputData, Error> {
        Ok(match input {
            Input::Jobs {
                workload,
                text,
                named,
            } => {
                let mut of_named = BTreeMap::new();
                for (name, text) in named {
                    of_named.insert(name.clone(), texts.put(text)?);
                }
                let mut jobs = workload.jobs.iter();
                InputData::Job {
                    name: workload.name.clone(),
                    text: texts.put(text)?,
                    named: of_named,
                    unending: jobs.all(|job| job.number_ios.is_none()),
                    notices: workload.notices.iter().map(NoticeData::of).collect(),
                }
            }
            Input::Trace(trace) => {
                let path = trace.path().ok_or(PlanError::StandardInput)?;
                let name = path.display().to_string();
                let path = path::absolute(path).map_err(FileError::named(name))?;
                // An option that is added has to be decided on here. Variables are of jobs.
                let TraceArgs {
                    format,
                    columns,
                    pattern,
                    wrap,
                    clamp,
                    device,
                    speed,
                    vars: _,
                } = trace.args.clone();
                InputData::Trace {
                    name: trace.name.clone(),
                    path: path.to_string_lossy().into_owned(),
                    content: trace.checksum()?,
                    format,
                    columns,
                    expression: pattern,
                    wrap,
                    clamp,
                    device,
                    speed,
                }
            }
            Input::StandIn { row, speed } => InputData::StandIn {
                name: row.name.to_owned(),
                speed: *speed,
            },
        })
    }

    pub fn read(&self, texts: &TextsRead<'_>) -> Result<Input, Error> {
        match self {
            InputData::Job {
                name,
                text,
                named,
                unending,
                notices,
            } => {
                let mut of_named = BTreeMap::new();
                for (name, text) in named {
                    of_named.insert(name.as_str(), texts.get(text)?);
                }
                let read = |file: &str| {
                    let text = of_named.get(file).cloned();
                    text.ok_or_else(|| UnreadFile::Fault {
                        fault: format!("{file}: is not in the plan"),
                    })
                };
                let mut input = Input::job_file_with(name, texts.get(text)?, &read)?;
                if let Input::Jobs { workload, .. } = &mut input {
                    if *unending {
                        workload
                            .jobs
                            .iter_mut()
                            .for_each(|job| job.number_ios = None);
                    }
                    workload.notices = notices.iter().map(NoticeData::read).collect();
                }
                Ok(input)
            }
            InputData::Trace {
                name,
                path,
                content,
                format,
                columns,
                expression,
                wrap,
                clamp,
                device,
                speed,
            } => {
                let args = TraceArgs {
                    format: format.clone(),
                    columns: columns.clone(),
                    pattern: expression.clone(),
                    wrap: *wrap,
                    clamp: *clamp,
                    device: *device,
                    speed: *speed,
                    vars: Vec::new(),
                };
                let path = Path::new(path);
                let changed = PlanError::TraceChanged {
                    path: path.to_owned(),
                };
                // Another content may be no trace at all: what is told is that it is another one.
                let input = Input::trace_file(name, path.to_owned(), &args);
                match &input {
                    Ok(Input::Trace(trace)) if trace.checksum()? == *content => input,
                    Err(Error::File(_)) if !files::is_file(path) => input,
                    _ => Err(changed.into()),
                }
            }
            InputData::StandIn { name, speed } => {
                let args = TraceArgs {
                    speed: Some(*speed),
                    ..TraceArgs::default()
                };
                Input::stand_in_called(name, &args)
            }
        }
    }
}
