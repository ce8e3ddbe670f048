//! A regular expression for the lines of a trace: its named groups are the columns.

use std::sync::Arc;

use regex_lite::{CaptureLocations, Regex};

use super::columns::Columns;
use super::error::{ColumnsError, PatternError};
use super::text::{Fault, Raw, of_fields};

/// An expression whose groups are named as columns are, with their unit behind an underscore: `time_us`, `op`, `op_r0w1`,
/// `offset_sector`, `size_4KiB`, `device`, `placement`.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    columns: Columns,
    /// Which group each column is.
    groups: Arc<[usize]>,
}

impl Pattern {
    /// Parses `text`.
    ///
    /// # Errors
    /// [`PatternError`] where it is no expression, or its named groups are not those of a request.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let regex = Regex::new(text).map_err(PatternError::Syntax)?;
        let (mut specs, mut groups) = (Vec::new(), Vec::new());
        for (i, name) in regex.capture_names().enumerate() {
            let Some(name) = name else {
                continue;
            };
            let spec = name.replacen('_', ":", 1);
            Columns::check(&spec).map_err(|error| PatternError::Group {
                group: name.to_owned(),
                error: as_groups(error),
            })?;
            specs.push(spec);
            groups.push(i);
        }
        if specs.is_empty() {
            return Err(PatternError::NoGroups);
        }
        let columns = Columns::parse(&specs.join(","));
        let columns = columns.map_err(|error| PatternError::Columns(as_groups(error)))?;
        Ok(Pattern {
            regex,
            columns,
            groups: groups.into(),
        })
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Memory for the groups of a line.
    pub(super) fn locations(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// The request of `line`; none where the line does not match.
    pub(super) fn request(
        &self,
        line: &[u8],
        found: &mut CaptureLocations,
    ) -> Result<Option<Raw>, Fault> {
        let Ok(line) = std::str::from_utf8(line) else {
            return Ok(None);
        };
        if self.regex.captures_read(found, line).is_none() {
            return Ok(None);
        }
        let field = |i: usize| {
            let place = self.groups.get(i).and_then(|&group| found.get(group));
            place.map_or(&b""[..], |(from, to)| line[from..to].trim().as_bytes())
        };
        of_fields(self.columns.as_slice(), field).map(Some)
    }
}

/// `error` with units as groups have them.
fn as_groups(error: ColumnsError) -> ColumnsError {
    match error {
        ColumnsError::Unit { column, given, .. } => ColumnsError::GroupUnit { column, given },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Pattern::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn golden_errors_of_an_expression() {
        assert!(error("(?<size_B>").contains("unclosed") || !error("(?<size_B>").is_empty());
        for (text, message) in [
            (
                r"^(\d+) (\d+)$",
                "it has no named groups; name those of offset and size, as in (?<offset_B>[0-9]+) and (?<size_B>[0-9]+)",
            ),
            (
                r"(?<offset_B>\d+)",
                "there is no column `size`, without which there is no request",
            ),
            (
                r"(?<offset>\d+) (?<size_B>\d+)",
                "group `offset`: column `offset` needs its unit behind an underscore, as in offset_B, offset_sector or offset_4KiB",
            ),
            (
                r"(?<time_min>\d+) (?<offset_B>\d+) (?<size_B>\d+)",
                "group `time_min`: column `time` has no unit `min`; as in time_ns, time_us, time_ms or time_s",
            ),
            (
                r"(?<ofset_B>\d+) (?<size_B>\d+)",
                "group `ofset_B`: unknown column `ofset`; the nearest is `offset`; there are time, op, offset, size, device, placement and - for a column that is not used",
            ),
        ] {
            assert_eq!(error(text), message);
        }
    }

    #[test]
    fn golden_what_an_expression_takes_of_a_line() {
        let of = |text: &str, line: &str| {
            let pattern = Pattern::parse(text).unwrap();
            let found = pattern.request(line.as_bytes(), &mut pattern.locations());
            found.map_err(|fault| fault.why.to_string())
        };
        let text =
            r"^t=(?<time_ms>[0-9.]+) .* (?<op>\w+) at (?<offset_sector>\S+)\+(?<size_B>[0-9,]+)";
        let raw = of(text, "t=1.5 x WS at 0x10+8,192 done").unwrap().unwrap();
        assert_eq!(
            (raw.time_ns, raw.op),
            (1_500_000, firstread_core::HostOp::Write)
        );
        assert_eq!((raw.offset_bytes, raw.len_bytes), (8192, 8192));
        assert!(of(text, "no request").unwrap().is_none());
        let why = of(r"(?<offset_B>\w+) (?<size_B>\d*)", "8q 1").unwrap_err();
        assert_eq!(why, "`8q` is no whole number");
        assert_eq!(
            of(r"(?<offset_B>\d+) (?<size_B>\d*)", "8 ").unwrap_err(),
            "is missing"
        );
    }
}
