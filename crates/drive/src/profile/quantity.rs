//! Numbers with units.
//!
//! A number in a profile or on the command line is text: digits, then a unit, with or without a
//! space between (`"28 mV"`, `"0.5 h"`, `20us`). Only counts are bare. A quantity keeps the number
//! and the unit as written, so that what is printed reads like what was typed; it is converted
//! when a value is taken from it. A time may have several parts (`2d3h`), and a count a prefix (`1M`); those are
//! kept as 51 h and 1000000.

use std::fmt;

use crate::profile::Problem;
use crate::profile::listing::quoted;

/// What a quantity measures. Quantities are converted within a dimension alone.
#[allow(missing_docs, reason = "`name` has the words")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// A span of time.
    Time,
    /// A threshold voltage or a shift of one.
    Voltage,
    /// A shift of threshold voltage per decade of time.
    VoltagePerDecade,
    /// A shift of threshold voltage per degree of temperature.
    VoltagePerDegree,
    /// A shift of threshold voltage per thousand program-erase cycles.
    VoltagePerKilocycle,
    /// A shift of threshold voltage per natural-log unit of reads.
    VoltagePerE,
    Temperature,
    Energy,
    /// An amount of data.
    Bytes,
    ByteRate,
    /// Transfers per second of a bus eight bits wide.
    Transfers,
    Ratio,
    /// A ratio per thousand program-erase cycles.
    RatioPerKilocycle,
    Cycles,
    /// Reads of a block.
    Reads,
    /// A bare number of things.
    Count,
}

/// A unit: its symbol, what it measures, and its size in the dimension's smallest unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// As written after the number.
    pub symbol: &'static str,
    /// Dimension within which the unit is converted.
    pub dimension: Dimension,
    /// How many of the dimension's base unit it is.
    factor: f64,
}

macro_rules! units {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal, $dimension:ident, $factor:literal;)*) => {
        $($(#[$doc])* #[doc = concat!("The unit `", $symbol, "`.")] pub const $name: Unit =
            Unit { symbol: $symbol, dimension: Dimension::$dimension, factor: $factor };)*
        /// Every unit, those of one dimension side by side.
        pub const UNITS: &[Unit] = &[$($name),*];
    };
}

units! {
    NS = "ns", Time, 1.0;
    US = "us", Time, 1e3;
    MS = "ms", Time, 1e6;
    S = "s", Time, 1e9;
    MIN = "min", Time, 60e9;
    H = "h", Time, 3_600e9;
    D = "d", Time, 86_400e9;
    MO = "mo", Time, 2_592_000e9;
    Y = "y", Time, 31_536_000e9;
    MV = "mV", Voltage, 1.0;
    V = "V", Voltage, 1e3;
    MV_PER_DECADE = "mV/decade", VoltagePerDecade, 1.0;
    MV_PER_DEGC = "mV/degC", VoltagePerDegree, 1.0;
    MV_PER_KPE = "mV/kP/E", VoltagePerKilocycle, 1.0;
    MV_PER_E = "mV/e", VoltagePerE, 1.0;
    DEGC = "degC", Temperature, 1.0;
    EV = "eV", Energy, 1.0;
    B = "B", Bytes, 1.0;
    KB = "kB", Bytes, 1e3;
    MB = "MB", Bytes, 1e6;
    GB = "GB", Bytes, 1e9;
    TB = "TB", Bytes, 1e12;
    PB = "PB", Bytes, 1e15;
    KIB = "KiB", Bytes, 1_024.0;
    MIB = "MiB", Bytes, 1_048_576.0;
    GIB = "GiB", Bytes, 1_073_741_824.0;
    TIB = "TiB", Bytes, 1_099_511_627_776.0;
    PIB = "PiB", Bytes, 1_125_899_906_842_624.0;
    B_PER_S = "B/s", ByteRate, 1.0;
    MB_PER_S = "MB/s", ByteRate, 1e6;
    GB_PER_S = "GB/s", ByteRate, 1e9;
    MT_PER_S = "MT/s", Transfers, 1.0;
    PERMILLE = "permille", Ratio, 1.0;
    PERCENT = "%", Ratio, 10.0;
    X = "x", Ratio, 1_000.0;
    PERCENT_PER_KPE = "%/kP/E", RatioPerKilocycle, 1.0;
    PE = "P/E", Cycles, 1.0;
    KPE = "kP/E", Cycles, 1e3;
    READS = "reads", Reads, 1.0;
    KREADS = "kreads", Reads, 1e3;
    ONE = "", Count, 1.0;
}

impl Dimension {
    /// In words, for messages: `a time`.
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Time => "a time",
            Dimension::Voltage => "a voltage",
            Dimension::VoltagePerDecade => "a voltage per decade of time",
            Dimension::VoltagePerDegree => "a voltage per degree",
            Dimension::VoltagePerKilocycle => "a voltage per thousand P/E cycles",
            Dimension::VoltagePerE => "a voltage per e-fold of reads",
            Dimension::Temperature => "a temperature",
            Dimension::Energy => "an energy",
            Dimension::Bytes => "an amount of data",
            Dimension::ByteRate => "a data rate",
            Dimension::Transfers => "a transfer rate",
            Dimension::Ratio => "a ratio",
            Dimension::RatioPerKilocycle => "a ratio per thousand P/E cycles",
            Dimension::Cycles => "a number of P/E cycles",
            Dimension::Reads => "a number of reads",
            Dimension::Count => "a bare number",
        }
    }
    /// Units of the dimension, smallest first.
    pub fn units(self) -> impl Iterator<Item = &'static Unit> {
        UNITS.iter().filter(move |u| u.dimension == self)
    }
    /// What a text must be, for messages: `a time (ns, us, ...)`.
    pub fn expected(self) -> String {
        let symbols: Vec<&str> = self.units().map(|u| u.symbol).collect();
        match self {
            Dimension::Count => format!("{}, or one with k, M or G", self.name()),
            _ => format!("{} ({})", self.name(), symbols.join(", ")),
        }
    }
}

/// Other spellings of a unit.
fn canonical(symbol: &str) -> &str {
    match symbol {
        "°C" | "C" => "degC",
        "µs" | "μs" => "us",
        "‰" => "permille",
        "KB" => "kB",
        "mV/dec" => "mV/decade",
        other => other,
    }
}

/// How many ones a prefix of a count stands for.
fn prefix(symbol: &str) -> Option<f64> {
    match symbol {
        "k" | "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        _ => None,
    }
}

/// A number and its unit, as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantity {
    /// As written, before the unit.
    pub number: f64,
    /// As written, or the unit of a bare count.
    pub unit: &'static Unit,
}

impl Quantity {
    /// Reads `text`, which must measure `dimension`.
    pub fn parse(text: &str, dimension: Dimension) -> Result<Quantity, Problem> {
        if dimension == Dimension::Time
            && let Some(sum) = Quantity::in_parts(text)
        {
            return Ok(sum);
        }
        let (number, symbol) = split(text);
        let bad = |why: String| {
            Problem::new(format!("`{text}` {why}; expected {}", dimension.expected()))
        };
        let number: f64 = match number.replace('_', "").parse() {
            Ok(n) if f64::is_finite(n) => n,
            _ => return Err(bad("is not a number with a unit".into())),
        };
        if dimension == Dimension::Count
            && let Some(prefix) = prefix(symbol)
        {
            let number = number * prefix;
            return Ok(Quantity { number, unit: &ONE });
        }
        let symbol = canonical(symbol);
        match UNITS.iter().find(|u| u.symbol == symbol) {
            Some(unit) if unit.dimension == dimension => Ok(Quantity { number, unit }),
            Some(unit) if unit.dimension == Dimension::Count => Err(bad("has no unit".into())),
            Some(unit) => Err(bad(format!("is {}", unit.dimension.name()))),
            None => Err(bad(format!("has the unknown unit `{symbol}`"))),
        }
    }

    /// A time of several parts, from the largest unit to the smallest: `2d3h`. None where it is not.
    fn in_parts(text: &str) -> Option<Quantity> {
        let mut sum: Option<Quantity> = None;
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (number, after) = split(rest);
            let symbol: &str = after.split(|c: char| c.is_ascii_digit()).next()?;
            rest = &after[symbol.len()..];
            // A single part is read by the caller.
            if rest.is_empty() && sum.is_none() {
                return None;
            }
            let part = Quantity::parse(&format!("{number}{symbol}"), Dimension::Time).ok()?;
            let before = sum.map_or(0.0, |sum| sum.to(*part.unit));
            if part.number < 0.0 || sum.is_some_and(|sum| sum.unit.factor <= part.unit.factor) {
                return None;
            }
            sum = Some(Quantity {
                number: before + part.number,
                ..part
            });
        }
        sum
    }

    /// Reads `text` as a number that may be bare or in `unit`: `2500`, `2.5k` or `2500 P/E`. Only what is counted
    /// takes a prefix: of times and temperatures `k` would be a unit.
    pub fn parse_with_default(text: &str, unit: &'static Unit) -> Result<Quantity, Problem> {
        let is_counted = matches!(
            unit.dimension,
            Dimension::Cycles | Dimension::Reads | Dimension::Count
        );
        match Quantity::parse(text, Dimension::Count) {
            Ok(bare) if is_counted || split(text).1.is_empty() => Ok(Quantity { unit, ..bare }),
            _ => Quantity::parse(text, unit.dimension),
        }
    }

    /// Reads a value or a range: `28h` or `0h..28h`. The first is not above the second.
    pub fn parse_range(text: &str, unit: &'static Unit) -> Result<(Quantity, Quantity), Problem> {
        let one = |t: &str| Quantity::parse_with_default(t.trim(), unit);
        let Some((low, high)) = text.split_once("..") else {
            return one(text).map(|q| (q, q));
        };
        let (low, high) = (one(low)?, one(high)?);
        if low.to(*unit) > high.to(*unit) {
            return Err(Problem::new(format!("`{text}` runs backwards")));
        }
        Ok((low, high))
    }

    /// Its number, its unit, and both as TOML.
    pub(super) fn listed(self) -> (String, &'static str, String) {
        let literal = match self.unit.symbol {
            "" => self.to_string(),
            _ => quoted(&self.to_string()),
        };
        (self.number.to_string(), self.unit.symbol, literal)
    }

    /// The same in the largest unit in which it is whole.
    pub fn tidy(self) -> Quantity {
        let whole = self.unit.dimension.units().filter(|u| {
            let n = self.to(**u);
            n != 0.0 && n.fract() == 0.0
        });
        let fewest = whole.min_by(|a, b| self.to(**a).abs().total_cmp(&self.to(**b).abs()));
        fewest.map_or(self, |unit| Quantity {
            number: self.to(*unit),
            unit,
        })
    }

    /// The number in `unit`, which measures the same.
    pub fn to(self, unit: Unit) -> f64 {
        debug_assert_eq!(self.unit.dimension, unit.dimension);
        if *self.unit == unit {
            return self.number;
        }
        self.number * self.unit.factor / unit.factor
    }

    /// The whole number in `unit`; an error where it is not whole, negative or above `u64`.
    pub fn to_whole(self, unit: Unit) -> Result<u64, Problem> {
        let value = self.to(unit);
        let whole = value.round();
        // A decimal such as 0.1 h is not exact in binary; what is left of the rounding is ~1e-16.
        if (value - whole).abs() > 1e-9 * whole.abs() {
            return Err(Problem::new(match unit.symbol {
                "" => format!("`{self}` is not whole"),
                symbol => format!("`{self}` is not a whole number of {symbol}"),
            }));
        }
        // 2^53: every whole number up to it is exact.
        if !(0.0..=9_007_199_254_740_992.0).contains(&whole) {
            return Err(Problem::new(format!(
                "`{self}` is outside 0 to 9007199254740992 {}",
                unit.symbol
            )));
        }
        Ok(whole as u64)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        match self.unit.symbol {
            "" => Ok(()),
            symbol => write!(f, " {symbol}"),
        }
    }
}

/// Number and unit of `text`. An `e` belongs to the number only where digits follow: `1.1eV`.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let sign = |i: usize| matches!(bytes.get(i), Some(b'+' | b'-'));
    let mut end = usize::from(sign(0));
    while digit(end) || matches!(bytes.get(end), Some(b'.' | b'_')) {
        end += 1;
    }
    if end > 0 && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let digits = end + 1 + usize::from(sign(end + 1));
        if digit(digits) {
            end = digits;
            while digit(end) {
                end += 1;
            }
        }
    }
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str, unit: Unit) -> f64 {
        Quantity::parse(text, unit.dimension).unwrap().to(unit)
    }

    #[test]
    fn what_do_units_mean() {
        assert_eq!(value("28 mV", MV), 28.0);
        assert_eq!(value("0.25V", MV), 250.0);
        assert_eq!(value("0.5 h", NS), 1.8e12);
        assert_eq!(value("13h", D), 13.0 / 24.0);
        assert_eq!(value("1.1eV", EV), 1.1);
        assert_eq!(value("1e3 ns", US), 1.0);
        assert_eq!(value("-40 °C", DEGC), -40.0);
        assert_eq!(value("16 KiB", B), 16_384.0);
        assert_eq!(value("3 %", PERMILLE), 30.0);
        assert_eq!(value("1 y", D), 365.0);
        assert_eq!(value("28 mV/dec", MV_PER_DECADE), 28.0);
        let tb = Quantity::parse("15.36 TB", Dimension::Bytes).unwrap();
        assert_eq!(tb.to_whole(B).unwrap(), 15_360_000_000_000);
        assert_eq!(tb.to_string(), "15.36 TB");
    }

    #[test]
    fn what_is_refused() {
        let message = |text, dimension| Quantity::parse(text, dimension).unwrap_err().to_string();
        assert_eq!(
            message("28", Dimension::Voltage),
            "`28` has no unit; expected a voltage (mV, V)"
        );
        assert_eq!(
            message("28 hours", Dimension::Time),
            "`28 hours` has the unknown unit `hours`; expected a time (ns, us, ms, s, min, h, d, mo, y)"
        );
        assert_eq!(
            message("28 mV", Dimension::Energy),
            "`28 mV` is a voltage; expected an energy (eV)"
        );
        for text in [
            "", " ", "mV", "nan mV", "inf mV", "1.2.3 mV", "--1 mV", "1e999 mV", "0x10 mV",
        ] {
            assert!(
                message(text, Dimension::Voltage).contains("expected a voltage"),
                "{text}"
            );
        }
        let ns = |text| Quantity::parse(text, Dimension::Time).unwrap().to_whole(NS);
        assert_eq!(
            ns("1.5 ns").unwrap_err().to_string(),
            "`1.5 ns` is not a whole number of ns"
        );
        assert!(ns("-1 us").is_err() && ns("1e30 y").is_err());
        assert_eq!(ns("0.1 h").unwrap(), 360_000_000_000);
    }

    #[test]
    fn formula_times_in_parts_and_counts_with_prefixes() {
        for (text, hours) in [("2d3h", 51.0), ("1d 12h 30min", 36.5), ("1h30min", 1.5)] {
            assert_eq!(value(text, H), hours, "{text}");
        }
        for text in ["3h2d", "2d3d", "2d-3h", "-2d3h", "2d3", "2d3mV", "1h30"] {
            assert!(Quantity::parse(text, Dimension::Time).is_err(), "{text}");
        }
        for (text, n) in [("1M", 1_000_000), ("1.5k", 1_500), ("2 G", 2_000_000_000)] {
            let count = Quantity::parse(text, Dimension::Count).unwrap();
            assert_eq!(count.to_whole(ONE).unwrap(), n, "{text}");
        }
        let with = |text, unit| Quantity::parse_with_default(text, unit).map(|q| q.to(*unit));
        assert_eq!(with("1k", &PE).unwrap(), 1_000.0);
        assert_eq!(with("1.5 kP/E", &PE).unwrap(), 1_500.0);
        assert_eq!(with("28", &H).unwrap(), 28.0);
        assert!(with("1k", &H).is_err() && with("1M", &DEGC).is_err());
        assert!(
            Quantity::parse("1m", Dimension::Count).is_err(),
            "milli or mega"
        );
    }

    #[test]
    fn what_is_a_range() {
        let range =
            |text| Quantity::parse_range(text, &H).map(|(low, high)| (low.to(H), high.to(H)));
        assert_eq!(range("0h..28h").unwrap(), (0.0, 28.0));
        assert_eq!(range("0..2d").unwrap(), (0.0, 48.0));
        assert_eq!(range("28").unwrap(), (28.0, 28.0));
        assert_eq!(
            range("2d..1h").unwrap_err().to_string(),
            "`2d..1h` runs backwards"
        );
        assert!(range("1h..2mV").is_err() && range("..").is_err());
    }

    #[test]
    fn no_two_units_share_a_symbol() {
        for (i, a) in UNITS.iter().enumerate() {
            assert!(
                UNITS[i + 1..].iter().all(|b| a.symbol != b.symbol),
                "{}",
                a.symbol
            );
            assert_eq!(canonical(a.symbol), a.symbol);
        }
    }

    proptest! {
        #[test]
        fn fuzz_any_text(text in "\\PC{0,24}") {
            for unit in UNITS {
                let _ = Quantity::parse(&text, unit.dimension);
                let _ = Quantity::parse_range(&text, unit);
            }
        }

        #[test]
        fn what_is_printed_reads_back(number in -1e12..1e12f64, i in 0..UNITS.len()) {
            let quantity = Quantity { number, unit: &UNITS[i] };
            prop_assert_eq!(
                Quantity::parse(&quantity.to_string(), UNITS[i].dimension).unwrap(),
                quantity
            );
        }
    }
}
