//! Options of fio's data placement: `fdp`, `dataplacement`, `plid_select`, `plids` and `dp_scheme`.

use super::error::ValueError;
use super::value::Value;
use crate::handles::{Given, HandleRange, Handles, MOST_GIVEN, MOST_RANGES, Ranges};
use crate::stream::JobError;

/// What a job says of placement handles.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    fdp: bool,
    /// Whether `dataplacement` asks for handles.
    interface: Option<bool>,
    plids: Option<Vec<u16>>,
    select: Option<Select>,
    scheme: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Select {
    Random,
    RoundRobin,
    Scheme,
}

/// A list of indices and ranges of them, in ascending order: `0,2-4,7`.
fn indices(text: &str) -> Result<Vec<u16>, ValueError> {
    let mut list = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (index(from.trim())?, index(to.trim())?);
        if from > to {
            return Err(ValueError::Rule(
                "the first index of a range is not above its last",
            ));
        }
        let all = list.len() + usize::from(to - from) + 1;
        if all > usize::from(MOST_GIVEN) {
            return Err(ValueError::Rule("at most 128 indices, as in fio"));
        }
        list.extend(from..=to);
    }
    list.sort_unstable();
    Ok(list)
}

/// A whole number of 16 bits. fio takes one that begins with 0 for octal.
fn index(text: &str) -> Result<u16, ValueError> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(ValueError::NotANumber(text.to_owned()));
    }
    if hex.is_none() && digits.len() > 1 && digits.starts_with('0') {
        return Err(ValueError::Rule(
            "write indices without leading zeros, which fio takes for octal numbers",
        ));
    }
    u16::from_str_radix(digits, radix).map_err(|_| ValueError::Rule("an index is at most 65535"))
}

impl Options {
    pub(super) fn set_fdp(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.fdp = v.flag()?;
        Ok(())
    }

    pub(super) fn set_interface(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        if v.text == Some("streams") {
            return Err(ValueError::Rule(
                "the drive does not take NVMe's streams directive; `fdp` names placement handles",
            ));
        }
        self.interface = Some(v.word(&[("none", false), ("fdp", true)])?);
        Ok(())
    }

    pub(super) fn set_select(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.select = Some(v.word(&[
            ("random", Select::Random),
            ("roundrobin", Select::RoundRobin),
            ("scheme", Select::Scheme),
        ])?);
        Ok(())
    }

    pub(super) fn set_plids(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.plids = Some(indices(v.text()?)?);
        Ok(())
    }

    pub(super) fn set_scheme(&mut self, v: &Value<'_>) -> Result<(), ValueError> {
        self.scheme = Some(v.text()?.to_owned());
        Ok(())
    }

    /// How the job chooses handles, if it does, with notices for the user. Ranges are still to be read from their file.
    pub(super) fn finish(&self, notices: &mut Vec<String>) -> Result<Option<Handles>, JobError> {
        if self.fdp && self.interface == Some(false) {
            return Err(JobError::Rule("fdp=1 together with dataplacement=none"));
        }
        let given = [
            ("plid_select", self.select.is_some()),
            ("plids", self.plids.is_some()),
            ("dp_scheme", self.scheme.is_some()),
        ];
        if !self.fdp && self.interface != Some(true) {
            for (name, _) in given.iter().filter(|(_, given)| *given) {
                notices.push(format!("`{name}` has no effect without `fdp=1`, as in fio"));
            }
            return Ok(None);
        }
        let list = || self.plids.clone().map_or(Given::All, Given::These);
        let select = self.select.unwrap_or(Select::RoundRobin);
        let unused = match select {
            Select::Scheme => self.plids.is_some().then_some(("plids", "with")),
            _ => self.scheme.is_some().then_some(("dp_scheme", "without")),
        };
        if let Some((name, when)) = unused {
            notices.push(format!(
                "`{name}` has no effect {when} `plid_select=scheme`, as in fio"
            ));
        }
        Ok(Some(match (select, &self.scheme) {
            (Select::RoundRobin, _) => Handles::RoundRobin(list()),
            (Select::Random, _) => Handles::Random(list()),
            (Select::Scheme, Some(file)) => Handles::ByOffset(Ranges {
                file: file.clone(),
                ranges: Vec::new(),
            }),
            (Select::Scheme, None) => {
                return Err(JobError::Rule("plid_select=scheme needs dp_scheme"));
            }
        }))
    }
}

/// The ranges of `text`, one a line: first byte, byte after the last, index of the handle. Tells whether there are more
/// than count.
pub(super) fn ranges(text: &str) -> Result<(Vec<HandleRange>, bool), ValueError> {
    let mut ranges = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let bad = |fault| ValueError::SchemeLine {
            line,
            text: text.chars().take(80).collect(),
            fault,
        };
        let mut fields = text.split(',').map(str::trim);
        let mut next = || {
            let digits = fields.next()?;
            let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            whole.then(|| digits.parse::<u64>().ok()).flatten()
        };
        let (Some(start_bytes), Some(end_bytes), Some(handle)) = (next(), next(), next()) else {
            return Err(bad("is not `first byte,byte after the last,index`"));
        };
        if fields.next().is_some() {
            return Err(bad("is not `first byte,byte after the last,index`"));
        }
        if start_bytes >= end_bytes {
            return Err(bad("is a range that holds no byte"));
        }
        let handle = u16::try_from(handle).map_err(|_| bad("has an index above 65535"))?;
        ranges.push(HandleRange {
            start_bytes,
            end_bytes,
            handle,
            line,
        });
    }
    if ranges.is_empty() {
        return Err(ValueError::Rule("the file has no range"));
    }
    let more = ranges.len() > MOST_RANGES;
    ranges.truncate(MOST_RANGES);
    Ok((ranges, more))
}

#[cfg(test)]
mod tests;
