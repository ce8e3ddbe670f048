//! `one`: one stream for what the host writes, and one for what moves.

use firstread_core::params::{Role, Scheme, Values};

use super::{HostStreams, MovedPage, WrittenPage};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "one",
    summary: "one stream for what the host writes, and one for what moves",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No choice of streams.
#[derive(Clone, Debug)]
pub struct One;

impl One {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> One {
        One
    }
}

impl HostStreams for One {
    #[inline]
    fn is_on(&self) -> bool {
        false
    }

    fn of_write(&self, _page: &WrittenPage) -> u8 {
        0
    }

    fn of_move(&self, _page: &MovedPage) -> u8 {
        0
    }
}
