//! `none`: nothing is read before the host asks for it.

use firstread_core::params::{Role, Scheme, Values};

use super::{HostRead, ReadAhead, ReadAheadRange};
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "none",
    summary: "nothing is read before the host asks for it",
    source: "the baseline; CT-QLC's ablation without read-ahead (Fig 8)",
    role: Role::Baseline,
    needs: &[],
    ordered: &[],
    params: &[],
};

#[derive(Clone, Debug)]
pub struct NoReadAhead;

impl NoReadAhead {
    /// The scheme, which has no parameters.
    pub fn new(_setup: &Setup, _values: &Values) -> NoReadAhead {
        NoReadAhead
    }
}

impl ReadAhead for NoReadAhead {
    #[inline]
    fn on_read(&mut self, _read: HostRead) -> Option<ReadAheadRange> {
        None
    }
    fn started(&mut self, _stream: u16, _end: u64) {}
    fn buffer_slots(&self) -> u32 {
        0
    }
    fn rows(&self) -> u32 {
        0
    }
}
