//! `sequential`: a step begins when the step before it has been decoded.
//!
//! The die is free for other operations from the end of the transfer on, so another read may be sensed
//! between two steps.

use firstread_core::params::{Role, Scheme, Values};

use super::Retry;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "sequential",
    summary: "a step begins when the one before has been decoded",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct Sequential;

impl Sequential {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Sequential {
        Sequential
    }
}

impl Retry for Sequential {}
