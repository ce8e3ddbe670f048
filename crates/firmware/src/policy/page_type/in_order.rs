//! `in-order`: pages fill a wordline one page type after another, whoever reads them.

use firstread_core::params::{Role, Scheme, Values};

use super::PageTypes;
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "in-order",
    summary: "one page type after another, in the order of the writes",
    source: "the baseline",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// No choice of page types.
#[derive(Clone, Debug)]
pub struct InOrder;

impl InOrder {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> InOrder {
        InOrder
    }
}

impl PageTypes for InOrder {}
