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
    /// Placement handle of a write; 0 where the trace names none.
    pub(super) placement: u16,
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
        // A separator within quotes is one of the field.
        let mut quoted = false;
        let mut outside = |b: u8| {
            quoted ^= b == b'"';
            !quoted
        };
        match separator {
            Separator::Commas => line
                .split(|&b| outside(b) && b == b',')
                .for_each(|f| push(unquoted(f))),
            Separator::Semicolons => line
                .split(|&b| outside(b) && b == b';')
                .for_each(|f| push(unquoted(f))),
            Separator::Blanks => line
                .split(|&b| outside(b) && b.is_ascii_whitespace())
                .filter(|f| !f.is_empty())
                .for_each(|f| push(unquoted(f))),
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

/// `field` without blanks around it, and without quotes.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    match field {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner.trim_ascii(),
        _ => field,
    }
}

/// Whether `line` is a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"#") || line.starts_with(b"//")
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
            if let Some(n) = written_otherwise(bytes) {
                return n.ok_or_else(|| BadNumber::TooLarge(shown(bytes)));
            }
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

/// A whole number in hexadecimal (`0x1000`), or whose thousands are set apart (`1,048,576`, `1_000`); none where it is neither,
/// and none within where it is too large.
fn written_otherwise(bytes: &[u8]) -> Option<Option<u64>> {
    if let [b'0', b'x' | b'X', digits @ ..] = bytes {
        let text = std::str::from_utf8(digits).ok()?;
        let is_hex = !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
        return is_hex.then(|| u64::from_str_radix(text, 16).ok());
    }
    let apart = *bytes.iter().find(|b| !b.is_ascii_digit())?;
    if !matches!(apart, b',' | b'_') {
        return None;
    }
    let mut n = Some(0u64);
    for (i, group) in bytes.split(|&b| b == apart).enumerate() {
        let is_group = match i {
            0 => (1..=3).contains(&group.len()),
            _ => group.len() == 3,
        };
        if !is_group || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value = group.iter().fold(0, |n, b| 10 * n + u64::from(b - b'0'));
        n = n
            .and_then(|n| n.checked_mul(1_000))
            .and_then(|n| n.checked_add(value));
    }
    Some(n)
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
    } else if int.starts_with(b"0x") || int.starts_with(b"0X") {
        return Err(bad());
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
    of_fields(columns, |i| fields.get(i))
}

/// The record whose field of column `i` is `field(i)`.
pub(super) fn of_fields<'a>(
    columns: &[Column],
    field: impl Fn(usize) -> &'a [u8],
) -> Result<Raw, Fault> {
    let mut raw = Raw {
        time_ns: 0,
        op: HostOp::Read,
        offset_bytes: 0,
        len_bytes: 0,
        device: 0,
        placement: 0,
    };
    for (i, column) in columns.iter().enumerate() {
        let field = field(i);
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
            Role::Placement => {
                let n = whole(field).map_err(fault)?;
                let too_large = |_| Fault::column(column.name, RecordError::TooLarge(n));
                raw.placement = u16::try_from(n).map_err(too_large)?;
            }
            Role::Op(words) => {
                let known = words
                    .iter()
                    .find(|w| w.0.as_bytes().eq_ignore_ascii_case(field));
                let flagged = || words.contains(&FLAGGED).then(|| flagged(field)).flatten();
                raw.op = match known.map(|(_, op)| *op).or_else(flagged) {
                    Some(op) => op,
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

/// A word of operations that may have flags behind them.
pub(super) const FLAGGED: (&str, HostOp) = ("D", HostOp::Trim);

/// An operation with flags as the block layer writes them: `RS`, `WSM`, `RA`, `WFS`; an F before it asks for a flush first.
fn flagged(field: &[u8]) -> Option<HostOp> {
    let at = field.iter().position(|&b| b != b'F')?;
    let op = match field[at] {
        b'R' => HostOp::Read,
        b'W' => HostOp::Write,
        b'D' => HostOp::Trim,
        _ => return None,
    };
    let mut flags = field[at + 1..].iter();
    flags.all(|b| b"SMAFEBN".contains(b)).then_some(op)
}

/// Whether `line` names columns rather than holding a record: no column begins with a digit. Each
/// must then be the name of the column that stands there: `DiskNumber` is a name of `disk`. Columns that the user has told
/// are compared by `columns::header`.
pub(super) fn header(shape: Shape<'_>, line: &[u8]) -> Option<Result<(), Fault>> {
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
        let alike = !given.is_empty() && (within(&given, &wanted) || within(&wanted, &given));
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
        .map(|f| f.strip_prefix(b"\"").or(f.strip_prefix(b"'")).unwrap_or(f))
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
        assert_eq!(decimal(b"1,234.5", ms), Ok(1_234_500_000));
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

    /// Numbers as spreadsheets and programs write them.
    #[test]
    fn golden_whole_numbers_written_otherwise() {
        for (text, n) in [
            ("0x1000", Some(4096)),
            ("0XfF", Some(255)),
            ("0xffffffffffffffff", Some(u64::MAX)),
            ("0x", None),
            ("0xg", None),
            ("0x10000000000000000", None),
            ("1,048,576", Some(1_048_576)),
            ("1_000", Some(1_000)),
            ("18,446,744,073,709,551,615", Some(u64::MAX)),
            ("18,446,744,073,709,551,616", None),
            ("1,04", None),
            ("1048,576", None),
            (",576", None),
            ("1,000_000", None),
            ("1.000", None),
        ] {
            assert_eq!(whole(text.as_bytes()).ok(), n, "{text}");
        }
    }

    #[test]
    fn golden_fields_in_quotes() {
        let of = |line: &'static [u8], separator| {
            let fields = Fields::cut(line, separator);
            (0..fields.len()).map(|i| fields.get(i)).collect::<Vec<_>>()
        };
        let three: [&[u8]; 3] = [b"0", b"1,024", b"a b"];
        assert_eq!(of(b"\"0\", \"1,024\",'a b'", Separator::Commas), three);
        assert_eq!(of(b"0;1,024; \"a b\" ", Separator::Semicolons), three);
        assert_eq!(of(b"'0'  1,024\t\"a b\"", Separator::Blanks), three);
    }

    #[test]
    fn golden_operations_with_flags() {
        for (field, op) in [
            ("RS", Some(HostOp::Read)),
            ("RA", Some(HostOp::Read)),
            ("WSM", Some(HostOp::Write)),
            ("FWFS", Some(HostOp::Write)),
            ("DS", Some(HostOp::Trim)),
            ("N", None),
            ("FF", None),
            ("Reed", None),
            ("", None),
        ] {
            assert_eq!(flagged(field.as_bytes()), op, "{field}");
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
