//! The schemes of a drive.
//!
//! Schemes are chosen in `[schemes]`, one key an axis; an axis that is not named has its baseline.
//! Parameters of a scheme are in `[AXIS.SCHEME]` and hold while that scheme is chosen, whatever the
//! others say, so that a run may switch schemes without touching them. `--set AXIS.KEY=VALUE` is a
//! short form for the scheme that is chosen.

use firstread_core::params::{Axis, Need, Param, ParamKind, Scheme, Values};

use crate::profile::key::Key;
use crate::profile::keys::Keys;
use crate::profile::quantity::{B, DEGC, MV, NS, ONE, PE, PERMILLE, Quantity, UNITS, Unit};

/// The scheme of one axis and its parameters.
#[derive(Clone, Debug)]
pub struct SchemeChoice {
    /// The axis that the choice is made on.
    pub axis: &'static Axis,
    /// The record of the scheme that is chosen.
    pub scheme: &'static Scheme,
    /// Values of its parameters, in the order of its record.
    pub values: Vec<i64>,
}

impl SchemeChoice {
    /// The values by name.
    pub fn values(&self) -> Values<'_> {
        Values::new(self.scheme, &self.values)
    }
}

/// Whether a scheme of `choices` needs `need`.
pub(super) fn any_needs(choices: &[SchemeChoice], need: Need) -> bool {
    choices.iter().any(|c| c.scheme.requires(need))
}

/// The choices of `keys`, one for each of `axes`.
pub(super) fn read(keys: &Keys<'_>, axes: &'static [Axis]) -> Vec<SchemeChoice> {
    let chosen: Vec<usize> = keys.table_or_defaults("schemes", |k| {
        let choose = |axis: &Axis| {
            let key = Key::new(axis.name).or(axis.schemes[0].name, "the axis's baseline");
            let names = axis.schemes.iter().map(|s| s.name);
            k.try_choice(&key, names).unwrap_or(0)
        };
        axes.iter().map(choose).collect()
    });
    let choices = axes.iter().zip(chosen).map(|(axis, chosen)| {
        let scheme = &axis.schemes[chosen];
        SchemeChoice {
            axis,
            scheme,
            values: keys.table_or_defaults(axis.name, |k| axis_values(k, axis, scheme)),
        }
    });
    choices.collect()
}

/// Values of the parameters of `scheme`, from the axis's table.
fn axis_values(keys: &Keys<'_>, axis: &Axis, scheme: &Scheme) -> Vec<i64> {
    let mut values: Vec<i64> = scheme.params.iter().map(Param::default).collect();
    let is_scheme = |key: &str| axis.schemes.iter().any(|s| s.name == key);
    let owners = |key: &str| -> Vec<&str> {
        let of = |s: &&Scheme| s.params.iter().any(|p| p.key == key);
        axis.schemes.iter().filter(of).map(|s| s.name).collect()
    };
    // A scheme may have the name of a parameter. A table is then of the scheme, and a value of the parameter.
    let has_value = |key: &str| keys.has(key) && !(is_scheme(key) && keys.is_table(key));
    for other in axis.schemes {
        let is_value = has_value(other.name) && !owners(other.name).is_empty();
        if other.name != scheme.name {
            // Tables of schemes that are not chosen are checked all the same.
            if !is_value {
                keys.optional_table(other.name, |k| {
                    for param in other.params.iter().filter(|param| k.given(param.key)) {
                        value_of(k, param);
                    }
                });
            }
            continue;
        }
        let own = |k: &Keys<'_>| {
            for (value, param) in values.iter_mut().zip(scheme.params) {
                if k.given(param.key) || !has_value(param.key) {
                    *value = value_of(k, param).unwrap_or(*value);
                }
            }
        };
        match is_value {
            true => keys.defaults(other.name, own),
            false => keys.table_or_defaults(other.name, own),
        }
    }
    for (value, param) in values.iter_mut().zip(scheme.params) {
        let is_table = is_scheme(param.key) && keys.is_table(param.key);
        if !is_table && keys.given(param.key) {
            *value = value_of(keys, param).unwrap_or(*value);
        }
    }
    for key in keys.unread() {
        let owners = owners(key);
        if !owners.is_empty() {
            let message = format!(
                "is a parameter of {}, and the scheme is {}: write `{}.{}.{key}`",
                owners.join(", "),
                scheme.name,
                axis.name,
                owners[0],
            );
            keys.refuse(key, message);
        }
    }
    values
}

/// The value of `param`, its default where it is left out.
fn value_of(keys: &Keys<'_>, param: &Param) -> Option<i64> {
    let default = match param.kind {
        ParamKind::Number { unit, default, .. } => {
            let (number, unit) = (default as f64, unit_of(unit));
            Quantity { number, unit }.tidy().to_string()
        }
        ParamKind::Choice(words) => words.first().copied().unwrap_or_default().into(),
        ParamKind::Flag(on) => on.to_string(),
    };
    let key = Key::new(param.key).or(&default, "default of the scheme");
    match param.kind {
        ParamKind::Number { unit, min, max, .. } => {
            let key = key.within(*unit_of(unit), min as f64, max as f64);
            keys.integer(&key, unit)
        }
        ParamKind::Choice(words) => {
            let chosen = keys.try_choice(&key, words.iter().copied());
            chosen.map(|i| i as i64)
        }
        ParamKind::Flag(_) => Some(i64::from(keys.flag(&key))),
    }
}

/// The unit of a parameter; a name that is no unit names a thing that is counted.
fn unit_of(name: &str) -> &'static Unit {
    const KNOWN: [Unit; 6] = [NS, PERMILLE, MV, DEGC, PE, B];
    let symbol = match name {
        "mv" => "mV",
        "bytes" => "B",
        "c" => "degC",
        "cycles" | "pe_cycles" => "P/E",
        other => other,
    };
    let known = KNOWN.iter().find(|u| u.symbol == symbol).unwrap_or(&ONE);
    UNITS
        .iter()
        .find(|u| *u == known)
        .unwrap_or(&UNITS[UNITS.len() - 1])
}
