//! The declaration of a key: all that a profile's text has to keep to where it has the key, and what holds where it has not.

use crate::profile::quantity::{ONE, Unit};

/// A key of a profile. Each is declared once: it is read, checked, listed and defaulted by its declaration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Key<'k> {
    /// Its name in its table.
    pub(super) name: &'k str,
    /// Unit of a number.
    pub(super) unit: Unit,
    /// Minimum of a number, in that unit.
    pub(super) min: f64,
    /// Maximum of a number, in that unit.
    pub(super) max: f64,
    /// What holds where the key is left out. None if it may not be.
    pub(super) default: Option<Default<'k>>,
}

/// What holds where a key is left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Default<'k> {
    /// As it would be written: `255 MiB`, `protected`.
    pub(super) value: &'k str,
    /// What it means, and which other values there are: it is listed in place of a source.
    pub(super) means: &'k str,
}

impl<'k> Key<'k> {
    /// A key that has to be there. A number takes [`Key::within`] besides.
    pub const fn new(name: &'k str) -> Key<'k> {
        Key {
            name,
            unit: ONE,
            min: f64::NEG_INFINITY,
            max: f64::INFINITY,
            default: None,
        }
    }

    /// The same for a number in `unit`, within `min..=max` of it.
    pub const fn within(self, unit: Unit, min: f64, max: f64) -> Key<'k> {
        Key {
            unit,
            min,
            max,
            ..self
        }
    }

    /// The same where `value` holds if the key is left out; the listing says that it `means` so.
    pub const fn or(self, value: &'k str, means: &'k str) -> Key<'k> {
        Key {
            default: Some(Default { value, means }),
            ..self
        }
    }
}
