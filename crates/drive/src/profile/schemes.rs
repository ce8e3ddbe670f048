//! The schemes of a drive.
//!
//! Schemes are chosen in `[schemes]`, one key an axis; an axis that is not named has its baseline.
//! Parameters of a scheme are in `[AXIS.SCHEME]` and hold while that scheme is chosen, whatever the
//! others say, so that a run may switch schemes without touching them. `--set AXIS.KEY=VALUE` is a
//! short form for the scheme that is chosen.

use firstread_core::params::{Axis, Need, Param, ParamKind, Scheme, Values};

use crate::profile::ResolvedEntry;
use crate::profile::key::Key;
use crate::profile::keys::Keys;
use crate::profile::listing::quoted;
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
    let chosen = keys.optional_table("schemes", |k| {
        let choose = |axis: &Axis| {
            let names = axis.schemes.iter().map(|s| s.name);
            let given = k.given(axis.name);
            given.then(|| k.try_choice(&Key::new(axis.name), names))?
        };
        axes.iter().map(choose).collect()
    });
    let chosen: Vec<Option<usize>> = chosen.unwrap_or_else(|| vec![None; axes.len()]);
    let choices = axes.iter().zip(chosen).map(|(axis, chosen)| {
        let scheme = &axis.schemes[chosen.unwrap_or(0)];
        let values = keys
            .optional_table(axis.name, |k| axis_values(k, axis, scheme))
            .unwrap_or_else(|| scheme.params.iter().map(Param::default).collect());
        SchemeChoice {
            axis,
            scheme,
            values,
        }
    });
    choices.collect()
}

/// Values of the parameters of `scheme`, from the axis's table.
fn axis_values(keys: &Keys<'_>, axis: &Axis, scheme: &Scheme) -> Vec<i64> {
    let mut values: Vec<Option<i64>> = vec![None; scheme.params.len()];
    let is_scheme = |key: &str| axis.schemes.iter().any(|s| s.name == key);
    let is_param = |key: &str| {
        axis.schemes
            .iter()
            .any(|s| s.params.iter().any(|p| p.key == key))
    };
    for other in axis.schemes {
        // A scheme may have the name of a parameter. A table is then of the scheme, and a value of the parameter.
        if is_param(other.name) && keys.has(other.name) && !keys.is_table(other.name) {
            continue;
        }
        // Tables of schemes that are not chosen are checked all the same.
        keys.optional_table(other.name, |k| {
            for (i, param) in other.params.iter().enumerate() {
                let value = value_of(k, param);
                if other.name == scheme.name {
                    values[i] = value;
                }
            }
        });
    }
    for (i, param) in scheme.params.iter().enumerate() {
        if !(is_scheme(param.key) && keys.is_table(param.key)) {
            values[i] = value_of(keys, param).or(values[i]);
        }
    }
    for key in keys.unread() {
        let owners = axis
            .schemes
            .iter()
            .filter(|s| s.params.iter().any(|p| p.key == key));
        let owners: Vec<&str> = owners.map(|s| s.name).collect();
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
    let pairs = values.iter().zip(scheme.params);
    pairs
        .map(|(value, param)| value.unwrap_or_else(|| param.default()))
        .collect()
}

fn value_of(keys: &Keys<'_>, param: &Param) -> Option<i64> {
    if !keys.given(param.key) {
        return None;
    }
    let key = Key::new(param.key);
    match param.kind {
        ParamKind::Number { unit, min, max, .. } => {
            let key = key.within(*unit_of(unit), min as f64, max as f64);
            keys.integer(&key, unit)
        }
        ParamKind::Choice(words) => keys
            .try_choice(&key, words.iter().copied())
            .map(|i| i as i64),
        ParamKind::Flag(_) => Some(i64::from(keys.flag(&key))),
    }
}

/// Entries for the choices and parameters that `listing` does not have.
pub(super) fn defaults(choices: &[SchemeChoice], listing: &[ResolvedEntry]) -> Vec<ResolvedEntry> {
    let listed = |path: &str| listing.iter().any(|e| e.path == path);
    let entry =
        |path, (value, unit, literal): (String, &str, String), source: &str| ResolvedEntry {
            path,
            value,
            unit: unit.into(),
            source: source.into(),
            overridden: false,
            literal,
        };
    let word = |word: &str| (word.to_string(), "", quoted(word));
    let mut entries = Vec::new();
    for SchemeChoice {
        axis,
        scheme,
        values,
    } in choices
    {
        let path = format!("schemes.{}", axis.name);
        if !listed(&path) {
            entries.push(entry(path, word(scheme.name), "the axis's baseline"));
        }
        for (param, &value) in scheme.params.iter().zip(values) {
            let path = format!("{}.{}.{}", axis.name, scheme.name, param.key);
            if listed(&path) || listed(&format!("{}.{}", axis.name, param.key)) {
                continue;
            }
            let listed = match param.kind {
                ParamKind::Choice(words) => word(words.first().copied().unwrap_or_default()),
                ParamKind::Flag(on) => (on.to_string(), "", on.to_string()),
                ParamKind::Number { unit, .. } => {
                    let (number, unit) = (value as f64, unit_of(unit));
                    Quantity { number, unit }.tidy().listed()
                }
            };
            entries.push(entry(path, listed, "default of the scheme"));
        }
    }
    entries
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
