//! Numbers of a profile: each is defined once, with its key, unit and range.
//!
//! `numbers!` defines a struct from a table of numbers. A [`Source`] reads a profile's text: it is asked for
//! each number by its [`Field`]. [`Numbers::check`] applies the same ranges to a profile made in another way.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::error::{ProfileError, Reason, bad};

/// The path of `key` in the table at path `table`; the root's path is empty.
pub(crate) fn path(table: &str, key: &str) -> String {
    if table.is_empty() {
        key.to_string()
    } else {
        format!("{table}.{key}")
    }
}

/// The unit of a number in a profile's text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// As written after the number.
    pub symbol: &'static str,
    /// Factor from the struct's unit to the text's unit: 100 if the text has per cent and the struct a share.
    pub per: f64,
}

/// Units of a chip's numbers.
pub mod unit {
    use super::Unit;

    macro_rules! units {
        ($($(#[$doc:meta])* $name:ident = $symbol:literal, $per:literal;)*) => {
            $($(#[$doc])* #[doc = concat!("The unit `", $symbol, "`.")] pub const $name: Unit = Unit { symbol: $symbol, per: $per };)*
        };
    }

    units! {
        NS = "ns", 1.0;
        S = "s", 1.0;
        H = "h", 1.0;
        DEGC = "degC", 1.0;
        EV = "eV", 1.0;
        MV = "mV", 1.0;
        MV_PER_DECADE = "mV/decade", 1.0;
        MV_PER_DEGC = "mV/degC", 1.0;
        MV_PER_KPE = "mV/kP/E", 1.0;
        MV_PER_E = "mV/e", 1.0;
        /// Shares per thousand program/erase cycles, written in per cent.
        PERCENT_PER_KPE = "%/kP/E", 100.0;
        PE = "P/E", 1.0;
        READS = "reads", 1.0;
        MT_PER_S = "MT/s", 1.0;
        X = "x", 1.0;
        ONE = "", 1.0;
    }
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Any number.
    Real,
    /// Any number, or the word `none` for infinity.
    RealOrNone,
    /// A whole number.
    Whole,
    /// `true` or `false`: one or zero.
    Flag,
}

/// One number of a profile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Field {
    /// Its key.
    pub key: &'static str,
    /// Its unit in the text.
    pub unit: Unit,
    /// Minimum, in that unit.
    pub min: f64,
    /// Maximum, in that unit.
    pub max: f64,
    /// How it is written.
    pub kind: Kind,
}

impl Field {
    pub(crate) const fn new(key: &'static str, unit: Unit, min: f64, max: f64) -> Field {
        Field {
            key,
            unit,
            min,
            max,
            kind: Kind::Real,
        }
    }

    pub(crate) const fn of_kind(mut self, kind: Kind) -> Field {
        self.kind = kind;
        self
    }

    /// Checks whether `value` of the struct is allowed for the field, in the table at path `table`.
    pub(crate) fn check(&self, table: &str, value: f64) -> Result<(), ProfileError> {
        let (min, max) = (self.min / self.unit.per, self.max / self.unit.per);
        let endless = self.kind == Kind::RealOrNone && value == f64::INFINITY;
        if endless || value >= min && value <= max {
            return Ok(());
        }
        Err(bad(
            path(table, self.key),
            Reason::Range { value, min, max },
        ))
    }
}

/// A reader of a profile's text, table by table. It collects errors by itself and returns a neutral value in
/// their place.
pub trait Source {
    /// The number of `field`, in the struct's unit.
    fn number(&self, field: &Field) -> f64;
    /// The list of numbers of `field`, each within its range.
    fn numbers(&self, field: &Field) -> Vec<f64>;
    /// The list of numbers of `field`; empty if it is not there, which is no error.
    fn optional_numbers(&self, field: &Field) -> Vec<f64> {
        match self.has(field.key) {
            true => self.numbers(field),
            false => Vec::new(),
        }
    }
    /// The lists of small whole numbers at `key`.
    fn lists(&self, key: &str) -> Vec<Vec<u8>>;
    /// The lists of level offsets (DAC units) in the list at `key`.
    fn offsets(&self, key: &str) -> Vec<Vec<i8>> {
        let _ = key;
        Vec::new()
    }
    /// Index of the word at `key` in `names`.
    fn choice(&self, key: &str, names: &[&str]) -> usize;
    /// Whether `key` exists.
    fn has(&self, key: &str) -> bool;
    /// Reports an error at `key`.
    fn note(&self, key: &str, message: String);
    /// Reads the table at `key` with `read`.
    fn table(&self, key: &str, read: &mut dyn FnMut(&dyn Source));
    /// Reads the table at `key` with `read`, if it exists.
    fn optional_table(&self, key: &str, read: &mut dyn FnMut(&dyn Source));
}

/// Result of `read` for the table at `key` of `from`; none if there is no such table.
pub(crate) fn optional<T>(
    from: &dyn Source,
    key: &str,
    read: impl Fn(&dyn Source) -> T,
) -> Option<T> {
    let mut out = None;
    from.optional_table(key, &mut |keys| out = Some(read(keys)));
    out
}

/// Result of `read` for the table at `key` of `from`.
pub(crate) fn table<T>(from: &dyn Source, key: &str, read: impl Fn(&dyn Source) -> T) -> T {
    let mut out = None;
    from.table(key, &mut |keys| out = Some(read(keys)));
    out.expect("a source has every table read, if only to note what is missing")
}

/// The element of `choices` whose name is at `key` of `from`.
pub(crate) fn choose<T: Copy, const N: usize>(
    from: &dyn Source,
    key: &str,
    choices: &[(&str, T); N],
) -> T {
    choices[from.choice(key, &choices.map(|(name, _)| name))].1
}

/// A table of a profile.
pub trait Numbers {
    /// Reads the table.
    fn read(from: &dyn Source) -> Self
    where
        Self: Sized;
    /// Checks every number of the table; `table` is its path.
    fn check(&self, table: &str) -> Result<(), ProfileError>;
}

/// A type of numbers in a profile.
pub(crate) trait Value: Copy {
    /// How it is written.
    const KIND: Kind;
    fn of(number: f64) -> Self;
    fn number(self) -> f64;
}

/// The kind of numbers that may be `none`.
pub(crate) const fn none() -> Kind {
    Kind::RealOrNone
}

macro_rules! values {
    ($($type:ty: $kind:ident),*) => {
        $(impl Value for $type {
            const KIND: Kind = Kind::$kind;
            fn of(number: f64) -> $type {
                number as $type
            }
            fn number(self) -> f64 {
                self as f64
            }
        })*
    };
}

values! { f64: Real, u8: Whole, u16: Whole, u32: Whole, u64: Whole }

impl Value for bool {
    const KIND: Kind = Kind::Flag;
    fn of(number: f64) -> bool {
        number != 0.0
    }
    fn number(self) -> f64 {
        self as u8 as f64
    }
}

/// Defines a struct of numbers: `field: type = key, unit, min, max;`. After the range, `or none` allows
/// infinity. If there can be several tables of the same kind, each of them knows its `key`.
macro_rules! numbers {
    ($(#[$meta:meta])* pub struct $name:ident {
        $([key $table:ident: $kdoc:literal])?
        $($(#[$doc:meta])* $field:ident: $type:ty =
            $key:literal, $unit:ident, $min:expr, $max:expr $(, or $none:ident)?;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name {
            $(#[doc = $kdoc] pub $table: &'static str,)?
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nKey `", $key, "`, ", stringify!($min), " to ", stringify!($max))]
                #[doc = concat!("`", stringify!($unit), "`.")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// Its numbers, in order.
            pub const FIELDS: &[$crate::profile::field::Field] = &[$({
                use $crate::profile::field::{Field, Kind, Value, unit};
                let kinds: &[Kind] = &[$($crate::profile::field::$none(),)? <$type as Value>::KIND];
                Field::new($key, unit::$unit, $min as f64, $max as f64).of_kind(kinds[0])
            }),*];
        }

        impl $crate::profile::field::Numbers for $name {
            fn read(from: &dyn $crate::profile::field::Source) -> $name {
                let mut numbers = Self::FIELDS.iter().map(|field| from.number(field));
                let mut next = || numbers.next().unwrap_or_default();
                $name { $($table: "",)? $($field: <$type as $crate::profile::field::Value>::of(next())),* }
            }
            fn check(&self, table: &str) -> Result<(), $crate::profile::ProfileError> {
                let values = [$($crate::profile::field::Value::number(self.$field)),*];
                let mut all = Self::FIELDS.iter().zip(values);
                all.try_for_each(|(field, value)| field.check(table, value))
            }
        }
    };
}
pub(crate) use numbers;

/// A temperature for the ageing laws.
pub const TEMPERATURE: Field = Field::new("temperature", unit::DEGC, -55.0, 150.0);

/// Checks a temperature.
pub(crate) fn temperature(celsius: f64) -> Result<(), ProfileError> {
    TEMPERATURE.check("", celsius)
}

/// One hundred seconds (ns): longer array operations are mistakes of unit.
pub const LONGEST_NS: u64 = 100_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_number_is_in_the_range_of_its_field() {
        // Per cent in the text, a share in the struct.
        let field = Field::new("growth", unit::PERCENT_PER_KPE, -50.0, 200.0);
        for (value, fits) in [
            (-0.5, true),
            (2.0, true),
            (0.0, true),
            (-0.501, false),
            (2.001, false),
        ] {
            assert_eq!(field.check("wear", value).is_ok(), fits, "{value}");
        }
        let error = field.check("wear", 3.0).map_err(|e| (e.key, e.reason));
        let (value, min, max) = (3.0, -0.5, 2.0);
        assert_eq!(
            error,
            Err(("wear.growth".into(), Reason::Range { value, min, max }))
        );
        assert!(field.check("", f64::NAN).is_err() && field.check("", f64::INFINITY).is_err());
        let endless = field.of_kind(none());
        assert!(endless.check("", f64::INFINITY).is_ok() && endless.check("", 3.0).is_err());
        assert!(endless.check("", f64::NEG_INFINITY).is_err());
        assert_eq!(
            (path("", "a"), path("a.b", "c")),
            ("a".into(), "a.b.c".into())
        );
        for (celsius, fits) in [(-55.0, true), (150.0, true), (-55.1, false), (150.1, false)] {
            assert_eq!(temperature(celsius).is_ok(), fits, "{celsius}");
        }
    }

    #[test]
    fn formula_a_value_is_a_number_and_back() {
        assert_eq!([0.0, 1.0].map(bool::of), [false, true]);
        assert_eq!([false, true].map(Value::number), [0.0, 1.0]);
        assert_eq!((u16::of(700.0), 700u16.number()), (700, 700.0));
        assert_eq!((f64::of(0.25), 0.25f64.number()), (0.25, 0.25));
        let kinds = [bool::KIND, u32::KIND, f64::KIND];
        assert_eq!(kinds, [Kind::Flag, Kind::Whole, Kind::Real]);
    }
}
