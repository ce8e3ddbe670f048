//! The schemes of a drive, as text.

use std::fmt;
use std::str::FromStr;

use firstread_core::params::{Axis, Need, Param, ParamKind, Scheme, Values};
use firstread_firmware::policy::{AXES, Schemes, Setup};
use firstread_workload::nearest;
use thiserror::Error;

/// Axes whose schemes need what this flash does not have, read voltages or a cache register: they have their baseline.
const NOT_SIMULATED: [&str; 2] = ["read_levels", "retry"];

/// A scheme of each axis with its parameters. Axes that are not named have their baseline.
///
/// As text: `AXIS=SCHEME` and `AXIS.KEY=VALUE`, apart by spaces, with values in the unit of the scheme's record.
///
/// ```
/// use firstread_faulty_flash::SchemeChoices;
///
/// let schemes: SchemeChoices = "gc_victim=cost-benefit wear=static wear.spread=8".parse()?;
/// assert_eq!(schemes.to_string(), "gc_victim=cost-benefit wear=static wear.threshold=fixed wear.spread=8 wear.share=100 wear.every=4 wear.stream=own");
/// # Ok::<(), firstread_faulty_flash::SchemeError>(())
/// ```
///
/// A parameter that is not named has a value that fits a drive of few superblocks: 4 for `spread` and `every` of `wear`; 3
/// streams, 3 rows and a buffer of 64 KiB for `read_ahead`; two reads for a page to be hot and no retries for
/// `cell_mode` and `refresh`, and for `refresh` four reads of a block and no age; promotions of `page_type`; three streams of the host and
/// as many of moves for `stream`; the record's default elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct SchemeChoices {
    /// Scheme by axis, in the order of [`AXES`], and the values of its parameters.
    chosen: Vec<(usize, Vec<i64>)>,
}

/// Why schemes cannot be chosen.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SchemeError {
    /// It is neither `AXIS=SCHEME` nor `AXIS.KEY=VALUE`.
    #[error("`{0}`: expected AXIS=SCHEME or AXIS.KEY=VALUE")]
    Form(String),
    /// There is no such axis, scheme or parameter.
    #[error("there is no {what} `{name}`; the nearest is `{nearest}`")]
    Unknown {
        /// `axis`, `scheme` or `parameter`.
        what: &'static str,
        /// As written.
        name: String,
        /// The name most like it.
        nearest: String,
    },
    /// A value is not in the range of its parameter.
    #[error("`{text}` is not a value of `{key}`: expected {expected}")]
    Value {
        /// Axis and parameter: `wear.spread`.
        key: String,
        /// As written.
        text: String,
        /// What it may be.
        expected: String,
    },
    /// The scheme needs what the faulty flash does not have.
    #[error(
        "axis `{0}` has its baseline here: the faulty flash has neither read voltages nor a cache register"
    )]
    NotSimulated(&'static str),
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> SchemeError {
    SchemeError::Unknown {
        what,
        name: name.to_owned(),
        nearest: nearest(name, names).unwrap_or_default().to_owned(),
    }
}

/// Values small enough that jobs, buffers and streams run out and leveling acts on a drive of few superblocks.
fn small(axis: &Axis, param: &Param) -> i64 {
    match (axis.name, param.key) {
        ("wear", "spread" | "every") => 4,
        ("wear", "reads") => 1,
        ("read_ahead", "streams" | "rows") => 3,
        ("cell_mode", "warm") => 1,
        ("cell_mode", "r1" | "r2") => 0,
        ("cell_mode", "hot") => 2,
        ("cell_mode", "keep") => 0,
        ("cell_mode", "lost") => 150,
        ("cell_mode", "stay_slc") => 1,
        ("cell_mode", "stay_tlc") => 0,
        ("cell_mode", "demand") => 20,
        ("cell_mode", "reclaim_period") => 64,
        ("cell_mode", "wear_weight") => 0,
        ("cell_mode", "level") => 1,
        ("cell_mode", "promote") => 1,
        ("cell_mode", "idle") => 1_000_000,
        ("refresh", "warm") => 1,
        ("refresh", "hot") => 2,
        ("refresh", "retries" | "r1" | "r2" | "age") => 0,
        ("refresh", "reads_slc" | "reads_mlc" | "reads_tlc" | "reads_qlc") => 4,
        ("read_ahead", "buffer") => 64 << 10,
        ("page_type", "promote") => 300,
        ("page_type", "hot") => 1,
        ("stream", "levels" | "handles" | "groups") => 3,
        ("stream", "persistent") => 1,
        _ => param.default(),
    }
}

fn values_of(axis: &Axis, scheme: &Scheme) -> Vec<i64> {
    scheme.params.iter().map(|p| small(axis, p)).collect()
}

impl Default for SchemeChoices {
    /// The baseline of every axis.
    fn default() -> SchemeChoices {
        let baseline = |axis: &Axis| (0, values_of(axis, &axis.schemes[0]));
        SchemeChoices {
            chosen: AXES.iter().map(baseline).collect(),
        }
    }
}

impl SchemeChoices {
    fn promotes_to_pool(&self) -> bool {
        ["hotness", "raro"]
            .iter()
            .any(|rule| self.has("cell_mode", "promote", rule))
    }

    /// Superblocks of QLC that are kept for those in other modes: in SLC and TLC mode one open and one free of each. Of a pool that the host
    /// writes to each counts whole, and promoted pages have as many again.
    pub fn kept_in_modes(&self) -> u64 {
        match (
            self.requires(Need::CellModes),
            self.requires(Need::SlcAlone),
        ) {
            (false, _) => 0,
            (true, false) => 2,
            (true, true) if self.promotes_to_pool() => 4,
            (true, true) => 2,
        }
    }

    /// These, and the scheme of `axis` with number `scheme` in its table: for tests that walk the table. A number past
    /// the end is the last scheme.
    pub fn with(mut self, axis: Axis, scheme: usize) -> SchemeChoices {
        if let Some(i) = AXES.iter().position(|a| a.name == axis.name) {
            let scheme = scheme.min(AXES[i].schemes.len() - 1);
            self.chosen[i] = (scheme, values_of(&AXES[i], &AXES[i].schemes[scheme]));
        }
        self
    }

    /// Superblocks that the chosen scheme of `axis` keeps for streams of its own.
    pub fn streams_of(&self, axis: Axis) -> u32 {
        let at = AXES.iter().position(|a| a.name == axis.name);
        at.map_or(0, |i| {
            let (scheme, values) = &self.chosen[i];
            Values::new(&AXES[i].schemes[*scheme], values).own_streams() as u32
        })
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), SchemeError> {
        let (axis_name, param) = match key.split_once('.') {
            Some((axis, param)) => (axis, Some(param)),
            None => (key, None),
        };
        let Some(i) = AXES.iter().position(|a| a.name == axis_name) else {
            return Err(unknown("axis", axis_name, AXES.iter().map(|a| a.name)));
        };
        let axis = &AXES[i];
        let Some(param) = param else {
            let names = axis.schemes.iter().map(|s| s.name);
            let Some(scheme) = axis.schemes.iter().position(|s| s.name == text) else {
                return Err(unknown("scheme", text, names));
            };
            if scheme > 0 && NOT_SIMULATED.contains(&axis.name) {
                return Err(SchemeError::NotSimulated(axis.name));
            }
            self.chosen[i] = (scheme, values_of(axis, &axis.schemes[scheme]));
            return Ok(());
        };
        let scheme = &axis.schemes[self.chosen[i].0];
        let Some(at) = scheme.params.iter().position(|p| p.key == param) else {
            let names = scheme.params.iter().map(|p| p.key);
            return Err(unknown("parameter", key, names));
        };
        self.chosen[i].1[at] = value(key, text, scheme.params[at].kind)?;
        Ok(())
    }

    /// Whether a scheme needs `need` of its drive.
    pub fn requires(&self, need: Need) -> bool {
        let mut schemes = self.each().map(|(_, scheme, _)| scheme);
        schemes.any(|scheme| scheme.requires(need))
    }

    /// Whether parameter `key` of the scheme of `axis` is the word `word`.
    pub(crate) fn has(&self, axis: &str, key: &str, word: &str) -> bool {
        let mut params = self
            .each()
            .filter(|(of, _, _)| of.name == axis)
            .flat_map(|(_, scheme, values)| scheme.params.iter().zip(values));
        params.any(|(param, &value)| match param.kind {
            ParamKind::Choice(words) => param.key == key && words[value as usize] == word,
            _ => false,
        })
    }

    /// Open superblocks of streams that the schemes have in the drive's own mode.
    pub(crate) fn own_streams(&self) -> u64 {
        let values = self
            .each()
            .map(|(_, scheme, values)| Values::new(scheme, values));
        values.map(|values| values.own_streams() as u64).sum()
    }

    /// Placement handles that writes of the host may name; eight where the schemes know none, and do not look at them.
    pub(crate) fn placement_handles(&self) -> u16 {
        let values = self
            .each()
            .find(|(axis, scheme, _)| axis.name == "stream" && scheme.name == "fdp")
            .map(|(_, scheme, values)| Values::new(scheme, values));
        values
            .and_then(|values| values.find("handles"))
            .map_or(8, |handles| handles as u16)
    }

    fn each(&self) -> impl Iterator<Item = (&'static Axis, &'static Scheme, &[i64])> {
        let chosen = AXES.iter().zip(&self.chosen);
        chosen.map(|(axis, (scheme, values))| (axis, &axis.schemes[*scheme], &values[..]))
    }

    /// The schemes for a drive of `setup`.
    pub(crate) fn build(&self, setup: &Setup) -> Schemes {
        let of = |axis: &Axis| {
            let mut each = self.each();
            let found = each.find(|(a, _, _)| a.name == axis.name);
            let (_, scheme, values) = found.expect("every axis has a scheme");
            (scheme.name, values)
        };
        Schemes::new(setup, of).expect("the names are those of the table")
    }
}

fn value(key: &str, text: &str, kind: ParamKind) -> Result<i64, SchemeError> {
    let (value, expected) = match kind {
        ParamKind::Number { unit, min, max, .. } => {
            let value = text.parse().ok().filter(|v| (min..=max).contains(v));
            (value, format!("{min} to {max} {unit}"))
        }
        ParamKind::Choice(words) => {
            let value = words.iter().position(|w| *w == text);
            (value.map(|v| v as i64), words.join(", "))
        }
        ParamKind::Flag(_) => {
            let value = text.parse::<bool>().ok().map(i64::from);
            (value, "true or false".to_owned())
        }
    };
    value.ok_or_else(|| SchemeError::Value {
        key: key.to_owned(),
        text: text.to_owned(),
        expected,
    })
}

impl FromStr for SchemeChoices {
    type Err = SchemeError;

    /// Reads `AXIS=SCHEME` and `AXIS.KEY=VALUE`, apart by spaces. A scheme comes before its parameters.
    fn from_str(text: &str) -> Result<SchemeChoices, SchemeError> {
        let mut choices = SchemeChoices::default();
        for item in text.split_whitespace() {
            let Some((key, text)) = item.split_once('=') else {
                return Err(SchemeError::Form(item.to_owned()));
            };
            choices.set(key, text)?;
        }
        Ok(choices)
    }
}

impl fmt::Display for SchemeChoices {
    /// The schemes that are not their axis's baseline, as they are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        for (axis, scheme, values) in self.each() {
            if scheme.name == axis.schemes[0].name {
                continue;
            }
            words.push(format!("{}={}", axis.name, scheme.name));
            for (param, &value) in scheme.params.iter().zip(values) {
                let value = match param.kind {
                    ParamKind::Number { .. } => value.to_string(),
                    ParamKind::Choice(all) => all[value as usize].to_owned(),
                    ParamKind::Flag(_) => (value != 0).to_string(),
                };
                words.push(format!("{}.{}={value}", axis.name, param.key));
            }
        }
        f.write_str(&words.join(" "))
    }
}

impl fmt::Debug for SchemeChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_names_the_nearest() {
        for (text, message) in [
            ("gc_victim", "expected AXIS=SCHEME or AXIS.KEY=VALUE"),
            (
                "gc_victims=greedy",
                "no axis `gc_victims`; the nearest is `gc_victim`",
            ),
            (
                "gc_victim=greed",
                "no scheme `greed`; the nearest is `greedy`",
            ),
            (
                "wear=static wear.spred=3",
                "no parameter `wear.spred`; the nearest is `spread`",
            ),
            ("wear=static wear.spread=0", "expected 1 to 1000000 P/E"),
            (
                "read_levels=ct-qlc",
                "axis `read_levels` has its baseline here",
            ),
        ] {
            let error = text.parse::<SchemeChoices>().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
