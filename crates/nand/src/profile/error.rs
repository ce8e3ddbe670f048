//! Why a profile cannot be used.
#![allow(missing_docs, reason = "an error's message says what its values are")]

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
        value: f64,
        /// The smallest that is allowed.
        min: f64,
        /// The largest that is allowed.
        max: f64,
    },
    /// A list has not as many values as there are things that need one.
    Values {
        given: usize,
        /// Things that need one.
        wanted: usize,
        /// What these things are: `states`.
        of: &'static str,
    },
    /// There is not a sentinel for each page type.
    Sentinels {
        given: usize,
        /// Page types of the mode.
        pages: usize,
    },
    /// A sentinel is no valley of its page type.
    NotOnPage {
        valley: u8,
        /// The page type, LSB is 0.
        page: usize,
    },
    /// The mean of a state is not above that of the state below it.
    Order {
        /// The upper one of the two states.
        state: usize,
    },
    /// A page type with more senses than another one is measured as no slower.
    ReadOrder {
        page: usize,
        senses: usize,
        /// The page type with fewer senses.
        other: usize,
        senses_of_other: usize,
    },
    /// The pages are no Gray code.
    Gray(GrayError),
    /// Noise of the sense, which is part of the width of states, is as wide as a state of this mode.
    Noise(CellMode),
    /// The law of retention has more components than the medium keeps.
    Components { given: usize, most: usize },
    /// The neutral state of retention is not below the top state of a mode.
    Neutral { state: f64, mode: CellMode },
    /// A geometry takes more wordlines of a block than the chip's block has, or none.
    Wordlines {
        taken: u16,
        /// Name of the chip.
        chip: String,
        /// Wordlines of a block of it.
        have: u32,
    },
    /// The temperature changes before its last change.
    Back {
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
            Reason::ReadOrder {
                page,
                senses,
                other,
                senses_of_other,
            } => write!(
                f,
                "page type {page} has {senses} senses and takes no longer than page type {other} with {senses_of_other}"
            ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use firstread_core::PageType;

    #[test]
    fn golden_each_reason_has_its_text() {
        let mode = CellMode::Qlc;
        for (reason, text) in [
            (
                Reason::Range {
                    value: 3.5,
                    min: 0.0,
                    max: 2.0,
                },
                "3.5 is outside 0..=2",
            ),
            (
                Reason::Values {
                    given: 3,
                    wanted: 16,
                    of: "states",
                },
                "3 values for 16 states",
            ),
            (
                Reason::Sentinels { given: 1, pages: 4 },
                "1 for 4 page types",
            ),
            (
                Reason::NotOnPage { valley: 9, page: 2 },
                "valley 9 is not on page 2",
            ),
            (
                Reason::Order { state: 4 },
                "states 3 and 4 are not in rising order",
            ),
            (
                Reason::Gray(GrayError::Missing { valley: 3 }),
                "valley 3 is on no page",
            ),
            (
                Reason::Noise(mode),
                "is part of modes.qlc.sigma_mv and must be below it",
            ),
            (
                Reason::Components { given: 4, most: 3 },
                "4 components, at most 3",
            ),
            (
                Reason::Neutral { state: 15.0, mode },
                "15 is not below the top state of qlc",
            ),
            (
                Reason::Wordlines {
                    taken: 9,
                    chip: "ct-a".into(),
                    have: 8,
                },
                "9, but a block of ct-a has 1..=8",
            ),
            (
                Reason::Back {
                    at: Ns(3),
                    last: Ns(5),
                },
                "changes at 3ns, before the last change at 5ns",
            ),
            (
                Reason::Sense(SenseError::Page(mode, PageType(5))),
                "qlc mode has no page type 5",
            ),
            (Reason::Rule("is empty"), "is empty"),
        ] {
            assert_eq!(bad("a.key", reason).to_string(), ["a.key", text].join(": "));
        }
    }
}
