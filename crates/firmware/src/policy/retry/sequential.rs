//! `sequential`: a step begins when the one before has been decoded.
//!
//! The die is free for others from the end of the transfer on, so a read that waits may be sensed
//! between two steps.

use firstread_core::params::{Role, Scheme, Values};

use super::Retry;
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "sequential",
    summary: "a step begins when the one before has been decoded",
    source: "the null",
    role: Role::Null,
    needs: &[],
    params: &[],
};

/// The scheme.
#[derive(Clone, Debug)]
pub struct Sequential;

impl Sequential {
    /// It has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> Sequential {
        Sequential
    }
}

impl Retry for Sequential {}
