//! When a life ends.

use std::fmt;
use std::str::FromStr;

use firstread_drive::profile::quantity::{B, PERCENT, Quantity, S};
use firstread_drive::profile::{Dimension, Problem};
use thiserror::Error;

use super::bounds::YEAR_S;
use crate::names::Unknown;

/// A class of drives of JESD218: how long data are kept without power, how warm, and how rarely a bit is lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Class {
    pub name: &'static str,
    /// Hours that data are kept.
    pub hours: f64,
    pub celsius: f64,
    /// Uncorrectable bit error rate at most.
    pub most: f64,
}

impl Class {
    /// One year at 30 °C, 1e-15 (JESD218).
    pub const CLIENT: Class = Class {
        name: "client",
        hours: 8_760.0,
        celsius: 30.0,
        most: 1e-15,
    };
    /// Three months at 40 °C, 1e-16 (JESD218).
    pub const ENTERPRISE: Class = Class {
        name: "enterprise",
        hours: 2_190.0,
        celsius: 40.0,
        most: 1e-16,
    };
    pub const ALL: [Class; 2] = [Class::CLIENT, Class::ENTERPRISE];
}

/// When a life ends. It always ends where the drive can no longer hold its capacity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Until {
    /// Data kept as long as the class says are lost more often than it allows.
    Lost(Class),
    /// So large a share of all blocks is bad.
    Bad(f64),
    /// So many bytes are written.
    Bytes(f64),
    /// So many years have passed.
    Years(f64),
    /// The capacity cannot be held.
    Full,
}

/// Why the end of a life cannot be read.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum UntilError {
    /// It is none of the forms.
    #[error(
        "`{0}` is no end of a life; give lost=enterprise, lost=client, bad=2%, bytes=100TB, years=5 or full"
    )]
    Form(String),
    #[error(transparent)]
    Class(#[from] Unknown),
    #[error(transparent)]
    Quantity(#[from] Problem),
    /// Not above zero, or a share above 100 %.
    #[error("`{0}` is outside its range: above 0, and a share at most 100 %")]
    Range(String),
    /// No years, or too many.
    #[error("`{0}` is outside its range: years above 0, at most 10000")]
    Years(String),
}

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Until, UntilError> {
        let above = |value: f64, most: f64| match value > 0.0 && value <= most {
            true => Ok(value),
            false => Err(UntilError::Range(text.to_owned())),
        };
        match text
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
        {
            None if text.trim() == "full" => Ok(Until::Full),
            Some(("lost", name)) => match Class::ALL.into_iter().find(|c| c.name == name) {
                Some(class) => Ok(Until::Lost(class)),
                None => {
                    Err(
                        Unknown::new("class of drives", name, Class::ALL.iter().map(|c| c.name))
                            .into(),
                    )
                }
            },
            Some(("bad", share)) => {
                let share = Quantity::parse_with_default(share, &PERCENT)?.to(PERCENT);
                Ok(Until::Bad(above(share / 100.0, 1.0)?))
            }
            Some(("bytes", bytes)) => {
                let bytes = Quantity::parse(bytes, Dimension::Bytes)?;
                Ok(Until::Bytes(above(bytes.to(B), 1e21)?))
            }
            Some(("years", years)) => Ok(Until::Years(years.parse::<Years>()?.0)),
            _ => Err(UntilError::Form(text.to_owned())),
        }
    }
}

/// Years, above zero: `5`, `5y`, `1826d`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Years(pub f64);

impl FromStr for Years {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Years, UntilError> {
        let text = text.trim();
        let years = match text.parse::<f64>() {
            Ok(years) => years,
            Err(_) => Quantity::parse(text, Dimension::Time)?.to(S) / YEAR_S,
        };
        match years > 0.0 && years <= 1e4 {
            true => Ok(Years(years)),
            false => Err(UntilError::Years(text.to_owned())),
        }
    }
}

/// As `--until` has it.
impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Lost(class) => write!(f, "lost={}", class.name),
            Until::Bad(share) => write!(f, "bad={}%", share * 100.0),
            Until::Bytes(bytes) => write!(f, "bytes={bytes}B"),
            Until::Years(years) => write!(f, "years={years}"),
            Until::Full => f.write_str("full"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_what_ends_a_life() {
        let read = |text: &str| text.parse::<Until>();
        assert_eq!(read("lost=client"), Ok(Until::Lost(Class::CLIENT)));
        assert_eq!(read("bad=2%"), Ok(Until::Bad(0.02)));
        assert_eq!(read("bytes=2TB"), Ok(Until::Bytes(2e12)));
        assert_eq!(read("years=5"), Ok(Until::Years(5.0)));
        assert_eq!(read("years=365d"), Ok(Until::Years(1.0)));
        assert_eq!(read(" full"), Ok(Until::Full));
        for text in [
            "", "lost", "bad=0", "bad=101%", "bytes=x", "bytes=0", "years=-1", "years=0", "fulll",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let says = read("lost=enterprize").unwrap_err().to_string();
        assert!(says.contains("the nearest is `enterprise`"), "{says}");
        assert_eq!(read("bad=2%").map(|u| u.to_string()), Ok("bad=2%".into()));
        // What is written can be read again.
        for text in [
            "lost=client",
            "bad=0.5%",
            "bytes=1.5TB",
            "years=2.5",
            "full",
        ] {
            let until = read(text).unwrap();
            assert_eq!(until.to_string().parse(), Ok(until), "{text}");
        }
    }
}
