//! Choices of schemes as text: `AXIS=NAME`, `AXIS=A,B,C`.

use std::str::FromStr;

use firstread_core::params::{Axis, Scheme};
use firstread_drive::profile::Override;
use firstread_firmware::policy::AXES;
use thiserror::Error;

use crate::names::Unknown;

/// A scheme of an axis.
///
/// ```
/// use firstread_session::Choice;
///
/// let choice: Choice = "read_levels=ct-qlc".parse()?;
/// assert_eq!(choice.scheme.name, "ct-qlc");
/// # Ok::<(), firstread_session::ChoiceError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// What the scheme decides.
    pub axis: &'static Axis,
    pub scheme: &'static Scheme,
}

impl Choice {
    /// The override of the profile that makes the choice.
    pub fn to_override(self) -> Override {
        Override::new(&format!("schemes.{}", self.axis.name), self.scheme.name)
    }
}

/// Several schemes of one axis, each of them once.
#[derive(Clone, Debug)]
pub struct Choices {
    /// What the schemes decide.
    pub axis: &'static Axis,
    /// At least one, in the order given.
    pub schemes: Vec<Choice>,
}

/// Why schemes cannot be chosen.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ChoiceError {
    /// It is not of the form `AXIS=NAME`.
    #[error("expected AXIS=NAME")]
    Form,
    /// There is no such axis.
    #[error(transparent)]
    Axis(Unknown),
    /// The axis has no such scheme.
    #[error(
        "axis `{axis}` has no scheme `{}`; the nearest is `{}` of {}",
        scheme.name, scheme.nearest, scheme.all.join(", ")
    )]
    Scheme {
        /// Name of the axis.
        axis: &'static str,
        scheme: Unknown,
    },
    /// A scheme is named twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// Several schemes are given where one is allowed. Holds the axis.
    #[error("one scheme of `{0}` at a time; `firstread compare` takes several")]
    Several(&'static str),
}

impl FromStr for Choice {
    type Err = ChoiceError;

    /// Reads `AXIS=NAME`.
    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        let Choices { schemes, axis } = text.parse()?;
        match schemes[..] {
            [one] => Ok(one),
            _ => Err(ChoiceError::Several(axis.name)),
        }
    }
}

impl FromStr for Choices {
    type Err = ChoiceError;

    /// Reads `AXIS=A,B,C`.
    fn from_str(text: &str) -> Result<Choices, ChoiceError> {
        let (axis, names) = text.split_once('=').ok_or(ChoiceError::Form)?;
        let axis = find_axis(axis.trim())?;
        let mut schemes: Vec<Choice> = Vec::new();
        for name in names.split(',').map(str::trim) {
            let scheme = find_scheme(axis, name)?;
            if schemes.iter().any(|c| c.scheme.name == name) {
                return Err(ChoiceError::Twice(name.to_owned()));
            }
            schemes.push(Choice { axis, scheme });
        }
        Ok(Choices { axis, schemes })
    }
}

fn find_axis(name: &str) -> Result<&'static Axis, ChoiceError> {
    let none = || ChoiceError::Axis(Unknown::new("axis", name, AXES.iter().map(|a| a.name)));
    AXES.iter().find(|a| a.name == name).ok_or_else(none)
}

fn find_scheme(axis: &'static Axis, name: &str) -> Result<&'static Scheme, ChoiceError> {
    let mut schemes = axis.schemes.iter();
    let none = || ChoiceError::Scheme {
        axis: axis.name,
        scheme: Unknown::new("scheme", name, axis.schemes.iter().map(|s| s.name)),
    };
    schemes.find(|s| s.name == name).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        for (text, message) in [
            ("read_levels", "expected AXIS=NAME"),
            (
                "read_levels=frozen,optimal",
                "one scheme of `read_levels` at a time",
            ),
            (
                "read_level=frozen",
                "no axis `read_level`; the nearest is `read_levels` of",
            ),
            // Version 0.1.0 called the axis so.
            (
                "recovery=none",
                "no axis `recovery`; the nearest is `read_recovery` of",
            ),
            (
                "read_levels=frozn",
                "no scheme `frozn`; the nearest is `frozen` of",
            ),
        ] {
            let error = text.parse::<Choice>().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let twice = "read_levels=frozen,frozen".parse::<Choices>();
        assert_eq!(twice.unwrap_err(), ChoiceError::Twice("frozen".into()));
    }
}
