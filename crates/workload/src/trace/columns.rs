//! Columns of a text trace that its user tells: `time:us,op,offset:B,size:B`.

use firstread_core::HostOp;

use super::error::ColumnsError;
use super::format::{Column, Format, Layout, MAX_COLUMNS, Role};
use super::text;
use crate::nearest::likely;

/// What a column can be, for help: name, what stands after its colon, and what it is.
pub const SPEC: [(&str, &str, &str); 6] = [
    (
        "time",
        ":ns|100ns|us|ms|s",
        "time of the request, decimals allowed; without it requests come as fast as the queue takes them",
    ),
    (
        "op",
        "[:r0w1|r1w0]",
        "R, W, read, write, trim, discard or flush; or 0 and 1. Without it all requests are reads",
    ),
    (
        "offset",
        ":B|sector|4KiB|...",
        "first byte of the request, in such units",
    ),
    (
        "size",
        ":B|sector|4KiB|...",
        "length of the request, in such units",
    ),
    ("device", "", "number of a volume"),
    (
        "-",
        "",
        "a column that is not used; ... at the end stands for all that follow",
    ),
];

/// Words of an operation column.
const WORDS: Role = Role::Op(&[
    ("R", HostOp::Read),
    ("W", HostOp::Write),
    ("read", HostOp::Read),
    ("write", HostOp::Write),
    ("trim", HostOp::Trim),
    ("T", HostOp::Trim),
    ("discard", HostOp::Trim),
    ("D", HostOp::Trim),
    ("flush", HostOp::Flush),
    ("F", HostOp::Flush),
]);
const R0W1: Role = Role::Op(&[("0", HostOp::Read), ("1", HostOp::Write)]);
const R1W0: Role = Role::Op(&[("1", HostOp::Read), ("0", HostOp::Write)]);

const TIME_UNITS: [(&str, u64); 5] = [
    ("ns", 1),
    ("100ns", 100),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// Names of columns, with what others call them.
const NAMES: [(&str, &[&str]); 6] = [
    ("time", &["timestamp", "ts", "t"]),
    ("op", &["operation", "type", "rw", "iotype", "opcode"]),
    (
        "offset",
        &["lba", "lbn", "address", "addr", "block", "sector", "pos"],
    ),
    ("size", &["length", "len", "bytes"]),
    ("device", &["volume", "disk", "dev", "lun"]),
    ("-", &["_", "skip", "unused"]),
];

/// Columns that a user has told.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    columns: [Column; MAX_COLUMNS],
    len: usize,
    more: bool,
}

impl Columns {
    /// Parses `spec`: names in their order, each with its unit where it has one.
    ///
    /// # Errors
    /// [`ColumnsError`], which names what can stand there.
    pub fn parse(spec: &str) -> Result<Columns, ColumnsError> {
        let unused = Column {
            name: "-",
            unit: "",
            role: Role::Any,
        };
        let mut told = Columns {
            columns: [unused; MAX_COLUMNS],
            len: 0,
            more: false,
        };
        for given in spec.split(',').map(str::trim) {
            if told.more {
                return Err(ColumnsError::AfterDots);
            }
            if given == "..." {
                told.more = true;
                continue;
            }
            let column = column(given)?;
            let is_used = !matches!(column.role, Role::Any);
            if is_used && told.as_slice().iter().any(|c| c.name == column.name) {
                return Err(ColumnsError::Twice(column.name));
            }
            let slot = told.columns.get_mut(told.len);
            *slot.ok_or(ColumnsError::TooMany(MAX_COLUMNS))? = column;
            told.len += 1;
        }
        for needed in ["offset", "size"] {
            if !told.as_slice().iter().any(|c| c.name == needed) {
                return Err(ColumnsError::Missing(needed));
            }
        }
        Ok(told)
    }

    pub(super) fn as_slice(&self) -> &[Column] {
        &self.columns[..self.len]
    }

    /// Whether more columns may follow.
    pub(super) const fn more(&self) -> bool {
        self.more
    }
}

/// The column called `name`, by its own or another name.
fn named(name: &str) -> Option<&'static str> {
    let is = |(own, others): &&(&'static str, &[&str])| *own == name || others.contains(&name);
    NAMES.iter().find(is).map(|(own, _)| *own)
}

fn column(given: &str) -> Result<Column, ColumnsError> {
    let (name, unit) = match given.split_once(':') {
        Some((name, unit)) => (name.trim(), Some(unit.trim())),
        None => (given, None),
    };
    let lower = name.to_ascii_lowercase();
    let Some(name) = named(&lower) else {
        let names = NAMES
            .iter()
            .flat_map(|(own, others)| std::iter::once(*own).chain(others.iter().copied()));
        return Err(ColumnsError::Unknown {
            given: text::shown(name.as_bytes()),
            nearest: likely(&lower, names).and_then(named),
        });
    };
    let no_such = || ColumnsError::Unit {
        column: name,
        given: unit.map(|unit| text::shown(unit.as_bytes())),
        units: SPEC.iter().find(|s| s.0 == name).map_or("", |s| s.1),
    };
    let role = match (name, unit) {
        ("time", Some(unit)) => {
            let unit = TIME_UNITS.iter().find(|u| u.0 == unit);
            Role::DecimalTime(unit.ok_or_else(no_such)?.1)
        }
        ("offset", Some(unit)) => Role::Offset(bytes(unit).ok_or_else(no_such)?),
        ("size", Some(unit)) => Role::Len(bytes(unit).ok_or_else(no_such)?),
        ("op", None) => WORDS,
        ("op", Some("r0w1")) => R0W1,
        ("op", Some("r1w0")) => R1W0,
        ("device", None) => Role::Device,
        ("-", None) => Role::Any,
        _ => return Err(no_such()),
    };
    Ok(Column {
        name,
        unit: "",
        role,
    })
}

/// Bytes of a unit: `B`, `sector`, or a number of bytes, KiB or MiB.
fn bytes(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    if matches!(&*lower, "sector" | "sectors") {
        return Some(512);
    }
    let at = lower
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(lower.len());
    let count = match &lower[..at] {
        "" => 1,
        digits => digits.parse::<u64>().ok().filter(|n| *n > 0)?,
    };
    let scale = match &lower[at..] {
        "b" => 1,
        // A bare number is one of bytes: `512`.
        "" if at > 0 => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        _ => return None,
    };
    count.checked_mul(scale)
}

/// Whether a header's name, in lower case, is that of another column than `told`.
pub(super) fn is_another(told: &Column, name: &[u8]) -> bool {
    let name = std::str::from_utf8(name).ok().and_then(named);
    !matches!(told.role, Role::Any) && name.is_some_and(|name| name != told.name)
}

/// What to ask of a trace whose columns of sectors may hold bytes: all sizes, or all offsets, of its first requests are
/// multiples of 512.
pub(super) fn doubt(format: &Format, lines: &[&[u8]]) -> Option<String> {
    const FEWEST: usize = 4;
    let sectors = |role: fn(&Role) -> bool| format.columns.iter().find(|c| role(&c.role));
    let offset = sectors(|role| matches!(role, Role::Offset(512)));
    let size = sectors(|role| matches!(role, Role::Len(512)));
    let spec = in_bytes(format)?;
    let raws = lines
        .iter()
        .filter_map(|line| text::parse(format.shape(), line).ok());
    let raws: Vec<(u64, u64)> = raws.map(|r| (r.offset_bytes, r.len_bytes)).collect();
    if raws.len() < FEWEST {
        return None;
    }
    // Bytes in a column of sectors come out 512 times too large.
    let all = |of: fn(&(u64, u64)) -> u64| raws.iter().all(|raw| of(raw).is_multiple_of(512 * 512));
    let differ = raws.iter().any(|raw| raw.0 != raws[0].0);
    let (column, what) = match (offset, size) {
        (_, Some(size)) if all(|raw| raw.1) => (size, "size"),
        (Some(offset), _) if differ && all(|raw| raw.0) => (offset, "offset"),
        _ => return None,
    };
    Some(format!(
        "every {what} (column `{}`) of the first {} requests is a multiple of 512, and is taken in sectors of 512 B; \
         if it is in bytes, tell the trace's columns: {spec}",
        column.name,
        raws.len()
    ))
}

/// The columns of `format` as a user tells them, with bytes for sectors; none where they cannot be told.
fn in_bytes(format: &Format) -> Option<String> {
    let columns = format.columns.iter().map(|column| {
        Some(match column.role {
            Role::Time(unit) | Role::DecimalTime(unit) => {
                let unit = TIME_UNITS.iter().find(|u| u.1 == unit)?;
                format!("time:{}", unit.0)
            }
            Role::Device => "device".into(),
            Role::Offset(_) => "offset:B".into(),
            Role::Len(_) => "size:B".into(),
            Role::Op(words) => match words.first()?.0 {
                "0" => "op:r0w1".into(),
                "1" => "op:r1w0".into(),
                "R" | "Read" => "op".into(),
                _ => return None,
            },
            Role::Number | Role::Any => "-".to_owned(),
        })
    });
    let columns: Option<Vec<String>> = columns.collect();
    let is_text = matches!(format.layout, Layout::Csv { .. } | Layout::Blanks);
    columns.filter(|_| is_text).map(|c| c.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(spec: &str) -> String {
        Columns::parse(spec).unwrap_err().to_string()
    }

    #[test]
    fn golden_what_a_spec_can_say() {
        let told = Columns::parse("Time:us, op,offset:B,size:4KiB,-,device,...").unwrap();
        let names: Vec<&str> = told.as_slice().iter().map(|c| c.name).collect();
        assert_eq!(names, ["time", "op", "offset", "size", "-", "device"]);
        assert!(told.more());
        assert!(matches!(told.as_slice()[3].role, Role::Len(4096)));
        for (unit, is) in [
            ("B", Some(1)),
            ("sector", Some(512)),
            ("512B", Some(512)),
            ("512", Some(512)),
            ("4k", Some(4096)),
            ("KiB", Some(1024)),
            ("2MiB", Some(2 << 20)),
            ("", None),
            ("0B", None),
            ("bytes", None),
            ("99999999999999999999B", None),
            ("18446744073709551615k", None),
        ] {
            assert_eq!(bytes(unit), is, "{unit}");
        }
    }

    #[test]
    fn golden_errors_of_a_spec() {
        for (spec, message) in [
            (
                "tme:us,offset:B,size:B",
                "unknown column `tme`; the nearest is `time`; there are time, op, offset, size, device and - for a column that is not used",
            ),
            (
                "time:us,lenght:B",
                "unknown column `lenght`; the nearest is `size`; there are time, op, offset, size, device and - for a column that is not used",
            ),
            (
                "time:us,offset,size:B",
                "column `offset` needs its unit: offset:B|sector|4KiB|...",
            ),
            (
                "time:min,offset:B,size:B",
                "column `time` has no unit `min`: time:ns|100ns|us|ms|s",
            ),
            (
                "op:x,offset:B,size:B",
                "column `op` has no unit `x`: op[:r0w1|r1w0]",
            ),
            (
                "time:us,offset:B",
                "there is no column `size`, without which there is no request",
            ),
            ("offset:B,size:B,size:B", "column `size` is told twice"),
            ("offset:B,...,size:B", "nothing can follow `...`"),
            (
                "-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,offset:B",
                "more than 16 columns; put `...` for those at the end that are not used",
            ),
        ] {
            assert_eq!(error(spec), message);
        }
    }
}
