//! Columns of a text trace that its user tells: `time:us,op,offset:B,size:B`.

use firstread_core::HostOp;

use super::error::{ColumnsError, RecordError};
use super::format::{Column, Format, Layout, MAX_COLUMNS, Role, Separator, Shape};
use super::text;
use crate::nearest::likely;

/// What a column can be, for help: name, what stands after its colon, and what it is.
pub const SPEC: [(&str, &str, &str); 7] = [
    (
        "time",
        ":ns|100ns|us|ms|s",
        "time of the request, decimals allowed; without it requests come as fast as the queue takes them",
    ),
    (
        "op",
        "[:r0w1|r1w0]",
        "R, W, read, write, trim, discard or flush, also with flags: RS, WSM; or 0 and 1. Without it all requests are reads",
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
        "placement",
        "",
        "placement handle of a write, from 0 on (NVMe's Flexible Data Placement); of other requests it is not used",
    ),
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
const NAMES: [(&str, &[&str]); 7] = [
    ("time", &["timestamp", "ts", "t"]),
    ("op", &["operation", "type", "rw", "iotype", "opcode"]),
    (
        "offset",
        &["lba", "lbn", "address", "addr", "block", "sector", "pos"],
    ),
    ("size", &["length", "len", "bytes"]),
    ("device", &["volume", "disk", "dev", "lun"]),
    ("placement", &["handle", "ruh", "plid", "dspec"]),
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

    /// Checks the one column `spec`.
    pub(super) fn check(spec: &str) -> Result<(), ColumnsError> {
        column(spec).map(|_| ())
    }

    pub(super) fn as_slice(&self) -> &[Column] {
        &self.columns[..self.len]
    }

    /// Whether more columns may follow.
    pub(super) const fn more(&self) -> bool {
        self.more
    }
}

/// What separates the columns of `line`: what it has as many as `told` of, or, where it has not, the first that it has at all.
pub(super) fn separator(line: &[u8], told: &Columns) -> Separator {
    let all = [Separator::Commas, Separator::Semicolons, Separator::Blanks];
    let fits = |separator: &Separator| {
        let given = text::Fields::cut(line, *separator).len();
        let wanted = told.as_slice().len();
        given == wanted || (given > wanted && told.more())
    };
    let has = |separator: &Separator| match separator {
        Separator::Commas => line.contains(&b','),
        Separator::Semicolons => line.contains(&b';'),
        Separator::Blanks => true,
    };
    let fitting = all.into_iter().find(|s| has(s) && fits(s));
    fitting
        .or(all.into_iter().find(has))
        .unwrap_or(Separator::Blanks)
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
        ("placement", None) => Role::Placement,
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

/// The name and the unit of a header's field, each none where it is not known: `TIME(ms)`, `offset_bytes`, `Size [B]`.
fn of_header(field: &[u8]) -> (Option<&'static str>, Option<&'static str>) {
    let field = String::from_utf8_lossy(field).to_ascii_lowercase();
    let field = field.trim();
    let at = field.find(['(', '[', '_', ' ']).unwrap_or(field.len());
    let (name, unit) = field.split_at(at);
    let unit = unit.trim_matches(|c: char| "()[]_ ".contains(c));
    let whole: String = field.chars().filter(char::is_ascii_alphanumeric).collect();
    let unit = match unit {
        "ns" => "ns",
        "100ns" => "100ns",
        "us" | "usec" | "\u{b5}s" => "us",
        "ms" | "msec" => "ms",
        "s" | "sec" | "seconds" => "s",
        "b" | "byte" | "bytes" => "B",
        "sector" | "sectors" | "512b" => "sector",
        "kb" | "kib" => "KiB",
        _ => {
            return (
                named(&whole).or(named(name)).filter(|_| unit.is_empty()),
                None,
            );
        }
    };
    (named(name), Some(unit))
}

/// Whether `line` names columns, though not those that were told: an error where it names them in another order or with
/// other units; what its user should look at where a name is that of another column. `None` where it is a record.
pub(super) fn header(told: Shape<'_>, line: &[u8]) -> Option<Result<Option<String>, text::Fault>> {
    if !text::looks_like_header(line) {
        return None;
    }
    let fields = text::Fields::cut(line, told.separator);
    let name_at = |i: usize| of_header(fields.get(i)).0;
    let mut doubtful = None;
    for (i, column) in told.columns.iter().enumerate() {
        let field = fields.get(i);
        if matches!(column.role, Role::Any) {
            continue;
        }
        let (name, unit) = of_header(field);
        if let Some(other) = name.filter(|name| *name != column.name) {
            let place = told.columns.iter().position(|c| c.name == other);
            match place {
                // The header has that column where it was told: this is another one of that name.
                Some(place) if name_at(place) == Some(other) => {}
                Some(_) => {
                    let why = RecordError::Header(text::shown(field));
                    return Some(Err(text::Fault::column(column.name, why)));
                }
                None => {
                    doubtful.get_or_insert(format!(
                        "the header calls column {} `{}`, and it was told as `{}`",
                        i + 1,
                        text::shown(field),
                        column.name
                    ));
                }
            }
        }
        let is_of = |unit: &'static str| -> Option<bool> {
            let time = TIME_UNITS.iter().find(|u| u.0 == unit).map(|u| u.1);
            Some(match column.role {
                Role::DecimalTime(told) => time? == told,
                Role::Offset(told) | Role::Len(told) => bytes(unit)? == told,
                _ => return None,
            })
        };
        if let Some(unit) = unit.filter(|unit| is_of(unit) == Some(false)) {
            let why = RecordError::HeaderUnit {
                header: text::shown(field),
                has: unit,
                told: unit_of(column.role),
            };
            return Some(Err(text::Fault::column(column.name, why)));
        }
    }
    Some(Ok(doubtful))
}

/// A unit in words.
fn unit_of(role: Role) -> &'static str {
    match role {
        Role::DecimalTime(unit) | Role::Time(unit) => {
            let unit = TIME_UNITS.iter().find(|u| u.1 == unit);
            unit.map_or("another one", |u| u.0)
        }
        Role::Offset(1) | Role::Len(1) => "B",
        Role::Offset(512) | Role::Len(512) => "sector",
        _ => "another one",
    }
}

/// What to ask of the times of a trace: its first requests lie further apart than any drive is used, or closer than any can be.
pub(super) fn doubtful_times(shape: Shape<'_>, lines: &[&[u8]]) -> Option<String> {
    const SLOWEST_NS: u64 = 600_000_000_000;
    const FASTEST_NS: u64 = 20;
    let time = |role: &Role| match role {
        Role::DecimalTime(unit) | Role::Time(unit) => Some(*unit),
        _ => None,
    };
    let unit = shape.columns.iter().find_map(|c| time(&c.role))?;
    let raws = lines
        .iter()
        .filter_map(|line| text::parse(shape, line).ok());
    let times: Vec<u64> = raws.map(|raw| raw.time_ns).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    let gaps = times.len() as u64 - 1;
    let mean = last.checked_sub(first)?.checked_div(gaps)?;
    let too = match mean {
        ns if ns > SLOWEST_NS => "apart",
        // Some traces have one time for all requests of a burst.
        ns if ns < FASTEST_NS && gaps >= 15 && last > first => "close together",
        _ => return None,
    };
    Some(format!(
        "the first {} requests lie {} s apart on average, which is far {too}: are their times in {}?",
        times.len(),
        mean as f64 / 1e9,
        unit_of(Role::Time(unit)),
    ))
}

/// What to ask of times with a decimal point that nothing says the unit of.
pub(super) fn doubtful_decimals(format: &Format, lines: &[&[u8]]) -> Option<String> {
    let raws = lines
        .iter()
        .filter_map(|line| text::parse(format.shape(), line).ok());
    let times: Vec<u64> = raws.map(|raw| raw.time_ns).collect();
    let span = times.last()?.saturating_sub(*times.first()?) as f64;
    Some(format!(
        "times with a decimal point are taken as ms, as DiskSim has them: the first {} requests lie within {} ms; if they \
         are in s, and lie within {} s, name the format: ssdsim-s",
        times.len(),
        span / 1e6,
        span / 1e6,
    ))
}

/// What to ask of a trace whose columns of sectors may hold bytes: all sizes, or all offsets, of its first requests are
/// multiples of 512. `format` names a format, of which the columns are told otherwise in the answer.
pub(super) fn doubt(format: Option<&Format>, shape: Shape<'_>, lines: &[&[u8]]) -> Option<String> {
    const FEWEST: usize = 4;
    let sectors = |role: fn(&Role) -> bool| shape.columns.iter().find(|c| role(&c.role));
    let offset = sectors(|role| matches!(role, Role::Offset(512)));
    let size = sectors(|role| matches!(role, Role::Len(512)));
    let answer = match format {
        Some(format) => format!("tell the trace's columns: {}", in_bytes(format)?),
        None => "tell it so".to_owned(),
    };
    let raws = lines
        .iter()
        .filter_map(|line| text::parse(shape, line).ok());
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
         if it is in bytes, {answer}",
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
            Role::Placement => "placement".into(),
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
                "unknown column `tme`; the nearest is `time`; there are time, op, offset, size, device, placement and - for a column that is not used",
            ),
            (
                "time:us,lenght:B",
                "unknown column `lenght`; the nearest is `size`; there are time, op, offset, size, device, placement and - for a column that is not used",
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
