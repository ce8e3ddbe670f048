//! A choice of a study that could be another one, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::dimension::Dimension;

/// A choice of the study, and what could be chosen instead.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with what, default, experiments and alternatives"
)]
pub struct Switch {
    /// What is chosen.
    pub what: String,
    /// What the study has.
    pub default: String,
    /// The experiments whose claims are judged with it.
    pub experiments: Vec<String>,
    /// What could be chosen instead, by name.
    pub alternatives: BTreeMap<String, Alternative>,
}

/// What could be chosen instead.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with source, and with variants, schemes, set and at where it has them"
)]
pub struct Alternative {
    /// The variants that it changes; all of them where it names none.
    #[serde(default)]
    pub variants: Vec<String>,
    /// `axis=name`.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// `path=value`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Coordinates that these variants have instead.
    #[serde(default)]
    pub at: BTreeMap<Dimension, String>,
    /// Where it is from.
    pub source: String,
}
