//! Why a profile cannot be used.

use alloc::string::String;
use core::fmt;

use firstread_core::{CellMode, Ns};

use super::gray::GrayError;
use crate::sense_error::SenseError;

/// Why a profile cannot be used.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileError {
    /// The key, as in the profile: `modes.qlc.mean`.
    pub key: String,
    /// What is wrong with it.
    pub reason: Reason,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl core::error::Error for ProfileError {}

/// What is wrong with a key of a profile.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// A number lies outside its range. All three are in the unit of the profile's text.
    Range {
        /// The number.
        value: f64,
        /// The smallest that is allowed.
        min: f64,
        /// The largest that is allowed.
        max: f64,
    },
    /// A list has not as many values as there are things that need one.
    Values {
        /// Values given.
        given: usize,
        /// Things that need one.
        wanted: usize,
        /// What these things are: `states`.
        of: &'static str,
    },
    /// There is not a sentinel for each page type.
    Sentinels {
        /// Sentinels given.
        given: usize,
        /// Page types of the mode.
        pages: usize,
    },
    /// A sentinel is no valley of its page type.
    NotOnPage {
        /// The sentinel.
        valley: u8,
        /// The page type, LSB is 0.
        page: usize,
    },
    /// The mean of a state is not above that of the state below it.
    Order {
        /// The upper one of the two states.
        state: usize,
    },
    /// The pages are no Gray code.
    Gray(GrayError),
    /// Noise of the sense, which is part of the width of states, is as wide as a state of this mode.
    Noise(CellMode),
    /// The law of retention has more components than the medium keeps.
    Components {
        /// Components given.
        given: usize,
        /// Components at most.
        most: usize,
    },
    /// The neutral state of retention is not below the top state of a mode.
    Neutral {
        /// The neutral state.
        state: f64,
        /// The mode.
        mode: CellMode,
    },
    /// A geometry takes more wordlines of a block than the chip's block has, or none.
    Wordlines {
        /// Wordlines taken.
        taken: u16,
        /// Name of the chip.
        chip: String,
        /// Wordlines of a block of it.
        have: u32,
    },
    /// The temperature changes before its last change.
    Back {
        /// When it changes.
        at: Ns,
        /// When it changed last.
        last: Ns,
    },
    /// The medium does not sense what the profile has.
    Sense(SenseError),
    /// A rule that no number is part of.
    Rule(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Range { value, min, max } => write!(f, "{value} is outside {min}..={max}"),
            Reason::Values { given, wanted, of } => {
                write!(f, "{given} values for {wanted} {of}")
            }
            Reason::Sentinels { given, pages } => write!(f, "{given} for {pages} page types"),
            Reason::NotOnPage { valley, page } => {
                write!(f, "valley {valley} is not on page {page}")
            }
            Reason::Order { state } => {
                let below = state.saturating_sub(1);
                write!(f, "states {below} and {state} are not in rising order")
            }
            Reason::Gray(error) => error.fmt(f),
            Reason::Noise(mode) => {
                let mode = mode.name();
                write!(f, "is part of modes.{mode}.sigma_mv and must be below it")
            }
            Reason::Components { given, most } => write!(f, "{given} components, at most {most}"),
            Reason::Neutral { state, mode } => {
                let mode = mode.name();
                write!(f, "{state} is not below the top state of {mode}")
            }
            Reason::Wordlines { taken, chip, have } => {
                write!(f, "{taken}, but a block of {chip} has 1..={have}")
            }
            Reason::Back { at, last } => {
                write!(f, "changes at {at:?}, before the last change at {last:?}")
            }
            Reason::Sense(error) => error.fmt(f),
            Reason::Rule(rule) => f.write_str(rule),
        }
    }
}

pub(crate) fn bad(key: impl Into<String>, reason: Reason) -> ProfileError {
    ProfileError {
        key: key.into(),
        reason,
    }
}
