//! Values of fio options: numbers with fio's suffixes, times, ranges, per-direction lists.

use super::error::ValueError;
use crate::job::Extent;
use crate::nearest::likely;

/// Longest request, in bytes: fio has no limit, but a length is 32 bits here.
pub(super) const MAX_REQUEST_BYTES: u64 = 1 << 30;
/// Largest number of bytes or times accepted, so that sums and percentages of them stay in 64 bits.
pub(super) const MAX_BYTES: u64 = 1 << 60;

/// The text after `=`, if any, and the base of its suffixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    pub(super) text: Option<&'a str>,
    /// `kb_base`: 1024 (`4k` is 4096) or 1000 (`4k` is 4000).
    pub(super) kb_base: u64,
}

const TOO_LARGE: ValueError = ValueError::Rule("the number is too large");

type Parsed<T> = Result<T, ValueError>;

impl<'a> Value<'a> {
    /// The text, which must be there.
    pub(super) fn text(&self) -> Parsed<&'a str> {
        match self.text {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(ValueError::Missing),
        }
    }

    fn with(&self, text: &'a str) -> Value<'a> {
        Value {
            text: Some(text),
            kb_base: self.kb_base,
        }
    }

    /// `1`, `0`, or nothing, which means 1.
    pub(super) fn flag(&self) -> Parsed<bool> {
        match self.text {
            None | Some("1") => Ok(true),
            Some("0") => Ok(false),
            Some(_) => Err(ValueError::Rule("must be 0 or 1")),
        }
    }

    /// A plain whole number.
    pub(super) fn count(&self, min: u64, max: u64) -> Parsed<u64> {
        let n = self.number()?;
        if (min..=max).contains(&n) {
            Ok(n)
        } else {
            Err(ValueError::Count { min, max })
        }
    }

    /// A whole number with fio's size suffixes, which fio takes for counts too (`number_ios=1m`).
    pub(super) fn number(&self) -> Parsed<u64> {
        match self.extent()? {
            Extent::Bytes(n) => Ok(n),
            Extent::Percent(_) => Err(ValueError::Rule("a percentage makes no sense here")),
        }
    }

    /// Bytes, or a percentage.
    pub(super) fn extent(&self) -> Parsed<Extent> {
        let text = self.text()?;
        let (n, suffix) = split_number(text)?;
        let suffix = suffix.to_ascii_lowercase();
        if suffix == "%" {
            return match n {
                0..=100 => Ok(Extent::Percent(n as u8)),
                _ => Err(ValueError::Rule("a percentage is from 0 to 100")),
            };
        }
        let (letter, rest) = suffix.split_at(usize::from(
            suffix.starts_with(|c: char| "kmgtp".contains(c)),
        ));
        let power = match letter {
            "" => 0,
            letter => "kmgtp".find(letter).unwrap_or(0) as u32 + 1,
        };
        // fio's default turns the prefixes of IEC and SI around, so that `4k` is 4096 as of old.
        let (plain, with_i) = if self.kb_base == 1000 {
            (1000, 1024)
        } else {
            (1024, 1000)
        };
        let base: u64 = match (power, rest) {
            (_, "" | "b") => plain,
            (1.., "i" | "ib") => with_i,
            _ => {
                return Err(ValueError::Unit {
                    unit: suffix,
                    known: "k, m, g, t, p, ki .. pi, an optional b, or %",
                });
            }
        };
        base.checked_pow(power)
            .and_then(|unit| unit.checked_mul(n))
            .filter(|&bytes| bytes <= MAX_BYTES)
            .map(Extent::Bytes)
            .ok_or(TOO_LARGE)
    }

    /// A number of bytes that is a multiple of 512 and not 0.
    pub(super) fn sectors(&self) -> Parsed<u64> {
        match self.number()? {
            0 => Err(ValueError::Rule("must not be 0")),
            n if n % 512 != 0 => Err(ValueError::Sectors(n)),
            n => Ok(n),
        }
    }

    /// The length of one request, in bytes.
    pub(super) fn request_bytes(&self) -> Parsed<u32> {
        match self.sectors()? {
            n if n > MAX_REQUEST_BYTES => Err(ValueError::RequestBytes(MAX_REQUEST_BYTES)),
            n => Ok(n as u32),
        }
    }

    /// A time in ns; a number without a unit counts in `default_ns`.
    pub(super) fn time_ns(&self, default_ns: u64) -> Parsed<u64> {
        let (n, suffix) = split_number(self.text()?)?;
        let unit: u64 = match suffix.to_ascii_lowercase().as_str() {
            "" => default_ns,
            "us" | "usec" => 1_000,
            "ms" | "msec" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            other => {
                return Err(ValueError::Unit {
                    unit: other.to_owned(),
                    known: "us, ms, s, m, h or d",
                });
            }
        };
        n.checked_mul(unit)
            .filter(|&ns| ns <= MAX_BYTES)
            .ok_or(ValueError::Rule("the time is too long"))
    }

    /// A decimal number within `min..=max`.
    pub(super) fn float(&self, min: f64, max: f64) -> Parsed<f64> {
        let text = self.text()?;
        match text.parse::<f64>() {
            Ok(x) if (min..=max).contains(&x) => Ok(x),
            Ok(_) => Err(ValueError::Range {
                text: text.to_owned(),
                min,
                max,
            }),
            Err(_) => Err(ValueError::NotANumber(text.to_owned())),
        }
    }

    /// A list of decimal numbers, separated by `:`.
    pub(super) fn floats(&self, min: f64, max: f64) -> Parsed<Vec<f64>> {
        self.text()?
            .split(':')
            .map(|part| self.with(part.trim()).float(min, max))
            .collect()
    }

    /// Two values separated by `-` or `:`, the smaller first; a single one counts twice.
    pub(super) fn range<T: PartialOrd + Copy>(
        &self,
        parse: impl Fn(&Value<'a>) -> Parsed<T>,
    ) -> Parsed<[T; 2]> {
        let text = self.text()?;
        let (from, to) = text
            .split_once(['-', ':'])
            .map_or((text, text), |(a, b)| (a.trim(), b.trim()));
        let (from, to) = (parse(&self.with(from))?, parse(&self.with(to))?);
        Ok(if from <= to { [from, to] } else { [to, from] })
    }

    /// Values for reads, writes and trims, separated by commas. As in fio, the last value also
    /// applies to the directions that follow it, and an empty value leaves the default.
    pub(super) fn directions<T: Clone>(
        &self,
        parse: impl Fn(&Value<'a>) -> Parsed<T>,
    ) -> Parsed<[Option<T>; 3]> {
        let text = self.text()?;
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > 3 {
            return Err(ValueError::Rule(
                "at most three values: for reads, writes and trims",
            ));
        }
        let mut values: [Option<T>; 3] = [None, None, None];
        for (i, part) in parts.iter().enumerate() {
            if !part.is_empty() {
                values[i] = Some(parse(&self.with(part))?);
            }
        }
        if let Some(last) = values[parts.len() - 1].clone() {
            values[parts.len() - 1..].fill(Some(last));
        }
        if values.iter().all(Option::is_none) {
            return Err(ValueError::Missing);
        }
        Ok(values)
    }

    /// A list `value/percentage:value/percentage`; percentages left out share what is left of 100.
    pub(super) fn shares<T: Copy>(
        &self,
        parse: impl Fn(&Value<'a>) -> Parsed<T>,
    ) -> Parsed<Vec<(T, Option<u8>)>> {
        let parts = self.text()?.split(':').map(|part| {
            let (value, share) = part.split_once('/').unwrap_or((part, ""));
            let value = parse(&self.with(value.trim()))?;
            let share = match share.trim() {
                "" => None,
                share => Some(self.with(share).percent()?),
            };
            Ok((value, share))
        });
        parts.collect()
    }

    /// A whole percentage, with or without `%`.
    pub(super) fn percent(&self) -> Parsed<u8> {
        let text = self.text()?;
        match text.strip_suffix('%').unwrap_or(text).parse::<u8>() {
            Ok(n) if n <= 100 => Ok(n),
            _ => Err(ValueError::Percent(text.to_owned())),
        }
    }

    /// One of `words`, each with its meaning.
    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Parsed<T> {
        let text = self.text()?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(ValueError::Word {
                words: words.iter().map(|w| w.0).collect(),
                nearest: likely(text, words.iter().map(|w| w.0)),
            }),
        }
    }
}

/// Gives each share left out an equal part of what is left of 100, the first ones the remainder.
pub(super) fn fill_shares<T: Copy>(parts: &[(T, Option<u8>)]) -> Parsed<Vec<(T, u8)>> {
    let given: u32 = parts.iter().filter_map(|p| p.1).map(u32::from).sum();
    let open = parts.iter().filter(|p| p.1.is_none()).count() as u32;
    if given > 100 || (open == 0 && given != 100) {
        return Err(ValueError::Shares {
            what: "percentages",
            sum: given,
        });
    }
    let rest = 100 - given;
    let mut seen = 0;
    Ok(parts
        .iter()
        .map(|&(value, share)| match share {
            Some(share) => (value, share),
            None => {
                seen += 1;
                (value, (rest / open + u32::from(seen <= rest % open)) as u8)
            }
        })
        .collect())
}

/// Leading digits (or a hexadecimal number) and what follows them.
fn split_number(text: &str) -> Parsed<(u64, &str)> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    if number.is_empty() {
        return Err(ValueError::NotANumber(text.to_owned()));
    }
    if suffix.starts_with('.') {
        return Err(ValueError::Fraction(text.to_owned()));
    }
    let n = u64::from_str_radix(number, radix).map_err(|_| TOO_LARGE)?;
    Ok((n, suffix.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value<'_> {
        Value {
            text: Some(text),
            kb_base: 1024,
        }
    }

    #[test]
    fn sizes_follow_fios_suffixes() {
        let cases = [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kB", 4096),
            ("4096b", 4096),
            ("1m", 1 << 20),
            ("1024k", 1 << 20),
            ("1mi", 1_000_000),
            ("1000kiB", 1_000_000),
            ("3g", 3 << 30),
            ("1t", 1 << 40),
            ("2p", 2 << 50),
            ("0x1000", 4096),
        ];
        for (text, bytes) in cases {
            assert_eq!(value(text).number(), Ok(bytes), "{text}");
        }
        let si = |text| Value {
            text: Some(text),
            kb_base: 1000,
        };
        assert_eq!(si("4k").number(), Ok(4000));
        assert_eq!(si("4KiB").number(), Ok(4096));
        for bad in [
            "",
            "k",
            "4x",
            "1.5g",
            "4kk",
            "-1",
            "99999999999999999999",
            "2000p",
            "5ik",
            "(1+1)",
        ] {
            assert!(value(bad).number().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_follow_fios_suffixes() {
        for (text, ns) in [
            ("10", 10_000_000_000),
            ("10us", 10_000),
            ("3msec", 3_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1D", 86_400_000_000_000),
        ] {
            assert_eq!(value(text).time_ns(1_000_000_000), Ok(ns), "{text}");
        }
        assert!(value("10parsecs").time_ns(1).is_err());
        assert_eq!(value("7").time_ns(1_000), Ok(7_000));
    }

    #[test]
    fn direction_lists_follow_fios_commas() {
        let lists = [
            ("256k", [Some(256), Some(256), Some(256)]),
            ("8k,32k", [Some(8), Some(32), Some(32)]),
            ("8k,32k,", [Some(8), Some(32), None]),
            (",8k", [None, Some(8), Some(8)]),
            (",8k,", [None, Some(8), None]),
        ];
        for (text, expected) in lists {
            let got = value(text)
                .directions(|v| v.number().map(|n| n / 1024))
                .unwrap();
            assert_eq!(got, expected, "{text}");
        }
        assert!(value("1,2,3,4").directions(|v| v.number()).is_err());
        assert!(value(",").directions(|v| v.number()).is_err());
    }

    #[test]
    fn shares_left_out_are_filled() {
        let parts = value("4k/50:1k/:32k/").shares(|v| v.number()).unwrap();
        assert_eq!(
            fill_shares(&parts),
            Ok(vec![(4096, 50), (1024, 25), (32768, 25)])
        );
        for bad in ["4k/60:8k/50", "4k/50", "4k/101"] {
            let parts = value(bad)
                .shares(|v| v.number())
                .and_then(|p| fill_shares(&p));
            assert!(parts.is_err(), "{bad}");
        }
    }
}
