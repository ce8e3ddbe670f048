//! The machines below the host's commands and relocation.

use firstread_core::Arena;

use crate::flash_store::FlashStore;
use crate::ftl::map_cache::MapCache;
use crate::ftl::place::{Placed, Programs};

/// The machines below the host's commands and relocation: the `FlashStore`, and the map cache.
#[derive(Clone, Debug)]
pub(crate) struct LowerLayers<M> {
    pub(crate) map_cache: MapCache,
    pub(crate) store: FlashStore<M>,
}

impl<M: Arena> LowerLayers<M> {
    /// The data of `placed` are in their buffer: [`Placement::commit`](crate::ftl::place::Placement::commit). Tells
    /// the map cache that the map entry has changed.
    #[inline(always)]
    pub(crate) fn commit(&mut self, placed: Placed) -> Programs {
        let lpn = placed.lpn();
        let programs = self.store.commit(placed);
        self.map_cache.change(lpn, &self.store.table.directory);
        programs
    }
}
