//! `soft`: the page is sensed at several levels around the best failed ones, for a soft decoder.
//!
//! A cell between two of the levels is less reliable than a cell outside them. A decoder that knows this
//! corrects about half as many errors again. The price is that every level is sensed three or five times, and
//! that two or three pages are transferred.

use firstread_core::SenseMode;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::ReadRecovery;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "soft",
    summary: "soft senses around the nearest levels, and soft decoding",
    source: "usual in LDPC controllers (Dong et al., TCAS-I 2011; Zhao et al., FAST 2013)",
    role: Role::Scheme,
    needs: &[Need::SoftDecoder],
    ordered: &[],
    params: PARAMS,
};

/// Its parameters. Why each default is what it is: `docs/firmware/retry.md`.
pub const PARAMS: &[Param] = &[
    Param::choice(
        "senses",
        "senses of each level: three, five where three were not enough, or five at once",
        &["three-then-five", "three", "five"],
    ),
    Param::number(
        "after",
        "hard steps in a row that came no nearer, after which the page is sensed softly; 0 for only when \
         no hard step is left",
        "steps",
        (3, 0, 64),
    ),
];

#[derive(Clone, Debug)]
pub struct Soft {
    three: bool,
    five: bool,
    /// Hard steps without improvement; zero to wait for all hard steps.
    after: u8,
}

impl Soft {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> Soft {
        let (three, five) = match values.get("senses") {
            0 => (true, true),
            1 => (true, false),
            _ => (false, true),
        };
        Soft {
            three,
            five,
            after: values.get("after") as u8,
        }
    }
}

impl ReadRecovery for Soft {
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        match failed {
            SenseMode::Hard if self.three => Some(SenseMode::Soft3),
            SenseMode::Hard | SenseMode::Soft3 if self.five => Some(SenseMode::Soft5),
            _ => None,
        }
    }
    fn hard_steps(&self) -> Option<u8> {
        (self.after > 0).then_some(self.after)
    }
}
