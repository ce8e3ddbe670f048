//! What the host's commands and relocation stand on.

use crate::ftl::pager::Pager;
use crate::store::Store;

/// What the host's commands and relocation stand on: the same, and the pager.
#[derive(Debug)]
pub(crate) struct Below<M> {
    pub(crate) pager: Pager,
    pub(crate) store: Store<M>,
}
