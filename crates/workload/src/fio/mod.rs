//! fio job files.
//!
//! The file is read as fio reads it: `[global]` sections set defaults for the sections after them,
//! every other section is a job, `#` and `;` begin comments, the last value given counts. The
//! parser is stricter than fio: see [`options::OPTIONS`], where every option is one row.
//!
//! What fio has no option for stands in comments that begin with `; firstread:`, so that fio still runs the file:
//! see [`own::OWN_OPTIONS`].
//!
//! Every job addresses the drive itself, as with `filename=/dev/...` in fio: jobs and clones share
//! it, and a job without `size` covers it.

mod apply;
mod command_line;
mod engines;
mod error;
mod handles;
mod host_log;
mod logs;
pub mod options;
pub mod own;
mod row;
mod table;
mod value;

pub use command_line::{CommandLine, CommandLineError, command_line, is_command_line, words};
pub use error::{SyntaxError, UnreadFile, ValueError};

use std::collections::BTreeMap;

use crate::error::{Location, Notice, WorkloadError};
use crate::handles::{HandleRange, Handles, MOST_RANGES};
use crate::job::Workload;
use crate::nearest::likely;
use apply::{Draft, MAX_JOBS};
use options::OPTIONS;
use row::{Effect, OptionRow};
use value::Value;

#[derive(Clone, Copy)]
struct Line<'a> {
    number: u64,
    row: &'static OptionRow,
    text: Option<&'a str>,
}

/// What a file that a job file names holds, or why it cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, UnreadFile>;

/// Parses the job file `text`; `file` is its name for messages. It may not name other files.
pub fn parse(file: &str, text: &str) -> Result<Workload, WorkloadError> {
    parse_with(file, text, &|_| Err(UnreadFile::NoReader))
}

/// The same, with what `read` says that the files hold which it names.
pub fn parse_with(file: &str, text: &str, read: ReadFile<'_>) -> Result<Workload, WorkloadError> {
    let mut reader = Reader {
        file,
        read,
        notices: Vec::new(),
        named: BTreeMap::new(),
    };
    let mut global: Vec<Line<'_>> = Vec::new();
    let mut drafts: Vec<Draft> = Vec::new();
    // The section that is being read: its name, first line and options.
    let mut section: Option<(&str, u64, Vec<Line<'_>>)> = None;

    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, raw) in (1..).zip(text.lines()) {
        let own = own::of_comment(raw);
        let line = raw.split(['#', ';']).next().unwrap_or("").trim();
        if line.is_empty() && own.is_none() {
            continue;
        }
        if line.starts_with('[') {
            let name = reader.section_name(number, line)?;
            reader.close(section.take(), &mut global, &mut drafts)?;
            section = Some((name, number, Vec::new()));
            continue;
        }
        let option = match own {
            Some(own) => reader.own_option(number, own)?,
            None => reader.option(number, line)?,
        };
        match &mut section {
            Some((_, _, options)) => options.push(option),
            None => {
                return Err(reader.syntax(number, SyntaxError::NoSection));
            }
        }
    }
    reader.close(section.take(), &mut global, &mut drafts)?;
    if drafts.is_empty() {
        return Err(WorkloadError::Syntax {
            place: Location::whole(file),
            why: SyntaxError::NoJob,
        });
    }
    let mut jobs = Vec::new();
    apply::number_groups(&drafts, |draft, numbers| {
        let mut job = draft.job.clone();
        (job.clone, job.group) = (numbers.clone, numbers.group);
        (job.reporting_group, job.report) = (numbers.reporting_group, numbers.report);
        jobs.push(job);
    });
    own::one_temperature_a_phase(&jobs)?;
    let workload = Workload {
        name: file.to_owned(),
        jobs,
        notices: reader.notices,
    };
    workload.check_host_log()?;
    Ok(workload)
}

struct Reader<'a> {
    file: &'a str,
    read: ReadFile<'a>,
    notices: Vec<Notice>,
    /// Options that a notice has named already, with the line.
    named: BTreeMap<&'static str, u64>,
}

impl<'a> Reader<'a> {
    fn syntax(&self, line: u64, why: SyntaxError) -> WorkloadError {
        WorkloadError::Syntax {
            place: Location::line(self.file, line),
            why,
        }
    }

    fn notice(&mut self, line: u64, text: String) {
        self.notices.push(Notice {
            place: Location::line(self.file, line),
            text,
        });
    }

    fn section_name<'t>(&self, number: u64, line: &'t str) -> Result<&'t str, WorkloadError> {
        let name = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.contains([']', '[']))
            .ok_or_else(|| self.syntax(number, SyntaxError::Section))?;
        if name.starts_with("global") && name != "global" {
            return Err(self.syntax(number, SyntaxError::LikeGlobal(name.to_owned())));
        }
        Ok(name)
    }

    fn option<'t>(&self, number: u64, line: &'t str) -> Result<Line<'t>, WorkloadError> {
        let (name, text) = match line.split_once('=') {
            Some((name, text)) => (name.trim(), Some(text.trim())),
            None => (line, None),
        };
        if name == "include" || name.starts_with("include ") {
            return Err(self.syntax(number, SyntaxError::Include));
        }
        let row = options::find(name).ok_or_else(|| WorkloadError::UnknownOption {
            place: Location::line(self.file, number),
            option: name.to_owned(),
            nearest: likely(
                name,
                OPTIONS
                    .iter()
                    .flat_map(|row| row.aliases.iter().copied().chain([row.name])),
            ),
        })?;
        // If the option has no effect here, its value is not checked.
        let used = !matches!(row.effect, Effect::Ignored(_));
        for (keyword, shown) in [
            ("${", "${...}"),
            ("$mb_memory", "$mb_memory"),
            ("$pagesize", "$pagesize"),
            ("$ncpus", "$ncpus"),
        ] {
            if used && line.contains(keyword) {
                if let Some((name, _)) = line
                    .split_once("${")
                    .and_then(|(_, rest)| rest.split_once('}'))
                {
                    return Err(self.syntax(number, SyntaxError::Variable(name.to_owned())));
                }
                return Err(self.syntax(number, SyntaxError::Keyword(shown)));
            }
        }
        Ok(Line { number, row, text })
    }

    /// An option of firstread's, which stands in a comment.
    fn own_option<'t>(&self, number: u64, text: &'t str) -> Result<Line<'t>, WorkloadError> {
        let (name, text) = match text.split_once('=') {
            Some((name, text)) => (name.trim(), Some(text.trim())),
            None => (text, None),
        };
        let row = own::OWN_OPTIONS.iter().find(|row| row.name == name);
        let row = row.ok_or_else(|| WorkloadError::UnknownOption {
            place: Location::line(self.file, number),
            option: name.to_owned(),
            nearest: likely(name, own::OWN_OPTIONS.iter().map(|row| row.name)),
        })?;
        Ok(Line { number, row, text })
    }

    /// Ends a section: keeps the options of `[global]`, makes a job of any other.
    fn close<'t>(
        &mut self,
        section: Option<(&str, u64, Vec<Line<'t>>)>,
        global: &mut Vec<Line<'t>>,
        drafts: &mut Vec<Draft>,
    ) -> Result<(), WorkloadError> {
        let Some((name, number, own)) = section else {
            return Ok(());
        };
        for (i, line) in own.iter().enumerate() {
            if let Some(later) = own[i + 1..].iter().find(|l| l.row.name == line.row.name) {
                let text = format!(
                    "`{}` is given again on line {}, which counts",
                    line.row.name, later.number
                );
                self.notice(line.number, text);
            }
        }
        if name == "global" {
            // Values are checked here too, so that a wrong one is found even where no job follows.
            let mut scratch = Draft::new(Location::line(self.file, number), name, 0);
            global.extend(own);
            self.apply(&mut scratch, global)?;
            return Ok(());
        }
        let mut draft = Draft::new(Location::line(self.file, number), name, drafts.len() as u32);
        let lines: Vec<Line<'_>> = global.iter().chain(&own).copied().collect();
        self.apply(&mut draft, &lines)?;
        for text in draft.finish()? {
            self.notice(number, text);
        }
        if let Some(Handles::ByOffset(ranges)) = &mut draft.job.handles
            && let Some(line) = lines.iter().rfind(|l| l.row.name == "dp_scheme")
        {
            ranges.ranges = self.handle_ranges(line, &ranges.file)?;
        }
        if let Some(wanted) = &draft.wait_for {
            let found = drafts.iter().rfind(|d| d.job.name == *wanted);
            let Some(found) = found else {
                let why = SyntaxError::WaitFor {
                    wanted: wanted.clone(),
                    job: draft.job.name.clone(),
                };
                return Err(self.syntax(number, why));
            };
            draft.job.wait_for = Some(found.job.section);
        }
        let jobs: u64 = drafts.iter().map(|d| u64::from(d.numjobs)).sum();
        if jobs + u64::from(draft.numjobs) > MAX_JOBS {
            return Err(self.syntax(number, SyntaxError::TooManyJobs(MAX_JOBS)));
        }
        drafts.push(draft);
        Ok(())
    }

    fn apply(&mut self, draft: &mut Draft, lines: &[Line<'_>]) -> Result<(), WorkloadError> {
        // `kb_base` applies to all numbers of the section, also to those before it.
        let mut kb_base = 1024;
        for line in lines.iter().filter(|l| l.row.name == "kb_base") {
            kb_base = match line.text {
                Some("1000") => 1000,
                Some("1024") => 1024,
                _ => {
                    let why = ValueError::Rule("must be 1000 or 1024");
                    return Err(self.bad_value(line, why));
                }
            };
        }
        // Report an unsupported engine first: it matters more than other unsupported options of the job.
        if let Some(line) = lines.iter().rfind(|l| l.row.name == "ioengine") {
            engines::check(line.text.unwrap_or("")).map_err(|why| self.bad_value(line, why))?;
        }
        for line in lines {
            let value = Value {
                text: line.text,
                kb_base,
            };
            match line.row.effect {
                Effect::Load(set) => {
                    set(draft, &value).map_err(|why| self.bad_value(line, why))?;
                }
                Effect::Ignored(why) => {
                    if self.named.insert(line.row.name, line.number).is_none() {
                        let text = format!("`{}` is ignored: {why}", line.row.name);
                        self.notice(line.number, text);
                    }
                }
                Effect::Unsupported(why) => {
                    return Err(WorkloadError::UnsupportedOption {
                        place: Location::line(self.file, line.number),
                        option: line.row.name,
                        why,
                    });
                }
            }
        }
        Ok(())
    }

    /// What the file of placement handles has that `line` names.
    fn handle_ranges(
        &mut self,
        line: &Line<'_>,
        file: &str,
    ) -> Result<Vec<HandleRange>, WorkloadError> {
        let text = (self.read)(file).map_err(ValueError::from);
        let ranges = text.and_then(|text| handles::ranges(&text));
        let (ranges, more) = ranges.map_err(|why| self.bad_value(line, why))?;
        if more {
            let text = format!("`dp_scheme`: the first {MOST_RANGES} ranges count, as in fio");
            self.notice(line.number, text);
        }
        Ok(ranges)
    }

    fn bad_value(&self, line: &Line<'_>, why: ValueError) -> WorkloadError {
        WorkloadError::BadValue {
            place: Location::line(self.file, line.number),
            option: line.row.name,
            value: line.text.unwrap_or("").to_owned(),
            why: Box::new(why),
        }
    }
}

#[cfg(test)]
mod tests;
