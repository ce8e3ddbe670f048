//! `free`: programs and erases are suspended at once, without limit, and lose no progress.

use firstread_core::params::{Need, Role, Scheme, Values};

use super::{Running, Suspend};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "free",
    summary: "programs and erases stop at once, as often as asked, and lose nothing by it",
    source: "the oracle: what suspending could come to at most",
    role: Role::Oracle,
    needs: &[Need::FreeSuspends],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct FreeSuspend;

impl FreeSuspend {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> FreeSuspend {
        FreeSuspend
    }
}

impl Suspend for FreeSuspend {
    #[inline]
    fn suspends(&self, _running: Running) -> bool {
        true
    }

    #[inline]
    fn is_free(&self) -> bool {
        true
    }
}
