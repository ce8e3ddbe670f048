//! Types of values in a drive's profile, and the tables of such values.

use firstread_core::{CellMode, Ns, StripeOrder};
use firstread_firmware::WriteCache;

use crate::profile::key::Key;
use crate::profile::keys::Keys;

/// A type of values in a profile.
pub(super) trait Value: Sized {
    /// The value at `key`, a neutral one where that is wrong.
    fn read(keys: &Keys<'_>, key: &Key<'_>) -> Self;
}

macro_rules! values {
    ($($type:ty: |$keys:ident, $key:ident| $read:expr;)*) => {
        $(impl Value for $type {
            fn read($keys: &Keys<'_>, $key: &Key<'_>) -> $type {
                $read
            }
        })*
    };
}

values! {
    u8: |keys, key| keys.whole(key) as u8;
    u16: |keys, key| keys.whole(key) as u16;
    u32: |keys, key| keys.whole(key) as u32;
    u64: |keys, key| keys.whole(key);
    bool: |keys, key| keys.flag(key);
    Option<u64>: |keys, key| keys.whole_or_none(key);
    Option<Ns>: |keys, key| keys.whole_or_none(key).map(Ns);
}

/// A type whose values are words in a profile.
pub(super) trait Words: Copy + PartialEq {
    /// All values with their words.
    fn words() -> Vec<(&'static str, Self)>;
    /// The word for it.
    fn word(self) -> &'static str {
        let mut all = Self::words().into_iter();
        all.find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

impl<T: Words> Value for T {
    fn read(keys: &Keys<'_>, key: &Key<'_>) -> T {
        keys.choice(key, &T::words())
    }
}

impl Words for CellMode {
    fn words() -> Vec<(&'static str, CellMode)> {
        CellMode::ALL.map(|mode| (mode.name(), mode)).to_vec()
    }
}

/// Says which words the values of a type are.
macro_rules! words {
    ($($type:ident: $($word:literal = $value:ident),+;)+) => {
        $(impl $crate::profile::value::Words for $type {
            fn words() -> Vec<(&'static str, $type)> {
                vec![$(($word, $type::$value)),+]
            }
        })+
    };
}
pub(super) use words;

words! {
    StripeOrder: "plane-first" = PlaneFirst, "die-first" = DieFirst;
    WriteCache: "protected" = Protected, "volatile" = Volatile, "write-through" = WriteThrough;
}

/// Defines a struct from a table of keys: `field: type = "key" [unit, min, max] or "default" => "what that means";`. Only
/// numbers have a unit and a range, and a key without a default has to be there.
macro_rules! keys {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty =
            $key:literal $([$unit:ident, $min:expr, $max:expr])? $(or $default:literal => $means:literal)?;)*
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nKey `", $key, "`.")]
                $(#[doc = concat!("From ", stringify!($min), " to ", stringify!($max), " `", stringify!($unit), "`.")])?
                $(#[doc = concat!("`", $default, "` where it is left out.")])?
                pub $field: $type,
            )*
        }

        impl $name {
            /// Reads the table.
            pub(super) fn read(keys: &$crate::profile::keys::Keys<'_>) -> $name {
                use $crate::profile::key::Key;
                $name {
                    $($field: $crate::profile::value::Value::read(
                        keys,
                        &Key::new($key)
                            $(.within($crate::profile::quantity::$unit, $min as f64, $max as f64))?
                            $(.or($default, $means))?,
                    ),)*
                }
            }
        }
    };
}
pub(super) use keys;
