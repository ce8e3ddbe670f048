//! The machines below the host's commands and relocation.

use firstread_core::Arena;

use crate::flash_store::FlashStore;
use crate::ftl::pager::Pager;
use crate::ftl::place::{Placed, Programs};

/// The machines below the host's commands and relocation: the `FlashStore`, and the pager.
#[derive(Clone, Debug)]
pub(crate) struct LowerLayers<M> {
    pub(crate) pager: Pager,
    pub(crate) store: FlashStore<M>,
}

impl<M: Arena> LowerLayers<M> {
    /// The data of `placed` are in their buffer: [`Place::commit`](crate::ftl::place::Place::commit). Tells
    /// the pager that the map entry has changed.
    #[inline(always)]
    pub(crate) fn commit(&mut self, placed: Placed) -> Programs {
        let lpn = placed.lpn();
        let programs = self.store.commit(placed);
        self.pager.change(lpn, &self.store.table.directory);
        programs
    }
}
