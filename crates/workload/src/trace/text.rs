//! Records of one line each, parsed by the columns of their format.

use firstread_core::HostOp;

use super::error::{BadNumber, RecordError};
use super::format::{Column, MAX_COLUMNS, Role, Separator, Shape};

/// A record as it stands in a trace, before it is placed in time and on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) time_ns: u64,
    pub(super) op: HostOp,
    pub(super) offset_bytes: u64,
    pub(super) len_bytes: u64,
    pub(super) device: u32,
}

/// Why a record cannot be used.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) column: Option<&'static str>,
    pub(super) why: Box<RecordError>,
}

impl Fault {
    pub(super) fn record(why: RecordError) -> Fault {
        Fault {
            column: None,
            why: Box::new(why),
        }
    }
    pub(super) fn column(
        column: impl Into<Option<&'static str>>,
        why: impl Into<RecordError>,
    ) -> Fault {
        Fault {
            column: column.into(),
            why: Box::new(why.into()),
        }
    }
    /// `field` of `column` is wrong as `fault` says.
    pub(super) fn field(column: &'static str, field: &[u8], fault: &'static str) -> Fault {
        let field = shown(field);
        Fault::column(column, RecordError::Field { field, fault })
    }
}

/// Columns of a line.
pub(super) struct Fields<'a> {
    fields: [&'a [u8]; MAX_COLUMNS],
    len: usize,
}

impl<'a> Fields<'a> {
    /// Cuts `line` at commas, semicolons or runs of blanks. Columns past the sixteenth are counted alone.
    pub(super) fn cut(line: &'a [u8], separator: Separator) -> Fields<'a> {
        let mut all = Fields {
            fields: [b""; MAX_COLUMNS],
            len: 0,
        };
        let mut push = |field: &'a [u8]| {
            if let Some(slot) = all.fields.get_mut(all.len) {
                *slot = field;
            }
            all.len += 1;
        };
        match separator {
            Separator::Commas => line
                .split(|&b| b == b',')
                .for_each(|f| push(f.trim_ascii())),
            Separator::Semicolons => line
                .split(|&b| b == b';')
                .for_each(|f| push(f.trim_ascii())),
            Separator::Blanks => line
                .split(|b| b.is_ascii_whitespace())
                .filter(|f| !f.is_empty())
                .for_each(push),
        }
        all
    }
    pub(super) fn len(&self) -> usize {
        self.len
    }
    /// A column, empty where the line is shorter.
    pub(super) fn get(&self, i: usize) -> &'a [u8] {
        self.fields.get(i).copied().unwrap_or(b"")
    }
}

/// Text for a message, shortened.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
    let mut text: String = text
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if bytes.len() > 80 {
        text += "...";
    }
    text
}

pub(super) fn whole(bytes: &[u8]) -> Result<u64, BadNumber> {
    if bytes.is_empty() {
        return Err(BadNumber::Missing);
    }
    let mut n = 0u64;
    for &b in bytes {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            let point = bytes.contains(&b'.') && decimal(bytes, 1).is_ok();
            return Err(match point {
                true => BadNumber::Point(shown(bytes)),
                false => BadNumber::NotWhole(shown(bytes)),
            });
        }
        n = n
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit)))
            .ok_or_else(|| BadNumber::TooLarge(shown(bytes)))?;
    }
    Ok(n)
}

/// A decimal number times `unit`, exact, rounded down.
pub(super) fn decimal(bytes: &[u8], unit: u64) -> Result<u64, BadNumber> {
    let (int, fraction) = match bytes.iter().position(|&b| b == b'.') {
        Some(point) => (&bytes[..point], &bytes[point + 1..]),
        None => (bytes, &b""[..]),
    };
    let bad = || BadNumber::NoNumber(shown(bytes));
    if int.is_empty() && fraction.is_empty() {
        return Err(BadNumber::Missing);
    }
    let int = if int.is_empty() {
        0
    } else {
        whole(int).map_err(|_| bad())?
    };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(bad());
    }
    // Digits beyond 10^-18 are less than 1 ns in any unit.
    let mut scale = unit as u128 * 1_000_000_000_000_000_000;
    let mut parts = 0u128;
    for digit in fraction.iter().take(18) {
        scale /= 10;
        parts += scale * u128::from(digit - b'0');
    }
    let sum = u128::from(int) * u128::from(unit) + parts / 1_000_000_000_000_000_000;
    u64::try_from(sum).map_err(|_| BadNumber::TooLarge(shown(bytes)))
}

/// The record of `line`, whose columns are those of `shape`.
pub(super) fn parse(shape: Shape<'_>, line: &[u8]) -> Result<Raw, Fault> {
    let Shape {
        columns,
        separator,
        more,
    } = shape;
    let fields = Fields::cut(line, separator);
    if fields.len() < columns.len() || (fields.len() > columns.len() && !more) {
        return Err(Fault::record(RecordError::Columns {
            given: fields.len(),
            names: columns.iter().map(|c| c.name).collect(),
            line: shown(line),
        }));
    }
    let mut raw = Raw {
        time_ns: 0,
        op: HostOp::Read,
        offset_bytes: 0,
        len_bytes: 0,
        device: 0,
    };
    for (i, column) in columns.iter().enumerate() {
        let field = fields.get(i);
        let fault = |why: BadNumber| Fault::column(column.name, why);
        let too_large = || BadNumber::TooLarge(shown(field));
        let scaled = |unit: u64| whole(field)?.checked_mul(unit).ok_or_else(too_large);
        match column.role {
            Role::Time(unit) => raw.time_ns = scaled(unit).map_err(fault)?,
            Role::DecimalTime(unit) => raw.time_ns = decimal(field, unit).map_err(fault)?,
            Role::Offset(unit) => raw.offset_bytes = scaled(unit).map_err(fault)?,
            Role::Len(unit) => raw.len_bytes = scaled(unit).map_err(fault)?,
            Role::Device => {
                let n = whole(field).map_err(fault)?;
                let too_large = |_| Fault::column(column.name, RecordError::TooLarge(n));
                raw.device = u32::try_from(n).map_err(too_large)?;
            }
            Role::Op(words) => {
                let known = words
                    .iter()
                    .find(|w| w.0.as_bytes().eq_ignore_ascii_case(field));
                raw.op = match known {
                    Some((_, op)) => *op,
                    None => {
                        let why = RecordError::Word {
                            field: shown(field),
                            words: words.iter().map(|w| w.0).collect(),
                        };
                        return Err(Fault::column(column.name, why));
                    }
                };
            }
            Role::Number => {
                decimal(field, 1).map_err(fault)?;
            }
            Role::Any => {}
        }
    }
    Ok(raw)
}

/// Whether `line` names columns rather than holding a record: no column begins with a digit. Each
/// must then be the name of the column that stands there: `DiskNumber` is a name of `disk`. Where the user has
/// told the columns, none must be the name of another column, as `is_another` knows.
pub(super) fn header(
    shape: Shape<'_>,
    line: &[u8],
    is_another: Option<fn(&Column, &[u8]) -> bool>,
) -> Option<Result<(), Fault>> {
    if !looks_like_header(line) {
        return None;
    }
    let fields = Fields::cut(line, shape.separator);
    let plain = |bytes: &[u8]| -> Vec<u8> {
        let letters = bytes.iter().filter(|b| b.is_ascii_alphanumeric());
        letters.map(u8::to_ascii_lowercase).collect()
    };
    let within = |a: &[u8], b: &[u8]| a.windows(b.len().max(1)).any(|part| part == b);
    for (i, column) in shape.columns.iter().enumerate() {
        let (given, wanted) = (plain(fields.get(i)), plain(column.name.as_bytes()));
        let alike = match is_another {
            None => !given.is_empty() && (within(&given, &wanted) || within(&wanted, &given)),
            Some(is_another) => !is_another(column, &given),
        };
        if !alike {
            let why = RecordError::Header(shown(fields.get(i)));
            return Some(Err(Fault::column(column.name, why)));
        }
    }
    Some(Ok(()))
}

/// Whether no column of `line` begins with a digit.
pub(super) fn looks_like_header(line: &[u8]) -> bool {
    let mut fields = line
        .split(|&b| b == b',' || b.is_ascii_whitespace())
        .filter(|f| !f.is_empty())
        .peekable();
    fields.peek().is_some() && fields.all(|f| !f[0].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let ms = 1_000_000;
        for (text, ns) in [
            ("0", 0),
            ("0.000000", 0),
            ("0.005859", 5_859),
            ("39077.826172", 39_077_826_172),
            (".5", 500_000),
            ("7.", 7_000_000),
            ("1.0000019999", 1_000_001),
            ("0.9999999999999999999999999", 999_999),
        ] {
            assert_eq!(decimal(text.as_bytes(), ms), Ok(ns), "{text}");
        }
        for bad in [
            "",
            ".",
            "-1",
            "1e3",
            "1.2.3",
            "0x1",
            "1.a",
            "99999999999999999999",
        ] {
            assert!(decimal(bad.as_bytes(), ms).is_err(), "{bad}");
        }
    }

    #[test]
    fn whole_numbers_do_not_wrap() {
        assert_eq!(whole(b"18446744073709551615"), Ok(u64::MAX));
        assert!(whole(b"18446744073709551616").is_err());
        assert!(whole(b"").is_err());
        assert!(whole(b"12 ").is_err());
    }

    #[test]
    fn formula_what_is_shown_has_80_bytes_at_most() {
        let of = |n: usize| shown("x".repeat(n).as_bytes());
        assert_eq!((of(3), of(80)), ("xxx".into(), "x".repeat(80)));
        for n in [81, 82, 500] {
            assert_eq!(of(n), format!("{}...", "x".repeat(80)), "{n}");
        }
        assert_eq!(shown(b"a\tb\n"), "a?b?");
    }
}
